//! The Debian package. It has no dependencies and no maintainer scripts: the executable is static, and each
//! user runs `claude-mem install`.

use super::archive::{ArchiveFile, ar, tar_gz};
use super::release::{COMMAND, PACKAGE_NAME, SUMMARY, VERSION};

pub(super) fn file_name(architecture: &str) -> String {
    format!("{PACKAGE_NAME}_{VERSION}_{architecture}.deb")
}

pub(super) fn package(architecture: &str, executable: &[u8]) -> anyhow::Result<Vec<u8>> {
    let documents = format!("./usr/share/doc/{PACKAGE_NAME}");
    let files = [
        ArchiveFile::program(format!("./usr/bin/{COMMAND}"), executable),
        ArchiveFile::text(format!("{documents}/copyright"), super::LICENSE_TEXT),
        ArchiveFile::text(format!("{documents}/README.md"), super::PACKAGE_README),
    ];
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let control = format!(
        "Package: {PACKAGE_NAME}\nVersion: {VERSION}\nArchitecture: {architecture}\n\
         Maintainer: the claude-mem contributors <contributors@claude-mem.invalid>\n\
         Installed-Size: {}\nSection: devel\nPriority: optional\nDescription: {SUMMARY}\n \
         Run `{COMMAND} install` once per user to connect it.\n",
        bytes.div_ceil(1024)
    );
    Ok(ar(&[
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tar_gz(&[ArchiveFile::text("./control", control)], true)?),
        ("data.tar.gz", tar_gz(&files, true)?),
    ]))
}
