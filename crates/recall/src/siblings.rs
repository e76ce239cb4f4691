//! Rows that repeat what another row says.
//!
//! One sentence of a user is stored several times: as the prompt, in the summary and the account of its session,
//! in the agent's message and in the observation. Who forgets one of them is offered the others.

use std::collections::HashSet;

use claude_mem_search::analyzer;
use claude_mem_search::statement::{is_negation, telling_words};
use claude_mem_store::{FtsQuery, IndexedDocument, RowId, StoreError, StoreReader, TextSelection};

use crate::sentences::sentences;

/// Shorter words and sentences with fewer words say too little to be recognised.
const WORD_CHARS_MIN: usize = 4;
const SENTENCE_WORDS_MIN: usize = 3;
/// From this many words on, a repetition may lack one of them; of longer sentences one in eight.
const TOLERANT_WORDS_MIN: usize = 5;
const WORDS_PER_MISSING: usize = 8;
/// Sentences of a row that are looked for elsewhere.
const SENTENCES_MAX: usize = 12;
/// Documents of a session, and documents with the same rare words, that are compared.
const CANDIDATES_MAX: u32 = 400;
/// Words by which documents of other sessions are found: the longest of a sentence.
const SEARCH_WORDS: usize = 3;

/// The distinctive words of one sentence: neither function words nor openers such as "from now on".
struct SentenceWords(HashSet<String>);

impl SentenceWords {
    fn read(sentence: &str) -> Option<Self> {
        let is_distinctive = |word: &String| {
            let is_number = word.chars().any(char::is_numeric);
            is_number || is_negation(word) || word.chars().count() >= WORD_CHARS_MIN
        };
        let words: HashSet<String> = telling_words(sentence).into_iter().filter(is_distinctive).collect();
        (words.len() >= SENTENCE_WORDS_MIN).then_some(Self(words))
    }

    /// Whether `other` says the same: nearly all words, every number, and a negation if this has one.
    fn is_repeated_by(&self, other: &HashSet<String>) -> bool {
        let (negations, said): (Vec<&String>, Vec<&String>) =
            self.0.iter().partition(|word| is_negation(word));
        let missing: Vec<&&String> = said.iter().filter(|word| !other.contains(**word)).collect();
        let tolerated = usize::from(self.0.len() >= TOLERANT_WORDS_MIN).max(self.0.len() / WORDS_PER_MISSING);
        missing.len() <= tolerated
            && missing.iter().all(|word| !word.chars().any(char::is_numeric))
            && (negations.is_empty() || other.iter().any(|word| is_negation(word)))
    }

    fn query(&self) -> FtsQuery {
        let mut words: Vec<&String> = self.0.iter().filter(|word| !is_negation(word)).collect();
        words.sort_by_key(|word| (std::cmp::Reverse(word.len()), *word));
        FtsQuery::And(words.into_iter().take(SEARCH_WORDS).cloned().map(FtsQuery::Term).collect())
    }
}

/// The rows that repeat a sentence of these rows, in the project of each row, oldest first.
pub fn find_siblings(reads: &StoreReader<'_>, rows: &[RowId]) -> Result<Vec<IndexedDocument>, StoreError> {
    let mut seen: HashSet<RowId> = rows.iter().copied().collect();
    let mut found = Vec::new();
    for row in rows {
        let Some(document) = reads.document(*row)? else { continue };
        let said: Vec<SentenceWords> = sentences(&document.title)
            .chain(sentences(&document.body))
            .filter_map(SentenceWords::read)
            .take(SENTENCES_MAX)
            .collect();
        let within = TextSelection { project: document.project, ..TextSelection::default() };
        let mut candidates = Vec::new();
        if document.session.is_some() {
            let session = TextSelection { session: document.session, ..within.clone() };
            candidates.extend(reads.select_texts(&session, CANDIDATES_MAX)?);
        }
        for sentence in &said {
            let words = TextSelection { words: Some(sentence.query()), ..within.clone() };
            candidates.extend(reads.select_texts(&words, CANDIDATES_MAX)?);
        }
        for candidate in candidates {
            let id = RowId::new(candidate.kind, candidate.row_id);
            if !seen.contains(&id) && repeats(&candidate, &said) {
                seen.insert(id);
                found.push(candidate);
            }
        }
    }
    found.sort_by_key(|document| (document.created_at, document.doc_id));
    Ok(found)
}

/// Whether one sentence of the document repeats one of these.
fn repeats(document: &IndexedDocument, said: &[SentenceWords]) -> bool {
    sentences(&document.title).chain(sentences(&document.body)).any(|sentence| {
        let words: HashSet<String> = analyzer::words(sentence).collect();
        said.iter().any(|known| known.is_repeated_by(&words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openers_and_one_word_may_be_missing() {
        let said =
            SentenceWords::read("From now on never log the customer's IBAN, also not in debug mode").unwrap();
        for (other, is_same) in [
            ("Never log the customer's IBAN, also not in debug mode.", true),
            ("Never log a customer IBAN in debug", true),
            ("Log the customer's IBAN in debug mode", false),
            ("Never log the customer's address in production", false),
        ] {
            assert_eq!(said.is_repeated_by(&analyzer::words(other).collect()), is_same, "{other}");
        }
        let short = SentenceWords::read("Never restart the gateway on Friday").unwrap();
        let other = analyzer::words("Never restart the gateway on Monday").collect();
        assert!(!short.is_repeated_by(&other), "a short sentence lacks nothing");
    }

    #[test]
    fn a_sentence_is_repeated_with_nearly_all_words_and_every_number() {
        let said = SentenceWords::read("Never deploy the billing service between 1 and 3.").unwrap();
        for (other, is_same) in [
            ("never deploy the billing service between 1 and 3", true),
            ("The user said: never deploy the billing service between 1 and 3, it was agreed", true),
            ("Never deploy the billing service between 1 and 4", false),
            ("Deploy the billing service", false),
        ] {
            let words = analyzer::words(other).collect();
            assert_eq!(said.is_repeated_by(&words), is_same, "{other}");
        }
        assert!(SentenceWords::read("ok, go on").is_none(), "too little to recognise");
    }
}
