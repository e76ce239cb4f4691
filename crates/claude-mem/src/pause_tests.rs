use super::*;

const NOW: Millis = Millis(1_000_000);

#[test]
fn a_pause_holds_until_its_time_or_until_it_is_ended() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("paused");
    assert_eq!(in_force(&path, NOW), None);

    let for_ever = Pause {
        since: Some(NOW),
        until: None,
    };
    begin(&path, for_ever).expect("begun");
    assert_eq!(in_force(&path, Millis(i64::MAX)), Some(for_ever));

    let short = Pause {
        until: Some(NOW.plus_seconds(60)),
        ..for_ever
    };
    begin(&path, short).expect("changed");
    assert_eq!(in_force(&path, NOW.plus_seconds(59)), Some(short));
    assert_eq!(in_force(&path, NOW.plus_seconds(60)), None);

    assert!(end(&path).expect("ended"));
    assert!(!end(&path).expect("nothing to end"));
    assert_eq!(in_force(&path, NOW), None);
}

#[test]
fn what_cannot_be_read_is_a_pause() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("paused");
    for content in ["", "yes", "{\"until\":\"soon\"}", "[]", "\u{0}"] {
        std::fs::write(&path, content).expect("written");
        assert!(in_force(&path, NOW).is_some(), "{content:?}");
    }
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a directory in its place");
    assert!(in_force(&path, NOW).is_some());
}

#[test]
fn nobody_else_can_read_when_somebody_looks_away() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("paused");
    begin(&path, Pause::default()).expect("begun");
    let mode = std::fs::metadata(&path)
        .expect("there")
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
}
