//! What a change does, in words: which function is new, which constant has another value.

use super::cues::{self, Cue, Language};
use super::patch::{Change, Hunk};
use super::symbols::{self, Definition, Kind, Syntax};
use super::text::{clip, one_line};
use super::values::{assignment, comment_words, difference, is_comment};

/// Names told of one kind of effect; the rest is a number.
const NAMES_MAX: usize = 5;
const LINE_CHARS_MAX: usize = 90;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Effect {
    /// A file that was not there, with what it says it is for.
    NewFile {
        about: String,
    },
    Deleted,
    Added {
        kind: Kind,
        name: String,
    },
    Removed {
        kind: Kind,
        name: String,
    },
    Renamed {
        from: String,
        to: String,
    },
    Signature {
        before: String,
        after: String,
    },
    Value {
        name: String,
        before: String,
        after: String,
    },
    /// A check that was not there: its condition, and what it raises.
    Guard {
        within: Option<String>,
        condition: String,
        raises: Option<String>,
    },
    /// One line became another.
    Line {
        within: Option<String>,
        before: String,
        after: String,
    },
    /// A line where there was none.
    Inserted {
        line: String,
    },
    Body {
        within: String,
    },
    /// A comment that says why.
    Reason(String),
    /// Code changed, and nothing simple can be said of it.
    Touched,
}

impl Effect {
    /// How much it says about the change. What is worth a title weighs two or more.
    pub(super) const fn weight(&self) -> u8 {
        match self {
            Self::Value { .. } | Self::Renamed { .. } => 5,
            Self::NewFile { .. } | Self::Deleted | Self::Signature { .. } => 4,
            Self::Added { kind, .. } | Self::Removed { kind, .. } => match kind {
                Kind::Test => 1,
                Kind::Function | Kind::Type => 4,
                Kind::Constant | Kind::Section => 3,
            },
            Self::Guard { .. } => 3,
            Self::Line { .. } | Self::Inserted { .. } | Self::Body { .. } => 2,
            Self::Touched => 1,
            Self::Reason(_) => 0,
        }
    }

    /// The name it is about.
    pub(super) fn name(&self) -> Option<&str> {
        match self {
            Self::Added { name, .. } | Self::Removed { name, .. } | Self::Value { name, .. } => {
                Some(name)
            }
            Self::Renamed { to, .. } => Some(to),
            Self::Body { within } => Some(within),
            Self::Guard { within, .. } | Self::Line { within, .. } => within.as_deref(),
            Self::Signature { after, .. } => after.split(['(', ' ']).next(),
            Self::NewFile { .. }
            | Self::Deleted
            | Self::Inserted { .. }
            | Self::Reason(_)
            | Self::Touched => None,
        }
    }

    pub(super) fn in_words(&self) -> String {
        let within = |place: &Option<String>| {
            place
                .as_ref()
                .map_or(String::new(), |name| format!("`{name}` "))
        };
        match self {
            Self::NewFile { about } => about.clone(),
            Self::Touched => String::new(),
            Self::Deleted => "deleted".into(),
            Self::Added { kind, name } => format!("adds {}", called(*kind, name)),
            Self::Removed { kind, name } => format!("removes {}", called(*kind, name)),
            Self::Renamed { from, to } => format!("renames `{from}` to `{to}`"),
            Self::Signature { before, after } => format!("`{before}` becomes `{after}`"),
            Self::Value {
                name,
                before,
                after,
            } => format!("`{name}` {before} → {after}"),
            Self::Guard {
                within: place,
                condition,
                raises: Some(raised),
            } => {
                format!("{}raises `{raised}` if `{condition}`", within(place))
            }
            Self::Guard {
                within: place,
                condition,
                raises: None,
            } => {
                format!("{}checks `{condition}`", within(place))
            }
            Self::Line {
                within: place,
                before,
                after,
            } => match place {
                Some(name) => format!("in `{name}`, `{before}` becomes `{after}`"),
                None => format!("`{before}` becomes `{after}`"),
            },
            Self::Inserted { line } => format!("adds `{line}`"),
            Self::Body { within } => format!("reworks `{within}`"),
            Self::Reason(text) => text.clone(),
        }
    }
}

fn called(kind: Kind, name: &str) -> String {
    match kind {
        Kind::Function => format!("`{name}()`"),
        Kind::Test => format!("the test “{name}”"),
        Kind::Type | Kind::Constant => format!("`{name}`"),
        Kind::Section => format!("“{name}”"),
    }
}

/// Everything that a change does, most telling first.
pub(super) fn of(change: &Change) -> Vec<Effect> {
    let syntax = Syntax::of(&change.path);
    let mut effects = Vec::new();
    if change.deleted {
        return vec![Effect::Deleted];
    }
    if change.created {
        effects.push(Effect::NewFile {
            about: about(change, syntax),
        });
    }
    effects.extend(defined(change, syntax));
    for hunk in &change.hunks {
        let named: Vec<String> = effects
            .iter()
            .filter_map(|e| e.name().map(str::to_owned))
            .collect();
        effects.extend(in_place(hunk, syntax, change.created, &named));
    }
    let mut kept: Vec<Effect> = Vec::new();
    for effect in effects {
        if !kept.contains(&effect) {
            kept.push(effect);
        }
    }
    kept.sort_by_key(|effect| std::cmp::Reverse(effect.weight()));
    kept
}

/// Definitions that came, went, changed their name or their signature.
fn defined(change: &Change, syntax: Syntax) -> Vec<Effect> {
    let read = |line: &str| symbols::definition(line, syntax);
    let mut removed: Vec<Definition> = change.removed().filter_map(read).collect();
    let mut added: Vec<Definition> = change.added().filter_map(read).collect();
    let mut effects = Vec::new();
    // The same name on both sides is the same thing, maybe with another signature.
    added.retain(|new| {
        let Some(index) = removed
            .iter()
            .position(|old| old.name == new.name && old.kind == new.kind)
        else {
            return true;
        };
        let old = removed.remove(index);
        if old.signature != new.signature && new.kind == Kind::Function {
            let (before, after) = (short_signature(&old), short_signature(new));
            if before != after {
                effects.push(Effect::Signature { before, after });
            }
        }
        false
    });
    added.retain(|new| {
        let renamed = |old: &Definition| {
            old.kind == new.kind && old.signature.replacen(&old.name, &new.name, 1) == new.signature
        };
        let Some(index) = removed.iter().position(renamed) else {
            return true;
        };
        let old = removed.remove(index);
        effects.push(Effect::Renamed {
            from: old.name,
            to: new.name.clone(),
        });
        false
    });
    // A new function's own parts are not news beside it, nor are the headings of a new text.
    let headings =
        |d: &Definition| d.kind == Kind::Section && change.created && syntax == Syntax::Markdown;
    let mut inside: Option<usize> = None;
    for new in added.into_iter().filter(|d| !headings(d)) {
        if inside.is_some_and(|indent| new.indent > indent) {
            continue;
        }
        inside = matches!(new.kind, Kind::Function | Kind::Test).then_some(new.indent);
        effects.push(Effect::Added {
            kind: new.kind,
            name: new.name,
        });
    }
    effects.extend(removed.into_iter().map(|d| Effect::Removed {
        kind: d.kind,
        name: d.name,
    }));
    effects
}

/// From the name on: `load(path, strict) -> Config`.
fn short_signature(definition: &Definition) -> String {
    let from = definition.signature.find(&definition.name).unwrap_or(0);
    clip(
        &one_line(&definition.signature[from..]),
        LINE_CHARS_MAX + 10,
    )
}

/// What one place does beyond definitions: values, checks, single lines, reasons.
fn in_place(hunk: &Hunk, syntax: Syntax, created: bool, named: &[String]) -> Vec<Effect> {
    let mut effects: Vec<Effect> = reasons(hunk, created);
    if created {
        return effects;
    }
    let code = |lines: &[String]| -> Vec<String> {
        let worth = |line: &&String| {
            let text = line.trim();
            !text.is_empty() && !is_comment(text) && !is_import(text)
        };
        lines.iter().filter(worth).cloned().collect()
    };
    let (removed, added) = (code(&hunk.removed), code(&hunk.added));
    if removed.is_empty() && added.is_empty() {
        return effects;
    }
    let first = hunk
        .added
        .iter()
        .chain(&hunk.removed)
        .find(|line| !line.trim().is_empty());
    let within = symbols::enclosing(&hunk.above, first.map_or("", String::as_str), syntax);
    let values = new_values(&removed, &added, syntax);
    if !values.is_empty() {
        effects.extend(values);
        return effects;
    }
    let defines = |lines: &[String]| {
        lines
            .iter()
            .any(|line| symbols::definition(line, syntax).is_some())
    };
    if defines(&added) || defines(&removed) {
        return effects;
    }
    // Without functions, a line or two is all there is to tell.
    let flat =
        matches!(syntax, Syntax::Other | Syntax::Data) && added.len() <= 2 && removed.len() <= 1;
    match (removed.as_slice(), added.as_slice()) {
        ([before], [after]) => {
            effects.extend(one_line_change(before, after, within));
            return effects;
        }
        ([before], [after, ..]) if flat => {
            effects.extend(one_line_change(before, after, within));
            return effects;
        }
        ([], [line, ..]) if flat => {
            effects.push(Effect::Inserted {
                line: clip(&one_line(line), LINE_CHARS_MAX),
            });
            return effects;
        }
        _ => {}
    }
    if removed.len() <= 1
        && let Some(guard) = guard(&added, within.clone())
    {
        effects.push(guard);
        return effects;
    }
    effects.push(match within.filter(|name| !named.contains(name)) {
        Some(within) => Effect::Body { within },
        None => Effect::Touched,
    });
    effects
}

fn new_values(removed: &[String], added: &[String], syntax: Syntax) -> Vec<Effect> {
    let mut values = Vec::new();
    for line in removed {
        let Some((name, before)) = assignment(line, syntax) else {
            continue;
        };
        let same =
            |line: &&String| assignment(line, syntax).is_some_and(|(other, _)| other == name);
        let Some((_, after)) = added
            .iter()
            .find(same)
            .and_then(|line| assignment(line, syntax))
        else {
            continue;
        };
        if let Some((before, after)) = difference(before, after, syntax) {
            values.push(Effect::Value {
                name: name.to_owned(),
                before,
                after,
            });
        }
    }
    values
}

fn one_line_change(before: &str, after: &str, within: Option<String>) -> Option<Effect> {
    let (before, after) = (one_line(before), one_line(after));
    if before == after {
        return None;
    }
    let short = |line: &str| line.chars().count() <= LINE_CHARS_MAX;
    Some(match (short(&before) && short(&after), within) {
        (true, within) => Effect::Line {
            within,
            before,
            after,
        },
        (false, Some(within)) => Effect::Body { within },
        (false, None) => Effect::Touched,
    })
}

/// A new condition at the head of what was put in, and what it raises.
fn guard(added: &[String], within: Option<String>) -> Option<Effect> {
    let text = added.first()?.trim();
    let starts = ["if ", "if(", "unless ", "guard ", "assert ", "elif "];
    if !starts.iter().any(|word| text.starts_with(word)) || added.len() > 6 {
        return None;
    }
    let condition = text
        .trim_start_matches("if")
        .trim_start_matches("elif")
        .trim_end_matches(['{', ':', ';'])
        .trim_end_matches(" then")
        .trim();
    let condition = condition
        .strip_prefix('(')
        .and_then(|c| c.strip_suffix(')'))
        .unwrap_or(condition);
    let raises = added.iter().skip(1).find_map(|line| raised(line.trim()));
    let fits = condition.chars().count() <= LINE_CHARS_MAX && !condition.is_empty();
    fits.then(|| Effect::Guard {
        within,
        condition: one_line(condition),
        raises,
    })
}

fn raised(line: &str) -> Option<String> {
    let after = [
        "raise ",
        "throw new ",
        "throw ",
        "return Err(",
        "return errors.New(",
        "bail!(",
    ]
    .iter()
    .find_map(|word| line.strip_prefix(word))?;
    let name: String = after
        .chars()
        .take_while(|c| c.is_alphanumeric() || "_:.".contains(*c))
        .collect();
    (name.len() > 2).then_some(name)
}

fn is_import(text: &str) -> bool {
    [
        "import ", "from ", "use ", "#include", "require ", "using ", "package ", "pub use ",
    ]
    .iter()
    .any(|word| text.starts_with(word))
        || text.contains("require(") && text.starts_with("const ")
}

/// New comments that give a reason or a rule.
fn reasons(hunk: &Hunk, created: bool) -> Vec<Effect> {
    let mut whole = String::new();
    let mut found = Vec::new();
    // What a new file says of itself at its head is told with the file.
    let head = if created {
        hunk.added
            .iter()
            .take_while(|line| comment_words(line).is_some())
            .count()
    } else {
        0
    };
    for line in hunk.added.iter().skip(head).map(String::as_str).chain([""]) {
        match comment_words(line) {
            Some(words) => {
                whole.push_str(&words);
                whole.push(' ');
            }
            None if !whole.is_empty() => {
                found.extend(reason(&std::mem::take(&mut whole)));
            }
            None => {}
        }
    }
    found.truncate(2);
    found
}

fn reason(comment: &str) -> Option<Effect> {
    let marks = cues::mark(comment, Language::of(comment));
    let words = comment.split_whitespace().count();
    let why = marks.has(Cue::Reason) || marks.has(Cue::Measure) || marks.has(Cue::Rule);
    (why && (5..=60).contains(&words)).then(|| Effect::Reason(clip(&one_line(comment), 240)))
}

/// What a new file says it is for: its first comment, docstring or paragraph.
fn about(change: &Change, syntax: Syntax) -> String {
    let mut words = String::new();
    for line in change.added().take(12) {
        let text = line.trim();
        let said = match comment_words(text) {
            Some(said) => said,
            None if syntax == Syntax::Markdown && !text.starts_with('#') => text.to_owned(),
            None if words.is_empty()
                && (text.is_empty() || text.starts_with('#') || text.starts_with('<')) =>
            {
                continue;
            }
            None => break,
        };
        let legal = [
            "copyright",
            "licen",
            "spdx",
            "eslint",
            "noqa",
            "coding:",
            "generated",
        ];
        if legal.iter().any(|word| said.to_lowercase().contains(word)) {
            continue;
        }
        words.push_str(&said);
        words.push(' ');
    }
    let first = super::sentences::split(words.trim())
        .first()
        .map_or("", |s| *s)
        .to_owned();
    let first = super::sentences::unmark(&first);
    if first.split_whitespace().count() < 3 {
        return String::new();
    }
    clip(first.trim_end_matches('.'), 140)
}

/// What was done to one file, as one statement: `path: adds `a()` and `b()`; `X` 10 → 7`. Nothing
/// where nothing can be said.
pub(super) fn told(path: &str, effects: &[Effect], parts_max: usize) -> String {
    let parts = parts(effects, parts_max);
    let new = effects
        .iter()
        .any(|effect| matches!(effect, Effect::NewFile { .. }));
    match (new, parts.is_empty()) {
        (true, true) => format!("{path} (new)"),
        (true, false) => format!("{path} (new): {}", parts.join("; ")),
        (false, true) => String::new(),
        (false, false) => format!("{path}: {}", parts.join("; ")),
    }
}

/// Each thing that was done, names of one kind together, tests as a number.
fn parts(effects: &[Effect], parts_max: usize) -> Vec<String> {
    let mut parts: Vec<String> = Vec::new();
    let about = effects.iter().find_map(|effect| match effect {
        Effect::NewFile { about } if !about.is_empty() => Some(about.clone()),
        _ => None,
    });
    parts.extend(about);
    let names =
        |of: &dyn Fn(&Effect) -> Option<String>| effects.iter().filter_map(of).collect::<Vec<_>>();
    let added = names(&|effect| match effect {
        Effect::Added { kind, name } if *kind != Kind::Test => Some(called(*kind, name)),
        _ => None,
    });
    let removed = names(&|effect| match effect {
        Effect::Removed { kind, name } if *kind != Kind::Test => Some(called(*kind, name)),
        _ => None,
    });
    for (verb, names) in [("adds", added), ("removes", removed)] {
        if !names.is_empty() {
            parts.push(format!("{verb} {}", listed(&names)));
        }
    }
    parts.extend(names(&|effect| match effect {
        Effect::Added { .. }
        | Effect::Removed { .. }
        | Effect::NewFile { .. }
        | Effect::Reason(_)
        | Effect::Touched => None,
        effect => Some(effect.in_words()),
    }));
    let tests = names(&|effect| match effect {
        Effect::Added {
            kind: Kind::Test, ..
        } => Some(effect.in_words()),
        _ => None,
    });
    match tests.as_slice() {
        [] => {}
        [only] => parts.push(only.clone()),
        many => parts.push(format!("adds {} tests", many.len())),
    }
    parts.truncate(parts_max);
    parts
}

/// `a`, `b` and `c`; beyond a few, the number of the rest.
pub(super) fn listed(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] if names.len() <= NAMES_MAX => {
            format!("{} and {last}", first.join(", "))
        }
        _ => format!(
            "{} and {} more",
            names[..NAMES_MAX - 1].join(", "),
            names.len() - NAMES_MAX + 1
        ),
    }
}

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;
