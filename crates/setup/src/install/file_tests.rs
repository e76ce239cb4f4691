use std::os::unix::fs::symlink;

use super::*;

const MAX: u64 = 1 << 20;

fn names_in(dir: &Path) -> Vec<String> {
    let entries = fs::read_dir(dir).unwrap().flatten();
    let mut names: Vec<_> = entries.map(|e| e.file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn links_and_permissions_are_kept() {
    let dir = tempfile::tempdir().unwrap();
    let (real, link) = (dir.path().join("dotfiles.json"), dir.path().join("settings.json"));
    fs::write(&real, "{}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    symlink(&real, &link).unwrap();
    ClientFile::read(&link, MAX).unwrap().replace(Some("{\"a\":1}")).unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(fs::read_to_string(&real).unwrap(), "{\"a\":1}");
    assert_eq!(fs::metadata(&real).unwrap().mode() & 0o777, 0o640);
    assert_eq!(names_in(dir.path()), ["dotfiles.json", "settings.json"]);
}

#[test]
fn missing_file_is_created_with_its_directory() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join(".claude/settings.json");
    let file = ClientFile::read(&path, MAX).unwrap();
    assert_eq!(file.text, None);
    file.replace(Some("{}")).unwrap();
    assert_eq!(fs::metadata(&path).unwrap().mode() & 0o777, 0o600);
    ClientFile::read(&path, MAX).unwrap().replace(None).unwrap();
    assert!(!path.exists());
}

#[test]
fn unreadable_files_are_rejected() {
    let dir = tempfile::tempdir().unwrap();
    let at = |name: &str| dir.path().join(name);
    symlink(at("b"), at("a")).unwrap();
    symlink(at("a"), at("b")).unwrap();
    symlink(at("nowhere"), at("dangling")).unwrap();
    fs::create_dir(at("directory")).unwrap();
    fs::write(at("huge"), vec![b' '; MAX as usize + 1]).unwrap();
    fs::write(at("binary"), [0xff, 0xfe, 0]).unwrap();
    for (name, want) in [
        ("a", "is a broken link"),
        ("dangling", "is a broken link"),
        ("directory", "is not a file"),
        ("huge", "larger than 1 MB"),
        ("binary", "is not UTF-8 text"),
    ] {
        let error = ClientFile::read(&at(name), MAX).unwrap_err().to_string();
        assert!(error.contains(want) && error.ends_with("nothing was changed"), "{error}");
    }
}

#[test]
fn read_only_file_is_not_replaced_even_by_root() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("settings.json");
    fs::write(&path, "{}").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
    let file = ClientFile::read(&path, MAX).unwrap();
    assert!(matches!(file.replace(Some("x")), Err(ClientFileError::ReadOnly(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
}

#[test]
fn changed_file_is_not_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("settings.json");
    let file = ClientFile::read(&path, MAX).unwrap();
    fs::write(&path, "{\"theirs\": 1}").unwrap();
    assert!(matches!(file.replace(Some("{}")), Err(ClientFileError::ChangedMeanwhile(_))));
    assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\": 1}");
}
