//! The real client after `claude-mem install`, against a scripted model.

use rig::Sandbox;
use rig::client::{self, CURRENT, OLDER, OLDEST};
use rig::mcp::Mcp;
use rig::model::{Script, ScriptedModel, Turn};
use rig::sandbox::EVENTS;
use serde_json::{Value, json};

use crate::common::exe;

/// A machine with the client on it and a clock that runs, on which `claude-mem install` was run
/// and nothing else was done.
fn stage(version: &str, model: &ScriptedModel, worker: &str) -> Option<Sandbox> {
    let home = machine(version, model, worker)?;
    let report = home.mem(&["install", "--json"]).ok().json();
    assert_eq!(report["client"], version, "{report:#}");
    Some(home)
}

/// The same before anything was installed.
fn machine(version: &str, model: &ScriptedModel, worker: &str) -> Option<Sandbox> {
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

/// The first session: a retry budget is set, tested, and the reason told.
fn first_session(home: &Sandbox, model: &ScriptedModel) {
    let file = home.write(
        "src/retry.py",
        "MAX_ATTEMPTS = 10\n".to_owned() + &"# filler\n".repeat(80),
    );
    for turn in [
        Turn::call("Read", json!({ "file_path": file })),
        Turn::call(
            "Bash",
            json!({ "command": "echo 'limiter tripped' >&2; exit 3", "description": "test" }),
        ),
        Turn::call(
            "Edit",
            json!({ "file_path": file, "old_string": "MAX_ATTEMPTS = 10", "new_string": "MAX_ATTEMPTS = 7" }),
        ),
        Turn::call(
            "Bash",
            json!({ "command": "echo 3 passed", "description": "test" }),
        ),
        Turn::text(
            "I set MAX_ATTEMPTS to 7 in src/retry.py, because an 8th attempt trips the upstream limiter.",
        ),
    ] {
        model.push(turn);
    }
    let prompt =
        "The upstream limiter blocks us. Use 7 retry attempts, never 8, because the 8th trips it.";
    let output = home.prompt(prompt).ok();
    assert_eq!(output.stderr, "", "nothing is printed to the user");
    assert!(
        output.stdout.starts_with("I set MAX_ATTEMPTS to 7"),
        "{}",
        output.stdout
    );
    assert_eq!(model.turns_left(), 0, "{}", model.story());
}

fn kinds_of_queued(home: &Sandbox) -> Vec<String> {
    let list = home.mem(&["queue", "list", "--json"]).ok().json();
    let rows = list["items"].as_array().cloned().unwrap_or_default();
    let mut kinds: Vec<String> = rows
        .iter()
        .filter_map(|row| row["kind"].as_str().map(str::to_owned))
        .collect();
    kinds.reverse();
    kinds
}

fn remembers_and_recalls(version: &str) {
    let model = ScriptedModel::start(Script::session());
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
    assert_eq!(
        kinds_of_queued(home),
        queued,
        "the transcript tells nothing that hooks have told"
    );

    let before = model.messages().len();
    let file = home.project().join("src/retry.py");
    model.push(Turn::call("Read", json!({ "file_path": file })));
    model.push(Turn::text("Done."));
    home.prompt("How many retry attempts does the upstream limiter allow in the retry module?")
        .ok();
    // Old clients ask for other things on the side.
    let asked = &model.messages()[before..];
    let first = asked
        .iter()
        .find(|request| request.says("does the upstream limiter allow"));
    let first = first.expect("the prompt reached the model");
    assert!(first.says("Memory of earlier sessions"), "{:#}", first.body);
    assert!(
        first.says("Use 7 retry attempts, never 8"),
        "{:#}",
        first.body
    );

    let mut mcp = Mcp::spawn(home.mem_command(&["mcp"]));
    mcp.initialize();
    assert!(
        mcp.call_text("search", json!({ "query": "retry attempts limiter" }))
            .contains("never 8")
    );
    let details = mcp.call_text("get_observations", json!({ "ids": [1] }));
    assert!(details.starts_with("#1 "), "{details}");
    assert!(
        mcp.call_text("timeline", json!({ "anchor": "#1" }))
            .contains("> #1")
    );
    let saved = mcp.call_text(
        "save_memory",
        json!({ "text": "Releases go out on Thursdays." }),
    );
    assert!(saved.starts_with("Saved as #"), "{saved}");
    assert!(
        mcp.call_text("search", json!({ "query": "Thursdays releases" }))
            .contains("Thursdays")
    );
    // A line of the index at the start, and in full with the prompt.
    let why: Value = home.mem(&["why", "#1", "--json"]).ok().json();
    assert_eq!(
        (&why["shown"], &why["fetched"]),
        (&json!(2), &json!(1)),
        "{why:#}"
    );
}

/// The agent's own way through memory, as its model sees it: the index, what happened around a
/// row, the row in full. Nothing but our text reaches it, and little of that.
fn looks_through_memory(version: &str) {
    let model = ScriptedModel::start(Script::session());
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
        model.push(Turn::call(tool(name), input));
    }
    model.push(Turn::text("Seven."));
    home.prompt("Look into it").ok();
    let last = model
        .messages()
        .pop()
        .expect("the answers went to the model");
    let results = last.tool_results();
    let texts: Vec<&str> = results.iter().map(|result| result.text.as_str()).collect();
    let [index, around, full, saved] = texts[..] else {
        panic!("{texts:#?}");
    };
    assert!(results.iter().all(|result| !result.is_error), "{texts:#?}");

    // To the letter what the server says, which is what the tests of the server look at.
    let mut mcp = Mcp::spawn(home.mem_command(&["mcp"]));
    mcp.initialize();
    let said = mcp.call_text("search", json!({ "query": "retry attempts limiter" }));
    let without_note = |text: &str| {
        let lines = text.lines().filter(|line| !line.contains("Thursdays"));
        lines.collect::<Vec<_>>().join("\n")
    };
    assert_eq!(without_note(index), without_note(&said));
    let said = mcp.call_text("timeline", json!({ "anchor": "#1" }));
    assert_eq!(without_note(around), without_note(&said));
    let said = mcp.call_text("get_observations", json!({ "ids": ["#1"] }));
    assert_eq!(full.trim_end(), said.trim_end());

    let first = index.lines().next().expect("a row");
    assert!(
        first.starts_with("#1 ") && first.contains(" decision "),
        "{index}"
    );
    assert!(first.contains("never 8"), "{index}");
    for line in index.lines() {
        let tokens = claude_mem::tokens::estimate(line);
        assert!(tokens <= 100, "{tokens} tokens: {line}");
    }
    assert!(
        around.lines().any(|line| line.starts_with("> #1 ")),
        "{around}"
    );
    assert!(
        full.starts_with("#1 ") && full.contains("\nSaid by: user\n"),
        "{full}"
    );
    assert!(saved.starts_with("Saved as #"), "{saved}");

    // Old clients do not tell a server which session it serves.
    if version == OLDEST {
        return;
    }
    // What this session saved does not come back to it.
    let before = model.messages().len();
    model.push(Turn::text("Thursdays."));
    let question = "When do releases of the retry module go out after the upstream limiter resets?";
    home.with_env("CLAUDE_MEM_CONTEXT", "off")
        .prompt_with(question, &["--continue"])
        .ok();
    let asked = &model.messages()[before..];
    let asked = asked.iter().find(|request| request.says(question));
    let asked = asked
        .expect("the prompt reached the model")
        .body
        .to_string();
    // Once, where it was saved.
    assert_eq!(asked.matches("go out on Thursdays").count(), 1, "{asked}");
}

#[test]
fn the_current_client_shows_its_model_our_text() {
    looks_through_memory(CURRENT);
}

#[test]
fn an_old_client_shows_its_model_our_text() {
    looks_through_memory(OLDEST);
}

/// Whatever the index at the start offered, a prompt and a file bring their own memories, once,
/// and what was told stays within the settings.
fn recalls_at_the_moment_of_need(version: &str) {
    let model = ScriptedModel::start(Script::session());
    let Some(home) = stage(version, &model, "manual") else {
        return;
    };
    first_session(&home, &model);
    home.mem(&["worker", "run", "--until-drained"]).ok();

    let before = model.messages().len();
    model.push(Turn::text("Seven."));
    let question = "How many retry attempts does the upstream limiter allow in the retry module?";
    home.prompt(question).ok();
    let asked = &model.messages()[before..];
    let first = asked.iter().find(|request| request.says(question));
    let first = first.expect("the prompt reached the model");
    assert!(
        first.says("Recorded in earlier sessions"),
        "{:#}",
        first.body
    );
    assert!(
        first.says("Use 7 retry attempts, never 8"),
        "{:#}",
        first.body
    );

    let before = model.messages().len();
    let file = home.project().join("src/retry.py");
    model.push(Turn::call("Read", json!({ "file_path": file })));
    model.push(Turn::call("Read", json!({ "file_path": file, "limit": 3 })));
    model.push(Turn::text("Done."));
    home.prompt("Read that file").ok();
    let asked = &model.messages()[before..];
    let last = asked.iter().rfind(|request| request.says("Read that file"));
    let last = last.expect("the prompt reached the model");
    // Old clients have no place for it before a tool is used.
    if version != OLDEST {
        let told = last
            .body
            .to_string()
            .matches("Known of src/retry.py")
            .count();
        assert_eq!(told, 1, "{:#}", last.body);
    }
    let why: Value = home.mem(&["why", "#1", "--json"]).ok().json();
    let entries = why["entries"].as_array().expect("entries");
    let tokens: u64 = entries
        .iter()
        .filter(|entry| entry["place"] != "session_start")
        .filter_map(|entry| entry["tokens"].as_u64())
        .sum();
    assert!(tokens > 0 && tokens <= 400 + 250, "{why:#}");
}

#[test]
fn the_current_client_recalls_at_the_moment_of_need() {
    recalls_at_the_moment_of_need(CURRENT);
}

#[test]
fn an_old_client_recalls_at_the_moment_of_need() {
    recalls_at_the_moment_of_need(OLDEST);
}

#[test]
fn the_current_client_is_remembered_and_told() {
    remembers_and_recalls(CURRENT);
}

#[test]
fn an_old_client_is_remembered_and_told() {
    remembers_and_recalls(OLDEST);
}

/// Installed for one project, it works there and leaves every other alone.
fn works_in_one_project(version: &str) {
    let model = ScriptedModel::start(Script::session());
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
    model.push(Turn::text("Hello."));
    let mut command = home.claude_command(&["-p", "How many retry attempts do we allow?"]);
    command.current_dir(&elsewhere);
    rig::process::run(command, b"", std::time::Duration::from_mins(2)).ok();
    let asked = &model.messages()[before.1..];
    assert!(!asked.is_empty(), "{}", model.story());
    for request in asked {
        assert!(
            !request.says("Memory of earlier sessions"),
            "{:#}",
            request.body
        );
    }
    assert_eq!(kinds_of_queued(&home), before.0);

    home.mem(&["uninstall", "--project"]).ok();
    let settings = home.project().join(".claude/settings.local.json");
    assert!(!settings.exists(), "it was ours alone");
}

#[test]
fn the_current_client_is_remembered_in_the_one_project_it_was_installed_for() {
    works_in_one_project(CURRENT);
}

#[test]
fn an_old_client_is_remembered_in_the_one_project_it_was_installed_for() {
    works_in_one_project(OLDEST);
}

/// The hooks of these events alone are registered; the transcript tells the rest.
fn transcript_fills_in(version: &str, hooks: &[&str]) {
    let model = ScriptedModel::start(Script::session());
    let Some(home) = stage(version, &model, "manual") else {
        return;
    };
    let exe = exe();
    home.hooks(hooks, |event| {
        format!("'{}' hook claude-code {event}", exe.display())
    });
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
fn tool_calls_that_no_hook_told_of_come_from_the_transcript() {
    let without_tools: Vec<&str> = EVENTS
        .into_iter()
        .filter(|event| !event.contains("ToolUse"))
        .collect();
    transcript_fills_in(CURRENT, &without_tools);
    transcript_fills_in(OLDEST, &without_tools);
}

#[test]
fn a_client_that_dies_before_it_stops_is_told_to_its_end() {
    transcript_fills_in(CURRENT, &["SessionStart", "UserPromptSubmit"]);
    transcript_fills_in(OLDEST, &["SessionStart", "UserPromptSubmit"]);
}

/// Installed, used once, used again: the worker comes and goes by itself.
fn nothing_but_install_is_needed(version: &str) {
    let model = ScriptedModel::start(Script::session());
    let Some(home) = stage(version, &model, "auto") else {
        return;
    };
    first_session(&home, &model);
    // Only so that the test need not guess when the worker is done.
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let search = "mcp__claude-mem__search";
    model.push(Turn::call(
        search,
        json!({ "query": "retry attempts limiter" }),
    ));
    model.push(Turn::text("Seven."));
    home.prompt("How many retry attempts does the upstream limiter allow?")
        .ok();
    let asked = model.messages();
    let told = |words: &str| asked.iter().any(|request| request.says(words));
    assert!(told("Memory of earlier sessions"), "{}", model.story());
    let last = asked.last().expect("the tool's answer went to the model");
    assert!(
        last.says("tool_result") && last.says("never 8"),
        "{:#}",
        last.body
    );
    home.mem(&["uninstall"]).ok();
    assert!(
        !home.home().join(".claude/settings.json").exists(),
        "as if nothing had been"
    );
}

#[test]
fn nothing_but_install_is_needed_for_the_current_client() {
    nothing_but_install_is_needed(CURRENT);
}

#[test]
fn nothing_but_install_is_needed_for_an_older_client() {
    nothing_but_install_is_needed(OLDER);
}
