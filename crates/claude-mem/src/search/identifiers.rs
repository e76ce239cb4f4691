//! Identifiers and paths in a question: `getUserById`, `Session::renew`, `src/auth/session.rs`.
//!
//! Whoever types one means that very one, however it is spelt where it stands.

use super::terms::{fold, is_stop_word};
use crate::store::parts_of;

/// An identifier or a path, taken apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identifier {
    parts: Vec<String>,
    /// Runs of letters that are one word to the index, with the parts of each.
    pub joined: Vec<(String, Vec<String>)>,
    letters: usize,
}

/// What it counts to stand inside a longer name.
const INSIDE: f64 = 0.7;

impl Identifier {
    /// Those of a text.
    pub fn all(text: &str) -> impl Iterator<Item = Self> + '_ {
        raw_names(text).filter(|raw| is_name(raw)).map(Self::of)
    }

    fn of(raw: &str) -> Self {
        let parts: Vec<String> = parts_of(raw).into_iter().map(fold).collect();
        let runs = raw.split(|c: char| !c.is_alphanumeric());
        let joined = runs.filter_map(|run| {
            let parts: Vec<String> = parts_of(run).into_iter().map(fold).collect();
            (parts.len() > 1).then(|| (fold(run), parts))
        });
        Self {
            joined: joined.collect(),
            letters: parts.iter().map(String::len).sum(),
            parts,
        }
    }

    /// Whether it is one of its parts.
    pub fn has(&self, word: &str) -> bool {
        self.parts.iter().any(|part| part == word)
    }

    /// 1 where it stands so, less where it stands in a longer one, else 0.
    fn stands_in(&self, raw: &str) -> f64 {
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
            INSIDE
        }
    }
}

/// How many of the names stand in these texts, 0 to 1.
pub fn share(names: &[Identifier], fields: [&str; 3]) -> f64 {
    if names.is_empty() {
        return 0.0;
    }
    let mut best = vec![0.0_f64; names.len()];
    for raw in fields.iter().flat_map(|field| raw_names(field)) {
        for (name, best) in names.iter().zip(&mut best) {
            *best = best.max(name.stands_in(raw));
        }
    }
    best.iter().sum::<f64>() / names.len() as f64
}

/// Runs that may be names, without the punctuation of the sentence around them.
fn raw_names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && !matches!(c, '_' | '-' | '/' | '.' | ':'))
        .map(|raw| without_line(raw.trim_matches(|c: char| !c.is_alphanumeric())))
        .filter(|raw| !raw.is_empty())
}

/// `session.rs:12:5` is a place in `session.rs`.
fn without_line(mut raw: &str) -> &str {
    while let Some((name, number)) = raw.rsplit_once(':') {
        if number.is_empty() || !number.bytes().all(|byte| byte.is_ascii_digit()) {
            break;
        }
        raw = name;
    }
    raw
}

/// Of several parts, and not a word with a hyphen, a number, a time or `and/or`.
fn is_name(raw: &str) -> bool {
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
        Identifier::all(text)
            .map(|name| name.parts.join(" "))
            .collect()
    }

    #[test]
    fn identifiers_and_paths_are_names_and_other_words_are_not() {
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
    fn a_name_is_found_however_it_is_spelt() {
        for (typed, text, want) in [
            ("maxRetryCount", "raised MAX_RETRY_COUNT to 5", 1.0),
            ("get_user_by_id", "Cache of getUserById", 1.0),
            ("UserById", "Cache of getUserById", INSIDE),
            ("auth/session.rs", "touched src/auth/session.rs", INSIDE),
            ("get_user_by_id", "users.id in the importer", 0.0),
        ] {
            let names: Vec<Identifier> = Identifier::all(typed).collect();
            let found = share(&names, [text, "", ""]);
            assert!((found - want).abs() < 1e-9, "{typed} in {text:?}: {found}");
        }
    }
}
