use std::os::unix::fs::PermissionsExt as _;

use super::*;

fn keys() -> (AccessTokens, tempfile::TempDir) {
    let dir = tempfile::tempdir().unwrap();
    (AccessTokens::new(dir.path().join("token"), dir.path().join("page-tokens")), dir)
}

#[test]
fn link_works_once_and_expires() {
    let (keys, _dir) = keys();
    let start = Instant::now();
    let secret = keys.create_link(start).unwrap();
    let token = keys.redeem_link(&secret, start).unwrap().unwrap();
    assert!(keys.is_known(&token).unwrap());
    assert_eq!(keys.redeem_link(&secret, start).unwrap(), None);
    assert_eq!(keys.redeem_link("", start).unwrap(), None);
    let late = keys.create_link(start).unwrap();
    let after = start + Duration::from_secs(HTTP_LINK_SECONDS);
    assert_eq!(keys.redeem_link(&late, after).unwrap(), None);
}

#[test]
fn link_secrets_and_partial_tokens_are_rejected() {
    let (keys, _dir) = keys();
    let now = Instant::now();
    let secret = keys.create_link(now).unwrap();
    assert!(!keys.is_known(&secret).unwrap());
    let token = keys.redeem_link(&secret, now).unwrap().unwrap();
    for wrong in ["", &token[..63], &token[1..], &token.to_uppercase()[..10]] {
        assert!(!keys.is_known(wrong).unwrap(), "{wrong:?}");
    }
}

#[test]
fn install_token_is_private_and_revoked_by_rotation() {
    let (keys, dir) = keys();
    assert!(!keys.is_known("anything").unwrap());
    let file = dir.path().join("token");
    let first = read_or_create_token(&file).unwrap();
    assert_eq!(read_or_create_token(&file).unwrap(), first);
    assert!(keys.is_known(&first).unwrap());
    let mode = std::fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    let second = keys.rotate().unwrap();
    assert!(!keys.is_known(&first).unwrap());
    assert!(keys.is_known(&second).unwrap());
    assert_eq!(read_or_create_token(&file).unwrap(), second);
}

#[test]
fn invalid_token_file_is_replaced() {
    let (keys, dir) = keys();
    for text in ["", "\n", "short", &"z".repeat(64), &"a".repeat(4_096)] {
        std::fs::write(dir.path().join("token"), text).unwrap();
        let made = read_or_create_token(&dir.path().join("token")).unwrap();
        assert_ne!(made, text.trim());
        assert_eq!(made.len(), TOKEN_CHARS);
    }
    assert!(!keys.is_known("").unwrap());
}

#[test]
fn oldest_pages_and_links_are_evicted() {
    let (keys, _dir) = keys();
    let now = Instant::now();
    let first = keys.create_link(now).unwrap();
    for _ in 0..HTTP_LINKS_MAX {
        keys.create_link(now).unwrap();
    }
    assert_eq!(keys.redeem_link(&first, now).unwrap(), None);
    let mut tokens = Vec::new();
    for _ in 0..=HTTP_PAGES_MAX {
        let secret = keys.create_link(now).unwrap();
        tokens.push(keys.redeem_link(&secret, now).unwrap().unwrap());
    }
    assert!(!keys.is_known(&tokens[0]).unwrap());
    assert!(keys.is_known(&tokens[HTTP_PAGES_MAX]).unwrap());
}

#[test]
fn unreadable_token_file_is_not_replaced() {
    let dir = tempfile::tempdir().unwrap();
    assert!(read_token(dir.path()).is_err());
    let garbled = dir.path().join("token");
    std::fs::write(&garbled, [0xff; 64]).unwrap();
    assert!(read_token(&garbled).unwrap().is_none());
}

#[test]
fn replacing_the_token_file_revokes_the_token() {
    let (keys, dir) = keys();
    let file = dir.path().join("token");
    let first = read_or_create_token(&file).unwrap();
    assert!(keys.is_known(&first).unwrap());
    std::fs::remove_file(&file).unwrap();
    assert!(!keys.is_known(&first).unwrap());
    // As another process would.
    let second = rotate_token_file(&file).unwrap();
    assert!(keys.is_known(&second).unwrap());
    let third = rotate_token_file(&file).unwrap();
    assert!(!keys.is_known(&second).unwrap());
    assert!(keys.is_known(&third).unwrap());
}

#[test]
fn page_token_works_without_the_token_file() {
    let (keys, dir) = keys();
    let now = Instant::now();
    let secret = keys.create_link(now).unwrap();
    let token = keys.redeem_link(&secret, now).unwrap().unwrap();
    std::fs::remove_file(dir.path().join("token")).unwrap();
    std::fs::create_dir(dir.path().join("token")).unwrap();
    assert!(keys.is_known(&token).unwrap());
    assert!(!keys.is_known(&"0".repeat(64)).is_ok_and(|known| known));
}

#[test]
fn page_survives_a_restart_until_the_install_token_changes() {
    let (keys, dir) = keys();
    let now = Instant::now();
    let secret = keys.create_link(now).unwrap();
    let token = keys.redeem_link(&secret, now).unwrap().unwrap();
    let restarted = || AccessTokens::new(dir.path().join("token"), dir.path().join("page-tokens"));
    assert!(restarted().is_known(&token).unwrap());
    assert!(!restarted().is_known(&secret).unwrap());
    rotate_token_file(&dir.path().join("token")).unwrap();
    assert!(!restarted().is_known(&token).unwrap());
}
