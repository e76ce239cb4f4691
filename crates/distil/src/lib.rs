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

mod limits;
mod account;
mod acts;
mod carry;
mod claim;
mod commands;
mod commits;
mod consolidate;
mod cues;
mod decisions;
mod draft;
mod effect;
mod effects;
mod errors;
mod failures;
mod findings;
mod kinds;
mod languages;
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
mod syntax;
mod text;
mod titles;
mod values;
mod work;

pub use carry::Carry;
pub use claim::{Claim, EpisodeClaims};
pub use consolidate::consolidate;
pub use errors::telling as telling_error_lines;

use self::account::Account;
use self::speech::Speech;
use crate::limits::OBSERVATION_FACT_CHARS_MAX;
use crate::limits::OBSERVATION_FACTS_MAX;
use claude_mem_core::episode::Episode;
use claude_mem_core::memory::{CompressionOutput, NewObservation, NewSummary, ObservationType};
use claude_mem_core::vocabulary::Vocabulary;

/// Maximum observations of one episode. More than this in one turn is a log, not memory.
pub(crate) const DISTIL_OBSERVATIONS_MAX: usize = 24;

/// Makes memories of one episode, and updates what its session carries.
pub fn distil(episode: &Episode, carry: &mut Carry, vocabulary: &Vocabulary) -> CompressionOutput {
    let prompt = prompts::spoken(episode.prompt.as_ref().map_or("", |p| p.text.as_str()));
    let said = Speech::read(&prompt);
    let answered = Speech::read(episode.final_message.as_ref().map_or("", |m| m.text.as_str()));
    carry.open_turn(episode.prompt.as_ref().map(|p| p.number), &said, &answered, &prompt);

    let asked = carry.last_words.question.clone();
    let account = Account::read(&answered);
    let done = acts::read(episode);
    let works = work::gather(&done, carry);
    let files: Vec<String> = works.pieces.iter().flat_map(work::Work::paths).collect();
    let turn = decisions::Turn { said: &said, answered: &answered, at: episode.ended_at(), files: &files };
    let decided = decisions::decide(&turn, carry);
    carry.close_turn(&answered, &decided);
    let mut made = decided;
    made.extend(told_of_work(episode, &said, &answered, &account, &done, &works));
    let kept = keep(made, &done, carry, vocabulary);
    let summary = episode.finished.then(|| {
        summary::summarize_turn(&summary::Material {
            episode,
            said: &said,
            language: answered.language,
            account: &account,
            done: &done,
            works: &works,
            made: &kept,
            asked: &asked,
            carry,
        })
    });
    CompressionOutput { observations: kept, summary: summary.flatten() }
}

/// Extracts the claims of one episode, and its summary if the turn is finished.
pub fn extract_claims(
    episode: &Episode,
    carry: &mut Carry,
    vocabulary: &Vocabulary,
) -> (EpisodeClaims, Option<NewSummary>) {
    let output = distil(episode, carry, vocabulary);
    let key = |observation: &NewObservation| {
        let parts = [observation.title.as_bytes(), observation.narrative.as_bytes()];
        claude_mem_core::event_key::hex(&claude_mem_core::event_key::digest(&parts))
    };
    let claims = output.observations.into_iter().map(|o| Claim { key: key(&o), observation: o }).collect();
    (EpisodeClaims { claims }, output.summary)
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
    let context = report::Context { said, answered, account, alone: works.pieces.len() == 1 };
    let mut made: Vec<NewObservation> =
        works.pieces.iter().filter_map(|work| report::report_work(work, &context)).collect();
    made.extend(works.remedies.iter().filter_map(|over| findings::remedy(over, at)));
    made.extend(findings::dead_ends(account, works, done, answered.language, at));
    if works.pieces.is_empty() {
        made.extend(findings::conclusion(account, said, done, answered.language, at));
    }
    if episode.finished {
        made.extend(findings::still_failing(works, &made, at));
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
    let mut kept: Vec<NewObservation> = Vec::new();
    for mut observation in made {
        if merge(&mut kept, &observation) {
            continue;
        }
        if carry.knows(&observation.title) && !observation.files_modified.is_empty() {
            // The agent says the same of two turns; what was done differs.
            if let Some(fact) = observation.facts.first() {
                observation.title.clone_from(fact);
            }
        }
        if carry.is_told(&observation.title) {
            continue;
        }
        observation.files_read.clone_from(&read);
        kept.extend(draft::finish(observation, vocabulary));
    }
    kept.truncate(DISTIL_OBSERVATIONS_MAX);
    kept
}

/// Two observations of one turn that would carry the same title are one: its words and what was
/// done about it.
fn merge(kept: &mut [NewObservation], new: &NewObservation) -> bool {
    let found = new.kind == ObservationType::DISCOVERY && !new.facts.is_empty();
    let same = |known: &&mut NewObservation| {
        carry::are_alike(&known.title, &new.title)
            // What was found out is what was decided, in the agent's words.
            || (found && new.facts.iter().all(|fact| draft::says(&known.facts, fact)))
    };
    let Some(known) = kept.iter_mut().find(same) else {
        return false;
    };
    known.facts.extend(new.facts.iter().cloned());
    known.facts =
        draft::bounded(std::mem::take(&mut known.facts), OBSERVATION_FACTS_MAX, OBSERVATION_FACT_CHARS_MAX);
    for file in &new.files_modified {
        if !known.files_modified.contains(file) {
            known.files_modified.push(file.clone());
        }
    }
    true
}

#[cfg(test)]
#[path = "golden_tests.rs"]
mod golden_tests;

#[cfg(test)]
#[path = "distil_tests.rs"]
mod tests;
