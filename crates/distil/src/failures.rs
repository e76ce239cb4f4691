//! Commands that failed, what was done about them, and the moment they pass again.
//!
//! In: the acts of an episode and the failures that its session carries. Out: fixes, remedies,
//! and what still fails. A failure waits in the carry until its command passes, turns later if
//! need be.

use super::carry::{Carry, OpenFailure};
use super::commands::{Outcome, Purpose, Run, covers};

/// Maximum effects of edits, and likewise remedy commands, that are recorded with one unresolved
/// failure.
const CARRY_EFFECTS_MAX: usize = 6;

/// Maximum edited files that are recorded with one unresolved failure.
const CARRY_FILES_MAX: usize = 12;

/// A failure that is over: what failed, and how the same command passed.
#[derive(Clone, Debug)]
pub(super) struct Overcome {
    pub failure: OpenFailure,
    pub passed: String,
}

/// Takes note of a run. Returns the failures that it ends.
pub(super) fn note(run: &Run, edited: bool, carry: &mut Carry) -> Vec<Overcome> {
    match run.outcome {
        Outcome::Failed if run.matters() && !run.errors.is_empty() => {
            open(run, edited, carry);
            Vec::new()
        }
        Outcome::Passed => close(run, carry),
        Outcome::Failed | Outcome::Unknown => Vec::new(),
    }
}

fn open(run: &Run, edited: bool, carry: &mut Carry) {
    let known = carry.failures.iter().position(|open| open.key == run.key);
    let earlier = known.and_then(|index| carry.failures.remove(index));
    let mut failure = earlier.unwrap_or_else(|| OpenFailure {
        key: run.key.clone(),
        own_making: edited,
        errors: run.errors.clone(),
        ..OpenFailure::default()
    });
    failure.command.clone_from(&run.command);
    // The first error is the problem; a later one is a step on the way, unless it is all there is.
    if failure.files.is_empty() {
        failure.errors.clone_from(&run.errors);
    }
    carry.remember_failure(failure);
}

fn close(run: &Run, carry: &mut Carry) -> Vec<Overcome> {
    if !run.matters() {
        if run.purpose == Purpose::Remedy {
            for open in &mut carry.failures {
                push(&mut open.remedies, &run.command, CARRY_EFFECTS_MAX);
            }
        }
        return Vec::new();
    }
    let (over, open): (Vec<_>, Vec<_>) =
        carry.failures.drain(..).partition(|failure| covers(run, &failure.key));
    carry.failures = open.into();
    let passed = match run.results {
        Some(results) if results.passed > 0 => format!("`{}`: {}", run.command, results.in_words()),
        _ => format!("`{}` passes", run.command),
    };
    over.into_iter().map(|failure| Overcome { failure, passed: passed.clone() }).collect()
}

/// Takes note of an edit: it may be what cures the open failures.
pub(super) fn note_edit(path: &str, effect: &str, carry: &mut Carry) {
    for open in &mut carry.failures {
        push(&mut open.files, path, CARRY_FILES_MAX);
        if !effect.is_empty() {
            push(&mut open.effects, effect, CARRY_EFFECTS_MAX);
        }
    }
}

fn push(list: &mut Vec<String>, item: &str, max: usize) {
    if list.len() < max && !list.iter().any(|known| known == item) {
        list.push(super::text::clip(item, 300));
    }
}

impl Overcome {
    /// Whether edits cured it, and it was there before them.
    pub(super) fn is_fix(&self) -> bool {
        !self.failure.files.is_empty() && !self.failure.own_making && !self.is_scaffolding()
    }

    /// A command cured it, not an edit.
    pub(super) fn is_remedy(&self) -> bool {
        self.failure.files.is_empty() && !self.failure.remedies.is_empty()
    }

    /// "cannot find `x`", and then `x` was written: a test that came first, not a bug.
    fn is_scaffolding(&self) -> bool {
        let missing = [
            "cannot find",
            "not found",
            "is not defined",
            "undefined",
            "no attribute",
            "unresolved",
            "cannot import",
            "does not exist",
        ];
        let error = self.failure.errors.join(" ");
        let absent = missing.iter().any(|words| error.contains(words));
        let names: Vec<&str> =
            error.split(|c: char| !(c.is_alphanumeric() || c == '_')).filter(|w| w.len() > 3).collect();
        let adds = self.failure.effects.iter().filter(|effect| effect.contains("adds "));
        absent && adds.into_iter().any(|effect| names.iter().any(|name| effect.contains(name)))
    }
}
