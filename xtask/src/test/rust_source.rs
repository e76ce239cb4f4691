//! Reads Rust sources lexically, as rustfmt writes them: code without comments and literals, and the string
//! literals on their own. Test modules are left out.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

/// One source file.
#[derive(Debug)]
pub(super) struct RustSource {
    /// Below the folder that was read.
    pub(super) path: PathBuf,
    /// Comments and literals are blanked; lines are kept.
    pub(super) code: String,
    pub(super) literals: Vec<StringLiteral>,
}

/// One string literal, as written between its quotes.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct StringLiteral {
    /// Counted from 1.
    pub(super) line: usize,
    pub(super) text: String,
    /// The argument of `.join(…)`.
    pub(super) joined: bool,
}

impl RustSource {
    pub(super) fn parse(path: impl Into<PathBuf>, text: &str) -> Self {
        let (code, mut literals) = split_literals(text);
        let code = blank_test_modules(&code);
        let lines: Vec<&str> = code.lines().collect();
        // A blanked line is a test's.
        literals.retain(|literal| lines.get(literal.line - 1).is_some_and(|line| !line.is_empty()));
        Self { path: path.into(), code, literals }
    }
}

/// All sources below a folder but tests and their fixtures.
pub(super) fn read_sources(root: &Path) -> anyhow::Result<Vec<RustSource>> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if is_product_file(&path) {
                let text = std::fs::read_to_string(&path)?;
                files.push(RustSource::parse(path.strip_prefix(root)?, &text));
            }
        }
    }
    Ok(files)
}

fn is_product_file(path: &Path) -> bool {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    let is_test = name.ends_with("_tests")
        || name.ends_with("_cases")
        || ["testing", "cases", "samples"].contains(&name);
    path.extension().is_some_and(|extension| extension == "rs") && !is_test
}

/// The code with comments and literals replaced by blanks, and the string literals.
fn split_literals(text: &str) -> (String, Vec<StringLiteral>) {
    let mut code = String::with_capacity(text.len());
    let mut literals = Vec::new();
    let mut line = 1;
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let string = if first == '"' {
            Some(string_length(rest))
        } else {
            raw_string_length(rest).filter(|_| !ends_in_word(&code))
        };
        let length = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |end| end + 2)
        } else if let Some(length) = string.or_else(|| character_length(rest)) {
            length
        } else {
            code.push(first);
            line += usize::from(first == '\n');
            rest = &rest[first.len_utf8()..];
            continue;
        };
        let blanked = &rest[..length];
        if string.is_some() {
            let quote = |c: char| matches!(c, '"' | '#' | 'r' | 'b');
            let text = match first {
                '"' => blanked.trim_matches('"'),
                _ => blanked.trim_start_matches(quote).trim_end_matches(['"', '#']),
            };
            literals.push(StringLiteral { line, text: text.to_owned(), joined: code.ends_with("join(") });
        }
        line += blanked.matches('\n').count();
        code.extend(blanked.chars().filter(|c| *c == '\n'));
        code.push(' ');
        rest = &rest[length..];
    }
    (code, literals)
}

fn ends_in_word(code: &str) -> bool {
    code.ends_with(|c: char| c.is_alphanumeric() || c == '_')
}

fn string_length(text: &str) -> usize {
    let mut escaped = false;
    for (at, c) in text.char_indices().skip(1) {
        match c {
            '"' if !escaped => return at + 1,
            '\\' => escaped = !escaped,
            _ => escaped = false,
        }
    }
    text.len()
}

fn raw_string_length(text: &str) -> Option<usize> {
    let after = text.strip_prefix("br").or_else(|| text.strip_prefix('r'))?;
    let hashes = after.len() - after.trim_start_matches('#').len();
    let body = after[hashes..].strip_prefix('"')?;
    let close = format!("\"{}", "#".repeat(hashes));
    let end = body.find(&close)?;
    Some(text.len() - body.len() + end + close.len())
}

/// The length of a character literal; `None` for a lifetime.
fn character_length(text: &str) -> Option<usize> {
    let body = text.strip_prefix('\'')?;
    let first = body.chars().next()?;
    let end = if first == '\\' {
        1 + body[1..].find('\'').filter(|end| *end <= 10)? + usize::from(body[1..].starts_with('\''))
    } else {
        first.len_utf8()
    };
    (body.as_bytes().get(end) == Some(&b'\'')).then_some(end + 2)
}

/// Empties the lines of inline `#[cfg(test)] mod name { … }`, which rustfmt ends with a brace in the first
/// column, and of declared test modules.
fn blank_test_modules(code: &str) -> String {
    let mut kept = String::with_capacity(code.len());
    let mut rest = code;
    while let Some(at) = rest.find("#[cfg(test)]\nmod ") {
        let (before, module) = rest.split_at(at);
        kept.push_str(before);
        let declared = module.find(['{', ';']).unwrap_or(module.len());
        let end = if module[declared..].starts_with('{') {
            module.find("\n}").map_or(module.len(), |end| end + 2)
        } else {
            (declared + 1).min(module.len())
        };
        kept.extend(module[..end].chars().filter(|c| *c == '\n'));
        rest = &module[end..];
    }
    kept + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_keep_their_line_and_tests_are_left_out() {
        let text = "fn f() {\n    // \"no\"\n    a.join(\"one\");\n    g(r#\"two \"x\"\"#, '\"');\n}\n\n\
                    #[cfg(test)]\nmod tests {\n    const T: &str = \"three\";\n}\nconst L: &str = \"four\";\n";
        let source = RustSource::parse("a.rs", text);
        let found: Vec<_> =
            source.literals.iter().map(|one| (one.line, one.text.as_str(), one.joined)).collect();
        assert_eq!(found, [(3, "one", true), (4, "two \"x", false), (11, "four", false)]);
        assert_eq!(source.code.lines().count(), text.lines().count());
    }
}
