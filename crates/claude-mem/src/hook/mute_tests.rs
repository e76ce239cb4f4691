use std::fs;

use super::*;

fn sandbox() -> (tempfile::TempDir, DataDir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path().join("data"));
    (temp, dir)
}

#[test]
fn a_private_prompt_mutes_its_session_until_the_next_prompt() {
    let (_temp, dir) = sandbox();
    let marks = Marks::of(&dir, "claude-code", "s1");
    let other = Marks::of(&dir, "claude-code", "s2");
    assert!(!marks.is_muted(None));
    marks.mute_turn(None).unwrap();
    assert!(marks.is_muted(None));
    assert!(!other.is_muted(None));
    marks.open_turn().unwrap();
    marks.open_turn().unwrap();
    assert!(!marks.is_muted(None));
}

#[test]
fn late_work_of_a_private_prompt_stays_muted_in_a_later_turn() {
    let (_temp, dir) = sandbox();
    let marks = Marks::of(&dir, "claude-code", "s1");
    marks.mute_turn(Some("p1")).unwrap();
    marks.open_turn().unwrap();
    assert!(marks.is_muted(Some("p1")));
    assert!(!marks.is_muted(Some("p2")));
}

#[test]
fn a_session_remembers_that_something_in_it_was_private() {
    let (_temp, dir) = sandbox();
    let marks = Marks::of(&dir, "claude-code", "s1");
    assert!(!marks.had_private());
    marks.mute_turn(None).unwrap();
    marks.open_turn().unwrap();
    assert!(marks.had_private());
}

#[test]
fn what_cannot_be_looked_up_is_muted() {
    let (_temp, dir) = sandbox();
    fs::create_dir_all(dir.root()).unwrap();
    // A file where the directory should be: the look-up fails with something else than "no
    // such file".
    fs::write(dir.muted(), "").unwrap();
    let marks = Marks::of(&dir, "claude-code", "s1");
    assert!(marks.is_muted(None));
    assert!(marks.had_private());
    // Nor can it be noted anywhere that it is.
    fs::write(dir.spool(), "").unwrap();
    assert!(marks.mute_turn(None).is_err());
}

#[test]
fn a_mark_that_does_not_fit_into_its_place_holds_when_the_obstacle_is_gone() {
    let (_temp, dir) = sandbox();
    fs::create_dir_all(dir.root()).unwrap();
    fs::write(dir.muted(), "").unwrap();
    let marks = Marks::of(&dir, "claude-code", "s1");
    marks.mute_turn(Some("p1")).unwrap();
    fs::remove_file(dir.muted()).unwrap();
    assert!(marks.is_muted(None) && marks.had_private());
    assert!(marks.is_prompt_muted("p1"));
    marks.open_turn().unwrap();
    assert!(!marks.is_muted(None) && marks.is_muted(Some("p1")));
}
