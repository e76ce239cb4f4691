//! Two people with the real client share a project through the real service on PostgreSQL.

use rig::Sandbox;
use rig::client::CURRENT;
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use serde_json::{Value, json};

use crate::client::machine;
use crate::common::configure;
use crate::common::hooks::files_containing;
use crate::common::team_service::RealTeamService;
use crate::common::turns::eventually;

/// Words that only Mira uses.
const HER_WORDS: &str = "auditors complained";
const QUESTION: &str =
    "Customers complain about invoices: the cents look truncated, check the rounding of invoices";

/// A person's machine with the client, connected to memory, and a checkout of the project.
struct Workplace {
    home: Sandbox,
    model: ScriptedModel,
}

impl Workplace {
    fn new() -> Option<Self> {
        let model = ScriptedModel::start(ModelScript::session());
        let home = machine(CURRENT, &model, "manual")?;
        home.git_remote("git@github.com:acme/shop.git");
        home.git_branch("fix/rounding");
        home.mem(&["install", "--json"]).ok();
        configure(&home, &json!({ "provider": "local" }));
        Some(Self { home, model })
    }

    /// One prompt in a session of its own, or in the last one.
    fn prompt(&self, text: &str, answer: &str, more: &[&str]) {
        self.model.push(ModelTurn::text(answer));
        self.home.prompt_with(text, more).ok();
    }

    /// What the model received together with a prompt.
    fn request_with(&self, prompt: &str) -> String {
        let requests = self.model.messages();
        let asked = requests.iter().rev().find(|request| request.contains_text(prompt));
        asked.expect("the prompt reached the model").body.to_string()
    }

    fn json(&self, args: &[&str]) -> Value {
        self.home.mem(args).ok().json()
    }

    /// Joins, shares the project and leaves a worker running.
    fn join(&self, link: &str, handle: &str, name: &str) {
        self.prompt("Hello, list the files", "There are three files.", &[]);
        self.home.mem(&["worker", "run", "--until-drained"]).ok();
        self.home.mem(&["team", "join", link, "--handle", handle, "--name", name]).ok();
        self.home.mem(&["team", "share", "--yes"]).ok();
        self.home.mem(&["worker", "start"]).ok();
    }
}

#[test]
fn decision_reaches_a_colleagues_prompt_by_name_and_leaves_no_byte_when_forgotten() {
    let Some(service) = RealTeamService::start_or_skip() else { return };
    let (Some(mira), Some(jonas)) = (Workplace::new(), Workplace::new()) else { return };
    mira.join(service.admin_link(), "mira", "Mira");
    let invite = mira.json(&["team", "invite", "jonas", "--json"]);
    jonas.join(invite["link"].as_str().unwrap(), "jonas", "Jonas");

    // Drained by hand, so that the session is consolidated at once and not when the worker finds it idle.
    mira.home.mem(&["worker", "stop"]).ok();
    mira.prompt(
        "The totals of our invoices are off by a cent",
        "I could truncate the totals of invoices to whole cents. Shall I?",
        &[],
    );
    mira.prompt(
        "No, always round invoices up to whole cents with ceil, never truncated, because auditors complained",
        "Understood: invoices are rounded up to whole cents with ceil.",
        &["--continue"],
    );
    mira.home.mem(&["worker", "run", "--until-drained"]).ok();
    mira.home.mem(&["worker", "start"]).ok();
    eventually("the decision reaches Jonas", || {
        let found = jonas.json(&["search", "who:mira", "invoices", "ceil", "--json"]);
        found["results"][0]["who"] == "Mira"
    });
    eventually("its vectors are made", || jonas.json(&["status", "--json"])["rows"]["vector_backlog"] == 0);

    jonas.prompt(QUESTION, "I will look.", &[]);
    let received = jonas.request_with("the cents look truncated");
    assert!(received.contains("Mira's words") && received.contains("ceil"), "{received}");
    assert!(received.contains("From the team"), "{received}");
    assert!(!files_containing(&jonas.home, HER_WORDS).is_empty(), "the text is there before");

    let mine = mira.json(&["search", "invoices", "ceil", "--json"]);
    for row in mine["results"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        if id.starts_with(['#', 'A']) {
            mira.home.mem(&["forget", id]).ok();
        }
    }
    eventually("no byte is left", || files_containing(&jonas.home, HER_WORDS).is_empty());
    jonas.prompt("And once more: how are cents of invoices rounded?", "I will look.", &[]);
    let received = jonas.request_with("And once more");
    assert!(!received.contains("ceil") && !received.contains("Mira's words"), "{received}");
    let stored = service.cluster.psql("SELECT count(*) FROM claude_mem.records WHERE body LIKE '%auditors%'");
    assert_eq!(stored, "0", "the server has no copy");
    for workplace in [&mira, &jonas] {
        workplace.home.mem(&["worker", "stop"]).ok();
    }
}
