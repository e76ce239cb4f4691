//! What is kept of a tool's input or output.
//!
//! In: unread JSON of any size and shape. Out: a redacted value of bounded size, depth and number
//! of parts. Long strings are redacted and cut where they lie in the payload, so that a payload
//! of many megabytes is never copied; what is left goes through `redact` as a whole.
//!
//! Invariant: nothing leaves here unredacted, and a private block or a private key that one string
//! leaves open takes everything behind it along, up to where it is closed. A field or an item that
//! is hidden so is left out.

use std::borrow::Cow;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::limits::{TOOL_DEPTH_MAX, TOOL_NAME_BYTES_MAX, TOOL_STRING_BYTES_MAX, TOOL_VALUES_MAX};
use crate::redact::{self, Cut, Flow, Passed};

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
        flow: Flow::default(),
        cut: false,
    };
    let mut from = serde_json::Deserializer::from_str(raw.get());
    // What decoded as a whole can still hold a number or an escape that no value has.
    let Ok(value) = (Part {
        limits: &mut limits,
    })
    .deserialize(&mut from) else {
        return Kept {
            value: Value::Null,
            cut: true,
        };
    };
    let mut value = value.unwrap_or_default();
    redact::json(&mut value, Cut::of(bytes_max));
    Kept {
        value,
        cut: limits.cut,
    }
}

struct Limits {
    values_left: usize,
    depth: usize,
    /// What the strings so far left open.
    flow: Flow,
    cut: bool,
}

impl Limits {
    fn takes_one_more(&mut self) -> bool {
        let takes = self.values_left > 0;
        self.values_left = self.values_left.saturating_sub(1);
        self.cut |= !takes;
        takes
    }

    fn text(&mut self, text: &str) -> Option<Value> {
        let left = match self.flow.text(text) {
            Passed::Whole => Cow::Borrowed(text),
            Passed::Part(left) => left,
            Passed::Hidden => return None,
        };
        if left.len() <= TOOL_STRING_BYTES_MAX {
            return Some(Value::String(left.into_owned()));
        }
        self.cut = true;
        if is_encoded(&left) {
            let size = format!("[… {} bytes of encoded data …]", left.len());
            return Some(Value::String(size));
        }
        let kept = redact::text(&left, Cut::of(TOOL_STRING_BYTES_MAX));
        Some(Value::String(kept.text.into_owned()))
    }

    fn name(&mut self, name: Cow<'_, str>) -> Option<String> {
        let left = match self.flow.name(&name) {
            Passed::Whole => name,
            Passed::Part(left) => Cow::Owned(left.into_owned()),
            Passed::Hidden => return None,
        };
        if left.len() <= TOOL_NAME_BYTES_MAX {
            return Some(left.into_owned());
        }
        self.cut = true;
        let kept = redact::text(&left, Cut::of(TOOL_NAME_BYTES_MAX));
        Some(kept.text.into_owned())
    }

    fn plain(&self, value: impl Into<Value>) -> Option<Value> {
        (!self.flow.is_private()).then(|| value.into())
    }
}

/// An image or an archive: letters without a gap.
fn is_encoded(text: &str) -> bool {
    text.bytes().take(1024).all(|byte| {
        byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_')
    })
}

/// Fields that repeat, whole, what other fields say in part.
fn is_redundant(name: &str) -> bool {
    // A file as it was before an edit; the patch beside it says what changed.
    name == "originalFile"
}

/// One value on its way in. `None`: it is hidden.
struct Part<'l> {
    limits: &'l mut Limits,
}

impl<'de> DeserializeSeed<'de> for Part<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        if self.limits.depth > TOOL_DEPTH_MAX {
            from.deserialize_ignored_any(IgnoredAny)?;
            self.limits.cut = true;
            return Ok(Some(Value::String("[… too deep …]".to_owned())));
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Part<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(self.limits.plain(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(self.limits.plain(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(self.limits.plain(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(self.limits.plain(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(self.limits.plain(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.limits.text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let limits = self.limits;
        limits.depth += 1;
        let mut items = Vec::new();
        while limits.takes_one_more() {
            let Some(item) = from.next_element_seed(Part { limits })? else {
                limits.depth -= 1;
                return Ok(Some(Value::Array(items)));
            };
            items.extend(item);
        }
        let mut left_out = 0_usize;
        while from.next_element::<IgnoredAny>()?.is_some() {
            left_out += 1;
        }
        items.push(Value::String(format!("[… {left_out} more …]")));
        limits.depth -= 1;
        Ok(Some(Value::Array(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let limits = self.limits;
        limits.depth += 1;
        let mut fields = Map::new();
        while let Some(name) = from.next_key::<Cow<'de, str>>()? {
            if is_redundant(&name) || !limits.takes_one_more() {
                from.next_value::<IgnoredAny>()?;
                continue;
            }
            let name = limits.name(name);
            // Also of a hidden name: what was opened may be closed in here.
            let value = from.next_value_seed(Part { limits })?;
            if let (Some(name), Some(value)) = (name, value) {
                fields.insert(name, value);
            }
        }
        limits.depth -= 1;
        Ok(Some(Value::Object(fields)))
    }
}

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;
