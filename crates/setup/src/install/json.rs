//! [`JsoncDocument`]: a client's file as a syntax tree that keeps every byte it does not change.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{
    CstContainerNode, CstInputValue, CstLeafNode, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use serde_json::Value;

/// A parsed JSON file with comments, whose top level is an object.
#[derive(Debug)]
pub struct JsoncDocument {
    root: CstRootNode,
    object: CstObject,
    was_empty: bool,
    /// The text starts with a byte order mark, as Windows editors write it.
    has_bom: bool,
    /// For a text without whitespace, to which additions keep: the whitespace after its end.
    compact_tail: Option<String>,
}

const BOM: char = '\u{feff}';

impl JsoncDocument {
    /// Parses a text; an empty one is an empty object. The error is a reason for the user.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = text.strip_prefix(BOM).unwrap_or(text);
        let root = CstRootNode::parse(plain, &ParseOptions::default()).map_err(|e| e.to_string())?;
        let was_empty = plain.trim().is_empty();
        let object = match root.value() {
            None => Some(root.object_value_or_set()),
            Some(value) => value.as_object(),
        };
        Ok(Self {
            object: object.ok_or("expected an object")?,
            root,
            was_empty,
            has_bom: plain.len() < text.len(),
            compact_tail: is_compact(plain).then(|| plain[plain.trim_end().len()..].to_owned()),
        })
    }

    /// The top-level object.
    pub fn object(&self) -> &CstObject {
        &self.object
    }

    /// The text with all changes.
    pub fn text(&self) -> String {
        let mut text = self.root.to_string();
        if let Some(end) = &self.compact_tail {
            text = compact(&text) + end;
        }
        if self.was_empty {
            text = format!("{}\n", text.trim());
        }
        if self.has_bom {
            text.insert(0, BOM);
        }
        text
    }

    /// Whether there is a property at this path.
    pub fn contains_path(&self, path: &[&str]) -> bool {
        let Some((last, way)) = path.split_last() else {
            return true;
        };
        let mut object = self.object.clone();
        for name in way {
            match find_property(&object, name).and_then(|p| p.object_value()) {
                Some(next) => object = next,
                None => return false,
            }
        }
        find_property(&object, last).is_some()
    }
}

/// The value at this path. `None` if there is none or the text cannot be parsed.
pub fn value_at(text: &str, path: &[&str]) -> Option<Value> {
    let (last, way) = path.split_last()?;
    let mut object = JsoncDocument::parse(text).ok()?.object.clone();
    for name in way {
        object = find_property(&object, name)?.object_value()?;
    }
    Some(to_value(&find_property(&object, last)?.value()?))
}

/// Finds a property. Of two with the same name clients use the last.
pub fn find_property(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let is_it = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    object.properties().into_iter().rfind(is_it)
}

/// The object under this name, created if missing. The error is a reason for the user.
pub fn get_or_create_object(object: &CstObject, name: &str) -> Result<CstObject, String> {
    match find_property(object, name) {
        Some(property) => property.object_value().ok_or_else(|| format!("{name} is not an object")),
        None => {
            let made = object.append(name, CstInputValue::Object(Vec::new()));
            made.object_value().ok_or_else(|| format!("{name} is not an object"))
        }
    }
}

/// The JSON value of a node, without comments and formatting.
pub fn to_value(node: &CstNode) -> Value {
    match node {
        CstNode::Container(CstContainerNode::Object(object)) => {
            let pairs = object
                .properties()
                .into_iter()
                .filter_map(|property| Some((property.decoded_name()?, to_value(&property.value()?))));
            Value::Object(pairs.collect())
        }
        CstNode::Container(CstContainerNode::Array(array)) => {
            Value::Array(array.elements().iter().map(to_value).collect())
        }
        CstNode::Leaf(CstLeafNode::StringLit(text)) => {
            text.decoded_value().map_or(Value::Null, Value::String)
        }
        CstNode::Leaf(CstLeafNode::BooleanLit(truth)) => Value::Bool(truth.value()),
        CstNode::Leaf(CstLeafNode::NumberLit(number)) => {
            serde_json::from_str(&number.to_string()).unwrap_or(Value::Null)
        }
        _ => Value::Null,
    }
}

/// The JSON value of an input that is to be written.
pub fn input_to_value(value: &CstInputValue) -> Value {
    match value {
        CstInputValue::Null => Value::Null,
        CstInputValue::Bool(truth) => Value::Bool(*truth),
        CstInputValue::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        CstInputValue::String(text) => Value::String(text.clone()),
        CstInputValue::Array(items) => Value::Array(items.iter().map(input_to_value).collect()),
        CstInputValue::Object(pairs) => {
            let pairs = pairs.iter().map(|(name, value)| (name.clone(), input_to_value(value)));
            Value::Object(pairs.collect())
        }
    }
}

/// A string to write.
pub fn build_string(value: impl Into<String>) -> CstInputValue {
    CstInputValue::String(value.into())
}

/// An object to write.
pub fn build_object<const N: usize>(pairs: [(&str, CstInputValue); N]) -> CstInputValue {
    let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
    CstInputValue::Object(pairs.collect())
}

fn is_compact(text: &str) -> bool {
    text.contains(':') && compact(text) == text.trim_end()
}

/// The text without whitespace, except in strings and comments and at the end of line comments.
fn compact(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let end = match first {
            '"' => end_of_string(rest),
            '/' if rest.starts_with("//") => rest.find('\n').map_or(rest.len(), |at| at + 1),
            '/' if rest.starts_with("/*") => rest.find("*/").map_or(rest.len(), |at| at + 2),
            _ => first.len_utf8(),
        };
        if !first.is_whitespace() {
            out.push_str(&rest[..end]);
        }
        rest = &rest[end..];
    }
    out
}

fn end_of_string(text: &str) -> usize {
    let mut escaped = false;
    for (at, letter) in text.char_indices().skip(1) {
        match letter {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unchanged_text_keeps_every_byte() {
        for text in [
            "{}",
            "{\r\n\t\"a\": [1,2 , 3], // why\r\n}\r\n",
            "\u{feff}{\"a\":1}",
            "/* head */ {\"a\": {\"b\": null,},}\n\n",
            r#"{"a":"x \" // y","b":[true,false]}"#,
            "{\"a\":1}\n",
        ] {
            assert_eq!(JsoncDocument::parse(text).unwrap().text(), text);
        }
    }

    #[test]
    fn non_objects_are_rejected() {
        for text in ["[]", "1", "{", "{\"a\": }", "\"hooks\"", "{} {}"] {
            assert!(JsoncDocument::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn compact_text_stays_compact() {
        let document = JsoncDocument::parse(r#"{"a":"b c","d":{}}"#).unwrap();
        document.object().append("e", build_object([("f g", build_string("h i"))]));
        assert_eq!(document.text(), r#"{"a":"b c","d":{},"e":{"f g":"h i"}}"#);
    }

    #[test]
    fn line_ends_and_indentation_are_kept() {
        let document = JsoncDocument::parse("{\r\n\t\"a\": 1\r\n}\r\n").unwrap();
        document.object().append("b", build_object([("c", build_string("d"))]));
        assert_eq!(document.text(), "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t\t\"c\": \"d\"\r\n\t}\r\n}\r\n");
    }

    #[test]
    fn last_of_two_equal_properties_counts() {
        let document = JsoncDocument::parse(r#"{"a": 1, "a": {"b": 2}}"#).unwrap();
        assert!(document.contains_path(&["a", "b"]));
        assert!(!document.contains_path(&["a", "c"]));
    }
}
