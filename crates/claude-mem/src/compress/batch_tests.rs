use std::collections::VecDeque;

use super::*;
use crate::compress::model::{Answer, Usage};
use crate::episode::Prompt;

/// A model that says what it was told to say.
struct Scripted {
    answers: VecDeque<Result<Answer, ModelError>>,
    carried: u64,
    rested: bool,
}

impl Model for Scripted {
    fn answer(&mut self, _: &Ask<'_>, _: Duration) -> Result<Answer, ModelError> {
        self.answers.pop_front().unwrap()
    }

    fn carried_tokens(&self) -> u64 {
        self.carried
    }

    fn rest(&mut self) {
        self.rested = true;
    }
}

fn says(text: &str, usage: Option<Usage>) -> Scripted {
    scripted(Ok(Answer {
        text: text.into(),
        usage,
    }))
}

fn scripted(answer: Result<Answer, ModelError>) -> Scripted {
    Scripted {
        answers: [answer].into(),
        carried: 0,
        rested: false,
    }
}

fn run(model: &mut Scripted, attempts: u32) -> Outcome {
    let episode = Episode {
        prompt: Some(Prompt {
            text: "Fix it".into(),
            ..Prompt::default()
        }),
        finished: true,
        ..Episode::default()
    };
    let vocabulary = Vocabulary::default();
    let rules = Rules {
        vocabulary: &vocabulary,
        language: None,
        answer_tokens_max: 1_000,
    };
    Batch::new(&episode, "", rules).run(model, attempts, Duration::from_secs(1), Millis(0))
}

const TWO: &str = "<observation><title>First</title><narrative>Long enough to weigh more than \
    the other one does</narrative></observation><observation><title>Second</title></observation>\
    <summary><request>r</request><completed>c</completed></summary>";

#[test]
fn the_shares_of_a_call_add_up_to_its_price() {
    let usage = Some(Usage {
        input: 1_000,
        output: 7,
    });
    let outcome = run(&mut says(TWO, usage), 0);
    let Next::Store(distilled) = &outcome.next else {
        panic!("{outcome:?}")
    };
    let shares: Vec<u32> = distilled
        .observations
        .iter()
        .map(|o| o.discovery_tokens)
        .collect();
    let summary = distilled.summary.as_ref().unwrap().discovery_tokens;
    assert_eq!(shares.iter().sum::<u32>() + summary, 1_007);
    assert!(shares[0] > shares[1]);
    assert_eq!(
        outcome.spend,
        Spend {
            input: 1_000,
            output: 7,
            estimated: false
        }
    );
}

#[test]
fn a_valid_answer_without_memories_settles_the_episode() {
    let outcome = run(&mut says("<skip/>", None), 0);
    assert_eq!(outcome.next, Next::Store(Box::default()));
    assert!(outcome.spend.estimated && outcome.spend.input > 300);
    assert_eq!(outcome.spend.output, u64::from(tokens::estimate("<skip/>")));
}

#[test]
fn an_invalid_answer_is_paid_for_and_changes_nothing() {
    let mut model = says(
        "I cannot do that.",
        Some(Usage {
            input: 10,
            output: 5,
        }),
    );
    let outcome = run(&mut model, 0);
    assert!(matches!(outcome.next, Next::Later { .. }));
    assert_eq!(outcome.spend.total(), 15);
    assert!(model.rested, "its conversation starts anew");
}

#[test]
fn the_third_failure_hands_the_episode_over() {
    for (attempts, over) in [(0, false), (1, false), (2, true), (7, true)] {
        for model in [
            &mut says("prose", None),
            &mut scripted(Err(ModelError::TimedOut)),
        ] {
            let next = run(model, attempts).next;
            assert_eq!(
                matches!(next, Next::HandOver { .. }),
                over,
                "after {attempts}: {next:?}"
            );
        }
    }
}

#[test]
fn what_will_not_change_is_handed_over_at_once() {
    for error in [
        ModelError::Refused { usage: None },
        ModelError::TooLong,
        ModelError::Rejected {
            why: "HTTP 400".into(),
        },
    ] {
        assert!(matches!(
            run(&mut scripted(Err(error)), 0).next,
            Next::HandOver { .. }
        ));
    }
}

#[test]
fn a_closed_door_is_no_failure_of_the_episode() {
    for error in [
        ModelError::Auth {
            why: "HTTP 401".into(),
        },
        ModelError::Quota {
            after: None,
            why: "HTTP 429".into(),
        },
        ModelError::Misconfigured {
            why: "HTTP 404".into(),
        },
    ] {
        let outcome = run(&mut scripted(Err(error)), 2);
        assert!(matches!(outcome.next, Next::Later { .. }));
        assert_eq!(outcome.spend, Spend::NOTHING);
        let mut ladder = Ladder::default();
        outcome.tell(&mut ladder, Millis(0), 0);
        assert!(ladder.trouble(Millis(0)).is_some());
    }
}

#[test]
fn a_conversation_is_counted_with_what_it_carries() {
    let episode = Episode::default();
    let vocabulary = Vocabulary::default();
    let rules = Rules {
        vocabulary: &vocabulary,
        language: None,
        answer_tokens_max: 1_000,
    };
    let batch = Batch::new(&episode, "so far", rules);
    let mut model = says("", None);
    let fresh = batch.estimate(&model);
    model.carried = 20_000;
    let warm = batch.estimate(&model);
    assert!(fresh.input < 2_000 && warm.input > 20_000);
    assert_eq!(fresh.output, 1_000);
}
