//! A client's file as a tree that gives back every byte it was not asked to change.

use jsonc_parser::ParseOptions;
use jsonc_parser::cst::{
    CstContainerNode, CstInputValue, CstLeafNode, CstNode, CstObject, CstObjectProp, CstRootNode,
};
use serde_json::Value;

/// The text in the tree's hands.
#[derive(Debug)]
pub struct Document {
    root: CstRootNode,
    object: CstObject,
    was_empty: bool,
    /// Windows editors put it before the text.
    has_mark: bool,
    /// Without any space: what is added is written so as well. What stands after the end.
    dense_until: Option<String>,
}

const MARK: char = '\u{feff}';

impl Document {
    /// An empty text is an empty object. The error is a reason for people.
    pub fn parse(text: &str) -> Result<Self, String> {
        let plain = text.strip_prefix(MARK).unwrap_or(text);
        let root =
            CstRootNode::parse(plain, &ParseOptions::default()).map_err(|e| e.to_string())?;
        let was_empty = plain.trim().is_empty();
        let object = match root.value() {
            None => Some(root.object_value_or_set()),
            Some(value) => value.as_object(),
        };
        Ok(Self {
            object: object.ok_or("an object was expected")?,
            root,
            was_empty,
            has_mark: plain.len() < text.len(),
            dense_until: is_dense(plain).then(|| plain[plain.trim_end().len()..].to_owned()),
        })
    }

    pub fn object(&self) -> &CstObject {
        &self.object
    }

    pub fn text(&self) -> String {
        let mut text = self.root.to_string();
        if let Some(end) = &self.dense_until {
            text = dense(&text) + end;
        }
        if self.was_empty {
            text = format!("{}\n", text.trim());
        }
        if self.has_mark {
            text.insert(0, MARK);
        }
        text
    }

    /// Whether this path leads to anything.
    pub fn has(&self, path: &[&str]) -> bool {
        let Some((last, way)) = path.split_last() else {
            return true;
        };
        let mut object = self.object.clone();
        for name in way {
            match property(&object, name).and_then(|p| p.object_value()) {
                Some(next) => object = next,
                None => return false,
            }
        }
        property(&object, last).is_some()
    }
}

/// What stands at the end of this path. `None`: nothing, or the text cannot be read.
pub fn value_at(text: &str, path: &[&str]) -> Option<Value> {
    let (last, way) = path.split_last()?;
    let mut object = Document::parse(text).ok()?.object.clone();
    for name in way {
        object = property(&object, name)?.object_value()?;
    }
    Some(meaning(&property(&object, last)?.value()?))
}

/// The property that counts: of two with one name a client takes the last.
pub fn property(object: &CstObject, name: &str) -> Option<CstObjectProp> {
    let is_it = |property: &CstObjectProp| property.decoded_name().as_deref() == Some(name);
    object.properties().into_iter().rfind(is_it)
}

/// The object under this name, made if there is none. The error is a reason for people.
pub fn object_in(object: &CstObject, name: &str) -> Result<CstObject, String> {
    match property(object, name) {
        Some(property) => property
            .object_value()
            .ok_or_else(|| format!("{name} is not an object")),
        None => {
            let made = object.append(name, CstInputValue::Object(Vec::new()));
            made.object_value()
                .ok_or_else(|| format!("{name} is not an object"))
        }
    }
}

/// What a node means, comments and spelling aside.
pub fn meaning(node: &CstNode) -> Value {
    match node {
        CstNode::Container(CstContainerNode::Object(object)) => {
            let pairs = object.properties().into_iter().filter_map(|property| {
                Some((property.decoded_name()?, meaning(&property.value()?)))
            });
            Value::Object(pairs.collect())
        }
        CstNode::Container(CstContainerNode::Array(array)) => {
            Value::Array(array.elements().iter().map(meaning).collect())
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

/// What a value that is to be written will mean.
pub fn meaning_of(value: &CstInputValue) -> Value {
    match value {
        CstInputValue::Null => Value::Null,
        CstInputValue::Bool(truth) => Value::Bool(*truth),
        CstInputValue::Number(text) => serde_json::from_str(text).unwrap_or(Value::Null),
        CstInputValue::String(text) => Value::String(text.clone()),
        CstInputValue::Array(items) => Value::Array(items.iter().map(meaning_of).collect()),
        CstInputValue::Object(pairs) => {
            let pairs = pairs
                .iter()
                .map(|(name, value)| (name.clone(), meaning_of(value)));
            Value::Object(pairs.collect())
        }
    }
}

pub fn text(value: impl Into<String>) -> CstInputValue {
    CstInputValue::String(value.into())
}

pub fn object<const N: usize>(pairs: [(&str, CstInputValue); N]) -> CstInputValue {
    let pairs = pairs
        .into_iter()
        .map(|(name, value)| (name.to_owned(), value));
    CstInputValue::Object(pairs.collect())
}

fn is_dense(text: &str) -> bool {
    text.contains(':') && dense(text) == text.trim_end()
}

/// The text without space, comments and strings kept. A line comment keeps the end of its line.
fn dense(text: &str) -> String {
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
    fn what_is_not_changed_comes_back_byte_for_byte() {
        for text in [
            "{}",
            "{\r\n\t\"a\": [1,2 , 3], // why\r\n}\r\n",
            "\u{feff}{\"a\":1}",
            "/* head */ {\"a\": {\"b\": null,},}\n\n",
            r#"{"a":"x \" // y","b":[true,false]}"#,
            "{\"a\":1}\n",
        ] {
            assert_eq!(Document::parse(text).unwrap().text(), text);
        }
    }

    #[test]
    fn what_is_no_object_is_refused() {
        for text in ["[]", "1", "{", "{\"a\": }", "\"hooks\"", "{} {}"] {
            assert!(Document::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_text_without_space_stays_one() {
        let document = Document::parse(r#"{"a":"b c","d":{}}"#).unwrap();
        document
            .object()
            .append("e", object([("f g", text("h i"))]));
        assert_eq!(document.text(), r#"{"a":"b c","d":{},"e":{"f g":"h i"}}"#);
    }

    #[test]
    fn line_ends_and_indentation_are_taken_from_the_text() {
        let document = Document::parse("{\r\n\t\"a\": 1\r\n}\r\n").unwrap();
        document.object().append("b", object([("c", text("d"))]));
        assert_eq!(
            document.text(),
            "{\r\n\t\"a\": 1,\r\n\t\"b\": {\r\n\t\t\"c\": \"d\"\r\n\t}\r\n}\r\n"
        );
    }

    #[test]
    fn of_two_properties_of_one_name_the_last_counts() {
        let document = Document::parse(r#"{"a": 1, "a": {"b": 2}}"#).unwrap();
        assert!(document.has(&["a", "b"]));
        assert!(!document.has(&["a", "c"]));
    }
}
