//! The WordPiece tokenizer of BERT's uncased models: cleans the text, splits it into words and
//! punctuation, lower-cases and strips accents, then splits each word into the longest pieces of
//! the vocabulary.
//!
//! It reads no further than the token limit requires, so a megabyte of text costs no more than its
//! beginning.

use crate::unicode::{fold, is_dropped, is_ideograph, is_punctuation};
use crate::vocab::Vocab;

/// Maximum length of a word; a longer one becomes one unknown token.
const WORD_CHARS_MAX: usize = 100;

/// Special tokens that are recognised when spelt out in a text.
const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// Tokenizes one text. The caller adds the start and end tokens.
#[derive(Debug)]
pub(crate) struct Tokenizer<'m> {
    vocab: Vocab<'m>,
    unknown: u32,
    limit: usize,
    word: String,
    word_chars: usize,
    ids: Vec<u32>,
}

impl<'m> Tokenizer<'m> {
    /// A tokenizer that appends to `ids` up to `limit`.
    pub(crate) fn new(vocab: Vocab<'m>, unknown: u32, ids: Vec<u32>, limit: usize) -> Self {
        let word = String::with_capacity(WORD_CHARS_MAX * 4);
        Tokenizer { vocab, unknown, limit, word, word_chars: 0, ids }
    }

    /// Tokenizes the text and returns all ids.
    pub(crate) fn read(mut self, text: &str) -> Vec<u32> {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if self.ids.len() >= self.limit {
                break;
            }
            let special = if c == '[' { self.special(rest) } else { None };
            if let Some((id, bytes)) = special {
                self.end_word();
                self.ids.push(id);
                rest = &rest[bytes..];
            } else {
                self.take(c);
                rest = &rest[c.len_utf8()..];
            }
        }
        self.end_word();
        self.ids.truncate(self.limit);
        self.ids
    }

    fn special(&self, rest: &str) -> Option<(u32, usize)> {
        let name = SPECIAL.into_iter().find(|name| rest.starts_with(name))?;
        Some((self.vocab.find(name.as_bytes())?, name.len()))
    }

    fn take(&mut self, c: char) {
        if c.is_ascii_alphanumeric() {
            self.put(c.to_ascii_lowercase());
        } else if is_dropped(c) {
        } else if c.is_whitespace() {
            self.end_word();
        } else if is_ideograph(c) {
            self.end_word();
            fold(c, |c| self.put(c));
            self.end_word();
        } else {
            fold(c, |c| self.put_or_split(c));
        }
    }

    fn put_or_split(&mut self, c: char) {
        if is_punctuation(c) {
            self.end_word();
            self.put(c);
            self.end_word();
        } else {
            self.put(c);
        }
    }

    fn put(&mut self, c: char) {
        self.word_chars += 1;
        if self.word_chars <= WORD_CHARS_MAX {
            self.word.push(c);
        }
    }

    fn end_word(&mut self) {
        if self.word_chars > 0 {
            let before = self.ids.len();
            if self.word_chars > WORD_CHARS_MAX || !self.cut_word() {
                self.ids.truncate(before);
                self.ids.push(self.unknown);
            }
            self.word.clear();
            self.word_chars = 0;
        }
    }

    /// Splits the word into pieces. False if some part is not in the vocabulary; then the whole
    /// word is unknown.
    fn cut_word(&mut self) -> bool {
        let mut rest = self.word.as_str();
        while !rest.is_empty() {
            let Some((id, bytes)) = self.vocab.longest(rest, rest.len() < self.word.len()) else {
                return false;
            };
            self.ids.push(id);
            rest = &rest[bytes..];
        }
        true
    }
}

#[cfg(test)]
#[path = "tokenizer_tests.rs"]
mod tests;
