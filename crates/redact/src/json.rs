//! Redacts JSON as clients send it: tool inputs and responses.
//!
//! Every string and object key is a text of its own, except that the strings of one array are
//! treated as lines of one text, as in a patch. Blocks that span fields were removed before, where
//! the field order is still known (see `flow`).

use std::borrow::Cow;

use serde_json::{Map, Value};

use super::cut::HeadTailLimit;
use super::expect::ExpectedSecret;
use super::neighbour;
use super::output_secrecy::OutputSecrecy;
use super::secret_output;
use super::share::{is_lines, per_text_limit, prune};

/// Redacts `value` in place and returns the number of secrets masked. The result is about as long
/// as `keep` allows, however many strings there are: short ones stay whole, long ones share the
/// rest.
pub fn json(value: &mut Value, keep: HeadTailLimit) -> u32 {
    json_output(value, keep, OutputSecrecy::Ordinary)
}

/// Like [`json`], for the output of a tool whose input says how secret its output is.
pub fn json_output(value: &mut Value, keep: HeadTailLimit, secrecy: OutputSecrecy) -> u32 {
    prune(value, keep);
    let mut walk = JsonRedactor { keep: per_text_limit(value, keep), masked: 0, secrecy, in_output: true };
    walk.value(value, None);
    walk.masked
}

/// Walks a JSON value and redacts its strings.
struct JsonRedactor {
    keep: HeadTailLimit,
    masked: u32,
    /// How secret the text of the output is.
    secrecy: OutputSecrecy,
    /// Whether the current string is text of the output, not a path or a kind.
    in_output: bool,
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
            Value::Array(items)
                if expect.is_none() && items.len() > 1 && items.iter().all(Value::is_array) =>
            {
                let header = items[0].as_array().cloned().unwrap_or_default();
                self.table(&header, &mut items[1..]);
                for item in items.iter_mut() {
                    self.value(item, None);
                }
            }
            Value::Array(items) => {
                let mut label = None;
                for item in items {
                    // A label, and then what was typed into its field.
                    let next = label_of(item);
                    self.value(item, expect.or(label));
                    label = next;
                }
            }
            Value::Object(fields) => self.object(fields, expect),
        }
    }

    fn string(&mut self, text: &mut String, expect: Option<ExpectedSecret>) {
        if let Some(masked) = expect.and_then(|expect| expect.mask(text)) {
            *text = masked;
            self.masked += 1;
            return;
        }
        if self.in_output
            && let Some((clean, masked)) = secret_output::mask(text, self.secrecy)
        {
            *text = clean;
            self.masked += masked;
        }
        let redacted = super::text(text, self.keep);
        self.masked += redacted.masked;
        if let Cow::Owned(clean) = redacted.text {
            *text = clean;
        }
    }

    fn lines(&mut self, items: &mut Vec<Value>) {
        self.pairs(items);
        self.arguments(items);
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

    /// Masks the arguments of a command that is given as a list: `["mysql", "-psecret"]`.
    fn arguments(&mut self, items: &mut [Value]) {
        let words: Vec<&str> = items.iter().filter_map(Value::as_str).collect();
        let options = words.iter().any(|word| word.starts_with('-'));
        if !options || words.iter().any(|word| word.contains(['\n', ' '])) {
            return;
        }
        let spans = super::secrets::find(&words.join(" "));
        let mut start = 0;
        for item in items {
            let Some(text) = item.as_str() else {
                return;
            };
            let end = start + text.len();
            let inside = spans.iter().find(|span| start <= span.start && span.start < end);
            if let Some(span) = inside {
                let from = span.start - start;
                let mut masked = text[..from].to_owned();
                span.push_mask(&mut masked);
                masked.push_str(text.get(span.end.min(end) - start..).unwrap_or_default());
                *item = Value::String(masked);
                self.masked += 1;
            }
            start = end + 1;
        }
    }

    /// Masks the columns of a table whose header promises a secret: rows are arrays.
    fn table(&mut self, header: &[Value], rows: &mut [Value]) {
        for (column, name) in header.iter().enumerate() {
            let name = name.as_str().or_else(|| name.get("name").and_then(Value::as_str));
            let Some(expect) = name.and_then(ExpectedSecret::from_name) else {
                continue;
            };
            let cells = rows.iter_mut().filter_map(|row| row.as_array_mut()?.get_mut(column));
            cells.for_each(|cell| self.value(cell, Some(expect.relaxed())));
        }
    }

    /// Masks the arguments of `{"command": "mysql", "args": ["-psecret"]}`.
    fn command_object(&mut self, fields: &mut Map<String, Value>) {
        let Some(command) = fields.get("command").filter(|command| command.is_string()).cloned() else {
            return;
        };
        if let Some(arguments) =
            fields.get_mut("args").and_then(Value::as_array_mut).filter(|items| is_lines(items))
        {
            arguments.insert(0, command);
            self.arguments(arguments);
            arguments.remove(0);
        }
    }

    /// Finds the header and the rows of a table among the fields of an object.
    fn tables(&mut self, fields: &mut Map<String, Value>) {
        let named = |names: &[&str]| {
            names
                .iter()
                .find(|name| fields.get(**name).is_some_and(Value::is_array))
                .map(|name| (*name).to_owned())
        };
        let header =
            named(&["columns", "fields", "headers", "header", "columnNames", "column_names", "schema"]);
        let rows = named(&["rows", "data", "values", "records", "result", "results"]);
        if let (Some(header), Some(rows)) = (header, rows) {
            let header = fields[&header].as_array().cloned().unwrap_or_default();
            if let Some(rows) = fields.get_mut(&rows).and_then(Value::as_array_mut) {
                self.table(&header, rows);
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
        self.tables(fields);
        self.command_object(fields);
        let beside = if fields.keys().any(|key| is_value(key) || is_text(key)) {
            ExpectedSecret::from_siblings(fields)
        } else {
            None
        };
        let manifest = fields.get("kind").is_some_and(|kind| kind == "Secret");
        for (key, value) in fields.iter_mut() {
            self.in_output = is_output(key);
            if manifest && (key == "data" || key == "stringData") {
                if let Value::Object(data) = value {
                    data.values_mut().for_each(|secret| {
                        *secret = Value::String("[redacted:kubernetes-secret]".to_owned());
                    });
                    self.masked += 1;
                }
                continue;
            }
            // `{"auth": ["user", "password"]}`
            if key == "auth"
                && let Value::Array(pair) = &mut *value
                && let [Value::String(_), Value::String(password)] = pair.as_mut_slice()
            {
                self.string(password, Some(ExpectedSecret::PASSWORD.relaxed()));
            }
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

/// What an item says about the item after it: `{"type": "label", "text": "Password"}`.
fn label_of(item: &Value) -> Option<ExpectedSecret> {
    let text = item.get("text").or_else(|| item.get("label"))?.as_str()?;
    let short = text.len() <= 24;
    let expect = ExpectedSecret::from_name(text.trim_end_matches([':', ' '])).filter(|_| short)?;
    (expect == ExpectedSecret::PASSWORD).then(|| expect.relaxed())
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
    neighbour::is_value_name(key.as_bytes())
}

/// Whether the field may hold what was typed into the thing that its siblings describe.
fn is_text(key: &str) -> bool {
    const NAMES: [&str; 9] =
        ["text", "content", "input", "answer", "response", "secret", "keys", "data", "reply"];
    NAMES.iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether the field holds what a tool printed or read.
fn is_output(key: &str) -> bool {
    matches!(
        key,
        "stdout" | "content" | "contents" | "text" | "output" | "result" | "data" | "body" | "message"
    )
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
