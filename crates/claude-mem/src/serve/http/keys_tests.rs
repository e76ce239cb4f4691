use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn keys() -> (Keys, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (Keys::new(dir.path().join("token")), dir)
}

#[test]
fn a_link_works_once_and_not_for_long() {
    let (keys, _dir) = keys();
    let start = Instant::now();
    let secret = keys.link(start).unwrap();
    let token = keys.enter(&secret, start).unwrap().unwrap();
    assert!(keys.is_known(&token).unwrap());
    assert_eq!(keys.enter(&secret, start).unwrap(), None);
    assert_eq!(keys.enter("", start).unwrap(), None);
    let late = keys.link(start).unwrap();
    let after = start + Duration::from_secs(HTTP_LINK_SECONDS);
    assert_eq!(keys.enter(&late, after).unwrap(), None);
}

#[test]
fn a_secret_is_no_token_and_no_part_of_a_token_is_one() {
    let (keys, _dir) = keys();
    let now = Instant::now();
    let secret = keys.link(now).unwrap();
    assert!(!keys.is_known(&secret).unwrap());
    let token = keys.enter(&secret, now).unwrap().unwrap();
    for wrong in ["", &token[..63], &token[1..], &token.to_uppercase()[..10]] {
        assert!(!keys.is_known(wrong).unwrap(), "{wrong:?}");
    }
}

#[test]
fn the_install_token_is_made_once_private_and_void_after_a_rotation() {
    let (keys, dir) = keys();
    assert!(!keys.is_known("anything").unwrap());
    let file = dir.path().join("token");
    let first = read_or_make(&file).unwrap();
    assert_eq!(read_or_make(&file).unwrap(), first);
    assert!(keys.is_known(&first).unwrap());
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = keys.rotate().unwrap();
    assert!(!keys.is_known(&first).unwrap());
    assert!(keys.is_known(&second).unwrap());
    assert_eq!(read_or_make(&file).unwrap(), second);
}

#[test]
fn a_file_that_holds_no_token_is_replaced_and_never_believed() {
    let (keys, dir) = keys();
    for text in ["", "\n", "short", &"z".repeat(64), &"a".repeat(4_096)] {
        std::fs::write(dir.path().join("token"), text).unwrap();
        let made = read_or_make(&dir.path().join("token")).unwrap();
        assert_ne!(made, text.trim());
        assert_eq!(made.len(), TOKEN_CHARS);
    }
    assert!(!keys.is_known("").unwrap());
}

#[test]
fn the_oldest_pages_and_links_give_way() {
    let (keys, _dir) = keys();
    let now = Instant::now();
    let first = keys.link(now).unwrap();
    for _ in 0..HTTP_LINKS_MAX {
        keys.link(now).unwrap();
    }
    assert_eq!(keys.enter(&first, now).unwrap(), None);
    let mut tokens = Vec::new();
    for _ in 0..=HTTP_PAGES_MAX {
        let secret = keys.link(now).unwrap();
        tokens.push(keys.enter(&secret, now).unwrap().unwrap());
    }
    assert!(!keys.is_known(&tokens[0]).unwrap());
    assert!(keys.is_known(&tokens[HTTP_PAGES_MAX]).unwrap());
}

#[test]
fn a_token_that_cannot_be_read_just_now_is_not_one_that_is_not_there() {
    let dir = tempfile::tempdir().unwrap();
    assert!(read(dir.path()).is_err());
    let garbled = dir.path().join("token");
    std::fs::write(&garbled, [0xff; 64]).unwrap();
    assert!(read(&garbled).unwrap().is_none());
}

#[test]
fn whoever_removes_or_replaces_the_file_makes_the_old_token_void() {
    let (keys, dir) = keys();
    let file = dir.path().join("token");
    let first = read_or_make(&file).unwrap();
    assert!(keys.is_known(&first).unwrap());
    std::fs::remove_file(&file).unwrap();
    assert!(!keys.is_known(&first).unwrap());
    // As another process does it.
    let second = rotate_file(&file).unwrap();
    assert!(keys.is_known(&second).unwrap());
    let third = rotate_file(&file).unwrap();
    assert!(!keys.is_known(&second).unwrap());
    assert!(keys.is_known(&third).unwrap());
}

#[test]
fn a_page_gets_in_also_where_the_file_cannot_be_read() {
    let (keys, dir) = keys();
    let now = Instant::now();
    let secret = keys.link(now).unwrap();
    let token = keys.enter(&secret, now).unwrap().unwrap();
    std::fs::create_dir(dir.path().join("token")).unwrap();
    assert!(keys.is_known(&token).unwrap());
    assert!(!keys.is_known(&"0".repeat(64)).is_ok_and(|known| known));
}
