//! Reads a shell call: the command that matters, its outcome, and the checks that it ran.

use super::command_purpose::{CommandPurpose, changes_state, is_check, purpose_of};
use super::errors;
use super::results::{self, TestCounts};
use super::shell::{self, SimpleCommand};
use super::text::one_line;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum RunOutcome {
    Passed,
    Failed,
    /// Stopped by the user, or never run.
    Unknown,
}

/// One call of the shell.
#[derive(Clone, Debug)]
pub(super) struct CommandRun {
    pub purpose: CommandPurpose,
    pub outcome: RunOutcome,
    /// The command that matters most in the line.
    pub command: String,
    /// The command without variable parts and pipes.
    pub key: String,
    /// The keys of all commands in the line: if the line passes, all of them do.
    pub keys: Vec<String>,
    /// The lines that say what went wrong.
    pub errors: Vec<String>,
    pub simples: Vec<SimpleCommand>,
    /// The tests, builds and checks of the line whose outcome is known.
    pub checks: Vec<CheckRun>,
}

/// One test, build or check of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CheckRun {
    /// The command with the variables set for it: `PYTHONPATH=src pytest`.
    pub command: String,
    pub key: String,
    pub passed: bool,
    pub counts: Option<TestCounts>,
    /// The keys of the commands that it ran, as runners of scripts print them: `$ eslint src`.
    pub scripts: Vec<String>,
}

impl CommandRun {
    /// Reads one call: its command line, its output, and whether the client calls it failed.
    pub(super) fn read(line: &str, output: &str, failed: bool, interrupted: bool) -> Self {
        let simples = shell::parse(line);
        let (purpose, telling) = telling(&simples);
        let results = match purpose {
            CommandPurpose::Routine | CommandPurpose::Git => None,
            _ => results::read(output),
        };
        let failed_by_output =
            is_check(purpose) && (results.is_some_and(|r| r.failed > 0) || errors::says_failed(output));
        let outcome = match (failed || failed_by_output, interrupted || was_refused(output)) {
            (_, true) => RunOutcome::Unknown,
            (true, false) => RunOutcome::Failed,
            (false, false) => RunOutcome::Passed,
        };
        let errors = match (outcome, purpose) {
            (RunOutcome::Failed, CommandPurpose::Routine) => Vec::new(),
            (RunOutcome::Failed, _) => errors::telling(output),
            _ => Vec::new(),
        };
        Self {
            purpose,
            outcome,
            command: telling.map(SimpleCommand::line).unwrap_or_default(),
            key: telling.map(key).unwrap_or_default(),
            keys: simples
                .iter()
                .filter(|simple| purpose_of(simple) != CommandPurpose::Routine)
                .map(key)
                .collect(),
            errors,
            checks: if outcome == RunOutcome::Unknown {
                Vec::new()
            } else {
                checks(&simples, outcome == RunOutcome::Passed, results, output)
            },
            simples,
        }
    }

    /// The telling command with the variables set for it: `PYTHONPATH=src pytest`.
    pub(super) fn told(&self) -> String {
        let telling = self.simples.iter().find(|simple| simple.line() == self.command);
        telling.map_or_else(|| self.command.clone(), with_variables)
    }

    /// The commands of the line that change something a later command may need.
    pub(super) fn changing(&self) -> impl Iterator<Item = &SimpleCommand> {
        self.simples.iter().filter(|simple| changes_state(simple))
    }

    /// The program of the telling command.
    pub(super) fn program(&self) -> &str {
        self.key.split_whitespace().next().unwrap_or_default()
    }

    /// Whether its failing or passing says something about the work.
    pub(super) const fn matters(&self) -> bool {
        matches!(
            self.purpose,
            CommandPurpose::Test | CommandPurpose::Build | CommandPurpose::Check | CommandPurpose::Run
        )
    }
}

pub(super) fn with_variables(simple: &SimpleCommand) -> String {
    let variables = simple.words.iter().take_while(|word| shell::is_assignment(word)).cloned();
    variables.chain([simple.line()]).collect::<Vec<_>>().join(" ")
}

/// The checks of a line with their outcomes. If the line failed, the one that failed is the last test if tests
/// were counted, else the first check: after it nothing ran. What ran before it by `&&` passed.
fn checks(
    simples: &[SimpleCommand],
    passed: bool,
    counts: Option<TestCounts>,
    output: &str,
) -> Vec<CheckRun> {
    let found: Vec<(usize, &SimpleCommand)> =
        simples.iter().enumerate().filter(|(_, simple)| is_check(purpose_of(simple))).collect();
    let counted = found.iter().rposition(|(_, simple)| purpose_of(simple) == CommandPurpose::Test);
    let counted = counted.filter(|_| counts.is_some());
    let chained = |from: usize, to: usize| {
        simples[from + 1..=to].iter().all(|simple| simple.needs_previous || simple.piped)
    };
    let failed_at = match (passed, counted) {
        (true, _) => None,
        (false, Some(test)) if counts.is_some_and(|counts| counts.failed == 0) => Some(test + 1),
        (false, Some(test)) => Some(test),
        (false, None) => Some(0),
    };
    let announced: Vec<String> = script_lines(output).filter_map(|(line, _)| script_key(line)).collect();
    // One script for each check, or all of them for the only one.
    let scripts = |index: usize| match found.len() {
        1 => announced.clone(),
        checks if checks == announced.len() => vec![announced[index].clone()],
        _ => Vec::new(),
    };
    let mut runs = Vec::new();
    for (index, (place, simple)) in found.iter().enumerate() {
        let outcome = match failed_at {
            None => true,
            Some(failed) if index == failed => false,
            Some(failed)
                if index < failed && found.get(failed).is_some_and(|(to, _)| chained(*place, *to)) =>
            {
                true
            }
            // Its tests were counted and none failed; what failed came after it.
            Some(_) if Some(index) == counted => true,
            Some(_) => continue,
        };
        runs.push(CheckRun {
            command: with_variables(simple),
            key: key(simple),
            passed: outcome,
            counts: counts.filter(|_| Some(index) == counted),
            scripts: scripts(index),
        });
    }
    runs
}

/// The checks that a hook ran inside a commit that went through: runners of scripts print each command before they
/// run it.
pub(super) fn hook_checks(output: &str) -> Vec<CheckRun> {
    let mut runs: Vec<CheckRun> = Vec::new();
    for (line, rest) in script_lines(output) {
        let simples = shell::parse(line);
        let (purpose, Some(simple)) = telling(&simples) else {
            continue;
        };
        if !is_check(purpose) || is_fixer(line) {
            continue;
        }
        let counts = if purpose == CommandPurpose::Test { results::read(rest) } else { None };
        runs.retain(|known| known.key != key(simple));
        runs.push(CheckRun {
            command: simple.line(),
            key: key(simple),
            passed: true,
            counts,
            scripts: Vec::new(),
        });
    }
    runs
}

/// Maximum script lines of one output that are read.
const SCRIPT_LINES_MAX: usize = 16;

/// The lines by which runners of scripts announce a command, `$ eslint src` or `> jest`, each with the output up to
/// the next one.
fn script_lines(output: &str) -> impl Iterator<Item = (&str, &str)> {
    let mut starts: Vec<(usize, usize, &str)> = Vec::new();
    let mut at = 0;
    for line in output.split_inclusive('\n') {
        let text = line.trim_end();
        if let Some(command) = text.strip_prefix("$ ").or_else(|| text.strip_prefix("> "))
            && starts.len() < SCRIPT_LINES_MAX
        {
            starts.push((at, at + line.len(), command));
        }
        at += line.len();
    }
    let ends: Vec<usize> = starts.iter().skip(1).map(|(start, ..)| *start).chain([output.len()]).collect();
    starts.into_iter().zip(ends).map(|((_, from, command), to)| (command, &output[from..to]))
}

fn script_key(line: &str) -> Option<String> {
    let simples = shell::parse(line);
    let (purpose, simple) = telling(&simples);
    simple.filter(|_| is_check(purpose)).map(key)
}

/// Results of clients for a call that the user did not allow.
fn was_refused(output: &str) -> bool {
    ["doesn't want to proceed", "requested permissions", "Permission to use"]
        .iter()
        .any(|words| output.contains(words))
}

/// The command of a line that matters most: a test before a build before others; of two equals, the last.
fn telling(simples: &[SimpleCommand]) -> (CommandPurpose, Option<&SimpleCommand>) {
    let rank = |purpose: CommandPurpose| match purpose {
        CommandPurpose::Test => 6,
        CommandPurpose::Build => 5,
        CommandPurpose::Check => 4,
        CommandPurpose::Git => 3,
        CommandPurpose::Remedy => 2,
        CommandPurpose::Run => 1,
        CommandPurpose::Routine => 0,
    };
    let purposes = simples.iter().map(|simple| (purpose_of(simple), Some(simple)));
    purposes.max_by_key(|(purpose, _)| rank(*purpose)).unwrap_or((CommandPurpose::Routine, None))
}

/// The command reduced to what it tests or builds: flags that only change how much is printed
/// are off, so that `pytest -q` and `pytest -x -vv` are one command.
fn key(simple: &SimpleCommand) -> String {
    let quiet = |word: &&String| !word.starts_with('-') || word.starts_with("--package") || word.len() < 2;
    let words: Vec<&str> = simple.bare().iter().filter(quiet).map(String::as_str).collect();
    let joined = words.join(" ");
    let program = simple.program();
    let from = joined.find(program).unwrap_or(0);
    super::text::clip(&one_line(&joined[from..]), 160)
}

/// Whether a run that passes means that a failed command would: the same one, or the whole of
/// which it is a part.
pub(super) fn covers(passed: &CommandRun, failed: &str) -> bool {
    passed.keys.iter().any(|key| {
        let part = failed.strip_prefix(key.as_str());
        !key.is_empty() && part.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

/// Whether a command changes what it looks at, as `lint:fix` does: that it passes or fails shows nothing.
pub(crate) fn is_fixer(command: &str) -> bool {
    let mut words = command.split_whitespace();
    words.any(|word| word.ends_with(":fix") || matches!(word, "--fix" | "--write" | "fmt" | "format"))
}

#[cfg(test)]
#[path = "commands_tests.rs"]
mod tests;
