//! Commands that failed, and the moment they pass again without an edit.
//!
//! A failure waits in the [`Carry`] until its command passes, turns later if need be. What overcame it without an edit
//! of code may be a claim (`remedies`): a changed command or variable, another command that had to run first, or what
//! the agent says it was. A failure that edits of code cured is told by the report of the work.

use claude_mem_core::clock::Millis;

use crate::carry::{Carry, OpenFailure};
use crate::command_purpose::CommandPurpose;
use crate::commands::{CommandRun, RunOutcome, covers};
use crate::text::clip;

/// Maximum remedy commands that are recorded with one unresolved failure.
const REMEDIES_MAX: usize = 6;

/// A failure that is over: what failed, and whether the same command passed.
#[derive(Clone, Debug)]
pub(crate) struct OvercomeFailure {
    pub failure: OpenFailure,
    /// The command that passed.
    pub passed: String,
    pub at: Millis,
}

/// Records a run. Returns the failures that it ends.
pub(crate) fn note(run: &CommandRun, at: Millis, carry: &mut Carry) -> Vec<OvercomeFailure> {
    match run.outcome {
        RunOutcome::Failed if may_be_overcome(run) && !run.errors.is_empty() => {
            open(run, carry);
            Vec::new()
        }
        RunOutcome::Passed => close(run, at, carry),
        RunOutcome::Failed | RunOutcome::Unknown => Vec::new(),
    }
}

/// Whether the failure of a command may be looked up later: also that of one that should have been a remedy.
const fn may_be_overcome(run: &CommandRun) -> bool {
    run.matters() || matches!(run.purpose, CommandPurpose::Remedy)
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

fn close(run: &CommandRun, at: Millis, carry: &mut Carry) -> Vec<OvercomeFailure> {
    let ends = |failure: &OpenFailure| {
        may_be_overcome(run) && (covers(run, &failure.key) || is_variant(run, failure))
    };
    let (over, mut open): (Vec<_>, Vec<_>) = carry.failures.drain(..).partition(ends);
    let remember = |commands: &mut Vec<String>| {
        if commands.len() < REMEDIES_MAX && !commands.contains(&run.command) {
            commands.push(clip(&run.command, REMEDY_CHARS_MAX));
        }
    };
    for failure in &mut open {
        remember(&mut failure.since);
        if run.purpose == CommandPurpose::Remedy {
            remember(&mut failure.remedies);
        }
    }
    carry.failures = open.into();
    let passed = run.told();
    over.into_iter().map(|failure| OvercomeFailure { failure, passed: passed.clone(), at }).collect()
}

/// Characters of a remedy command.
const REMEDY_CHARS_MAX: usize = 120;

/// The same program for the same purpose, said differently: `PYTHONPATH=src pytest` after `pytest`.
fn is_variant(run: &CommandRun, failure: &OpenFailure) -> bool {
    let may_vary = matches!(
        run.purpose,
        CommandPurpose::Test | CommandPurpose::Build | CommandPurpose::Check | CommandPurpose::Remedy
    );
    may_vary
        && run.program() == failure.program
        && !failure.edited
        && is_said_differently(&failure.command, &run.told())
}

/// Whether the second command is the first with a variable or an option added.
pub(crate) fn is_said_differently(failed: &str, passed: &str) -> bool {
    let words = |text: &str| -> Vec<String> { text.split_whitespace().map(str::to_owned).collect() };
    let (failed, passed) = (words(failed), words(passed));
    let kept = failed.iter().filter(|word| !word.starts_with('-')).all(|word| passed.contains(word));
    let added = passed.iter().filter(|word| !failed.contains(word));
    let means = |word: &String| word.starts_with("--") || (word.contains('=') && !word.starts_with('-'));
    let filter = |word: &String| ["--grep", "--filter", "-t", "-k"].iter().any(|f| word.starts_with(f));
    kept && added.clone().any(means) && !added.into_iter().any(filter)
}

/// Records an edit: it may be what cures the open failures. What an edit of a configuration cures, the agent's words
/// tell.
pub(crate) fn note_edit(path: &str, carry: &mut Carry) {
    for open in &mut carry.failures {
        open.edited |= !path.is_empty() && !is_configuration(path);
    }
}

/// Endings and names of files that configure programs.
#[rustfmt::skip]
const CONFIGURATION: &[&str] = &[
    ".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties", ".lock", "dockerfile", "makefile", "ignore", "rc",
    ".tfvars", "package.json", "tsconfig.json",
];

fn is_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    CONFIGURATION.iter().any(|end| name.ends_with(end)) || name.starts_with(".env")
}
