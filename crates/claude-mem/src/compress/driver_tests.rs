use std::cell::{Cell, RefCell};
use std::collections::VecDeque;

use super::super::batch::Rules;
use super::super::budget::{self, Limits, Scope, Standing};
use super::super::model::{Answer, Ask, ModelError, Usage};
use super::*;
use crate::episode::{Episode, Prompt};
use crate::vocabulary::Vocabulary;

/// A clock that waiting moves, a budget in memory and a model with a script.
#[derive(Default)]
struct Stage {
    now: Cell<i64>,
    waits: RefCell<Vec<u64>>,
    stopping: bool,
    limit: Cell<u64>,
    spent: Cell<u64>,
    open: Cell<u64>,
    words: RefCell<Vec<&'static str>>,
    denied: RefCell<VecDeque<Denied>>,
}

impl Around for Stage {
    fn now(&self) -> Millis {
        Millis(self.now.get())
    }

    fn random(&self) -> u8 {
        0
    }

    fn wait(&self, pause: Duration) -> bool {
        let pause = pause.as_millis() as u64;
        self.waits.borrow_mut().push(pause);
        self.now.set(self.now.get() + pause as i64);
        !self.stopping
    }
}

impl Purse for Stage {
    fn reserve(&self, tokens: u64) -> Result<i64, Denied> {
        if let Some(denied) = self.denied.borrow_mut().pop_front() {
            return Err(denied);
        }
        let limits = Limits {
            day_tokens: self.limit.get(),
            session_tokens: u64::MAX,
        };
        let standing = Standing {
            tokens: self.spent.get() + self.open.get(),
            open_tokens: self.open.get(),
        };
        budget::admit(limits, standing, Standing::default(), tokens).map_err(Denied::Budget)?;
        self.open.set(self.open.get() + tokens);
        Ok(i64::try_from(tokens).unwrap())
    }

    fn settle(&self, reservation: i64, spend: Spend, word: &'static str) {
        self.open.set(self.open.get() - reservation as u64);
        self.spent.set(self.spent.get() + spend.total());
        self.words.borrow_mut().push(word);
    }
}

struct Scripted(VecDeque<Result<Answer, ModelError>>);

impl Model for Scripted {
    fn answer(&mut self, _: &Ask<'_>, _: Duration) -> Result<Answer, ModelError> {
        self.0.pop_front().expect("the model is asked too often")
    }
}

#[allow(clippy::unnecessary_wraps, reason = "a line of a script")]
fn skip() -> Result<Answer, ModelError> {
    Ok(Answer {
        text: "<skip/>".into(),
        usage: Some(Usage {
            input: 5_000,
            output: 5,
        }),
    })
}

fn busy(after: Option<u64>) -> Result<Answer, ModelError> {
    Err(ModelError::Retry {
        after: after.map(Duration::from_secs),
        why: "HTTP 529".into(),
    })
}

fn run(
    stage: &Stage,
    ladder: &Mutex<Ladder>,
    script: impl IntoIterator<Item = Result<Answer, ModelError>>,
) -> Driven {
    let episode = Episode {
        prompt: Some(Prompt {
            text: "Fix it".into(),
            at: Millis(stage.now.get()),
            ..Prompt::default()
        }),
        ..Episode::default()
    };
    let vocabulary = Vocabulary::default();
    let rules = Rules {
        vocabulary: &vocabulary,
        language: None,
        answer_tokens_max: 1_000,
    };
    let batch = Batch::new(&episode, "", rules);
    drive(
        &batch,
        &mut Scripted(script.into_iter().collect()),
        ladder,
        stage,
        stage,
    )
}

fn stage() -> Stage {
    let stage = Stage::default();
    stage.limit.set(1_000_000);
    stage
}

#[test]
fn a_model_that_is_busy_is_asked_again_after_the_ladders_waits() {
    let (stage, ladder) = (stage(), Mutex::default());
    let driven = run(&stage, &ladder, [busy(None), busy(Some(7)), skip()]);
    assert_eq!(driven, Driven::Made(Box::default()));
    assert_eq!(*stage.waits.borrow(), [1_000, 7_000]);
    assert_eq!(*stage.words.borrow(), ["failed", "failed", "answered"]);
    assert_eq!(
        lock(&ladder).advice(stage.now()),
        Advice::Ask,
        "success resets it"
    );
}

#[test]
fn the_third_failure_hands_over_and_every_call_is_settled() {
    let (stage, ladder) = (stage(), Mutex::default());
    let prose = Ok(Answer {
        text: "Hello!".into(),
        usage: Some(Usage {
            input: 10,
            output: 2,
        }),
    });
    let driven = run(
        &stage,
        &ladder,
        [Err(ModelError::TimedOut), prose, busy(None)],
    );
    assert!(matches!(driven, Driven::HandOver { .. }), "{driven:?}");
    assert_eq!(*stage.words.borrow(), ["failed", "invalid", "failed"]);
    assert_eq!(stage.open.get(), 0);
    assert!(
        stage.spent.get() > 1_012,
        "what timed out counts as what was reserved"
    );
}

#[test]
fn a_closed_door_hands_over_without_a_second_knock() {
    let (stage, ladder) = (stage(), Mutex::default());
    let closed = Err(ModelError::Auth {
        why: "HTTP 401".into(),
    });
    let driven = run(&stage, &ladder, [closed]);
    assert!(
        matches!(&driven, Driven::HandOver { why } if why.contains("credentials")),
        "{driven:?}"
    );
    assert!(
        matches!(run(&stage, &ladder, []), Driven::HandOver { .. }),
        "nor for the next episode"
    );
    assert_eq!(stage.spent.get(), 0);
}

#[test]
fn a_longer_wait_than_work_can_bear_hands_over() {
    let (stage, ladder) = (stage(), Mutex::default());
    let driven = run(&stage, &ladder, [busy(Some(105))]);
    assert!(matches!(driven, Driven::HandOver { .. }));
    assert!(stage.waits.borrow().is_empty());
}

#[test]
fn a_backlog_does_not_knock_at_a_door_that_was_given_up() {
    let (stage, ladder) = (stage(), Mutex::default());
    let down = || {
        Err(ModelError::Unreachable {
            why: "nobody listens there".into(),
        })
    };
    run(&stage, &ladder, [down(), down(), down()]);
    let old = stage.now.get();
    run(&stage, &ladder, [down()]);
    let stopped = stage.now.get();
    stage.now.set(old - 1);
    assert!(
        matches!(run(&stage, &ladder, []), Driven::HandOver { .. }),
        "older work"
    );
    stage.now.set(stopped + 1);
    assert_eq!(
        run(&stage, &ladder, [skip()]),
        Driven::Made(Box::default()),
        "new work"
    );
}

#[test]
fn an_ending_worker_is_not_waited_for() {
    let stage = Stage {
        stopping: true,
        ..stage()
    };
    assert_eq!(
        run(&stage, &Mutex::default(), [busy(None)]),
        Driven::Interrupted
    );
}

#[test]
fn ten_times_the_budget_of_work_spends_the_budget_and_at_most_one_call_more() {
    let (stage, ladder) = (stage(), Mutex::default());
    stage.limit.set(50_000);
    let mut made = 0;
    for _ in 0..100 {
        match run(&stage, &ladder, [skip()]) {
            Driven::Made(_) => made += 1,
            Driven::HandOver { why } => assert_eq!(why, "the budget of the day is used up"),
            Driven::Interrupted => panic!(),
        }
    }
    assert!(made >= 9, "{made} calls");
    assert!(stage.spent.get() <= 50_000 + 5_005, "{}", stage.spent.get());
}

#[test]
fn a_budget_that_others_hold_is_waited_for_and_a_spent_one_is_not() {
    let (stage, ladder) = (stage(), Mutex::default());
    let wait = || Denied::Budget(NotNow::Wait);
    stage.denied.borrow_mut().extend([wait(), wait()]);
    assert_eq!(run(&stage, &ladder, [skip()]), Driven::Made(Box::default()));
    assert_eq!(*stage.waits.borrow(), [BUDGET_WAIT_MS, BUDGET_WAIT_MS]);
    for denied in [
        Denied::Budget(NotNow::Exhausted(Scope::Session)),
        Denied::Books("the disk is full".into()),
    ] {
        stage.denied.borrow_mut().push_back(denied);
        assert!(matches!(run(&stage, &ladder, []), Driven::HandOver { .. }));
    }
}
