//! Memories that a model makes, through the whole worker: what it is asked, what it costs, and
//! what happens when it cannot be had.

use rig::fake_claude::{FakeClaude, Step};
use rig::model::{Fault, Gate, Script, ScriptedModel, Stop, Turn, Usage};
use serde_json::Value;

use crate::common::turns::{asking, counts, drain, observations, spend, turn};

const ANSWER: &str = "<observation><type>decision</type><title>Prices are kept in cents</title>\
    <narrative>Floating point loses money.</narrative></observation>\
    <summary><request>Fix the prices</request><completed>They are integers</completed></summary>";

fn bill(input: u64, output: u64) -> Usage {
    Usage {
        input,
        output,
        cache_read: 0,
        cache_write: 0,
    }
}

fn status(home: &rig::Sandbox) -> Value {
    home.mem(&["status", "--json"]).ok().json()
}

#[test]
fn a_model_makes_the_memory_and_status_tells_its_price() {
    let answer = Turn::text(ANSWER).usage(bill(1_500, 100));
    let model = ScriptedModel::start(Script::new().turn(answer).otherwise(Turn::error(500)));
    let home = asking("openai", &format!("{}/v1", model.url()));
    turn(&home, "one", 1);
    drain(&home);
    let made = observations(&home);
    assert_eq!(made.len(), 1);
    assert_eq!(made[0].title, "Prices are kept in cents");
    assert_eq!(made[0].made_by, "m-1");
    assert_eq!(made[0].files_modified, ["src/a.rs"], "from the real tool");
    let status = status(&home);
    assert_eq!(status["spend"]["today"]["tokens"], 1_600);
    assert_eq!(status["spend"]["today"]["calls"], 1);
    assert_eq!(status["provider"], "openai");
    // Nothing is amiss but that no client was told of us here.
    let problems = status["problems"].as_array().expect("problems");
    assert_eq!(problems.len(), 1, "{status:#}");
    assert_eq!(problems[0]["fix"], "claude-mem install");
    assert!(model.messages()[0].says("Ask 1"));
}

#[test]
fn the_users_own_claude_makes_the_memory_and_leaves_no_process() {
    let home = asking("claude", "");
    let fake = FakeClaude::put_in(&home.home().join(".local/bin"), [Step::answer(ANSWER)]);
    turn(&home, "one", 1);
    drain(&home);
    assert_eq!(observations(&home)[0].title, "Prices are kept in cents");
    assert_eq!(fake.messages().len(), 1);
    assert_eq!(status(&home)["spend"]["today"]["tokens"], 110);
    home.assert_alone();
}

#[test]
fn a_claude_that_is_not_there_is_said_and_the_distiller_does_its_work() {
    let home = asking("claude", "");
    home.mem(&["worker", "start"]).ok();
    turn(&home, "one", 1);
    drain(&home);
    let counts = counts(&home);
    assert_eq!((counts.summaries, counts.queue.done), (1, 3));
    let status = status(&home);
    let problem = &status["problems"][0]["what"];
    assert_eq!(
        problem.as_str().unwrap_or_default(),
        "the worker: memories are made without a model: the model cannot be used as it is set up: \
         claude was not found",
        "{status:#}"
    );
    assert_eq!(status["spend"]["in_all"]["calls"], 0);
}

#[test]
fn no_model_is_asked_that_nobody_asked_for() {
    let model = ScriptedModel::start(Script::new().otherwise(Turn::text(ANSWER)));
    for provider in ["auto", "local"] {
        let home = asking(provider, &format!("{}/v1", model.url())).with_model(&model);
        let fake = FakeClaude::put_in(&home.home().join(".local/bin"), []);
        turn(&home, "one", 1);
        drain(&home);
        assert_eq!(counts(&home).summaries, 1, "{provider}");
        assert_eq!((fake.heard().len(), model.requests().len()), (0, 0));
    }
}

#[test]
fn ten_times_the_budget_of_work_costs_the_budget_and_at_most_one_call_more() {
    let call = 6_100;
    let answer = Turn::text("<skip/>").usage(bill(call - 100, 100));
    let model = ScriptedModel::start(Script::new().otherwise(answer));
    let mut home = asking("openai", &format!("{}/v1", model.url()));
    home.set_env("CLAUDE_MEM_BUDGET_TOKENS_PER_DAY", "30000");
    home.set_env("CLAUDE_MEM_BUDGET_TOKENS_PER_SESSION", "14000");
    home.set_env("CLAUDE_MEM_PARALLEL_SESSIONS", "8");
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
    let total = |rows: &mut dyn Iterator<Item = &claude_mem::store::SpendRow>| {
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

/// Every way in which a model goes wrong, each on a machine of its own, side by side: most of the
/// time is spent waiting to ask again.
#[test]
fn whatever_the_model_does_every_event_is_stored_and_every_call_accounted_for() {
    let prose = "Sure! I have saved the observations about the prices for you.";
    let cases: Vec<(&str, Turn)> = vec![
        ("401", Turn::error(401)),
        ("404", Turn::error(404)),
        ("429", Turn::error(429)),
        (
            "429 for a second",
            Turn::error(429).header("retry-after", "1"),
        ),
        (
            "429 for a day",
            Turn::error(429).header("retry-after", "86400"),
        ),
        ("500", Turn::error(500)),
        ("529 for ever", Turn::error(529).header("retry-after", "x")),
        (
            "no answer",
            Turn::text(ANSWER).fault(Fault::Hold(Gate::shut())),
        ),
        (
            "half an answer",
            Turn::text(ANSWER).fault(Fault::StallAt(200, Gate::shut())),
        ),
        ("a cut", Turn::text(ANSWER).fault(Fault::CutAt(300))),
        ("a cut head", Turn::text(ANSWER).fault(Fault::CutAt(10))),
        (
            "a page",
            Turn::text(ANSWER).fault(Fault::ContentType("text/html".into())),
        ),
        ("an endless one", Turn::text(ANSWER).fault(Fault::Endless)),
        ("an empty one", Turn::text(ANSWER).fault(Fault::Empty)),
        (
            "not JSON",
            Turn::text(ANSWER).fault(Fault::Body("<html>".into())),
        ),
        ("no text", Turn::text("")),
        (
            "a refusal",
            Turn::text("I cannot help with that.").stop(Stop::Refusal),
        ),
        ("prose", Turn::text(prose)),
        ("an error as text", Turn::text("API Error: 529 overloaded")),
    ];
    std::thread::scope(|scope| {
        for (case, answer) in cases {
            scope.spawn(move || misbehaving(case, answer));
        }
    });
}

fn misbehaving(case: &str, answer: Turn) {
    let model = ScriptedModel::start(Script::new().otherwise(answer));
    let mut home = asking("openai", &format!("{}/v1", model.url()));
    home.set_env("CLAUDE_MEM_MODEL_SECONDS", "1");
    for number in 0..2 {
        turn(&home, "one", number);
    }
    drain(&home);
    let counts = counts(&home);
    assert_eq!((counts.queue.done, counts.queue.dead), (6, 0), "{case}");
    assert_eq!((counts.prompts, counts.final_messages), (2, 2), "{case}");
    let calls = spend(&home);
    assert!(
        (1..=6).contains(&calls.len()),
        "{case}: {} calls",
        calls.len()
    );
    assert!(calls.iter().all(|row| row.outcome != "reserved"), "{case}");
    for made in observations(&home) {
        assert_eq!(made.made_by, "local", "{case}: {}", made.title);
    }
    let log = home.mem(&["worker", "logs"]).ok().stdout;
    assert!(
        log.contains("an episode was left to the distiller why="),
        "{case}: {log}"
    );
    assert!(
        !log.contains("Sure!") && !log.contains("I cannot"),
        "{case}: {log}"
    );
    home.assert_alone();
}

#[test]
fn a_model_that_comes_back_is_asked_again() {
    let script = Script::new()
        .turn(Turn::error(500))
        .turn(Turn::text(ANSWER))
        .otherwise(Turn::text("<skip/>"));
    let model = ScriptedModel::start(script);
    let home = asking("openai", &format!("{}/v1", model.url()));
    turn(&home, "one", 1);
    drain(&home);
    assert_eq!(observations(&home)[0].made_by, "m-1");
    assert_eq!(spend(&home).len(), 2);
}

#[test]
fn a_key_is_never_shown() {
    let model = ScriptedModel::start(Script::new().otherwise(Turn::error(401)));
    let mut home = asking("openai", &format!("{}/v1", model.url()));
    home.set_env("CLAUDE_MEM_API_KEY", "sk-canary-4711");
    home.mem(&["worker", "start"]).ok();
    turn(&home, "one", 1);
    drain(&home);
    let status = home.mem(&["status"]).ok().stdout;
    assert!(status.contains("credentials"), "{status}");
    assert!(!status.contains("canary"), "{status}");
    assert!(!home.mem(&["worker", "logs"]).ok().stdout.contains("canary"));
    home.mem(&["worker", "stop"]).ok();
    assert_eq!(
        crate::common::hooks::places_of(&home, "sk-canary"),
        [] as [&str; 0]
    );
    let sent = model.requests()[0]
        .header("authorization")
        .unwrap_or_default()
        .to_owned();
    assert_eq!(sent, "Bearer sk-canary-4711");
}
