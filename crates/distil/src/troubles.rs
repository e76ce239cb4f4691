//! Troubles: commands and calls of a turn that failed, commits whose message came out differently, and prompts that
//! report a failure. What the agent says of them may be a pitfall of the project's machinery (`pitfalls`).

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodeStep, ToolKind};
use claude_mem_core::source::Voice;

use crate::acts::{self, StepAct, TimedAct};
use crate::command_purpose::{CommandPurpose, changes_state};
use crate::commands::{CommandRun, RunOutcome, covers, is_fixer};
use crate::commits;
use crate::errors;
use crate::outputs;
use crate::pull_requests::LandedWork;
use crate::remedies::without_process_ids;
use crate::shell::SimpleCommand;
use crate::text::{clip, content_words, one_line, overlap};
use crate::turn_outcome::is_prose_file;

/// Characters of the command that helped.
const REMEDY_CHARS_MAX: usize = 160;
/// A commit's message that shares less with the one that was written came out differently.
const SAME_SUBJECT: f32 = 0.3;
/// Names of one trouble that are kept.
const NAMES_MAX: usize = 64;

/// Something that went wrong or came out differently.
#[derive(Clone, Debug)]
pub(crate) struct Trouble {
    pub at: Millis,
    /// The next edit of code: what is said after it is about the edit.
    pub until: Option<Millis>,
    pub kind: TroubleKind,
    /// The programs that were run and the names in their error lines, lower-cased.
    pub names: BTreeSet<String>,
    /// The lines that say what went wrong.
    pub errors: Vec<String>,
    pub ending: TroubleEnding,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TroubleKind {
    /// A command or call failed, or its output shows a failure.
    Failed,
    /// A commit whose message is not the one that the agent wrote.
    Rewritten,
    /// The user reports a failure or asks for its reason.
    Reported,
}

/// How a failure ended without an edit of code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum TroubleEnding {
    #[default]
    Unknown,
    /// The same command passed, after this command if one between them changed something.
    Passed { commit: bool, after: Option<String> },
    /// The commit with this subject did not go through.
    Refused(String),
    /// The commit that was written with one subject has another one.
    Renamed { written: String, shown: String },
}

/// Reads the troubles of an episode, in order.
pub(crate) fn read_troubles(episode: &Episode) -> Vec<Trouble> {
    let acts = acts::read(episode);
    let edits: Vec<Millis> = acts.iter().filter(|act| edits_code(act)).map(|act| act.at).collect();
    let mut troubles: Vec<Trouble> = Vec::new();
    let mut written: Option<String> = None;
    for (index, TimedAct { act, at }) in acts.iter().enumerate() {
        let StepAct::Ran { run, output } = act else {
            continue;
        };
        let shown = shown_subject(run, output);
        let is_same = |(shown, written): &(String, String)| {
            overlap(&content_words(shown), &content_words(written)) >= SAME_SUBJECT
        };
        let renamed = shown.zip(written.clone()).filter(|subjects| !is_same(subjects));
        if commits_something(run) {
            written = commits::written_title(run);
        }
        let (kind, ending) = match (went_wrong(run, output), renamed) {
            (true, _) => (TroubleKind::Failed, ending(&acts[index..])),
            (false, Some((shown, written))) => {
                (TroubleKind::Rewritten, TroubleEnding::Renamed { written, shown })
            }
            (false, None) => continue,
        };
        troubles.push(Trouble {
            at: *at,
            until: edits.iter().copied().find(|edit| edit > at && kind == TroubleKind::Failed),
            kind,
            names: names_of(run, output),
            errors: if kind == TroubleKind::Failed { errors::telling(output) } else { Vec::new() },
            ending,
        });
    }
    let calls = episode.steps.iter().filter(|step| is_failed_call(step));
    let calls = calls.map(|step| (step.at, TroubleKind::Failed, Vec::new()));
    troubles.extend(calls.chain(reports(episode)).map(|(at, kind, errors)| Trouble {
        at,
        until: edits.iter().copied().find(|edit| *edit > at),
        kind,
        names: BTreeSet::new(),
        errors,
        ending: TroubleEnding::Unknown,
    }));
    troubles.sort_by_key(|trouble| trouble.at);
    troubles
}

fn edits_code(act: &TimedAct) -> bool {
    matches!(&act.act, StepAct::Changed(change) if !is_prose_file(&change.path))
}

/// Programs that print what is in files, where an error is somebody's text.
const READERS: &[&str] =
    &["cat", "sed", "head", "grep", "rg", "ls", "find", "awk", "jq", "bat", "diff", "wc", "echo"];

/// Whether a command failed or its output shows that something else did: a commit that did not land, the log of a
/// build elsewhere. A test or check is believed.
fn went_wrong(run: &CommandRun, output: &str) -> bool {
    let shows = |simple: &SimpleCommand| !READERS.contains(&simple.program());
    let is_log = run.purpose == CommandPurpose::Run && run.simples.first().is_some_and(shows);
    match run.outcome {
        RunOutcome::Failed => run.purpose != CommandPurpose::Routine,
        RunOutcome::Passed => has_not_landed(run, output) || (is_log && errors::shows_failure(output)),
        RunOutcome::Unknown => false,
    }
}

/// Whether a run tried to commit, said something, and does not show the commit.
fn has_not_landed(run: &CommandRun, output: &str) -> bool {
    commits_something(run) && !output.trim().is_empty() && !commits::has_committed(run, output)
}

fn commits_something(run: &CommandRun) -> bool {
    let commits = |simple: &SimpleCommand| {
        simple.program() == "git" && simple.bare().iter().any(|word| word == "commit")
    };
    run.simples.iter().any(commits)
}

/// A call of a tool that is neither the shell nor works on files, and that failed by itself.
fn is_failed_call(step: &EpisodeStep) -> bool {
    let shell = ["bash", "shell", "run_shell_command", "local_shell", "exec_command", "powershell"];
    let other = ToolKind::from_name(&step.tool) == ToolKind::Other
        && !shell.contains(&step.tool.to_lowercase().as_str());
    step.failed
        && other
        && !acts::is_ours(&step.tool)
        && !outputs::text(&step.output).contains("doesn't want to proceed")
}

/// Words by which a prompt asks for the reason of a failure or reports one.
const REPORTING: &[&str] =
    &[" why ", " fail", " unable to ", " flak", " broken ", " error", " crash", " 500"];

/// What the user typed or pasted about a failure, with the line that says what went wrong.
fn reports(episode: &Episode) -> impl Iterator<Item = (Millis, TroubleKind, Vec<String>)> {
    let texts = episode.texts.iter().filter(|text| text.source.voice() == Voice::User);
    let texts = texts.map(|text| (text.text.as_str(), text.at));
    let prompt = episode.prompt.iter().filter(|prompt| prompt.source.is_user());
    let said = prompt.map(|prompt| (prompt.text.as_str(), prompt.at)).chain(texts);
    said.filter(|(text, _)| {
        let lower = format!(" {} ", text.to_lowercase());
        REPORTING.iter().any(|word| lower.contains(word)) || errors::shows_failure(text)
    })
    .map(|(text, at)| (at, TroubleKind::Reported, quoted_error(text).into_iter().collect()))
}

/// Words of a quoted error.
const QUOTED_WORDS_MIN: usize = 4;

/// The error that a prompt quotes: a line of a console, or a sentence in code marks.
fn quoted_error(text: &str) -> Option<String> {
    if errors::shows_failure(text) {
        return errors::telling(text).into_iter().next();
    }
    let quoted = text.split('`').skip(1).step_by(2);
    let mut long = quoted.filter(|quoted| quoted.split_whitespace().count() >= QUOTED_WORDS_MIN);
    long.find(|quoted| errors::says_failure(quoted)).map(one_line)
}

/// The programs of a line, with those that wrap them, and the names in its errors.
fn names_of(run: &CommandRun, output: &str) -> BTreeSet<String> {
    let programs =
        run.simples.iter().flat_map(|simple| simple.words.first().into_iter().chain(simple.bare().first()));
    let told = if run.errors.is_empty() { errors::telling(output) } else { run.errors.clone() };
    let named = |word: &&str| {
        let inner = word.trim_matches(|c: char| !c.is_alphanumeric());
        inner.len() > 3 && inner.contains(char::is_uppercase) && !inner.contains(['/', '.'])
    };
    let errors = told.iter().flat_map(|line| line.split_whitespace().filter(named));
    let names = programs.map(String::as_str).chain(errors);
    names
        .map(|name| name.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase())
        .take(NAMES_MAX)
        .collect()
}

/// The subject of the last commit, as git shows it.
fn shown_subject(run: &CommandRun, output: &str) -> Option<String> {
    let git = run.simples.iter().find(|simple| simple.program() == "git")?;
    // The log of another branch ends with another commit.
    let is_own = git.bare().iter().skip(2).all(|word| word.starts_with('-') || word.parse::<u32>().is_ok());
    match git.argument(1) {
        "log" if is_own => LandedWork::read(run, output).subjects.into_iter().next(),
        "show" if output.starts_with("commit ") => {
            output.lines().find_map(|line| line.strip_prefix("    ")).map(one_line)
        }
        _ => None,
    }
}

/// How the failure of the first act ended, as far as no edit of code came between.
fn ending(acts: &[TimedAct]) -> TroubleEnding {
    let Some((TimedAct { act: StepAct::Ran { run: failed, output }, .. }, later)) = acts.split_first() else {
        return TroubleEnding::Unknown;
    };
    let commit = has_not_landed(failed, output) || commits::was_refused(failed, output);
    let mut after = None;
    for act in later {
        if edits_code(act) {
            return TroubleEnding::Unknown;
        }
        let StepAct::Ran { run, output } = &act.act else {
            continue;
        };
        let passed = run.outcome == RunOutcome::Passed
            && if commit {
                !commits::of_run(run, output).is_empty()
            } else {
                failed.matters() && covers(run, &failed.key)
            };
        if passed {
            // The same commit of other paths is another one.
            let is_again = !commit || run.simples == failed.simples;
            let is_known = after.is_some() || is_again;
            return if is_known { TroubleEnding::Passed { commit, after } } else { TroubleEnding::Unknown };
        }
        let changes = |simple: &&SimpleCommand| {
            (changes_state(simple) && simple.program() != "git") || is_fixer(&simple.line())
        };
        let changing: Vec<String> = run.simples.iter().filter(changes).map(SimpleCommand::line).collect();
        if !changing.is_empty() {
            after = Some(without_process_ids(&clip(&changing.join(" && "), REMEDY_CHARS_MAX)));
        }
    }
    let title = commits::written_title(failed).filter(|_| commits::was_refused(failed, output));
    title.map_or(TroubleEnding::Unknown, TroubleEnding::Refused)
}

impl TroubleEnding {
    /// The ending as a sentence; empty if nothing is known.
    pub(crate) fn told(&self) -> String {
        match self {
            Self::Passed { commit: true, after: Some(after) } => {
                format!("The commit went through after `{after}`.")
            }
            Self::Passed { commit: false, after: Some(after) } => format!("It passed after `{after}`."),
            Self::Passed { commit: true, after: None } => {
                "The commit went through when it was tried again.".to_owned()
            }
            Self::Passed { commit: false, after: None } => "It passed when it was run again.".to_owned(),
            Self::Refused(title) => format!("The commit “{title}” was refused."),
            // The title of the pitfall tells it.
            Self::Renamed { .. } | Self::Unknown => String::new(),
        }
    }
}
