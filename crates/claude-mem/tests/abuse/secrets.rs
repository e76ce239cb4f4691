//! Secrets, in every place that a hook takes text from.

use serde_json::json;

use crate::common::hooks::{self as common, NEUTRAL, kept, payload};
use crate::common::sandbox;

/// A few kinds, each made up.
const SECRETS: &[&str] = &[
    "ghp_9fQ2mVx7Lk4TzR1bYc8WnE5sJd3HaP6uGi0o",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnktNzM1MSJ9.c2lnbmF0dXJlLWNhbmFyeS03MzUx",
];

#[test]
fn a_secret_is_masked_wherever_it_stands() {
    for secret in SECRETS {
        let home = sandbox();
        let text = format!("the key is {secret} and works");
        for (event, more) in [
            ("UserPromptSubmit", json!({ "prompt": text })),
            (
                "PostToolUse",
                json!({"tool_name": "Bash", "tool_use_id": "a", "tool_input": {"command": text},
                    "tool_response": {"stdout": text, "nested": [[text]], text.as_str(): text}}),
            ),
            (
                "PostToolUseFailure",
                json!({"tool_name": "Bash", "tool_use_id": "b", "error": text}),
            ),
            ("Stop", json!({ "last_assistant_message": text })),
            ("SubagentStop", json!({ "last_assistant_message": text })),
            ("PostCompact", json!({ "compact_summary": text })),
        ] {
            assert_eq!(home.hook(event, payload(event, &more)).ok().stdout, NEUTRAL);
        }
        assert_eq!(
            common::places_of(&home, secret),
            [] as [&str; 0],
            "{secret}"
        );
        let kept = serde_json::to_string(&kept(&home)).expect("events are JSON");
        assert_eq!(
            common::places_of(&home, secret),
            [] as [&str; 0],
            "{secret}, in the queue"
        );
        assert!(
            kept.contains("[redacted:") && kept.contains("and works"),
            "{kept}"
        );
    }
}

#[test]
fn a_secret_across_the_cut_leaves_no_half_behind() {
    let secret = SECRETS[0];
    // Wherever the cut falls in a long text, one of these lies across it.
    let line = format!("token {secret} end\n");
    for shift in [0, 7, 19, 31] {
        let home = sandbox();
        let text = format!("{}{}", "x".repeat(shift), line.repeat(2_000));
        let more = json!({"tool_name": "Bash", "tool_use_id": "a", "tool_response": text});
        home.hook("PostToolUse", payload("PostToolUse", &more)).ok();
        kept(&home);
        for part in [&secret[4..16], &secret[16..28], &secret[28..]] {
            assert_eq!(
                common::places_of(&home, part),
                [] as [&str; 0],
                "shift {shift}"
            );
        }
    }
}

#[test]
fn a_broken_payload_leaves_no_secret_in_the_log() {
    let home = sandbox();
    let secret = SECRETS[0];
    for input in [
        format!("{secret} is not JSON"),
        format!(
            r#"{{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"{secret}"#
        ),
    ] {
        home.hook("Stop", input).ok();
    }
    kept(&home);
    assert_eq!(common::places_of(&home, secret), [] as [&str; 0]);
}
