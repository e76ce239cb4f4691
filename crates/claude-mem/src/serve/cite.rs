//! Ids that an agent names in its own words: it made use of what it was shown.

use std::collections::HashSet;

use crate::hook::event::Event;
use crate::search::{Handle, RowKey};
use crate::store::{Feedback, Signal, StoreError, Writes};

/// Notes which of the memories that a session was shown the agent names in `text`.
pub(super) fn note(tx: &Writes<'_>, event: &Event, text: &str) -> Result<(), StoreError> {
    let named = named_in(text);
    if named.is_empty() {
        return Ok(());
    }
    let told = tx.feedback_in_session(&event.session.0)?;
    let shown: HashSet<RowKey> = told
        .iter()
        .filter(|entry| matches!(entry.signal, Signal::Injected | Signal::Fetched))
        .map(|entry| (entry.kind, entry.row_id))
        .collect();
    // What it was not shown it did not cite: `#12` may be anything.
    for (kind, row_id) in named.into_iter().filter(|key| shown.contains(key)) {
        tx.record_feedback(&Feedback {
            kind,
            row_id,
            client: &event.client,
            session: &event.session.0,
            agent_id: event.agent_id.as_deref().unwrap_or_default(),
            signal: Signal::Cited,
            place: "message",
            score: None,
            rank: None,
            tokens: 0,
            reason: "",
            at: event.at.millis(),
        })?;
    }
    Ok(())
}

/// `#12`, `S3`, `P7` and `M9`, each once, in the order in which they are named. A bare number
/// names nothing.
fn named_in(text: &str) -> Vec<RowKey> {
    let mut named = Vec::new();
    let is_apart = |c: char| !(c.is_alphanumeric() || c == '#' || c == '_');
    for word in text.split(is_apart) {
        if word.starts_with(['#', 'S', 'P', 'M'])
            && let Ok(handle) = word.parse::<Handle>()
            && !named.contains(&handle.key())
        {
            named.push(handle.key());
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::named_in;
    use crate::store::RowKind::{Message, Observation, Summary};

    #[test]
    fn ids_are_found_in_running_text_and_numbers_are_not() {
        assert_eq!(
            named_in("As #12 (see S3, M9 and #12) says: 7 of 40, v#1x, AES256, foo_#5."),
            [(Observation, 12), (Summary, 3), (Message, 9)]
        );
    }
}
