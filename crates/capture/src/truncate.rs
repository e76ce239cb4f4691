//! Truncates and redacts a tool's input or output.
//!
//! [`ToolCallTruncator`] turns raw JSON of any size and shape into a redacted [`TruncatedValue`] of
//! bounded size, depth and number of values. Long strings are redacted and truncated while the
//! payload is parsed, so that a payload of many megabytes is never copied; the result then goes
//! through `redact` as a whole.
//!
//! Invariant: nothing leaves this module unredacted. A private block or private key that one string
//! leaves open hides everything that follows, up to where it is closed. Hidden fields and items are
//! omitted.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use claude_mem_core::limits::{TOOL_DEPTH_MAX, TOOL_STRING_BYTES_MAX};
use claude_mem_redact::{HeadTailLimit, OpenBlockTracker, OutputSecrecy, VisibleText};

/// Maximum JSON values (numbers, strings, arrays, objects) kept of a tool's input or output.
pub(crate) const TOOL_VALUES_MAX: usize = 4_096;

/// Maximum bytes kept of one field name inside a tool's input or output.
pub(crate) const TOOL_NAME_BYTES_MAX: usize = 256;

/// A value that may be stored, and whether a limit of this module removed anything. Pruning to
/// `bytes_max` in `redact` is not counted.
#[derive(Debug, PartialEq)]
pub struct TruncatedValue {
    pub value: Value,
    pub cut: bool,
}

/// Truncates the input and then the output of one tool call. A private block may begin in the input
/// and end in the output, and the input says whether the output is secret as a whole.
#[derive(Debug, Default)]
pub struct ToolCallTruncator {
    /// Private blocks that earlier texts of the call left open.
    flow: OpenBlockTracker,
    output_secrecy: OutputSecrecy,
}

impl ToolCallTruncator {
    /// Truncates and redacts the input.
    pub fn input(&mut self, raw: &RawValue, bytes_max: usize) -> TruncatedValue {
        let (mut value, cut) = self.parse(raw);
        self.output_secrecy = OutputSecrecy::from_input(&value);
        claude_mem_redact::json(&mut value, HeadTailLimit::from_total(bytes_max));
        TruncatedValue { value, cut }
    }

    /// Truncates and redacts the output.
    pub fn output(&mut self, raw: &RawValue, bytes_max: usize) -> TruncatedValue {
        let (mut value, cut) = self.parse(raw);
        let keep = HeadTailLimit::from_total(bytes_max);
        claude_mem_redact::json_output(&mut value, keep, self.output_secrecy);
        TruncatedValue { value, cut }
    }

    fn parse(&mut self, raw: &RawValue) -> (Value, bool) {
        let flow = std::mem::take(&mut self.flow);
        let mut limits = TruncationState { values_left: TOOL_VALUES_MAX, depth: 0, flow, cut: false };
        let mut from = serde_json::Deserializer::from_str(raw.get());
        let parsed = (TruncatingVisitor { state: &mut limits }).deserialize(&mut from);
        self.flow = limits.flow;
        // A raw value that decoded as part of the payload can still hold an invalid number or escape.
        let Ok(value) = parsed else {
            return (Value::Null, true);
        };
        (value.unwrap_or_default(), limits.cut)
    }
}

/// Remaining limits, and the private blocks that are open so far.
struct TruncationState {
    values_left: usize,
    depth: usize,
    /// Private blocks that earlier strings left open.
    flow: OpenBlockTracker,
    cut: bool,
}

impl TruncationState {
    fn admit_value(&mut self) -> bool {
        let takes = self.values_left > 0;
        self.values_left = self.values_left.saturating_sub(1);
        self.cut |= !takes;
        takes
    }

    /// Looks for tags in a value that is left out: a private block may begin or end there.
    fn skip(&mut self, skipped: &RawValue) {
        let text = skipped.get();
        let mentions = |word: &str| memchr::memmem::find(text.as_bytes(), word.as_bytes()).is_some();
        if self.flow.is_private() || mentions("private") || mentions("PRIVATE") || mentions("Private") {
            self.flow.next_text(text);
        }
    }

    fn truncate_text(&mut self, text: &str) -> Option<Value> {
        let left = match self.flow.next_text(text) {
            VisibleText::Whole => Cow::Borrowed(text),
            VisibleText::Part(left) => left,
            VisibleText::Hidden => return None,
        };
        if left.len() <= TOOL_STRING_BYTES_MAX {
            return Some(Value::String(left.into_owned()));
        }
        self.cut = true;
        if is_encoded(&left) {
            let size = format!("[… {} bytes of encoded data …]", left.len());
            return Some(Value::String(size));
        }
        let kept = claude_mem_redact::text(&left, HeadTailLimit::from_total(TOOL_STRING_BYTES_MAX));
        Some(Value::String(kept.text.into_owned()))
    }

    fn truncate_name(&mut self, name: Cow<'_, str>) -> Option<String> {
        let left = match self.flow.next_name(&name) {
            VisibleText::Whole => name,
            VisibleText::Part(left) => Cow::Owned(left.into_owned()),
            VisibleText::Hidden => return None,
        };
        if left.len() <= TOOL_NAME_BYTES_MAX {
            return Some(left.into_owned());
        }
        self.cut = true;
        let kept = claude_mem_redact::text(&left, HeadTailLimit::from_total(TOOL_NAME_BYTES_MAX));
        Some(kept.text.into_owned())
    }

    fn scalar(&self, value: impl Into<Value>) -> Option<Value> {
        (!self.flow.is_private()).then(|| value.into())
    }
}

/// Whether a text looks like encoded binary data, such as an image: Base64 characters without a gap.
fn is_encoded(text: &str) -> bool {
    text.bytes()
        .take(1024)
        .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=' | b'-' | b'_'))
}

/// Fields that repeat in full what other fields contain in part.
fn is_redundant(name: &str) -> bool {
    // The file before an edit; the patch beside it shows the change.
    name == "originalFile"
}

/// Visits one JSON value; yields `None` if it is hidden.
struct TruncatingVisitor<'l> {
    state: &'l mut TruncationState,
}

impl<'de> DeserializeSeed<'de> for TruncatingVisitor<'_> {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<Self::Value, D::Error> {
        if self.state.depth > TOOL_DEPTH_MAX {
            let skipped = <&RawValue>::deserialize(from)?;
            self.state.skip(skipped);
            self.state.cut = true;
            return Ok(Some(Value::String("[… too deep …]".to_owned())));
        }
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TruncatingVisitor<'_> {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("any JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(self.state.scalar(Value::Null))
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(self.state.scalar(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(self.state.scalar(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(self.state.scalar(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(self.state.scalar(value))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(self.state.truncate_text(text))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let limits = self.state;
        limits.depth += 1;
        let mut items = Vec::new();
        while limits.admit_value() {
            let Some(item) = from.next_element_seed(TruncatingVisitor { state: limits })? else {
                limits.depth -= 1;
                return Ok(Some(Value::Array(items)));
            };
            items.extend(item);
        }
        let mut left_out = 0_usize;
        while let Some(skipped) = from.next_element::<&RawValue>()? {
            limits.skip(skipped);
            left_out += 1;
        }
        items.push(Value::String(format!("[… {left_out} more …]")));
        limits.depth -= 1;
        Ok(Some(Value::Array(items)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut from: A) -> Result<Self::Value, A::Error> {
        let limits = self.state;
        limits.depth += 1;
        let mut fields = Map::new();
        while let Some(name) = from.next_key::<Cow<'de, str>>()? {
            if is_redundant(&name) || !limits.admit_value() {
                let skipped = from.next_value::<&RawValue>()?;
                limits.skip(skipped);
                continue;
            }
            let name = limits.truncate_name(name);
            // Visit the value of a hidden name too: it may close an open private block.
            let value = from.next_value_seed(TruncatingVisitor { state: limits })?;
            if let (Some(name), Some(value)) = (name, value) {
                fields.insert(name, value);
            }
        }
        limits.depth -= 1;
        Ok(Some(Value::Object(fields)))
    }
}

#[cfg(test)]
#[path = "truncate_tests.rs"]
mod tests;
