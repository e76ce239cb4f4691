//! The worker's environment and settings: no session configures the worker of all projects, and a running
//! worker follows the settings file.

use rig::Sandbox;
use rig::fake_claude::{FakeClaude, FakeClaudeEvent};
use rig::model::{BilledUsage, ModelScript, ModelTurn, ResponseFault, ScriptedModel};
use serde_json::{Value, json};

use crate::common::turns::{drain, sandbox_with_provider, spend, turn};
use crate::common::{configure, sandbox};
use crate::viewer::{self, ask};

const ANSWER: &str = "<observation><type>decision</type><title>Prices are kept in cents</title>\
    <narrative>Floating point loses money.</narrative></observation>";

fn answering() -> ScriptedModel {
    let usage = BilledUsage { input: 6_000, output: 100, cache_read: 0, cache_write: 0 };
    ScriptedModel::start(ModelScript::new().fallback(ModelTurn::text(ANSWER).usage(usage)))
}

fn base_url(model: &ScriptedModel) -> String {
    format!("{}/v1", model.url())
}

fn status(home: &Sandbox) -> Value {
    home.mem(&["status", "--json"]).ok().json()
}

/// A sandbox in which hooks start the worker, at the real time.
fn automatic() -> Sandbox {
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_NOW");
    home.unset_env("CLAUDE_MEM_WORKER");
    configure(&home, &json!({ "vectors": false }));
    home
}

/// Has a session with these variables start the worker, then works in another session without them.
fn worker_of_session(home: &mut Sandbox, variables: &[(&str, String)]) {
    for (name, value) in variables {
        home.set_env(name, value);
    }
    turn(home, "evil", 1);
    home.mem(&["worker", "start"]).ok();
    for (name, _) in variables {
        home.unset_env(name);
    }
    home.set_env("PATH", "/usr/bin:/bin");
    turn(home, "acme", 1);
    drain(home);
}

#[test]
fn variables_of_a_session_do_not_configure_the_worker() {
    let model = answering();
    let mut home = automatic();
    worker_of_session(
        &mut home,
        &[
            ("CLAUDE_MEM_PROVIDER", "openai".to_owned()),
            ("CLAUDE_MEM_BASE_URL", base_url(&model)),
            ("CLAUDE_MEM_MODEL", "m-1".to_owned()),
            ("CLAUDE_MEM_API_KEY", "k".to_owned()),
        ],
    );
    assert_eq!(model.requests().len(), 0, "{}", model.request_log());
    let status = status(&home);
    assert_eq!(status["worker"]["uses"]["provider"], "local", "{status:#}");
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn path_of_a_session_does_not_select_the_client() {
    let mut home = automatic();
    let bin = home.project().join("bin");
    let fake = FakeClaude::install_in(&bin, []);
    configure(&home, &json!({ "provider": "claude" }));
    worker_of_session(&mut home, &[("PATH", format!("{}:/usr/bin:/bin", bin.display()))]);
    assert_eq!(fake.events().len(), 0, "the program of a project was run");
    let status = status(&home);
    let problem = status["problems"][0]["what"].as_str().unwrap_or_default();
    assert!(problem.contains("claude was not found"), "{status:#}");
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn client_of_the_manifest_is_run_with_a_listed_environment() {
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_NOW");
    configure(&home, &json!({ "vectors": false }));
    let bin = home.home().join("node/bin");
    let fake = FakeClaude::install_in(&bin, []);
    home.set_env("PATH", format!("{}:/usr/bin:/bin", bin.display()));
    home.mem(&["install", "--yes", "--no-check", "--provider", "claude"]).ok();
    home.set_env("PATH", "/usr/bin:/bin");
    home.set_env("SESSION_VARIABLE", "of one session");
    home.set_env("HTTPS_PROXY", "http://127.0.0.1:9");
    turn(&home, "one", 1);
    drain(&home);
    // Install asks it for its version first.
    let started = fake.events().into_iter().rev().find_map(|event| match event {
        FakeClaudeEvent::Start { env, .. } => Some(env),
        FakeClaudeEvent::Message { .. } => None,
    });
    let env = started.expect("it was run");
    let has = |wanted: &str| env.iter().any(|(name, _)| name == wanted);
    assert!(has("HOME") && has("CLAUDE_MEM_COMPRESSOR"), "{env:?}");
    for name in ["SESSION_VARIABLE", "HTTPS_PROXY", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"] {
        assert!(!has(name), "{name}: {env:?}");
    }
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn running_worker_follows_address_and_provider() {
    let (first, second) = (answering(), answering());
    let home = sandbox_with_provider("openai", &base_url(&first));
    home.mem(&["worker", "start"]).ok();
    turn(&home, "one", 1);
    drain(&home);
    assert_eq!((first.messages().len(), second.messages().len()), (1, 0));
    home.mem(&["config", "set", "base_url", &base_url(&second)]).ok();
    home.mem(&["config", "set", "model", "m-2"]).ok();
    let told = status(&home);
    assert_eq!(told["worker"]["uses"]["address"], base_url(&second), "{told:#}");
    assert_eq!(told["worker"]["uses"]["model"], "m-2", "{told:#}");
    turn(&home, "one", 2);
    drain(&home);
    assert_eq!((first.messages().len(), second.messages().len()), (1, 1));
    assert_eq!(spend(&home)[0].model, "m-2");
    home.mem(&["config", "set", "provider", "local"]).ok();
    turn(&home, "one", 3);
    drain(&home);
    assert_eq!((first.messages().len(), second.messages().len()), (1, 1));
    home.mem(&["worker", "stop"]).ok();
}

#[test]
fn running_worker_follows_budget_and_vocabulary() {
    let model = answering();
    let home = sandbox_with_provider("openai", &base_url(&model));
    home.mem(&["worker", "start"]).ok();
    turn(&home, "one", 1);
    drain(&home);
    home.mem(&["config", "set", "budget_tokens_per_day", "6500"]).ok();
    turn(&home, "one", 2);
    drain(&home);
    assert_eq!((model.messages().len(), spend(&home).len()), (1, 1), "no call beyond the lowered budget");
    let told = status(&home);
    let problem = told["problems"][0]["what"].as_str().unwrap_or_default();
    assert!(problem.contains("the token budget of the day is used up"), "{told:#}");
    home.mem(&["config", "unset", "budget_tokens_per_day"]).ok();
    let words = r#"{"types": [{"name": "tenet", "meaning": "a rule of the house"}], "concepts": []}"#;
    home.write(home.data_dir().join("words.json"), words);
    home.mem(&["config", "set", "vocabulary", "words.json"]).ok();
    assert_eq!(status(&home)["worker"]["uses"]["vocabulary"], "words.json");
    turn(&home, "one", 3);
    drain(&home);
    let asked = model.messages();
    assert_eq!(asked.len(), 2);
    assert!(asked[1].contains_text("a rule of the house"), "{}", model.request_log());
    home.mem(&["worker", "stop"]).ok();
}

/// Each kind of trouble with the model, in its own sandbox: `status` and the next session say what is
/// wrong and what to do.
#[test]
fn trouble_with_the_model_is_shown_with_its_fix() {
    let cases: Vec<(&str, ModelTurn, &str, &str)> = vec![
        (
            "prose",
            ModelTurn::text("Sure! Saved."),
            "none of the requested tags",
            "claude-mem config set model",
        ),
        ("empty", ModelTurn::text(""), "answer is empty", "claude-mem config set model"),
        ("500", ModelTurn::error(500), "HTTP 500", "provider local"),
        ("429", ModelTurn::error(429).header("retry-after", "86400"), "quota", "the provider's limit"),
        ("401", ModelTurn::error(401), "rejected the credentials", "claude-mem config set api_key_file"),
        ("cut", ModelTurn::text(ANSWER).fault(ResponseFault::CutAt(10)), "malformed", "base_url"),
    ];
    std::thread::scope(|scope| {
        for (case, answer, what, fix) in cases {
            scope.spawn(move || shows_trouble(case, answer, what, fix));
        }
    });
}

#[test]
fn refused_connection_is_shown_and_costs_nothing() {
    use rustix::net::{AddressFamily, SocketFlags, SocketType};
    // A port at which nobody listens, and which no other test can take meanwhile.
    let held = rustix::net::socket_with(AddressFamily::INET, SocketType::STREAM, SocketFlags::CLOEXEC, None);
    let held = held.expect("a socket");
    rustix::net::bind(&held, &std::net::SocketAddr::from(([127, 0, 0, 1], 0))).expect("a port");
    let bound = rustix::net::getsockname(&held).expect("an address");
    let bound = std::net::SocketAddr::try_from(bound).expect("an address of the internet");
    shows_trouble_at("refused", &format!("http://{bound}/v1"), "cannot be reached", "base_url");
}

fn shows_trouble(case: &str, answer: ModelTurn, what: &str, fix: &str) {
    let model = ScriptedModel::start(ModelScript::new().fallback(answer));
    shows_trouble_at(case, &base_url(&model), what, fix);
}

fn shows_trouble_at(case: &str, address: &str, what: &str, fix: &str) {
    let home = sandbox_with_provider("openai", address);
    home.mem(&["token", "path"]).ok();
    home.mem(&["worker", "start"]).ok();
    turn(&home, "one", 1);
    drain(&home);
    let running = status(&home);
    // What the viewer's page gets.
    for (route, part) in [("GET /api/stats", "health"), ("GET /api/readiness", "problems")] {
        let (_, body) = ask(&viewer::address(&home), route, &[viewer::token(&home)], "");
        let given: Value = serde_json::from_str(&body).unwrap_or_else(|e| panic!("{case}: {e}: {body}"));
        assert!(given[part].to_string().contains(what), "{case}, {route}: {given:#}");
    }
    let health = home.mem(&["doctor", "--json"]).json();
    home.mem(&["worker", "stop"]).ok();
    for told in [running, status(&home)] {
        let problems = told["problems"].as_array().expect("problems");
        let found =
            problems.iter().find(|problem| problem["what"].as_str().is_some_and(|text| text.contains(what)));
        let found = found.unwrap_or_else(|| panic!("{case}: {told:#}"));
        assert!(found["fix"].as_str().is_some_and(|text| text.contains(fix)), "{case}: {told:#}");
    }
    assert!(health.to_string().contains(what), "{case}: {health:#}");
    let payload = json!({
        "session_id": "two", "hook_event_name": "SessionStart", "cwd": home.project(), "source": "startup",
    });
    let answer = home.hook("SessionStart", payload.to_string()).ok().stdout;
    assert!(answer.contains(what), "{case}: {answer}");
    // A call that the provider rejected cost nothing.
    if matches!(case, "500" | "429" | "401" | "refused") {
        assert!(spend(&home).iter().all(|row| row.input_tokens + row.output_tokens == 0), "{case}");
    }
}
