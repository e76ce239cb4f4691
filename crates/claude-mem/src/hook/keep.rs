//! What is kept of a tool's input or output.
//!
//! In: unread JSON of any size and shape. Out: a redacted value of bounded size, depth and number
//! of parts. Long strings are redacted and cut where they lie in the payload, so that a payload
//! of many megabytes is never copied; what is left goes through `redact` as a whole.
//!
//! Invariant: nothing leaves here unredacted, and a private block that a long string leaves open
//! takes everything behind it along.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::limits::{TOOL_DEPTH_MAX, TOOL_STRING_BYTES_MAX, TOOL_VALUES_MAX};
use crate::redact::{self, Cut};

/// The value as it may be stored, and whether anything was left out of it.
#[derive(Debug, PartialEq)]
pub struct Kept {
    pub value: Value,
    pub cut: bool,
}

/// Reads, cuts and redacts.
pub fn json(raw: &RawValue, bytes_max: usize) -> Kept {
    let mut limits = Limits {
        values_left: TOOL_VALUES_MAX,
        depth: 0,
        closed_off: false,
        cut: false,
    };
    let mut from = serde_json::Deserializer::from_str(raw.get());
    // What decoded as a whole can still hold a number or an escape that no value has.
    let Ok(mut value) = (Part {
        limits: &mut limits,
    })
    .deserialize(&mut from) else {
        return Kept {
            value: Value::Null,
            cut: true,
        };
    };
    redact::json(&mut value, Cut::of(bytes_max));
    Kept {
        value,
        cut: limits.cut,
    }
}

struct Limits {
    values_left: usize,
    depth: usize,
    /// A private block was left open: nothing more is taken.
    closed_off: bool,
    cut: bool,
}

impl Limits {
    fn takes_one_more(&mut self) -> bool {
        let takes = self.values_left > 0 && !self.closed_off;
        self.values_left = self.values_left.saturating_sub(1);
        self.cut |= !takes;
        takes
    }

    fn text(&mut self, text: &str) -> String {
        if text.len() <= TOOL_STRING_BYTES_MAX {
            return text.to_owned();
        }
        self.cut = true;
        if is_encoded(text) {
            return format!("[… {} bytes of encoded data …]", text.len());
        }
        if leaves_private_open(text) {
            self.closed_off = true;
        }
        let kept = redact::text(text, Cut::of(TOOL_STRING_BYTES_MAX));
        kept.text.into_owned()
    }
}

/// An image or an archive: letters without a gap.
fn is_encoded(text: &str) -> bool {
    text.bytes().take(1024).all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
    })
}

/// True if a word after the text would be private.
fn leaves_private_open(text: &str) -> bool {
    let stripped = redact::private(text);
    stripped.private && {
        let and_a_word = format!("{text} x");
        !redact::private(&and_a_word).text.ends_with('x')
    }
}

/// Fields that repeat, whole, what other fields say in part.
fn is_redundant(name: &str) -> bool {
    // A file as it was before an edit; the patch beside it says what changed.
    name == "originalFile"
}

/// One value on its way in.
struct Part<'l> {
    limits: &'l mut Limits,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Value, D::Error> {
        if self.limits.depth > TOOL_DEPTH_MAX {
            from.deserialize_ignored_any(IgnoredAny)?;
            self.limits.cut = true;
            return Ok(Value::String("[… too deep …]".to_owned()));
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_str<E>(self, text: &str) -> Result<Value, E> {
        Ok(Value::String(self.limits.text(text)))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let limits = self.limits;
        limits.depth += 1;
        let mut items = Vec::new();
        while limits.takes_one_more() {
            let Some(item) = from.next_element_seed(Part { limits })? else {
                limits.depth -= 1;
                return Ok(Value::Array(items));
            };
            items.push(item);
        }
        let mut left_out = 0_usize;
        while from.next_element::<IgnoredAny>()?.is_some() {
            left_out += 1;
        }
        items.push(Value::String(format!("[… {left_out} more …]")));
        limits.depth -= 1;
        Ok(Value::Array(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Value, A::Error> {
        let limits = self.limits;
        limits.depth += 1;
        let mut fields = Map::new();
        while let Some(name) = from.next_key::<std::borrow::Cow<'de, str>>()? {
            if is_redundant(&name) || name.len() > TOOL_STRING_BYTES_MAX || !limits.takes_one_more()
            {
                from.next_value::<IgnoredAny>()?;
            } else {
                let value = from.next_value_seed(Part { limits })?;
                fields.insert(name.into_owned(), value);
            }
        }
        limits.depth -= 1;
        Ok(Value::Object(fields))
    }
}

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;
