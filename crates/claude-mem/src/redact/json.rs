//! Redacts JSON as clients send it: a tool's input, a tool's response.
//!
//! Every string and every object's key is a text of its own, with one exception: the strings of
//! one array are read as lines of one text, because that is what a patch is, and a private block
//! or a key may begin in one line and end in another.

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::cut::Cut;
use super::judge::judge;
use super::names::{self, Promise};
use super::place::Place;
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
    fn value(&mut self, value: &mut Value, promise: Option<Promise>) {
        match value {
            Value::Number(_) if promise == Some(Promise::Password) => {
                *value = Value::String(mask("password"));
                self.masked += 1;
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
            Value::String(text) => self.string(text, promise),
            Value::Array(items) if promise.is_none() && is_lines(items) => self.lines(items),
            Value::Array(items) => items.iter_mut().for_each(|item| self.value(item, promise)),
            Value::Object(fields) => self.object(fields),
        }
    }

    fn string(&mut self, text: &mut String, promise: Option<Promise>) {
        let secret = promise.and_then(|promise| {
            let place = match promise {
                Promise::Weak | Promise::Maybe => Place::Quoted,
                Promise::Token | Promise::Password => Place::Environment,
            };
            judge(promise, place, text.as_bytes())
        });
        if let Some(rule) = secret {
            *text = mask(rule.name());
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
            let promise =
                names::promise(name.as_bytes()).filter(|_| header || name.starts_with('-'));
            let value = items[i].as_str().unwrap_or_default();
            let rule = promise.and_then(|promise| judge(promise, Place::Quoted, value.as_bytes()));
            if let Some(rule) = rule.filter(|_| !value.starts_with('-')) {
                items[i] = Value::String(mask(rule.name()));
                self.masked += 1;
            }
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>) {
        if fields.keys().any(|key| !super::is_clean(key)) {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(key, value)| (super::text(&key, self.keep).text.into_owned(), value))
                .collect();
        }
        let named = promise_of_name(fields);
        for (key, value) in fields.iter_mut() {
            let promise = if key.eq_ignore_ascii_case("value") {
                named
            } else {
                None
            };
            self.value(value, promise.or_else(|| names::promise(key.as_bytes())));
        }
    }
}

/// `{"name": "DB_PASSWORD", "value": "…"}`: what the name promises.
fn promise_of_name(fields: &Map<String, Value>) -> Option<Promise> {
    let is_name = |key: &str| {
        ["name", "key"]
            .iter()
            .any(|name| key.eq_ignore_ascii_case(name))
    };
    let name = fields.iter().find(|(key, _)| is_name(key))?.1.as_str()?;
    names::promise(name.as_bytes())
}

/// Several strings and nothing else.
pub(super) fn is_lines(items: &[Value]) -> bool {
    items.len() > 1 && items.iter().all(Value::is_string)
}

fn mask(rule: &str) -> String {
    format!("[redacted:{rule}]")
}
