//! Masks the output of a command or file that is secret by its source.

use std::borrow::Cow;

use serde_json::Value;

use super::assigned_value::ValueContext;
use super::judge::{is_chosen, judge};
use super::names::NamePromise;
use super::secrecy::OutputSecrecy;
use super::value::{self, ValueRandomness};
use super::value_form;

const MASK: &str = "[redacted:secret-source]";
/// Minimum length of a line that is masked as a whole.
const LINE_BYTES_MIN: usize = 4;
/// Maximum number of lines of an answer that is one value.
const ANSWER_LINES_MAX: usize = 3;

/// Masks a text according to its source, and counts the masks.
pub(super) fn mask(text: &str, secrecy: OutputSecrecy) -> Option<(String, u32)> {
    if secrecy == OutputSecrecy::Ordinary || text.trim().len() < LINE_BYTES_MIN || is_error(text) {
        return None;
    }
    if secrecy == OutputSecrecy::Whole {
        return (!text.trim().starts_with("[redacted:")).then(|| (MASK.to_owned(), 1));
    }
    if secrecy == OutputSecrecy::Answer && text.trim().lines().count() > ANSWER_LINES_MAX {
        return None;
    }
    if secrecy == OutputSecrecy::Lines
        && text.trim_start().starts_with(['{', '['])
        && let Ok(document) = serde_json::from_str(text)
    {
        return mask_document(text, &document);
    }
    let mut masked = 0;
    let lines: Vec<Cow<'_, str>> = text
        .split('\n')
        .map(|line| match mask_line(line, secrecy) {
            Some(line) => {
                masked += 1;
                Cow::Owned(line)
            }
            None => Cow::Borrowed(line),
        })
        .collect();
    (masked > 0).then(|| (lines.join("\n"), masked))
}

/// Masks the generated values of a JSON document.
fn mask_document(text: &str, document: &Value) -> Option<(String, u32)> {
    let mut secrets = Vec::new();
    collect_generated(document, &mut secrets);
    let found = secrets.iter().filter(|secret| text.contains(**secret)).count();
    let masked = secrets.iter().fold(text.to_owned(), |text, secret| text.replace(secret, MASK));
    (found > 0).then_some((masked, found as u32))
}

fn collect_generated<'a>(value: &'a Value, secrets: &mut Vec<&'a str>) {
    match value {
        Value::String(text) => {
            let bytes = text.as_bytes();
            let weight = value::classify_value(bytes);
            let generated =
                text.len() >= 16 && weight == ValueRandomness::Random && !value_form::is_hex(bytes);
            if (generated || value::is_strong(bytes)) && !text.contains("[redacted:") {
                secrets.push(text);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_generated(item, secrets)),
        Value::Object(fields) => fields.values().for_each(|field| collect_generated(field, secrets)),
        _ => {}
    }
}

/// Whether the source said that there is nothing.
fn is_error(text: &str) -> bool {
    let first = text.trim_start().lines().next().unwrap_or_default().to_ascii_lowercase();
    let start = [
        "error",
        "fatal",
        "usage:",
        "failed",
        "warning",
        "not found",
        "unable",
        "cannot",
        "permission denied",
    ];
    start.iter().any(|word| first.starts_with(word))
        || [
            "no such file",
            "does not exist",
            "command not found",
            "permission denied",
            "not exist",
            "(notfound)",
        ]
        .iter()
        .any(|word| first.contains(word))
}

/// Masks the value of a line, or the line.
fn mask_line(line: &str, secrecy: OutputSecrecy) -> Option<String> {
    if secrecy == OutputSecrecy::Answer {
        let value = line.trim().trim_matches(['"', '\'', ',']);
        if is_answer(value) {
            return Some(line.replacen(value, MASK, 1));
        }
        let (start, end) = assigned(line, OutputSecrecy::Values)?;
        return Some([&line[..start], MASK, &line[end..]].concat());
    }
    let number = line_number(line);
    let (before, rest) = line.split_at(number);
    let body = rest.trim();
    if body.starts_with(['#', '[', '{', '}', '<', ';']) && !body.starts_with("{\"") {
        return None;
    }
    if let Some((start, end)) = assigned(rest, secrecy) {
        return Some([before, &rest[..start], MASK, &rest[end..]].concat());
    }
    if secrecy == OutputSecrecy::Values
        && let Some(cell) =
            body.split(',').map(|cell| cell.trim_matches(['"', ' '])).find(|cell| is_generated_cell(cell))
        && body.contains(',')
    {
        return Some(line.replacen(cell, MASK, 1));
    }
    let whole = secrecy == OutputSecrecy::Lines && body.len() >= LINE_BYTES_MIN && is_value(body);
    let indent = rest.len() - rest.trim_start().len();
    whole.then(|| [before, &rest[..indent], MASK].concat())
}

/// Whether a line looks like one secret value.
fn is_answer(value: &str) -> bool {
    let bytes = value.as_bytes();
    let weight = value::classify_value(bytes);
    value.len() >= 6
        && !bytes.iter().any(u8::is_ascii_whitespace)
        && (is_chosen(bytes, weight) || weight == ValueRandomness::Random)
}

fn is_generated_cell(cell: &str) -> bool {
    cell.len() >= 20 && value::classify_value(cell.as_bytes()) == ValueRandomness::Random
}

/// Whether the line is a value: no sentence, no row of a table, no heading.
fn is_value(line: &str) -> bool {
    let bytes = line.as_bytes();
    match value::classify_value(bytes) {
        ValueRandomness::NotSecret => false,
        ValueRandomness::Word => {
            line.len() >= 6 && !line.ends_with(':') && !line.bytes().all(|b| b.is_ascii_uppercase())
        }
        ValueRandomness::Mixed | ValueRandomness::Random => true,
    }
}

/// The length of a line number before the line, as tools print it.
fn line_number(line: &str) -> usize {
    let digits = line.trim_start().trim_start_matches(|c: char| c.is_ascii_digit());
    let numbered = digits.len() < line.trim_start().len();
    match digits.chars().next() {
        Some(c @ ('→' | '\t')) if numbered => line.len() - digits.len() + c.len_utf8(),
        _ => 0,
    }
}

/// The value in `name = value`, if it looks like a secret.
fn assigned(line: &str, secrecy: OutputSecrecy) -> Option<(usize, usize)> {
    let sign = line.find(['=', ':']).or_else(|| {
        line.trim_start().find([' ', '\t']).map(|at| at + line.len() - line.trim_start().len())
    })?;
    let name = line[..sign].trim().trim_matches(['"', '\'']);
    let of_name = |c: char| c.is_alphanumeric() || "_-.@/ ".contains(c);
    if name.is_empty() || name.len() > 64 || !name.chars().all(of_name) || line[sign..].starts_with("://") {
        return None;
    }
    let value = line[sign + 1..].trim();
    let value = value.trim_end_matches([',', ';']);
    let value = value.trim_matches(['"', '\'', '`']);
    let start = sign + 1 + line[sign + 1..].find(value).filter(|_| !value.is_empty())?;
    let secret = match secrecy {
        OutputSecrecy::Values => {
            // A number, a word, a path or a host is ordinary; the rules judge names that promise more.
            let bytes = value.as_bytes();
            (judge(NamePromise::Token, ValueContext::Quoted, bytes).is_some()
                || is_chosen(bytes, value::classify_value(bytes))
                    && bytes.iter().any(|b| b"!#$%^&*".contains(b)))
                && !value.contains("://")
                && !is_host(value)
        }
        _ => {
            value.len() >= LINE_BYTES_MIN && value::classify_value(value.as_bytes()) >= ValueRandomness::Mixed
        }
    };
    secret.then_some((start, start + value.len()))
}

/// Whether it is a host name, an address, a mail address or a version.
fn is_host(value: &str) -> bool {
    let parts = value.split(['.', ':', '@']).count();
    let plain = value.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b".-:@_+".contains(&b));
    parts > 1 && plain && !value.split(['.', ':', '@']).any(|part| part.len() > 24)
}
