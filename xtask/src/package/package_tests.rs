use std::process::Command;

use super::*;

/// A directory that is removed at the end of the test.
struct OutputDir(PathBuf);

impl OutputDir {
    fn create(name: &str) -> Self {
        let dir = std::env::temp_dir().join(format!("{PACKAGE_NAME}-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        Self(dir)
    }

    /// Writes all packages of a release with small stand-ins for the executables.
    fn write_release(&self) {
        let executables = PackagedExecutables { main: b"main".to_vec(), server: Some(b"server".to_vec()) };
        for target in TARGETS {
            write_platform(&self.0, target, &executables).unwrap();
        }
        write_common(&self.0, "https://example.org/v1").unwrap();
    }

    fn read(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.0.join(name)).unwrap()
    }
}

impl Drop for OutputDir {
    fn drop(&mut self) {
        std::fs::remove_dir_all(&self.0).unwrap();
    }
}

#[test]
fn release_has_every_package_with_its_checksum_and_the_same_bytes_again() {
    let (first, second) = (OutputDir::create("first"), OutputDir::create("second"));
    first.write_release();
    second.write_release();
    let names: Vec<String> = packages(&first.0).unwrap().into_iter().map(|(name, _)| name).collect();
    // Of each platform: two tarballs, an npm package and a wheel; on Linux two Debian packages. For all: npm
    // launcher, installer, formula and bill of materials.
    let on_linux = TARGETS.iter().filter(|target| target.debian_arch.is_some()).count();
    assert_eq!(names.len(), TARGETS.len() * 4 + on_linux * 2 + 4, "{names:#?}");
    let sums = String::from_utf8(first.read(CHECKSUMS)).unwrap();
    assert_eq!(sums.lines().count(), names.len());
    for name in &names {
        assert!(first.read(name) == second.read(name), "{name} differs");
        assert!(sums.contains(&format!("{}  {name}\n", sha256(&first.read(name)))), "{name}: {sums}");
    }
    assert_eq!(first.read(CHECKSUMS), second.read(CHECKSUMS));
    let syntax = Command::new("sh").arg("-n").arg(first.0.join("install.sh")).output().unwrap();
    assert!(syntax.status.success(), "{}", String::from_utf8_lossy(&syntax.stderr));
}
