//! Redacts JSON as clients send it: a tool's input, a tool's response.
//!
//! Every string and every object's key is a text of its own, with one exception: the strings of
//! one array are read as lines of one text, because that is what a patch is, and a private block
//! or a key may begin in one line and end in another.

use serde_json::{Map, Value};

use super::cut::Cut;
use super::names::{self, Promise};
use super::place::Place;
use super::{Redacted, assign};

/// Redacts `value` in place. What is left is about as long as `keep` allows, however many
/// strings there are. Returns how many secrets were masked.
pub fn json(value: &mut Value, keep: Cut) -> u32 {
    let mut walk = Walk {
        keep,
        left_bytes: keep.bytes_max(),
        masked: 0,
    };
    walk.value(value, None);
    walk.masked
}

struct Walk {
    keep: Cut,
    left_bytes: usize,
    masked: u32,
}

impl Walk {
    fn value(&mut self, value: &mut Value, promise: Option<Promise>) {
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::Number(_) if promise == Some(Promise::Password) => {
                *value = Value::String(mask("password"));
                self.masked += 1;
            }
            Value::Number(_) => {}
            Value::String(text) => self.string(text, promise),
            Value::Array(items) => self.array(items, promise),
            Value::Object(fields) => self.object(fields),
        }
    }

    fn string(&mut self, text: &mut String, promise: Option<Promise>) {
        let Redacted {
            text: clean,
            masked,
            ..
        } = super::text(text, self.keep);
        self.masked += masked;
        if let std::borrow::Cow::Owned(clean) = clean {
            *text = clean;
        }
        let secret = promise.and_then(|promise| {
            let place = if promise == Promise::Weak {
                Place::Quoted
            } else {
                Place::Environment
            };
            assign::judge(promise, place, text.as_bytes())
        });
        if let Some(rule) = secret {
            *text = mask(rule.name());
            self.masked += 1;
        }
        self.spend(text);
    }

    /// Takes the text's bytes from what may be kept; a text that does not fit is elided whole.
    fn spend(&mut self, text: &mut String) {
        if text.len() > self.left_bytes {
            *text = super::cut::elision(text.len());
        }
        self.left_bytes = self.left_bytes.saturating_sub(text.len());
    }

    fn array(&mut self, items: &mut Vec<Value>, promise: Option<Promise>) {
        if items.len() > 1 && items.iter().all(Value::is_string) && promise.is_none() {
            self.lines(items);
            return;
        }
        let kept = items.len().min(self.left_bytes);
        let dropped = items.len() - kept;
        items.truncate(kept);
        for item in items.iter_mut() {
            self.value(item, promise);
        }
        if dropped > 0 {
            items.push(Value::String(format!("[… {dropped} items elided …]")));
        }
    }

    fn lines(&mut self, items: &mut Vec<Value>) {
        let lines: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        let whole = lines.join("\n");
        let Redacted { text, masked, .. } = super::text(&whole, self.keep);
        self.masked += masked;
        let fits = text.len() <= self.left_bytes;
        self.left_bytes = self.left_bytes.saturating_sub(text.len());
        if !fits {
            *items = vec![Value::String(super::cut::elision(text.len()))];
        } else if let std::borrow::Cow::Owned(text) = text {
            *items = text
                .split('\n')
                .map(|line| Value::String(line.to_owned()))
                .collect();
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>) {
        let dirty = fields.keys().any(|key| !super::is_clean(key));
        if dirty {
            let taken = std::mem::take(fields);
            fields.extend(
                taken
                    .into_iter()
                    .map(|(key, value)| (super::text(&key, self.keep).text.into_owned(), value)),
            );
        }
        for (key, value) in fields.iter_mut() {
            self.left_bytes = self.left_bytes.saturating_sub(key.len());
            self.value(value, names::promise(key.as_bytes()));
        }
    }
}

fn mask(rule: &str) -> String {
    format!("[redacted:{rule}]")
}
