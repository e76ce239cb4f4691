use super::*;

const NOW: Millis = Millis(1_000_000);

#[test]
fn pause_lasts_until_its_end_or_resume() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("paused");
    assert_eq!(active_pause(&path, NOW), None);

    let for_ever = CapturePause { since: Some(NOW), until: None };
    begin(&path, for_ever).expect("begun");
    assert_eq!(active_pause(&path, Millis(i64::MAX)), Some(for_ever));

    let short = CapturePause { until: Some(NOW.plus_seconds(60)), ..for_ever };
    begin(&path, short).expect("changed");
    assert_eq!(active_pause(&path, NOW.plus_seconds(59)), Some(short));
    assert_eq!(active_pause(&path, NOW.plus_seconds(60)), None);

    assert!(end(&path).expect("ended"));
    assert!(!end(&path).expect("nothing to end"));
    assert_eq!(active_pause(&path, NOW), None);
}

#[test]
fn unreadable_file_is_a_pause() {
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("paused");
    for content in ["", "yes", "{\"until\":\"soon\"}", "[]", "\u{0}"] {
        std::fs::write(&path, content).expect("written");
        assert!(active_pause(&path, NOW).is_some(), "{content:?}");
    }
    std::fs::remove_file(&path).expect("removed");
    std::fs::create_dir(&path).expect("a directory in its place");
    assert!(active_pause(&path, NOW).is_some());
}

#[test]
fn pause_file_is_private() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = tempfile::tempdir().expect("a directory");
    let path = dir.path().join("paused");
    begin(&path, CapturePause::default()).expect("begun");
    let mode = std::fs::metadata(&path).expect("there").permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}
