//! The shapes of `--json`, as docs/json.md describes them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::{sandbox, turns};

const DOCUMENT: &str = include_str!("../../../../docs/json.md");

/// Below this heading are the commands that cannot be run in a sandbox without more.
const NOT_RUN: &str = "## Not run by the test";

/// One row of the table: the command, which part of its output, and the fields of that part.
fn documented_shapes() -> Vec<(&'static str, &'static str, BTreeSet<&'static str>)> {
    let (run, _) = DOCUMENT.split_once(NOT_RUN).expect("the heading");
    let rows = run.lines().filter(|line| line.starts_with("| `"));
    let shape = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [command, part, fields] = cells[..] else { panic!("not three cells: {line}") };
        let fields = fields.split(", ").map(|field| field.trim_matches('`')).collect();
        (command.trim_matches('`'), part.trim_matches('`'), fields)
    };
    rows.map(shape).collect()
}

const ANSWER: &str = "Understood.\n\nNext step: document the deployment window in docs/deploy.md.";

fn field_names(value: &Value) -> Option<BTreeSet<&str>> {
    Some(value.as_object()?.keys().map(String::as_str).collect())
}

#[test]
fn commands_print_the_documented_fields() {
    let home = sandbox();
    let rule = "From now on, never deploy the billing service between 1 and 3 at night.";
    turns::hook(&home, "s1", "UserPromptSubmit", &json!({"prompt": rule, "prompt_id": "p1"}));
    turns::hook(&home, "s1", "Stop", &json!({"last_assistant_message": ANSWER, "prompt_id": "p1"}));
    turns::drain(&home);
    let folder: String = home.project().display().to_string();
    let folder = folder.replace(|c: char| !c.is_ascii_alphanumeric(), "-");
    let notes = format!(".claude/projects/{folder}/memory/MEMORY.md");
    home.write(home.home().join(notes), "# Memory\n\n- Billing runs on two machines.\n");
    home.write("lib/keep", "");
    let shapes = documented_shapes();
    assert!(shapes.len() >= 60, "the table was found");
    let mut wrong = Vec::new();
    let (mut last, mut printed) = ("", Value::Null);
    for (command, part, fields) in shapes {
        // Some commands change something, so each is run once for all its rows.
        if command != last {
            let mut args: Vec<&str> = command.split(' ').collect();
            args.push("--json");
            // `doctor` fails in an empty home, and prints its findings all the same.
            let output = home.mem(&args);
            printed =
                serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{command}: {e}: {output}"));
            last = command;
        }
        let shown = match part {
            "object" => field_names(&printed),
            "array" => field_names(&printed[0]),
            list => field_names(&printed[list][0]),
        };
        if shown.as_ref() != Some(&fields) {
            wrong.push(format!("{command}, {part}: documented {fields:?}, printed {printed:#}"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn show_prints_one_document_and_what_is_missing() {
    let home = sandbox();
    home.mem(&["save", "Deploys are done by Jonas"]).ok();
    let output = home.mem(&["show", "#1", "#99", "--json"]);
    let report: Value = serde_json::from_str(&output.stdout).expect("one JSON document");
    assert_eq!((output.code, &report["missing"]), (Some(1), &json!(["#99"])), "{output}");
    assert_eq!(report["rows"][0]["id"], "#1", "{output}");
    assert!(report["error"].as_str().is_some_and(|error| error.contains("#99")), "{output}");
    assert_eq!(output.stderr, "", "{output}");
    let text = home.mem(&["show", "#1", "#99"]);
    assert_eq!(text.code, Some(1), "{text}");
    assert!(text.stdout.contains("Deploys are done by Jonas") && text.stderr.contains("#99"), "{text}");
    // One existing id is an array of one row.
    let one = home.mem(&["show", "#1", "--json"]).ok().json();
    assert_eq!(one[0]["id"], "#1", "{one:#}");
    let none = home.mem(&["show", "#99", "--json"]);
    let report: Value = serde_json::from_str(&none.stdout).expect("one JSON document");
    assert_eq!((none.code, report["error"].is_string()), (Some(1), true), "{none}");
}

#[test]
fn filters_are_checked_in_an_empty_store() {
    let home = sandbox();
    for args in [
        &["search", "--type", "nonsense", "x"][..],
        &["recent", "--type", "nonsense"],
        &["search", "--since", "someday", "x"],
    ] {
        let output = home.mem(args);
        assert_eq!(output.code, Some(64), "{output}");
    }
    let close = home.mem(&["recent", "--type", "decison"]);
    assert!(close.stderr.contains("did you mean decision?"), "{close}");
    home.mem(&["recent", "--type", "decision"]).ok();
}

#[test]
fn backup_refuses_a_word_that_is_no_file() {
    let home = sandbox();
    home.mem(&["save", "Deploys are done by Jonas"]).ok();
    let refused = home.mem(&["backup", "list"]);
    assert_eq!(refused.code, Some(64), "{refused}");
    assert!(refused.stderr.contains("claude-mem backup --list"), "{refused}");
    assert!(!home.project().join("list").exists());
    home.mem(&["backup", "./list"]).ok();
    assert!(home.project().join("list").exists());
}
