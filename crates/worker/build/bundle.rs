//! [`join`] bundles the viewer's JavaScript modules into one script. The build script calls it.
//!
//! The viewer is written as native modules. Fetched one by one, each costs a browser a request and
//! turns of its event loop, even if all are preloaded: on a first visit 17 modules took 90 ms from
//! the page to the last module, and 40 ms as one script. The bundle turns every module into a
//! function that returns its exports, in dependency order.
//!
//! Invariant: only the syntax that our modules use is supported, that is, named imports and exported
//! declarations, each on one line. Anything else is a [`BundleError`], which fails the build. Comment lines, blank
//! lines and indentation are dropped, which saves a sixth of the bytes; so no template literal may span lines.
//! Deliberately absent: renaming and joining of lines, so that the served code stays readable.

use std::fmt::Write as _;

/// Why modules cannot be bundled.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum BundleError {
    /// No module has this name.
    Missing(String),
    /// Modules import each other in a cycle through this one.
    Cycle(String),
    UnsupportedLine {
        module: String,
        line: String,
    },
}

/// Bundles a module and all that it imports. `read` returns the text of a module.
pub(crate) fn join<T: AsRef<str>>(
    entry: &str,
    read: impl Fn(&str) -> Option<T>,
) -> Result<String, BundleError> {
    let mut joining = ModuleJoiner { read, done: Vec::new(), in_progress: Vec::new(), out: String::new() };
    joining.add_module(entry)?;
    Ok(joining.out)
}

/// The state of [`join`]: finished modules, those on the import stack, and the output.
struct ModuleJoiner<R> {
    read: R,
    done: Vec<String>,
    in_progress: Vec<String>,
    out: String,
}

impl<T: AsRef<str>, R: Fn(&str) -> Option<T>> ModuleJoiner<R> {
    fn add_module(&mut self, name: &str) -> Result<(), BundleError> {
        if self.done.iter().any(|done| done == name) {
            return Ok(());
        }
        if self.in_progress.iter().any(|above| above == name) {
            return Err(BundleError::Cycle(name.to_owned()));
        }
        let text = (self.read)(name).ok_or_else(|| BundleError::Missing(name.to_owned()))?;
        self.in_progress.push(name.to_owned());
        let mut exports = Vec::new();
        let text = text.as_ref();
        let mut body = String::with_capacity(text.len());
        let mut comments = CommentFilter::default();
        let lines = text.lines().filter(|line| !line.trim().is_empty());
        for line in lines.filter(|line| !comments.is_comment(line)) {
            self.add_line(name, line, &mut exports, &mut body)?;
        }
        self.in_progress.pop();
        self.done.push(name.to_owned());
        let (variable, exports) = (module_variable(name), exports.join(", "));
        // Writing to a string cannot fail.
        let _ = write!(
            self.out,
            "// {name}\nconst {variable} = (() => {{\n{body}return {{ {exports} }};\n}})();\n\n"
        );
        Ok(())
    }

    fn add_line(
        &mut self,
        module: &str,
        line: &str,
        exports: &mut Vec<String>,
        body: &mut String,
    ) -> Result<(), BundleError> {
        let odd = || BundleError::UnsupportedLine { module: module.to_owned(), line: line.to_owned() };
        let written = if line.starts_with("import") {
            let (names, from) = parse_import(line).ok_or_else(odd)?;
            self.add_module(from)?;
            format!("const {{ {} }} = {};", names, module_variable(from))
        } else if let Some(exported) = line.strip_prefix("export ") {
            exports.push(exported_name(exported).ok_or_else(odd)?.to_owned());
            exported.to_owned()
        } else if line.contains("import(") {
            return Err(odd());
        } else {
            line.to_owned()
        };
        body.push_str(written.trim_start());
        body.push('\n');
        Ok(())
    }
}

/// A script without comment lines, blank lines and indentation.
pub(crate) fn strip_lines(text: &str) -> String {
    let mut comments = CommentFilter::default();
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty() && !comments.is_comment(line));
    lines.flat_map(|line| [line, "\n"]).collect()
}

/// A stylesheet without comment lines, indentation and the blanks around punctuation. Strings stay as they are.
pub(crate) fn strip_stylesheet(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut is_string = false;
    let text = strip_lines(text);
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        is_string ^= c == '"';
        let is_blank = c == ' ' && !is_string;
        let follows = is_blank && out.ends_with([':', ';', ',', '{']);
        let precedes = is_blank && matches!(rest.peek(), Some('{' | '}'));
        if follows || precedes {
            continue;
        }
        if c == '}' && !is_string && out.ends_with(';') {
            out.pop();
        }
        out.push(c);
    }
    out
}

/// Recognises comment lines.
#[derive(Default)]
struct CommentFilter {
    /// Inside a comment of several lines.
    is_open: bool,
}

impl CommentFilter {
    fn is_comment(&mut self, line: &str) -> bool {
        let text = line.trim();
        let is_comment = self.is_open || text.starts_with("//") || text.starts_with("/*");
        if is_comment && (self.is_open || text.starts_with("/*")) {
            self.is_open = !text.ends_with("*/");
        }
        is_comment
    }
}

/// Parses `import { a, b } from './c.js';` into the names and the module.
fn parse_import(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("import { ")?.strip_suffix(".js';")?;
    let (names, from) = rest.split_once(" } from './")?;
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric());
    let are_names = names.split(", ").all(|name| !name.is_empty() && is_name(name));
    (are_names && is_name(from)).then(|| (names, &line[line.len() - from.len() - 5..line.len() - 2]))
}

/// The name that a declaration declares: `async function add(world) {` declares `add`.
fn exported_name(line: &str) -> Option<&str> {
    let kinds = ["const ", "class ", "function ", "async function "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    (end > 0).then(|| &rest[..end])
}

/// The variable of a module: `$card` for `card.js`. No name of ours begins with `$`.
fn module_variable(module: &str) -> String {
    format!("${}", module.trim_end_matches(".js"))
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
