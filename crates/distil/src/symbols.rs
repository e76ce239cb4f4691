//! Definitions in source text, line by line: enough to say which function was changed.
//!
//! No parser: a line is a definition if it looks like one in its language. What is missed leaves
//! a change without a name; what is mistaken would put a wrong name on it, so doubt means no.

use super::languages;
pub(super) use super::syntax::{Kind, Syntax};

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    pub kind: Kind,
    pub name: String,
    /// The whole of what the line says of it, without its body.
    pub signature: String,
    pub indent: usize,
}

/// The definition that a line holds, if it holds one.
pub(super) fn definition(line: &str, syntax: Syntax) -> Option<Definition> {
    if line.len() > 400 {
        return None;
    }
    let text = line.trim();
    let (kind, name) = languages::defined(text, line, syntax)?;
    let name = name.trim_end_matches([':', '(']).to_owned();
    if name.is_empty() || name.chars().count() > 80 {
        return None;
    }
    let kind = if is_test(&name, kind) { Kind::Test } else { kind };
    Some(Definition { kind, name, signature: signature(text), indent: line.len() - line.trim_start().len() })
}

/// Up to where the body starts.
fn signature(text: &str) -> String {
    let end = text.find(" {").or_else(|| text.strip_suffix(['{', ':', ';']).map(str::len));
    super::text::clip(text[..end.unwrap_or(text.len())].trim_end(), 160)
}

fn is_test(name: &str, kind: Kind) -> bool {
    let lower = name.to_lowercase();
    kind == Kind::Test
        || (kind == Kind::Function
            && (lower.starts_with("test_") || name.starts_with("Test") || lower.ends_with("_test")))
}

/// The definitions around a place: the nearest one above it, and what that one stands in.
pub(super) fn enclosing(above: &[String], first_changed: &str, syntax: Syntax) -> Option<String> {
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut limit = if first_changed.trim().is_empty() { usize::MAX } else { indent(first_changed) };
    let mut found: Vec<Definition> = Vec::new();
    for line in above.iter().rev().take(4_000) {
        if found.len() == 2 || limit == 0 {
            break;
        }
        let Some(definition) = definition(line, syntax) else {
            continue;
        };
        let around = definition.indent < limit || (syntax == Syntax::Markdown && found.is_empty());
        if around && definition.kind != Kind::Constant {
            limit = definition.indent;
            found.push(definition);
        }
    }
    let inner = found.first()?;
    match found.get(1) {
        Some(outer) if outer.kind != Kind::Test && syntax != Syntax::Markdown && outer.name != "tests" => {
            Some(format!("{}.{}", outer.name, inner.name))
        }
        _ => Some(inner.name.clone()),
    }
}

#[cfg(test)]
#[path = "symbols_tests.rs"]
mod tests;
