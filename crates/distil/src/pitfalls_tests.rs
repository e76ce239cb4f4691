use super::*;
use claude_mem_core::episode::{EpisodeStep, EpisodeText, FinalMessage};
use serde_json::json;

fn failed(command: &str, output: &str) -> EpisodeStep {
    EpisodeStep {
        tool: "Bash".into(),
        input: json!({ "command": command }),
        output: json!(output),
        failed: true,
        at: Millis(10),
        agent: None,
    }
}

fn said(text: &str) -> EpisodeText {
    EpisodeText { source: TextSource::Message, text: text.into(), at: Millis(11), ..EpisodeText::default() }
}

fn titles(step: EpisodeStep, message: &str) -> Vec<String> {
    let episode = Episode { steps: vec![step], texts: vec![said(message)], ..Episode::default() };
    pitfall_claims(&episode, &[], 1).into_iter().map(|claim| claim.title).collect()
}

fn failed_commit() -> EpisodeStep {
    failed("git commit -m 'Add a cursor'", "husky - pre-commit script failed (code 1)")
}

#[test]
fn explanation_outside_the_change_is_told() {
    for (message, want) in [
        (
            "The pre-commit hook runs the type check on all files. Let me see.",
            "The pre-commit hook runs the type check on all files",
        ),
        (
            "The failures come from stale fixtures in `var/old/` (not from my changes).",
            "The failures come from stale fixtures in `var/old/`",
        ),
        (
            "The error in `lib/legacy.rb` is pre-existing, not related to my change.",
            "The error in `lib/legacy.rb` is pre-existing",
        ),
        (
            "Hit a snag — `.gitignore` excludes `notes/` and all plans below it.",
            "`.gitignore` excludes `notes/` and all plans below it",
        ),
    ] {
        assert_eq!(titles(failed_commit(), message), [want], "{message}");
    }
}

#[test]
fn long_explanation_is_titled_without_its_details() {
    for (message, want) in [
        (
            "The prepare-commit-msg hook rewrites the message to name both the cursor that this change adds and the six \
             files of the mirror that somebody staged before.",
            "The prepare-commit-msg hook rewrites the message",
        ),
        (
            "The pre-commit hook fails because of missing generated files (`list_table.rs`, `mirror_table.rs`, \
             `cursor_table.rs`) that are only created by `make tables`.",
            "The pre-commit hook fails because of missing generated files that are only created by `make tables`",
        ),
    ] {
        assert_eq!(titles(failed_commit(), message), [want], "{message}");
    }
}

#[test]
fn guesses_and_states_and_own_mistakes_are_not_told() {
    for message in [
        "The pre-commit hook probably runs the type check on all files.",
        "The pre-commit hook must have caught something in `lib/legacy.rb`.",
        "The pre-commit hook ran all tests, and they passed.",
        "The type error in `src/list.rs` comes from the new field.",
        "The lint error in `lib/legacy.rb` is pre-existing. Let me fix it.",
        "These are pre-existing errors, not from our changes.",
        "The hook was showing stale output of `lint`.",
        "The pre-commit script failed with code 1, husky cannot run.",
        "The remaining changes in `lib/legacy.rb` are pre-existing.",
    ] {
        assert!(titles(failed_commit(), message).is_empty(), "{message}");
    }
}

#[test]
fn explanation_without_a_trouble_is_no_pitfall() {
    let mut passed = failed_commit();
    passed.failed = false;
    passed.output = json!("[main 1a2b3c4] Add a cursor\n 1 file changed");
    assert!(titles(passed, "The pre-commit hook runs the type check on all files.").is_empty());
}

#[test]
fn error_is_quoted_if_the_explanation_names_it() {
    let step = failed(
        "git commit -m 'Add a cursor'",
        "error: Keybox: no reply\nfatal: failed to write commit object",
    );
    let last = FinalMessage { text: "The Keybox agent keeps failing to sign.".into(), at: Millis(12) };
    let episode = Episode { steps: vec![step], final_message: Some(last), ..Episode::default() };
    let claims = pitfall_claims(&episode, &[], 1);
    let told: Vec<&str> = claims.iter().map(|claim| claim.text.as_str()).collect();
    assert_eq!(told, ["The error: “error: Keybox: no reply”. The commit “Add a cursor” was refused."]);
}

#[test]
fn edit_of_code_ends_the_window_of_messages() {
    let edit = EpisodeStep {
        tool: "Edit".into(),
        input: json!({ "file_path": "src/list.rs", "old_string": "a", "new_string": "b" }),
        at: Millis(11),
        ..EpisodeStep::default()
    };
    let mut late = said("The pre-commit hook runs the type check on all files.");
    late.at = Millis(12);
    let episode = Episode { steps: vec![failed_commit(), edit], texts: vec![late], ..Episode::default() };
    assert!(pitfall_claims(&episode, &[], 1).is_empty());
}
