//! `claude-mem redo --provider`: a model writes the memories of past sessions anew.

use rig::Sandbox;
use rig::model::{BilledUsage, ModelScript, ModelTurn, RequestMatcher, ScriptedModel};
use serde_json::{Value, json};

use crate::common::past::{exported_rows, timestamp};
use crate::common::turns::{observations, spend};
use crate::common::{configure, sandbox};

/// Turns of one transcript, each a call of the model.
const TURNS: usize = 10;

fn observation(title: &str, replaces: &str) -> ModelTurn {
    let text = format!(
        "<observation><type>decision</type><title>{title}</title><narrative>Said of {title}.</narrative>\
         <replaces>{replaces}</replaces></observation>\
         <summary><request>Set the limit</request><completed>The limit is set by the model</completed></summary>"
    );
    ModelTurn::text(text).usage(BilledUsage { input: 2_000, output: 100, cache_read: 0, cache_write: 0 })
}

fn skip() -> ModelTurn {
    ModelTurn::text("<skip/>").usage(BilledUsage { input: 2_000, output: 100, cache_read: 0, cache_write: 0 })
}

/// Keeps one observation of two turns of session 0, the second of which takes the first in.
fn script() -> ModelScript {
    let turn = |number: u32| RequestMatcher::any().last_user(format!("Turn {number} of session 0:"));
    ModelScript::new()
        .always(turn(3), observation("Limits are multiples of seven", ""))
        .always(turn(7), observation("Limits grow by seven a turn", "Limits are multiples of seven"))
        .fallback(skip())
}

/// What the sessions repair, one part a turn: the file, the commit and the agent's last message.
const REPAIRS: [(&str, &str, &str); TURNS] = [
    (
        "cart",
        "keep the cart of guests",
        "Root cause: guests lost their cart because login cleared the cookie.",
    ),
    (
        "invoice",
        "count money in cents",
        "Root cause: invoices were off by a penny because prices were floats.",
    ),
    ("search", "escape quotes in queries", "Root cause: a quotation mark broke the SQL of the search form."),
    (
        "mail",
        "retry bounced letters",
        "Root cause: newsletters vanished because the SMTP relay answers 451 at night.",
    ),
    (
        "stock",
        "lock rows while counting",
        "Root cause: two warehouses sold the last lamp since no row was locked.",
    ),
    (
        "menu",
        "load icons lazily",
        "Root cause: the menu froze phones because every icon was decoded at once.",
    ),
    (
        "upload",
        "raise the nginx limit",
        "Root cause: photos above one megabyte failed because nginx caps bodies.",
    ),
    (
        "clock",
        "store timestamps in UTC",
        "Root cause: reports skipped an hour because daylight saving shifted them.",
    ),
    (
        "coupon",
        "compare codes in lower case",
        "Root cause: vouchers were refused because their letters were uppercase.",
    ),
    (
        "cache",
        "hash keys with the tenant",
        "Root cause: tenants saw foreign pages because Redis keys had no prefix.",
    ),
];

/// A transcript in which each turn repairs another part of a shop and commits it.
fn transcript(session: usize) -> String {
    let mut text = String::new();
    let mut line = |second: usize, more: Value| {
        let at = 1_576_519_200 + (session * 5_000 + second) as i64;
        let mut line = json!({"sessionId": format!("s{session}"), "cwd": "/work/shop", "version": "2.1.325",
            "gitBranch": "main", "timestamp": timestamp(at), "uuid": format!("{session}-{second}")});
        line.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        text.push_str(&line.to_string());
        text.push('\n');
    };
    for (turn, (part, subject, said)) in REPAIRS.into_iter().enumerate() {
        let (at, call) = (turn * 100, |tool: &str| format!("{tool}{session}-{turn}"));
        let ask = |id: String, name: &str, input: Value| {
            json!({"type": "assistant", "message": {"id": format!("m-{id}"), "stop_reason": "tool_use",
                "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}})
        };
        let result = |id: String, output: String| {
            json!({"type": "user", "message": {"role": "user", "content": [{"type": "tool_result",
                "tool_use_id": id, "content": output}]}})
        };
        let prompt = format!("Turn {turn} of session {session}: repair the {part}");
        let subject = format!("fix({part}): {subject}");
        line(
            at,
            json!({"type": "user", "promptId": format!("p{turn}"), "message": {"role": "user", "content": prompt}}),
        );
        line(
            at + 1,
            ask(
                call("e"),
                "Edit",
                json!({"file_path": format!("/work/shop/src/{part}.rs"),
            "old_string": format!("fn {part}() {{}}"), "new_string": format!("fn {part}() {{ sum() }}")}),
            ),
        );
        line(at + 2, result(call("e"), "ok".to_owned()));
        line(at + 3, ask(call("c"), "Bash", json!({"command": format!("git commit -am '{subject}'")})));
        line(at + 4, result(call("c"), format!("[main abc{session}{turn:03}] {subject}\n 1 file changed")));
        line(
            at + 5,
            json!({"type": "assistant", "message": {"id": format!("s{turn}"), "stop_reason": "end_turn",
            "content": [{"type": "text", "text": said}]}}),
        );
    }
    text
}

/// A sandbox with imported past sessions and a model that they can be written with.
fn imported(sessions: usize, model: &ScriptedModel) -> Sandbox {
    let mut home = sandbox();
    for session in 0..sessions {
        let path = home.home().join(format!(".claude/projects/-work-shop/s{session}.jsonl"));
        home.write(path, transcript(session));
    }
    home.unset_env("CLAUDE_MEM_NOW");
    let base_url = format!("{}/v1", model.url());
    configure(&home, &json!({ "base_url": base_url, "model": "m-1", "vectors": false }));
    home.mem(&["import", "transcripts"]).ok();
    home
}

fn redo(home: &Sandbox, more: &[&str]) -> Value {
    let args = [&["redo", "--provider", "openai", "--json"], more].concat();
    home.mem(&args).ok().json()
}

#[test]
fn model_writes_past_sessions_anew_and_undo_restores_them() {
    let model = ScriptedModel::start(script());
    let home = imported(2, &model);
    let before = exported_rows(&home);
    let numbers: Vec<_> = observations(&home).iter().map(|row| row.id).collect();
    assert!(numbers.len() > 2, "{before:#?}");

    let preview = redo(&home, &["--dry-run"]);
    let calls: Vec<_> =
        preview["sessions"].as_array().expect("sessions").iter().map(|s| &s["calls"]).collect();
    assert_eq!(calls, [TURNS, TURNS], "{preview:#}");
    assert!(preview["tokens"].as_u64() > Some(20_000), "{preview:#}");
    assert_eq!((&preview["days"], &preview["budget_tokens_per_session"]), (&json!(1), &json!(200_000)));
    let asked = home.mem(&["redo", "--provider", "openai"]).ok();
    assert!(asked.stdout.contains("nothing was changed; `--yes` spends these tokens"), "{asked}");
    assert_eq!((model.requests().len(), exported_rows(&home)), (0, before.clone()));

    let done = redo(&home, &["--yes"]);
    assert_eq!((&done["sessions"], &done["sessions_left"]), (&json!(2), &json!(0)), "{done:#}");
    assert_eq!(model.messages().len(), 2 * TURNS);
    let made = observations(&home);
    let titles: Vec<_> = made.iter().map(|row| (row.text.title.as_str(), row.made_by.as_str())).collect();
    assert_eq!(titles, [("Limits grow by seven a turn", "m-1")]);
    assert_eq!(made[0].prompt_number, 8, "the turn that it was last said in");
    assert_eq!(spend(&home).len(), 2 * TURNS);
    let rows = exported_rows(&home);
    let told = rows.iter().filter(|row| row.contains("The limit is set by the model")).count();
    assert_eq!(told, 2, "the summaries of two turns: {rows:#?}");
    for number in numbers {
        let shown = home.mem(&["show", &number.to_string()]);
        assert!(shown.to_string().contains("withdrawn"), "{number}: {shown}");
    }

    let again = redo(&home, &["--yes"]);
    assert_eq!(again["sessions"], json!([]), "{again:#}");
    assert_eq!(again["report"]["kinds"][0][1]["skipped"]["written_by_model"], 2, "{again:#}");
    assert_eq!(model.messages().len(), 2 * TURNS);

    let run = done["report"]["run"].to_string();
    home.mem(&["import", "undo", &run]).ok();
    assert_eq!(exported_rows(&home), before);
}

#[test]
fn budget_of_the_day_stops_the_run_and_the_next_one_goes_on() {
    let model = ScriptedModel::start(script());
    let home = imported(2, &model);
    let cost = redo(&home, &["--dry-run"])["sessions"][0].clone();
    let cost = cost["input_tokens"].as_u64().unwrap_or(0) + cost["output_tokens"].as_u64().unwrap_or(0);
    // Enough for the first session, and after its cost no more for the second.
    configure(&home, &json!({ "budget_tokens_per_day": cost + 10_000 }));
    let first = redo(&home, &["--yes"]);
    assert_eq!((&first["sessions"], &first["sessions_left"]), (&json!(1), &json!(1)), "{first:#}");
    assert_eq!(first["stopped"], "the token budget of the day is used up");
    assert_eq!(model.messages().len(), TURNS);

    configure(&home, &json!({ "budget_tokens_per_day": 1_000_000 }));
    let second = redo(&home, &["--yes"]);
    assert_eq!((&second["sessions"], &second["sessions_left"]), (&json!(1), &json!(0)), "{second:#}");
    assert_eq!(second["report"]["run"], first["report"]["run"], "it is one run");
    assert_eq!(model.messages().len(), 2 * TURNS, "no session is paid for twice");
}

#[test]
fn session_budget_leaves_later_turns_local() {
    let model = ScriptedModel::start(script());
    let home = imported(1, &model);
    configure(&home, &json!({ "budget_tokens_per_session": 14_000 }));
    let preview = redo(&home, &["--dry-run"]);
    assert_eq!(preview["sessions"][0]["is_over_budget"], true, "{preview:#}");
    let done = redo(&home, &["--yes"]);
    assert_eq!(done["sessions"], 1, "{done:#}");
    let calls = model.messages().len();
    assert!((1..TURNS).contains(&calls), "{calls}");
    let made = observations(&home);
    assert!(made.iter().any(|row| row.made_by == "m-1"), "{made:#?}");
    assert!(made.iter().any(|row| row.made_by == "local"), "{made:#?}");
    assert!(spend(&home).iter().map(|row| row.input_tokens + row.output_tokens).sum::<u64>() <= 14_000);
}

#[test]
fn failing_provider_leaves_unwritten_sessions_as_they_are() {
    let refused = RequestMatcher::any().last_user("of session 1:");
    let model = ScriptedModel::start(script().always(refused, ModelTurn::error(401)));
    let home = imported(2, &model);
    let rows = |home: &Sandbox| -> Vec<String> {
        exported_rows(home).into_iter().filter(|row| row.contains("session 1")).collect()
    };
    let before = rows(&home);
    let failed = home.mem(&["redo", "--provider", "openai", "--yes"]);
    assert_eq!(failed.code, Some(1), "{failed}");
    assert!(failed.stderr.contains("1 session left: run the same command again"), "{failed}");
    assert_eq!(rows(&home), before);
    let made = observations(&home);
    assert_eq!(made.iter().filter(|row| row.made_by == "m-1").count(), 1);
    assert!(made.iter().any(|row| row.made_by == "local"), "those of the other session: {made:#?}");
    assert_eq!(
        home.mem(&["status", "--json"]).ok().json()["trouble"],
        Value::Null,
        "it is not the worker's model"
    );

    model.rescript(script());
    let second = redo(&home, &["--yes"]);
    assert_eq!(second["sessions"], 1, "{second:#}");
}

#[test]
fn what_a_person_touched_or_forgot_is_respected() {
    let model = ScriptedModel::start(script());
    let home = imported(1, &model);
    let rows = observations(&home);
    let [forgotten, pinned, edited] = &rows[..3] else { panic!("{rows:#?}") };
    home.mem(&["edit", &edited.id.to_string(), "--title", "What I say of it"]).ok();
    home.mem(&["pin", &pinned.id.to_string()]).ok();
    home.mem(&["forget", &forgotten.id.to_string()]).ok();
    redo(&home, &["--yes"]);
    let after = observations(&home);
    let find = |id| after.iter().find(|row| row.id == id);
    assert_eq!(find(edited.id).map(|row| row.text.title.as_str()), Some("What I say of it"));
    assert!(find(pinned.id).is_some_and(|row| row.pinned), "{after:#?}");
    assert!(after.iter().all(|row| row.text.title != forgotten.text.title), "{after:#?}");
    let turn = format!("Turn {} of session 0:", forgotten.prompt_number - 1);
    let asked = model.messages().iter().filter(|request| request.contains_text(&turn)).count();
    assert_eq!(asked, 0, "a forgotten turn is not sent");
    assert_eq!(model.messages().len(), TURNS - 1);
}

#[test]
fn provider_without_a_model_is_refused() {
    let home = sandbox();
    for (args, want) in [
        (&["redo", "--provider", "local"][..], "one of claude, anthropic, openai, gemini"),
        (&["redo"], "--local makes memories without a model, --provider NAME with one"),
        (&["redo", "--local", "--provider", "openai"], "cannot be used with"),
    ] {
        let refused = home.mem(args);
        assert_eq!(refused.code, Some(64), "{refused}");
        assert!(refused.stderr.contains(want), "{refused}");
    }
}
