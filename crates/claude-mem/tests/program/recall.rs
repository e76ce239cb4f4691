//! Context and recall as the agent gets them, through the real hooks.

use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::sandbox;
use crate::common::turns::pid;
use crate::viewer;

fn hook(home: &Sandbox, event: &str, session: &str, more: &Value) -> Value {
    let mut payload = json!({
        "session_id": session,
        "cwd": home.project(),
        "hook_event_name": event,
    });
    for (name, value) in more.as_object().expect("fields") {
        payload[name] = value.clone();
    }
    let output = home.mem_with(&["hook", "claude-code", event], payload.to_string()).ok();
    serde_json::from_str(&output.stdout).expect("an answer")
}

fn told(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default()
}

fn ask(home: &Sandbox, session: &str, prompt: &str) -> String {
    told(&hook(home, "UserPromptSubmit", session, &json!({"prompt": prompt}))).to_owned()
}

fn start(home: &Sandbox, session: &str, source: &str) -> Value {
    hook(home, "SessionStart", session, &json!({"source": source}))
}

/// Runs a session in which a decision was made.
/// A turn that edits a file and says what it did.
fn work(home: &Sandbox, edit: &Value) {
    hook(home, "UserPromptSubmit", "earlier", &json!({"prompt": "Fix the rounding of invoices"}));
    hook(home, "PostToolUse", "earlier", edit);
    let message = "Fixed the rounding of invoices in src/invoice.rs: totals are no longer cut.";
    hook(home, "Stop", "earlier", &json!({ "last_assistant_message": message }));
    drain(home);
}

/// Takes in what is in the spool. The clock of the tests stands still, so that entries of two turns have no order.
fn drain(home: &Sandbox) {
    home.mem(&["worker", "run", "--until-drained"]).ok();
}

fn decide(home: &Sandbox) {
    let say = |asked: &str, answered: &str| {
        hook(home, "UserPromptSubmit", "earlier", &json!({"prompt": asked}));
        hook(home, "Stop", "earlier", &json!({"last_assistant_message": answered}));
        drain(home);
    };
    say(
        "The totals of our invoices are off by a cent",
        "I could truncate the totals of invoices to whole cents. Shall I?",
    );
    say(
        "No, always round invoices up to whole cents with ceil, never truncated, because auditors complained",
        "Understood: invoices are rounded up to whole cents with ceil.",
    );
}

const QUESTION: &str =
    "Customers complain about invoices: the cents look truncated, check the rounding of invoices";

fn times_shown(home: &Sandbox) -> u64 {
    let why = home.mem(&["why", "#1", "--json"]).ok();
    let why: Value = serde_json::from_str(&why.stdout).expect("json");
    why["shown"].as_u64().expect("a number")
}

#[test]
fn decision_is_recalled_once_by_a_related_prompt() {
    let home = sandbox();
    decide(&home);
    let first = ask(&home, "later", QUESTION);
    assert!(first.contains("never truncated"), "{first}");
    assert_eq!(ask(&home, "later", QUESTION), "");
    assert_eq!(times_shown(&home), 1);
    assert!(ask(&home, "another", QUESTION).contains("never truncated"));
}

/// The index offers only a title. The full text comes when it is needed, and then counts as shown.
#[test]
fn offered_title_is_still_recalled_in_full() {
    let home = sandbox();
    let file = home.write("src/invoice.rs", "// invoices\n".repeat(80));
    let edit = json!({
        "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": file},
    });
    work(&home, &edit);
    decide(&home);
    let read = |session: &str| {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
        told(&hook(&home, "PreToolUse", session, &call)).to_owned()
    };
    let offered = |session: &str| {
        let index = start(&home, session, "startup");
        assert!(told(&index).contains("invoices up to whole cents"), "{index}");
    };
    offered("later");
    assert!(read("later").contains("Known of src/invoice.rs"));
    assert!(ask(&home, "later", QUESTION).contains("never truncated"));
    offered("another");
    assert!(ask(&home, "another", QUESTION).contains("never truncated"));
    // The decision was shown already; the other memories of the file were not.
    let known = read("another");
    assert!(!known.contains("never truncated"), "{known}");
}

#[test]
fn running_worker_recalls_the_same_text() {
    let home = sandbox();
    decide(&home);
    let alone = ask(&home, "alone", QUESTION);
    home.mem(&["worker", "start"]).ok();
    assert_eq!(recalls_of_worker(&home), 0);
    // A cold or busy worker may take longer than a hook waits; then the hook itself answers with the
    // same text. So ask until the worker has answered.
    let mut asked = 0;
    while recalls_of_worker(&home) == 0 {
        assert!(asked < 50, "the worker never answers");
        assert_eq!(ask(&home, &format!("session {asked}"), QUESTION), alone);
        asked += 1;
    }
    assert_eq!(ask(&home, &format!("session {}", asked - 1), QUESTION), "");
    home.mem(&["worker", "stop"]).ok();
    assert_eq!(times_shown(&home), 1 + asked);
}

#[test]
fn preview_of_the_api_is_what_the_hook_gives() {
    let home = sandbox();
    decide(&home);
    home.mem(&["token", "path"]).ok();
    home.mem(&["worker", "start"]).ok();
    let project = home.mem(&["project", "list", "--json"]).ok().json();
    let project = project[0]["name"].as_str().expect("a name").to_owned();
    for prompt in [QUESTION, "make the header of the page sticky"] {
        let body = json!({ "query": prompt, "project": project }).to_string();
        let (status, answer) = viewer::ask(
            &viewer::address(&home),
            "POST /api/context/semantic",
            &[viewer::token(&home)],
            &body,
        );
        assert_eq!(status, 200, "{answer}");
        let answer: Value = serde_json::from_str(&answer).expect("JSON");
        let hook = ask(&home, &format!("new session for {prompt}"), prompt);
        assert_eq!(answer["context"].as_str().map(str::trim), Some(hook.trim()), "{prompt}");
        assert_eq!(hook.is_empty(), prompt != QUESTION, "{prompt}: {hook}");
    }
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn pause_is_mentioned_at_session_start() {
    let home = sandbox();
    decide(&home);
    assert!(!told(&start(&home, "before", "startup")).contains("paused"));
    home.mem(&["pause", "1h"]).ok();
    let answer = start(&home, "during", "startup");
    let notice = "Tell the user: claude-mem: memory is paused until ";
    assert!(told(&answer).contains(notice), "{answer:#}");
    home.mem(&["resume"]).ok();
    assert!(!told(&start(&home, "after", "startup")).contains("paused"));
}

/// How many recall replies of the running worker were acknowledged.
fn recalls_of_worker(home: &Sandbox) -> u64 {
    let socket = crate::common::hooks::data(home).worker_sock(&home.home().join(".tmp"));
    let status = claude_mem_capture::ipc::client::send_request(&socket, "status", None);
    let status: Value = serde_json::from_str(&status.expect("a reply").expect("a worker")).expect("JSON");
    status["recalls"].as_u64().expect("a number")
}

#[test]
fn unresponsive_worker_does_not_delay_hooks() {
    let home = sandbox();
    decide(&home);
    home.mem(&["worker", "start"]).ok();
    let worker = pid(&home).expect("it runs");
    let worker = rustix::process::Pid::from_raw(worker.try_into().expect("a pid")).expect("a pid");
    rustix::process::kill_process(worker, rustix::process::Signal::STOP).expect("stopped");
    let told = ask(&home, "later", QUESTION);
    rustix::process::kill_process(worker, rustix::process::Signal::CONT).expect("goes on");
    assert!(told.contains("never truncated"), "{told}");
    home.mem(&["worker", "stop"]).ok();
    assert_eq!(times_shown(&home), 1);
}

#[test]
fn new_project_is_greeted_once() {
    let home = sandbox();
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let first = start(&home, "one", "startup");
    assert!(told(&first).contains("nothing is recorded yet"), "{first}");
    assert_eq!(first["systemMessage"], Value::Null);
    assert_eq!(told(&start(&home, "two", "startup")), "");
}

#[test]
fn start_message_respects_its_setting() {
    let mut home = sandbox();
    decide(&home);
    let message = start(&home, "later", "startup")["systemMessage"].clone();
    let message = message.as_str().expect("a message").to_owned();
    assert!(message.starts_with("claude-mem: 1 memory of "), "{message}");
    assert_eq!(start(&home, "later", "resume")["systemMessage"], Value::Null);
    home.set_env("CLAUDE_MEM_SHOW_MESSAGE", "off");
    assert_eq!(start(&home, "later", "startup")["systemMessage"], Value::Null);
}

#[test]
fn viewer_address_is_shown_only_while_served() {
    let home = sandbox();
    decide(&home);
    let message = || {
        let answer = start(&home, "later", "startup");
        answer["systemMessage"].as_str().expect("a message").to_owned()
    };
    assert!(!message().contains("http://"), "nobody serves it yet");
    home.mem(&["worker", "start"]).ok();
    let status = home.mem(&["status", "--json"]).ok().stdout;
    let status: Value = serde_json::from_str(&status).expect("JSON");
    let address = status["worker"]["address"].as_str().expect("it is served");
    assert!(message().contains(&format!("({address})")), "{}", message());
    let file = home.data_dir().join("worker.pid");
    let text = std::fs::read_to_string(&file).expect("its file");
    home.mem(&["worker", "stop"]).ok();
    // As after a kill.
    std::fs::write(&file, text).expect("its file again");
    assert!(!message().contains("http://"), "{}", message());
}

#[test]
fn current_work_comes_first_after_compaction() {
    let home = sandbox();
    decide(&home);
    let answer = start(&home, "earlier", "compact");
    let text = told(&answer);
    let asked = text.find("## The work under way").expect("what was asked for");
    assert!(
        text[asked..]
            .starts_with("## The work under way: what was asked for last\n- The totals of our invoices")
    );
    assert!(text.find("## Index").is_none_or(|index| asked < index), "{text}");
    let cleared = start(&home, "fresh", "clear");
    assert!(told(&cleared).contains("## The work under way"), "{cleared}");
    let usual = start(&home, "usual", "startup");
    assert!(!told(&usual).contains("## The work under way"), "{usual}");
}

fn turn(home: &Sandbox, session: &str, asked: &str, answered: &str) {
    let prompt = json!({ "prompt": asked });
    hook(home, "UserPromptSubmit", session, &prompt);
    let answer = json!({ "last_assistant_message": answered });
    hook(home, "Stop", session, &answer);
}

#[test]
fn cleared_session_continues_in_its_terminal() {
    let home = sandbox();
    turn(&home, "one", "Migrate the billing tables to cents", "Two of five are done.");
    turn(&home, "two", "Rewrite the login page", "Half of it is done.");
    home.mem(&["worker", "run", "--until-drained"]).ok();
    hook(&home, "SessionEnd", "one", &json!({"reason": "clear"}));
    let cleared = start(&home, "next", "clear");
    let text = told(&cleared);
    let under_way = text.split("## The work under way").nth(1).expect("work");
    let first = under_way.lines().nth(1).expect("a line");
    assert!(first.contains("billing tables"), "{text}");
}

#[test]
fn forked_session_gets_no_context_twice() {
    let home = sandbox();
    decide(&home);
    assert_eq!(told(&start(&home, "fork", "fork")), "");
}

#[test]
fn turn_without_memories_is_quoted() {
    let home = sandbox();
    turn(
        &home,
        "earlier",
        "Deploys of the warehouse service go out on Tuesdays after the courier pickup.",
        "Good to know.",
    );
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let question = "May deploys of the warehouse go out before the courier pickup?";
    let first = ask(&home, "later", question);
    assert!(first.contains("turn (the user said): “Deploys of the warehouse"), "{first}");
    assert!(first.contains("The agent answered: “Good to know.”"), "{first}");
    assert_eq!(ask(&home, "later", question), "", "once");
    assert_eq!(ask(&home, "other", "draw a picture of a courier for the start page"), "");
}

#[test]
fn private_turn_records_no_files() {
    let home = sandbox();
    let file = home.write("src/invoice.rs", "// invoices\n".repeat(80));
    let edit = json!({
        "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": file},
    });
    work(&home, &edit);
    decide(&home);
    let secret = json!({"prompt": "<private>look at the invoices</private>"});
    hook(&home, "UserPromptSubmit", "later", &secret);
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
    hook(&home, "PreToolUse", "later", &call);
    assert_eq!(times_shown(&home), 0);
    hook(&home, "PreToolUse", "another", &call);
    assert_eq!(times_shown(&home), 1);
}

/// Records the notice that a damaged database was recovered.
fn recovered(home: &Sandbox) {
    let dir = claude_mem_core::paths::DataDir::new(home.data_dir());
    let mut store = claude_mem_store::Store::open(&dir.db()).expect("a store");
    let recovered = claude_mem_store::recovery::RecoveryNotice {
        at: claude_mem_core::clock::Millis(crate::common::NOW),
        damaged: "/elsewhere/damaged.db".into(),
        backup_from: None,
        salvaged: 0,
        rows: 0,
        passed_over: Vec::new(),
        incomplete: Vec::new(),
    };
    let notice = serde_json::to_string(&recovered).expect("json");
    store.write(|tx| tx.set_meta(claude_mem_store::recovery::RECOVERY_NOTICE_KEY, &notice)).expect("written");
}

#[test]
fn session_start_names_problems_and_fixes() {
    let home = sandbox();
    decide(&home);
    recovered(&home);
    let answer = start(&home, "later", "startup");
    for text in [told(&answer), answer["systemMessage"].as_str().expect("a message")] {
        assert!(text.contains("the damaged file is kept: /elsewhere/damaged.db"), "{answer}");
    }
}

#[test]
fn mentioned_memory_counts_as_cited() {
    let home = sandbox();
    decide(&home);
    assert!(ask(&home, "later", QUESTION).contains("#1 "));
    let stop = json!({"last_assistant_message": "Rounded up with ceil, as #1 asks; see also #77."});
    hook(&home, "Stop", "later", &stop);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let why = home.mem(&["why", "#1"]).ok();
    assert!(why.stdout.starts_with("#1 was shown once, cited once"), "{why}");
}

#[test]
fn confirmed_preference_applies_to_every_project() {
    let home = sandbox();
    home.mem(&["save", "--global", "Run the formatter before every commit"]).ok();
    let list = home.mem(&["preferences"]).ok();
    assert_eq!(list.stdout, "in every project\n    #1  Run the formatter before every commit\n");
    hook(
        &home,
        "UserPromptSubmit",
        "one",
        &json!({
            "prompt": "From now on I prefer small commits, always run the linter before you commit anything",
        }),
    );
    hook(&home, "Stop", "one", &json!({"last_assistant_message": "Noted, I will."}));
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let list = home.mem(&["preferences", "--json"]).ok();
    let list: Value = serde_json::from_str(&list.stdout).expect("json");
    let proposed = list["proposed"][0]["id"].as_str().expect("one is proposed").to_owned();
    home.mem(&["preferences", "--confirm", &proposed]).ok();
    let told_there = start(&home, "two", "startup");
    assert!(told(&told_there).contains("linter"), "{told_there}");
    home.mem(&["preferences", "--decline", &proposed]).ok();
    let list = home.mem(&["preferences"]).ok();
    assert!(!list.stdout.contains("linter"), "{list}");
    // A preference that never had a project cannot be declined into one.
    let refused = home.mem(&["preferences", "--decline", "#1"]);
    assert!(refused.stderr.contains("belongs to no project"), "{refused}");
}

#[test]
fn session_does_not_recall_its_own_saves() {
    let home = sandbox();
    ask(&home, "later", "Have a look at the invoices");
    let mut command = home.mem_command(&["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", "later");
    let mut mcp = rig::mcp::McpTestClient::spawn(command);
    mcp.initialize();
    let note = "Invoices are rounded up to whole cents, never truncated, because auditors complain";
    mcp.call_text("save_memory", json!({ "text": note }));
    assert_eq!(ask(&home, "later", QUESTION), "");
    assert!(ask(&home, "another", QUESTION).contains("never truncated"));
}

#[test]
fn subagent_recall_is_tracked_separately() {
    let home = sandbox();
    let file = home.write("src/invoice.rs", "// cents\n".repeat(200));
    let edit = json!({
        "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": file},
    });
    hook(&home, "UserPromptSubmit", "earlier", &json!({"prompt": "Round the invoices up"}));
    hook(&home, "PostToolUse", "earlier", &edit);
    hook(
        &home,
        "Stop",
        "earlier",
        &json!({"last_assistant_message": "Fixed the rounding of invoices in src/invoice.rs: cents were cut off and are rounded up now."}),
    );
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let read = |agent: Option<&str>| {
        let mut call = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
        if let Some(agent) = agent {
            call["agent_id"] = json!(agent);
        }
        let answer = hook(&home, "PreToolUse", "later", &call);
        told(&answer).contains("Known of src/invoice.rs")
    };
    assert!(read(Some("a1")), "a subagent is told");
    assert!(read(None), "so is the agent itself");
    assert!(!read(None) && !read(Some("a1")), "each of them once");
}

/// Locks the database like another writer.
#[allow(clippy::disallowed_methods, reason = "a second writer beside the store")]
fn writing(home: &Sandbox) -> rusqlite::Connection {
    let path = home.data_dir().join("claude-mem.db");
    let conn = rusqlite::Connection::open(path).expect("opened");
    conn.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    conn
}

#[test]
fn locked_database_does_not_prevent_context() {
    let home = sandbox();
    decide(&home);
    let lock = writing(&home);
    for source in ["startup", "compact"] {
        let answer = start(&home, "next", source);
        assert!(told(&answer).contains("invoices"), "{source}: {answer}");
    }
    let answer = ask(&home, "next", QUESTION);
    assert!(answer.contains("invoices"), "{answer}");
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
        "name": "get_observations", "arguments": {"ids": ["#1"]}}});
    let fetched = home.mem_with(&["mcp"], format!("{call}\n")).ok();
    assert!(fetched.stdout.contains("invoices"), "{fetched}");
    assert!(!fetched.stdout.contains("isError\":true"), "{fetched}");
    drop(lock);
}

#[test]
fn first_session_gets_global_preferences() {
    let home = sandbox();
    home.mem(&["save", "--global", "Run the formatter before every commit"]).ok();
    let elsewhere = home.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a directory");
    let first = hook(&home, "SessionStart", "one", &json!({"source": "startup", "cwd": elsewhere}));
    assert!(told(&first).contains("nothing is recorded yet"), "{first}");
    assert!(told(&first).contains("- #1 Run the formatter"), "{first}");
    assert_eq!(times_shown(&home), 1);
}

#[test]
fn context_preview_equals_session_start() {
    let mut home = sandbox();
    decide(&home);
    recovered(&home);
    let preview: Value = home.mem(&["context", "--json"]).ok().json();
    let answer = start(&home, "later", "startup");
    assert_eq!(preview["text"], told(&answer));
    assert!(told(&answer).contains("Tell the user: "), "{answer}");
    home.set_env("CLAUDE_MEM_CONTEXT", "off");
    let preview: Value = home.mem(&["context", "--json"]).ok().json();
    assert_eq!((&preview["text"], &preview["off"]), (&json!(""), &json!(true)));
    let said = home.mem(&["context"]).ok();
    assert!(said.stdout.starts_with("context is off; "), "{said}");
}
