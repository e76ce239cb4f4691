//! Text to token ids, the way BERT's uncased models were trained: clean, split into words
//! and punctuation, fold to lower case without accents, then cut each word into the
//! longest pieces that the vocabulary has.
//!
//! Reads no further than the limit on tokens needs, so a megabyte of text costs no more
//! than its beginning.

use crate::unicode::{fold, is_dropped, is_ideograph, is_punctuation};
use crate::vocab::Vocab;

/// A longer word becomes one unknown token.
const WORD_CHARS_MAX: usize = 100;

/// Names of tokens that mean themselves when a text spells them out.
const SPECIAL: [&str; 5] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"];

/// Cuts one text. The two tokens that mark the ends of a text are the caller's.
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
    /// Appends to `ids` until `limit` of them are there.
    pub(crate) fn new(vocab: Vocab<'m>, unknown: u32, ids: Vec<u32>, limit: usize) -> Self {
        let word = String::with_capacity(WORD_CHARS_MAX * 4);
        Tokenizer {
            vocab,
            unknown,
            limit,
            word,
            word_chars: 0,
            ids,
        }
    }

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

    /// False when some part of the word is no piece: then the whole word is unknown.
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
