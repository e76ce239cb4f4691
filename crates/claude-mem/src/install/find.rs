//! Finding the client on this machine, and its version, mostly without running it.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::version::Version;
use crate::child::{self, Order, Spawner};
use crate::limits::CLIENT_VERSION_SECONDS_MAX;

/// A client that is installed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found {
    pub program: PathBuf,
    pub version: Option<Version>,
}

/// The `claude` that a person who types the name gets; else the places where its own installers
/// put it.
pub fn program(env: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let path = env("PATH").unwrap_or_default();
    let home = env("HOME").map(PathBuf::from);
    let usual = [".claude/local/claude", ".local/bin/claude"];
    let usual = usual
        .iter()
        .filter_map(|place| Some(home.as_ref()?.join(place)));
    std::env::split_paths(&path)
        .filter(|dir| dir.is_absolute())
        .map(|dir| dir.join("claude"))
        .chain(usual)
        .find(|program| program.is_file())
}

/// The version as the files around it tell: the package that it belongs to, or the name that the
/// native installer gave it.
pub fn version_on_disk(program: &Path) -> Option<Version> {
    let real = program.canonicalize().ok()?;
    let named = real.file_name()?.to_str().and_then(Version::find);
    named.or_else(|| {
        real.ancestors()
            .skip(1)
            .take(3)
            .find_map(version_of_package)
    })
}

fn version_of_package(dir: &Path) -> Option<Version> {
    #[derive(serde::Deserialize)]
    struct Package {
        name: String,
        version: String,
    }
    let text = std::fs::read(dir.join("package.json")).ok()?;
    let package: Package = serde_json::from_slice(&text).ok()?;
    let ours = package.name.starts_with("@anthropic-ai/claude-code");
    ours.then(|| Version::find(&package.version)).flatten()
}

/// The version as the program itself says it, if it does so soon.
pub fn version_asked(
    program: &Path,
    env: Vec<(OsString, OsString)>,
    spawner: &Spawner,
) -> Option<Version> {
    let order = Order {
        program: program.into(),
        args: vec!["--version".into()],
        env,
        directory: PathBuf::from("/"),
    };
    let within = Duration::from_secs(CLIENT_VERSION_SECONDS_MAX);
    let ended = child::run(spawner, order, b"", within).ok()?;
    Version::find(&String::from_utf8_lossy(&ended.stdout))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_tells_its_version_without_being_run() {
        let dir = tempfile::tempdir().unwrap();
        let package = dir.path().join("@anthropic-ai/claude-code");
        std::fs::create_dir_all(&package).unwrap();
        let json = r#"{"name": "@anthropic-ai/claude-code", "version": "2.0.77"}"#;
        std::fs::write(package.join("package.json"), json).unwrap();
        std::fs::write(package.join("cli.js"), "").unwrap();
        let link = dir.path().join("claude");
        std::os::unix::fs::symlink(package.join("cli.js"), &link).unwrap();
        assert_eq!(version_on_disk(&link), Some(Version(2, 0, 77)));
    }

    #[test]
    fn somebody_elses_package_says_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let json = r#"{"name": "left-pad", "version": "1.3.0"}"#;
        std::fs::write(dir.path().join("package.json"), json).unwrap();
        std::fs::write(dir.path().join("claude"), "").unwrap();
        assert_eq!(version_on_disk(&dir.path().join("claude")), None);
    }

    #[test]
    fn the_native_installer_names_the_file_by_its_version() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("2.1.300");
        std::fs::write(&file, "").unwrap();
        assert_eq!(version_on_disk(&file), Some(Version(2, 1, 300)));
    }

    #[test]
    fn the_path_comes_before_the_usual_places() {
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
        assert_eq!(program(env(&bin)), Some(bin.join("claude")));
        let elsewhere = program(env(Path::new("/nowhere")));
        assert_eq!(elsewhere, Some(home.join(".claude/local/claude")));
    }
}
