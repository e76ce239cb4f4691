//! Pitfalls: obstacles outside the code that come back from session to session.
//!
//! Each session explains a pitfall in words of its own, so that equal titles are rare. Two rows tell of the same one
//! if both name the same place or program, and the same thing went wrong there. Pure.

use std::collections::BTreeSet;

use claude_mem_core::memory::ObservationText;
use claude_mem_search::analyzer::{is_stop_word, words};
use claude_mem_search::stem::stem;

/// The concept of pitfalls.
pub(crate) const CONCEPT: &str = "gotcha";
/// Words that two pitfalls share besides the name.
const SHARED_WORDS_MIN: usize = 2;

/// What a pitfall is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pitfall {
    /// Paths and names in code marks.
    names: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl Pitfall {
    /// `None`: the text is not one of a pitfall, or names nothing.
    pub(crate) fn from_text(text: &ObservationText) -> Option<Self> {
        if !text.concepts.iter().any(|concept| concept == CONCEPT) {
            return None;
        }
        let told = format!("{} {}", text.title, text.narrative);
        let names = code_names(&told);
        let words =
            words(&told).filter(|word| !is_stop_word(word)).map(|word| stem(&word)).collect::<BTreeSet<_>>();
        (!names.is_empty()).then_some(Self { names, words })
    }

    /// Whether a row tells of the same pitfall.
    pub(crate) fn is_told_by(&self, text: &ObservationText) -> bool {
        Self::from_text(text).is_some_and(|other| self.is_same(&other))
    }

    /// Whether both name the same place and say the same of it.
    fn is_same(&self, other: &Self) -> bool {
        let named: BTreeSet<String> = self.names.intersection(&other.names).cloned().collect();
        let in_name = |word: &String| named.iter().any(|name| name.contains(word.as_str()));
        let shared = self.words.intersection(&other.words).filter(|word| !in_name(word)).count();
        !named.is_empty() && shared >= SHARED_WORDS_MIN
    }
}

/// The names in code marks that name a place: paths, without their last component if it is a generated name.
fn code_names(text: &str) -> BTreeSet<String> {
    let marked = text.split('`').skip(1).step_by(2);
    let paths = marked.flat_map(str::split_whitespace).filter(|word| word.contains('/'));
    paths.map(|path| place_of(path.trim_matches(|c: char| "/.,;:\"'()".contains(c)))).collect()
}

/// `build/snapshots/run-7f3a` → `build/snapshots`: a last component with digits differs from run to run.
fn place_of(path: &str) -> String {
    match path.rsplit_once('/') {
        Some((place, last))
            if !last.contains('.') && last.chars().any(|c| c.is_ascii_digit() || c == '*') =>
        {
            place.to_owned()
        }
        _ => path.to_owned(),
    }
}

#[cfg(test)]
#[path = "pitfall_tests.rs"]
mod tests;
