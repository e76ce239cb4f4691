//! The viewer, the commands and the documentation call a thing by the same words: phrases that were replaced do not
//! come back.

use std::path::{Path, PathBuf};

/// Phrases that were replaced, each with the words that are used now.
const RETIRED: &[(&str, &str)] = &[
    ("All is well", "Hooks connected, worker running, index complete"),
    ("from your words", "You said this"),
    ("written without a model", "Made locally"),
    ("tokens to tell", "tokens"),
    ("Finding it out", "Original work"),
    ("Telling it again", "Injected into sessions"),
    ("Was told", "Received"),
    ("Wrong ones", "Include wrong"),
    ("Not wrong after all", "Mark as correct"),
    ("This page has no key", "Session expired"),
    ("does not answer", "claude-mem is not running"),
    ("Holds from the worker", "Restart required"),
    ("one a line", "One per line"),
    ("It holds in every project", "Apply to all projects"),
    ("Letters do this", "Single-key shortcuts"),
    ("That is all.", "End of list"),
    ("more of the turn", "rows that say the same"),
    ("the agent's message", "the agent's reply"),
];

/// Texts of people: the viewer, the documentation, and the sources of commands and findings.
const PLACES: &[&str] = &[
    "README.md",
    "docs",
    "plugin",
    "viewer",
    "crates/claude-mem/src",
    "crates/setup/src",
    "crates/worker/src/http",
];

fn files_below(path: &Path, found: &mut Vec<PathBuf>) {
    if path.is_dir() {
        for entry in std::fs::read_dir(path).unwrap() {
            files_below(&entry.unwrap().path(), found);
        }
    } else if path
        .extension()
        .is_some_and(|ending| ["md", "js", "html", "rs", "json"].iter().any(|one| ending == *one))
    {
        found.push(path.to_owned());
    }
}

#[test]
fn retired_phrases_are_nowhere() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = Vec::new();
    for place in PLACES {
        files_below(&root.join(place), &mut files);
    }
    assert!(files.len() > 100, "{} files", files.len());
    let mut found = Vec::new();
    for file in files {
        // Line breaks in prose and in help texts.
        let text = std::fs::read_to_string(&file).unwrap();
        let text = text.replace("\n///", " ").split_whitespace().collect::<Vec<_>>().join(" ");
        let retired = RETIRED.iter().filter(|(phrase, _)| text.contains(phrase));
        found.extend(retired.map(|(phrase, now)| format!("{}: {phrase:?}, now {now:?}", file.display())));
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}
