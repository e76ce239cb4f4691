use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::super::{EvidenceThreshold, MatchEvidence};
use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::{NewRowContext, Store};

/// More words than a prompt of a sentence has.
const LONG_PROMPT: &str = "the harbour map draws ferries beside piers, anchors over buoys, lanterns under bridges and \
    gulls behind sails whenever somebody zooms quickly";

#[test]
fn longer_prompt_is_near_a_pointer_in_words_or_in_meaning() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("m.db")).unwrap();
    let text = ObservationText::new(ObservationType::CHANGE, "Draw the ferries of the harbour");
    let new = NewObservation::from_text(text, Origin::Agent, Millis(1));
    let id = store.write(|tx| tx.create_observation(&new, &NewRowContext::default())).unwrap();
    let row = store.read().observation(id).unwrap();
    let asking = PromptQuestion::read(LONG_PROMPT).unwrap();
    let ask = RecallQuery {
        project: ProjectId(1),
        own: None,
        prompt: LONG_PROMPT,
        shown: &HashSet::new(),
        budget_tokens: 400,
        zone: &TimeZone::UTC,
        threshold: EvidenceThreshold::Prompt,
    };
    let work = WorkFiles { sources: vec![id], ..WorkFiles::default() };
    for (share, cosine, want) in [(0.1, 0.2, 0), (0.1, 0.5, 1), (0.3, 0.0, 1)] {
        let evidence = MatchEvidence { share, cosine, ..MatchEvidence::default() };
        let near = NearMemory { evidence, ..NearMemory::pointer_to(row.clone()) };
        assert_eq!(select_pointers(&ask, &asking, &[near], &work).len(), want, "{share} {cosine}");
    }
}
