//! The pieces of work of an episode: edits with what they do, the failures they end, the commit
//! that closes them.

use std::collections::HashSet;

use super::acts::{Act, Done};
use super::carry::Carry;
use super::commands::{Outcome, Run};
use super::commits::{self, Commit};
use super::effect::{self, Effect};
use super::effects;
use super::failures::{self, Overcome};
use super::patch::Change;
use super::shell::Simple;
use claude_mem_core::clock::Millis;

/// One piece of work.
#[derive(Clone, Debug, Default)]
pub(super) struct Work {
    pub files: Vec<FileWork>,
    pub overcome: Vec<Overcome>,
    /// Checks that passed after the last edit.
    pub checks: Vec<String>,
    pub commit: Option<Commit>,
    pub at: Millis,
}

/// What was done to one file.
#[derive(Clone, Debug, Default)]
pub(super) struct FileWork {
    pub path: String,
    pub effects: Vec<Effect>,
    /// Lines that this very piece of work put in: changing them again is part of writing them.
    fresh: HashSet<String>,
}

/// Everything an episode did.
#[derive(Debug, Default)]
pub(super) struct Works {
    pub pieces: Vec<Work>,
    /// Failures that a command cured, not an edit.
    pub remedies: Vec<Overcome>,
    /// Edits that were taken back.
    pub undone: Vec<FileWork>,
    /// The last run that failed and was not overcome.
    pub still_failing: Option<Run>,
    /// The last check that passed.
    pub checked: Option<String>,
}

pub(super) fn gather(done: &[Done], carry: &mut Carry) -> Works {
    let mut works = Works::default();
    let mut now = Work::default();
    for Done { act, at } in done {
        match act {
            Act::Changed(change) => {
                now.at = *at;
                now.checks.clear();
                edit(change, &mut now, &mut works, carry);
            }
            Act::Ran { run, output } => {
                ran(run, &mut now, &mut works, carry);
                for commit in commits::of_run(run, output) {
                    now.at = *at;
                    finish(commit, &mut now, &mut works);
                }
                for simple in &run.simples {
                    take_back(simple, &mut now, &mut works);
                }
            }
            Act::Read(_) | Act::Searched(_) | Act::Fetched(_) | Act::Delegated(_) => {}
        }
    }
    if !now.files.is_empty() || !now.overcome.is_empty() {
        works.pieces.push(now);
    }
    works.pieces.iter_mut().for_each(Work::forget_call_sites);
    works
}

fn edit(change: &Change, now: &mut Work, works: &mut Works, carry: &mut Carry) {
    let effects = effects::effects_of(change);
    failures::note_edit(&change.path, &effect::told(&change.path, &effects, 3), carry);
    let index = now.files.iter().position(|file| file.path == change.path).unwrap_or_else(|| {
        now.files.push(FileWork { path: change.path.clone(), ..FileWork::default() });
        now.files.len() - 1
    });
    let Some(file) = now.files.get_mut(index) else {
        return;
    };
    for effect in effects {
        let rewritten = matches!(&effect, Effect::Line { before, .. } if file.fresh.contains(before));
        if rewritten {
            continue;
        }
        if let Some(undone) = add(&mut file.effects, effect) {
            works.undone.push(FileWork {
                path: change.path.clone(),
                effects: vec![undone],
                ..FileWork::default()
            });
        }
    }
    file.fresh.extend(change.added().map(|line| line.trim().to_owned()));
}

/// Adds an effect to what was done to a file already. Returns the earlier one if this undoes it.
fn add(effects: &mut Vec<Effect>, new: Effect) -> Option<Effect> {
    let reversed = |old: &Effect| match (old, &new) {
        (Effect::Added { name: a, kind: k }, Effect::Removed { name: b, kind: l })
        | (Effect::Removed { name: a, kind: k }, Effect::Added { name: b, kind: l }) => a == b && k == l,
        (Effect::Value { name: a, before, after }, Effect::Value { name: b, before: c, after: d }) => {
            a == b && before == d && after == c
        }
        (Effect::Line { before, after, .. }, Effect::Line { before: c, after: d, .. }) => {
            before == d && after == c
        }
        (Effect::Renamed { from, to }, Effect::Renamed { from: c, to: d }) => from == d && to == c,
        _ => false,
    };
    if let Some(index) = effects.iter().position(reversed) {
        return Some(effects.remove(index));
    }
    // 10 → 5 and then 5 → 7 is 10 → 7.
    for old in effects.iter_mut() {
        if let (Effect::Value { name, after, .. }, Effect::Value { name: same, before, after: last }) =
            (old, &new)
            && name == same
            && after == before
        {
            after.clone_from(last);
            return None;
        }
    }
    // What is new here is not news when it is worked on again.
    let known = |old: &Effect| match (old, &new) {
        (Effect::Added { name, .. }, later) => {
            let about = later.name().unwrap_or_default();
            about == name
                || about.ends_with(&format!(".{name}"))
                || matches!(later, Effect::Line { within: Some(w), .. } if w == name)
        }
        (old, new) => old == new,
    };
    if !effects.iter().any(known) {
        effects.push(new);
    }
    None
}

fn ran(run: &Run, now: &mut Work, works: &mut Works, carry: &mut Carry) {
    let edited = !now.files.is_empty();
    for over in failures::note(run, edited, carry) {
        if over.is_fix() {
            now.overcome.push(over);
        } else if over.is_remedy() {
            works.remedies.push(over);
        }
    }
    if !run.matters() {
        return;
    }
    match run.outcome {
        Outcome::Passed => {
            if works.still_failing.as_ref().is_some_and(|failing| super::commands::covers(run, &failing.key))
            {
                works.still_failing = None;
            }
            let told = match run.results {
                Some(results) if results.passed > 0 => {
                    format!("`{}`: {}", run.command, results.in_words())
                }
                _ => format!("`{}` passes", run.command),
            };
            if !matches!(run.purpose, super::commands::Purpose::Run) {
                now.checks.retain(|check| check.split('`').nth(1) != Some(run.command.as_str()));
                works.checked = Some(told.clone());
                now.checks.push(told);
            }
        }
        Outcome::Failed => works.still_failing = Some(run.clone()),
        Outcome::Unknown => {}
    }
}

fn finish(commit: Commit, now: &mut Work, works: &mut Works) {
    // A pull request speaks of what its commits told already.
    let told = |work: &Work| work.commit.as_ref().is_some_and(|earlier| earlier.title == commit.title);
    if commit.request && works.pieces.iter().any(told) {
        return;
    }
    now.commit = Some(commit);
    works.pieces.push(std::mem::take(now));
}

/// `git checkout -- file`, `git restore`, `git reset --hard`: what was edited is gone.
fn take_back(simple: &Simple, now: &mut Work, works: &mut Works) {
    if simple.program() != "git" {
        return;
    }
    let words = simple.bare();
    let has = |word: &str| words.iter().any(|known| known == word);
    let all =
        (has("reset") && has("--hard")) || (has("checkout") && has(".")) || (has("restore") && has("."));
    let some = (has("checkout") && has("--")) || (has("restore") && !has("--staged"));
    if !all && !some {
        return;
    }
    let named = |path: &str| {
        words.iter().any(|word| path.ends_with(word.trim_start_matches("./")) && word.contains('.'))
    };
    let (gone, kept): (Vec<_>, Vec<_>) = now.files.drain(..).partition(|file| all || named(&file.path));
    now.files = kept;
    works.undone.extend(gone);
}

impl Work {
    /// The names that were worked on, for finding the sentences that speak of them.
    pub(super) fn names(&self) -> Vec<&str> {
        let mut names: Vec<&str> = Vec::new();
        for file in &self.files {
            names.push(file.path.rsplit('/').next().unwrap_or(&file.path));
            names.extend(file.effects.iter().filter_map(Effect::name).map(last_part));
        }
        names
    }

    /// Lines that only follow a rename are not told beside it.
    fn forget_call_sites(&mut self) {
        let renames: Vec<(String, String)> = self
            .files
            .iter()
            .flat_map(|file| &file.effects)
            .filter_map(|effect| match effect {
                Effect::Renamed { from, to } => Some((from.clone(), to.clone())),
                _ => None,
            })
            .collect();
        let follows = |effect: &Effect| match effect {
            Effect::Line { before, after, .. } => {
                renames.iter().any(|(from, to)| before.replace(from.as_str(), to) == *after)
            }
            _ => false,
        };
        for file in &mut self.files {
            file.effects.retain(|effect| !follows(effect));
        }
    }

    pub(super) fn paths(&self) -> Vec<String> {
        let mut paths: Vec<String> = self.files.iter().map(|file| file.path.clone()).collect();
        for over in &self.overcome {
            for path in &over.failure.files {
                if !paths.contains(path) {
                    paths.push(path.clone());
                }
            }
        }
        paths
    }

    /// Whether anything in it is more than whitespace, imports and comments.
    pub(super) fn has_effect(&self) -> bool {
        self.files.iter().flat_map(|file| &file.effects).any(|effect| effect.weight() > 0)
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
