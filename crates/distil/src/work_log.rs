//! What an episode did: files with a net change, files read, commits, checks, and failures that were overcome.

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::Episode;
use claude_mem_core::source::TextSource;

use crate::acts::{self, StepAct, TimedAct};
use crate::carry::Carry;
use crate::claim::{Claim, ClaimKind, RunClaim};
use crate::commands::{CommandPurpose, CommandRun, RunOutcome};
use crate::commits;
use crate::failures;
use crate::memory_files;
use crate::obstacles::CommitObstacle;
use crate::patch::PatchedFile;
use crate::shell::SimpleCommand;
use crate::text::clip;

/// Errors of a command that does not exist: nothing was checked.
const NOT_RUN: &[&str] = &[
    "command not found",
    "nknown command",
    "nrecognized subcommand",
    "o such file or directory",
    "is not recognized",
];
/// Programs that change what a commit's hook sees.
const CHANGING: &[&str] =
    &["rm", "mv", "mkdir", "docker", "npm", "pnpm", "yarn", "bun", "pip", "cargo", "kill"];
const REMEDY_CHARS_MAX: usize = 200;

/// The work of one episode, in order.
#[derive(Debug, Default)]
pub(crate) struct WorkLog {
    pub edited: Vec<String>,
    pub read: Vec<String>,
    pub runs: Vec<RunClaim>,
    pub claims: Vec<Claim>,
    pub obstacles: Vec<CommitObstacle>,
    changes: Vec<PatchedFile>,
    /// Changes that `git stash` put away.
    stashed: Vec<PatchedFile>,
}

impl WorkLog {
    pub(crate) fn read(episode: &Episode, carry: &mut Carry, group: u32) -> Self {
        let mut log = Self::default();
        for TimedAct { act, at } in acts::read(episode) {
            match act {
                StepAct::Changed(change) => log.edit(change, at, carry, group),
                StepAct::Ran { run, output } => log.ran(&run, &output, at, carry, group),
                StepAct::Read(path) => push_new(&mut log.read, path),
            }
        }
        for change in log.changes {
            push_new(&mut log.edited, change.path);
        }
        log.changes = Vec::new();
        log.stashed = Vec::new();
        log
    }

    fn edit(&mut self, change: PatchedFile, at: Millis, carry: &mut Carry, group: u32) {
        for run in &mut self.runs {
            run.stale = true;
        }
        failures::note_edit(&change.path, carry);
        // An edit between a refused commit and the next one is ordinary work.
        self.obstacles.retain(|obstacle| obstacle.landed_at.is_some());
        self.claims.extend(memory_files::memory_line_claims(&change, at, group));
        let undoes = |earlier: &PatchedFile| {
            earlier.path == change.path
                && earlier.added().eq(change.removed())
                && earlier.removed().eq(change.added())
        };
        match self.changes.iter().rposition(undoes) {
            Some(earlier) => drop(self.changes.remove(earlier)),
            None => self.changes.push(change),
        }
    }

    fn ran(&mut self, run: &CommandRun, output: &str, at: Millis, carry: &mut Carry, group: u32) {
        for overcome in failures::note(run, carry) {
            if let Some(claim) = failures::remedy_claim(&overcome, run, at) {
                self.claims.push(Claim { group, ..claim });
            }
        }
        self.note_commit(run, output, at);
        for commit in commits::of_run(run, output) {
            if commit.routine {
                continue;
            }
            let kind = if commit.request { ClaimKind::PullRequest } else { ClaimKind::Commit };
            let source = if commit.request { TextSource::PullRequest } else { TextSource::Commit };
            let title = match pull_request_number(output).filter(|_| commit.request) {
                Some(number) => format!("{} (PR #{number})", commit.title),
                None => commit.title,
            };
            let mut claim = Claim::new(kind, source, commit.body, at).titled(title);
            claim.amends = commit.amends;
            claim.group = group;
            claim.worth = 0.8;
            claim.work = Some(commit.kind);
            self.claims.push(claim);
        }
        for simple in &run.simples {
            self.take_back(simple);
        }
        let counts =
            matches!(run.purpose, CommandPurpose::Test | CommandPurpose::Build | CommandPurpose::Check);
        let ran = !run.errors.iter().any(|error| NOT_RUN.iter().any(|phrase| error.contains(phrase)));
        if counts && ran && run.outcome != RunOutcome::Unknown {
            self.runs.push(RunClaim {
                command: run.told(),
                key: run.key.clone(),
                passed: run.outcome == RunOutcome::Passed,
                result: run.results.map(super::results::TestCounts::in_words).unwrap_or_default(),
                error: run.errors.first().map(|error| clip(error, 200)).unwrap_or_default(),
                at,
                stale: false,
                covers: run.keys.clone(),
            });
        }
    }

    /// Records a commit that was refused, what was run after it, and the commit that went through.
    fn note_commit(&mut self, run: &CommandRun, output: &str, at: Millis) {
        let waiting = self.obstacles.last_mut().filter(|obstacle| obstacle.landed_at.is_none());
        if commits::was_refused(run, output) {
            if waiting.is_none() {
                self.obstacles.push(CommitObstacle { refused_at: at, landed_at: None, remedy: None });
            }
        } else if let Some(obstacle) = waiting {
            if !commits::of_run(run, output).is_empty() {
                obstacle.landed_at = Some(at);
            } else if run.simples.iter().any(|simple| CHANGING.contains(&simple.program())) {
                obstacle.remedy = Some(clip(&run.told(), REMEDY_CHARS_MAX));
            }
        }
    }

    /// `git checkout -- file`, `git restore`, `git reset --hard`, `rm`: what was edited is gone.
    fn take_back(&mut self, simple: &SimpleCommand) {
        let words = simple.bare();
        let has = |word: &str| words.iter().any(|known| known == word);
        if simple.program() == "git" && has("stash") {
            if has("pop") || has("apply") {
                self.changes.append(&mut self.stashed);
            } else if !has("list") && !has("show") && !has("drop") {
                self.stashed.append(&mut self.changes);
            }
            return;
        }
        let (all, some) = match simple.program() {
            "git" => (
                (has("reset") && has("--hard")) || ((has("checkout") || has("restore")) && has(".")),
                (has("checkout") && has("--")) || (has("restore") && !has("--staged")),
            ),
            "rm" => (false, true),
            _ => (false, false),
        };
        if !all && !some {
            return;
        }
        let named = |path: &str| {
            words.iter().skip(1).any(|word| {
                let word = word.trim_start_matches("./").trim_end_matches('/');
                word.len() > 2 && (path.ends_with(word) || path.starts_with(&format!("{word}/")))
            })
        };
        self.changes.retain(|change| !(all || named(&change.path)));
    }
}

/// The number in the address that `gh pr create` prints.
fn pull_request_number(output: &str) -> Option<&str> {
    let (_, rest) = output.split_once("/pull/")?;
    let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    (end > 0).then(|| &rest[..end])
}

fn push_new(list: &mut Vec<String>, item: String) {
    if !list.contains(&item) {
        list.push(item);
    }
}
