//! [`SessionWords`]: what is remembered of a session's private blocks, so that it is masked where it comes back.
//!
//! [`PrivateWords`] knows words. But a password is not always one: it has signs (`p^Q7=r:s2`), stands behind an option
//! letter (`-kcanary7351`), behind an escape (`\ncanary7351`) or inside a name (`mycanary7351Var`). So `PrivateTokens`
//! knows whole tokens of a block by a rolling hash, and finds them anywhere in a text.

use std::borrow::Cow;

use claude_mem_core::glyph;
use claude_mem_redact::PrivateWords;
use serde_json::Value;

use crate::private_tokens::PrivateTokens;

/// Private text of one string that the agent read and from which words are learnt. A document that only names the tag
/// hides all that follows; to mask its words everywhere would make memories useless.
const READ_BLOCK_BYTES_MAX: usize = 1 << 10;

/// The words and tokens of a session's private blocks, as keyed hashes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionWords {
    words: PrivateWords,
    tokens: PrivateTokens,
}

impl SessionWords {
    pub fn is_empty(&self) -> bool {
        self.words.is_empty() && self.tokens.is_empty()
    }

    /// Learns from the private blocks of a text. False if it has none that can be recognised again.
    pub fn learn(&mut self, text: &str) -> bool {
        let before = (self.words.clone(), self.tokens.len());
        self.words.learn(text);
        self.tokens.learn(text);
        before != (self.words.clone(), self.tokens.len())
    }

    /// Learns from the private blocks in raw JSON of a tool or of the client. True if something was new. Text without
    /// the tag's name costs one scan.
    pub fn learn_raw(&mut self, json: &str) -> bool {
        let may_have_tag = memchr::memmem::find(json.as_bytes(), b"rivate").is_some()
            || memchr::memmem::find(json.as_bytes(), b"RIVATE").is_some();
        may_have_tag && serde_json::from_str(json).is_ok_and(|value| self.learn_json(&value))
    }

    /// Learns from the short private blocks of all strings of a value.
    fn learn_json(&mut self, value: &Value) -> bool {
        match value {
            Value::String(text) => {
                let stripped = claude_mem_redact::private(text);
                let hidden = text.len().saturating_sub(stripped.text.len());
                stripped.private && hidden <= READ_BLOCK_BYTES_MAX && self.learn(text)
            }
            // Every string is looked at.
            Value::Array(items) => items.iter().fold(false, |is_new, item| self.learn_json(item) | is_new),
            Value::Object(fields) => {
                fields.values().fold(false, |is_new, field| self.learn_json(field) | is_new)
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => false,
        }
    }

    /// The text with what was learnt masked.
    pub fn mask<'t>(&self, text: &'t str) -> Cow<'t, str> {
        if self.is_empty() {
            return Cow::Borrowed(text);
        }
        let masked = self.mask_written(text);
        // `can<ESC[31m>ary7351`: what a terminal or a reader does not show may stand inside a word.
        let Some(visible) = visible_text(&masked) else {
            return masked;
        };
        match self.mask_written(&visible) {
            Cow::Owned(found) => Cow::Owned(found),
            Cow::Borrowed(_) => masked,
        }
    }

    /// The text with what was learnt masked, as it is written.
    fn mask_written<'t>(&self, text: &'t str) -> Cow<'t, str> {
        // Tokens first: a word may be a part of one.
        match self.tokens.mask(text) {
            Cow::Borrowed(text) => self.words.mask(text),
            Cow::Owned(masked) => Cow::Owned(self.words.mask(&masked).into_owned()),
        }
    }

    /// Masks a string in place.
    pub fn mask_text(&self, text: &mut String) {
        if let Cow::Owned(masked) = self.mask(text) {
            *text = masked;
        }
    }

    /// Masks all strings, numbers and names of a value.
    pub fn mask_json(&self, value: &mut Value) {
        if self.is_empty() {
            return;
        }
        match value {
            Value::String(text) => self.mask_text(text),
            // A private number may be repeated as a number.
            Value::Number(number) => {
                if let Cow::Owned(masked) = self.mask(&number.to_string()) {
                    *value = Value::String(masked);
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.mask_json(item)),
            Value::Object(fields) => {
                if fields.keys().any(|name| matches!(self.mask(name), Cow::Owned(_))) {
                    let masked = std::mem::take(fields).into_iter();
                    *fields = masked.map(|(name, field)| (self.mask(&name).into_owned(), field)).collect();
                }
                fields.values_mut().for_each(|field| self.mask_json(field));
            }
            Value::Null | Value::Bool(_) => {}
        }
    }

    /// As text, for the session's mark and for the position in a transcript.
    pub fn encode(&self) -> String {
        match (self.words.encode(), self.tokens.encode()) {
            (words, tokens) if tokens.is_empty() => words,
            (words, tokens) => format!("{words}\n{tokens}"),
        }
    }

    /// Decodes what [`Self::encode`] wrote. `None` if it is damaged.
    pub fn decode(text: &str) -> Option<Self> {
        let (words, tokens) = text.split_once('\n').unwrap_or((text, ""));
        Some(Self { words: PrivateWords::decode(words)?, tokens: PrivateTokens::decode(tokens)? })
    }
}

/// The text without terminal sequences and invisible characters. `None` if it has none.
fn visible_text(text: &str) -> Option<String> {
    let bytes = text.as_bytes();
    let may_hide = |b: u8| !b.is_ascii() || b == 0x1b || b == b'\\';
    let first = bytes.iter().position(|b| may_hide(*b))?;
    let mut visible = text[..first].to_owned();
    let mut here = first;
    while let Some(c) = text[here..].chars().next() {
        if let Some(length) = glyph::terminal_sequence(&bytes[here..]).filter(|_| may_hide(bytes[here])) {
            here = text.ceil_char_boundary(here + length);
            continue;
        }
        here += c.len_utf8();
        if matches!(c, '\n' | '\r' | '\t') || !glyph::is_invisible(c) {
            visible.push(c);
        }
    }
    (visible.len() < text.len()).then_some(visible)
}

#[cfg(test)]
#[path = "session_words_tests.rs"]
mod tests;
