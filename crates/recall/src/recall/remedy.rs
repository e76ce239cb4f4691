//! What worked against the same error: a memory counts only if it quotes the error's signature and says
//! how it was overcome.

use super::near_rows::NearMemory;
use super::{MEMORIES_MAX, RecallQuery};
use crate::error_signature::ErrorSignature;
use crate::sentences::sentences;
use claude_mem_core::memory::ObservationType;
use claude_mem_store::{Observation, RowId, RowKind};

/// The candidates that name a remedy for the error in the prompt, best first.
pub(super) fn remedies(ask: &RecallQuery<'_>, mut found: Vec<NearMemory>) -> Vec<NearMemory> {
    let signatures: Vec<ErrorSignature> = ask.prompt.lines().filter_map(ErrorSignature::from_line).collect();
    found.retain(|near| {
        let text = without_commands(&whole_text(&near.row));
        let is_same = signatures.iter().any(|signature| signature.is_quoted_in(&text))
            || quotations(&near.row).any(|quoted| ask.prompt.lines().any(|line| quoted.is_printed_in(line)));
        let is_known = ask.shown.contains(&RowId::new(RowKind::Observation, near.row.id.0));
        is_same && !is_known && names_remedy(&near.row)
    });
    found.truncate(MEMORIES_MAX);
    found
}

/// The passages of a memory that may quote an error: the lines in its quotation marks and their reasons, its title, its
/// sentences, and their parts before and after a colon.
fn quotations(row: &Observation) -> impl Iterator<Item = ErrorSignature> {
    let texts = || [&row.text.title, &row.text.narrative].into_iter().chain(&row.text.facts);
    let quoted = texts().flat_map(|text| text.split(['“', '”']).skip(1).step_by(2));
    // Of a long line the last part says why; what comes before names the step and its place.
    let lines = quoted.flat_map(|quoted| quoted.split(ERROR_LINE_SEPARATOR)).flat_map(|line| {
        // The middle of a long line may have been left out.
        let (end, is_cut) = line.rsplit_once("… ").map_or((line, false), |(_, end)| (end, true));
        let reason = end.rsplit_once(": ").map(|(_, reason)| reason).or(is_cut.then_some(end));
        ErrorSignature::from_quotation(line).into_iter().chain(reason.and_then(ErrorSignature::from_reason))
    });
    let unquoted = texts().flat_map(|text| text.split(['“', '”']).step_by(2));
    let stated = unquoted.flat_map(sentences).flat_map(|sentence| {
        let sentence = without_commands(sentence);
        let parts = sentence.split_once(": ").map(|(before, after)| [before, after]);
        let passages = std::iter::once(sentence.as_str()).chain(parts.into_iter().flatten());
        passages.filter_map(ErrorSignature::from_quotation).collect::<Vec<_>>()
    });
    lines.chain(stated)
}

/// What stands between the lines of an error that a memory quotes.
const ERROR_LINE_SEPARATOR: &str = " / ";

/// A sentence without its code spans that are commands: what was run is no error.
fn without_commands(sentence: &str) -> String {
    let is_command = |span: &str| span.split_whitespace().skip(1).any(|word| word.starts_with('-'));
    let spans = sentence.split('`').enumerate();
    let kept = spans.map(|(at, span)| if at % 2 == 1 && is_command(span) { "" } else { span });
    kept.collect::<Vec<_>>().join("`")
}

fn whole_text(row: &Observation) -> String {
    let parts = [&row.text.title, &row.text.narrative].into_iter().chain(&row.text.facts);
    parts.map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// Words by which a text says what was done about a problem.
#[rustfmt::skip]
const REMEDY_CUES: &[&str] = &[
    "fix", "worked", "works", "solved", "solution", "resolved", "remedy", "instead", "workaround", "helped", "passes",
    "after ", "set ", "use ", "run ", "install", "raise", "restart", "clear", "delete", "remove", "upgrade", "pin ", "→",
];

/// Words by which a title tells a failure as the state of things.
const FAILURE_CUES: &[&str] =
    &["fails", "failed", "failing", "error", "crash", "broken", "cannot", "does not"];

/// A failure that is only reported is no help.
fn names_remedy(row: &Observation) -> bool {
    row.text.kind == ObservationType::BUGFIX || has_cue(&whole_text(row), REMEDY_CUES)
}

/// Whether the title tells a failure as if it were still so.
pub(crate) fn tells_failure(row: &Observation) -> bool {
    has_cue(&row.text.title, FAILURE_CUES) && !has_cue(&row.text.title, REMEDY_CUES)
}

/// The sentence that says what worked.
pub(crate) fn remedy_sentence(row: &Observation) -> Option<&str> {
    let texts = std::iter::once(&row.text.narrative).chain(&row.text.facts);
    texts.flat_map(|text| sentences(text)).find(|sentence| has_cue(sentence, REMEDY_CUES))
}

fn has_cue(text: &str, cues: &[&str]) -> bool {
    let lower = text.to_lowercase();
    cues.iter().any(|cue| lower.contains(cue))
}
