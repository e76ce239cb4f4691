//! Names that are given values, in code and in configuration: `MAX_ATTEMPTS = 7`, `port: 8080`.

use super::symbols::Syntax;
use super::text::clip;

/// Values longer than this are told by the part that differs.
const VALUE_CHARS_MAX: usize = 40;

/// What a line assigns: the name and its value.
pub(super) fn assignment(line: &str, syntax: Syntax) -> Option<(&str, &str)> {
    let text = line.trim();
    if text.len() > 300 || is_comment(text) {
        return None;
    }
    if let Some(define) = text.strip_prefix("#define ") {
        return define.trim().split_once(' ').map(|(name, value)| (name, value.trim()));
    }
    let (left, value) = match split_equals(text) {
        Some(parts) => parts,
        None if matches!(syntax, Syntax::Data | Syntax::Script | Syntax::Ruby | Syntax::Python) => {
            text.split_once(": ").or_else(|| text.split_once("\":"))?
        }
        None => return None,
    };
    let name = name_of(left)?;
    let value = bare_value(value);
    (!value.is_empty()).then_some((name, value))
}

/// Parts a line at its `=`, unless that is a comparison, an arrow or a sum.
fn split_equals(text: &str) -> Option<(&str, &str)> {
    let at = text.find('=')?;
    let before = text[..at].chars().next_back();
    let after = text[at + 1..].chars().next();
    let compares =
        before.is_some_and(|c| "=!<>+-*/%|&^~".contains(c)) || matches!(after, Some('=' | '>' | '~'));
    let left = text[..at].trim_end_matches(':').trim_end();
    (!compares && !left.contains(['(', '"', '\''])).then(|| (left, text[at + 1..].trim()))
}

/// The name that a left side ends in, types and keywords off.
fn name_of(left: &str) -> Option<&str> {
    let left = left.trim().trim_start_matches("- ");
    // `const X: u32` and `let x: number`: the type stands after the name.
    let left = left.split_once(": ").map_or(left, |(name, _)| name);
    let name = left.split_whitespace().next_back()?.trim_matches(['"', '\'', '`', '*', '&']);
    let fits = |c: char| c.is_alphanumeric() || "_.-$[]".contains(c);
    let starts = name.chars().next().is_some_and(|c| c.is_alphabetic() || "_$".contains(c));
    (starts && name.chars().count() <= 60 && name.chars().all(fits)).then_some(name)
}

/// The value without what only ends the line.
fn bare_value(value: &str) -> &str {
    let value = value.trim();
    let value = [" // ", " # ", "  #"].iter().fold(value, |v, mark| v.split(mark).next().unwrap_or(v));
    value.trim().trim_end_matches([',', ';']).trim()
}

/// How a value changed: both values if they are short, else the one part in which they differ.
pub(super) fn difference(before: &str, after: &str, syntax: Syntax) -> Option<(String, String)> {
    if before == after {
        return None;
    }
    let short = |value: &str| value.chars().count() <= VALUE_CHARS_MAX;
    let (a, b) = (tokens(before), tokens(after));
    if a.len() == b.len() {
        let differing: Vec<usize> = (0..a.len()).filter(|i| a[*i] != b[*i]).collect();
        if let [only] = differing[..]
            && is_literal(a[only], syntax)
            && is_literal(b[only], syntax)
        {
            return Some((a[only].to_owned(), b[only].to_owned()));
        }
    }
    let literal = is_literal(before, syntax) && is_literal(after, syntax);
    (short(before) && short(after) && literal).then(|| (before.to_owned(), after.to_owned()))
}

/// Numbers, strings, booleans and constants: values that mean something by themselves.
fn is_literal(text: &str, syntax: Syntax) -> bool {
    let text = text.trim();
    let first = text.chars().next().unwrap_or(' ');
    let number = first.is_ascii_digit() || (first == '-' && text.len() > 1);
    let quoted = "\"'`".contains(first);
    let word = matches!(
        text,
        "true" | "false" | "True" | "False" | "null" | "None" | "nil" | "on" | "off" | "yes" | "no"
    );
    let constant = text.len() > 1 && text.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_');
    let plain = text.chars().all(|c| c.is_alphanumeric() || "._-".contains(c)) && !text.contains('(');
    // In configuration a bare word is a value; in code it is another name.
    let bare = plain && !text.is_empty() && syntax == Syntax::Data;
    number || quoted || word || constant || bare
}

/// Words, numbers and quoted strings, each as one.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut chars = text.char_indices().peekable();
    while let Some((start, c)) = chars.next() {
        let mut end = start + c.len_utf8();
        if "\"'".contains(c) {
            for (at, inner) in chars.by_ref() {
                end = at + inner.len_utf8();
                if inner == c {
                    break;
                }
            }
        } else if c.is_alphanumeric() || c == '_' {
            while let Some((at, inner)) = chars.next_if(|(_, n)| n.is_alphanumeric() || "_.".contains(*n)) {
                end = at + inner.len_utf8();
            }
        } else if c.is_whitespace() {
            continue;
        }
        tokens.push(&text[start..end]);
    }
    tokens
}

pub(super) fn is_comment(text: &str) -> bool {
    ["//", "# ", "#!", "/*", "* ", "*/", "-- ", "<!--", "\"\"\"", "'''", ";; "]
        .iter()
        .any(|mark| text.starts_with(mark))
        || text == "#"
        || text == "*"
}

/// The words of a comment line, its mark off.
pub(super) fn comment_words(text: &str) -> Option<String> {
    let text = text.trim();
    if !is_comment(text) || text.starts_with("#!") {
        return None;
    }
    let words = text.trim_matches(|c: char| "/*#-!<>\"';".contains(c) || c.is_whitespace());
    (!words.is_empty()).then(|| clip(words, 300))
}

#[cfg(test)]
#[path = "values_tests.rs"]
mod tests;
