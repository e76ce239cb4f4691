use std::fmt::Write;

use super::*;

fn assistant(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"assistant","uuid":"{id}","message":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#
    )
}

fn last(lines: &[String]) -> Option<LastMessage> {
    last_message_of(lines.join("\n").as_bytes())
}

const TOOL_RESULT: &str =
    r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t"}]}}"#;
const TOOL_USE: &str =
    r#"{"type":"assistant","uuid":"u","message":{"content":[{"type":"tool_use","id":"t"}]}}"#;
const PROMPT: &str = r#"{"type":"user","message":{"content":"Do it."}}"#;

#[test]
fn the_last_words_of_the_turn_are_found_behind_everything_else() {
    let lines = [
        PROMPT.to_owned(),
        assistant("a", "Working."),
        TOOL_USE.to_owned(),
        TOOL_RESULT.to_owned(),
        assistant("b", "Done."),
        r#"{"type":"system","subtype":"stop_hook"}"#.to_owned(),
        "not json".to_owned(),
        String::new(),
    ];
    let found = last(&lines).unwrap();
    assert_eq!(
        (found.text.as_str(), found.id.as_deref()),
        ("Done.", Some("b"))
    );
}

#[test]
fn words_of_an_earlier_turn_are_not_taken_for_this_ones() {
    let lines = [
        assistant("a", "Earlier."),
        PROMPT.to_owned(),
        TOOL_USE.to_owned(),
    ];
    assert_eq!(last(&lines), None);
}

#[test]
fn only_the_end_of_a_long_transcript_is_read() {
    let temp = tempfile::tempdir().unwrap();
    let path = temp.path().join("transcript.jsonl");
    let mut text = assistant("far", "Long ago.") + "\n";
    while (text.len() as u64) < 2 * TRANSCRIPT_TAIL_BYTES {
        writeln!(
            text,
            r#"{{"type":"system","padding":"{}"}}"#,
            "x".repeat(1000)
        )
        .unwrap();
    }
    std::fs::write(&path, &text).unwrap();
    assert_eq!(last_message(&path).unwrap(), None);
    text.push_str(&assistant("near", "Now."));
    std::fs::write(&path, &text).unwrap();
    assert_eq!(last_message(&path).unwrap().unwrap().text, "Now.");
    assert!(last_message(&temp.path().join("none")).is_err());
}

#[test]
fn an_agent_that_is_asked_for_nothing_is_known_by_its_first_line() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("agent-a.jsonl");
    let user = |text: &str| format!(r#"{{"type":"user","message":{{"content":"{text}"}}}}"#);
    for (text, want) in [
        (
            format!("{}\n{}\n", user("Warmup"), assistant("a", "ok")),
            true,
        ),
        (user("Warmup"), true),
        (
            format!("{}\n", user("Warmup the cache of the tests")),
            false,
        ),
        (format!("{}\n{}\n", user("Find it"), user("Warmup")), false),
        (String::new(), false),
        ("not json".to_owned(), false),
    ] {
        std::fs::write(&path, &text).unwrap();
        assert_eq!(is_warmup(&path), want, "{text}");
    }
    assert!(!is_warmup(&dir.path().join("nowhere")));
}
