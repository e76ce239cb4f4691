//! Finds secrets in JSON that stands inside a text, as the output of most commands does: a document
//! or a line of it is parsed, redacted like any other JSON, and the values that were masked are mapped
//! back to the text.
//!
//! The parser is lenient: it also reads what Python, JavaScript and YAML print as objects and lists.

use std::ops::Range;

use serde_json::{Map, Value};

use super::json_walk::{JsonTexts, JsonWalk};
use super::rules::RuleId;
use super::secret_span::SecretSpan;

const NAMED_VALUE: RuleId = RuleId::named("named-value");
/// Maximum number of values of one document.
const NODES_MAX: usize = 20_000;
/// Maximum depth of a document.
const DEPTH_MAX: usize = 48;
/// Maximum length of a value or key without quotes.
const BARE_BYTES_MAX: usize = 200;
/// How many lines that only look like JSON are tried.
const FAILURES_MAX: usize = 24;
/// How deep JSON may be nested in strings of JSON.
const NESTED_MAX: usize = 2;

/// Appends the secrets of all JSON values that start a line of `text`.
///
/// `search` finds the secrets of a command line that is given as a list.
pub(super) fn find(text: &str, search: SecretSearch, spans: &mut Vec<SecretSpan>) {
    find_nested(text, NESTED_MAX, search, spans);
}

/// Finds the secrets of a text.
pub(super) type SecretSearch = fn(&str) -> Vec<SecretSpan>;

/// Leaves texts as they are: they are searched with the text around them.
struct ExpectedOnly(SecretSearch);

impl JsonTexts for ExpectedOnly {
    const EXPECTED_ONLY: bool = true;

    fn redact_text(&self, _: &mut String, _: bool) -> u32 {
        0
    }

    fn redact_lines(&self, _: &mut Vec<Value>) -> u32 {
        0
    }

    fn redact_key(&self, _: &str) -> Option<String> {
        None
    }

    fn redact_path(&self, _: &mut String) -> u32 {
        0
    }

    fn find_secrets(&self, line: &str) -> Vec<SecretSpan> {
        (self.0)(line)
    }
}

fn find_nested(text: &str, nested: usize, search: SecretSearch, spans: &mut Vec<SecretSpan>) {
    let bytes = text.as_bytes();
    let (mut line, mut failures) = (0, 0);
    while line < bytes.len() && failures < FAILURES_MAX {
        let start = line + bytes[line..].iter().take_while(|b| matches!(b, b' ' | b'\t')).count();
        let mut next = start;
        if may_open(&bytes[start..]) {
            let mut parser = SpanParser { text, here: start, nodes: 0 };
            match parser.value(0) {
                Some(node) if parser.here > start + 2 => {
                    push_secrets(text, &node, nested, search, spans);
                    next = parser.here;
                }
                _ => failures += 1,
            }
        }
        line = memchr::memchr(b'\n', &bytes[next..]).map_or(bytes.len(), |i| next + i + 1);
    }
}

/// Whether an object or list may start here; a quick check before the parser.
fn may_open(bytes: &[u8]) -> bool {
    let [b'{' | b'[', rest @ ..] = bytes else {
        return false;
    };
    let first = rest.iter().take(80).find(|b| !b.is_ascii_whitespace());
    first.is_some_and(|b| {
        matches!(b, b'"' | b'\'' | b'{' | b'[' | b'(' | b':') || bytes[0] == b'{' && b.is_ascii_alphabetic()
    })
}

/// A value and where it stands in the text.
enum SpanNode {
    Object(Vec<(String, Self)>),
    List(Vec<Self>),
    /// The content of a string, without its quotes.
    Text(Range<usize>),
    /// A number or a word without quotes.
    Bare(Range<usize>),
}

struct SpanParser<'a> {
    text: &'a str,
    here: usize,
    nodes: usize,
}

impl SpanParser<'_> {
    fn skip_blanks(&mut self) {
        let rest = &self.text.as_bytes()[self.here..];
        self.here += rest.iter().take_while(|b| b.is_ascii_whitespace()).count();
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.here).copied()
    }

    fn value(&mut self, depth: usize) -> Option<SpanNode> {
        self.skip_blanks();
        self.nodes += 1;
        if depth > DEPTH_MAX || self.nodes > NODES_MAX {
            return None;
        }
        match self.peek()? {
            b'{' => self.object(depth),
            b'[' => self.list(depth, b']'),
            b'(' => self.list(depth, b')'),
            quote @ (b'"' | b'\'') => self.string(quote).map(SpanNode::Text),
            _ => self.bare().map(SpanNode::Bare),
        }
    }

    fn object(&mut self, depth: usize) -> Option<SpanNode> {
        self.here += 1;
        let mut fields = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek()? {
                b'}' => {
                    self.here += 1;
                    return Some(SpanNode::Object(fields));
                }
                b',' => self.here += 1,
                _ => {
                    let key = self.key()?;
                    fields.push((key, self.value(depth + 1)?));
                }
            }
        }
    }

    /// A key and the sign after it: `"a":`, `a:`, `:a=>`.
    fn key(&mut self) -> Option<String> {
        let range = match self.peek()? {
            quote @ (b'"' | b'\'') => self.string(quote)?,
            _ => {
                self.here += usize::from(self.peek() == Some(b':'));
                let rest = &self.text.as_bytes()[self.here..];
                let of_key = |b: &&u8| b.is_ascii_alphanumeric() || b"_-.$/@".contains(b);
                let length = rest.iter().take(BARE_BYTES_MAX).take_while(of_key).count();
                let start = self.here;
                self.here += length;
                (length > 0).then_some(start..start + length)?
            }
        };
        self.skip_blanks();
        let rest = &self.text.as_bytes()[self.here..];
        let sign = match rest {
            [b'=', b'>', ..] => 2,
            [b':' | b'=', ..] => 1,
            _ => return None,
        };
        self.here += sign;
        Some(decoded(self.text.get(range)?))
    }

    fn list(&mut self, depth: usize, close: u8) -> Option<SpanNode> {
        self.here += 1;
        let mut items = Vec::new();
        loop {
            self.skip_blanks();
            match self.peek()? {
                b if b == close => {
                    self.here += 1;
                    return Some(SpanNode::List(items));
                }
                b',' => self.here += 1,
                _ => items.push(self.value(depth + 1)?),
            }
        }
    }

    fn string(&mut self, quote: u8) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let start = self.here + 1;
        let mut here = start;
        loop {
            match *bytes.get(here)? {
                b'\\' => here += 2,
                b'\n' => return None,
                b if b == quote => break,
                _ => here += 1,
            }
        }
        self.here = here + 1;
        Some(start..here)
    }

    fn bare(&mut self) -> Option<Range<usize>> {
        let rest = &self.text.as_bytes()[self.here..];
        let ends = |b: &u8| matches!(b, b',' | b'}' | b']' | b')' | b'\n' | b'{' | b'[' | b'"');
        let length = rest.iter().take(BARE_BYTES_MAX).position(ends)?;
        let start = self.here;
        self.here += length;
        let end = start + self.text.get(start..start + length)?.trim_end().len();
        (start < end).then_some(start..end)
    }
}

/// The text of a string, without its escapes.
fn decoded(raw: &str) -> String {
    if !raw.contains('\\') {
        return raw.to_owned();
    }
    serde_json::from_str(&format!("\"{raw}\"")).unwrap_or_else(|_| raw.to_owned())
}

impl SpanNode {
    fn to_value(&self, text: &str) -> Value {
        match self {
            Self::Object(fields) => {
                let fields = fields.iter().map(|(key, node)| (key.clone(), node.to_value(text)));
                Value::Object(fields.collect::<Map<_, _>>())
            }
            Self::List(items) => Value::Array(items.iter().map(|item| item.to_value(text)).collect()),
            Self::Text(range) => Value::String(decoded(&text[range.clone()])),
            Self::Bare(range) => match &text[range.clone()] {
                "true" | "True" => Value::Bool(true),
                "false" | "False" => Value::Bool(false),
                "null" | "None" | "nil" | "undefined" => Value::Null,
                word => word
                    .parse::<i64>()
                    .map_or_else(|_| Value::String(word.to_owned()), |number| Value::Number(number.into())),
            },
        }
    }
}

fn push_secrets(
    text: &str,
    node: &SpanNode,
    nested: usize,
    search: SecretSearch,
    spans: &mut Vec<SecretSpan>,
) {
    let mut value = node.to_value(text);
    JsonWalk::new(ExpectedOnly(search), false).value(&mut value, None);
    push_changed(text, node, &value, nested, search, spans);
}

/// Appends the places of `node` whose value in the redacted document is another one.
fn push_changed(
    text: &str,
    node: &SpanNode,
    value: &Value,
    nested: usize,
    search: SecretSearch,
    spans: &mut Vec<SecretSpan>,
) {
    match (node, value) {
        (SpanNode::Object(fields), Value::Object(values)) => {
            for (key, field) in fields {
                if let Some(value) = values.get(key) {
                    push_changed(text, field, value, nested, search, spans);
                }
            }
        }
        (SpanNode::List(items), Value::Array(values)) => {
            for (item, value) in items.iter().zip(values) {
                push_changed(text, item, value, nested, search, spans);
            }
        }
        (SpanNode::Text(range) | SpanNode::Bare(range), Value::String(masked)) => {
            let raw = &text[range.clone()];
            let before = decoded(raw);
            if *masked != before {
                let part = changed_part(raw, masked).unwrap_or(0..raw.len());
                let (start, end) = (range.start + part.start, range.start + part.end);
                let rule = rule_of_mask(masked).unwrap_or(NAMED_VALUE);
                spans.push(SecretSpan { start, end, rule });
            } else if nested > 0 && before.trim_start().starts_with(['{', '[']) {
                let mut inner = Vec::new();
                find_nested(&before, nested - 1, search, &mut inner);
                push_nested(raw, range.start, &before, inner, spans);
            }
        }
        _ => {}
    }
}

/// Appends the secrets of JSON that is the value of a string, where they stand in its raw text.
fn push_nested(raw: &str, offset: usize, decoded: &str, inner: Vec<SecretSpan>, spans: &mut Vec<SecretSpan>) {
    for span in inner {
        let secret = &decoded[span.start..span.end];
        let place = raw.find(secret).map_or(0..raw.len(), |at| at..at + secret.len());
        spans.push(SecretSpan { start: offset + place.start, end: offset + place.end, rule: span.rule });
    }
}

/// The part of the string that one mask replaced, if only a part was.
fn changed_part(raw: &str, masked: &str) -> Option<Range<usize>> {
    let mask = masked.find("[redacted:")?;
    let after = masked.len() - masked[mask..].find(']').map(|i| mask + i + 1)?;
    let fits = raw.len() > mask + after && raw.get(..mask) == masked.get(..mask);
    (fits && raw.is_char_boundary(raw.len() - after)).then(|| mask..raw.len() - after)
}

/// The rule whose mask the text contains.
fn rule_of_mask(masked: &str) -> Option<RuleId> {
    let name = &masked[masked.find("[redacted:")? + "[redacted:".len()..];
    RuleId::find(name.split(']').next()?)
}
