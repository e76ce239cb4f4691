//! What a definition looks like, language by language.

use super::syntax::{Kind, Syntax};

/// What `line` defines, if it looks like a definition. `text` is the line without its indentation.
pub(super) fn defined<'a>(text: &'a str, line: &str, syntax: Syntax) -> Option<(Kind, &'a str)> {
    match syntax {
        Syntax::Rust => rust(text),
        Syntax::Python => python(text, line),
        Syntax::Script => script(text),
        Syntax::Go => go(text),
        Syntax::Java => java(text),
        Syntax::C => c(text, line),
        Syntax::Ruby => keyword(text, &["def", "class", "module"], &["self."]).or_else(|| quoted_test(text)),
        Syntax::Php => {
            keyword(without_modifiers(text, MODIFIERS), &["function", "class", "interface", "trait"], &[])
        }
        Syntax::Elixir => {
            keyword(text, &["def", "defp", "defmodule", "defmacro"], &[]).or_else(|| quoted_test(text))
        }
        Syntax::Shell => shell(text),
        Syntax::Sql => sql(text),
        Syntax::Markdown => markdown(text),
        Syntax::Data | Syntax::Other => None,
    }
}

const MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "internal",
    "static",
    "final",
    "abstract",
    "override",
    "async",
    "suspend",
    "open",
    "sealed",
    "virtual",
    "readonly",
    "export",
    "default",
    "declare",
    "inline",
    "data",
    "partial",
    "extern",
    "unsafe",
    "const",
    "mutating",
    "lazy",
    "synchronized",
    "native",
    "fileprivate",
    "case",
    "implicit",
    "pub",
    "indirect",
    "value",
];

fn without_modifiers<'a>(text: &'a str, modifiers: &[&str]) -> &'a str {
    let mut rest = text;
    while let Some((first, after)) = rest.split_once(' ') {
        if first.starts_with('@') || modifiers.contains(&first) {
            rest = after.trim_start();
        } else {
            break;
        }
    }
    rest
}

/// `word name…` → the name, where the word is one of these.
fn keyword<'a>(text: &'a str, words: &[&str], prefixes: &[&str]) -> Option<(Kind, &'a str)> {
    let (word, rest) = text.split_once(' ')?;
    let word = words.iter().find(|known| **known == word)?;
    let mut rest = rest.trim_start();
    for prefix in prefixes {
        rest = rest.strip_prefix(prefix).unwrap_or(rest);
    }
    let name = identifier(rest)?;
    let types = [
        "class",
        "struct",
        "enum",
        "trait",
        "interface",
        "type",
        "union",
        "record",
        "protocol",
        "object",
        "defmodule",
        "actor",
        "extension",
    ];
    let kind = match *word {
        "mod" | "module" | "namespace" | "package" => Kind::Section,
        word if types.contains(&word) => Kind::Type,
        _ => Kind::Function,
    };
    Some((kind, name))
}

/// The name at the start of a text.
fn identifier(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !(c.is_alphanumeric() || "_$?!.".contains(c))).unwrap_or(text.len());
    let name = text[..end].trim_end_matches('.');
    let starts = name.chars().next().is_some_and(|c| c.is_alphabetic() || c == '_' || c == '$');
    starts.then_some(name)
}

fn rust(text: &str) -> Option<(Kind, &str)> {
    let mut rest = text;
    if let Some(after) = rest.strip_prefix("pub") {
        rest = after.strip_prefix('(').and_then(|a| a.split_once(')')).map_or(after, |(_, a)| a).trim_start();
    }
    for word in ["default ", "async ", "unsafe ", "extern \"C\" "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    if let Some(after) = rest.strip_prefix("const ")
        && !after.starts_with("fn ")
        && !after.starts_with("unsafe ")
    {
        return identifier(after).map(|name| (Kind::Constant, name));
    }
    rest = rest.strip_prefix("const ").unwrap_or(rest);
    rest = rest.strip_prefix("unsafe ").unwrap_or(rest);
    if let Some(after) = rest.strip_prefix("static ") {
        return identifier(after.strip_prefix("mut ").unwrap_or(after)).map(|name| (Kind::Constant, name));
    }
    if let Some(after) = rest.strip_prefix("macro_rules! ") {
        return identifier(after).map(|name| (Kind::Function, name));
    }
    if rest.starts_with("impl") {
        return implemented(rest).map(|name| (Kind::Section, name));
    }
    keyword(rest, &["fn", "struct", "enum", "trait", "union", "type", "mod"], &[])
}

/// The type that an `impl` is for.
fn implemented(text: &str) -> Option<&str> {
    let after = text.strip_prefix("impl")?;
    let after = match after.strip_prefix('<') {
        Some(generic) => generic.split_once("> ").map_or(generic, |(_, rest)| rest),
        None => after.strip_prefix(' ')?,
    };
    let target = after.split_once(" for ").map_or(after, |(_, target)| target);
    let path = target.split(['<', ' ', '{']).next()?;
    identifier(path.rsplit("::").next()?)
}

fn python<'a>(text: &'a str, line: &str) -> Option<(Kind, &'a str)> {
    let rest = text.strip_prefix("async ").unwrap_or(text);
    if let Some(found) = keyword(rest, &["def", "class"], &[]) {
        return Some(found);
    }
    let top = !line.starts_with([' ', '\t']);
    let name = identifier(text)?;
    let constant = name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_') && name.len() > 1;
    let assigned = text[name.len()..].trim_start().starts_with(['=', ':']) && !text.contains("==");
    (top && constant && assigned).then_some((Kind::Constant, name))
}

fn script(text: &str) -> Option<(Kind, &str)> {
    let rest = without_modifiers(text, MODIFIERS);
    if let Some(found) = quoted_test(text) {
        return Some(found);
    }
    if let Some(found) =
        keyword(rest, &["function", "function*", "class", "interface", "type", "enum", "namespace"], &[])
    {
        return Some(found);
    }
    let declared = ["const ", "let ", "var "].iter().find_map(|word| {
        // `const` is a modifier elsewhere; here it declares.
        let bare = text.strip_prefix("export ").unwrap_or(text);
        bare.strip_prefix(word)
    });
    if let Some(after) = declared {
        let name = identifier(after)?;
        let value = after[name.len()..].split_once('=').map_or("", |(_, value)| value.trim_start());
        let function = value.contains("=>") || value.starts_with("function") || value.starts_with("async");
        let loud = name.len() > 1 && name.chars().all(|c| c.is_uppercase() || c.is_numeric() || c == '_');
        return match (function, loud) {
            (true, _) => Some((Kind::Function, name)),
            (false, true) => Some((Kind::Constant, name)),
            (false, false) => None,
        };
    }
    method(rest)
}

/// `name(args) {`, as classes hold it.
fn method(text: &str) -> Option<(Kind, &str)> {
    let name = identifier(text)?;
    let after = &text[name.len()..];
    let keywords = [
        "if", "for", "while", "switch", "catch", "return", "function", "await", "new", "else", "do", "try",
        "with", "super", "throw",
    ];
    // `describe('x', () => {` is a call.
    let called = after.starts_with("('") || after.starts_with("(\"") || after.starts_with("(`");
    let fits = after.starts_with('(')
        && !called
        && !after.contains("=>")
        && text.ends_with('{')
        && after.contains(')')
        && !keywords.contains(&name)
        && !name.contains('.');
    fits.then_some((Kind::Function, name))
}

/// `it('does x', …` and `test "does x" do`: the name is the sentence.
fn quoted_test(text: &str) -> Option<(Kind, &str)> {
    let name = identifier(text)?;
    let head = name.split('.').next().unwrap_or(name);
    if !matches!(head, "it" | "test" | "scenario" | "specify") {
        return None;
    }
    let after = text[name.len()..].trim_start().trim_start_matches('(');
    let quote = after.chars().next().filter(|c| "'\"`".contains(*c))?;
    let inside = &after[1..];
    let end = inside.find(quote)?;
    Some((Kind::Test, &inside[..end]))
}

fn go(text: &str) -> Option<(Kind, &str)> {
    if let Some(after) = text.strip_prefix("func ") {
        let after = match after.strip_prefix('(') {
            Some(receiver) => receiver.split_once(')')?.1.trim_start(),
            None => after,
        };
        return identifier(after).map(|name| (Kind::Function, name));
    }
    if let Some(after) = text.strip_prefix("const ").or_else(|| text.strip_prefix("var ")) {
        return identifier(after).map(|name| (Kind::Constant, name));
    }
    keyword(text, &["type"], &[])
}

fn java(text: &str) -> Option<(Kind, &str)> {
    let rest = without_modifiers(text, MODIFIERS);
    let words = [
        "class",
        "interface",
        "enum",
        "record",
        "object",
        "struct",
        "protocol",
        "trait",
        "fun",
        "func",
        "def",
        "extension",
        "actor",
        "namespace",
    ];
    if let Some(found) = keyword(rest, &words, &[]) {
        return Some(found);
    }
    typed_function(rest)
}

/// `Type name(args) {`: the word before the bracket, if a type stands before it.
fn typed_function(text: &str) -> Option<(Kind, &str)> {
    let open = text.find('(')?;
    let (before, after) = text.split_at(open);
    let name = before.rsplit([' ', '*', '&']).next()?;
    let kind = before.strip_suffix(name)?.trim();
    let ends =
        text.ends_with('{') || text.ends_with(')') || text.contains(") throws ") || after.contains(") {");
    let keywords =
        ["return", "if", "for", "while", "switch", "else", "new", "throw", "case", "await", "catch"];
    let first = kind.split_whitespace().next()?;
    let fits = ends
        && !kind.contains(['=', '.', '"', '('])
        && !keywords.contains(&first)
        && !keywords.contains(&name);
    (fits && identifier(name) == Some(name)).then_some((Kind::Function, name))
}

fn c<'a>(text: &'a str, line: &str) -> Option<(Kind, &'a str)> {
    if let Some(after) = text.strip_prefix("#define ") {
        return identifier(after).map(|name| (Kind::Constant, name));
    }
    let rest = without_modifiers(text, &["static", "inline", "extern", "const", "typedef", "pub", "export"]);
    if text.ends_with('{')
        && let Some(found) = keyword(rest, &["struct", "enum", "class", "union", "namespace"], &[])
    {
        return Some(found);
    }
    if let Some(found) = keyword(rest, &["fn"], &[]) {
        return Some(found);
    }
    let top = !line.starts_with([' ', '\t']);
    typed_function(text).filter(|_| top)
}

fn shell(text: &str) -> Option<(Kind, &str)> {
    if let Some(found) = keyword(text, &["function"], &[]) {
        return Some(found);
    }
    let name = identifier(text)?;
    text[name.len()..].trim_start().starts_with("()").then_some((Kind::Function, name))
}

fn sql(text: &str) -> Option<(Kind, &str)> {
    let lower = text.to_ascii_lowercase();
    // `ALTER TABLE orders ADD COLUMN slot`: the column is what is new.
    if lower.starts_with("alter table") {
        let at = lower.find(" add column ")? + " add column ".len();
        return identifier(text[at..].trim_start_matches(['"', '`', '['])).map(|name| (Kind::Section, name));
    }
    let mut rest = lower.strip_prefix("create ")?;
    for word in ["or replace ", "unique ", "temporary ", "temp ", "virtual ", "materialized "] {
        rest = rest.strip_prefix(word).unwrap_or(rest);
    }
    let words = ["table ", "index ", "view ", "function ", "trigger ", "procedure ", "type ", "policy "];
    let rest = words.iter().find_map(|word| rest.strip_prefix(word))?;
    let rest = rest.strip_prefix("if not exists ").unwrap_or(rest);
    let at = text.len() - rest.len();
    let name = identifier(text[at..].trim_start_matches(['"', '`', '[']))?;
    Some((Kind::Section, name))
}

fn markdown(text: &str) -> Option<(Kind, &str)> {
    let title = text.trim_start_matches('#');
    let depth = text.len() - title.len();
    ((1..=6).contains(&depth) && title.starts_with(' ')).then(|| (Kind::Section, title.trim()))
}
