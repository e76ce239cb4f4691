//! Texts are bound through `columns.rs`, which redacts them: a rule about the sources of the whole crate.

use std::fs;
use std::path::{Path, PathBuf};

/// What makes a safe column of a value.
const COLUMN_FUNCTIONS: [&str; 4] = ["_column", ".sql()", "JsonList(", "as_str"];

/// Numbers and flags, by the last name of the expression.
#[rustfmt::skip]
const NUMBERS: &[&str] = &[
    "read_tokens", "import_run", "kind", "row_id", "discovery_tokens", "pinned", "wrong", "priority", "score", "rank",
    "tokens", "id", "attempts", "crashes", "lease", "prompt_number", "number", "private", "rows_max", "by_model", "edited",
    "run", "input", "output", "estimated", "gone", "rev", "mark", "digest", "live", "own", "observation", "account",
    "changed", "history", "change", "high", "low", "window", "unequal", "held_back", "offset_bytes", "transcript_closed",
    "prompt_counter", "by_hand", "modified", "keep", "max", "limit", "project", "at", "parts", "bits",
    "opened_at", "closed_at", "session",
];

/// Words of this program and calls that give numbers or hashes, and what was read from the store, which is redacted.
#[rustfmt::skip]
const OTHERS: &[(&str, &str)] = &[
    // Short fields are redacted by `event_fields`, long ones by hook and reader: `abuse/canary_walk` holds this.
    ("accept.rs", "body"),
    ("accept.rs", "event.body.kind_name()"),
    ("consolidated_rows.rs", "content_hash(session, &new.title, &new.narrative)"),
    // Rows of the store on their way to the trash and back.
    ("forget.rs", "serde_json::to_string(&body)?"),
    ("forget.rs", "key"),
    ("forgotten_sources.rs", "key"),
    ("forgotten_sources.rs", "claim"),
    ("forgotten_sources.rs", "item.uid"),
    ("forgotten_sources.rs", "item.branch"),
    ("forgotten_sources.rs", "item.claim"),
    ("forgotten_sources.rs", "item.text"),
    ("forgotten_sources.rs", "item.closed_by"),
    ("forgotten_sources.rs", "item.reason"),
    ("forgotten_sources.rs", "row.kind == RowKind::Observation"),
    ("session_snapshot.rs", "serde_json::to_string(&snapshot)?"),
    ("leases.rs", "state"),
    ("observations.rs", "hash"),
    ("observations.rs", "content_hash(old.session, title, narrative)"),
    ("observations.rs", "edit.changes_text(&old)"),
    ("review.rs", "other.map_or(0, |other| other.0)"),
    ("salvage.rs", "self.tx.last_insert_rowid()"),
    ("salvage.rs", "ATTEMPTS_MAX"),
    ("sessions.rs", "completed"),
    ("projects.rs", "format!(\"{NAME_KEY}*\")"),
    // A day and words of this program.
    ("spend.rs", "day"),
    ("spend.rs", "outcome"),
    ("successors.rs", "RowKind::Observation"),
    ("successors.rs", "reason"),
    // Hashes, and names that the team's server makes.
    ("team/shared_rows.rs", "new.hash"),
    ("team/shared_rows.rs", "new.local_hash"),
    ("team/shared_rows.rs", "new.why"),
    ("team/spaces.rs", "new.generation"),
    ("team/spaces.rs", "generation"),
    // Records of other members are redacted by `sharing` when they arrive.
    ("team/team_rows.rs", "TEAM_CLIENT"),
    ("team/team_rows.rs", "client_session"),
    ("team/team_rows.rs", "content_hash(place.session, &record.title, &record.narrative)"),
    ("transfer/import.rs", "origin_or_import(record.origin)"),
    ("transfer/import.rs", "crate::prompts::first_line(&record.text)"),
    ("transfer/import.rs", "hash"),
    ("transfer/import.rs", "read_tokens(record)"),
    ("vectors.rs", "kind_code(kind)"),
    ("vectors.rs", "row.text_hash"),
    ("vectors.rs", "self.model"),
    ("vectors.rs", "model"),
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs")
            && !path.to_string_lossy().ends_with("tests.rs")
        {
            found.push(path);
        }
    }
}

/// The arguments of a call whose opening bracket was just passed.
fn arguments(text: &str) -> Vec<String> {
    let (mut depth, mut current, mut found) = (0, String::new(), Vec::new());
    for c in text.chars() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth == 0 => break,
            ')' | ']' | '}' => depth -= 1,
            ',' if depth == 0 => {
                found.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        current.push(c);
    }
    found.push(current);
    let without_comment = |text: &String| {
        let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default().trim());
        lines.collect::<Vec<_>>().join(" ").trim().to_owned()
    };
    found.iter().map(without_comment).filter(|text| !text.is_empty()).collect()
}

/// Arguments of statements that write, which are neither columns nor known.
fn raw_arguments(file: &str, text: &str) -> Vec<String> {
    const BEGIN: &str = "params![";
    let mut raw = Vec::new();
    for (at, _) in text.match_indices(BEGIN) {
        let statement = &text[text[..at].rfind(";\n").unwrap_or(0)..at];
        let writes = ["INSERT", "UPDATE", "REPLACE"].iter().any(|verb| statement.contains(verb));
        if !writes && !text[..at].trim_end().ends_with(".execute(") {
            continue;
        }
        for argument in arguments(&text[at + BEGIN.len()..]) {
            let last = argument.rsplit('.').next().unwrap_or_default();
            let is_known = COLUMN_FUNCTIONS.iter().any(|function| argument.contains(function))
                || NUMBERS.contains(&last)
                || argument.starts_with("tokens_or_estimate(")
                || last.chars().all(|c| c.is_ascii_uppercase() || c == '_')
                || OTHERS.contains(&(file, argument.as_str()));
            if !is_known {
                raw.push(format!("{file}: {argument}"));
            }
        }
    }
    raw
}

#[test]
fn texts_are_bound_through_columns() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    sources(&root, &mut files);
    assert!(files.len() > 40, "the sources were not found");
    let mut raw = Vec::new();
    for path in files {
        let name = path.strip_prefix(&root).unwrap().to_str().unwrap();
        if name != "columns.rs" && name != "testing.rs" {
            raw.extend(raw_arguments(name, &fs::read_to_string(&path).unwrap()));
        }
    }
    assert!(raw.is_empty(), "bind texts through columns.rs: {raw:#?}");
}

#[test]
fn raw_text_is_found() {
    let text = "tx.execute(\"INSERT INTO t VALUES (?1, ?2)\", params![row.title, name_column(&row.name)])?;";
    assert_eq!(raw_arguments("new.rs", text), ["new.rs: row.title"]);
    let text = "let mut insert = tx.prepare(SQL)?;\ninsert.execute(params![id.sql(), path])?;";
    assert_eq!(raw_arguments("new.rs", text), ["new.rs: path"]);
}
