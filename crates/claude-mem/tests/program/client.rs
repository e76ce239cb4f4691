//! The real client after `claude-mem install`, against a scripted model.

use rig::Sandbox;
use rig::client::{self, CURRENT, OLDER, OLDEST};
use rig::mcp::McpTestClient;
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use rig::sandbox::EVENTS;
use serde_json::{Value, json};

use crate::common::exe;

/// A sandbox with the client, the real clock and a finished `claude-mem install`.
fn stage(version: &str, model: &ScriptedModel, worker: &str) -> Option<Sandbox> {
    let home = machine(version, model, worker)?;
    let report = home.mem(&["install", "--json"]).ok().json();
    assert_eq!(report["client"], version, "{report:#}");
    Some(home)
}

/// A sandbox with the real client on its path, before the installation. `None` if the client cannot be had.
pub(crate) fn machine(version: &str, model: &ScriptedModel, worker: &str) -> Option<Sandbox> {
    let client = client::or_skip(version)?;
    let home = Sandbox::new()
        .with_exe(exe())
        .with_client(&client)
        .with_model(model)
        .with_env("CLAUDE_MEM_WORKER", worker)
        .with_env("TZ", "UTC");
    home.put_on_path("claude", client.executable());
    Some(home)
}

/// The first session: sets a retry budget, tests it and explains the reason.
fn first_session(home: &Sandbox, model: &ScriptedModel) {
    let file = home.write("src/retry.py", "MAX_ATTEMPTS = 10\n".to_owned() + &"# filler\n".repeat(80));
    for turn in [
        ModelTurn::call("Read", json!({ "file_path": file })),
        ModelTurn::call(
            "Bash",
            json!({ "command": "echo 'limiter tripped' >&2; exit 3", "description": "test" }),
        ),
        ModelTurn::call(
            "Edit",
            json!({ "file_path": file, "old_string": "MAX_ATTEMPTS = 10", "new_string": "MAX_ATTEMPTS = 7" }),
        ),
        ModelTurn::call("Bash", json!({ "command": "echo 3 passed", "description": "test" })),
        ModelTurn::text(
            "I set MAX_ATTEMPTS to 7 in src/retry.py, because an 8th attempt trips the upstream limiter.",
        ),
    ] {
        model.push(turn);
    }
    let prompt = "The upstream limiter blocks us. Use 7 retry attempts, never 8, because the 8th trips it.";
    let output = home.prompt(prompt).ok();
    assert_eq!(output.stderr, "", "nothing is printed to the user");
    assert!(output.stdout.starts_with("I set MAX_ATTEMPTS to 7"), "{}", output.stdout);
    assert_eq!(model.turns_left(), 0, "{}", model.request_log());
}

fn kinds_of_queued(home: &Sandbox) -> Vec<String> {
    let list = home.mem(&["queue", "list", "--json"]).ok().json();
    let rows = list["items"].as_array().cloned().unwrap_or_default();
    let mut kinds: Vec<String> =
        rows.iter().filter_map(|row| row["kind"].as_str().map(str::to_owned)).collect();
    kinds.reverse();
    kinds
}

fn remembers_and_recalls(version: &str) {
    let model = ScriptedModel::start(ModelScript::session());
    if let Some(home) = stage(version, &model, "manual") {
        remembers_and_recalls_in(&home, &model);
    }
}

fn remembers_and_recalls_in(home: &Sandbox, model: &ScriptedModel) {
    first_session(home, model);
    let queued = kinds_of_queued(home);
    let tools = queued.iter().filter(|kind| *kind == "tool_use").count();
    assert_eq!(tools, 4, "every tool call is in the queue: {queued:?}");
    assert!(
        queued.iter().any(|kind| kind == "prompt") && queued.iter().any(|kind| kind == "stop"),
        "{queued:?}"
    );
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(kinds_of_queued(home), queued, "the transcript tells nothing that hooks have told");

    let before = model.messages().len();
    let file = home.project().join("src/retry.py");
    model.push(ModelTurn::call("Read", json!({ "file_path": file })));
    model.push(ModelTurn::text("Done."));
    home.prompt("How many retry attempts does the upstream limiter allow in the retry module?").ok();
    // Old clients send additional requests.
    let asked = &model.messages()[before..];
    let first = asked.iter().find(|request| request.contains_text("does the upstream limiter allow"));
    let first = first.expect("the prompt reached the model");
    assert!(first.contains_text("Memory of earlier sessions"), "{:#}", first.body);
    assert!(first.contains_text("Use 7 retry attempts, never 8"), "{:#}", first.body);

    let mut mcp = McpTestClient::spawn(home.mem_command(&["mcp"]));
    mcp.initialize();
    assert!(mcp.call_text("search", json!({ "query": "retry attempts limiter" })).contains("never 8"));
    let details = mcp.call_text("get_observations", json!({ "ids": [1] }));
    assert!(details.starts_with("#1 "), "{details}");
    assert!(mcp.call_text("timeline", json!({ "anchor": "#1" })).contains("> #1"));
    let saved = mcp.call_text("save_memory", json!({ "text": "Releases go out on Thursdays." }));
    assert!(saved.starts_with("Saved as #"), "{saved}");
    assert!(mcp.call_text("search", json!({ "query": "Thursdays releases" })).contains("Thursdays"));
    // The start tells the rule; the prompt that asks for it brings it with the words around it.
    let why: Value = home.mem(&["why", "#1", "--json"]).ok().json();
    assert_eq!((&why["shown"], &why["fetched"]), (&json!(2), &json!(1)), "{why:#}");
}

/// The agent's tool calls as the model sees them: search, timeline, full row. The model gets only our
/// text, and little of it.
fn looks_through_memory(version: &str) {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = stage(version, &model, "manual") else {
        return;
    };
    first_session(&home, &model);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let tool = |name: &str| format!("mcp__claude-mem__{name}");
    for (name, input) in [
        ("search", json!({ "query": "retry attempts limiter" })),
        ("timeline", json!({ "anchor": "#1" })),
        ("get_observations", json!({ "ids": ["#1"] })),
        (
            "save_memory",
            json!({ "text": "Releases of the retry module go out on Thursdays after the upstream limiter resets." }),
        ),
    ] {
        model.push(ModelTurn::call(tool(name), input));
    }
    model.push(ModelTurn::text("Seven."));
    home.prompt("Look into it").ok();
    let last = model.messages().pop().expect("the answers went to the model");
    let results = last.tool_results();
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    let [index, around, full, saved] = texts[..] else {
        panic!("{texts:#?}");
    };
    assert!(results.iter().all(|result| !result.is_error), "{texts:#?}");

    // Exactly the text of the MCP server, which has tests of its own.
    let mut mcp = McpTestClient::spawn(home.mem_command(&["mcp"]));
    mcp.initialize();
    let said = mcp.call_text("search", json!({ "query": "retry attempts limiter" }));
    // The saved note changes how rare the words are, and with that the order of close rows.
    let without_note = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains("Thursdays"));
        let mut lines: Vec<_> = lines.map(str::to_owned).collect();
        lines.sort();
        lines
    };
    assert_eq!(without_note(index), without_note(&said));
    let said = mcp.call_text("timeline", json!({ "anchor": "#1" }));
    assert_eq!(without_note(around), without_note(&said));
    let said = mcp.call_text("get_observations", json!({ "ids": ["#1"] }));
    assert_eq!(full.trim_end(), said.trim_end());

    let first = index.lines().next().expect("a row");
    assert!(first.starts_with('#'), "an observation goes before accounts and raw text: {index}");
    let rule = index.lines().find(|line| line.starts_with("#1 ")).expect("the rule is found");
    assert!(rule.contains(" decision ") && rule.contains("never 8"), "{index}");
    for line in index.lines() {
        let tokens = claude_mem_core::tokens::estimate(line);
        assert!(tokens <= 100, "{tokens} tokens: {line}");
    }
    assert!(around.lines().any(|line| line.starts_with("> #1 ")), "{around}");
    assert!(full.starts_with("#1 ") && full.contains("\nSaid by: user\n"), "{full}");
    assert!(saved.starts_with("Saved as #"), "{saved}");

    // Old clients do not tell the MCP server the session id.
    if version == OLDEST {
        return;
    }
    // A session does not get back what it saved itself.
    let before = model.messages().len();
    model.push(ModelTurn::text("Thursdays."));
    let question = "When do releases of the retry module go out after the upstream limiter resets?";
    home.with_env("CLAUDE_MEM_CONTEXT", "off").prompt_with(question, &["--continue"]).ok();
    let asked = &model.messages()[before..];
    let asked = asked.iter().find(|request| request.contains_text(question));
    let asked = asked.expect("the prompt reached the model").body.to_string();
    // Only once, where it was saved.
    assert_eq!(asked.matches("go out on Thursdays").count(), 1, "{asked}");
}

#[test]
fn current_client_shows_tool_results() {
    looks_through_memory(CURRENT);
}

#[test]
fn old_client_shows_tool_results() {
    looks_through_memory(OLDEST);
}

/// A prompt and a file each bring their own memories, once, whatever the index at the start offered,
/// and within the configured budgets.
fn recalls_at_the_moment_of_need(version: &str) {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = stage(version, &model, "manual") else {
        return;
    };
    first_session(&home, &model);
    home.mem(&["worker", "run", "--until-drained"]).ok();

    let before = model.messages().len();
    model.push(ModelTurn::text("Seven."));
    let question = "How many retry attempts does the upstream limiter allow in the retry module?";
    home.prompt(question).ok();
    let asked = &model.messages()[before..];
    let first = asked.iter().find(|request| request.contains_text(question));
    let first = first.expect("the prompt reached the model");
    assert!(first.contains_text("Recorded in earlier sessions"), "{:#}", first.body);
    assert!(first.contains_text("Use 7 retry attempts, never 8"), "{:#}", first.body);

    let before = model.messages().len();
    let file = home.project().join("src/retry.py");
    model.push(ModelTurn::call("Read", json!({ "file_path": file })));
    model.push(ModelTurn::call("Read", json!({ "file_path": file, "limit": 3 })));
    model.push(ModelTurn::text("Done."));
    home.prompt("Read that file").ok();
    let asked = &model.messages()[before..];
    let last = asked.iter().rfind(|request| request.contains_text("Read that file"));
    let last = last.expect("the prompt reached the model");
    // Old clients accept no context before a tool use.
    if version != OLDEST {
        let told = last.body.to_string().matches("Known of src/retry.py").count();
        assert_eq!(told, 1, "{:#}", last.body);
    }
    // The rule stood in the start context; the change is what the prompt and the file bring.
    let why: Value = home.mem(&["why", "#2", "--json"]).ok().json();
    let entries = why["entries"].as_array().expect("entries");
    let tokens: u64 = entries
        .iter()
        .filter(|entry| entry["place"] != "session_start")
        .filter_map(|entry| entry["tokens"].as_u64())
        .sum();
    assert!(tokens > 0 && tokens <= 400 + 250, "{why:#}");
}

#[test]
fn current_client_gets_recall() {
    recalls_at_the_moment_of_need(CURRENT);
}

#[test]
fn old_client_gets_recall() {
    recalls_at_the_moment_of_need(OLDEST);
}

#[test]
fn current_client_is_recorded_and_gets_context() {
    remembers_and_recalls(CURRENT);
}

#[test]
fn old_client_is_recorded_and_gets_context() {
    remembers_and_recalls(OLDEST);
}

/// A project installation works in that project and leaves others alone.
fn works_in_one_project(version: &str) {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = machine(version, &model, "manual") else {
        return;
    };
    let report = home.mem(&["install", "--project", "--json"]).ok().json();
    assert_eq!(report["client"], version, "{report:#}");
    remembers_and_recalls_in(&home, &model);
    let found = home.mem(&["doctor"]).ok().stdout;
    assert!(found.contains("settings.local.json"), "{found}");

    let elsewhere = home.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("made");
    let before = (kinds_of_queued(&home), model.messages().len());
    model.push(ModelTurn::text("Hello."));
    let mut command = home.claude_command(&["-p", "How many retry attempts do we allow?"]);
    command.current_dir(&elsewhere);
    rig::process::run(command, b"", std::time::Duration::from_mins(2)).ok();
    let asked = &model.messages()[before.1..];
    assert!(!asked.is_empty(), "{}", model.request_log());
    for request in asked {
        assert!(!request.contains_text("Memory of earlier sessions"), "{:#}", request.body);
    }
    assert_eq!(kinds_of_queued(&home), before.0);

    home.mem(&["uninstall", "--project"]).ok();
    let settings = home.project().join(".claude/settings.local.json");
    assert!(!settings.exists(), "it was ours alone");
}

#[test]
fn current_client_works_with_project_install() {
    works_in_one_project(CURRENT);
}

#[test]
fn old_client_works_with_project_install() {
    works_in_one_project(OLDEST);
}

/// Only the hooks of these events are registered; the rest comes from the transcript.
fn transcript_fills_in(version: &str, hooks: &[&str]) {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = stage(version, &model, "manual") else {
        return;
    };
    let exe = exe();
    home.write_hooks(hooks, |event| format!("'{}' hook claude-code {event}", exe.display()));
    first_session(&home, &model);
    let of = |kind: &str| {
        let queued = kinds_of_queued(&home);
        queued.iter().filter(|queued| *queued == kind).count()
    };
    assert_eq!(of("tool_use"), 0, "no hook told of one");
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(
        (of("prompt"), of("tool_use"), of("stop")),
        (1, 4, 1),
        "{version}: {:?}",
        kinds_of_queued(&home)
    );
    let found = home.mem(&["search", "limiter"]).ok();
    assert!(found.stdout.contains("never 8"), "{found}");
}

#[test]
fn missed_tool_calls_come_from_the_transcript() {
    let without_tools: Vec<&str> = EVENTS.into_iter().filter(|event| !event.contains("ToolUse")).collect();
    transcript_fills_in(CURRENT, &without_tools);
    transcript_fills_in(OLDEST, &without_tools);
}

#[test]
fn killed_client_is_completed_from_its_transcript() {
    transcript_fills_in(CURRENT, &["SessionStart", "UserPromptSubmit"]);
    transcript_fills_in(OLDEST, &["SessionStart", "UserPromptSubmit"]);
}

/// Install, then two sessions: the worker starts and exits by itself.
fn nothing_but_install_is_needed(version: &str) {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = stage(version, &model, "auto") else {
        return;
    };
    first_session(&home, &model);
    // So that the test knows when the worker is done.
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let search = "mcp__claude-mem__search";
    model.push(ModelTurn::call(search, json!({ "query": "retry attempts limiter" })));
    model.push(ModelTurn::text("Seven."));
    home.prompt("How many retry attempts does the upstream limiter allow?").ok();
    let asked = model.messages();
    let told = |words: &str| asked.iter().any(|request| request.contains_text(words));
    assert!(told("Memory of earlier sessions"), "{}", model.request_log());
    let last = asked.last().expect("the tool's answer went to the model");
    assert!(last.contains_text("tool_result") && last.contains_text("never 8"), "{:#}", last.body);
    home.mem(&["uninstall"]).ok();
    assert!(!home.home().join(".claude/settings.json").exists(), "as if nothing had been");
}

#[test]
fn current_client_needs_only_install() {
    nothing_but_install_is_needed(CURRENT);
}

#[test]
fn older_client_needs_only_install() {
    nothing_but_install_is_needed(OLDER);
}
