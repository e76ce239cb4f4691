//! The Debian packages. They have no dependencies and no maintainer scripts: the executables are static, and
//! each user runs `claude-mem install`.

use super::archive::{ArchiveFile, ar, tar_gz};
use super::release::{ReleaseProgram, VERSION};

pub(super) fn file_name(program: ReleaseProgram, architecture: &str) -> String {
    format!("{}_{VERSION}_{architecture}.deb", program.package)
}

pub(super) fn package(
    program: ReleaseProgram,
    architecture: &str,
    executable: &[u8],
) -> anyhow::Result<Vec<u8>> {
    let ReleaseProgram { package, command, summary, next_step, readme } = program;
    let documents = format!("./usr/share/doc/{package}");
    let files = [
        ArchiveFile::program(format!("./usr/bin/{command}"), executable),
        ArchiveFile::text(format!("{documents}/copyright"), super::LICENSE_TEXT),
        ArchiveFile::text(format!("{documents}/README.md"), readme),
    ];
    let bytes: usize = files.iter().map(|file| file.bytes.len()).sum();
    let control = format!(
        "Package: {package}\nVersion: {VERSION}\nArchitecture: {architecture}\n\
         Maintainer: the claude-mem contributors <contributors@claude-mem.invalid>\n\
         Installed-Size: {}\nSection: devel\nPriority: optional\nDescription: {summary}\n \
         {next_step}\n",
        bytes.div_ceil(1024)
    );
    Ok(ar(&[
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", tar_gz(&[ArchiveFile::text("./control", control)], true)?),
        ("data.tar.gz", tar_gz(&files, true)?),
    ]))
}
