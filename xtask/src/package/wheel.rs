//! The wheel: the executable as a script of the environment, without Python code.

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest as _, Sha256};

use super::archive::{ArchiveFile, zip};
use super::release::{COMMAND, LICENSE, MAIN_PROGRAM, PACKAGE_NAME, ReleaseTarget, SUMMARY, VERSION};

/// Lets `uvx PACKAGE_NAME` find a command of the package's own name.
const ALIAS: &str = "#!/bin/sh\nexec \"$(dirname \"$0\")/COMMAND\" \"$@\"\n";

/// The package name as file names spell it.
fn distribution() -> String {
    PACKAGE_NAME.replace('-', "_")
}

pub(super) fn file_name(target: ReleaseTarget) -> String {
    format!("{}-{VERSION}-py3-none-{}.whl", distribution(), target.wheel_tag)
}

pub(super) fn package(target: ReleaseTarget, executable: &[u8]) -> anyhow::Result<Vec<u8>> {
    let (scripts, info) = (
        format!("{}-{VERSION}.data/scripts", distribution()),
        format!("{}-{VERSION}.dist-info", distribution()),
    );
    let metadata = format!(
        "Metadata-Version: 2.1\nName: {PACKAGE_NAME}\nVersion: {VERSION}\nSummary: {SUMMARY}\n\
         License: {LICENSE}\nRequires-Python: >=3.8\nDescription-Content-Type: text/markdown\n\n{}",
        MAIN_PROGRAM.readme
    );
    let mut tags = String::new();
    for platform in target.wheel_tag.split('.') {
        tags.push_str(&format!("Tag: py3-none-{platform}\n"));
    }
    let mut files = vec![
        ArchiveFile::program(format!("{scripts}/{COMMAND}"), executable),
        ArchiveFile::program(format!("{scripts}/{PACKAGE_NAME}"), ALIAS.replace("COMMAND", COMMAND)),
        ArchiveFile::text(format!("{info}/METADATA"), metadata),
        ArchiveFile::text(
            format!("{info}/WHEEL"),
            format!("Wheel-Version: 1.0\nGenerator: cargo xtask package\nRoot-Is-Purelib: false\n{tags}"),
        ),
        ArchiveFile::text(format!("{info}/licenses/LICENSE"), super::LICENSE_TEXT),
    ];
    let mut record: String = files.iter().map(record_line).collect();
    record.push_str(&format!("{info}/RECORD,,\n"));
    files.push(ArchiveFile::text(format!("{info}/RECORD"), record));
    zip(&files)
}

fn record_line(file: &ArchiveFile) -> String {
    let sum = URL_SAFE_NO_PAD.encode(Sha256::digest(&file.bytes));
    format!("{},sha256={sum},{}\n", file.path, file.bytes.len())
}
