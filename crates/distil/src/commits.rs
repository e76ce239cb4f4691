//! Reads commits and pull requests from shell calls: title, body, kind of work.
//!
//! Commit messages give reasons, so the body is kept unchanged.

use super::commands::{CommandRun, RunOutcome};
use super::kinds;
use super::sentences;
use super::shell::SimpleCommand;
use super::text::{capitalised, clip, content_words, one_line};
use super::{errors, results, turn_outcome::RefusedCommit};
use claude_mem_core::clock::Millis;
use claude_mem_core::memory::ObservationType;

/// The message of a commit or a pull request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct CommitMessage {
    pub title: String,
    /// The message after its subject, wrapped lines joined, trailers off.
    pub body: String,
    pub kind: ObservationType,
    /// A merge, a version number, "wip": not worth remembering.
    pub routine: bool,
    /// It is a pull request.
    pub request: bool,
    /// It replaces the commit before it.
    pub amends: bool,
}

/// The commits and pull requests that a call of the shell made.
pub(super) fn of_run(run: &CommandRun, output: &str) -> Vec<CommitMessage> {
    if run.outcome != RunOutcome::Passed {
        return Vec::new();
    }
    run.simples.iter().filter_map(|simple| of_command(simple, output)).collect()
}

fn of_command(simple: &SimpleCommand, output: &str) -> Option<CommitMessage> {
    let words = simple.bare();
    let after = |names: &[&str]| option(words, names);
    match (simple.program(), subcommand(words)) {
        ("git", "commit") if has_landed(output) => {
            let said = messages(words);
            let amends = words.iter().any(|word| word == "--amend");
            let message = match (said.is_empty(), &simple.heredoc) {
                (false, _) => said.join("\n\n"),
                (true, Some(text)) => text.clone(),
                // An amended commit that keeps its message says nothing new.
                (true, None) if amends => return None,
                (true, None) => printed_subject(output)?.to_owned(),
            };
            Some(CommitMessage { amends, ..read(&message)? })
        }
        ("gh" | "glab", "pr" | "mr") if words.get(2).is_some_and(|word| word == "create") => {
            let title = after(&["--title", "-t"])?;
            let body = after(&["--body", "-b", "--description"]).or(simple.heredoc.as_deref());
            let mut commit = read(&format!("{title}\n\n{}", body.unwrap_or_default()))?;
            commit.request = true;
            Some(commit)
        }
        _ => None,
    }
}

/// What hooks, git and wrappers of git print when a commit is refused.
const REFUSALS: &[&str] = &[
    "hook exited",
    "hook failed",
    "hook declined",
    "nothing to commit",
    "pre-commit script failed",
    "FAILED: git commit",
    "fatal: ",
    "no changes added to commit",
    "failed to sign",
    "failed to write commit",
];

/// Whether the output of `git commit` does not say that a hook or git refused it.
fn has_landed(output: &str) -> bool {
    printed_subject(output).is_some() || !REFUSALS.iter().any(|refusal| output.contains(refusal))
}

/// Whether a run made a commit, by git or by another program's `commit` command, whatever its message. `git rebase`
/// and the like go through only if nothing is left uncommitted.
pub(crate) fn has_committed(run: &CommandRun, output: &str) -> bool {
    let commits = |simple: &SimpleCommand| {
        let words = simple.bare();
        let by_git = simple.program() == "git"
            && matches!(subcommand(words), "rebase" | "cherry-pick" | "merge" | "am" | "revert");
        by_git || words.iter().skip(1).take(4).any(|word| word == "commit")
    };
    run.outcome == RunOutcome::Passed && run.simples.iter().any(commits) && has_landed(output)
}

/// Whether a run tried to commit and a hook or git refused it.
pub(crate) fn was_refused(run: &CommandRun, output: &str) -> bool {
    let commits = |simple: &SimpleCommand| simple.program() == "git" && subcommand(simple.bare()) == "commit";
    let said = output.contains("hook") || REFUSALS.iter().any(|refusal| output.contains(refusal));
    let refused = run.outcome == RunOutcome::Failed || (run.outcome == RunOutcome::Passed && said);
    run.simples.iter().any(commits)
        && refused
        && printed_subject(output).is_none()
        && !output.contains("nothing to commit")
        && !output.contains("no changes added to commit")
}

/// The commit that a hook or the signing refused, with the line that says why.
pub(crate) fn refused_commit(run: &CommandRun, output: &str, at: Millis) -> Option<RefusedCommit> {
    let by_hook = ["hook", "pre-commit script failed", "FAILED: git commit", "failed to write commit"]
        .iter()
        .any(|word| output.contains(word));
    if !by_hook || !was_refused(run, output) {
        return None;
    }
    let title = written_title(run).unwrap_or_default();
    let line = || errors::telling(output).first().map(|line| format!("“{}”", clip(line, ERROR_CHARS_MAX)));
    let counts = results::read(output).filter(|counts| counts.failed > 0);
    let error =
        counts.map(|counts| format!("tests: {}", counts.in_words())).or_else(line).unwrap_or_default();
    Some(RefusedCommit { title, error, at })
}

/// The subject that was written for a commit, whether or not it landed.
pub(crate) fn written_title(run: &CommandRun) -> Option<String> {
    let written = run.simples.iter().find_map(|simple| {
        let said = messages(simple.bare()).join("\n\n");
        read(if said.is_empty() { simple.heredoc.as_deref().unwrap_or_default() } else { &said })
    });
    written.map(|commit| commit.title)
}

/// Characters of the line that says why a commit was refused.
const ERROR_CHARS_MAX: usize = 160;

/// The first word after the program that is no option: `git -C dir commit` → `commit`.
fn subcommand(words: &[String]) -> &str {
    let mut rest = words.iter().skip(1);
    while let Some(word) = rest.next() {
        match word.as_str() {
            "-C" | "-c" | "--git-dir" | "--work-tree" => drop(rest.next()),
            word if word.starts_with('-') => {}
            word => return word,
        }
    }
    ""
}

/// All messages of a commit: each `-m` is a paragraph.
fn messages(words: &[String]) -> Vec<String> {
    let mut messages = Vec::new();
    let mut rest = words.iter().peekable();
    while let Some(word) = rest.next() {
        let bundled =
            word.starts_with('-') && !word.starts_with("--") && word.ends_with('m') && word.len() <= 5;
        if bundled || word == "--message" {
            messages.extend(rest.next().cloned());
        } else if let Some(text) = word.strip_prefix("--message=") {
            messages.push(text.to_owned());
        }
    }
    messages
}

fn option<'a>(words: &'a [String], names: &[&str]) -> Option<&'a str> {
    for (index, word) in words.iter().enumerate() {
        if names.contains(&word.as_str()) {
            return words.get(index + 1).map(String::as_str);
        }
        let equals = |name: &&str| word.strip_prefix(*name)?.strip_prefix('=');
        if let Some(value) = names.iter().find_map(equals) {
            return Some(value);
        }
    }
    None
}

/// `[main 1a2b3c] the subject`, as git prints it when an editor wrote the message.
fn printed_subject(output: &str) -> Option<&str> {
    output.lines().find_map(|line| {
        let (place, subject) = line.trim().strip_prefix('[')?.split_once("] ")?;
        let hash = place.rsplit(' ').next()?;
        let looks = hash.len() >= 6 && hash.chars().all(|c| c.is_ascii_hexdigit());
        looks.then_some(subject)
    })
}

/// A message as a commit.
pub(super) fn read(message: &str) -> Option<CommitMessage> {
    let message = message.trim();
    let (subject, body) = message.split_once('\n').unwrap_or((message, ""));
    let subject = one_line(subject);
    let (kind, title) = kind_and_title(&subject);
    if title.is_empty() {
        return None;
    }
    let body = unwrapped(body);
    Some(CommitMessage {
        routine: is_bookkeeping(&title) || (body.is_empty() && is_routine(&title)),
        title: capitalised(&title),
        body,
        kind,
        request: false,
        amends: false,
    })
}

/// The title of a commit by its subject, as its claim has it.
pub(crate) fn plain_title(subject: &str) -> String {
    let subject =
        subject.rsplit_once(" (#").filter(|(_, rest)| rest.ends_with(')')).map_or(subject, |cut| cut.0);
    capitalised(&kind_and_title(subject).1)
}

/// `fix(auth): renew early` → a bugfix, "auth: renew early".
fn kind_and_title(subject: &str) -> (ObservationType, String) {
    if let Some((head, rest)) = subject.split_once(": ") {
        let head = head.trim_end_matches('!');
        let (prefix, scope) = match head.split_once('(') {
            Some((prefix, scope)) => (prefix, scope.trim_end_matches(')')),
            None => (head, ""),
        };
        if let Some(kind) = kinds::by_prefix(&prefix.to_lowercase()) {
            return (kind, scoped_title(rest.trim(), scope));
        }
        // "Fix the receipts: print them once": the verb stands in front.
        let opening = head.split_whitespace().next().and_then(kinds::by_verb);
        let kind = opening.or_else(|| kinds::by_verb(rest)).unwrap_or(ObservationType::CHANGE);
        return (kind, subject.to_owned());
    }
    let first = subject.split_whitespace().take(3).collect::<Vec<_>>().join(" ");
    let kind = kinds::by_verb(&first).unwrap_or(ObservationType::CHANGE);
    (kind, subject.trim_end_matches('.').to_owned())
}

/// `renew early` in scope `auth` → "Renew early (auth)"; a number is a phase.
fn scoped_title(subject: &str, scope: &str) -> String {
    let subject = capitalised(subject.trim_end_matches('.'));
    let number = scope.chars().all(|c| c.is_ascii_digit() || c == '.' || c == '-');
    match scope {
        "" => subject,
        scope if subject.to_lowercase().contains(&scope.to_lowercase()) => subject,
        scope if number => format!("{subject} (phase {scope})"),
        scope => format!("{subject} ({scope})"),
    }
}

const TRAILERS: &[&str] = &[
    "co-authored-by:",
    "signed-off-by:",
    "reviewed-by:",
    "change-id:",
    "generated with",
    "generated by",
    "🤖",
    "acked-by:",
    "tested-by:",
];

/// Labelled lines that make a list.
const LABELLED_LINES_MIN: usize = 2;

/// The body with wrapped lines joined: paragraphs and list items each on a line of their own.
fn unwrapped(body: &str) -> String {
    let mut lines: Vec<String> = Vec::new();
    let mut fresh = true;
    let lists_labels = body.lines().filter(|line| is_labelled(line.trim())).count() >= LABELLED_LINES_MIN;
    for line in body.lines() {
        let text = line.trim();
        let lower = text.to_lowercase();
        if TRAILERS.iter().any(|trailer| lower.starts_with(trailer)) {
            continue;
        }
        let labelled = lists_labels && is_labelled(text);
        let in_item = lines.last().is_some_and(|last| sentences::is_item(last));
        // Wrapped lines of an item are indented or go on in the middle of a sentence.
        let follows_list = in_item && !line.starts_with([' ', '\t']) && text.starts_with(char::is_uppercase);
        let starts_item = labelled || follows_list || sentences::is_item(text);
        match lines.last_mut() {
            _ if text.is_empty() => fresh = true,
            Some(last) if !fresh && !starts_item => {
                last.push(' ');
                last.push_str(text);
            }
            _ => {
                lines.push(if labelled { format!("- {text}") } else { text.to_owned() });
                fresh = false;
            }
        }
    }
    lines.join("\n")
}

/// "H1: Read the cursor again", "API: …": a line that begins with a number of a finding or with capitals.
fn is_labelled(line: &str) -> bool {
    const LABEL_CHARS_MAX: usize = 12;
    line.split_once(": ").is_some_and(|(label, _)| {
        let named = label.chars().all(|c| c.is_ascii_alphanumeric() || "-._#".contains(c));
        let capital = label.starts_with(|c: char| c.is_ascii_uppercase() || c == '#');
        let marked = label.chars().any(|c| c.is_ascii_digit()) || !label.chars().any(char::is_lowercase);
        named && capital && marked && label.len() <= LABEL_CHARS_MAX
    })
}

/// Subjects of commits that only record where the work stands, whatever their body says.
fn is_bookkeeping(title: &str) -> bool {
    const STARTS: &[&str] = &[
        "start work",
        "start todo",
        "start phase",
        "complete todo",
        "complete work",
        "close todo",
        "merge branch ",
        "merge main ",
        "merge master ",
        "merge remote",
        "release version",
        "release v",
    ];
    let lower = title.to_lowercase();
    STARTS.iter().any(|start| lower.starts_with(start))
}

/// Subjects that are not worth remembering.
fn is_routine(title: &str) -> bool {
    let lower = title.to_lowercase();
    let starts = [
        "merge ",
        "wip",
        "fixup!",
        "squash!",
        "bump version",
        "bump docs version",
        "bumping version",
        "update changelog",
        "write changelog",
        "changelog",
        "fix typo",
        "typo",
        "fix lint",
        "run formatter",
        "formatting",
        "cargo fmt",
        "apply formatting",
        "initial commit",
        "release ",
        "version bump",
        "update version",
        "update lockfile",
        "update cargo.lock",
        "update package-lock",
        "update readme",
        "update state",
        "start work",
        "start phase",
        "start todo",
        "complete work",
        "complete todo",
        "complete plan",
        "mark ",
        "lint",
        "remove trailing",
    ];
    let number = |word: &str| word.trim_start_matches('v').chars().all(|c| c.is_ascii_digit() || c == '.');
    starts.iter().any(|start| lower.starts_with(start))
        || content_words(&lower).len() < 2
        || (lower.starts_with("bump") && lower.split_whitespace().any(number))
}

#[cfg(test)]
#[path = "commits_tests.rs"]
mod tests;
