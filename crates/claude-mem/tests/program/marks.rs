//! Marking, forgetting and confirming memories, and undoing it.

use insta::assert_snapshot;
use rig::Sandbox;
use serde_json::json;

use crate::common::{sandbox, shown, turns};

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
fn pinning_clears_the_wrong_mark() {
    let home = with_memories(1);
    home.mem(&["mark", "wrong", "1"]).ok();
    let pinned = home.mem(&["pin", "1"]).ok();
    assert!(pinned.stderr.contains("#1 was marked as wrong; pinning it clears the mark"), "{pinned}");
    let useful = home.mem(&["mark", "useful", "1"]).ok();
    assert!(!useful.stdout.contains("no longer wrong"), "{useful}");
    let row = home.mem(&["show", "1"]).ok().stdout;
    assert!(row.contains("· pinned") && !row.contains("wrong"), "{row}");
}

#[test]
fn useful_clears_the_wrong_mark() {
    let home = with_memories(1);
    home.mem(&["mark", "wrong", "1"]).ok();
    assert_snapshot!(shown(&home, &home.mem(&["mark", "useful", "1"])), @"
    marked #1 as useful, no longer wrong
    [exit 0]
    ");
    let row = home.mem(&["show", "1"]).ok().stdout;
    assert!(!row.contains("wrong"), "{row}");
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

/// A session in which the user states a rule and the agent repeats it.
fn with_stated_rule() -> Sandbox {
    let home = sandbox();
    let rule = "From now on, never deploy the billing service between 1 and 3 at night.";
    turns::hook(&home, "s1", "UserPromptSubmit", &json!({"prompt": rule, "prompt_id": "p1"}));
    let message = "Understood. I will never deploy the billing service between 1 and 3 at night.";
    turns::hook(&home, "s1", "Stop", &json!({"last_assistant_message": message, "prompt_id": "p1"}));
    turns::drain(&home);
    // Later, so that the first session has the first ids.
    turns::turn(&home, "s2", 1);
    turns::drain(&home);
    home
}

#[test]
fn forget_offers_the_rows_that_say_the_same() {
    let home = with_stated_rule();
    let shown_first = home.mem(&["forget", "--dry-run", "P1"]).ok().stdout;
    assert!(shown_first.starts_with("would forget P1"), "{shown_first}");
    let forgotten = home.mem(&["forget", "P1"]).ok().stdout;
    let (_, siblings) = forgotten.split_once("the same is still said in:").expect("siblings");
    for id in ["M1", "#1", "A1"] {
        assert!(siblings.contains(&format!("'{id}'")), "{id}: {forgotten}");
    }
    assert!(!siblings.contains("Done 1"), "{forgotten}");
    home.mem(&["forget", "--undo", "P1"]).ok();
    home.mem(&["forget", "--siblings", "P1"]).ok();
    let left = home.mem(&["search", "--all-projects", "--json", "deploy billing"]).ok().json();
    assert_eq!(left["results"], json!([]), "the sentence is gone");
    let restored = home.mem(&["forget", "--undo-last"]).ok().stdout;
    assert!(restored.contains("brought back P1") && restored.contains("brought back #1"), "{restored}");
}

#[test]
fn a_selection_is_listed_first_and_restored_as_a_whole() {
    let home = with_stated_rule();
    let before = turns::counts(&home);
    let listed = home.mem(&["forget", "--session", "s1"]).ok().stdout;
    assert!(listed.contains("would forget P1") && listed.contains("to forget it, add --yes"), "{listed}");
    assert_eq!(turns::counts(&home), before, "only listed");
    let forgotten = home.mem(&["forget", "--session", "s1", "--yes"]).ok().stdout;
    assert!(forgotten.contains("undo: `claude-mem forget --undo-last`"), "{forgotten}");
    let after = turns::counts(&home);
    assert_eq!((after.prompts, after.final_messages), (1, 1), "the other session stays");
    home.mem(&["forget", "--undo-last"]).ok();
    assert_eq!(turns::counts(&home).prompts, before.prompts);

    let by_words = home.mem(&["forget", "--words", "billing service", "--json"]).ok().json();
    assert_eq!((&by_words["dry_run"], &by_words["done"]), (&json!(true), &json!("would forget")));
    let ids: Vec<&str> =
        by_words["rows"].as_array().expect("rows").iter().filter_map(|row| row["id"].as_str()).collect();
    assert!(ids.contains(&"P1") && !ids.contains(&"P2"), "{ids:?}");
    let nothing = home.mem(&["forget", "--project", "project", "--until", "2020-01-01"]).ok().stdout;
    assert_eq!(nothing, "nothing fits\n");
    for (wrong, code) in [
        (&["forget"][..], 64),
        (&["forget", "#1", "--words", "x"], 64),
        (&["forget", "--words", "x", "--undo"], 64),
        (&["forget", "--session", "nope"], 1),
        (&["forget", "--since", "whenever"], 64),
    ] {
        assert_eq!(home.mem(wrong).code, Some(code), "{wrong:?}");
    }
}
