//! Private text in every notation must not reach the disk.

use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::hooks::{
    self as common, NEUTRAL, captured_events, event_lines, payload, sandbox_with_real_clock,
};

/// The word that must not be found on the disk.
const WORD: &str = "canary7351";

fn hook(home: &Sandbox, event: &str, more: &Value) {
    let output = home.hook(event, payload(event, more)).ok();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (NEUTRAL, ""));
}

fn assert_absent_on_disk(home: &Sandbox, what: &str) {
    assert_eq!(common::files_containing(home, WORD), [] as [&str; 0], "{what}");
    // Ingesting the spool into the queue must not write it either.
    captured_events(home);
    assert_eq!(common::files_containing(home, WORD), [] as [&str; 0], "{what}, in the queue");
}

/// Prompts with the word in a private block, and the text that is stored of them.
const PROMPTS: &[(&str, Option<&str>)] = &[
    // Entirely private: the turn is muted.
    ("<private>W</private>", None),
    ("<PRIVATE>W</PRIVATE>", None),
    ("<Private>W</pRIVATE>", None),
    ("  <private>W</private>\n", None),
    ("<private>W", None),
    ("<private>\nW\n\n", None),
    ("<private >W</private >", None),
    ("<private\n>W</private\n>", None),
    ("< private>W</ private>", None),
    ("<private/>W", None),
    ("<private reason=\"mine\">W</private>", None),
    ("<private reason='a > b'>W</private>", None),
    ("<private a=1 b>W</private>", None),
    ("<private><private>x</private>W</private>", None),
    ("<private>a<private>W</private>b</private>", None),
    ("<private>x</private><private>W</private>", None),
    ("<private>x</private> <private>W", None),
    ("<private>W</private", None),
    ("<private>W</privat>", None),
    ("<private>W< /private>", None),
    ("<private>W</private x>", None),
    ("<private>é W ü</private>", None),
    ("<private>W\u{0}</private>", None),
    ("<private>{\"a\":\"W\"}</private>", None),
    ("<private><system-reminder>W</system-reminder></private>", None),
    ("&lt;private&gt;W&lt;/private&gt;", None),
    ("\u{ff1c}private\u{ff1e}W\u{ff1c}/private\u{ff1e}", None),
    ("<private>W</private>\u{200b}", None),
    ("%3Cprivate%3EW%3C/private%3E", None),
    // Partly private: the rest is stored.
    ("fix it <private>W</private>", Some("fix it ")),
    ("<private>W</private> fix it", Some(" fix it")),
    ("fix <private>W</private> it", Some("fix  it")),
    ("fix it <private>W", Some("fix it ")),
    ("fix it <PRIVATE>W</private> now", Some("fix it  now")),
    ("fix <private>W</private> it <private>W</private>", Some("fix  it ")),
    ("fix <private>a<private>W</private>W</private> it", Some("fix  it")),
    ("fix\n<private>\nW\n</private>\nit", Some("fix\n\nit")),
    ("fix <private reason=\"x\">W</private> it", Some("fix  it")),
    ("fix it <private><private>W</private>", Some("fix it ")),
    ("fix it <private>W</privat> <b>W</b>", Some("fix it ")),
    ("fix <priv<private>W</private>ate>W</private> it", Some(" it")),
    ("a < b && c > d <private>W</private>", Some("a < b && c > d ")),
    ("</private> fix it <private>W</private>", Some(" fix it ")),
];

#[test]
fn private_prompt_and_its_turn_are_not_stored() {
    assert!(PROMPTS.len() >= 40);
    for (pattern, rest) in PROMPTS {
        let home = sandbox_with_real_clock();
        let text = pattern.replace('W', WORD);
        hook(&home, "UserPromptSubmit", &json!({"prompt": text, "prompt_id": "p1"}));
        let muted = rest.is_none();
        // The agent may repeat the private text; only a muted turn drops that too.
        let said = if muted { WORD } else { "harmless" };
        hook(
            &home,
            "PostToolUse",
            &json!({"prompt_id": "p1", "tool_name": "Bash", "tool_use_id": "t1",
                "tool_input": {"command": said}, "tool_response": {"stdout": said}}),
        );
        hook(
            &home,
            "PostToolUseFailure",
            &json!({"prompt_id": "p1", "tool_name": "Bash", "tool_use_id": "t2",
                "tool_input": {"command": said}, "error": said}),
        );
        hook(
            &home,
            "SubagentStop",
            &json!({"prompt_id": "p1", "agent_id": "a", "last_assistant_message": said}),
        );
        hook(&home, "Stop", &json!({"prompt_id": "p1", "last_assistant_message": said}));
        // A compaction summary covers the whole conversation, including this turn.
        hook(&home, "PostCompact", &json!({"prompt_id": "p1", "compact_summary": WORD}));
        assert_absent_on_disk(&home, pattern);
        let kept = event_lines(&captured_events(&home));
        let want = match rest {
            None => "prompt: (private)\nstop: -".to_owned(),
            Some(rest) => format!(
                "prompt: {rest}\ntool_use: Bash\ntool_use: Bash, failed\n\
                 subagent_stop: harmless (subagent)\nstop: harmless"
            ),
        };
        assert_eq!(kept, want, "{pattern}");
    }
}

#[test]
fn next_prompt_unmutes_but_not_work_of_private_turn() {
    let home = sandbox_with_real_clock();
    let private = format!("<private>{WORD}</private>");
    hook(&home, "UserPromptSubmit", &json!({"prompt": private, "prompt_id": "p1"}));
    hook(&home, "UserPromptSubmit", &json!({"prompt": "hello", "prompt_id": "p2"}));
    let tool = |prompt_id: &str, id: &str, said: &str| {
        json!({"prompt_id": prompt_id, "tool_name": "Bash", "tool_use_id": id,
            "tool_input": {"command": said}, "tool_response": said})
    };
    hook(&home, "PostToolUse", &tool("p1", "late", WORD));
    hook(&home, "PostToolUse", &tool("p2", "now", "harmless"));
    hook(&home, "PostCompact", &json!({"prompt_id": "p2", "compact_summary": WORD}));
    assert_absent_on_disk(&home, "late work and a later summary");
    assert_eq!(event_lines(&captured_events(&home)), "prompt: (private)\nprompt: hello\ntool_use: Bash");
}

#[test]
fn private_turn_without_prompt_ids_is_muted() {
    let home = sandbox_with_real_clock();
    hook(&home, "UserPromptSubmit", &json!({"prompt": format!("<private>{WORD}")}));
    hook(&home, "PostToolUse", &json!({"tool_name": "Bash", "tool_response": WORD}));
    // The text is in the client's transcript and must not be read from there.
    let line = json!({"type": "assistant", "uuid": "u",
        "message": {"content": [{"type": "text", "text": WORD}]}});
    let transcript = home.write("transcript.jsonl", line.to_string());
    hook(&home, "Stop", &json!({"transcript_path": transcript}));
    assert_absent_on_disk(&home, "an old client");
    assert_eq!(event_lines(&captured_events(&home)), "prompt: (private)\nstop: -");
}

#[test]
fn private_blocks_are_removed_from_all_stored_text() {
    let home = sandbox_with_real_clock();
    let block = format!("before <private>{WORD}</private> after");
    let open = format!("before <private>{WORD}");
    for (n, text) in [&block, &open].into_iter().enumerate() {
        hook(
            &home,
            "PostToolUse",
            &json!({"tool_name": "Write", "tool_use_id": format!("a{n}"),
                "tool_input": {"content": text, "deep": [{"er": text}], text: 1},
                "tool_response": {"structuredPatch": [{"lines": [text, "+x"]}]}}),
        );
        hook(
            &home,
            "PostToolUseFailure",
            &json!({"tool_name": "Bash", "tool_use_id": format!("b{n}"), "error": text}),
        );
        hook(&home, "Stop", &json!({"prompt_id": format!("{n}"), "last_assistant_message": text}));
        hook(&home, "SubagentStop", &json!({"agent_id": n.to_string(), "last_assistant_message": text}));
        hook(&home, "PostCompact", &json!({"compact_summary": text}));
    }
    assert_absent_on_disk(&home, "blocks in contents");
    let kept = serde_json::to_string(&captured_events(&home)).expect("events are JSON");
    assert!(kept.contains("before ") && kept.contains(" after"), "{kept}");
}

#[test]
fn own_context_and_system_reminders_are_not_stored() {
    for tag in ["claude-mem-context", "system-reminder"] {
        let home = sandbox_with_real_clock();
        let prompt = format!("fix <{tag}>{WORD}</{tag}> it");
        hook(&home, "UserPromptSubmit", &json!({"prompt": prompt, "prompt_id": "p1"}));
        assert_absent_on_disk(&home, tag);
        assert_eq!(event_lines(&captured_events(&home)), "prompt: fix  it");
    }
}

#[test]
fn private_block_may_span_patch_lines() {
    let home = sandbox_with_real_clock();
    let lines_of_patch = ["+a", "+<private>", &format!("+{WORD}"), "+</private>", "+b"];
    hook(
        &home,
        "PostToolUse",
        &json!({"tool_name": "Edit", "tool_use_id": "t",
            "tool_response": {"structuredPatch": [{"lines": lines_of_patch}]}}),
    );
    assert_absent_on_disk(&home, "a patch");
}

#[test]
fn unreadable_or_unwritable_mark_mutes_the_turn() {
    let home = sandbox_with_real_clock();
    hook(&home, "SessionStart", &json!({"source": "resume"}));
    // A file in place of the marks directory: looking up marks fails with an unexpected error.
    std::fs::remove_dir_all(home.data_dir().join("muted")).expect("the marks");
    home.write(home.data_dir().join("muted"), "in the way");
    let private = format!("<private>{WORD}</private>");
    home.hook("UserPromptSubmit", payload("UserPromptSubmit", &json!({"prompt": private}))).ok();
    hook(&home, "PostToolUse", &json!({"tool_name": "Bash", "tool_response": WORD}));
    assert_absent_on_disk(&home, "marks in the way");
}

/// Calls one tool of the MCP server.
fn save_memory(home: &Sandbox, text: &str) -> String {
    let lines = [
        json!({"jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}),
        json!({"jsonrpc": "2.0", "id": 2, "method": "tools/call",
            "params": {"name": "save_memory", "arguments": {"text": text, "title": text}}}),
    ];
    let lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
    let input = lines.join("\n") + "\n";
    home.mem_with(&["mcp"], input).ok().stdout
}

#[test]
fn private_words_do_not_come_back_by_saving() {
    let home = sandbox_with_real_clock();
    let prompt = format!("use <private>{WORD}</private> to log in");
    hook(&home, "UserPromptSubmit", &json!({"prompt": prompt, "prompt_id": "p"}));
    let told = save_memory(&home, &format!("Log in with {WORD} at the console"));
    assert!(told.contains("Saved as #1"), "{told}");
    let saved =
        home.mem(&["save", "--title", &format!("The my{WORD}Var"), &format!("It is -k{WORD} now.")]).ok();
    assert!(saved.stdout.contains("masked"), "{saved}");
    assert_absent_on_disk(&home, "saved");
    assert!(home.mem(&["search", "console"]).ok().stdout.contains("[redacted:private-word]"));
}

#[test]
fn private_words_are_masked_in_every_field_of_an_event() {
    let home = sandbox_with_real_clock();
    let prompt = format!("use <private>{WORD}</private> to log in");
    hook(&home, "UserPromptSubmit", &json!({"prompt": prompt, "prompt_id": "p"}));
    home.git_branch(&format!("fix/{WORD}"));
    home.git_remote(&format!("git@example.org:acme/{WORD}.git"));
    hook(
        &home,
        "PostToolUse",
        &json!({"tool_name": format!("mcp__{WORD}__get"), "prompt_id": "p", "cwd": home.project(),
            "tool_input": {"command": format!("printf '\\n{WORD}' -k{WORD} my{WORD}Var")}, "tool_response": "ok"}),
    );
    assert_absent_on_disk(&home, "names around the event");
}

#[test]
fn private_blocks_that_are_read_teach_their_words() {
    let home = sandbox_with_real_clock();
    hook(&home, "UserPromptSubmit", &json!({"prompt": "read the notes", "prompt_id": "p"}));
    let read = format!("# Notes\n<private>{WORD}</private>\n");
    hook(
        &home,
        "PostToolUse",
        &json!({"tool_name": "Read", "tool_input": {"file_path": "notes.md"}, "tool_response": read, "prompt_id": "p"}),
    );
    hook(
        &home,
        "PostToolUse",
        &json!({"tool_name": "Bash", "tool_input": {"command": format!("login -p{WORD}")}, "tool_response": "ok",
            "prompt_id": "p"}),
    );
    assert_absent_on_disk(&home, "repeated after it was read");
}
