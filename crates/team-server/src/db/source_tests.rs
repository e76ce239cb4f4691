//! Rules about the sources of the whole crate.

use std::fs;
use std::path::{Path, PathBuf};

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|ext| ext == "rs") {
            found.push(path);
        }
    }
}

fn crate_sources() -> Vec<PathBuf> {
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 20, "the sources were not found");
    found
}

fn is_test(path: &Path) -> bool {
    path.file_name().is_some_and(|name| name.to_string_lossy().ends_with("_tests.rs"))
}

/// Text of a request can become SQL only if a statement is put together at run time.
#[test]
fn statements_are_constant() {
    // The proof's messages for the operator are no SQL.
    let messages = ["db/proof.rs", "db/connect.rs"];
    for path in crate_sources() {
        let text = fs::read_to_string(&path).unwrap();
        let is_database = path.components().any(|part| part.as_os_str() == "db");
        if !is_database || is_test(&path) {
            continue;
        }
        let is_message = messages.iter().any(|known| path.ends_with(known));
        for builder in ["format!", "concat(", "+ \"", "write!(", ".replace("] {
            let is_allowed = is_message && builder == "format!";
            assert!(is_allowed || !text.contains(builder), "{}: {builder}", path.display());
        }
        // Every statement is a constant of its function.
        for call in
            ["query_typed(", "query_typed_one(", "query_typed_opt(", "execute_typed(", "batch_execute("]
        {
            for (at, _) in text.match_indices(call) {
                let argument = text[at + call.len()..].trim_start();
                let is_constant = argument.starts_with('"')
                    || argument.starts_with(|c: char| c.is_ascii_uppercase())
                    || ["statement", "migration", "count"].iter().any(|known| argument.starts_with(known));
                assert!(is_constant, "{}: {}", path.display(), argument.lines().next().unwrap());
            }
        }
    }
}

#[test]
fn only_the_database_module_names_tables() {
    for path in crate_sources() {
        let is_database = path.components().any(|part| part.as_os_str() == "db");
        if is_database || is_test(&path) {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for word in ["claude_mem.", "SELECT ", "INSERT ", "UPDATE ", "tokio_postgres::types"] {
            assert!(!text.contains(word), "{} contains {word:?}", path.display());
        }
    }
}
