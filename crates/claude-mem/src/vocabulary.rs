//! The words that memories are sorted by: types of observations and concepts.
//!
//! The standard vocabulary suits software work; a file may replace it (another trade keeps other
//! kinds of things). Whatever a model calls a thing, what is stored is a word of the vocabulary.

use serde::{Deserialize, Serialize};

use crate::limits::{VOCABULARY_BYTES_MAX, VOCABULARY_TERMS_MAX};
use crate::memory::ObservationType;

/// A way of working that the user stated in general: it may be proposed for the user level, where
/// it holds in every project. Every vocabulary has it.
pub const PREFERENCE: &str = "preference";
/// A rule that replaces an earlier one: what is older and says otherwise no longer holds. Every
/// vocabulary has it.
pub const AMENDMENT: &str = "amendment";

const STANDING: &[(&str, &str)] = &[
    (PREFERENCE, "how the person wants work done, in any project"),
    (AMENDMENT, "a rule that replaces an earlier one"),
];

/// One word, what it means (models are told), and what else it is called (models say it anyway).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Term {
    pub name: String,
    pub meaning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    /// Never empty. The last one is where the unknown goes.
    pub types: Vec<Term>,
    pub concepts: Vec<Term>,
}

#[derive(Debug, thiserror::Error)]
pub enum VocabularyError {
    #[error("the vocabulary is not the JSON expected: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("a vocabulary needs at least one type and at most {VOCABULARY_TERMS_MAX} of each")]
    Count,
    #[error("the vocabulary is larger than {VOCABULARY_BYTES_MAX} bytes")]
    TooLarge,
    #[error("{0:?} is no name: lower-case letters, digits and dashes, at most 32")]
    Name(String),
}

impl Vocabulary {
    /// Reads a vocabulary file.
    pub fn from_json(text: &str) -> Result<Self, VocabularyError> {
        if text.len() > VOCABULARY_BYTES_MAX {
            return Err(VocabularyError::TooLarge);
        }
        let read: Self = serde_json::from_str(text)?;
        let counts = [read.types.len(), read.concepts.len()];
        if read.types.is_empty() || counts.iter().any(|n| *n > VOCABULARY_TERMS_MAX) {
            return Err(VocabularyError::Count);
        }
        let mut terms = read.types.iter().chain(&read.concepts);
        match terms.find(|term| !is_name(&term.name)) {
            Some(bad) => Err(VocabularyError::Name(bad.name.clone())),
            None => Ok(read),
        }
    }

    /// The type that a model's word stands for. Several words (`bugfix|feature`) mean the first
    /// that is known; a word nobody knows means the last type of the vocabulary.
    pub fn kind(&self, said: &str) -> ObservationType {
        let known = std::iter::once(said)
            .chain(said.split(['|', ',', '/', ';', ' ', '\n', '(']))
            .find_map(|word| find(&self.types, word));
        let name = known.or_else(|| self.types.last().map(|term| term.name.as_str()));
        ObservationType::named(name.unwrap_or_default())
    }

    /// The type that somebody named, if it is one: by its name, or by what else it is called.
    pub fn type_named(&self, said: &str) -> Option<ObservationType> {
        find(&self.types, said).map(ObservationType::named)
    }

    /// The names of all types, for whoever named another.
    pub fn type_names(&self) -> String {
        let names: Vec<&str> = self.types.iter().map(|term| term.name.as_str()).collect();
        names.join(", ")
    }

    /// The concept that a model's word stands for, if it is one.
    pub fn concept(&self, said: &str) -> Option<&str> {
        let standing = || STANDING.iter().find(|(name, _)| plain(name) == plain(said));
        find(&self.concepts, said).or_else(|| standing().map(|(name, _)| *name))
    }

    /// Every concept with its meaning, also those that no file can take away.
    pub fn all_concepts(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.concepts.iter();
        let own = own.map(|term| (term.name.as_str(), term.meaning.as_str()));
        own.chain(STANDING.iter().copied())
    }
}

fn find<'a>(terms: &'a [Term], said: &str) -> Option<&'a str> {
    let said = plain(said);
    if said.is_empty() {
        return None;
    }
    let means = |name: &str| plain(name) == said;
    let term = terms.iter().find(|term| means(&term.name));
    let term = term.or_else(|| terms.iter().find(|t| t.also.iter().any(|also| means(also))));
    term.map(|term| term.name.as_str())
}

/// `Bug_Fix`, `bug-fix` and `"bug fix"` are one word.
fn plain(word: &str) -> String {
    word.chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .take(64)
        .collect()
}

fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !name.is_empty() && name.len() <= 32 && name.bytes().all(allowed)
}

impl Default for Vocabulary {
    /// The standard vocabulary.
    fn default() -> Self {
        Self {
            types: TYPES.iter().map(term).collect(),
            concepts: CONCEPTS.iter().map(term).collect(),
        }
    }
}

type Entry = (&'static str, &'static str, &'static [&'static str]);

fn term((name, meaning, also): &Entry) -> Term {
    Term {
        name: (*name).into(),
        meaning: (*meaning).into(),
        also: also.iter().map(|word| (*word).into()).collect(),
    }
}

const TYPES: &[Entry] = &[
    (
        "decision",
        "a choice that was made, with its reason",
        &[
            "choice",
            "architecture",
            "design",
            "preference",
            "constraint",
            "rule",
            "policy",
        ],
    ),
    (
        "bugfix",
        "something was broken and now works",
        &[
            "bug",
            "fix",
            "fixed",
            "hotfix",
            "patch",
            "problem-solution",
            "error",
            "regression",
        ],
    ),
    (
        "feature",
        "something new that can now be done",
        &[
            "feat",
            "enhancement",
            "addition",
            "implementation",
            "new",
            "capability",
        ],
    ),
    (
        "refactor",
        "the code's shape changed, what it does did not",
        &[
            "refactoring",
            "cleanup",
            "restructure",
            "rewrite",
            "simplification",
        ],
    ),
    (
        "change",
        "configuration, documentation, dependencies or other modifications",
        &[
            "modification",
            "update",
            "chore",
            "config",
            "configuration",
            "docs",
            "documentation",
            "dependency",
            "test",
            "tests",
            "build",
            "removal",
            "migration",
            "performance",
            "perf",
        ],
    ),
    (
        "discovery",
        "something that was found out about how things are",
        &[
            "finding",
            "insight",
            "learning",
            "investigation",
            "research",
            "analysis",
            "gotcha",
        ],
    ),
];

const CONCEPTS: &[Entry] = &[
    (
        "how-it-works",
        "understanding a mechanism",
        &["mechanism", "architecture", "how"],
    ),
    (
        "why-it-exists",
        "the reason behind something",
        &["rationale", "reason", "purpose", "why"],
    ),
    (
        "what-changed",
        "a modification",
        &["change", "changes", "modification"],
    ),
    (
        "problem-solution",
        "an issue and what resolved it",
        &["problem", "solution", "fix", "bug"],
    ),
    (
        "gotcha",
        "a trap or an edge case",
        &["trap", "pitfall", "caveat", "edge-case", "warning"],
    ),
    (
        "pattern",
        "an approach to use again",
        &["convention", "practice", "technique"],
    ),
    (
        "trade-off",
        "a compromise, with both sides",
        &["compromise", "pros-and-cons"],
    ),
];

#[cfg(test)]
#[path = "vocabulary_tests.rs"]
mod tests;
