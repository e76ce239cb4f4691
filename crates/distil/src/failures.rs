//! Commands that failed, and the moment they pass again without an edit of code.
//!
//! A failure waits in the [`Carry`] until its command passes, turns later if need be. What overcame it may be a claim
//! (`remedies`): a changed command or variable, another command that had to run first, an edit of a configuration, or
//! what the agent says it was. A failure that edits of code cured is told by the report of the work.

use claude_mem_core::clock::Millis;

use crate::carry::{Carry, ConfigurationEdit, OpenFailure};
use crate::command_purpose::{CommandPurpose, changes_state, is_preparation};
use crate::commands::{CommandRun, RunOutcome, covers, with_variables};
use crate::patch::PatchedFile;
use crate::shell::SimpleCommand;
use crate::text::{clip, one_line};
use crate::turn_outcome::is_prose_file;

/// Maximum commands and edits that are recorded with one unresolved failure; the latest are kept.
const REMEDIES_MAX: usize = 6;

/// A failure that is over: what failed, and the command that passed.
#[derive(Clone, Debug)]
pub(crate) struct OvercomeFailure {
    pub failure: OpenFailure,
    /// The command that passed.
    pub passed: String,
    pub at: Millis,
    /// Only the agent's words can tell whether the command that passed is the same: `psql -h localhost` after `psql`.
    pub needs_words: bool,
}

/// Records a run. Returns the failures that it ends.
pub(crate) fn note(run: &CommandRun, at: Millis, carry: &mut Carry) -> Vec<OvercomeFailure> {
    match run.outcome {
        RunOutcome::Failed if may_be_overcome(run) && !run.errors.is_empty() => {
            open(run, at, carry);
            Vec::new()
        }
        RunOutcome::Passed => close(run, at, carry),
        RunOutcome::Failed | RunOutcome::Unknown => Vec::new(),
    }
}

/// Whether the failure of a command may be looked up later: also that of one that should have been a remedy.
const fn may_be_overcome(run: &CommandRun) -> bool {
    run.matters() || matches!(run.purpose, CommandPurpose::Remedy | CommandPurpose::Git)
}

fn open(run: &CommandRun, at: Millis, carry: &mut Carry) {
    let known = carry.failures.iter().position(|open| open.key == run.key);
    let earlier = known.and_then(|index| carry.failures.remove(index));
    // What was tried against the same error did not help.
    let earlier = earlier.filter(|earlier| earlier.errors.first() != run.errors.first());
    let mut failure =
        earlier.unwrap_or_else(|| OpenFailure { key: run.key.clone(), at, ..OpenFailure::default() });
    failure.command = run.told();
    run.program().clone_into(&mut failure.program);
    failure.errors.clone_from(&run.errors);
    failure.prepared = run.changing().map(told_command).collect();
    carry.remember_failure(failure);
}

fn close(run: &CommandRun, at: Millis, carry: &mut Carry) -> Vec<OvercomeFailure> {
    let passed = run.told();
    let counts = may_be_overcome(run);
    let mut over: Vec<OvercomeFailure> = Vec::new();
    let mut open = Vec::new();
    for mut failure in carry.failures.drain(..) {
        let ended = counts && (covers(run, &failure.key) || is_variant(run, &failure));
        let needs_words = counts && !ended && is_loose_variant(run, &failure);
        if ended || needs_words {
            // What the line ran before the command is new, or it would not have failed.
            remember_changes(
                run.simples.iter().take_while(|simple| simple.line() != run.command),
                &mut failure,
            );
            let (passed, failure) = (passed.clone(), failure.clone());
            over.push(OvercomeFailure { failure, passed, at, needs_words });
        }
        if !ended {
            remember_changes(run.simples.iter(), &mut failure);
            open.push(failure);
        }
    }
    carry.failures = open.into();
    over
}

/// Records the commands that change something the failed command may need.
fn remember_changes<'s>(commands: impl Iterator<Item = &'s SimpleCommand>, failure: &mut OpenFailure) {
    let changing =
        |simple: &&SimpleCommand| changes_state(simple) && !failure.prepared.contains(&told_command(simple));
    let changing: Vec<&SimpleCommand> = commands.filter(changing).collect();
    let joined = |commands: &[&SimpleCommand]| {
        let told: Vec<String> = commands.iter().map(|simple| told_command(simple)).collect();
        told.join(" && ")
    };
    push_latest(&mut failure.since, joined(&changing));
    let preparing: Vec<&SimpleCommand> =
        changing.iter().copied().filter(|simple| is_preparation(simple)).collect();
    push_latest(&mut failure.remedies, joined(&preparing));
}

/// Characters of a remedy command.
const REMEDY_CHARS_MAX: usize = 160;

fn told_command(simple: &SimpleCommand) -> String {
    clip(&with_variables(simple), REMEDY_CHARS_MAX)
}

fn push_latest(commands: &mut Vec<String>, command: String) {
    let command = clip(&command, REMEDY_CHARS_MAX);
    commands.retain(|known| *known != command);
    if !command.is_empty() {
        commands.push(command);
    }
    if commands.len() > REMEDIES_MAX {
        commands.remove(0);
    }
}

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

/// The same program with any option, variable or wrapper added. Not for checks, which options narrow.
fn is_loose_variant(run: &CommandRun, failure: &OpenFailure) -> bool {
    let may_vary = matches!(run.purpose, CommandPurpose::Run | CommandPurpose::Remedy | CommandPurpose::Git);
    let told = run.told();
    let (failed, passed) = (words_of(&failure.command), words_of(&told));
    let kept = failed.iter().filter(|word| !word.starts_with('-')).all(|word| passed.contains(word));
    let added =
        passed.iter().any(|word| !failed.contains(word) && (word.starts_with('-') || word.contains('=')));
    // A commit that is let through past its hook shows nothing.
    let is_commit = run.key.starts_with("git commit");
    may_vary && !is_commit && run.program() == failure.program && !failure.edited && kept && added
}

fn words_of(text: &str) -> Vec<&str> {
    text.split_whitespace().collect()
}

/// Whether the second command is the first with a variable or an option added.
pub(crate) fn is_said_differently(failed: &str, passed: &str) -> bool {
    let (failed, passed) = (words_of(failed), words_of(passed));
    let kept = failed.iter().filter(|word| !word.starts_with('-')).all(|word| passed.contains(word));
    let added = passed.iter().filter(|word| !failed.contains(word));
    let means = |word: &&str| word.starts_with("--") || (word.contains('=') && !word.starts_with('-'));
    let filter = |word: &&str| ["--grep", "--filter", "-t", "-k"].iter().any(|f| word.starts_with(f));
    kept && added.clone().any(means) && !added.into_iter().any(filter)
}

/// Records an edit: it may be what cures the open failures. An edit of a configuration is recorded, so that the agent's
/// words can name it.
pub(crate) fn note_edit(change: &PatchedFile, carry: &mut Carry) {
    let configures = is_configuration(&change.path);
    if change.path.is_empty() || (is_prose_file(&change.path) && !configures) {
        return;
    }
    for open in &mut carry.failures {
        if !configures {
            open.edited = true;
            continue;
        }
        let added = change.added().map(one_line).find(|line| line.chars().any(char::is_alphanumeric));
        let edit = ConfigurationEdit {
            path: change.path.clone(),
            added: clip(&added.unwrap_or_default(), REMEDY_CHARS_MAX),
        };
        open.edits.retain(|known| known.path != edit.path);
        open.edits.push(edit);
        if open.edits.len() > REMEDIES_MAX {
            open.edits.remove(0);
        }
    }
}

/// Endings and names of files that configure programs.
#[rustfmt::skip]
const CONFIGURATION: &[&str] = &[
    ".yml", ".yaml", ".toml", ".ini", ".cfg", ".conf", ".env", ".properties", ".lock", "dockerfile", "makefile", "ignore", "rc",
    ".tfvars", ".hcl", "package.json", "tsconfig.json", "global.json", "go.mod", "pom.xml", ".gradle", ".gradle.kts", ".csproj",
    "gemfile", "cmakelists.txt", "requirements.txt", ".tool-versions", "-version", ".sbt", ".cabal",
    "podfile", "procfile", "mix.exs",
];

fn is_configuration(path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path).to_lowercase();
    let is_code_of_tool = name.contains(".config.") || name.contains("rc.");
    CONFIGURATION.iter().any(|end| name.ends_with(end)) || name.starts_with(".env") || is_code_of_tool
}

#[cfg(test)]
#[path = "failures_tests.rs"]
mod tests;
