//! Finds the installed client and its version, if possible without running it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use claude_mem_core::child;
use claude_mem_core::child::{ChildSpawner, SpawnRequest};
use claude_mem_core::client_version::ClientVersion;
use claude_mem_core::paths::find_on_path;

/// Maximum seconds that a client may take to print its version.
const CLIENT_VERSION_SECONDS_MAX: u64 = 10;

/// A client installed on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct InstalledClient {
    pub program: PathBuf,
    pub version: Option<ClientVersion>,
}

/// The `claude` on the PATH, or else in the places where the client's installers put it.
pub fn find_program(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = env("PATH").unwrap_or_default();
    let home = env("HOME").map(PathBuf::from);
    let usual = [".claude/local/claude", ".local/bin/claude"].map(|place| Some(home.as_ref()?.join(place)));
    let usual = || usual.into_iter().flatten().find(|program| program.is_file());
    find_on_path(&path, "claude").or_else(usual)
}

/// The version according to the files on disk: the package that the program belongs to, or the
/// file name that the native installer gave it.
pub fn version_on_disk(program: &Path) -> Option<ClientVersion> {
    version_of_program(program, "@anthropic-ai/claude-code")
}

/// The same for the program of any npm package.
pub fn version_of_program(program: &Path, package: &str) -> Option<ClientVersion> {
    let real = program.canonicalize().ok()?;
    let named = real.file_name()?.to_str().and_then(ClientVersion::find);
    named.or_else(|| real.ancestors().skip(1).take(3).find_map(|dir| version_of_package(dir, package)))
}

fn version_of_package(dir: &Path, name: &str) -> Option<ClientVersion> {
    /// The part of a `package.json` that we read.
    #[derive(serde::Deserialize)]
    struct PackageJson {
        name: String,
        version: String,
    }
    let text = std::fs::read(dir.join("package.json")).ok()?;
    let package: PackageJson = serde_json::from_slice(&text).ok()?;
    let ours = package.name.starts_with(name);
    ours.then(|| ClientVersion::find(&package.version)).flatten()
}

/// The version that the program reports when it is run, if it does so in time.
pub fn version_from_program(
    program: &Path,
    env: Vec<(OsString, OsString)>,
    spawner: &ChildSpawner,
) -> Option<ClientVersion> {
    let order = SpawnRequest {
        program: program.into(),
        args: vec!["--version".into()],
        env,
        directory: PathBuf::from("/"),
    };
    let within = Duration::from_secs(CLIENT_VERSION_SECONDS_MAX);
    let ended = child::run(spawner, order, b"", within).ok()?;
    ClientVersion::find(&String::from_utf8_lossy(&ended.stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_is_read_from_the_package() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("@anthropic-ai/claude-code");
        std::fs::create_dir_all(&package).unwrap();
        let json = r#"{"name": "@anthropic-ai/claude-code", "version": "2.0.77"}"#;
        std::fs::write(package.join("package.json"), json).unwrap();
        std::fs::write(package.join("cli.js"), "").unwrap();
        let link = dir.path().join("claude");
        std::os::unix::fs::symlink(package.join("cli.js"), &link).unwrap();
        assert_eq!(version_on_disk(&link), Some(ClientVersion(2, 0, 77)));
    }

    #[test]
    fn foreign_package_has_no_version() {
        let dir = tempfile::tempdir().unwrap();
        let json = r#"{"name": "left-pad", "version": "1.3.0"}"#;
        std::fs::write(dir.path().join("package.json"), json).unwrap();
        std::fs::write(dir.path().join("claude"), "").unwrap();
        assert_eq!(version_on_disk(&dir.path().join("claude")), None);
    }

    #[test]
    fn version_is_read_from_the_file_name() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("2.1.300");
        std::fs::write(&file, "").unwrap();
        assert_eq!(version_on_disk(&file), Some(ClientVersion(2, 1, 300)));
    }

    #[test]
    fn path_comes_before_installer_locations() {
        let dir = tempfile::tempdir().unwrap();
        let (bin, home) = (dir.path().join("bin"), dir.path().join("home"));
        for place in [&bin, &home.join(".claude/local")] {
            std::fs::create_dir_all(place).unwrap();
            std::fs::write(place.join("claude"), "").unwrap();
        }
        let env = |path: &Path| {
            let (path, home) = (path.as_os_str().to_owned(), home.as_os_str().to_owned());
            move |name: &str| match name {
                "PATH" => Some(path.clone()),
                "HOME" => Some(home.clone()),
                _ => None,
            }
        };
        assert_eq!(find_program(env(&bin)), Some(bin.join("claude")));
        let elsewhere = find_program(env(Path::new("/nowhere")));
        assert_eq!(elsewhere, Some(home.join(".claude/local/claude")));
    }
}
