//! Checks that the documents name files, types, functions and tests that exist.
//!
//! A reference is a code span: a path of a source file, or an identifier of two or more words. Both are looked up
//! in the sources; whether the file says what the sentence claims is for the reader to judge.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::cargo;

/// Documents whose identifiers are names of the code. In the others an identifier may be a client's or a user's.
const NAMES_CODE: &[&str] = &["ARCHITECTURE.md", "SECURITY.md"];

/// References of the documents to something that does not exist, one line each.
pub(super) fn broken_references() -> anyhow::Result<Vec<String>> {
    let root = cargo::root();
    let sources = SourceIndex::read(&root)?;
    let mut documents: Vec<PathBuf> = ["ARCHITECTURE.md", "CONTRIBUTING.md", "README.md", "SECURITY.md"]
        .map(|name| root.join(name))
        .into_iter()
        .collect();
    for entry in std::fs::read_dir(root.join("docs"))? {
        let path = entry?.path();
        if path.extension().is_some_and(|ending| ending == "md") {
            documents.push(path);
        }
    }
    documents.sort();
    let mut broken = Vec::new();
    for document in documents {
        let name = document.strip_prefix(&root)?.display().to_string();
        let text = std::fs::read_to_string(&document)?;
        broken.extend(sources.broken_in(&name, &text));
    }
    Ok(broken)
}

/// The paths of the repository's sources, and every identifier in them.
#[derive(Default)]
struct SourceIndex {
    /// Files and folders, below the root and below `crates/`.
    paths: HashSet<String>,
    /// Names of source files without their ending.
    stems: HashSet<String>,
    words: HashSet<String>,
}

impl SourceIndex {
    fn read(root: &Path) -> anyhow::Result<Self> {
        let mut index = Self::default();
        index.add_words(&std::fs::read_to_string(root.join("Cargo.toml"))?);
        let mut folders =
            ["crates", "docs", "plugin", "tests", "viewer", "xtask"].map(|name| root.join(name)).to_vec();
        while let Some(folder) = folders.pop() {
            index.add_path(folder.strip_prefix(root)?);
            for entry in std::fs::read_dir(&folder)? {
                let path = entry?.path();
                if path.is_dir() {
                    folders.push(path);
                    continue;
                }
                index.add_path(path.strip_prefix(root)?);
                if path.extension().is_some_and(|ending| ending == "rs" || ending == "sql" || ending == "js")
                {
                    index.add_words(&std::fs::read_to_string(&path)?);
                }
            }
        }
        Ok(index)
    }

    fn add_path(&mut self, path: &Path) {
        let text = path.to_string_lossy();
        if let Some(below) = text.strip_prefix("crates/") {
            self.paths.insert(below.to_owned());
        }
        self.paths.insert(text.into_owned());
        let stem = path.file_stem().map(|stem| stem.to_string_lossy().into_owned());
        self.stems.extend(stem.filter(|_| path.extension().is_some_and(|ending| ending == "rs")));
    }

    fn add_words(&mut self, text: &str) {
        let words = text.split(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        self.words.extend(words.filter(|word| word.len() > 1).map(str::to_owned));
    }

    fn broken_in(&self, document: &str, text: &str) -> Vec<String> {
        let names_code = NAMES_CODE.contains(&document);
        let mut broken = Vec::new();
        for (line, span) in code_spans(text) {
            let is_known = match DocReference::parse(span) {
                Some(DocReference::SourcePath(path)) => self.paths.contains(path),
                Some(DocReference::TestFile(stem)) => !names_code || self.stems.contains(stem),
                Some(DocReference::Identifier(words)) => {
                    !names_code || words.split("::").all(|word| self.words.contains(word))
                }
                None => true,
            };
            if !is_known {
                broken.push(format!("{document}:{line} names `{span}`, which does not exist"));
            }
        }
        broken
    }
}

/// What a code span refers to.
#[derive(Debug, PartialEq, Eq)]
enum DocReference<'t> {
    /// `store/src/accept.rs`, or a folder of sources.
    SourcePath(&'t str),
    /// `store/swap_tests`: the crate or folder, and the name of a file of tests.
    TestFile(&'t str),
    /// `EpisodeJob`, `LiveSettings::current`, `lease_session`.
    Identifier(&'t str),
}

impl<'t> DocReference<'t> {
    /// `None` for anything else: a command, a value, a file of the user.
    fn parse(span: &'t str) -> Option<Self> {
        let is_word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        if span.contains('/') {
            let is_path =
                !span.starts_with(['/', '.', '~']) && span.chars().all(|c| is_word(c) || "/.-".contains(c));
            let path = span.trim_end_matches('/');
            if is_path
                && (Path::new(path).extension().is_some_and(|ending| ending == "rs") || path.contains("/src"))
            {
                return Some(Self::SourcePath(path));
            }
            let stem = path.rsplit('/').next()?;
            return (is_path && stem.ends_with("_tests")).then_some(Self::TestFile(stem));
        }
        let words = span.strip_suffix("()").unwrap_or(span);
        let is_identifier =
            |word: &str| word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(is_word);
        let has_lower = words.contains(|c: char| c.is_ascii_lowercase());
        let is_joined = words.contains('_') || words.contains("::") || has_inner_capital(words);
        (words.split("::").all(is_identifier) && has_lower && is_joined).then_some(Self::Identifier(words))
    }
}

/// Whether a small letter is followed by a capital: `EpisodeJob`.
fn has_inner_capital(word: &str) -> bool {
    word.as_bytes().windows(2).any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
}

/// The code spans outside code blocks, with their lines, counted from 1.
fn code_spans(text: &str) -> Vec<(usize, &str)> {
    let (mut spans, mut in_block) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        if line.trim_start().starts_with("```") {
            in_block = !in_block;
        } else if !in_block {
            spans.extend(line.split('`').skip(1).step_by(2).map(|span| (number + 1, span)));
        }
    }
    spans
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_name_only_what_exists() {
        assert_eq!(broken_references().unwrap(), [""; 0]);
    }

    #[test]
    fn stale_references_are_reported() {
        let mut index = SourceIndex::default();
        index.add_path(Path::new("crates/store/src/accept.rs"));
        index.add_path(Path::new("crates/store/src/swap_tests.rs"));
        index.add_words("pub fn lease_session(job: EpisodeJob) {}");
        let text = "`store/src/accept.rs`, `crates/store/src/accept.rs`, `store/swap_tests`, `EpisodeJob`\n\
                    ```\n`store/src/gone.rs`\n```\n\
                    `lease_session()`, `CLAUDE_MEM_NOW`, `~/.claude/x_y`, `settings.json`, `--data-dir`\n";
        assert_eq!(index.broken_in("ARCHITECTURE.md", text), [""; 0]);
        let stale = "`store/src/gone.rs`\n`store/gone_tests` and `EpisodeBatch`\n`gone_function`\n";
        assert_eq!(
            index.broken_in("ARCHITECTURE.md", stale),
            [
                "ARCHITECTURE.md:1 names `store/src/gone.rs`, which does not exist",
                "ARCHITECTURE.md:2 names `store/gone_tests`, which does not exist",
                "ARCHITECTURE.md:2 names `EpisodeBatch`, which does not exist",
                "ARCHITECTURE.md:3 names `gone_function`, which does not exist",
            ]
        );
        assert_eq!(index.broken_in("docs/http.md", stale).len(), 1, "identifiers there are a client's");
    }
}
