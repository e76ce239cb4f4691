//! What an episode did: files with a net change, files read, commits, checks, and failures that were overcome.

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodeStep};
use claude_mem_core::source::TextSource;

use crate::acts::{self, StepAct, TimedAct};
use crate::carry::Carry;
use crate::claim::{Claim, ClaimKind, RunClaim};
use crate::commands::{self, CheckRun, CommandRun};
use crate::commits;
use crate::failures::{self, OvercomeFailure};
use crate::memory_files;
use crate::obstacles::CommitObstacle;
use crate::operations::operates;
use crate::patch::PatchedFile;
use crate::plans;
use crate::pull_requests::LandedWork;
use crate::results::TestCounts;
use crate::shell::SimpleCommand;
use crate::staging::StagedPaths;
use crate::text::clip;
use crate::turn_outcome::{
    FiledWork, PendingPlan, TurnOutcome, is_plan_file, is_prose_file, is_work_note, note_title,
};

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
    /// Failures that a later run ended.
    pub overcome: Vec<OvercomeFailure>,
    /// What was committed, refused and filed.
    pub outcome: TurnOutcome,
    changes: Vec<PatchedFile>,
    /// Changes that `git stash` put away.
    stashed: Vec<PatchedFile>,
    /// What `git add` named since the last commit.
    staging: StagedPaths,
}

impl WorkLog {
    pub(crate) fn read(episode: &Episode, carry: &mut Carry, group: u32) -> Self {
        let mut log = Self::default();
        let delegated = episode.steps.iter().filter(|step| is_delegation(step)).map(|step| step.at).max();
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
        for path in log.claims.iter_mut().flat_map(|claim| &mut claim.staged) {
            *path = episode.relative_path(path).trim_start_matches("./").trim_end_matches('/').to_owned();
        }
        let edited = &log.edited;
        let remains = |file: &String| edited.contains(file) && is_inside(file);
        log.outcome.uncommitted.retain(remains);
        for note in &mut log.outcome.unfiled {
            *note = episode.relative_path(note).to_owned();
        }
        // What a subagent committed is not seen here.
        if delegated.is_some() {
            log.outcome.committed = true;
            log.outcome.uncommitted.clear();
        }
        log.read_plans(episode, delegated);
        log
    }

    /// The last plan that was written or presented, unless an edit or a subagent came after it.
    fn read_plans(&mut self, episode: &Episode, delegated: Option<Millis>) {
        let presented = episode.steps.iter().filter_map(plans::presented_title);
        let last = presented.chain(self.outcome.plan.take()).max_by_key(|plan| plan.at);
        let edited = episode
            .steps
            .iter()
            .filter(|step| step.modified_file().is_some_and(|path| is_inside(episode.relative_path(path))));
        let worked = edited.map(|step| step.at).chain(delegated).max();
        self.outcome.plan = last.filter(|plan| worked.is_none_or(|worked| worked < plan.at));
    }

    fn edit(&mut self, change: PatchedFile, at: Millis, carry: &mut Carry, group: u32) {
        for run in self.runs.iter_mut().filter(|_| !is_prose_file(&change.path)) {
            run.stale = true;
        }
        push_new(&mut self.outcome.uncommitted, change.path.clone());
        if change.created
            && is_work_note(&change.path)
            && let Some(title) = note_title(change.added())
        {
            self.outcome.filed.push(FiledWork { path: change.path.clone(), title, at });
        }
        if is_plan_file(&change.path)
            && let Some(title) = plans::title_of(change.added())
        {
            self.outcome.plan = Some(PendingPlan { title, at });
        }
        failures::note_edit(&change, carry);
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
        self.overcome.extend(failures::note(run, at, carry));
        self.note_commit(run, output, at);
        self.outcome.operated |= operates(&run.simples);
        let landed = LandedWork::read(run, output);
        self.outcome.merged.extend(landed.merged);
        for subject in landed.subjects {
            push_new(&mut self.outcome.landed, subject);
        }
        self.staging.read(run);
        for commit in commits::of_run(run, output) {
            let staged = if commit.request { Vec::new() } else { self.staging.take(output) };
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
            claim.staged = staged;
            self.claims.push(claim);
        }
        for simple in &run.simples {
            self.take_back(simple);
        }
        let ran = !run.errors.iter().any(|error| NOT_RUN.iter().any(|phrase| error.contains(phrase)));
        if ran {
            let error = run.errors.first().map(|error| clip(error, 200)).unwrap_or_default();
            self.runs.extend(run.checks.iter().map(|check| run_claim(check, &error, at)));
        }
    }

    /// Records a commit that was refused, what was run after it, and the commit that went through.
    fn note_commit(&mut self, run: &CommandRun, output: &str, at: Millis) {
        if commits::has_committed(run, output) {
            self.outcome.committed = true;
            self.outcome.uncommitted.clear();
            self.outcome.refused = None;
            for check in commands::hook_checks(output) {
                self.runs.push(RunClaim { by_hook: true, ..run_claim(&check, "", at) });
            }
        } else if let Some(refused) = commits::refused_commit(run, output, at) {
            self.outcome.refused = Some(refused);
        }
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

    /// A note of remaining work that is moved or removed is done with.
    fn unfile(&mut self, words: &[String]) {
        let notes =
            words.iter().skip(1).map(|word| word.trim_start_matches("./")).filter(|word| is_work_note(word));
        for note in notes {
            self.outcome.filed.retain(|filed| !note.ends_with(&filed.path));
            self.outcome.unfiled.push(note.to_owned());
        }
    }

    /// `git checkout -- file`, `git restore`, `git reset --hard`, `rm`: what was edited is gone.
    fn take_back(&mut self, simple: &SimpleCommand) {
        let words = simple.bare();
        let has = |word: &str| words.iter().any(|known| known == word);
        if matches!(simple.program(), "rm" | "mv") || (simple.program() == "git" && (has("mv") || has("rm")))
        {
            self.unfile(words);
        }
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

/// Whether a call hands work to a subagent that may commit it. Those that only look around do not.
fn is_delegation(step: &EpisodeStep) -> bool {
    let kind = step.input.get("subagent_type").and_then(serde_json::Value::as_str).unwrap_or_default();
    matches!(step.tool.as_str(), "Task" | "Agent") && !matches!(kind, "Explore" | "Plan")
}

/// Whether a path lies in the project: a commit of the project may hold it.
fn is_inside(path: &str) -> bool {
    !path.starts_with(['/', '~']) && !path.starts_with("..") && !path.contains(":\\")
}

fn run_claim(check: &CheckRun, error: &str, at: Millis) -> RunClaim {
    RunClaim {
        command: check.command.clone(),
        key: check.key.clone(),
        passed: check.passed,
        result: check.counts.map(TestCounts::in_words).unwrap_or_default(),
        error: if check.passed { String::new() } else { error.to_owned() },
        at,
        stale: false,
        covers: [&check.key].into_iter().chain(&check.scripts).cloned().collect(),
        by_hook: false,
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
