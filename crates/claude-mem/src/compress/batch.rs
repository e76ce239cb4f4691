//! One episode through one model: what to ask, what it will cost, what became of it.
//!
//! The worker's part is around it: reserve `estimate` before `run`, settle `spend` after it, tell
//! the ladder, and store, keep or hand over as `next` says.

use std::time::Duration;

use super::answer::{self, Invalid};
use super::budget::{self, Estimate, Spend};
use super::ground::Ground;
use super::ladder::Ladder;
use super::model::{Ask, Model, ModelError};
use super::prompt;
use crate::clock::Millis;
use crate::episode::Episode;
use crate::limits::MODEL_ATTEMPTS_MAX;
use crate::memory::{Distilled, NewObservation, NewSummary};
use crate::tokens;
use crate::vocabulary::Vocabulary;

/// What holds for every episode.
#[derive(Clone, Copy, Debug)]
pub struct Rules<'a> {
    pub vocabulary: &'a Vocabulary,
    pub language: Option<&'a str>,
    pub answer_tokens_max: u32,
}

/// An episode, ready to be asked about.
#[derive(Debug)]
pub struct Batch<'a> {
    episode: &'a Episode,
    rules: Rules<'a>,
    so_far: &'a str,
    system: String,
    message: String,
}

/// What became of a call.
#[derive(Debug)]
pub struct Outcome {
    pub next: Next,
    pub spend: Spend,
    /// A word for the row in which the spend is kept.
    pub word: &'static str,
    trouble: Option<Trouble>,
}

/// What to do with the episode.
#[derive(Clone, Debug, PartialEq)]
pub enum Next {
    /// The answer is valid: store what it holds, even if that is nothing, and settle the events.
    Store(Box<Distilled>),
    /// Nothing happened to the events. The ladder says when to try again.
    Later { why: String },
    /// The model will not do it: the local distiller takes the episode.
    HandOver { why: String },
}

#[derive(Debug)]
enum Trouble {
    Model(ModelError),
    Nonsense(Invalid),
}

impl<'a> Batch<'a> {
    /// `so_far` is the text of the session's `Rolling`.
    pub fn new(episode: &'a Episode, so_far: &'a str, rules: Rules<'a>) -> Self {
        Self {
            episode,
            rules,
            so_far,
            system: prompt::system(rules.vocabulary, rules.language),
            message: prompt::message(episode),
        }
    }

    /// When the newest of it happened.
    pub fn came_in(&self) -> Millis {
        self.episode.ended_at()
    }

    /// What to reserve before `run`. A model that carries a conversation sends it again.
    pub fn estimate(&self, model: &dyn Model) -> Estimate {
        let told = match model.carried_tokens() {
            0 => u64::from(tokens::estimate(&self.system) + tokens::estimate(self.so_far)),
            carried => carried,
        };
        Estimate {
            input: told + u64::from(tokens::estimate(&self.message)),
            output: self.rules.answer_tokens_max.into(),
        }
    }

    /// Asks once. `attempts` is how often a model has failed at this episode before.
    pub fn run(
        &self,
        model: &mut dyn Model,
        attempts: u32,
        deadline: Duration,
        now: Millis,
    ) -> Outcome {
        let estimate = self.estimate(model);
        let ask = Ask {
            system: &self.system,
            so_far: self.so_far,
            message: &self.message,
            answer_tokens_max: self.rules.answer_tokens_max,
            now,
        };
        let answer = match model.answer(&ask, deadline) {
            Ok(answer) => answer,
            Err(error) => return failed(error, attempts, estimate),
        };
        let spend = Spend::of_answer(answer.usage, estimate, tokens::estimate(&answer.text));
        match answer::parse(&answer.text) {
            Ok(read) => self.hold(read, spend),
            Err(invalid) => {
                // A conversation that went wrong does not come right by more of it.
                model.rest();
                let next = later(attempts, invalid.to_string());
                let trouble = Some(Trouble::Nonsense(invalid));
                Outcome {
                    next,
                    spend,
                    word: "invalid",
                    trouble,
                }
            }
        }
    }

    fn hold(&self, read: answer::Answer, spend: Spend) -> Outcome {
        let ground = Ground {
            episode: self.episode,
            shown: &self.message,
            vocabulary: self.rules.vocabulary,
        };
        let mut distilled = ground.hold(read);
        share_out(spend.total(), &mut distilled);
        let next = Next::Store(Box::new(distilled));
        Outcome {
            next,
            spend,
            word: "answered",
            trouble: None,
        }
    }
}

impl Outcome {
    /// Tells the provider's ladder how it went.
    pub fn tell(&self, ladder: &mut Ladder, now: Millis, random: u8) {
        match &self.trouble {
            None => ladder.succeeded(),
            Some(Trouble::Model(error)) => ladder.failed(error, now, random),
            Some(Trouble::Nonsense(invalid)) => {
                ladder.answered_nonsense(&invalid.to_string(), now, random);
            }
        }
    }
}

fn failed(error: ModelError, attempts: u32, estimate: Estimate) -> Outcome {
    let spend = Spend::of_failure(&error, estimate);
    let why = error.to_string();
    let (next, word) = match error.cause() {
        ModelError::Refused { .. } => (Next::HandOver { why }, "refused"),
        ModelError::Rejected { .. } | ModelError::TooLong => (Next::HandOver { why }, "rejected"),
        // Nobody was asked, so that it is no failure of this episode.
        ModelError::Quota { .. } | ModelError::Auth { .. } | ModelError::Misconfigured { .. } => {
            (Next::Later { why }, "turned away")
        }
        ModelError::Retry { .. }
        | ModelError::Unreachable { .. }
        | ModelError::TimedOut
        | ModelError::Garbled { .. }
        | ModelError::Charged { .. } => (later(attempts, why), "failed"),
    };
    Outcome {
        next,
        spend,
        word,
        trouble: Some(Trouble::Model(error)),
    }
}

fn later(attempts: u32, why: String) -> Next {
    if attempts + 1 < MODEL_ATTEMPTS_MAX {
        Next::Later { why }
    } else {
        Next::HandOver { why }
    }
}

/// Every memory bears its part of what the call cost, by its length; the parts add up to it.
fn share_out(total: u64, distilled: &mut Distilled) {
    let of_observation = |o: &NewObservation| {
        let facts: usize = o.facts.iter().map(String::len).sum();
        (o.title.len() + o.subtitle.len() + o.narrative.len() + facts) as u64
    };
    let of_summary = |s: &NewSummary| {
        let texts = [
            &s.request,
            &s.investigated,
            &s.learned,
            &s.completed,
            &s.next_steps,
            &s.notes,
        ];
        texts.iter().map(|text| text.len() as u64).sum::<u64>()
    };
    let mut weights: Vec<u64> = distilled.observations.iter().map(of_observation).collect();
    weights.extend(distilled.summary.as_ref().map(of_summary));
    let shares = budget::share(total, &weights);
    let shares = shares
        .into_iter()
        .map(|share| u32::try_from(share).unwrap_or(u32::MAX));
    let slots = distilled
        .observations
        .iter_mut()
        .map(|o| &mut o.discovery_tokens);
    let slots = slots.chain(distilled.summary.as_mut().map(|s| &mut s.discovery_tokens));
    slots.zip(shares).for_each(|(slot, share)| *slot = share);
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
