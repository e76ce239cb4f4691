//! Redacts JSON as clients send it: tool inputs and responses.
//!
//! Every string and object key is a text of its own, except that the strings of one array are
//! treated as lines of one text, as in a patch. Blocks that span fields were removed before, where
//! the field order is still known (see `flow`).

use std::borrow::Cow;

use serde_json::Value;

use super::cut::HeadTailLimit;
use super::json_walk::{JsonTexts, JsonWalk};
use super::secrecy::OutputSecrecy;
use super::secret_output;
use super::secret_span::SecretSpan;
use super::share::{per_text_limit, prune};

/// Redacts `value` in place and returns the number of secrets masked. The result is about as long
/// as `keep` allows, however many strings there are: short ones stay whole, long ones share the
/// rest.
pub fn json(value: &mut Value, keep: HeadTailLimit) -> u32 {
    json_output(value, keep, OutputSecrecy::Ordinary)
}

/// Like [`json`], for the output of a tool whose input says how secret its output is.
pub fn json_output(value: &mut Value, keep: HeadTailLimit, secrecy: OutputSecrecy) -> u32 {
    prune(value, keep);
    let keep = per_text_limit(value, keep);
    let mut walk = JsonWalk::new(TextRedactor { keep, secrecy }, true);
    walk.value(value, None);
    walk.masked
}

/// Redacts every text of a value.
struct TextRedactor {
    keep: HeadTailLimit,
    /// How secret the text of the output is.
    secrecy: OutputSecrecy,
}

impl JsonTexts for TextRedactor {
    const EXPECTED_ONLY: bool = false;

    fn redact_text(&self, text: &mut String, in_output: bool) -> u32 {
        let mut count = 0;
        if in_output && let Some((clean, masked)) = secret_output::mask(text, self.secrecy) {
            *text = clean;
            count += masked;
        }
        let redacted = super::text(text, self.keep);
        count += redacted.masked;
        if let Cow::Owned(clean) = redacted.text {
            *text = clean;
        }
        count
    }

    fn redact_lines(&self, items: &mut Vec<Value>) -> u32 {
        let lines: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        let whole = lines.join("\n");
        let redacted = super::text(&whole, self.keep);
        if let Cow::Owned(text) = redacted.text {
            *items = text.split('\n').map(|line| Value::String(line.to_owned())).collect();
        }
        redacted.masked
    }

    fn redact_key(&self, key: &str) -> Option<String> {
        (!super::is_clean(key)).then(|| super::text(key, self.keep).text.into_owned())
    }

    fn redact_path(&self, text: &mut String) -> u32 {
        let Cow::Owned(clean) = super::path(text) else {
            return 0;
        };
        *text = clean;
        1
    }

    fn find_secrets(&self, line: &str) -> Vec<SecretSpan> {
        super::secrets::find(line)
    }
}
