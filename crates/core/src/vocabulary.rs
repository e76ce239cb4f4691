//! The vocabulary of observation types and concepts.
//!
//! The standard [`Vocabulary`] suits software work; a file can replace it for other fields.
//! Whatever word a model uses, only words of the vocabulary are stored.

use serde::{Deserialize, Serialize};

use crate::limits::VOCABULARY_BYTES_MAX;
use crate::memory::ObservationType;

/// Maximum types, and likewise concepts, of a vocabulary. Every prompt to the model lists them all.
const VOCABULARY_TERMS_MAX: usize = 64;

/// A general preference of the user. It may be proposed for user level, where it applies to all
/// projects. Part of every vocabulary.
pub const PREFERENCE: &str = "preference";

/// The concept of what the user picked among options, for one change.
pub const TRADE_OFF: &str = "trade-off";
/// The concept of a memory about a trap or an edge case.
pub const GOTCHA: &str = "gotcha";
/// The concept of a memory about an approach to use again; lines of memory files have it.
pub const PATTERN: &str = "pattern";
/// A rule that replaces an earlier one, which no longer applies. Part of every vocabulary.
pub const AMENDMENT: &str = "amendment";

const BUILT_IN_CONCEPTS: &[(&str, &str)] = &[
    (PREFERENCE, "how the person wants work done, in any project"),
    (AMENDMENT, "a rule that replaces an earlier one"),
];

/// A word, its meaning (shown to models) and its synonyms (accepted from models).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VocabularyTerm {
    pub name: String,
    pub meaning: String,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

/// The types and concepts that memories are classified by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    /// Never empty. Unknown words map to the last one.
    pub types: Vec<VocabularyTerm>,
    pub concepts: Vec<VocabularyTerm>,
}

/// Why a vocabulary file was rejected.
#[derive(Debug, thiserror::Error)]
pub enum VocabularyError {
    #[error("the vocabulary file is invalid: {0}")]
    NotJson(#[from] serde_json::Error),
    #[error("a vocabulary needs at least one type and at most {VOCABULARY_TERMS_MAX} of each")]
    Count,
    #[error("the vocabulary is larger than {VOCABULARY_BYTES_MAX} bytes")]
    TooLarge,
    #[error("{0:?} is not a valid name: use at most 32 lower-case letters, digits and dashes")]
    Name(String),
}

impl Vocabulary {
    /// Parses a vocabulary file.
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

    /// The type for a model's word. Of several words (`bugfix|feature`), the first known one
    /// counts; an unknown word gives the last type of the vocabulary.
    pub fn resolve_type(&self, said: &str) -> ObservationType {
        let known = std::iter::once(said)
            .chain(said.split(['|', ',', '/', ';', ' ', '\n', '(']))
            .find_map(|word| find_term(&self.types, word));
        let name = known.or_else(|| self.types.last().map(|term| term.name.as_str()));
        ObservationType::named(name.unwrap_or_default())
    }

    /// The type with this name or synonym, if there is one.
    pub fn find_type(&self, said: &str) -> Option<ObservationType> {
        find_term(&self.types, said).map(ObservationType::named)
    }

    /// The names of all types, for error messages.
    pub fn type_names(&self) -> String {
        let names: Vec<&str> = self.types.iter().map(|term| term.name.as_str()).collect();
        names.join(", ")
    }

    /// The concept with this name or synonym, if there is one.
    pub fn find_concept(&self, said: &str) -> Option<&str> {
        let standing =
            || BUILT_IN_CONCEPTS.iter().find(|(name, _)| normalize_word(name) == normalize_word(said));
        find_term(&self.concepts, said).or_else(|| standing().map(|(name, _)| *name))
    }

    /// Every concept with its meaning, including the built-in ones.
    pub fn all_concepts(&self) -> impl Iterator<Item = (&str, &str)> {
        let own = self.concepts.iter();
        let own = own.map(|term| (term.name.as_str(), term.meaning.as_str()));
        own.chain(BUILT_IN_CONCEPTS.iter().copied())
    }
}

fn find_term<'a>(terms: &'a [VocabularyTerm], said: &str) -> Option<&'a str> {
    let said = normalize_word(said);
    if said.is_empty() {
        return None;
    }
    let means = |name: &str| normalize_word(name) == said;
    let term = terms.iter().find(|term| means(&term.name));
    let term = term.or_else(|| terms.iter().find(|t| t.also.iter().any(|also| means(also))));
    term.map(|term| term.name.as_str())
}

/// `Bug_Fix`, `bug-fix` and `"bug fix"` are the same word.
fn normalize_word(word: &str) -> String {
    word.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase).take(64).collect()
}

fn is_name(name: &str) -> bool {
    let allowed = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-';
    !name.is_empty() && name.len() <= 32 && name.bytes().all(allowed)
}

impl Default for Vocabulary {
    /// The standard vocabulary.
    fn default() -> Self {
        Self {
            types: TYPES.iter().map(term_from_literal).collect(),
            concepts: CONCEPTS.iter().map(term_from_literal).collect(),
        }
    }
}

type TermLiteral = (&'static str, &'static str, &'static [&'static str]);

fn term_from_literal((name, meaning, also): &TermLiteral) -> VocabularyTerm {
    VocabularyTerm {
        name: (*name).into(),
        meaning: (*meaning).into(),
        also: also.iter().map(|word| (*word).into()).collect(),
    }
}

const TYPES: &[TermLiteral] = &[
    (
        "decision",
        "a choice that was made, with its reason",
        &["choice", "architecture", "design", "preference", "constraint", "rule", "policy"],
    ),
    (
        "bugfix",
        "something was broken and now works",
        &["bug", "fix", "fixed", "hotfix", "patch", "problem-solution", "error", "regression"],
    ),
    (
        "feature",
        "something new that can now be done",
        &["feat", "enhancement", "addition", "implementation", "new", "capability"],
    ),
    (
        "refactor",
        "the code's shape changed, what it does did not",
        &["refactoring", "cleanup", "restructure", "rewrite", "simplification"],
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
        &["finding", "insight", "learning", "investigation", "research", "analysis", "gotcha"],
    ),
];

const CONCEPTS: &[TermLiteral] = &[
    ("how-it-works", "understanding a mechanism", &["mechanism", "architecture", "how"]),
    ("why-it-exists", "the reason behind something", &["rationale", "reason", "purpose", "why"]),
    ("what-changed", "a modification", &["change", "changes", "modification"]),
    ("problem-solution", "an issue and what resolved it", &["problem", "solution", "fix", "bug"]),
    (GOTCHA, "a trap or an edge case", &["trap", "pitfall", "caveat", "edge-case", "warning"]),
    (PATTERN, "an approach to use again", &["convention", "practice", "technique"]),
    (TRADE_OFF, "a compromise, with both sides", &["compromise", "pros-and-cons"]),
];

#[cfg(test)]
#[path = "vocabulary_tests.rs"]
mod tests;
