//! The compressor that needs no model.
//!
//! In: one `Episode`, what its session carries, the vocabulary. Out: the observations that are
//! worth keeping and, when the turn is finished, its summary. It reads what was said (`speech`,
//! `cues`: decisions, preferences, conclusions, dead ends) and what was done (`acts`: edits with
//! their effect, commands with their outcome, fixes, commits), and writes of both what a careful
//! colleague would write down. Words are kept in the language they were said in.
//!
//! Invariant: the same input gives the same memories; nothing in them is longer than its limit;
//! whatever a tool printed is quoted, never taken for a statement of the user's or the agent's.
//! Absent on purpose: I/O, clocks, models, and anything that could fail or panic.

mod account;
mod acts;
mod carry;
mod commands;
mod commits;
mod cues;
mod decisions;
mod draft;
mod effects;
mod errors;
mod failures;
mod findings;
mod kinds;
mod outputs;
mod patch;
mod prompts;
mod report;
mod results;
mod sentences;
mod shell;
mod speech;
mod summary;
mod symbols;
mod text;
mod titles;
mod values;
mod work;

pub use carry::Carry;
pub use errors::telling as telling_error_lines;

use self::account::Account;
use self::speech::Speech;
use crate::episode::Episode;
use crate::limits::DISTIL_OBSERVATIONS_MAX;
use crate::memory::{Distilled, NewObservation};
use crate::vocabulary::Vocabulary;

/// Makes memories of one episode, and updates what its session carries.
pub fn distil(episode: &Episode, carry: &mut Carry, vocabulary: &Vocabulary) -> Distilled {
    let prompt = prompts::spoken(episode.prompt.as_ref().map_or("", |p| p.text.as_str()));
    let said = Speech::read(&prompt);
    let answered = Speech::read(
        episode
            .final_message
            .as_ref()
            .map_or("", |m| m.text.as_str()),
    );
    carry.open_turn(
        episode.prompt.as_ref().map(|p| p.number),
        &said,
        &answered,
        &prompt,
    );

    let account = Account::read(&answered);
    let done = acts::read(episode);
    let works = work::gather(&done, carry);
    let turn = decisions::Turn {
        said: &said,
        answered: &answered,
        at: episode.ended_at(),
        working: !works.pieces.is_empty(),
    };
    let decided = decisions::decide(&turn, carry);
    carry.close_turn(&answered, &decided);
    let mut made = decided;
    made.extend(told_of_work(
        episode, &said, &answered, &account, &done, &works,
    ));
    let kept = keep(made, &done, carry, vocabulary);
    let summary = episode.finished.then(|| {
        summary::of(&summary::Material {
            episode,
            said: &said,
            account: &account,
            done: &done,
            works: &works,
            made: &kept,
            carry,
        })
    });
    Distilled {
        observations: kept,
        summary: summary.flatten(),
    }
}

/// Work, what was found out on the way, and what is left broken.
fn told_of_work(
    episode: &Episode,
    said: &Speech,
    answered: &Speech,
    account: &Account<'_>,
    done: &[acts::Done],
    works: &work::Works,
) -> Vec<NewObservation> {
    let at = episode.ended_at();
    let context = report::Context {
        said,
        answered,
        account,
        alone: works.pieces.len() == 1,
    };
    let mut made: Vec<NewObservation> = works
        .pieces
        .iter()
        .filter_map(|work| report::of(work, &context))
        .collect();
    made.extend(
        works
            .remedies
            .iter()
            .filter_map(|over| findings::remedy(over, at)),
    );
    made.extend(findings::dead_ends(account, works, answered.language, at));
    if works.pieces.is_empty() {
        made.extend(findings::conclusion(
            account,
            said,
            done,
            answered.language,
            at,
        ));
    }
    if episode.finished {
        made.extend(findings::still_failing(works, at));
    }
    made
}

/// What is new in this session, within bounds and vocabulary, with the files that were read.
fn keep(
    made: Vec<NewObservation>,
    done: &[acts::Done],
    carry: &mut Carry,
    vocabulary: &Vocabulary,
) -> Vec<NewObservation> {
    let read: Vec<String> = done
        .iter()
        .filter_map(|d| match &d.act {
            acts::Act::Read(path) => Some(path.clone()),
            _ => None,
        })
        .collect();
    let mut kept = Vec::new();
    for mut observation in made {
        if carry.is_told(&observation.title) {
            continue;
        }
        observation.files_read.clone_from(&read);
        kept.extend(draft::finish(observation, vocabulary));
    }
    kept.truncate(DISTIL_OBSERVATIONS_MAX);
    kept
}
