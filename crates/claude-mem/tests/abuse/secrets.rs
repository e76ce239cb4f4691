//! Secrets in every field that a hook reads must be masked.

use serde_json::json;

use crate::common::hooks::{self as common, NEUTRAL, captured_events, payload};
use crate::common::sandbox;

/// Fake secrets of several kinds.
const SECRETS: &[&str] = &[
    "ghp_9fQ2mVx7Lk4TzR1bYc8WnE5sJd3HaP6uGi0o",
    "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJjYW5hcnktNzM1MSJ9.c2lnbmF0dXJlLWNhbmFyeS03MzUx",
];

#[test]
fn secret_is_masked_in_every_field() {
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
            ("PostToolUseFailure", json!({"tool_name": "Bash", "tool_use_id": "b", "error": text})),
            ("Stop", json!({ "last_assistant_message": text })),
            ("SubagentStop", json!({ "last_assistant_message": text })),
            ("PostCompact", json!({ "compact_summary": text })),
        ] {
            assert_eq!(home.hook(event, payload(event, &more)).ok().stdout, NEUTRAL);
        }
        assert_eq!(common::files_containing(&home, secret), [] as [&str; 0], "{secret}");
        let kept = serde_json::to_string(&captured_events(&home)).expect("events are JSON");
        assert_eq!(common::files_containing(&home, secret), [] as [&str; 0], "{secret}, in the queue");
        assert!(kept.contains("[redacted:") && kept.contains("and works"), "{kept}");
    }
}

/// The n-th field from which a hook takes text.
fn hook_with(n: usize, text: &str) -> (&'static str, serde_json::Value) {
    match n % 6 {
        0 => ("UserPromptSubmit", json!({"prompt": text, "prompt_id": n.to_string()})),
        1 => (
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": n.to_string(),
                "tool_input": {"command": text}, "tool_response": {"stdout": "fine"}}),
        ),
        2 => (
            "PostToolUse",
            json!({"tool_name": "Bash", "tool_use_id": n.to_string(),
                "tool_input": {"command": "x"}, "tool_response": {"stdout": text}}),
        ),
        3 => {
            ("PostToolUseFailure", json!({"tool_name": "Bash", "tool_use_id": n.to_string(), "error": text}))
        }
        4 => ("Stop", json!({"prompt_id": n.to_string(), "last_assistant_message": text})),
        _ => ("PostCompact", json!({ "compact_summary": text })),
    }
}

/// Six digits also occur in times: a short secret is looked for with the words before it.
fn distinctive<'t>(text: &'t str, secret: &'t str) -> &'t str {
    const SHORT: usize = 10;
    match text.find(secret) {
        Some(at) if secret.len() < SHORT && text.is_char_boundary(at.saturating_sub(SHORT)) => {
            &text[at.saturating_sub(SHORT)..at + secret.len()]
        }
        _ => secret,
    }
}

#[test]
fn no_sample_secret_is_found_on_disk() {
    let home = crate::common::hooks::sandbox_with_real_clock();
    let samples = claude_mem_redact::rule_samples();
    let secrets: Vec<_> = samples.iter().filter(|sample| sample.is_secret()).collect();
    assert!(secrets.len() >= 200);
    std::thread::scope(|scope| {
        for part in 0..4 {
            let (home, secrets) = (&home, &secrets);
            scope.spawn(move || {
                for (n, sample) in secrets.iter().enumerate().filter(|(n, _)| n % 4 == part) {
                    let (event, more) = hook_with(n, &sample.text);
                    let output = home.hook(event, payload(event, &more)).ok();
                    assert_eq!(output.stdout, NEUTRAL, "{}", sample.rule);
                }
            });
        }
    });
    let spooled = common::bytes_on_disk(&home);
    assert!(captured_events(&home).len() > secrets.len() / 2);
    let queued = common::bytes_on_disk(&home);
    for sample in secrets {
        let finder = memchr::memmem::Finder::new(distinctive(&sample.text, &sample.secret));
        for (path, bytes) in spooled.iter().chain(&queued) {
            let found = finder.find(bytes).is_some();
            assert!(!found, "{} in {}", sample.rule, path.display());
        }
    }
}

#[test]
fn truncated_secret_leaves_no_fragment() {
    let secret = SECRETS[0];
    // Wherever a long text is truncated, one of these spans the cut.
    let line = format!("token {secret} end\n");
    for shift in [0, 7, 19, 31] {
        let home = sandbox();
        let text = format!("{}{}", "x".repeat(shift), line.repeat(2_000));
        let more = json!({"tool_name": "Bash", "tool_use_id": "a", "tool_response": text});
        home.hook("PostToolUse", payload("PostToolUse", &more)).ok();
        captured_events(&home);
        for part in [&secret[4..16], &secret[16..28], &secret[28..]] {
            assert_eq!(common::files_containing(&home, part), [] as [&str; 0], "shift {shift}");
        }
    }
}

#[test]
fn invalid_payload_leaves_no_secret_in_the_log() {
    let home = sandbox();
    let secret = SECRETS[0];
    for input in [
        format!("{secret} is not JSON"),
        format!(r#"{{"session_id":"s","hook_event_name":"Stop","last_assistant_message":"{secret}"#),
    ] {
        home.hook("Stop", input).ok();
    }
    captured_events(&home);
    assert_eq!(common::files_containing(&home, secret), [] as [&str; 0]);
}
