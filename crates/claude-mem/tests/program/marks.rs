//! Marking, forgetting and confirming memories, and undoing it.

use insta::assert_snapshot;
use rig::Sandbox;

use crate::common::{sandbox, shown};

fn with_memories(count: usize) -> Sandbox {
    let home = sandbox();
    for number in 1..=count {
        let title = format!("Retries of kind {number} stop at 6");
        home.mem(&["save", "--title", &title, "The 7th trips the limiter."]).ok();
    }
    home
}

#[test]
fn edit_clears_the_wrong_mark() {
    let home = with_memories(1);
    home.mem(&["mark", "wrong", "1"]).ok();
    assert_snapshot!(shown(&home, &home.mem(&["show", "1"])), @"
    #1 Retries of kind 1 stop at 6
    discovery · 2026-01-31 10:00 · project · marked as wrong, never shown

      The 7th trips the limiter.
    [exit 0]
    ");
    let retyped = home.mem(&["edit", "1", "--type", "decision"]).ok();
    assert!(retyped.stdout.contains("still marked as wrong"), "{retyped}");
    let edited = home.mem(&["edit", "1", "--title", "Retries stop at 7"]);
    assert_snapshot!(shown(&home, &edited), @"
    edited #1  Retries stop at 7
    no longer marked as wrong
    [exit 0]
    ");
    let found = home.mem(&["search", "retries"]).ok();
    assert!(found.stdout.contains("Retries stop at 7"), "{found}");
}

#[test]
fn useful_clears_the_wrong_mark() {
    let home = with_memories(1);
    home.mem(&["mark", "wrong", "1"]).ok();
    let pinned = home.mem(&["pin", "1"]).ok();
    assert!(pinned.stderr.contains("#1 is marked as wrong"), "{pinned}");
    assert_snapshot!(shown(&home, &home.mem(&["mark", "useful", "1"])), @"
    marked #1 as useful, no longer wrong
    [exit 0]
    ");
    let row = home.mem(&["show", "1"]).ok().stdout;
    assert!(row.contains("· pinned") && !row.contains("wrong"), "{row}");
}

#[test]
fn marking_is_all_or_none() {
    let home = with_memories(1);
    let output = home.mem(&["mark", "wrong", "1", "999"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("no memory #999"), "{output}");
    assert_snapshot!(shown(&home, &home.mem(&["why", "1"])), @"
    #1 was never shown
    [exit 0]
    ");
}

#[test]
fn only_observations_can_be_wrong() {
    let home = with_memories(1);
    let output = home.mem(&["mark", "wrong", "S1"]);
    assert_eq!(output.code, Some(64), "{output}");
    assert!(output.stderr.contains("claude-mem forget 'S1'"), "{output}");
}

#[test]
fn type_must_be_in_the_vocabulary() {
    let home = with_memories(1);
    let listed = "known types: decision, bugfix, feature, refactor, change, discovery";
    for args in [&["save", "--type", "foo", "Money is in cents"][..], &["edit", "1", "--type", "foo"]] {
        let output = home.mem(args);
        assert_eq!(output.code, Some(64), "{output}");
        assert!(output.stderr.contains("\"foo\" is not a type"), "{output}");
        assert!(output.stderr.contains(listed), "{output}");
    }
    home.mem(&["save", "--type", "bug-fix", "Money is in cents"]).ok();
    let found = home.mem(&["recent", "--type", "bugfix"]).ok().stdout;
    assert!(found.contains("Money is in cents"), "{found}");
    // A custom vocabulary.
    let words = r#"{"types":[{"name":"ruling","meaning":"a court said so"}],"concepts":[]}"#;
    let words = home.write(home.home().join("words.json"), words);
    home.mem(&["config", "set", "vocabulary", &words.display().to_string()]).ok();
    home.mem(&["save", "--type", "ruling", "Fees are shared"]).ok();
    let refused = home.mem(&["save", "--type", "bugfix", "No such word here"]);
    assert_eq!(refused.code, Some(64), "{refused}");
}

#[test]
fn forget_prints_the_undo_command() {
    let home = with_memories(2);
    assert_snapshot!(shown(&home, &home.mem(&["forget", "1", "2"])), @"
    forgot #1  Retries of kind 1 stop at 6
    forgot #2  Retries of kind 2 stop at 6
    undo: `claude-mem forget --undo '#1' '#2'`
    [exit 0]
    ");
    let gone = home.mem(&["show", "1"]);
    assert_eq!(gone.code, Some(1), "{gone}");
    assert!(gone.stderr.contains("claude-mem forget --undo '#1'"), "{gone}");
    let dry = home.mem(&["forget", "--undo", "1", "2"]).ok();
    assert!(!dry.stdout.contains("--undo"), "{dry}");
}

#[test]
fn only_preferences_can_be_confirmed() {
    let home = with_memories(1);
    let refused = home.mem(&["preferences", "--confirm", "1"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("#1 is not a preference"), "{refused}");
    home.mem(&["save", "--global", "Run the formatter before every commit"]).ok();
    let row = home.mem(&["show", "2"]).ok().stdout;
    assert!(row.contains("in every project"), "{row}");
}
