//! A secret in every field of everything that is read: hook payloads, transcripts, the earlier
//! program's database, model answers and commands. No file of the data directory may contain it.

#![allow(clippy::disallowed_methods, reason = "the tests build the other program's database")]

use std::fs;
use std::path::{Path, PathBuf};

use rig::Sandbox;
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use serde_json::{Value, json};

use crate::common::hooks::{bytes_on_disk, sandbox_with_real_clock};
use crate::common::turns;

/// A fake secret that is recognised without its surroundings.
const SECRET: &str = "ghp_9fQ2mVx7Lk4TzR1bYc8WnE5sJd3HaP6uGi0o";
/// Its middle in lower case: the full-text index folds case and shares prefixes between terms.
const CORE: &[u8] = b"lk4tzr1byc8wne5sjd3hap6u";

const FIXTURES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");

#[track_caller]
fn assert_absent(home: &Sandbox, what: &str) {
    let holds = |bytes: &[u8]| {
        let folded = bytes.to_ascii_lowercase();
        folded.windows(CORE.len()).any(|window| window == CORE)
    };
    let found: Vec<PathBuf> = bytes_on_disk(home)
        .into_iter()
        .filter(|(path, bytes)| holds(bytes) || holds(path.as_os_str().as_encoded_bytes()))
        .map(|(path, _)| path)
        .collect();
    assert_eq!(found, [] as [PathBuf; 0], "{what}");
}

/// Adds the secret to every string whose field is not in `spared`.
fn poison(value: &mut Value, name: &str, spared: &[&str]) {
    match value {
        Value::String(text) if !spared.contains(&name) => *text = format!("{text} {SECRET}"),
        Value::Array(list) => list.iter_mut().for_each(|entry| poison(entry, name, spared)),
        Value::Object(fields) => {
            fields.iter_mut().for_each(|(name, field)| poison(field, name, spared));
        }
        _ => {}
    }
}

fn sandbox() -> Sandbox {
    let mut home = sandbox_with_real_clock();
    home.set_env("CLAUDE_MEM_WORKER", "manual");
    home.set_env("CLAUDE_MEM_VECTORS", "off");
    home
}

/// Fields that decide how a record or payload is read.
const FORMAT: [&str; 10] = [
    "type",
    "role",
    "timestamp",
    "hook_event_name",
    "sessionId",
    "session_id",
    "transcript_path",
    "prompt_id",
    "cwd",
    "tool_name",
];

#[test]
fn hooks_write_no_secret_of_any_field() {
    let home = sandbox();
    let folder = Path::new(FIXTURES).join("claude-code-2.1.325/hooks");
    let mut names: Vec<String> = fs::read_dir(&folder)
        .expect("fixtures")
        .map(|entry| entry.expect("an entry").file_name().into_string().expect("UTF-8"))
        .collect();
    // A prompt opens the turn that the other events belong to; the end closes it.
    names.sort_by_key(|name| match name.split('.').next().unwrap_or_default() {
        "SessionStart" => 0,
        "UserPromptSubmit" => 1,
        "Stop" => 3,
        "SessionEnd" => 4,
        _ => 2,
    });
    let transcript = home.home().join("s1.jsonl");
    fs::write(&transcript, poisoned_transcript(&fixture_transcript("full"), &FORMAT)).expect("written");
    for name in &names {
        let text = fs::read_to_string(folder.join(name)).expect("a fixture");
        let recorded: Value = serde_json::from_str(&text).expect("JSON");
        let mut payload = recorded["stdin"].clone();
        let event = payload["hook_event_name"].as_str().expect("an event").to_owned();
        // With the secret in every field, nearly nothing is recognised; then what is read as before.
        let mut unreadable = payload.clone();
        poison(&mut unreadable, "", &["hook_event_name"]);
        home.hook(&event, unreadable.to_string()).ok();
        payload["session_id"] = json!("s1");
        payload["transcript_path"] = json!(transcript);
        payload["cwd"] = json!(home.project());
        poison(&mut payload, "", &FORMAT);
        home.hook(&event, payload.to_string()).ok();
        assert_absent(&home, name);
    }
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_absent(&home, "after the worker");
    let counts = turns::counts(&home);
    assert!(counts.sessions > 0 && counts.prompts > 0, "{counts:?}");
}

fn fixture_transcript(name: &str) -> String {
    let path = Path::new(FIXTURES).join("claude-code-2.1.325/transcripts").join(format!("{name}.jsonl"));
    fs::read_to_string(path).expect("a fixture")
}

fn poisoned_transcript(text: &str, spared: &[&str]) -> String {
    let poisoned = text.lines().map(|line| {
        let mut record: Value = serde_json::from_str(line).expect("JSON");
        poison(&mut record, "", spared);
        format!("{record}\n")
    });
    poisoned.collect()
}

#[test]
fn transcript_import_writes_no_secret_of_any_field() {
    let home = sandbox();
    let folder = home.home().join("projects");
    for (number, client) in
        ["claude-code-1.0.127", "claude-code-2.0.77", "claude-code-2.1.197", "claude-code-2.1.325"]
            .into_iter()
            .enumerate()
    {
        let from = Path::new(FIXTURES).join(client).join("transcripts");
        for entry in fs::read_dir(from).expect("fixtures") {
            let path = entry.expect("an entry").path();
            if path.extension().is_none_or(|extension| extension != "jsonl") {
                continue;
            }
            let text = fs::read_to_string(&path).expect("a fixture");
            // Once with a readable format, and once for each field of the format.
            for (round, broken) in [""].into_iter().chain(FORMAT).enumerate() {
                let spared: Vec<&str> = FORMAT.into_iter().filter(|name| *name != broken).collect();
                let stem = path.file_stem().expect("a name").to_string_lossy();
                let session = format!("{number}-{stem}-{round}");
                let own = |line: &str| {
                    let mut record: Value = serde_json::from_str(line).expect("JSON");
                    if record.get("sessionId").is_some() {
                        record["sessionId"] = json!(session);
                    }
                    // Records are known by these ids, and a second copy would be skipped.
                    for name in ["uuid", "parentUuid"] {
                        if let Some(id) = record.get(name).and_then(Value::as_str) {
                            record[name] = json!(format!("{id}-{session}"));
                        }
                    }
                    format!("{record}\n")
                };
                let text: String = text.lines().map(own).collect();
                let to = folder.join(client);
                fs::create_dir_all(&to).expect("made");
                let file = to.join(format!("{session}.jsonl"));
                fs::write(file, poisoned_transcript(&text, &spared)).expect("written");
            }
        }
    }
    let imported = home.mem(&["import", "transcripts", folder.to_str().expect("UTF-8")]);
    assert_absent(&home, &imported.to_string());
    let counts = turns::counts(&home);
    assert!(
        counts.sessions >= 8 && counts.prompts >= 8 && counts.final_messages > 0,
        "{counts:?}: {imported}"
    );
}

/// Tables of the earlier program with the text columns that the importer reads.
const EARLIER_TABLES: [(&str, &str); 6] = [
    (
        "sdk_sessions",
        "content_session_id memory_session_id project platform_source user_prompt custom_title title status",
    ),
    ("user_prompts", "content_session_id memory_session_id project prompt_text"),
    (
        "observations",
        "memory_session_id content_session_id project merged_into_project title subtitle facts concepts files_read \
         files_modified text narrative type generated_by_model agent_id agent_type",
    ),
    (
        "session_summaries",
        "memory_session_id content_session_id project files_read files_edited request investigated learned \
         completed next_steps notes",
    ),
    ("memories", "session_id project title subtitle facts concepts files_read text keywords files_touched"),
    ("overviews", "session_id project content"),
];

#[test]
fn import_of_an_earlier_database_writes_no_secret_of_any_column() {
    let home = sandbox();
    let path = home.home().join("theirs.db");
    let theirs = rusqlite::Connection::open(&path).expect("a database");
    for (table, columns) in EARLIER_TABLES {
        let columns: Vec<&str> = columns.split_whitespace().collect();
        let definition: Vec<String> = columns.iter().map(|column| format!("{column} TEXT")).collect();
        let definition = definition.join(", ");
        theirs
            .execute_batch(&format!(
                "CREATE TABLE {table} (id INTEGER PRIMARY KEY, session_db_id INTEGER, prompt_number INTEGER,
                 created_at_epoch INTEGER, started_at_epoch INTEGER, {definition})"
            ))
            .expect("a table");
        // Once with ids that connect the rows, and once with the secret in these as well.
        for (row, ids) in [(1, false), (2, true)] {
            let value = |column: &&str| match *column {
                "content_session_id" | "memory_session_id" | "session_id" if !ids => "'m1'".to_owned(),
                "type" if !ids => "'bugfix'".to_owned(),
                "facts" | "concepts" | "files_read" | "files_modified" | "files_edited" => {
                    format!("'[\"{column} {SECRET}\"]'")
                }
                column => format!("'{column} {SECRET}'"),
            };
            let values: Vec<String> = columns.iter().map(value).collect();
            let sql = format!(
                "INSERT INTO {table} VALUES ({row}, {row}, 1, {at}, {at}, {})",
                values.join(", "),
                at = 1_760_000_000_000_i64 + row
            );
            theirs.execute_batch(&sql).expect("a row");
        }
    }
    drop(theirs);
    let imported = home.mem(&["import", "claude-mem-db", path.to_str().expect("UTF-8")]);
    assert_absent(&home, &imported.to_string());
    let counts = turns::counts(&home);
    let stored = [counts.sessions, counts.prompts, counts.observations, counts.summaries];
    assert!(stored.iter().all(|rows| *rows > 0), "{counts:?}: {imported}");
}

#[test]
fn answers_of_a_model_write_no_secret() {
    let answer = format!(
        "<observation><type>bugfix</type><title>T {SECRET}</title><subtitle>S {SECRET}</subtitle>\
         <facts><fact>F {SECRET}</fact></facts><narrative>N {SECRET}</narrative>\
         <concepts><concept>how-it-works</concept><concept>{SECRET}</concept></concepts>\
         <files_read><file>src/{SECRET}.rs</file></files_read>\
         <files_modified><file>src/{SECRET}.rs</file></files_modified></observation>\
         <summary><request>R {SECRET}</request><investigated>I {SECRET}</investigated>\
         <learned>L {SECRET}</learned><completed>C {SECRET}</completed>\
         <next_steps>X {SECRET}</next_steps><notes>O {SECRET}</notes></summary>"
    );
    for turn in [ModelTurn::text(answer), ModelTurn::text(format!("I cannot do this: {SECRET}"))] {
        let model = ScriptedModel::start(ModelScript::new().fallback(turn));
        let mut home = turns::sandbox_with_provider("openai", &model.url());
        home.set_env("CLAUDE_MEM_WORKER", "manual");
        crate::common::configure(&home, &json!({"api_key": "sk-test", "model": format!("m-{SECRET}")}));
        // The settings file is the user's own; what the program writes is checked.
        turns::turn(&home, "s", 1);
        home.mem(&["worker", "run", "--until-drained"]);
        fs::remove_file(home.data_dir().join("settings.json")).expect("removed");
        assert!(!model.messages().is_empty(), "the model was asked");
        assert_absent(&home, "answers of a model");
    }
}

#[test]
fn commands_write_no_secret() {
    let home = sandbox();
    turns::turn(&home, "s", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    home.mem(&["save", "--title", "Cents", "Money is counted in cents."]).ok();
    let calls: [&[&str]; 8] = [
        &["save", "--title", SECRET, &format!("text {SECRET}")],
        &["search", SECRET],
        &["why", SECRET],
        &["timeline", SECRET],
        &["mark", "#1", "wrong"],
        &["forget", SECRET],
        &["context", "--prompt", SECRET],
        &["import", "json", SECRET],
    ];
    for call in calls {
        let output = home.mem(call);
        assert_absent(&home, &output.to_string());
    }
}
