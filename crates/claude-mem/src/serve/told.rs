//! What a hook asks the worker at a moment of need.

use serde::{Deserialize, Serialize};

use super::worker::Worker;
use crate::clock;
use crate::context::moment::Moment;
use crate::context::recall::Recalled;
use crate::store::StoreError;

/// What the agent is to be told; empty: nothing.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Told {
    pub text: String,
}

/// What comes to mind, by words and by meaning.
pub(super) fn recall(worker: &Worker, moment: &Moment) -> Result<Recalled, StoreError> {
    worker.warm.with(|engine| {
        engine.view(|reads, mut leg| moment.recall(&reads, leg.as_mut(), &clock::zone()))
    })
}

/// Notes it in the ledger, once the hook has heard it.
pub(super) fn heard(
    worker: &Worker,
    moment: &Moment,
    recalled: &Recalled,
) -> Result<(), StoreError> {
    let entries = moment
        .listener
        .told(moment.need.place(), &recalled.items, clock::now().millis());
    worker.store.with(|store| {
        store.write(|tx| {
            entries
                .iter()
                .try_for_each(|entry| tx.record_feedback(entry))
        })
    })
}
