//! The files of a recalled memory: where to look, in one line.

use std::collections::HashSet;

use super::request_words::content_stems;
use crate::quote;
use claude_mem_core::memory::Origin;
use claude_mem_store::Observation;

/// Files named of one memory.
const FILES_MAX: usize = 4;
const PATH_CHARS_MAX: usize = 120;

/// A line with the files that a memory is about and the prompt does not name; those whose names share words
/// with the prompt go first. Files that most sessions touch are left out. Empty for what the user said: it is not
/// about the files of its turn.
pub(super) fn files_line(row: &Observation, prompt: &str, hub_files: &HashSet<String>) -> String {
    if !matches!(row.origin, Origin::Agent | Origin::Import) {
        return String::new();
    }
    let asked = content_stems(prompt);
    let mut files: Vec<&String> = row.text.files_modified.iter().chain(&row.text.files_read).collect();
    let mut seen = HashSet::new();
    // Paths outside of the project say nothing about it.
    files.retain(|path| {
        !path.starts_with(['/', '~'])
            && !prompt.contains(path.as_str())
            && !hub_files.contains(*path)
            && seen.insert(*path)
    });
    let shared = |path: &str| {
        let name = path.rsplit('/').next().unwrap_or(path);
        content_stems(&split_words(name)).iter().filter(|word| asked.contains(*word)).count()
    };
    files.sort_by_key(|path| std::cmp::Reverse(shared(path)));
    let named: Vec<String> =
        files.iter().take(FILES_MAX).map(|path| quote::line(path, PATH_CHARS_MAX)).collect();
    if named.is_empty() { String::new() } else { format!("  Files: {}\n", named.join(", ")) }
}

/// A line with the files that earlier work on the subject of a request touched, without those that `so_far`
/// names; empty without any.
pub(super) fn work_files_line(so_far: &str, paths: &[String]) -> String {
    let quoted = paths.iter().map(|path| quote::line(path, PATH_CHARS_MAX));
    let named: Vec<String> = quoted.filter(|path| !so_far.contains(path.as_str())).collect();
    if named.is_empty() {
        return String::new();
    }
    format!("Files of earlier work on this, likeliest first: {}\n", named.join(", "))
}

/// `RemediationCard.tsx` as "Remediation Card tsx".
fn split_words(name: &str) -> String {
    let mut out = String::with_capacity(name.len() + 4);
    let mut before = ' ';
    for c in name.chars() {
        if c.is_uppercase() && before.is_lowercase() {
            out.push(' ');
        }
        out.push(c);
        before = c;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::{split_words, work_files_line};

    #[test]
    fn names_are_split_at_capitals() {
        assert_eq!(split_words("HistoryCard.tsx"), "History Card.tsx");
        assert_eq!(split_words("APIRoutes"), "APIRoutes");
    }

    #[test]
    fn files_that_were_named_are_not_repeated() {
        let paths = ["src/cart.rs", "src/<b>.rs"].map(str::to_owned);
        assert_eq!(
            work_files_line("  Files: src/cart.rs\n", &paths),
            "Files of earlier work on this, likeliest first: src/‹b>.rs\n"
        );
        assert_eq!(work_files_line("", &[]), "");
    }
}
