use crate::backoff::BackoffAdvice;
use std::collections::VecDeque;

use super::*;
use crate::model::{ModelReply, TokenUsage};
use claude_mem_core::episode::EpisodePrompt;

/// A model with a fixed reply.
struct BatchTestModel {
    answers: VecDeque<Result<ModelReply, ModelError>>,
    carried: u64,
    rested: bool,
}

impl LanguageModel for BatchTestModel {
    fn answer(&mut self, _: &ModelRequest<'_>, _: Duration) -> Result<ModelReply, ModelError> {
        self.answers.pop_front().unwrap()
    }

    fn carried_tokens(&self) -> u64 {
        self.carried
    }

    fn release(&mut self) {
        self.rested = true;
    }
}

fn says(text: &str, usage: Option<TokenUsage>) -> BatchTestModel {
    scripted(Ok(ModelReply { text: text.into(), usage }))
}

fn scripted(answer: Result<ModelReply, ModelError>) -> BatchTestModel {
    BatchTestModel { answers: [answer].into(), carried: 0, rested: false }
}

fn run(model: &mut BatchTestModel, attempts: u32) -> CallOutcome {
    let episode = Episode {
        prompt: Some(EpisodePrompt { text: "Fix it".into(), ..EpisodePrompt::default() }),
        finished: true,
        ..Episode::default()
    };
    let vocabulary = Vocabulary::default();
    let rules = CompressionRules { vocabulary: &vocabulary, language: None, answer_tokens_max: 1_000 };
    CompressionRequest::new(&episode, "", rules).ask_once(model, attempts, Duration::from_secs(1), Millis(0))
}

const TWO: &str = "<observation><title>First</title><narrative>Long enough to weigh more than \
    the other one does</narrative></observation><observation><title>Second</title></observation>\
    <summary><request>r</request><completed>c</completed></summary>";

#[test]
fn shares_add_up_to_the_cost() {
    let usage = Some(TokenUsage { input: 1_000, output: 7 });
    let outcome = run(&mut says(TWO, usage), 0);
    let NextAction::Store(distilled) = &outcome.next else { panic!("{outcome:?}") };
    let shares: Vec<u32> = distilled.observations.iter().map(|o| o.discovery_tokens).collect();
    let summary = distilled.summary.as_ref().unwrap().discovery_tokens;
    assert_eq!(shares.iter().sum::<u32>() + summary, 1_007);
    assert!(shares[0] > shares[1]);
    assert_eq!(outcome.spend, TokenSpend { input: 1_000, output: 7, estimated: false });
}

#[test]
fn empty_valid_answer_completes_the_episode() {
    let outcome = run(&mut says("<skip/>", None), 0);
    assert_eq!(outcome.next, NextAction::Store(Box::default()));
    assert!(outcome.spend.estimated && outcome.spend.input > 300);
    assert_eq!(outcome.spend.output, u64::from(tokens::estimate("<skip/>")));
}

#[test]
fn invalid_answer_is_charged_and_retried() {
    let mut model = says("I cannot do that.", Some(TokenUsage { input: 10, output: 5 }));
    let outcome = run(&mut model, 0);
    assert!(matches!(outcome.next, NextAction::Retry { .. }));
    assert_eq!(outcome.spend.total(), 15);
    assert!(model.rested, "the next call starts a new conversation");
}

#[test]
fn third_failure_falls_back() {
    for (attempts, over) in [(0, false), (1, false), (2, true), (7, true)] {
        for model in [&mut says("prose", None), &mut scripted(Err(ModelError::TimedOut))] {
            let next = run(model, attempts).next;
            assert_eq!(matches!(next, NextAction::FallBack { .. }), over, "after {attempts}: {next:?}");
        }
    }
}

#[test]
fn permanent_failure_falls_back_at_once() {
    for error in [
        ModelError::Refused { usage: None },
        ModelError::TooLong,
        ModelError::Rejected { why: "HTTP 400".into() },
    ] {
        assert!(matches!(run(&mut scripted(Err(error)), 0).next, NextAction::FallBack { .. }));
    }
}

#[test]
fn access_error_does_not_count_against_episode() {
    for error in [
        ModelError::Auth { why: "HTTP 401".into() },
        ModelError::Quota { after: None, why: "HTTP 429".into() },
        ModelError::Misconfigured { why: "HTTP 404".into() },
    ] {
        let outcome = run(&mut scripted(Err(error)), 2);
        assert!(matches!(outcome.next, NextAction::Retry { .. }));
        assert_eq!(outcome.spend, TokenSpend::NOTHING);
        let mut backoff = Backoff::default();
        outcome.update_backoff(&mut backoff, Millis(0), 0);
        assert_ne!(backoff.advice(Millis(0)), BackoffAdvice::Ask);
    }
}

#[test]
fn estimate_includes_carried_tokens() {
    let episode = Episode::default();
    let vocabulary = Vocabulary::default();
    let rules = CompressionRules { vocabulary: &vocabulary, language: None, answer_tokens_max: 1_000 };
    let batch = CompressionRequest::new(&episode, "so far", rules);
    let mut model = says("", None);
    let fresh = batch.estimate(&model);
    model.carried = 20_000;
    let warm = batch.estimate(&model);
    assert!(fresh.input < 2_000 && warm.input > 20_000);
    assert_eq!(fresh.output, 1_000);
}
