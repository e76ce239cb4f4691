//! Private text, in every way people and programs can write it.

use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::hooks::{self as common, NEUTRAL, home_in_time, kept, lines, payload};

/// The word that must never be found.
const WORD: &str = "canary7351";

fn hook(home: &Sandbox, event: &str, more: &Value) {
    let output = home.hook(event, payload(event, more)).ok();
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        (NEUTRAL, "")
    );
}

fn is_nowhere(home: &Sandbox, what: &str) {
    assert_eq!(common::places_of(home, WORD), [] as [&str; 0], "{what}");
    // Not even what takes it into the queue leaves it behind.
    kept(home);
    assert_eq!(
        common::places_of(home, WORD),
        [] as [&str; 0],
        "{what}, in the queue"
    );
}

/// Prompts with the word in a private place, and what else of them is kept.
const PROMPTS: &[(&str, Option<&str>)] = &[
    // Nothing else: the turn is muted.
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
    (
        "<private><system-reminder>W</system-reminder></private>",
        None,
    ),
    ("&lt;private&gt;W&lt;/private&gt;", None),
    ("\u{ff1c}private\u{ff1e}W\u{ff1c}/private\u{ff1e}", None),
    ("<private>W</private>\u{200b}", None),
    ("%3Cprivate%3EW%3C/private%3E", None),
    // Something else: that is kept.
    ("fix it <private>W</private>", Some("fix it ")),
    ("<private>W</private> fix it", Some(" fix it")),
    ("fix <private>W</private> it", Some("fix  it")),
    ("fix it <private>W", Some("fix it ")),
    ("fix it <PRIVATE>W</private> now", Some("fix it  now")),
    (
        "fix <private>W</private> it <private>W</private>",
        Some("fix  it "),
    ),
    (
        "fix <private>a<private>W</private>W</private> it",
        Some("fix  it"),
    ),
    ("fix\n<private>\nW\n</private>\nit", Some("fix\n\nit")),
    ("fix <private reason=\"x\">W</private> it", Some("fix  it")),
    ("fix it <private><private>W</private>", Some("fix it ")),
    ("fix it <private>W</privat> <b>W</b>", Some("fix it ")),
    (
        "fix <priv<private>W</private>ate>W</private> it",
        Some("fix "),
    ),
    (
        "a < b && c > d <private>W</private>",
        Some("a < b && c > d "),
    ),
    ("</private> fix it <private>W</private>", Some(" fix it ")),
];

#[test]
fn a_private_prompt_is_nowhere_and_neither_is_its_turn() {
    assert!(PROMPTS.len() >= 40);
    for (pattern, rest) in PROMPTS {
        let home = home_in_time();
        let text = pattern.replace('W', WORD);
        hook(
            &home,
            "UserPromptSubmit",
            &json!({"prompt": text, "prompt_id": "p1"}),
        );
        let muted = rest.is_none();
        // What the agent does with it may say it again; only a muted turn is silent about that.
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
        hook(
            &home,
            "Stop",
            &json!({"prompt_id": "p1", "last_assistant_message": said}),
        );
        // A summary of the conversation tells of all of it, now and later.
        hook(
            &home,
            "PostCompact",
            &json!({"prompt_id": "p1", "compact_summary": WORD}),
        );
        is_nowhere(&home, pattern);
        let kept = lines(&kept(&home));
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
fn the_next_prompt_ends_the_silence_but_not_for_what_the_private_one_set_off() {
    let home = home_in_time();
    let private = format!("<private>{WORD}</private>");
    hook(
        &home,
        "UserPromptSubmit",
        &json!({"prompt": private, "prompt_id": "p1"}),
    );
    hook(
        &home,
        "UserPromptSubmit",
        &json!({"prompt": "hello", "prompt_id": "p2"}),
    );
    let tool = |prompt_id: &str, id: &str, said: &str| {
        json!({"prompt_id": prompt_id, "tool_name": "Bash", "tool_use_id": id,
            "tool_input": {"command": said}, "tool_response": said})
    };
    hook(&home, "PostToolUse", &tool("p1", "late", WORD));
    hook(&home, "PostToolUse", &tool("p2", "now", "harmless"));
    hook(
        &home,
        "PostCompact",
        &json!({"prompt_id": "p2", "compact_summary": WORD}),
    );
    is_nowhere(&home, "late work and a later summary");
    assert_eq!(
        lines(&kept(&home)),
        "prompt: (private)\nprompt: hello\ntool_use: Bash"
    );
}

#[test]
fn a_private_turn_of_a_client_that_numbers_nothing_is_silent_too() {
    let home = home_in_time();
    hook(
        &home,
        "UserPromptSubmit",
        &json!({"prompt": format!("<private>{WORD}")}),
    );
    hook(
        &home,
        "PostToolUse",
        &json!({"tool_name": "Bash", "tool_response": WORD}),
    );
    // The words are in the transcript, and stay there.
    let line = json!({"type": "assistant", "uuid": "u",
        "message": {"content": [{"type": "text", "text": WORD}]}});
    let transcript = home.write("transcript.jsonl", line.to_string());
    hook(&home, "Stop", &json!({"transcript_path": transcript}));
    is_nowhere(&home, "an old client");
    assert_eq!(lines(&kept(&home)), "prompt: (private)\nstop: -");
}

#[test]
fn private_blocks_are_taken_out_of_everything_that_is_kept() {
    let home = home_in_time();
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
        hook(
            &home,
            "Stop",
            &json!({"prompt_id": format!("{n}"), "last_assistant_message": text}),
        );
        hook(
            &home,
            "SubagentStop",
            &json!({"agent_id": n.to_string(), "last_assistant_message": text}),
        );
        hook(&home, "PostCompact", &json!({"compact_summary": text}));
    }
    is_nowhere(&home, "blocks in contents");
    let kept = serde_json::to_string(&kept(&home)).expect("events are JSON");
    assert!(
        kept.contains("before ") && kept.contains(" after"),
        "{kept}"
    );
}

#[test]
fn what_memory_and_the_client_say_to_the_agent_is_not_remembered() {
    for tag in ["claude-mem-context", "system-reminder"] {
        let home = home_in_time();
        let prompt = format!("fix <{tag}>{WORD}</{tag}> it");
        hook(
            &home,
            "UserPromptSubmit",
            &json!({"prompt": prompt, "prompt_id": "p1"}),
        );
        is_nowhere(&home, tag);
        assert_eq!(lines(&kept(&home)), "prompt: fix  it");
    }
}

#[test]
fn a_block_that_spans_the_lines_of_a_patch_is_one_block() {
    let home = home_in_time();
    let lines_of_patch = ["+a", "+<private>", &format!("+{WORD}"), "+</private>", "+b"];
    hook(
        &home,
        "PostToolUse",
        &json!({"tool_name": "Edit", "tool_use_id": "t",
            "tool_response": {"structuredPatch": [{"lines": lines_of_patch}]}}),
    );
    is_nowhere(&home, "a patch");
}

#[test]
fn a_mark_that_cannot_be_read_or_written_keeps_the_turn_silent() {
    let home = home_in_time();
    hook(&home, "SessionStart", &json!({"source": "resume"}));
    // A file where the marks should be: looking them up fails with something unexpected.
    std::fs::remove_dir_all(home.data_dir().join("muted")).expect("the marks");
    home.write(home.data_dir().join("muted"), "in the way");
    let private = format!("<private>{WORD}</private>");
    home.hook(
        "UserPromptSubmit",
        payload("UserPromptSubmit", &json!({"prompt": private})),
    )
    .ok();
    hook(
        &home,
        "PostToolUse",
        &json!({"tool_name": "Bash", "tool_response": WORD}),
    );
    is_nowhere(&home, "marks in the way");
}
