use std::fs;

use super::*;

fn sandbox() -> (tempfile::TempDir, DataDir) {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path().join("data"));
    (temp, dir)
}

#[test]
fn private_prompt_mutes_until_next_prompt() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    let other = PrivacyMarks::for_session(&dir, "claude-code", "s2");
    assert!(!marks.is_muted(None));
    marks.mute_turn(None).unwrap();
    assert!(marks.is_muted(None));
    assert!(!other.is_muted(None));
    marks.unmute_turn().unwrap();
    marks.unmute_turn().unwrap();
    assert!(!marks.is_muted(None));
}

#[test]
fn late_work_of_private_prompt_stays_muted() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    marks.mute_turn(Some("p1")).unwrap();
    marks.unmute_turn().unwrap();
    marks.accept_prompt(Some("p2")).unwrap();
    assert!(marks.is_muted(Some("p1")));
    assert!(!marks.is_muted(Some("p2")));
}

#[test]
fn session_remembers_private_content() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    assert!(!marks.had_private());
    marks.mute_turn(None).unwrap();
    marks.unmute_turn().unwrap();
    assert!(marks.had_private());
}

#[test]
fn failed_lookup_counts_as_muted() {
    let (_temp, dir) = sandbox();
    fs::create_dir_all(dir.root()).unwrap();
    // A file in place of the directory: the lookup fails with an error other than "no such file".
    fs::write(dir.muted(), "").unwrap();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    assert!(marks.is_muted(None));
    assert!(marks.had_private());
    // With the spool blocked too, the mark cannot be set.
    fs::write(dir.spool(), "").unwrap();
    assert!(marks.mute_turn(None).is_err());
}

#[test]
fn fallback_mark_stays_in_force() {
    let (_temp, dir) = sandbox();
    fs::create_dir_all(dir.root()).unwrap();
    fs::write(dir.muted(), "").unwrap();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    marks.mute_turn(Some("p1")).unwrap();
    fs::remove_file(dir.muted()).unwrap();
    assert!(marks.is_muted(None) && marks.had_private());
    assert!(marks.is_prompt_muted("p1"));
    marks.unmute_turn().unwrap();
    assert!(!marks.is_muted(None) && marks.is_muted(Some("p1")));
}

#[test]
fn words_of_private_blocks_are_kept_as_hashes_only() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    assert!(marks.private_words().unwrap().is_empty());
    marks.learn_private_words("use <private>canary7351</private> to log in").unwrap();
    marks.learn_private_words("and <private>another99</private>").unwrap();
    let words = marks.private_words().unwrap();
    assert_eq!(words.mask("canary7351 another99 log"), "[redacted:private-word] [redacted:private-word] log");
    let other = PrivacyMarks::for_session(&dir, "claude-code", "s2");
    assert!(other.private_words().unwrap().is_empty());
    for file in fs::read_dir(dir.muted()).unwrap() {
        let text = fs::read_to_string(file.unwrap().path()).unwrap();
        assert!(!text.contains("canary") && !text.contains("another"), "{text}");
    }
}

#[test]
fn damaged_words_are_an_error() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    marks.learn_private_words("<private>canary7351</private>").unwrap();
    for file in fs::read_dir(dir.muted()).unwrap() {
        fs::write(file.unwrap().path(), "damaged").unwrap();
    }
    assert!(marks.private_words().is_err());
}

#[test]
fn prompt_without_evidence_is_muted() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    assert!(marks.is_muted(Some("p1")), "nothing is known of it");
    assert!(!marks.is_muted(None), "an old client sends no ids");
    marks.accept_prompt(Some("p1")).unwrap();
    marks.accept_prompt(Some("p2")).unwrap();
    assert!(!marks.is_muted(Some("p1")) && !marks.is_muted(Some("p2")) && !marks.is_muted(None));
    assert!(marks.is_muted(Some("p3")));
    let other = PrivacyMarks::for_session(&dir, "claude-code", "s2");
    assert!(other.is_muted(Some("p1")));
}

#[test]
fn emptied_record_mutes_a_client_without_prompt_ids() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    marks.accept_prompt(None).unwrap();
    assert!(!marks.is_muted(None));
    marks.clear_accepted().unwrap();
    assert!(marks.is_muted(None));
    marks.accept_prompt(None).unwrap();
    assert!(!marks.is_muted(None));
}

#[test]
fn spare_mark_needs_no_room() {
    let (_temp, dir) = sandbox();
    let marks = PrivacyMarks::for_session(&dir, "claude-code", "s1");
    marks.make_spare_marks().unwrap();
    marks.rename_spare(&dir.muted().join(marks.turn_mark())).unwrap();
    assert!(marks.is_muted(None));
    for _ in 1..SPARE_MARKS {
        marks.rename_spare(&dir.muted().join(marks.turn_mark())).unwrap();
    }
    assert!(marks.rename_spare(&dir.muted().join(marks.turn_mark())).is_err(), "all are used");
    marks.make_spare_marks().unwrap();
    assert!(marks.rename_spare(&dir.muted().join(marks.turn_mark())).is_ok());
}
