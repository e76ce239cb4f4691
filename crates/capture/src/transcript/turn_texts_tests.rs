use serde_json::json;

use super::testing::{TranscriptScript, task_notification};
use super::tests::{CollectedEvents, rules, settings};
use super::turn_texts::TURN_TEXTS_BYTES_MAX;
use super::*;
use crate::settings::HookSettings;
use claude_mem_core::config::Settings;
use claude_mem_core::event::EventBody;

fn bash(script: &mut TranscriptScript, id: &str) {
    script.calls(id, "Bash", json!({"command": "make"})).result(id, "ok");
}

/// Reads line by line, as backfill does while the client writes.
fn told_line_by_line(script: &TranscriptScript) -> String {
    let whole = std::fs::read(script.path()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("s.jsonl");
    let (settings, mut told) = (settings(), CollectedEvents::default());
    let mut position = ReadPosition::default();
    for (at, _) in whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n') {
        std::fs::write(&path, &whole[..=at]).unwrap();
        let state = serde_json::to_string(&position.state).unwrap();
        position.state = serde_json::from_str(&state).unwrap();
        position = read_transcript(&path, position, &rules(&settings, "s"), &mut told).unwrap();
    }
    told.lines()
}

fn assert_told(script: &TranscriptScript, want: &[&str]) {
    assert_eq!(script.told(), want.join("\n"));
    assert_eq!(told_line_by_line(script), want.join("\n"), "line by line");
}

#[test]
fn messages_during_a_turn_are_told_and_the_last_one_once() {
    let mut script = TranscriptScript::new();
    script.user("mend it").says("The cache is never filled.", None);
    bash(&mut script, "t1");
    script.says("Now the index.", Some("tool_use"));
    bash(&mut script, "t2");
    script.says("It is mended.", Some("end_turn"));
    assert_told(
        &script,
        &[
            "prompt \"mend it\"",
            "message: \"The cache is never filled.\"",
            "Bash {\"command\":\"make\"} → \"ok\"",
            "message: \"Now the index.\"",
            "Bash {\"command\":\"make\"} → \"ok\"",
            "stop Some(\"It is mended.\")",
        ],
    );
}

#[test]
fn words_at_rejected_calls_are_the_users() {
    let mut script = TranscriptScript::new();
    script
        .user("clean up")
        .calls("t1", "Bash", json!({"command": "rm -rf build"}))
        .rejects("t1", Some("Never delete the build directory."))
        .calls("t2", "Grep", json!({"pattern": "x"}))
        .rejects("t2", Some("Look in docs instead."))
        .calls("t3", "AskUserQuestion", json!({"questions": [{"question": "Which?"}]}))
        .rejects("t3", Some("The user wants to clarify these questions.\n    This means they may"))
        .calls("t4", "ExitPlanMode", json!({"plan": "# Plan: cache\n\nDo."}))
        .rejects("t4", None)
        .calls("t5", "ExitPlanMode", json!({"plan": "\n# Plan: cache\n\nDo."}))
        .rejects("t5", Some("Keep the old format, too."))
        .says("Fine.", Some("end_turn"));
    assert_told(
        &script,
        &[
            "prompt \"clean up\"",
            "words at a rejected call: \"Never delete the build directory.\" (Bash: rm -rf build)",
            "words at a rejected call: \"Look in docs instead.\" (Grep)",
            "words at a rejected call: \"Keep the old format, too.\" (ExitPlanMode: # Plan: cache)",
            "stop Some(\"Fine.\")",
        ],
    );
}

#[test]
fn rejected_call_on_an_ignored_path_is_not_described() {
    let mut script = TranscriptScript::new();
    script
        .user("go")
        .calls("t1", "Read", json!({"file_path": "/x/secrets/a"}))
        .rejects("t1", Some("Leave that alone."));
    let settings = Settings { ignore_paths: vec!["secrets".to_owned()], ..Settings::default() };
    let settings = HookSettings::from_settings(settings, false);
    let mut told = CollectedEvents::default();
    read_transcript(&script.path(), ReadPosition::default(), &rules(&settings, "s"), &mut told).unwrap();
    assert_eq!(told.lines(), "prompt \"go\"\nwords at a rejected call: \"Leave that alone.\" (Read)");
}

#[test]
fn structured_answers_reach_the_step() {
    let mut script = TranscriptScript::new();
    let asked = json!({"questions": [{"question": "Which store?", "header": "Store",
        "options": [{"label": "SQLite", "description": "one file"}]}]});
    let answered = json!({"questions": asked["questions"], "answers": {"Which store?": "SQLite"}});
    script.user("go").calls("t1", "AskUserQuestion", asked).write(json!({
        "type": "user", "toolUseResult": answered, "message": {"role": "user",
        "content": [{"type": "tool_result", "tool_use_id": "t1", "content": "User has answered"}]}
    }));
    for (id, tool) in
        [("t2", "TodoWrite"), ("t3", "TaskCreate"), ("t4", "TaskUpdate"), ("t5", "ExitPlanMode")]
    {
        script.calls(id, tool, json!({"subject": "x"})).result(id, "ok");
    }
    let mut told = CollectedEvents::default();
    script.read(ReadPosition::default(), &mut told);
    let answers = told.events.iter().find_map(|event| match &event.body {
        EventBody::ToolUse { tool, output, .. } if tool == "AskUserQuestion" => Some(output.clone()),
        _ => None,
    });
    assert_eq!(answers.unwrap(), answered);
    assert_eq!(told.events.len(), 6, "{}", told.lines());
}

#[test]
fn queued_prompt_is_taken_once() {
    // It waits for the end of the turn and becomes a prompt.
    let mut script = TranscriptScript::new();
    script.user("mend it").queue("enqueue", Some("use tabs"));
    bash(&mut script, "t1");
    script.says("Mended.", Some("end_turn")).queue("dequeue", None).user("use tabs");
    let tool = "Bash {\"command\":\"make\"} → \"ok\"";
    let first = ["prompt \"mend it\"", tool, "stop Some(\"Mended.\")"];
    assert_told(&script, &[&first[..], &["prompt \"use tabs\""]].concat());
    // It is handed to the model during the turn, in older and in newer clients.
    for is_newer in [false, true] {
        let mut script = TranscriptScript::new();
        script
            .user("mend it")
            .queue("enqueue", Some("use tabs"))
            .queue("enqueue", Some("{\"task_id\":\"b1\"}"))
            .queue("enqueue", Some("/compact"))
            .queue("remove", None);
        if is_newer {
            script.write(json!({"type": "attachment",
                "attachment": {"type": "queued_command", "prompt": "use tabs", "commandMode": "prompt"}}));
        }
        bash(&mut script, "t1");
        script.says("Mended.", Some("end_turn")).user("next");
        let queued = "queued prompt: \"use tabs\"";
        let order = if is_newer { [first[0], queued, tool] } else { [first[0], tool, queued] };
        assert_told(&script, &[&order[..], &[first[2], "prompt \"next\""]].concat());
    }
    // The user takes it back.
    let mut script = TranscriptScript::new();
    script.user("mend it").queue("enqueue", Some("use tabs")).queue("popAll", Some("use tabs"));
    script.queue("remove", None).says("Mended.", Some("end_turn"));
    assert_told(&script, &[first[0], first[2]]);
    // A batch left the queue, but this one waited.
    let mut script = TranscriptScript::new();
    script.user("mend it").queue("enqueue", Some("use tabs")).queue("remove", None);
    script.says("Mended.", None).user("use tabs");
    assert_told(&script, &[first[0], first[2], "prompt \"use tabs\""]);
}

#[test]
fn prompt_left_in_the_queue_is_told_when_the_session_ends() {
    let mut script = TranscriptScript::new();
    script.user("mend it").says("Mended.", Some("end_turn")).queue("enqueue", Some("use tabs"));
    assert_told(&script, &["prompt \"mend it\"", "stop Some(\"Mended.\")"]);
    let settings = settings();
    let mut told = CollectedEvents::default();
    let rules = ReadRules { ended: true, ..rules(&settings, "s") };
    read_transcript(&script.path(), ReadPosition::default(), &rules, &mut told).unwrap();
    assert!(told.lines().ends_with("queued prompt: \"use tabs\""), "{}", told.lines());
}

#[test]
fn report_of_a_background_agent_is_the_agents_and_taken_once() {
    let mut script = TranscriptScript::new();
    let report = task_notification("a1", "The cache is full.");
    script.user("look").says("Started.", None);
    script.queue("enqueue", Some(&report)).queue("dequeue", None).write(json!({
        "type": "user", "promptId": "p9", "origin": {"kind": "task-notification"},
        "message": {"role": "user", "content": report}
    }));
    script.says("It is full.", Some("end_turn"));
    let mut told = CollectedEvents::default();
    script.read(ReadPosition::default(), &mut told);
    let want = [
        "prompt \"look\"",
        "subagent stop Some(\"The cache is full.\") [a1]",
        "stop Some(\"Started.\")",
        "stop Some(\"It is full.\")",
    ];
    assert_eq!(told.lines(), want.join("\n"));
    let last = told.events.last().unwrap();
    assert_eq!(last.prompt_id.as_deref(), Some("p9"), "the hook names this prompt, too");
}

#[test]
fn plans_teammates_recaps_and_pull_requests_have_their_source() {
    let mut script = TranscriptScript::new();
    script
        .write(json!({"type": "user", "promptId": "p1", "planContent": "# Plan: cache", "message": {"role": "user",
            "content": "Implement the following plan:\n\n# Plan: cache"}}))
        .write(json!({"type": "pr-link", "prNumber": 7, "prUrl": "https://example.org/o/r/pull/7"}))
        .write(json!({"type": "pr-link", "prNumber": 7, "prUrl": "https://example.org/o/r/pull/7"}))
        .says("Done.", None)
        .recaps("The cache works. Next: the index.")
        .user("<teammate-message teammate_id=\"lead\">Always push.</teammate-message>")
        .says("Pushed.", Some("end_turn"));
    assert_told(
        &script,
        &[
            "prompt [plan] \"# Plan: cache\"",
            "pull request: \"Pull request #7: https://example.org/o/r/pull/7\" (https://example.org/o/r/pull/7)",
            "stop Some(\"Done.\")",
            "recap: \"The cache works. Next: the index.\"",
            "teammate message: \"Always push.\" (lead)",
            "stop Some(\"Pushed.\")",
        ],
    );
}

#[test]
fn nothing_of_a_private_turn_is_told_and_no_other_voice_ends_it() {
    let mut script = TranscriptScript::new();
    script
        .user("<private>my salary is 100</private>")
        .says("So 100.", None)
        .calls("t1", "Bash", json!({"command": "echo 100"}))
        .rejects("t1", Some("not 100"))
        .queue("enqueue", Some("say 100"))
        .queue("remove", None)
        .queue("enqueue", Some(&task_notification("a0", "It is 100.")))
        .says("It is 100.", Some("end_turn"))
        .user(&task_notification("a1", "It is 100."))
        .says("Still 100.", Some("end_turn"))
        .user("<teammate-message teammate_id=\"b\">Is it 100?</teammate-message>")
        .says("Yes, 100.", Some("end_turn"))
        .user("Implement the following plan:\n\n# Pay 100")
        .says("Paid 100.", Some("end_turn"))
        .recaps("Paid 100.")
        .user("in public")
        .recaps("Paid 100.")
        .user(&task_notification("a2", "It was 100."));
    assert_told(&script, &["prompt (private)", "prompt \"in public\""]);
    let settings = settings();
    let mut told = CollectedEvents::default();
    let end = read_transcript(&script.path(), ReadPosition::default(), &rules(&settings, "s"), &mut told);
    assert!(!serde_json::to_string(&end.unwrap().state).unwrap().contains("100"));
}

#[test]
fn private_words_during_a_turn_mute_the_rest() {
    for is_queued in [false, true] {
        let mut script = TranscriptScript::new();
        script.user("go").calls("t1", "Bash", json!({"command": "pay"}));
        if is_queued {
            script.queue("enqueue", Some("<private>pay 100</private>")).queue("remove", None);
        } else {
            script.rejects("t1", Some("<private>pay 100</private>"));
        }
        script.says("Paying 100.", None);
        bash(&mut script, "t2");
        script.says("Paid 100.", Some("end_turn")).user("next");
        assert_told(&script, &["prompt \"go\"", "prompt \"next\""]);
    }
}

#[test]
fn unreadable_private_words_mute_the_session() {
    let mut script = TranscriptScript::new();
    script.user("go").says("The walrus is paid.", Some("end_turn")).user("next");
    let read = |private_words: &str| {
        let state = ReaderState { private_words: private_words.to_owned(), ..ReaderState::default() };
        let mut told = CollectedEvents::default();
        let end = script.read(ReadPosition { offset: 0, state }, &mut told);
        (told.lines(), end.state.private_words)
    };
    assert!(read("").0.contains("walrus"));
    assert_eq!(read("damaged"), (String::new(), "damaged".to_owned()), "muted now and when reading resumes");
}

#[test]
fn texts_are_redacted_and_bounded() {
    let mut script = TranscriptScript::new();
    script.user("go").calls("t0", "Bash", json!({"command": "login password=hunter2hunter2x"}));
    script.rejects("t0", Some("the password is password=hunter2hunter2x"));
    let long = "word ".repeat(20_000);
    for step in 0..18 {
        script.says(&format!("{step} {long}"), None);
        bash(&mut script, &format!("t{}", step + 1));
    }
    script.calls("t99", "Bash", json!({"command": "x"})).rejects("t99", Some("Stop talking."));
    let mut told = CollectedEvents::default();
    script.read(ReadPosition::default(), &mut told);
    let texts = told.events.iter().filter_map(|event| match &event.body {
        EventBody::Text { text, .. } => Some(text.len() as u64),
        _ => None,
    });
    assert!(texts.sum::<u64>() < TURN_TEXTS_BYTES_MAX + (64 << 10));
    let lines = told.lines();
    assert!(!lines.contains("hunter2hunter2x"), "{}", &lines[..900]);
    assert!(lines.contains("Stop talking."), "the user is heard to the end");
}

#[test]
fn interrupted_message_is_not_the_last() {
    let mut script = TranscriptScript::new();
    script.user("go").says("I begin with the cache.", None).user("[Request interrupted by user]").user("no");
    assert_told(&script, &["prompt \"go\"", "message: \"I begin with the cache.\"", "prompt \"no\""]);
}
