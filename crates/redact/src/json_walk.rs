//! Walks a JSON value: which strings are expected to be secret by their names and neighbours. What happens to
//! the other texts is up to a [`JsonTexts`], so that the search in texts can use the walk for JSON in a text.

use serde_json::{Map, Value};

use super::expect::ExpectedSecret;
use super::neighbour;
use super::secret_span::SecretSpan;

/// Redacts the texts of a value, besides those that their names or neighbours call secret. Each method
/// returns how many secrets it masked.
pub(super) trait JsonTexts {
    /// Whether the texts themselves are searched elsewhere.
    const EXPECTED_ONLY: bool;

    /// Redacts a string; `in_output` if it is text of the output, not a path or a kind.
    fn redact_text(&self, text: &mut String, in_output: bool) -> u32;

    /// Redacts the strings of an array as lines of one text.
    fn redact_lines(&self, items: &mut Vec<Value>) -> u32;

    /// The redacted key, if it must not stay as it is.
    fn redact_key(&self, key: &str) -> Option<String>;

    /// Redacts a path or URL.
    fn redact_path(&self, text: &mut String) -> u32;

    /// The secrets of a command line.
    fn find_secrets(&self, line: &str) -> Vec<SecretSpan>;
}

/// Walks a JSON value and redacts its strings.
pub(super) struct JsonWalk<T> {
    texts: T,
    pub(super) masked: u32,
    /// Whether the current string is text of the output.
    in_output: bool,
}

impl<T: JsonTexts> JsonWalk<T> {
    pub(super) const fn new(texts: T, in_output: bool) -> Self {
        Self { texts, masked: 0, in_output }
    }

    pub(super) fn value(&mut self, value: &mut Value, expect: Option<ExpectedSecret>) {
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
        self.masked += self.texts.redact_text(text, self.in_output);
    }

    fn lines(&mut self, items: &mut Vec<Value>) {
        self.pairs(items);
        self.arguments(items);
        self.masked += self.texts.redact_lines(items);
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
        let spans = self.texts.find_secrets(&words.join(" "));
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
        let named = ["command", "program", "cmd", "executable"].iter().find_map(|name| fields.get(*name));
        let Some(command) = named.filter(|command| command.is_string()).cloned() else {
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
        if let (Some(Value::Array(names)), Some(Value::Array(values))) =
            (fields.get("names").cloned(), fields.get_mut("values"))
            && names.len() == values.len()
        {
            let mut row = [Value::Array(std::mem::take(values))];
            self.table(&names, &mut row);
            let [row] = row;
            fields.insert("values".to_owned(), row);
        }
        if let (Some(header), Some(rows)) = (header, rows) {
            let header = fields[&header].as_array().cloned().unwrap_or_default();
            if let Some(rows) = fields.get_mut(&rows).and_then(Value::as_array_mut) {
                self.table(&header, rows);
            }
        }
    }

    /// Masks the data of a Kubernetes secret.
    fn manifest_data(&mut self, fields: &mut Map<String, Value>) {
        for key in ["data", "stringData"] {
            if let Some(Value::Object(data)) = fields.get_mut(key) {
                data.values_mut().for_each(|secret| {
                    *secret = Value::String("[redacted:kubernetes-secret]".to_owned());
                });
                self.masked += 1;
            }
        }
    }

    fn object(&mut self, fields: &mut Map<String, Value>, above: Option<ExpectedSecret>) {
        if fields.keys().any(|key| self.texts.redact_key(key).is_some()) {
            *fields = std::mem::take(fields)
                .into_iter()
                .map(|(key, value)| (self.texts.redact_key(&key).unwrap_or(key), value))
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
        if fields.get("kind").is_some_and(|kind| kind == "SecretList") {
            let items = fields.get_mut("items").and_then(Value::as_array_mut).into_iter().flatten();
            items.filter_map(Value::as_object_mut).for_each(|item| self.manifest_data(item));
        }
        if manifest {
            self.manifest_data(fields);
        }
        let of_vault = is_vault_secret(fields);
        let is_key = fields.contains_key("kty");
        let is_cookie = fields.keys().any(|key| is_cookie_attribute(key));
        for (key, value) in fields.iter_mut() {
            self.in_output = is_output(key);
            if manifest && (key == "data" || key == "stringData") {
                continue;
            }
            if of_vault && key == "data" && value.get("data").is_none_or(|data| !data.is_object()) {
                self.value(value, Some(ExpectedSecret::SecretMap));
                continue;
            }
            if is_key && neighbour::is_key_part(key.as_bytes()) {
                self.value(value, Some(ExpectedSecret::PASSWORD));
                continue;
            }
            if is_cookie && key == "value" {
                self.value(value, Some(ExpectedSecret::Cookies));
                continue;
            }
            // `{"auth": ["user", "password"]}`
            if is_login_pair(key)
                && let Value::Array(pair) = &mut *value
                && let [Value::String(_), Value::String(password)] = pair.as_mut_slice()
            {
                self.string(password, Some(ExpectedSecret::PASSWORD.relaxed()));
            }
            let by_name = ExpectedSecret::from_field(key, value, above);
            // In a text, a value behind its own name was judged with the text around it.
            let by_name = by_name.filter(|_| !T::EXPECTED_ONLY || !value.is_string() || key.contains(' '));
            let expect = expected_by_siblings(key, beside)
                .or(by_name)
                .or_else(|| above.and_then(|above| above.for_child(key)));
            let expect = if T::EXPECTED_ONLY { expect.map(ExpectedSecret::relaxed) } else { expect };
            self.value(value, expect);
            if let Value::String(text) = value
                && is_path(key)
            {
                self.masked += self.texts.redact_path(text);
            }
        }
    }
}

/// Whether the field describes a cookie.
fn is_cookie_attribute(key: &str) -> bool {
    ["httpOnly", "sameSite"].iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// Whether the object holds the data of a secret as Vault answers: with a lease or with a version.
fn is_vault_secret(fields: &Map<String, Value>) -> bool {
    let versioned = fields.get("metadata").is_some_and(|about| about.get("version").is_some());
    fields.get("data").is_some_and(Value::is_object) && (versioned || fields.contains_key("lease_id"))
}

/// Whether a list of two under this name is a user and a password.
fn is_login_pair(key: &str) -> bool {
    const NAMES: [&str; 6] = ["auth", "credentials", "creds", "login", "basic_auth", "basicAuth"];
    NAMES.iter().any(|name| key.eq_ignore_ascii_case(name))
}

/// The secrecy that an item gives to the item after it: `{"type": "label", "text": "Password"}`.
fn label_of(item: &Value) -> Option<ExpectedSecret> {
    let text = item.get("text").or_else(|| item.get("label"))?.as_str()?;
    let short = text.len() <= 24;
    let expect = ExpectedSecret::from_name(text.trim_end_matches([':', ' '])).filter(|_| short)?;
    (expect == ExpectedSecret::PASSWORD).then(|| expect.relaxed())
}

/// The secrecy that sibling fields give to this one.
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

/// Whether the array consists of several strings.
pub(super) fn is_lines(items: &[Value]) -> bool {
    items.len() > 1 && items.iter().all(Value::is_string)
}
