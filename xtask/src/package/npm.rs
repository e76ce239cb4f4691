//! The npm packages: one with a launcher, and one per platform with the executable. npm itself chooses the
//! platform's package by its `os` and `cpu`; nothing is downloaded at install.

use serde_json::{Value, json};

use super::archive::{ArchiveFile, tar_gz};
use super::release::{
    COMMAND, LICENSE, MAIN_PROGRAM, PACKAGE_NAME, ReleaseTarget, SUMMARY, TARGETS, VERSION,
};

/// Starts the executable of the platform's package.
const LAUNCHER: &str = include_str!("launcher.js");

/// The file name that `npm pack` gives a package.
pub(super) fn file_name(package: &str) -> String {
    format!("{package}-{VERSION}.tgz")
}

/// The package with the executable of one platform.
pub(super) fn platform_package(target: ReleaseTarget, executable: &[u8]) -> anyhow::Result<Vec<u8>> {
    let manifest = json!({
        "name": target.npm_package(),
        "version": VERSION,
        "description": format!("{SUMMARY} (the executable for {} on {})", target.os, target.arch),
        "license": LICENSE,
        "os": [target.npm_os],
        "cpu": [target.npm_cpu],
        "preferUnplugged": true,
    });
    pack(&manifest, ArchiveFile::program(format!("package/bin/{COMMAND}"), executable))
}

/// The package that users name.
pub(super) fn launcher_package() -> anyhow::Result<Vec<u8>> {
    let platforms: serde_json::Map<String, Value> =
        TARGETS.iter().map(|target| (target.npm_package(), VERSION.into())).collect();
    let manifest = json!({
        "name": PACKAGE_NAME,
        "version": VERSION,
        "description": SUMMARY,
        "license": LICENSE,
        "bin": { COMMAND: "bin/launcher.js", PACKAGE_NAME: "bin/launcher.js" },
        "engines": { "node": ">=16" },
        "optionalDependencies": platforms,
    });
    let launcher = LAUNCHER.replace("PACKAGE_NAME", PACKAGE_NAME).replace("COMMAND", COMMAND);
    pack(&manifest, ArchiveFile::program("package/bin/launcher.js", launcher))
}

fn pack(manifest: &Value, program: ArchiveFile) -> anyhow::Result<Vec<u8>> {
    let manifest = format!("{}\n", serde_json::to_string_pretty(manifest)?);
    let files = [
        ArchiveFile::text("package/package.json", manifest),
        program,
        ArchiveFile::text("package/LICENSE", super::LICENSE_TEXT),
        ArchiveFile::text("package/README.md", MAIN_PROGRAM.readme),
    ];
    tar_gz(&files, false)
}
