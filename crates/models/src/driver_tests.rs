use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::super::batch::CompressionRules;
use super::super::budget::{self, BudgetLimits, BudgetScope, BudgetUsage};
use super::super::model::{ModelError, ModelReply, ModelRequest, TokenUsage};
use super::*;
use claude_mem_core::episode::{Episode, EpisodePrompt};
use claude_mem_core::vocabulary::Vocabulary;

/// A clock that advances by waiting, and a budget in memory.
#[derive(Default)]
struct DriverFixture {
    now: Cell<i64>,
    waits: RefCell<Vec<u64>>,
    stopping: bool,
    limit: Cell<u64>,
    spent: Cell<u64>,
    open: Cell<u64>,
    words: RefCell<Vec<&'static str>>,
    denied: RefCell<VecDeque<ReservationDenied>>,
}

impl CallEnv for DriverFixture {
    fn now(&self) -> Millis {
        Millis(self.now.get())
    }

    fn random_byte(&self) -> u8 {
        0
    }

    fn wait(&self, pause: Duration) -> bool {
        let pause = pause.as_millis() as u64;
        self.waits.borrow_mut().push(pause);
        self.now.set(self.now.get() + pause as i64);
        !self.stopping
    }
}

impl TokenBudget for DriverFixture {
    fn reserve(&self, tokens: u64) -> Result<i64, ReservationDenied> {
        if let Some(denied) = self.denied.borrow_mut().pop_front() {
            return Err(denied);
        }
        let limits = BudgetLimits { day_tokens: self.limit.get(), session_tokens: u64::MAX };
        let standing =
            BudgetUsage { tokens: self.spent.get() + self.open.get(), open_tokens: self.open.get() };
        budget::admit(limits, standing, BudgetUsage::default(), tokens).map_err(ReservationDenied::Budget)?;
        self.open.set(self.open.get() + tokens);
        Ok(i64::try_from(tokens).unwrap())
    }

    fn settle(&self, reservation: i64, spend: TokenSpend, word: &'static str) {
        self.open.set(self.open.get() - reservation as u64);
        self.spent.set(self.spent.get() + spend.total());
        self.words.borrow_mut().push(word);
    }
}

struct DriverTestModel(VecDeque<Result<ModelReply, ModelError>>);

impl LanguageModel for DriverTestModel {
    fn answer(&mut self, _: &ModelRequest<'_>, _: Duration) -> Result<ModelReply, ModelError> {
        self.0.pop_front().expect("the model is asked too often")
    }
}

#[allow(clippy::unnecessary_wraps, reason = "a line of a script")]
fn skip() -> Result<ModelReply, ModelError> {
    Ok(ModelReply { text: "<skip/>".into(), usage: Some(TokenUsage { input: 5_000, output: 5 }) })
}

fn busy(after: Option<u64>) -> Result<ModelReply, ModelError> {
    Err(ModelError::Retry { after: after.map(Duration::from_secs), why: "HTTP 529".into() })
}

fn run(
    stage: &DriverFixture,
    backoff: &Mutex<Backoff>,
    script: impl IntoIterator<Item = Result<ModelReply, ModelError>>,
) -> ModelOutcome {
    let episode = Episode {
        prompt: Some(EpisodePrompt {
            text: "Fix it".into(),
            at: Millis(stage.now.get()),
            ..EpisodePrompt::default()
        }),
        ..Episode::default()
    };
    let vocabulary = Vocabulary::default();
    let rules = CompressionRules { vocabulary: &vocabulary, language: None, answer_tokens_max: 1_000 };
    let batch = CompressionRequest::new(&episode, "", rules);
    compress_with_model(&batch, &mut DriverTestModel(script.into_iter().collect()), backoff, stage, stage)
}

fn stage() -> DriverFixture {
    let stage = DriverFixture::default();
    stage.limit.set(1_000_000);
    stage
}

#[test]
fn busy_model_is_retried_after_backoff() {
    let (stage, backoff) = (stage(), Mutex::default());
    let driven = run(&stage, &backoff, [busy(None), busy(Some(7)), skip()]);
    assert_eq!(driven, ModelOutcome::Compressed(Box::default()));
    assert_eq!(*stage.waits.borrow(), [1_000, 7_000]);
    assert_eq!(*stage.words.borrow(), ["failed", "failed", "answered"]);
    assert_eq!(lock(&backoff).advice(stage.now()), BackoffAdvice::Ask, "success resets it");
}

#[test]
fn third_failure_falls_back_with_all_calls_settled() {
    let (stage, backoff) = (stage(), Mutex::default());
    let prose = Ok(ModelReply { text: "Hello!".into(), usage: Some(TokenUsage { input: 10, output: 2 }) });
    let driven = run(&stage, &backoff, [Err(ModelError::TimedOut), prose, busy(None)]);
    assert!(matches!(driven, ModelOutcome::FallBack { .. }), "{driven:?}");
    assert_eq!(*stage.words.borrow(), ["failed", "invalid", "failed"]);
    assert_eq!(stage.open.get(), 0);
    assert!(stage.spent.get() > 1_012, "a timed-out call costs its reservation");
}

#[test]
fn paused_provider_falls_back_without_retry() {
    let (stage, backoff) = (stage(), Mutex::default());
    let closed = Err(ModelError::Auth { why: "HTTP 401".into() });
    let driven = run(&stage, &backoff, [closed]);
    assert!(matches!(&driven, ModelOutcome::FallBack { why } if why.contains("credentials")), "{driven:?}");
    assert!(matches!(run(&stage, &backoff, []), ModelOutcome::FallBack { .. }), "nor for the next episode");
    assert_eq!(stage.spent.get(), 0);
}

#[test]
fn long_wait_falls_back() {
    let (stage, backoff) = (stage(), Mutex::default());
    let driven = run(&stage, &backoff, [busy(Some(105))]);
    assert!(matches!(driven, ModelOutcome::FallBack { .. }));
    assert!(stage.waits.borrow().is_empty());
}

#[test]
fn backlog_does_not_retry_a_stopped_provider() {
    let (stage, backoff) = (stage(), Mutex::default());
    let down = || Err(ModelError::Unreachable { why: "connection refused".into() });
    run(&stage, &backoff, [down(), down(), down()]);
    let old = stage.now.get();
    run(&stage, &backoff, [down()]);
    let stopped = stage.now.get();
    stage.now.set(old - 1);
    assert!(matches!(run(&stage, &backoff, []), ModelOutcome::FallBack { .. }), "older work");
    stage.now.set(stopped + 1);
    assert_eq!(run(&stage, &backoff, [skip()]), ModelOutcome::Compressed(Box::default()), "new work");
}

#[test]
fn shutdown_interrupts_the_wait() {
    let stage = DriverFixture { stopping: true, ..stage() };
    assert_eq!(run(&stage, &Mutex::default(), [busy(None)]), ModelOutcome::Interrupted);
}

#[test]
fn spend_exceeds_budget_by_at_most_one_call() {
    let (stage, backoff) = (stage(), Mutex::default());
    stage.limit.set(50_000);
    let mut made = 0;
    for _ in 0..100 {
        match run(&stage, &backoff, [skip()]) {
            ModelOutcome::Compressed(_) => made += 1,
            ModelOutcome::FallBack { why } => {
                assert_eq!(why, "the token budget of the day is used up");
            }
            ModelOutcome::Interrupted => panic!(),
        }
    }
    assert!(made >= 9, "{made} calls");
    assert!(stage.spent.get() <= 50_000 + 5_005, "{}", stage.spent.get());
}

#[test]
fn reserved_budget_is_waited_for_and_spent_one_is_not() {
    let (stage, backoff) = (stage(), Mutex::default());
    let wait = || ReservationDenied::Budget(BudgetDenial::Wait);
    stage.denied.borrow_mut().extend([wait(), wait()]);
    assert_eq!(run(&stage, &backoff, [skip()]), ModelOutcome::Compressed(Box::default()));
    assert_eq!(*stage.waits.borrow(), [BUDGET_WAIT_MS, BUDGET_WAIT_MS]);
    for denied in [
        ReservationDenied::Budget(BudgetDenial::Exhausted(BudgetScope::Session)),
        ReservationDenied::Ledger("the disk is full".into()),
    ] {
        stage.denied.borrow_mut().push_back(denied);
        assert!(matches!(run(&stage, &backoff, []), ModelOutcome::FallBack { .. }));
    }
}
