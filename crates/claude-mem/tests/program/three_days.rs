//! Three days of work with the real client on one project, and every text that memory injected.
//!
//! The client runs at a terminal, so that a call is really rejected with words, a question is really answered,
//! a plan is approved, and `/compact` and `/clear` are typed. The clock is the real one: a "day" ends when the
//! client exits and the queue is drained. Dates and token counts are left out of what is compared.

use std::time::{Duration, Instant};

use rig::Sandbox;
use rig::client::CURRENT;
use rig::model::{ModelScript, ModelTurn, RequestMatcher, ScriptedModel, TestGate};
use rig::tui::TuiSession;
use serde_json::{Value, json};

use crate::client::machine;

const UP_TO: Duration = Duration::from_secs(90);
const LOST_AFTER: Duration = Duration::from_secs(10);
const DOWN: &str = "\x1b[B";
const SUBAGENT_PROMPT: &str = "Find the callers of export_day";

struct Office {
    home: Sandbox,
    model: ScriptedModel,
    seen: usize,
    /// Opened to let the subagent answer.
    subagent: TestGate,
}

impl Office {
    fn open() -> Option<Self> {
        let subagent = TestGate::shut();
        let model = ScriptedModel::start(
            ModelScript::session()
                .rule(
                    RequestMatcher::any().last_user(SUBAGENT_PROMPT),
                    [ModelTurn::text("export_day is called in src/nightly.py and in src/manual.py.")
                        .after(&subagent)],
                )
                .rule(
                    RequestMatcher::any().last_user("task-notification"),
                    [ModelTurn::text("The subagent found two callers: src/nightly.py and src/manual.py.")],
                )
                .always(
                    RequestMatcher::any().last_user("Your task is to create a detailed summary"),
                    ModelTurn::text(
                        "<summary>\n1. Primary Request and Intent:\n   The nightly export is made robust.\n\n\
                         2. Pending Tasks:\n   - Test the retry with a dropped connection\n</summary>",
                    ),
                ),
        );
        let home = machine(CURRENT, &model, "manual")?;
        home.mem(&["install", "--json"]).ok();
        let source = "HOST = 'db-prod'\nFORMAT = 'parquet'\n\n".to_owned() + &"# filler\n".repeat(80);
        home.write("src/export.py", source);
        Some(Self { home, model, seen: 0, subagent })
    }

    fn terminal(&self, args: &[&str]) -> Option<TuiSession> {
        let mut all = vec!["--allowedTools", "Read Edit Write Agent Task", "--permission-mode"];
        all.extend(args);
        match TuiSession::start(&self.home, &all) {
            Ok(mut tui) => {
                tui.wait_for("Claude Code");
                Some(tui)
            }
            Err(missing) => {
                rig::skip(missing);
                None
            }
        }
    }

    fn script(&self, turns: impl IntoIterator<Item = ModelTurn>) {
        turns.into_iter().for_each(|turn| self.model.push(turn));
    }

    fn edit(&self, from: &str, to: &str) -> ModelTurn {
        let file = self.home.project().join("src/export.py");
        ModelTurn::call("Edit", json!({ "file_path": file, "old_string": from, "new_string": to }))
    }

    fn read(&self) -> ModelTurn {
        ModelTurn::call("Read", json!({ "file_path": self.home.project().join("src/export.py") }))
    }

    /// Waits until so many turns have ended: the screen shows text while hooks still run.
    #[track_caller]
    fn wait_for_stops(&self, times: usize) {
        let began = Instant::now();
        loop {
            let list = self.home.mem(&["queue", "list", "--json"]).ok().json();
            let rows = list["items"].as_array().cloned().unwrap_or_default();
            let found = rows.iter().filter(|row| row["kind"] == "stop").count();
            if found >= times {
                return;
            }
            assert!(began.elapsed() < UP_TO, "{found} of {times} turns have ended: {list:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// What the worker does within seconds.
    #[track_caller]
    fn drain(&self) {
        self.home.mem(&["worker", "run", "--until-drained"]).ok();
    }

    /// The day is over: the client has exited, and everything is stored.
    #[track_caller]
    fn close(&self, mut tui: TuiSession) {
        tui.submit("/exit");
        let output = tui.wait_for_exit();
        assert!(!output.timed_out, "{output}");
        self.drain();
    }

    /// What was injected since the last call, each text once, in order.
    fn injected(&mut self) -> String {
        let requests = self.model.messages();
        let mut texts: Vec<String> = Vec::new();
        for request in &requests[self.seen..] {
            collect(&request.body, &mut texts);
        }
        self.seen = requests.len();
        texts.iter().map(|text| tidy(&self.home.tidy(text))).collect::<Vec<_>>().join("\n---\n")
    }
}

/// Presses keys until the screen is as wanted, each time after the one before has moved the mark of the dialog. A client
/// under load answers late, and a key that is pressed twice moves it on; so keys are taken as lost, which happens to a
/// dialog that has just appeared, only after a long time without any effect.
#[track_caller]
fn press_until(tui: &mut TuiSession, keys: &str, is_done: impl Fn(&str) -> bool) {
    let began = Instant::now();
    loop {
        let before = tui.screen();
        if is_done(&before) {
            return;
        }
        assert!(began.elapsed() < UP_TO, "{keys:?} has no effect on:\n{before}");
        tui.press(keys);
        let pressed = Instant::now();
        let has_effect = |screen: &str| is_done(screen) || marked_line(screen) != marked_line(&before);
        while !has_effect(&tui.screen()) && pressed.elapsed() < LOST_AFTER {
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

/// The line that the client marks as selected, or the last prompt sign.
fn marked_line(screen: &str) -> Option<&str> {
    screen.lines().rfind(|line| line.contains('❯'))
}

fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => {
            let mut rest = text.as_str();
            while let Some(at) = rest.find("<claude-mem-context>") {
                let Some(end) = rest[at..].find("</claude-mem-context>") else { return };
                let one = rest[at..at + end].trim_start_matches("<claude-mem-context>").trim().to_owned();
                if !texts.contains(&one) {
                    texts.push(one);
                }
                rest = &rest[at + end..];
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(fields) => fields.values().for_each(|field| collect(field, texts)),
        _ => {}
    }
}

/// Without dates, times and token counts.
fn tidy(text: &str) -> String {
    let is_date = |line: &str| line.len() == 10 && line.starts_with("20") && line.contains('-');
    let lines = text.lines().filter(|line| !is_date(line));
    let mut out = String::new();
    for line in lines {
        let words = line.split(' ').filter(|word| {
            let word = word.trim_matches(['(', ')', ',']);
            let is_time = word.len() == 5 && word.as_bytes()[2] == b':';
            !is_date(word) && !is_time && !word.starts_with('~')
        });
        out.push_str(words.collect::<Vec<_>>().join(" ").trim_end());
        out.push('\n');
    }
    out.trim_end().to_owned()
}

const FORMAT_QUESTION: &str = r#"{"questions": [{"question": "Which format should the export have?", "header": "Format",
    "multiSelect": false, "options": [{"label": "Parquet", "description": "columnar files"},
    {"label": "CSV", "description": "plain text that finance can open"}]}]}"#;
const PLAN: &str = "# Retry the nightly export\n\n## Context\nThe export in src/export.py stops at the first dropped \
                    connection.\n\n1. Retry three times\n2. Log each attempt";

/// A rejected call with words that state a rule, and an answered question.
fn first_day(office: &Office, tui: &mut TuiSession) {
    office.script([
        ModelTurn::call("Bash", json!({"command": "psql -h db-prod -c 'select 1'", "description": "Ask"})),
        office.read(),
        office.edit("HOST = 'db-prod'", "HOST = 'db-replica'"),
        ModelTurn::text("I set HOST to db-replica in src/export.py, because production must not be queried."),
    ]);
    tui.submit("The export in src/export.py is slow, find out why");
    tui.wait_for("Do you want to proceed?");
    press_until(tui, DOWN, |screen| screen.contains("❯ 4. No"));
    press_until(tui, "\t", |screen| screen.contains("and tell Claude"));
    tui.press("Never query the production database, always use the host db-replica");
    tui.wait_for("always use the host db-replica");
    press_until(tui, "\r", |screen| !screen.contains("Do you want to proceed?"));
    tui.wait_for("because production must not be queried.");
    office.wait_for_stops(1);

    office.script([
        ModelTurn::call("AskUserQuestion", serde_json::from_str(FORMAT_QUESTION).expect("JSON")),
        office.edit("FORMAT = 'parquet'", "FORMAT = 'csv'"),
        ModelTurn::text("The export in src/export.py writes CSV now."),
    ]);
    tui.submit("Choose the format of the export with me");
    tui.wait_for("Enter to select");
    press_until(tui, DOWN, |screen| screen.contains("❯ 2. CSV"));
    press_until(tui, "\r", |screen| !screen.contains("Enter to select"));
    tui.wait_for("writes CSV now.");
    office.wait_for_stops(2);
}

/// An approved plan, a subagent in the background and a compaction.
fn second_day(office: &Office, tui: &mut TuiSession) {
    office.script([
        ModelTurn::call("ExitPlanMode", json!({ "plan": PLAN })),
        office.read(),
        office.edit("FORMAT = 'csv'", "FORMAT = 'csv'\nRETRIES = 3"),
        ModelTurn::text(
            "The export retries three times now, because connections to db-replica drop at night.",
        ),
    ]);
    tui.submit("Plan a retry for the export");
    tui.wait_for("Exit plan mode?");
    press_until(tui, "\r", |screen| !screen.contains("Exit plan mode?"));
    tui.wait_for("drop at night.");
    office.wait_for_stops(3);

    office.script([
        ModelTurn::call(
            "Agent",
            json!({"description": "Find callers", "prompt": SUBAGENT_PROMPT, "subagent_type": "general-purpose",
                   "run_in_background": true}),
        ),
        ModelTurn::text("The subagent is under way."),
    ]);
    tui.submit("Let a subagent look for the callers of export_day");
    tui.wait_for("The subagent is under way.");
    office.wait_for_stops(4);
    office.subagent.open();
    tui.wait_for("found two callers");
    office.wait_for_stops(5);

    tui.submit("/compact");
    tui.wait_for("Compacted");
    office.script([ModelTurn::text("A test with a dropped connection is left.")]);
    tui.submit("What is left to do for the export?");
    tui.wait_for("dropped connection is left.");
    office.wait_for_stops(6);
}

/// The session of the second day is resumed, the rule changes, and `/clear` begins another session.
fn third_day(office: &Office, tui: &mut TuiSession) {
    office.script([
        office.read(),
        office.edit("HOST = 'db-replica'", "HOST = 'db-replica-2'"),
        ModelTurn::text("HOST in src/export.py is db-replica-2 now."),
    ]);
    tui.submit("From now on always use the host db-replica-2 for the export, never db-replica");
    tui.wait_for("is db-replica-2 now.");
    office.wait_for_stops(7);
    office.drain();
    tui.submit("/clear");
    // What is typed while the screen is being cleared is lost.
    press_until(tui, "", |screen| !screen.contains("is db-replica-2 now."));
    office.script([ModelTurn::text("It must use the second replica.")]);
    tui.submit("Which host must the export use?");
    tui.wait_for("It must use the second replica.");
    office.wait_for_stops(8);
}

/// Accept a changed text with `INSTA_UPDATE=always`, after reading it as the agent would.
#[test]
fn three_days_of_work_are_told() {
    let Some(mut office) = Office::open() else { return };
    let mut told = String::new();
    for (name, args, work) in [
        ("The first day", &["default"][..], first_day as fn(&Office, &mut TuiSession)),
        ("The second day", &["plan"], second_day),
        ("The third day", &["default", "--continue"], third_day),
    ] {
        let Some(mut tui) = office.terminal(args) else { return };
        work(&office, &mut tui);
        office.close(tui);
        told.push_str(&format!("===== {name}\n{}\n", office.injected()));
    }
    office.script([ModelTurn::text("Done.")]);
    office.home.prompt("deploy the export").ok();
    told.push_str(&format!("===== Afterwards\n{}\n", office.injected()));
    insta::assert_snapshot!(told);
}
