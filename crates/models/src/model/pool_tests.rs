use std::time::Duration;

use super::*;
use crate::model::{ModelError, ModelReply, ModelRequest};

struct NamedModel(&'static str);

impl LanguageModel for NamedModel {
    fn answer(&mut self, _: &ModelRequest<'_>, _: Duration) -> Result<ModelReply, ModelError> {
        Ok(ModelReply { text: self.0.into(), usage: None })
    }
}

#[test]
fn session_gets_its_own_model_once() {
    let mut pool = ModelPool::default();
    pool.give_back(SessionId(1), Box::new(NamedModel("a")), Millis(0));
    assert!(pool.take(SessionId(2)).is_none());
    assert!(pool.take(SessionId(1)).is_some());
    assert!(pool.take(SessionId(1)).is_none());
}

#[test]
fn idle_and_surplus_models_expire() {
    let mut pool = ModelPool::default();
    let many = MODELS_WARM_MAX as i64 + 2;
    for i in 0..many {
        pool.give_back(SessionId(i), Box::new(NamedModel("x")), Millis(i));
    }
    assert_eq!(pool.take_expired(Millis(many)).len(), 2);
    assert!(pool.take(SessionId(1)).is_none() && pool.take(SessionId(2)).is_some());
    let later = Millis(many).plus_seconds(MODEL_IDLE_SECONDS_MAX);
    assert_eq!(pool.take_expired(later).len(), MODELS_WARM_MAX - 1);
    assert!(pool.is_empty());
}
