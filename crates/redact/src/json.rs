//! Redacts JSON as clients send it: tool inputs and responses.
//!
//! Every string and object key is a text of its own, except that the strings of one array are
//! treated as lines of one text, as in a patch. Blocks that span fields were removed before, where
//! the field order is still known (see `flow`).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::cut::HeadTailLimit;
use super::expect::ExpectedSecret;
use super::share::{is_lines, per_text_limit, prune};

/// Redacts `value` in place and returns the number of secrets masked. The result is about as long
/// as `keep` allows, however many strings there are: short ones stay whole, long ones share the
/// rest.
pub fn json(value: &mut Value, keep: HeadTailLimit) -> u32 {
    prune(value, keep);
    let mut walk = JsonRedactor { keep: per_text_limit(value, keep), masked: 0 };
    walk.value(value, None);
    walk.masked
}

/// Walks a JSON value and redacts its strings.
struct JsonRedactor {
    keep: HeadTailLimit,
    masked: u32,
}

impl JsonRedactor {
    fn value(&mut self, value: &mut Value, expect: Option<ExpectedSecret>) {
        match value {
            Value::Number(_) if expect == Some(ExpectedSecret::PASSWORD) => {
                *value = Value::String("[redacted:password]".to_owned());
                self.masked += 1;
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.string(text, expect),
            Value::Array(items) if expect.is_none() && is_lines(items) => self.lines(items),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, expect)),
            Value::Object(fields) => self.object(fields, expect),
        }
    }

    fn string(&mut self, text: &mut String, expect: Option<ExpectedSecret>) {
        if let Some(masked) = expect.and_then(|expect| expect.mask(text)) {
            *text = masked;
            self.masked += 1;
            return;
        }
        let redacted = super::text(text, self.keep);
        self.masked += redacted.masked;
        if let Cow::Owned(clean) = redacted.text {
            *text = clean;
        }
    }

    fn lines(&mut self, items: &mut Vec<Value>) {
        self.pairs(items);
        let lines: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        let whole = lines.join("\n");
        let redacted = super::text(&whole, self.keep);
        self.masked += redacted.masked;
        if let Cow::Owned(text) = redacted.text {
            *items = text.split('\n').map(|line| Value::String(line.to_owned())).collect();
        }
    }

    /// Masks values in arrays of options or headers: `["--token", "…"]`, `["X-Api-Key", "…"]`.
    fn pairs(&mut self, items: &mut [Value]) {
        let header = items.len() == 2;
        for i in 1..items.len() {
            let name = items[i - 1].as_str().unwrap_or_default();
            if !header && !name.starts_with('-') {
                continue;
            }
            let value = items[i].as_str().filter(|value| !value.starts_with('-'));
            let expect = ExpectedSecret::from_name(name).map(ExpectedSecret::relaxed);
            let masked = expect.and_then(|expect| expect.mask(value?));
            if let Some(masked) = masked {
                items[i] = Value::String(masked);
                self.masked += 1;
            }
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>, above: Option<ExpectedSecret>) {
        if fields.keys().any(|key| !super::is_clean(key)) {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(key, value)| (super::text(&key, self.keep).text.into_owned(), value))
                .collect();
        }
        let beside = if fields.keys().any(|key| is_value(key) || is_text(key)) {
            ExpectedSecret::from_siblings(fields)
        } else {
            None
        };
        for (key, value) in fields.iter_mut() {
            let expect = expected_by_siblings(key, beside)
                .or_else(|| ExpectedSecret::from_name(key))
                .or_else(|| above.and_then(|above| above.for_child(key)));
            self.value(value, expect);
            if let Value::String(text) = value
                && is_path(key)
                && let Cow::Owned(clean) = super::path(text)
            {
                *text = clean;
                self.masked += 1;
            }
        }
    }
}

/// What sibling fields say about this one.
fn expected_by_siblings(key: &str, beside: Option<ExpectedSecret>) -> Option<ExpectedSecret> {
    if is_value(key) {
        beside
    } else if is_text(key) {
        beside.map(ExpectedSecret::relaxed)
    } else {
        None
    }
}

fn is_value(key: &str) -> bool {
    key.eq_ignore_ascii_case("value")
}

fn is_text(key: &str) -> bool {
    key.eq_ignore_ascii_case("text")
}

/// Whether the field holds a path or URL, whose query part may contain a key.
fn is_path(key: &str) -> bool {
    let ends = |end: &str| {
        let at = key.len().checked_sub(end.len());
        let last = at.and_then(|at| key.get(at..));
        last.is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    ends("path") || ends("file") || ends("uri") || ends("url")
}
