//! The viewer's modules, as one script.
//!
//! They are written as native modules, one idea each. Fetched one by one, each costs a browser a
//! request and turns of its event loop, also where all are preloaded: 17 of them took a first visit
//! 90 ms from the page to the last of them, joined they take 40. So the server joins them: every
//! module becomes a function that gives what it exports, in the order in which they need each
//! other.
//!
//! Invariant: only the little is understood that our modules use, imports of names and exports in
//! front of what they name, each on a line of its own. Anything else is refused, and a test sees
//! to it that there is none. Comments, which begin a line, stay with us: they are an eighth of what
//! would be sent. Absent on purpose: minifying; what runs can be read.

use std::fmt::Write as _;

/// Why modules cannot be joined.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(super) enum Odd {
    #[error("there is no module {0:?}")]
    Missing(String),
    #[error("{0:?} needs itself")]
    Circle(String),
    #[error("{module:?} has a line that is not understood: {line}")]
    Line { module: String, line: String },
}

/// Joins a module and all that it imports. `read` gives the text of one.
pub(super) fn join<'t>(entry: &str, read: impl Fn(&str) -> Option<&'t str>) -> Result<String, Odd> {
    let mut joining = Joining {
        read,
        done: Vec::new(),
        under_way: Vec::new(),
        out: String::new(),
    };
    joining.module(entry)?;
    Ok(joining.out)
}

struct Joining<R> {
    read: R,
    done: Vec<String>,
    under_way: Vec<String>,
    out: String,
}

impl<'t, R: Fn(&str) -> Option<&'t str>> Joining<R> {
    fn module(&mut self, name: &str) -> Result<(), Odd> {
        if self.done.iter().any(|done| done == name) {
            return Ok(());
        }
        if self.under_way.iter().any(|above| above == name) {
            return Err(Odd::Circle(name.to_owned()));
        }
        let text = (self.read)(name).ok_or_else(|| Odd::Missing(name.to_owned()))?;
        self.under_way.push(name.to_owned());
        let mut exports = Vec::new();
        let mut body = String::with_capacity(text.len());
        let mut comments = Comments::default();
        for line in text.lines().filter(|line| !comments.has(line)) {
            self.line(name, line, &mut exports, &mut body)?;
        }
        self.under_way.pop();
        self.done.push(name.to_owned());
        let (variable, exports) = (variable(name), exports.join(", "));
        // Writing to a string does not fail.
        let _ = write!(
            self.out,
            "// {name}\nconst {variable} = (() => {{\n{body}return {{ {exports} }};\n}})();\n\n"
        );
        Ok(())
    }

    fn line(
        &mut self,
        module: &str,
        line: &str,
        exports: &mut Vec<String>,
        body: &mut String,
    ) -> Result<(), Odd> {
        let odd = || Odd::Line {
            module: module.to_owned(),
            line: line.to_owned(),
        };
        let written = if line.starts_with("import") {
            let (names, from) = imported(line).ok_or_else(odd)?;
            self.module(from)?;
            format!("const {{ {} }} = {};", names, variable(from))
        } else if let Some(exported) = line.strip_prefix("export ") {
            exports.push(declared(exported).ok_or_else(odd)?.to_owned());
            exported.to_owned()
        } else if line.contains("import(") {
            return Err(odd());
        } else {
            line.to_owned()
        };
        body.push_str(&written);
        body.push('\n');
        Ok(())
    }
}

/// Tells lines that are comments from those that run.
#[derive(Default)]
struct Comments {
    /// A comment of several lines was begun.
    is_open: bool,
}

impl Comments {
    fn has(&mut self, line: &str) -> bool {
        let text = line.trim();
        let is_comment = self.is_open || text.starts_with("//") || text.starts_with("/**");
        if is_comment && (self.is_open || text.starts_with("/**")) {
            self.is_open = !text.ends_with("*/");
        }
        is_comment
    }
}

/// `import { a, b } from './c.js';`: the names, and where they come from.
fn imported(line: &str) -> Option<(&str, &str)> {
    let rest = line.strip_prefix("import { ")?.strip_suffix(".js';")?;
    let (names, from) = rest.split_once(" } from './")?;
    let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric());
    let are_names = names
        .split(", ")
        .all(|name| !name.is_empty() && is_name(name));
    (are_names && is_name(from))
        .then(|| (names, &line[line.len() - from.len() - 5..line.len() - 2]))
}

/// What a declaration names: `async function add(world) {` is `add`.
fn declared(line: &str) -> Option<&str> {
    let kinds = ["const ", "class ", "function ", "async function "];
    let rest = kinds.iter().find_map(|kind| line.strip_prefix(kind))?;
    let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_')?;
    (end > 0).then(|| &rest[..end])
}

/// `card.js` is `$card`: no name of ours begins so.
fn variable(module: &str) -> String {
    format!("${}", module.trim_end_matches(".js"))
}

#[cfg(test)]
#[path = "bundle_tests.rs"]
mod tests;
