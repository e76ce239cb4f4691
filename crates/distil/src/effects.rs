//! What a change does: which function is new, which constant has another value.

use super::cues::{self, Cue, Language};
use super::effect::Effect;
use super::patch::{Change, Hunk};
use super::symbols::{self, Definition, Kind, Syntax};
use super::text::{clip, one_line};
use super::values::{assignment, comment_words, difference, is_comment};

const LINE_CHARS_MAX: usize = 90;

/// Everything that a change does, most telling first.
pub(super) fn effects_of(change: &Change) -> Vec<Effect> {
    let syntax = Syntax::for_path(&change.path);
    let mut effects = Vec::new();
    if change.deleted {
        return vec![Effect::Deleted];
    }
    if change.created {
        effects.push(Effect::NewFile { about: about(change, syntax) });
    }
    effects.extend(defined(change, syntax));
    for hunk in &change.hunks {
        let named: Vec<String> = effects.iter().filter_map(|e| e.name().map(str::to_owned)).collect();
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
        let Some(index) = removed.iter().position(|old| old.name == new.name && old.kind == new.kind) else {
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
        effects.push(Effect::Renamed { from: old.name, to: new.name.clone() });
        false
    });
    // A new function's own parts are not news beside it, nor are the headings of a new text.
    let headings = |d: &Definition| d.kind == Kind::Section && change.created && syntax == Syntax::Markdown;
    let mut inside: Option<usize> = None;
    for new in added.into_iter().filter(|d| !headings(d)) {
        if inside.is_some_and(|indent| new.indent > indent) {
            continue;
        }
        inside = matches!(new.kind, Kind::Function | Kind::Test).then_some(new.indent);
        effects.push(Effect::Added { kind: new.kind, name: new.name });
    }
    effects.extend(removed.into_iter().map(|d| Effect::Removed { kind: d.kind, name: d.name }));
    effects
}

/// From the name on: `load(path, strict) -> Config`.
fn short_signature(definition: &Definition) -> String {
    let from = definition.signature.find(&definition.name).unwrap_or(0);
    clip(&one_line(&definition.signature[from..]), LINE_CHARS_MAX + 10)
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
    let first = hunk.added.iter().chain(&hunk.removed).find(|line| !line.trim().is_empty());
    let within = symbols::enclosing(&hunk.above, first.map_or("", String::as_str), syntax);
    let values = new_values(&removed, &added, syntax);
    if !values.is_empty() {
        effects.extend(values);
        return effects;
    }
    let defines = |lines: &[String]| lines.iter().any(|line| symbols::definition(line, syntax).is_some());
    if defines(&added) || defines(&removed) {
        return effects;
    }
    // Without functions, a line or two is all there is to tell.
    let flat = matches!(syntax, Syntax::Other | Syntax::Data) && added.len() <= 2 && removed.len() <= 1;
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
            effects.push(Effect::Inserted { line: clip(&one_line(line), LINE_CHARS_MAX) });
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
        let same = |line: &&String| assignment(line, syntax).is_some_and(|(other, _)| other == name);
        let Some((_, after)) = added.iter().find(same).and_then(|line| assignment(line, syntax)) else {
            continue;
        };
        if let Some((before, after)) = difference(before, after, syntax) {
            values.push(Effect::Value { name: name.to_owned(), before, after });
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
        (true, within) => Effect::Line { within, before, after },
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
    let condition = condition.strip_prefix('(').and_then(|c| c.strip_suffix(')')).unwrap_or(condition);
    let raises = added.iter().skip(1).find_map(|line| raised(line.trim()));
    let fits = condition.chars().count() <= LINE_CHARS_MAX && !condition.is_empty();
    fits.then(|| Effect::Guard { within, condition: one_line(condition), raises })
}

fn raised(line: &str) -> Option<String> {
    let after = ["raise ", "throw new ", "throw ", "return Err(", "return errors.New(", "bail!("]
        .iter()
        .find_map(|word| line.strip_prefix(word))?;
    let name: String = after.chars().take_while(|c| c.is_alphanumeric() || "_:.".contains(*c)).collect();
    (name.len() > 2).then_some(name)
}

fn is_import(text: &str) -> bool {
    ["import ", "from ", "use ", "#include", "require ", "using ", "package ", "pub use "]
        .iter()
        .any(|word| text.starts_with(word))
        || text.contains("require(") && text.starts_with("const ")
}

/// New comments that give a reason or a rule.
fn reasons(hunk: &Hunk, created: bool) -> Vec<Effect> {
    let mut whole = String::new();
    let mut found = Vec::new();
    // What a new file says of itself at its head is told with the file.
    let head =
        if created { hunk.added.iter().take_while(|line| comment_words(line).is_some()).count() } else { 0 };
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
    let marks = cues::mark(comment, Language::detect(comment));
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
        let legal = ["copyright", "licen", "spdx", "eslint", "noqa", "coding:", "generated"];
        if legal.iter().any(|word| said.to_lowercase().contains(word)) {
            continue;
        }
        words.push_str(&said);
        words.push(' ');
    }
    let first = super::sentences::split(words.trim()).first().map_or("", |s| *s).to_owned();
    let first = super::sentences::unmark(&first);
    if first.split_whitespace().count() < 3 {
        return String::new();
    }
    clip(first.trim_end_matches('.'), 140)
}

#[cfg(test)]
#[path = "effects_tests.rs"]
mod tests;
