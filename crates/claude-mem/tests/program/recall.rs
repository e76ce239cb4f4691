//! What reaches the agent at the moment of need, through the hooks that it would come through.

use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::sandbox;
use crate::common::turns::pid;

fn hook(home: &Sandbox, event: &str, session: &str, more: &Value) -> Value {
    let mut payload = json!({
        "session_id": session,
        "cwd": home.project(),
        "hook_event_name": event,
    });
    for (name, value) in more.as_object().expect("fields") {
        payload[name] = value.clone();
    }
    let output = home
        .mem_with(&["hook", "claude-code", event], payload.to_string())
        .ok();
    serde_json::from_str(&output.stdout).expect("an answer")
}

fn told(answer: &Value) -> &str {
    answer["hookSpecificOutput"]["additionalContext"]
        .as_str()
        .unwrap_or_default()
}

fn ask(home: &Sandbox, session: &str, prompt: &str) -> String {
    told(&hook(
        home,
        "UserPromptSubmit",
        session,
        &json!({"prompt": prompt}),
    ))
    .to_owned()
}

fn start(home: &Sandbox, session: &str, source: &str) -> Value {
    hook(home, "SessionStart", session, &json!({"source": source}))
}

/// A session in which something was decided.
fn decide(home: &Sandbox) {
    let say = |asked: &str, answered: &str| {
        hook(
            home,
            "UserPromptSubmit",
            "earlier",
            &json!({"prompt": asked}),
        );
        hook(
            home,
            "Stop",
            "earlier",
            &json!({"last_assistant_message": answered}),
        );
    };
    say(
        "The totals of our invoices are off by a cent",
        "I could truncate the totals of invoices to whole cents. Shall I?",
    );
    say(
        "No, always round invoices up to whole cents with ceil, never truncated, because auditors complained",
        "Understood: invoices are rounded up to whole cents with ceil.",
    );
    home.mem(&["worker", "run", "--until-drained"]).ok();
}

const QUESTION: &str =
    "Customers complain about invoices: the cents look truncated, check the rounding of invoices";

fn times_shown(home: &Sandbox) -> u64 {
    let why = home.mem(&["why", "#1", "--json"]).ok();
    let why: Value = serde_json::from_str(&why.stdout).expect("json");
    why["shown"].as_u64().expect("a number")
}

#[test]
fn a_decision_comes_back_with_the_prompt_that_needs_it_once() {
    let home = sandbox();
    decide(&home);
    let first = ask(&home, "later", QUESTION);
    assert!(first.contains("never truncated"), "{first}");
    assert_eq!(ask(&home, "later", QUESTION), "");
    assert_eq!(times_shown(&home), 1);
    assert!(ask(&home, "another", QUESTION).contains("never truncated"));
}

/// The index offers a title; the words come when they are needed, and then count as told.
#[test]
fn what_the_index_offered_is_still_told_by_a_file_and_by_a_prompt() {
    let home = sandbox();
    let file = home.write("src/invoice.rs", "// invoices\n".repeat(80));
    let edit = json!({
        "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": file},
    });
    hook(&home, "PostToolUse", "earlier", &edit);
    decide(&home);
    let read = |session: &str| {
        let call = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
        told(&hook(&home, "PreToolUse", session, &call)).to_owned()
    };
    let offered = |session: &str| {
        let index = start(&home, session, "startup");
        assert!(
            told(&index).contains("invoices up to whole cents"),
            "{index}"
        );
    };
    offered("later");
    assert!(read("later").contains("Known of src/invoice.rs"));
    assert!(ask(&home, "later", QUESTION).contains("never truncated"));
    offered("another");
    assert!(ask(&home, "another", QUESTION).contains("never truncated"));
    // The decision has been heard; what else there is of the file has not.
    let known = read("another");
    assert!(!known.contains("never truncated"), "{known}");
}

#[test]
fn a_running_worker_answers_the_same_and_counts_it() {
    let home = sandbox();
    decide(&home);
    let alone = ask(&home, "alone", QUESTION);
    home.mem(&["worker", "start"]).ok();
    // The first call of a cold worker may take longer than a hook waits; then the hook itself
    // answers, in the same words.
    assert_eq!(ask(&home, "first", QUESTION), alone);
    assert_eq!(ask(&home, "second", QUESTION), alone);
    assert_eq!(ask(&home, "second", QUESTION), "");
    home.mem(&["worker", "stop"]).ok();
    assert_eq!(times_shown(&home), 3);
}

#[test]
fn a_worker_that_does_not_answer_keeps_nobody_waiting() {
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
fn a_new_project_is_welcomed_once() {
    let home = sandbox();
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let first = start(&home, "one", "startup");
    assert!(told(&first).contains("nothing is recorded yet"), "{first}");
    assert_eq!(first["systemMessage"], Value::Null);
    assert_eq!(told(&start(&home, "two", "startup")), "");
}

#[test]
fn the_person_is_told_what_there_is_unless_they_said_no() {
    let mut home = sandbox();
    decide(&home);
    let message = start(&home, "later", "startup")["systemMessage"].clone();
    let message = message.as_str().expect("a message").to_owned();
    assert!(message.starts_with("claude-mem: 1 memory of "), "{message}");
    assert_eq!(
        start(&home, "later", "resume")["systemMessage"],
        Value::Null
    );
    home.set_env("CLAUDE_MEM_SHOW_MESSAGE", "off");
    assert_eq!(
        start(&home, "later", "startup")["systemMessage"],
        Value::Null
    );
}

#[test]
fn the_address_is_told_while_it_is_served_and_not_after_a_worker_was_killed() {
    let home = sandbox();
    decide(&home);
    let message = || {
        let answer = start(&home, "later", "startup");
        answer["systemMessage"]
            .as_str()
            .expect("a message")
            .to_owned()
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
    // As a kill leaves it.
    std::fs::write(&file, text).expect("its file again");
    assert!(!message().contains("http://"), "{}", message());
}

#[test]
fn after_a_compaction_the_work_under_way_comes_first() {
    let home = sandbox();
    decide(&home);
    let answer = start(&home, "earlier", "compact");
    let text = told(&answer);
    let asked = text
        .find("## The work under way")
        .expect("what was asked for");
    assert!(text[asked..].starts_with(
        "## The work under way: what was asked for last\n- The totals of our invoices"
    ));
    let index = text.find("## Index").expect("an index");
    assert!(asked < index);
    let cleared = start(&home, "fresh", "clear");
    assert!(
        told(&cleared).contains("## The work under way"),
        "{cleared}"
    );
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
fn what_is_cleared_in_one_terminal_goes_on_there() {
    let home = sandbox();
    turn(
        &home,
        "one",
        "Migrate the billing tables to cents",
        "Two of five are done.",
    );
    turn(
        &home,
        "two",
        "Rewrite the login page",
        "Half of it is done.",
    );
    home.mem(&["worker", "run", "--until-drained"]).ok();
    hook(&home, "SessionEnd", "one", &json!({"reason": "clear"}));
    let cleared = start(&home, "next", "clear");
    let text = told(&cleared);
    let under_way = text.split("## The work under way").nth(1).expect("work");
    let first = under_way.lines().nth(1).expect("a line");
    assert!(first.contains("billing tables"), "{text}");
}

#[test]
fn a_forked_conversation_is_not_told_again() {
    let home = sandbox();
    decide(&home);
    assert_eq!(told(&start(&home, "fork", "fork")), "");
}

#[test]
fn a_turn_that_left_no_memory_is_told_in_the_words_of_the_user() {
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
    assert!(
        first.contains("turn (the user said): “Deploys of the warehouse"),
        "{first}"
    );
    assert!(
        first.contains("The agent answered: “Good to know.”"),
        "{first}"
    );
    assert_eq!(ask(&home, "later", question), "", "once");
    assert_eq!(
        ask(
            &home,
            "other",
            "draw a picture of a courier for the start page"
        ),
        ""
    );
}

#[test]
fn a_private_turn_leaves_no_trace_of_the_files_it_read() {
    let home = sandbox();
    let file = home.write("src/invoice.rs", "// invoices\n".repeat(80));
    let edit = json!({
        "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": file},
    });
    hook(&home, "PostToolUse", "earlier", &edit);
    decide(&home);
    let secret = json!({"prompt": "<private>look at the invoices</private>"});
    hook(&home, "UserPromptSubmit", "later", &secret);
    let call = json!({"tool_name": "Read", "tool_input": {"file_path": file}});
    hook(&home, "PreToolUse", "later", &call);
    assert_eq!(times_shown(&home), 0);
    hook(&home, "PreToolUse", "another", &call);
    assert_eq!(times_shown(&home), 1);
}

/// Leaves the notice of a database that was damaged.
fn recovered(home: &Sandbox) {
    let dir = claude_mem::paths::DataDir::new(home.data_dir());
    let mut store = claude_mem::store::Store::open(&dir.db()).expect("a store");
    let recovered = claude_mem::serve::recover::Recovered {
        at: claude_mem::clock::Millis(crate::common::NOW),
        damaged: "/elsewhere/damaged.db".into(),
        backup_from: None,
        salvaged: 0,
        passed_over: Vec::new(),
        incomplete: Vec::new(),
    };
    let notice = serde_json::to_string(&recovered).expect("json");
    store
        .write(|tx| tx.set_meta(claude_mem::serve::recover::NOTICE, &notice))
        .expect("written");
}

#[test]
fn what_needs_the_person_is_said_at_the_start_with_its_command() {
    let home = sandbox();
    decide(&home);
    recovered(&home);
    let answer = start(&home, "later", "startup");
    for text in [
        told(&answer),
        answer["systemMessage"].as_str().expect("a message"),
    ] {
        assert!(
            text.contains("the damaged one is kept: /elsewhere/damaged.db"),
            "{answer}"
        );
    }
}

#[test]
fn an_agent_that_names_what_it_was_shown_has_cited_it() {
    let home = sandbox();
    decide(&home);
    assert!(ask(&home, "later", QUESTION).contains("#1 "));
    let stop = json!({"last_assistant_message": "Rounded up with ceil, as #1 asks; see also #77."});
    hook(&home, "Stop", "later", &stop);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let why = home.mem(&["why", "#1"]).ok();
    assert!(
        why.stdout.starts_with("#1 was shown once, cited once"),
        "{why}"
    );
}

#[test]
fn a_preference_holds_everywhere_once_it_is_confirmed() {
    let home = sandbox();
    home.mem(&["save", "--global", "Run the formatter before every commit"])
        .ok();
    let list = home.mem(&["preferences"]).ok();
    assert_eq!(
        list.stdout,
        "in every project\n    #1  Run the formatter before every commit\n"
    );
    hook(
        &home,
        "UserPromptSubmit",
        "one",
        &json!({
            "prompt": "From now on I prefer small commits, always run the linter before you commit anything",
        }),
    );
    hook(
        &home,
        "Stop",
        "one",
        &json!({"last_assistant_message": "Noted, I will."}),
    );
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let list = home.mem(&["preferences", "--json"]).ok();
    let list: Value = serde_json::from_str(&list.stdout).expect("json");
    let proposed = list["proposed"][0]["id"]
        .as_str()
        .expect("one is proposed")
        .to_owned();
    home.mem(&["preferences", "--confirm", &proposed]).ok();
    let told_there = start(&home, "two", "startup");
    assert!(told(&told_there).contains("linter"), "{told_there}");
    home.mem(&["preferences", "--decline", &proposed]).ok();
    let list = home.mem(&["preferences"]).ok();
    assert!(!list.stdout.contains("linter"), "{list}");
    // What was never said in a project cannot go back to one.
    let refused = home.mem(&["preferences", "--decline", "#1"]);
    assert!(
        refused.stderr.contains("belongs to no project"),
        "{refused}"
    );
}

#[test]
fn what_a_session_saved_itself_is_not_brought_back_to_it() {
    let home = sandbox();
    ask(&home, "later", "Have a look at the invoices");
    let mut command = home.mem_command(&["mcp"]);
    command.env("CLAUDE_CODE_SESSION_ID", "later");
    let mut mcp = rig::mcp::Mcp::spawn(command);
    mcp.initialize();
    let note = "Invoices are rounded up to whole cents, never truncated, because auditors complain";
    mcp.call_text("save_memory", json!({ "text": note }));
    assert_eq!(ask(&home, "later", QUESTION), "");
    assert!(ask(&home, "another", QUESTION).contains("never truncated"));
}

#[test]
fn what_a_subagent_was_told_of_a_file_the_others_have_not_heard() {
    let home = sandbox();
    let file = home.write("src/invoice.rs", "// cents\n".repeat(200));
    let edit = json!({
        "tool_name": "Edit", "tool_use_id": "t1",
        "tool_input": {"file_path": file, "old_string": "a", "new_string": "b"},
        "tool_response": {"filePath": file},
    });
    hook(
        &home,
        "UserPromptSubmit",
        "earlier",
        &json!({"prompt": "Round the invoices up"}),
    );
    hook(&home, "PostToolUse", "earlier", &edit);
    hook(
        &home,
        "Stop",
        "earlier",
        &json!({"last_assistant_message": "Fixed the rounding of invoices in src/invoice.rs."}),
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

/// Holds the database as another writer does.
#[allow(clippy::disallowed_methods, reason = "a writer that is not the store")]
fn writing(home: &Sandbox) -> rusqlite::Connection {
    let path = home.data_dir().join("claude-mem.db");
    let conn = rusqlite::Connection::open(path).expect("opened");
    conn.execute_batch("BEGIN IMMEDIATE").expect("a lock");
    conn
}

#[test]
fn another_writer_costs_nothing_of_what_is_told() {
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
fn the_first_session_of_a_project_hears_what_holds_everywhere_and_it_is_noted() {
    let home = sandbox();
    home.mem(&["save", "--global", "Run the formatter before every commit"])
        .ok();
    let elsewhere = home.home().join("elsewhere");
    std::fs::create_dir_all(&elsewhere).expect("a directory");
    let first = hook(
        &home,
        "SessionStart",
        "one",
        &json!({"source": "startup", "cwd": elsewhere}),
    );
    assert!(told(&first).contains("nothing is recorded yet"), "{first}");
    assert!(told(&first).contains("- #1 Run the formatter"), "{first}");
    assert_eq!(times_shown(&home), 1);
}

#[test]
fn a_preview_is_what_a_session_is_told_to_the_letter() {
    let mut home = sandbox();
    decide(&home);
    recovered(&home);
    let preview: Value = home.mem(&["context", "--json"]).ok().json();
    let answer = start(&home, "later", "startup");
    assert_eq!(preview["text"], told(&answer));
    assert!(told(&answer).contains("Tell the user: "), "{answer}");
    home.set_env("CLAUDE_MEM_CONTEXT", "off");
    let preview: Value = home.mem(&["context", "--json"]).ok().json();
    assert_eq!(
        (&preview["text"], &preview["off"]),
        (&json!(""), &json!(true))
    );
    let said = home.mem(&["context"]).ok();
    assert!(
        said.stdout.starts_with("a session would be told nothing: "),
        "{said}"
    );
}
