//! Remedies: failures of commands that were overcome without an edit of code, with what overcame them.
//!
//! The agent's own sentence tells it best. Without one, a changed command or a preparing command that ran before the
//! success is told, if the error is none of work in progress.

use std::collections::BTreeSet;

use claude_mem_core::episode::Episode;
use claude_mem_core::source::TextSource;

use crate::carry::{ConfigurationEdit, OpenFailure};
use crate::claim::{Claim, ClaimKind};
use crate::failures::{OvercomeFailure, is_said_differently};
use crate::gates;
use crate::sentences::{TextBlock, TextDocument, TextSentence};
use crate::text::{clip, clip_middle, content_words, full_stop, shared};

/// Worth of a remedy.
const REMEDY_WORTH: f32 = 0.6;
/// Lines of an error that are quoted, and the characters of each.
const ERROR_LINES_MAX: usize = 3;
const ERROR_LINE_CHARS_MAX: usize = 240;
/// Errors of work in progress, which nobody looks up later.
#[rustfmt::skip]
const ROUTINE_ERRORS: &[&str] = &[
    "cannot find", "is not defined", "undefined:", "unused", "expected", "Expected", "assert", "Assertion",
    "syntax", "Syntax", "no attribute", "unresolved", "is not assignable", "warning", "lint", "prettier",
    "FAILED", "FAIL ", "does not exist on type", "TS2",
];
/// Refusals of git that are answered by its next command.
const ROUTINE_REFUSALS: &[&str] = &[
    "fetch first",
    "non-fast-forward",
    "CONFLICT",
    "nothing to commit",
    "pathspec",
    "would be overwritten",
    "no upstream branch",
    "already exists",
    "not something we can merge",
    "unknown revision",
];

/// What overcame a failure.
enum Remedy<'f> {
    /// The same command in other words.
    Variant,
    /// A command that had to run first.
    Command(&'f str),
    Edit(&'f ConfigurationEdit),
    /// Only the agent's words tell it.
    Words,
}

/// Sentences of the agent that say what helped, and what they name.
struct Explanation<'f> {
    remedy: Remedy<'f>,
    text: String,
}

/// Makes one claim of each failure whose remedy is worth knowing.
pub(crate) fn remedy_claims<'o>(
    episode: &Episode,
    overcome: impl Iterator<Item = &'o OvercomeFailure>,
    group: u32,
) -> Vec<Claim> {
    let mut told = BTreeSet::new();
    let mut claims = Vec::new();
    for over in overcome {
        if !told.contains(&over.failure.key)
            && let Some(claim) = remedy_claim(episode, over)
        {
            told.insert(&over.failure.key);
            claims.push(Claim { group, ..claim });
        }
    }
    claims
}

fn remedy_claim(episode: &Episode, over: &OvercomeFailure) -> Option<Claim> {
    let failure = &over.failure;
    let first = failure.errors.first()?;
    let holds = |phrases: &[&str]| failure.errors.iter().any(|line| phrases.iter().any(|p| line.contains(p)));
    let is_git = failure.program == "git";
    if failure.edited || (is_git && holds(ROUTINE_REFUSALS)) {
        return None;
    }
    let explained = explanation(episode, over);
    let is_routine =
        is_git || over.needs_words || ROUTINE_ERRORS.iter().any(|routine| first.contains(routine));
    if explained.is_none() && is_routine {
        return None;
    }
    let (command, passed) = (failure.command.as_str(), over.passed.as_str());
    let is_variant = command != passed && (over.needs_words || is_said_differently(command, passed));
    let remedy = match (&explained, failure.remedies.last()) {
        _ if is_variant => &Remedy::Variant,
        (Some(Explanation { remedy: Remedy::Words, .. }) | None, Some(last)) => &Remedy::Command(last),
        (Some(explained), _) => &explained.remedy,
        (None, None) => return None,
    };
    let lines =
        failure.errors.iter().take(ERROR_LINES_MAX).map(|line| clip_middle(line, ERROR_LINE_CHARS_MAX));
    let error = lines.collect::<Vec<_>>().join(" / ");
    let failed = format!("`{command}` failed with “{error}”");
    let short = clip(command, 50);
    let (title, mut text) = match remedy {
        Remedy::Variant => (
            format!("Run `{}`, not `{}`", clip(passed, 60), clip(command, 40)),
            format!("{failed}; `{passed}` passes."),
        ),
        Remedy::Command(remedy) => {
            let remedy = without_process_ids(remedy);
            (
                format!("`{short}` needs `{}` first", clip(&remedy, 50)),
                format!("{failed} and passed after `{remedy}`."),
            )
        }
        Remedy::Edit(edit) => (
            format!("`{short}` needs `{}` in {}", clip(&edit.added, 50), edit.path),
            format!("{failed} and passed after `{}` was put into {}.", edit.added, edit.path),
        ),
        Remedy::Words => {
            let said = explained.as_ref()?;
            (
                format!("What helped when `{short}` failed: {}", clip(&said.text, 80)),
                format!("{failed} and passed later."),
            )
        }
    };
    if let Some(explained) = &explained {
        text = format!("{text} {}", full_stop(&explained.text));
    }
    let mut claim = Claim::new(ClaimKind::Remedy, TextSource::ToolOutput, text, over.at).titled(title);
    claim.worth = REMEDY_WORTH;
    Some(claim)
}

/// `kill 4711` as `kill PID`: the next process has another number.
pub(crate) fn without_process_ids(command: &str) -> String {
    let mut kills = false;
    let words = command.split(' ').map(|word| {
        kills = word == "kill" || (kills && !matches!(word, "&&" | "||" | "|" | ";"));
        let is_number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if kills && is_number { "PID" } else { word }
    });
    words.collect::<Vec<_>>().join(" ")
}

/// Points of a sentence that names what was done, and points that it needs.
const NAMED_POINTS: usize = 4;
const POINTS_MIN: usize = 4;
/// Sentences of a message that is about nothing but the failure.
const UNNAMED_SENTENCES_MAX: usize = 3;
/// Shared words of an error that count.
const SHARED_WORDS_MAX: usize = 2;

/// The agent's best sentence about what helped, the later of equals, with the one before it that names the cause.
fn explanation<'f>(episode: &Episode, over: &'f OvercomeFailure) -> Option<Explanation<'f>> {
    let failure = &over.failure;
    let messages = episode.texts.iter().filter(|text| text.source == TextSource::Message);
    let messages = messages.map(|text| (text.text.as_str(), text.at));
    let last = episode.final_message.iter().map(|message| (message.text.as_str(), message.at));
    let trouble = content_words(&format!("{} {}", failure.command, failure.errors.join(" ")));
    let mut best: Option<(usize, Explanation<'f>)> = None;
    for (text, _) in messages.chain(last).filter(|(_, at)| *at >= failure.at) {
        let sentences = TextDocument::read(text).sentences;
        for (index, sentence) in sentences.iter().enumerate().filter(|(_, one)| is_telling(one)) {
            let before = index.checked_sub(1).and_then(|index| sentences.get(index));
            let before = before.filter(|before| before.paragraph == sentence.paragraph && is_telling(before));
            let shares = |text: &str| shared(&content_words(text), &trouble).min(SHARED_WORDS_MAX);
            let named = named_remedy(&sentence.text, over);
            let points = match &named {
                Some(_) => NAMED_POINTS + shares(&sentence.text),
                // A report of more sentences is about other work.
                None if sentences.len() > UNNAMED_SENTENCES_MAX || sentence.block == TextBlock::Item => 0,
                None => unnamed_points(&sentence.text, failure) + shares(&sentence.text),
            };
            let is_new = best.as_ref().is_none_or(|(known, _)| points >= *known);
            if points < POINTS_MIN
                || !is_new
                || (gates::is_dangling(&sentence.text) && before.is_none() && named.is_none())
            {
                continue;
            }
            let before =
                before.filter(|before| gates::is_dangling(&sentence.text) || shares(&before.text) > 0);
            let said = before.into_iter().chain([sentence]).map(|one| full_stop(&one.text));
            let text = said.collect::<Vec<_>>().join(" ");
            best = Some((points, Explanation { remedy: named.unwrap_or(Remedy::Words), text }));
        }
    }
    best.map(|(_, explained)| explained)
}

/// What was done that a sentence names: a command that it quotes, or an edited configuration.
fn named_remedy<'f>(text: &str, over: &'f OvercomeFailure) -> Option<Remedy<'f>> {
    let failure = &over.failure;
    if over.passed != failure.command && quotes(text, &over.passed) {
        return Some(Remedy::Command(&over.passed));
    }
    if over.passed != failure.command && names_argument(text, &over.passed, failure) {
        return Some(Remedy::Command(&over.passed));
    }
    let since = || failure.since.iter().rev();
    let named = since().find(|command| quotes(text, command));
    let named = named.or_else(|| since().find(|command| names_argument(text, command, failure)));
    let edited = || {
        let names = |edit: &&ConfigurationEdit| {
            let file = edit.path.rsplit('/').next().unwrap_or(&edit.path);
            text.contains(file) || spans(text).any(|span| span.len() > 3 && edit.added.contains(span))
        };
        failure.edits.iter().rev().find(names)
    };
    named.map(|command| Remedy::Command(command)).or_else(|| edited().map(Remedy::Edit))
}

/// Words of a command that a quotation must repeat to be that command.
const QUOTED_WORDS_MIN: usize = 2;

fn spans(text: &str) -> impl Iterator<Item = &str> {
    text.split('`').skip(1).step_by(2)
}

/// Whether a sentence quotes a command in code marks, whole or its beginning.
fn quotes(text: &str, command: &str) -> bool {
    let bare = |text: &str| text.replace(['\'', '"'], "");
    let command = bare(command);
    spans(text).map(bare).any(|span| {
        let parts =
            || command.split(" && ").filter(|part| part.split_whitespace().count() >= QUOTED_WORDS_MIN);
        let whole =
            span.contains(&command) || command.contains(&span) || parts().any(|part| span.contains(part));
        whole && span.split_whitespace().count() >= QUOTED_WORDS_MIN
    })
}

/// Characters of an argument that is a name.
const ARGUMENT_CHARS_MIN: usize = 4;

/// Whether a sentence names what a command was given and the failed one was not: the package that was installed.
fn names_argument(text: &str, command: &str, failure: &OpenFailure) -> bool {
    let trouble = || failure.errors.iter().chain([&failure.command]);
    let is_name = |word: &&str| {
        word.chars().count() >= ARGUMENT_CHARS_MIN
            && !word.starts_with('-')
            && word.contains(['-', '_', '.', '/', '='])
            && !trouble().any(|line| line.contains(word))
    };
    let is_variable =
        |word: &&str| word.split_once('=').is_some_and(|(name, _)| name.len() >= ARGUMENT_CHARS_MIN);
    let variables =
        command.split_whitespace().take_while(is_variable).filter_map(|word| word.split('=').next());
    let arguments = command.split_whitespace().skip(1).filter(is_name);
    let mut names = variables.chain(arguments);
    names.any(|name| text.contains(name))
}

/// First words of a sentence that says what was done.
#[rustfmt::skip]
const REMEDY_VERBS: &[&str] = &[
    "added", "changed", "cleared", "created", "disabled", "downgraded", "enabled", "freed", "increased", "installed", "lowered", "moved",
    "pinned", "pointed", "raised", "regenerated", "removed", "renamed", "restarted", "set", "started", "switched", "unset", "upgraded", "updated", "use",
];

/// Words of a sentence that says what a program has to be given.
const NEED_WORDS: &[&str] = &[" need", " requires ", " must ", " has to ", " set "];

/// How well a sentence tells what was done about a failure where nothing was seen that may have helped.
fn unnamed_points(text: &str, failure: &OpenFailure) -> usize {
    let is_unseen = failure.since.is_empty() && failure.edits.is_empty();
    let first = gates::first_word(text);
    let is_setting = |span: &str| span.contains('=') || span.starts_with("--");
    let tells = (REMEDY_VERBS.contains(&first.as_str()) && gates::names_something(text))
        || spans(text).any(is_setting);
    let lower = text.to_lowercase();
    let is_needed = spans(text).any(is_setting) && NEED_WORDS.iter().any(|word| lower.contains(word));
    match (is_unseen && tells, is_needed) {
        (true, true) => POINTS_MIN,
        (true, false) => POINTS_MIN - 1,
        (false, _) => 0,
    }
}

/// Whether a sentence tells rather than announces, asks or guesses.
fn is_telling(sentence: &TextSentence) -> bool {
    matches!(sentence.block, TextBlock::Prose | TextBlock::Item)
        && !is_announcement(&sentence.text)
        && !gates::hedges(&sentence.text)
        && content_words(&sentence.text).len() >= TELLING_WORDS_MIN
}

/// Whether a sentence is commentary. What the user had or lacked is a cause, and what was done is none.
fn is_announcement(text: &str) -> bool {
    let first = gates::first_word(text);
    gates::is_commentary(text) && first != "the" && !first.ends_with("ed")
}

/// Words that mean something of a sentence that tells.
const TELLING_WORDS_MIN: usize = 3;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn process_ids_are_left_out_and_signals_and_ports_stay() {
        for (command, told) in [
            ("kill -9 4711 4712", "kill -9 PID PID"),
            ("kill 4711 && nc -z localhost 4100", "kill PID && nc -z localhost 4100"),
            ("kill $(lsof -ti :4100)", "kill $(lsof -ti :4100)"),
            ("docker compose up -d --scale web 2", "docker compose up -d --scale web 2"),
        ] {
            assert_eq!(without_process_ids(command), told);
        }
    }
}
