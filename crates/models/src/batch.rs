//! One episode as a request to a model: its prompt, its estimated cost, its outcome.
//!
//! The caller reserves [`CompressionRequest::estimate`] before [`CompressionRequest::ask_once`], then
//! settles the [`CallOutcome`]'s spend, updates the [`Backoff`] and follows its [`NextAction`].

use crate::limits::MODEL_ATTEMPTS_MAX;
use std::time::Duration;

use super::answer::{self, InvalidAnswer};
use super::budget::{self, TokenEstimate, TokenSpend};
use super::model::{LanguageModel, ModelError, ModelRequest};
use super::prompt;
use crate::backoff::Backoff;
use crate::grounding::AnswerGrounding;
use crate::trouble::{CallTrouble, TroubleKind};
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::Episode;
use claude_mem_core::memory::{CompressionOutput, NewObservation, NewSummary};
use claude_mem_core::tokens;
use claude_mem_core::vocabulary::Vocabulary;

/// Settings that apply to every episode.
#[derive(Clone, Copy, Debug)]
pub struct CompressionRules<'a> {
    pub vocabulary: &'a Vocabulary,
    pub language: Option<&'a str>,
    pub answer_tokens_max: u32,
}

/// An episode with the prompt that asks for its memories.
#[derive(Debug)]
pub struct CompressionRequest<'a> {
    episode: &'a Episode,
    rules: CompressionRules<'a>,
    so_far: &'a str,
    system: String,
    message: String,
}

/// The outcome of one model call.
#[derive(Debug)]
pub struct CallOutcome {
    pub next: NextAction,
    pub spend: TokenSpend,
    /// The status stored in the spend row.
    pub status: &'static str,
    failure: Option<CallFailure>,
}

/// The next step for an episode after a call.
#[derive(Clone, Debug, PartialEq)]
pub enum NextAction {
    /// The answer is valid: store its content, even if empty, and acknowledge the events.
    Store(Box<CompressionOutput>),
    /// Ask again, when the [`Backoff`] allows it. The events are unchanged.
    Retry { why: String },
    /// The model cannot do it: use the heuristic compressor.
    FallBack { why: String },
}

/// Why a call gave no usable answer.
#[derive(Debug)]
enum CallFailure {
    Model(ModelError),
    Invalid(InvalidAnswer),
}

impl<'a> CompressionRequest<'a> {
    /// `so_far` is the text of the session's `RollingSummary`.
    pub fn new(episode: &'a Episode, so_far: &'a str, rules: CompressionRules<'a>) -> Self {
        Self {
            episode,
            rules,
            so_far,
            system: prompt::system_prompt(rules.vocabulary, rules.language),
            message: prompt::episode_message(episode),
        }
    }

    /// The time of the episode's last event.
    pub fn newest_at(&self) -> Millis {
        self.episode.ended_at()
    }

    /// Tokens to reserve for a call. A model that carries a conversation sends it again each time.
    pub fn estimate(&self, model: &dyn LanguageModel) -> TokenEstimate {
        let told = match model.carried_tokens() {
            0 => u64::from(tokens::estimate(&self.system) + tokens::estimate(self.so_far)),
            carried => carried,
        };
        TokenEstimate {
            input: told + u64::from(tokens::estimate(&self.message)),
            output: self.rules.answer_tokens_max.into(),
        }
    }

    /// Makes one call. `attempts` counts the earlier failed calls for this episode.
    pub fn ask_once(
        &self,
        model: &mut dyn LanguageModel,
        attempts: u32,
        deadline: Duration,
        now: Millis,
    ) -> CallOutcome {
        let estimate = self.estimate(model);
        let ask = ModelRequest {
            system: &self.system,
            so_far: self.so_far,
            message: &self.message,
            answer_tokens_max: self.rules.answer_tokens_max,
            now,
        };
        let answer = match model.answer(&ask, deadline) {
            Ok(answer) => answer,
            Err(error) => return failed_call(error, attempts, estimate),
        };
        let spend = TokenSpend::from_answer(answer.usage, estimate, tokens::estimate(&answer.text));
        match answer::parse_answer(&answer.text) {
            Ok(read) => self.accept_answer(read, spend),
            Err(invalid) => {
                // Start a new conversation: one with an invalid answer rarely recovers.
                model.release();
                let next = retry_or_fall_back(attempts, invalid.to_string());
                let trouble = Some(CallFailure::Invalid(invalid));
                CallOutcome { next, spend, status: "invalid", failure: trouble }
            }
        }
    }

    fn accept_answer(&self, read: answer::ParsedAnswer, spend: TokenSpend) -> CallOutcome {
        let ground = AnswerGrounding {
            episode: self.episode,
            shown: &self.message,
            vocabulary: self.rules.vocabulary,
        };
        let mut distilled = ground.ground_answer(read);
        distribute_cost(spend.total(), &mut distilled);
        let next = NextAction::Store(Box::new(distilled));
        CallOutcome { next, spend, status: "answered", failure: None }
    }
}

impl CallOutcome {
    /// Why the call gave no usable answer, if that concerns more than this episode.
    pub fn trouble(&self) -> Option<CallTrouble> {
        match self.failure.as_ref()? {
            CallFailure::Model(error) => CallTrouble::from_error(error),
            CallFailure::Invalid(invalid) => {
                Some(CallTrouble::new(TroubleKind::InvalidAnswer, invalid.to_string()))
            }
        }
    }

    /// Whether the model gave a usable answer.
    pub const fn is_success(&self) -> bool {
        self.failure.is_none()
    }

    /// Records the outcome in the provider's backoff.
    pub fn update_backoff(&self, backoff: &mut Backoff, now: Millis, random: u8) {
        match &self.failure {
            None => backoff.record_success(),
            Some(CallFailure::Model(error)) => backoff.record_error(error, now, random),
            Some(CallFailure::Invalid(invalid)) => {
                backoff.record_invalid_answer(&invalid.to_string(), now, random);
            }
        }
    }
}

fn failed_call(error: ModelError, attempts: u32, estimate: TokenEstimate) -> CallOutcome {
    let spend = TokenSpend::from_failure(&error, estimate);
    let why = error.to_string();
    let (next, word) = match error.cause() {
        ModelError::Refused { .. } => (NextAction::FallBack { why }, "refused"),
        ModelError::Rejected { .. } | ModelError::TooLong => (NextAction::FallBack { why }, "rejected"),
        // The model never saw the request, so this does not count against the episode.
        ModelError::Quota { .. } | ModelError::Auth { .. } | ModelError::Misconfigured { .. } => {
            (NextAction::Retry { why }, "turned away")
        }
        ModelError::Retry { .. }
        | ModelError::Unreachable { .. }
        | ModelError::TimedOut
        | ModelError::Garbled { .. }
        | ModelError::Charged { .. } => (retry_or_fall_back(attempts, why), "failed"),
    };
    CallOutcome { next, spend, status: word, failure: Some(CallFailure::Model(error)) }
}

fn retry_or_fall_back(attempts: u32, why: String) -> NextAction {
    if attempts + 1 < MODEL_ATTEMPTS_MAX { NextAction::Retry { why } } else { NextAction::FallBack { why } }
}

/// Distributes the cost of a call over its memories by their length. The shares add up to it.
fn distribute_cost(total: u64, distilled: &mut CompressionOutput) {
    let of_observation = |o: &NewObservation| {
        let texts = o.text.texts().into_iter().chain(&o.text.facts);
        texts.map(|text| text.len() as u64).sum::<u64>()
    };
    let of_summary = |s: &NewSummary| s.text.texts().iter().map(|text| text.len() as u64).sum::<u64>();
    let mut weights: Vec<u64> = distilled.observations.iter().map(of_observation).collect();
    weights.extend(distilled.summary.as_ref().map(of_summary));
    let shares = budget::split_proportionally(total, &weights)
        .into_iter()
        .map(|share| u32::try_from(share).unwrap_or(u32::MAX));
    let of_observations = distilled.observations.iter_mut().map(|o| &mut o.discovery_tokens);
    let slots = of_observations.chain(distilled.summary.as_mut().map(|s| &mut s.discovery_tokens));
    slots.zip(shares).for_each(|(slot, share)| *slot = share);
}

#[cfg(test)]
#[path = "batch_tests.rs"]
mod tests;
