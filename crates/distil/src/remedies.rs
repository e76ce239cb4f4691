//! Remedies: failures of commands that were overcome without an edit of code, with what overcame them.
//!
//! The agent's own sentence tells it best. Without one, a changed command or the command that ran before the success is
//! told, if the error is none of work in progress.

use claude_mem_core::episode::Episode;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::failures::{OvercomeFailure, is_said_differently};
use crate::gates;
use crate::sentences::{TextBlock, TextDocument};
use crate::text::{clip, content_words, full_stop};

/// Worth of a remedy.
const REMEDY_WORTH: f32 = 0.6;
/// Lines of an error that are quoted, and the characters of each.
const ERROR_LINES_MAX: usize = 3;
const ERROR_LINE_CHARS_MAX: usize = 160;
/// Errors of work in progress, which nobody looks up later.
#[rustfmt::skip]
const ROUTINE_ERRORS: &[&str] = &[
    "cannot find", "is not defined", "undefined:", "unused", "expected", "Expected", "assert", "Assertion",
    "syntax", "Syntax", "no attribute", "unresolved", "is not assignable", "warning", "lint", "prettier",
    "FAILED", "FAIL ", "does not exist on type", "TS2",
];

/// Makes one claim of each failure whose remedy is worth knowing.
pub(crate) fn remedy_claims(episode: &Episode, overcome: &[OvercomeFailure], group: u32) -> Vec<Claim> {
    let claims = overcome.iter().filter_map(|over| remedy_claim(episode, over));
    claims.map(|claim| Claim { group, ..claim }).collect()
}

fn remedy_claim(episode: &Episode, over: &OvercomeFailure) -> Option<Claim> {
    let failure = &over.failure;
    let first = failure.errors.first()?;
    if failure.edited {
        return None;
    }
    let explained = explanation(episode, over);
    if explained.is_none() && ROUTINE_ERRORS.iter().any(|routine| first.contains(routine)) {
        return None;
    }
    let lines = failure.errors.iter().take(ERROR_LINES_MAX).map(|line| clip(line, ERROR_LINE_CHARS_MAX));
    let error = lines.collect::<Vec<_>>().join(" / ");
    let (command, passed) = (failure.command.as_str(), over.passed.as_str());
    let (title, mut text) = if command != passed && is_said_differently(command, passed) {
        (
            format!("Run `{}`, not `{}`", clip(passed, 60), clip(command, 40)),
            format!("`{command}` failed with “{error}”; `{passed}` passes."),
        )
    } else if let Some(remedy) = failure.remedies.last() {
        (
            format!("`{}` needs `{}` first", clip(command, 50), clip(remedy, 50)),
            format!("`{command}` failed with “{error}” until `{remedy}` was run."),
        )
    } else {
        let (remedy, _) = explained.as_ref()?;
        (
            format!("`{}` needs `{}` first", clip(command, 50), clip(remedy, 50)),
            format!("`{command}` failed with “{error}” and passed after `{remedy}`."),
        )
    };
    if let Some((_, said)) = explained {
        text = format!("{text} {}", full_stop(&said));
    }
    let mut claim = Claim::new(ClaimKind::Remedy, TextSource::ToolOutput, text, over.at).titled(title);
    claim.worth = REMEDY_WORTH;
    Some(claim)
}

/// A command that passed between the failure and the success, with the agent's last sentence that quotes it: so it was
/// what helped.
fn explanation(episode: &Episode, over: &OvercomeFailure) -> Option<(String, String)> {
    let passed = Some(&over.passed).filter(|passed| **passed != over.failure.command);
    let commands = || over.failure.since.iter().chain(passed);
    let messages = episode.texts.iter().filter(|text| text.source == TextSource::Message);
    let texts = messages.map(|text| text.text.as_str());
    let texts = texts.chain(episode.final_message.iter().map(|message| message.text.as_str()));
    let mut last = None;
    for text in texts {
        for sentence in TextDocument::read(text).sentences {
            let quoted = commands().find(|command| quotes(&sentence.text, command));
            if let Some(command) = quoted.filter(|_| explains(&sentence.text, sentence.block)) {
                last = Some((command.clone(), sentence.text));
            }
        }
    }
    last
}

/// Words of a command that a quotation must repeat to be that command.
const QUOTED_WORDS_MIN: usize = 2;

/// Whether a sentence quotes a command in code marks, whole or its beginning.
fn quotes(text: &str, command: &str) -> bool {
    let mut spans = text.split('`').skip(1).step_by(2);
    spans.any(|span| {
        let whole = span.contains(command) || command.contains(span);
        whole && span.split_whitespace().count() >= QUOTED_WORDS_MIN
    })
}

/// Whether a sentence tells rather than announces, asks or guesses.
fn explains(text: &str, block: TextBlock) -> bool {
    matches!(block, TextBlock::Prose | TextBlock::Item)
        && !gates::is_commentary(text)
        && !gates::hedges(text)
        && !gates::is_dangling(text)
        && content_words(text).len() >= EXPLAINING_WORDS_MIN
}

/// Words that mean something of a sentence that explains.
const EXPLAINING_WORDS_MIN: usize = 4;
