//! Detects citations: ids of shown memories that an agent names in its messages. A citation is
//! feedback that the memory was useful.

use std::collections::HashSet;

use claude_mem_core::event::Event;
use claude_mem_store::{FeedbackSignal, NewFeedback, RowId, StoreError, StoreWriter};

/// Records a citation for each memory named in `text` that the session was shown.
pub(super) fn record_citations(tx: &StoreWriter<'_>, event: &Event, text: &str) -> Result<(), StoreError> {
    let named = cited_ids(text);
    if named.is_empty() {
        return Ok(());
    }
    let told = tx.feedback_for_session(&event.session.0)?;
    let shown: HashSet<RowId> = told
        .iter()
        .filter(|entry| matches!(entry.signal, FeedbackSignal::Injected | FeedbackSignal::Fetched))
        .map(|entry| RowId::new(entry.kind, entry.row_id))
        .collect();
    // Only shown memories count: any other `#12` may be, say, an issue number.
    for named in named {
        // The agent may name a memory by the number it was shown under.
        let Some(RowId { kind, row_id }) = tx.resolve_row(named)?.current(named) else {
            continue;
        };
        if !shown.contains(&RowId::new(kind, row_id)) {
            continue;
        }
        tx.record_feedback(&NewFeedback {
            kind,
            row_id,
            client: &event.client,
            session: &event.session.0,
            agent_id: event.agent_id.as_deref().unwrap_or_default(),
            signal: FeedbackSignal::Cited,
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

/// The ids in a text (`#12`, `S3`, `P7`, `M9`, `A4`), each once, in order. A bare number is not an id.
fn cited_ids(text: &str) -> Vec<RowId> {
    let mut named = Vec::new();
    let is_apart = |c: char| !(c.is_alphanumeric() || c == '#' || c == '_');
    for word in text.split(is_apart) {
        if word.starts_with(['#', 'S', 'P', 'M', 'A'])
            && let Ok(handle) = word.parse::<RowId>()
            && !named.contains(&handle)
        {
            named.push(handle);
        }
    }
    named
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_mem_store::RowKind::{Message, Observation, Summary};

    #[test]
    fn ids_are_found_in_text_and_bare_numbers_are_not() {
        assert_eq!(
            cited_ids("As #12 (see S3, M9 and #12) says: 7 of 40, v#1x, AES256, foo_#5."),
            [RowId::new(Observation, 12), RowId::new(Summary, 3), RowId::new(Message, 9)]
        );
    }
}
