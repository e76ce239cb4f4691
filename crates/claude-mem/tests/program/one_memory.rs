//! One decision is one memory, whichever way it arrives: the user's prompt, the agent's `save_memory`, a slash
//! command, `claude-mem save`.

use rig::Sandbox;
use rig::client::CURRENT;
use rig::mcp::McpTestClient;
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use serde_json::{Value, json};

use crate::client::machine;
use crate::common::sandbox;

const RULE: &str = "From now on never log the customer's IBAN, also not in debug mode.";
const NOTE: &str = "Never log the customer's IBAN, also not in debug mode.";

/// The stored observations.
fn observations(home: &Sandbox) -> Vec<Value> {
    let out = home.home().join("all.json");
    home.mem(&["export", "--out", &out.display().to_string()]).ok();
    let all: Value = serde_json::from_str(&home.read(&out)).expect("JSON");
    all["observations"].as_array().cloned().unwrap_or_default()
}

/// There is one observation, the user's decision, and it is told as a standing rule.
#[track_caller]
fn assert_one_rule(home: &Sandbox, case: &str) {
    let rows = observations(home);
    assert_eq!(rows.len(), 1, "{case}: {rows:#?}");
    let row = &rows[0];
    assert_eq!((&row["type"], &row["origin"]), (&json!("decision"), &json!("user")), "{case}: {row:#}");
    let title = row["title"].as_str().unwrap_or_default();
    assert!(title.contains("ever log the customer's IBAN, also not in debug mode"), "{case}: {title}");
    let told = home.mem(&["context"]).ok().stdout;
    let rules = told.split("\n## ").find(|part| part.starts_with("Standing rules")).unwrap_or_default();
    assert_eq!(rules.matches("customer's IBAN").count(), 1, "{case}: {told}");
    assert_eq!(told.matches("(saved by hand)").count(), 0, "{case}: {told}");
}

struct Hooked(Sandbox);

impl Hooked {
    fn hook(&self, event: &str, session: &str, more: &Value) {
        let mut payload = json!({ "session_id": session, "cwd": self.0.project(), "hook_event_name": event });
        for (name, value) in more.as_object().expect("fields") {
            payload[name] = value.clone();
        }
        self.0.mem_with(&["hook", "claude-code", event], payload.to_string()).ok();
    }

    fn prompt(&self, session: &str, text: &str) {
        self.hook("UserPromptSubmit", session, &json!({ "prompt": text }));
    }

    fn stop(&self, session: &str, said: &str) {
        self.hook("Stop", session, &json!({ "last_assistant_message": said }));
    }

    fn drain(&self) {
        self.0.mem(&["worker", "run", "--until-drained"]).ok();
    }

    fn agent_saves(&self, session: &str, text: &str) {
        let mut command = self.0.mem_command(&["mcp"]);
        command.env("CLAUDE_CODE_SESSION_ID", session);
        let mut mcp = McpTestClient::spawn(command);
        mcp.initialize();
        let saved = mcp.call_text("save_memory", json!({ "text": text }));
        assert!(saved.starts_with("Saved as #"), "{saved}");
    }
}

#[test]
fn prompt_and_note_are_one_memory_in_every_order() {
    type Steps = fn(&Hooked);
    let cases: [(&str, Steps); 7] = [
        ("the agent saves before the distilling", |at| {
            at.prompt("s", RULE);
            at.agent_saves("s", NOTE);
            at.stop("s", "I will keep the IBAN out of the logs.");
            at.drain();
        }),
        ("the agent saves after the distilling", |at| {
            at.prompt("s", RULE);
            at.stop("s", "I will keep the IBAN out of the logs.");
            at.drain();
            at.agent_saves("s", NOTE);
            at.drain();
        }),
        ("the agent saves in the next turn", |at| {
            at.prompt("s", RULE);
            at.stop("s", "I will keep the IBAN out of the logs.");
            at.prompt("s", "Please write that down");
            at.agent_saves("s", NOTE);
            at.stop("s", "Saved.");
            at.drain();
        }),
        ("the user saves the same words first", |at| {
            at.0.mem(&["save", RULE]).ok();
            at.prompt("s", RULE);
            at.stop("s", "I will keep the IBAN out of the logs.");
            at.drain();
        }),
        ("the user saves the same words afterwards", |at| {
            at.prompt("s", RULE);
            at.stop("s", "I will keep the IBAN out of the logs.");
            at.drain();
            at.0.mem(&["save", RULE]).ok();
            at.0.mem(&["save", NOTE]).ok();
        }),
        ("another session saved it", |at| {
            at.prompt("earlier", "Have a look at the logs");
            at.agent_saves("earlier", NOTE);
            at.stop("earlier", "They are long.");
            at.drain();
            at.prompt("s", RULE);
            at.stop("s", "I will keep the IBAN out of the logs.");
            at.drain();
        }),
        ("a slash command saves what the prompt stated", |at| {
            at.prompt("s", RULE);
            at.stop("s", "I will keep the IBAN out of the logs.");
            at.prompt("s", &format!("/claude-mem:save {NOTE}"));
            at.agent_saves("s", NOTE);
            at.stop("s", "Saved.");
            at.drain();
        }),
    ];
    for (case, run) in cases {
        let at = Hooked(sandbox());
        run(&at);
        assert_one_rule(&at.0, case);
    }
}

/// A client that follows the invitation: the prompt states a rule, and the model saves it.
#[test]
fn a_client_that_saves_the_rule_makes_one_memory() {
    let model = ScriptedModel::start(ModelScript::session());
    let Some(home) = machine(CURRENT, &model, "manual") else { return };
    home.mem(&["install", "--json"]).ok();
    model.push(ModelTurn::call("mcp__claude-mem__save_memory", json!({ "text": NOTE })));
    model.push(ModelTurn::text("I will keep the IBAN out of the logs."));
    home.prompt(RULE).ok();
    assert_eq!(model.turns_left(), 0, "{}", model.request_log());
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_one_rule(&home, "the real client");
}

#[test]
fn forgetting_the_rule_offers_its_twin() {
    let at = Hooked(sandbox());
    at.prompt("s", RULE);
    at.stop("s", "I will keep the IBAN out of the logs.");
    at.drain();
    // A note that says more is a row of its own in another session.
    at.0.mem(&["save", &format!("{NOTE} The auditors of 2024 read every log file of the shop.")]).ok();
    let offered = at.0.mem(&["forget", "--dry-run", "#1"]).ok().stdout;
    assert!(offered.contains("#2"), "{offered}");
}
