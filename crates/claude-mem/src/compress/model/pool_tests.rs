use std::time::Duration;

use super::*;
use crate::compress::model::{Answer, Ask, ModelError};

struct Named(&'static str);

impl Model for Named {
    fn answer(&mut self, _: &Ask<'_>, _: Duration) -> Result<Answer, ModelError> {
        Ok(Answer {
            text: self.0.into(),
            usage: None,
        })
    }
}

#[test]
fn a_session_gets_its_own_model_back_and_only_once() {
    let mut pool = Pool::default();
    pool.give_back(SessionId(1), Box::new(Named("a")), Millis(0));
    assert!(pool.take(SessionId(2)).is_none());
    assert!(pool.take(SessionId(1)).is_some());
    assert!(pool.take(SessionId(1)).is_none());
}

#[test]
fn what_is_idle_or_too_many_is_let_go_longest_idle_first() {
    let mut pool = Pool::default();
    let many = MODELS_WARM_MAX as i64 + 2;
    for i in 0..many {
        pool.give_back(SessionId(i), Box::new(Named("x")), Millis(i));
    }
    assert_eq!(pool.sweep(Millis(many)).len(), 2);
    assert!(pool.take(SessionId(1)).is_none() && pool.take(SessionId(2)).is_some());
    let later = Millis(many).plus_seconds(MODEL_IDLE_SECONDS_MAX);
    assert_eq!(pool.sweep(later).len(), MODELS_WARM_MAX - 1);
    assert!(pool.is_empty());
}
