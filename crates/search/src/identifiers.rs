//! Matches identifiers and paths in a query against text: `getUserById`, `Session::renew`,
//! `src/auth/session.rs`.
//!
//! A [`QueryIdentifier`] matches regardless of spelling style: `get_user_by_id` equals
//! `getUserById`.

use crate::analyzer::{fold, is_stop_word};
use claude_mem_store::parts_of;

/// An identifier or path, split into its parts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueryIdentifier {
    parts: Vec<String>,
    /// Compounds that are one word in the index, each with its parts.
    pub compounds: Vec<(String, Vec<String>)>,
    letters: usize,
}

/// Score of an identifier that is part of a longer one.
const PARTIAL_MATCH_SCORE: f64 = 0.7;

impl QueryIdentifier {
    /// All identifiers in a text.
    pub fn find_all(text: &str) -> impl Iterator<Item = Self> + '_ {
        raw_identifiers(text).filter(|raw| is_identifier(raw)).map(Self::parse)
    }

    fn parse(raw: &str) -> Self {
        let parts: Vec<String> = parts_of(raw).into_iter().map(fold).collect();
        let runs = raw.split(|c: char| !c.is_alphanumeric());
        let joined = runs.filter_map(|run| {
            let parts: Vec<String> = parts_of(run).into_iter().map(fold).collect();
            (parts.len() > 1).then(|| (fold(run), parts))
        });
        Self { compounds: joined.collect(), letters: parts.iter().map(String::len).sum(), parts }
    }

    /// Whether `word` is one of the parts.
    pub fn has_part(&self, word: &str) -> bool {
        self.parts.iter().any(|part| part == word)
    }

    /// 1 for the same identifier, [`PARTIAL_MATCH_SCORE`] for a longer one that contains it, else
    /// 0.
    fn match_score(&self, raw: &str) -> f64 {
        if raw.len() < self.letters {
            return 0.0;
        }
        let parts = parts_of(raw);
        let same = |run: &[&str]| run.iter().zip(&self.parts).all(|(a, b)| fold(a) == *b);
        if parts.len() < self.parts.len() || !parts.windows(self.parts.len()).any(same) {
            0.0
        } else if parts.len() == self.parts.len() {
            1.0
        } else {
            PARTIAL_MATCH_SCORE
        }
    }
}

/// Mean match score of the identifiers over these fields, 0 to 1.
pub(crate) fn identifier_share(names: &[QueryIdentifier], fields: [&str; 3]) -> f64 {
    if names.is_empty() {
        return 0.0;
    }
    let mut best = vec![0.0_f64; names.len()];
    for raw in fields.iter().flat_map(|field| raw_identifiers(field)) {
        for (name, best) in names.iter().zip(&mut best) {
            *best = best.max(name.match_score(raw));
        }
    }
    best.iter().sum::<f64>() / names.len() as f64
}

/// Runs that may be identifiers, without surrounding punctuation.
fn raw_identifiers(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/' | '.' | ':'))
        .map(|raw| strip_line_number(raw.trim_matches(|c: char| !c.is_alphanumeric())))
        .filter(|raw| !raw.is_empty())
}

/// Strips line and column: `session.rs:12:5` becomes `session.rs`.
fn strip_line_number(mut raw: &str) -> &str {
    while let Some((name, number)) = raw.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        raw = name;
    }
    raw
}

/// Whether this has several parts and is not a hyphenated word, a number, a time or `and/or`.
fn is_identifier(raw: &str) -> bool {
    let chars: Vec<char> = raw.chars().collect();
    let camel = |pair: &[char]| pair[0].is_lowercase() && pair[1].is_uppercase();
    let is_joined = raw.contains(['_', '/', '.']) || raw.contains("::");
    chars.iter().any(|c| c.is_alphabetic())
        && (is_joined || chars.windows(2).any(camel))
        && parts_of(raw).len() > 1
        && !parts_of(raw).iter().all(|part| is_stop_word(&fold(part)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        QueryIdentifier::find_all(text).map(|name| name.parts.join(" ")).collect()
    }

    #[test]
    fn only_identifiers_and_paths_are_found() {
        for (text, want) in [
            ("why does getUserById fail?", vec!["get user by id"]),
            ("MAX_RETRY_COUNT.", vec!["max retry count"]),
            ("in src/auth/session.rs:12", vec!["src auth session rs"]),
            ("std::sync::Arc", vec!["std sync arc"]),
            ("a well-known thing at 10:30, 2.5 times", vec![]),
            ("HTTP and/or GitHub", vec!["git hub"]),
        ] {
            assert_eq!(names(text), want, "of {text:?}");
        }
    }

    #[test]
    fn identifiers_match_any_spelling_style() {
        for (typed, text, want) in [
            ("maxRetryCount", "raised MAX_RETRY_COUNT to 5", 1.0),
            ("get_user_by_id", "Cache of getUserById", 1.0),
            ("UserById", "Cache of getUserById", PARTIAL_MATCH_SCORE),
            ("auth/session.rs", "touched src/auth/session.rs", PARTIAL_MATCH_SCORE),
            ("get_user_by_id", "users.id in the importer", 0.0),
        ] {
            let names: Vec<QueryIdentifier> = QueryIdentifier::find_all(typed).collect();
            let found = identifier_share(&names, [text, "", ""]);
            assert!((found - want).abs() < 1e-9, "{typed} in {text:?}: {found}");
        }
    }
}
