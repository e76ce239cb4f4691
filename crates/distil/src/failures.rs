//! Commands that failed, and the moment they pass again without an edit.
//!
//! A failure waits in the [`Carry`] until its command passes, turns later if need be. Only what overcame it
//! without an edit is a claim: a changed command or variable, or another command that had to run first. A
//! failure that edits cured is told by the report of the work.

use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;

use crate::carry::{Carry, OpenFailure};
use crate::claim::{Claim, ClaimKind};
use crate::command_purpose::CommandPurpose;
use crate::commands::{CommandRun, RunOutcome, covers};
use crate::text::clip;

/// Maximum remedy commands that are recorded with one unresolved failure.
const REMEDIES_MAX: usize = 6;

/// A failure that is over: what failed, and whether the same command passed.
#[derive(Clone, Debug)]
pub(crate) struct OvercomeFailure {
    pub failure: OpenFailure,
    /// The passing command differs from the failed one.
    pub changed: bool,
}

/// Records a run. Returns the failures that it ends.
pub(crate) fn note(run: &CommandRun, carry: &mut Carry) -> Vec<OvercomeFailure> {
    match run.outcome {
        RunOutcome::Failed if run.matters() && !run.errors.is_empty() => {
            open(run, carry);
            Vec::new()
        }
        RunOutcome::Passed => close(run, carry),
        RunOutcome::Failed | RunOutcome::Unknown => Vec::new(),
    }
}

fn open(run: &CommandRun, carry: &mut Carry) {
    let known = carry.failures.iter().position(|open| open.key == run.key);
    let earlier = known.and_then(|index| carry.failures.remove(index));
    let mut failure =
        earlier.unwrap_or_else(|| OpenFailure { key: run.key.clone(), ..OpenFailure::default() });
    failure.command = run.told();
    run.program().clone_into(&mut failure.program);
    failure.errors.clone_from(&run.errors);
    carry.remember_failure(failure);
}

fn close(run: &CommandRun, carry: &mut Carry) -> Vec<OvercomeFailure> {
    if !run.matters() {
        if run.purpose == CommandPurpose::Remedy {
            for open in &mut carry.failures {
                if open.remedies.len() < REMEDIES_MAX && !open.remedies.contains(&run.command) {
                    open.remedies.push(clip(&run.command, 120));
                }
            }
        }
        return Vec::new();
    }
    let told = run.told();
    let ends = |failure: &OpenFailure| covers(run, &failure.key) || is_variant(run, failure);
    let (over, open): (Vec<_>, Vec<_>) = carry.failures.drain(..).partition(ends);
    carry.failures = open.into();
    over.into_iter().map(|failure| OvercomeFailure { changed: failure.command != told, failure }).collect()
}

/// The same program for the same purpose, said differently: `PYTHONPATH=src pytest` after `pytest`.
fn is_variant(run: &CommandRun, failure: &OpenFailure) -> bool {
    let tells = matches!(run.purpose, CommandPurpose::Test | CommandPurpose::Build | CommandPurpose::Check);
    tells
        && run.program() == failure.program
        && !failure.edited
        && is_said_differently(&failure.command, &run.told())
}

/// Whether the second command is the first with a variable or an option added.
fn is_said_differently(failed: &str, passed: &str) -> bool {
    let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let (failed, passed) = (words(failed), words(passed));
    let kept = failed.iter().filter(|word| !word.starts_with('-')).all(|word| passed.contains(word));
    let added = passed.iter().filter(|word| !failed.contains(word));
    let means = |word: &String| word.starts_with("--") || (word.contains('=') && !word.starts_with('-'));
    let filter = |word: &String| ["--grep", "--filter", "-t", "-k"].iter().any(|f| word.starts_with(f));
    kept && added.clone().any(means) && !added.into_iter().any(filter)
}

/// Records an edit: it may be what cures the open failures.
pub(crate) fn note_edit(path: &str, carry: &mut Carry) {
    for open in &mut carry.failures {
        open.edited |= !path.is_empty();
    }
}

/// Errors of work in progress, which nobody looks up later.
#[rustfmt::skip]
const ROUTINE_ERRORS: &[&str] = &[
    "cannot find", "is not defined", "undefined:", "unused", "expected", "Expected", "assert", "Assertion",
    "syntax", "Syntax", "no attribute", "unresolved", "is not assignable", "warning", "lint", "prettier",
    "FAILED", "FAIL ", "does not exist on type", "TS2",
];

/// The failure and its remedy as a claim, if the remedy is worth knowing.
pub(crate) fn remedy_claim(over: &OvercomeFailure, run: &CommandRun, at: Millis) -> Option<Claim> {
    let failure = &over.failure;
    let error = failure.errors.first()?;
    if failure.edited || ROUTINE_ERRORS.iter().any(|routine| error.contains(routine)) {
        return None;
    }
    let told = run.told();
    let (title, text) = if over.changed && is_said_differently(&failure.command, &told) {
        (
            format!("Run `{}`, not `{}`", clip(&told, 60), clip(&failure.command, 40)),
            format!("`{}` failed with “{error}”; `{told}` passes.", failure.command),
        )
    } else {
        let remedy = failure.remedies.last()?;
        (
            format!("`{}` needs `{}` first", clip(&failure.command, 50), clip(remedy, 50)),
            format!("`{}` failed with “{error}” until `{remedy}` was run.", failure.command),
        )
    };
    let mut claim = Claim::new(ClaimKind::Remedy, TextSource::ToolOutput, text, at).titled(title);
    claim.worth = 0.6;
    Some(claim)
}
