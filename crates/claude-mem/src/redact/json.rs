//! Redacts JSON as clients send it: a tool's input, a tool's response.
//!
//! Every string and every object's key is a text of its own, with one exception: the strings of
//! one array are read as lines of one text, because that is what a patch is. What a private block
//! or a key hides across fields is gone before, where the order of the fields is still known: see
//! `flow`.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::cut::Cut;
use super::expect::Expect;
use super::share::{prune, share};

/// Redacts `value` in place. What is left is about as long as `keep` allows, however many
/// strings there are: short ones stay whole, long ones share what remains. Returns how many
/// secrets were masked.
pub fn json(value: &mut Value, keep: Cut) -> u32 {
    prune(value, keep);
    let mut walk = Walk {
        keep: share(value, keep),
        masked: 0,
    };
    walk.value(value, None);
    walk.masked
}

struct Walk {
    keep: Cut,
    masked: u32,
}

impl Walk {
    fn value(&mut self, value: &mut Value, expect: Option<Expect>) {
        match value {
            Value::Number(_) if expect == Some(Expect::PASSWORD) => {
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

    fn string(&mut self, text: &mut String, expect: Option<Expect>) {
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
            *items = text
                .split('\n')
                .map(|line| Value::String(line.to_owned()))
                .collect();
        }
    }

    /// `["--token", "…"]`, `["X-Api-Key", "…"]`: options and headers in a row.
    fn pairs(&mut self, items: &mut [Value]) {
        let header = items.len() == 2;
        for i in 1..items.len() {
            let name = items[i - 1].as_str().unwrap_or_default();
            if !header && !name.starts_with('-') {
                continue;
            }
            let value = items[i].as_str().filter(|value| !value.starts_with('-'));
            let expect = Expect::of_name(name).map(Expect::loosely);
            let masked = expect.and_then(|expect| expect.mask(value?));
            if let Some(masked) = masked {
                items[i] = Value::String(masked);
                self.masked += 1;
            }
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>, above: Option<Expect>) {
        if fields.keys().any(|key| !super::is_clean(key)) {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(key, value)| (super::text(&key, self.keep).text.into_owned(), value))
                .collect();
        }
        let beside = if fields.keys().any(|key| is_value(key) || is_text(key)) {
            Expect::of_neighbours(fields)
        } else {
            None
        };
        for (key, value) in fields.iter_mut() {
            let expect = named_beside(key, beside)
                .or_else(|| Expect::of_name(key))
                .or_else(|| above.and_then(|above| above.below(key)));
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

/// What the neighbours say of this field.
fn named_beside(key: &str, beside: Option<Expect>) -> Option<Expect> {
    if is_value(key) {
        beside
    } else if is_text(key) {
        beside.map(Expect::loosely)
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

/// A file or an address: its query part may be a key, scheme or not.
fn is_path(key: &str) -> bool {
    let ends = |end: &str| {
        let at = key.len().checked_sub(end.len());
        let last = at.and_then(|at| key.get(at..));
        last.is_some_and(|last| last.eq_ignore_ascii_case(end))
    };
    ends("path") || ends("file") || ends("uri") || ends("url")
}

/// Several strings and nothing else.
pub(super) fn is_lines(items: &[Value]) -> bool {
    items.len() > 1 && items.iter().all(Value::is_string)
}
