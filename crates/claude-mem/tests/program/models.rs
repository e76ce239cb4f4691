//! Memories written by a model, through the whole worker: requests, cost, and failures of the model.

use rig::fake_claude::{FakeClaude, FakeClaudeStep};
use rig::model::{BilledUsage, ModelScript, ModelTurn, ResponseFault, ScriptedModel, StopReason, TestGate};
use serde_json::{Value, json};

use crate::common::configure;
use crate::common::turns::{counts, drain, observations, sandbox_with_provider, spend, turn};

const ANSWER: &str = "<observation><type>decision</type><title>Prices are kept in cents</title>\
    <narrative>Floating point loses money.</narrative></observation>\
    <summary><request>Fix the prices</request><completed>They are integers</completed></summary>";

fn bill(input: u64, output: u64) -> BilledUsage {
    BilledUsage { input, output, cache_read: 0, cache_write: 0 }
}

fn status(home: &rig::Sandbox) -> Value {
    home.mem(&["status", "--json"]).ok().json()
}

#[test]
fn model_writes_memories_and_status_shows_the_cost() {
    let answer = ModelTurn::text(ANSWER).usage(bill(1_500, 100));
    let model = ScriptedModel::start(ModelScript::new().turn(answer).fallback(ModelTurn::error(500)));
    let home = sandbox_with_provider("openai", &format!("{}/v1", model.url()));
    turn(&home, "one", 1);
    drain(&home);
    let made = observations(&home);
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].text.title, "Prices are kept in cents");
    assert_eq!(made[0].made_by, "m-1");
    assert_eq!(made[0].text.files_modified, ["src/a.rs"], "from the real tool");
    let status = status(&home);
    assert_eq!(status["spend"]["today"]["tokens"], 1_600);
    assert_eq!(status["spend"]["today"]["calls"], 1);
    assert_eq!(status["provider"], "openai");
    // The only problem is that no hooks are installed here.
    let problems = status["problems"].as_array().expect("problems");
    assert_eq!(problems.len(), 1, "{status:#}");
    assert_eq!(problems[0]["fix"], "claude-mem install");
    assert!(model.messages()[0].contains_text("Ask 1"));
}

#[test]
fn claude_provider_leaves_no_process() {
    let home = sandbox_with_provider("claude", "");
    let fake = FakeClaude::install_in(&home.home().join(".local/bin"), [FakeClaudeStep::answer(ANSWER)]);
    turn(&home, "one", 1);
    drain(&home);
    assert_eq!(observations(&home)[0].text.title, "Prices are kept in cents");
    assert_eq!(fake.messages().len(), 1);
    assert_eq!(status(&home)["spend"]["today"]["tokens"], 110);
    home.assert_no_processes();
}

#[test]
fn missing_claude_falls_back_to_local() {
    let home = sandbox_with_provider("claude", "");
    home.mem(&["worker", "start"]).ok();
    turn(&home, "one", 1);
    drain(&home);
    let counts = counts(&home);
    assert_eq!((counts.summaries, counts.queue.done), (1, 3));
    let status = status(&home);
    let problem = status["problems"][0]["what"].as_str().unwrap_or_default();
    let want =
        "claude: the model is misconfigured: claude was not found; memories are made without a model since";
    assert!(problem.starts_with(want), "{status:#}");
    assert_eq!(status["problems"][0]["fix"], "claude-mem doctor");
    assert_eq!(status["worker"]["uses"]["provider"], "local");
    assert_eq!(status["spend"]["in_all"]["calls"], 0);
}

#[test]
fn no_model_is_called_by_default() {
    let model = ScriptedModel::start(ModelScript::new().fallback(ModelTurn::text(ANSWER)));
    for provider in ["auto", "local"] {
        let home = sandbox_with_provider(provider, &format!("{}/v1", model.url())).with_model(&model);
        let fake = FakeClaude::install_in(&home.home().join(".local/bin"), []);
        turn(&home, "one", 1);
        drain(&home);
        assert_eq!(counts(&home).summaries, 1, "{provider}");
        assert_eq!((fake.events().len(), model.requests().len()), (0, 0));
    }
}

#[test]
fn budget_is_exceeded_by_at_most_one_call() {
    let call = 6_100;
    let answer = ModelTurn::text("<skip/>").usage(bill(call - 100, 100));
    let model = ScriptedModel::start(ModelScript::new().fallback(answer));
    let home = sandbox_with_provider("openai", &format!("{}/v1", model.url()));
    configure(
        &home,
        &json!({ "budget_tokens_per_day": 30_000, "budget_tokens_per_session": 14_000, "parallel_sessions": 8 }),
    );
    let (sessions, turns) = (["a", "b", "c", "d", "e", "f", "g", "h"], 7);
    std::thread::scope(|scope| {
        for session in sessions {
            let home = &home;
            scope.spawn(move || (0..turns).for_each(|number| turn(home, session, number)));
        }
    });
    drain(&home);
    let events = sessions.len() as u64 * u64::from(turns) * 3;
    assert_eq!(counts(&home).queue.done, events);
    let rows = spend(&home);
    let total = |rows: &mut dyn Iterator<Item = &claude_mem_store::SpendRow>| {
        rows.map(|row| row.input_tokens + row.output_tokens).sum()
    };
    let spent: u64 = total(&mut rows.iter());
    assert!(spent <= 30_000 + call, "{spent} tokens");
    assert!(rows.len() >= 2, "the budget is used: {} calls", rows.len());
    for session in rows.iter().map(|row| row.session) {
        let of_session: u64 = total(&mut rows.iter().filter(|row| row.session == session));
        assert!(of_session <= 14_000 + call, "{of_session} tokens of one");
    }
    assert_eq!(status(&home)["spend"]["today"]["tokens"], spent);
}

/// Runs every model failure in its own sandbox, in parallel: most of the time is spent waiting for the
/// next retry.
#[test]
fn model_failures_lose_no_event_and_no_cost() {
    let prose = "Sure! I have saved the observations about the prices for you.";
    let cases: Vec<(&str, ModelTurn)> = vec![
        ("401", ModelTurn::error(401)),
        ("404", ModelTurn::error(404)),
        ("429", ModelTurn::error(429)),
        ("429 for a second", ModelTurn::error(429).header("retry-after", "1")),
        ("429 for a day", ModelTurn::error(429).header("retry-after", "86400")),
        ("500", ModelTurn::error(500)),
        ("529 for ever", ModelTurn::error(529).header("retry-after", "x")),
        ("no answer", ModelTurn::text(ANSWER).fault(ResponseFault::Hold(TestGate::shut()))),
        ("half an answer", ModelTurn::text(ANSWER).fault(ResponseFault::StallAt(200, TestGate::shut()))),
        ("a cut", ModelTurn::text(ANSWER).fault(ResponseFault::CutAt(300))),
        ("a cut head", ModelTurn::text(ANSWER).fault(ResponseFault::CutAt(10))),
        ("a page", ModelTurn::text(ANSWER).fault(ResponseFault::ContentType("text/html".into()))),
        ("an endless one", ModelTurn::text(ANSWER).fault(ResponseFault::Endless)),
        ("an empty one", ModelTurn::text(ANSWER).fault(ResponseFault::Empty)),
        ("not JSON", ModelTurn::text(ANSWER).fault(ResponseFault::Body("<html>".into()))),
        ("no text", ModelTurn::text("")),
        ("a refusal", ModelTurn::text("I cannot help with that.").stop(StopReason::Refusal)),
        ("prose", ModelTurn::text(prose)),
        ("an error as text", ModelTurn::text("API Error: 529 overloaded")),
    ];
    std::thread::scope(|scope| {
        for (case, answer) in cases {
            scope.spawn(move || misbehaving(case, answer));
        }
    });
}

fn misbehaving(case: &str, answer: ModelTurn) {
    let model = ScriptedModel::start(ModelScript::new().fallback(answer));
    let home = sandbox_with_provider("openai", &format!("{}/v1", model.url()));
    configure(&home, &json!({ "model_seconds": 1 }));
    for number in 0..2 {
        turn(&home, "one", number);
    }
    drain(&home);
    let counts = counts(&home);
    assert_eq!((counts.queue.done, counts.queue.dead), (6, 0), "{case}");
    assert_eq!((counts.prompts, counts.final_messages), (2, 2), "{case}");
    let calls = spend(&home);
    assert!((1..=6).contains(&calls.len()), "{case}: {} calls", calls.len());
    assert!(calls.iter().all(|row| row.outcome != "reserved"), "{case}");
    for made in observations(&home) {
        assert_eq!(made.made_by, "local", "{case}: {}", made.text.title);
    }
    let log = home.mem(&["worker", "logs"]).ok().stdout;
    assert!(log.contains("episode compressed without the model why="), "{case}: {log}");
    assert!(!log.contains("Sure!") && !log.contains("I cannot"), "{case}: {log}");
    home.assert_no_processes();
}

#[test]
fn recovered_model_is_called_again() {
    let script = ModelScript::new()
        .turn(ModelTurn::error(500))
        .turn(ModelTurn::text(ANSWER))
        .fallback(ModelTurn::text("<skip/>"));
    let model = ScriptedModel::start(script);
    let home = sandbox_with_provider("openai", &format!("{}/v1", model.url()));
    turn(&home, "one", 1);
    drain(&home);
    assert_eq!(observations(&home)[0].made_by, "m-1");
    assert_eq!(spend(&home).len(), 2);
}

#[test]
fn api_key_is_never_shown() {
    let model = ScriptedModel::start(ModelScript::new().fallback(ModelTurn::error(401)));
    let home = sandbox_with_provider("openai", &format!("{}/v1", model.url()));
    let file = home.write(home.home().join("key"), "sk-canary-4711\n");
    configure(&home, &json!({ "api_key_file": file }));
    home.mem(&["worker", "start"]).ok();
    turn(&home, "one", 1);
    drain(&home);
    let status = home.mem(&["status"]).ok().stdout;
    assert!(status.contains("credentials"), "{status}");
    assert!(!status.contains("canary"), "{status}");
    assert!(!home.mem(&["worker", "logs"]).ok().stdout.contains("canary"));
    home.mem(&["worker", "stop"]).ok();
    assert_eq!(crate::common::hooks::files_containing(&home, "sk-canary"), [] as [&str; 0]);
    let sent = model.requests()[0].header("authorization").unwrap_or_default().to_owned();
    assert_eq!(sent, "Bearer sk-canary-4711");
}
