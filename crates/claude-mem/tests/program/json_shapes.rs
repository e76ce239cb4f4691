//! The shapes of `--json`, as docs/json.md describes them.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use crate::common::{sandbox, turns};

const DOCUMENT: &str = include_str!("../../../../docs/json.md");

/// One row of the table: the command, which part of its output, and the fields of that part.
fn documented_shapes() -> Vec<(&'static str, &'static str, BTreeSet<&'static str>)> {
    let rows = DOCUMENT.lines().filter(|line| line.starts_with("| `"));
    let shape = |line: &'static str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        let [command, part, fields] = cells[..] else { panic!("not three cells: {line}") };
        let fields = fields.split(", ").map(|field| field.trim_matches('`')).collect();
        (command.trim_matches('`'), part.trim_matches('`'), fields)
    };
    rows.map(shape).collect()
}

fn field_names(value: &Value) -> Option<BTreeSet<&str>> {
    Some(value.as_object()?.keys().map(String::as_str).collect())
}

#[test]
fn commands_print_the_documented_fields() {
    let home = sandbox();
    let rule = "From now on, never deploy the billing service between 1 and 3 at night.";
    turns::hook(&home, "s1", "UserPromptSubmit", &json!({"prompt": rule, "prompt_id": "p1"}));
    turns::hook(&home, "s1", "Stop", &json!({"last_assistant_message": "Understood.", "prompt_id": "p1"}));
    turns::drain(&home);
    let shapes = documented_shapes();
    assert!(shapes.len() >= 28, "the table was found");
    for (command, part, fields) in shapes {
        let mut args: Vec<&str> = command.split(' ').collect();
        args.push("--json");
        // `doctor` fails in an empty home, and prints its findings all the same.
        let output = home.mem(&args);
        let printed: Value =
            serde_json::from_str(&output.stdout).unwrap_or_else(|e| panic!("{command}: {e}: {output}"));
        let shown = match part {
            "object" => field_names(&printed),
            "array" => field_names(&printed[0]),
            list => field_names(&printed[list][0]),
        };
        assert_eq!(shown.as_ref(), Some(&fields), "{command}, {part}: {output}");
    }
}
