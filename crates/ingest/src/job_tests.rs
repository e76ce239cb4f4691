use super::*;
use claude_mem_core::event::EventBody;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::limits::LEASE_SECONDS;
use claude_mem_core::memory::{
    CompressionOutput, NewObservation, NewSummary, ObservationText, ObservationType, SummaryText,
};
use claude_mem_core::vocabulary::PREFERENCE;
use claude_mem_store::testing::{WorkerScratch, accept, edit, end, event, prompt, scratch, stop};
use claude_mem_store::{MemoryLevel, PageRequest, RowFilter};

const NOW: Millis = Millis(1_000_000_000);

fn furnished() -> (WorkerScratch, Store) {
    let scratch = scratch();
    let store = Store::open(&scratch.dir.db()).unwrap();
    (scratch, store)
}

fn ready(session: &str) -> ReadySession {
    ReadySession {
        client: "claude-code".into(),
        session: ClientSessionId(session.into()),
        events: 0,
        oldest_at: claude_mem_core::clock::Micros(0),
        newest_at: claude_mem_core::clock::Micros(0),
    }
}

fn take_one(store: &mut Store, lease: i64) -> EpisodeJob {
    lease_job(store, &ready("s"), LeaseId(lease), NOW, true).unwrap().unwrap()
}

fn observed(title: &str, kind: ObservationType, concepts: &[&str]) -> NewObservation {
    NewObservation::from_text(
        ObservationText {
            narrative: format!("{title}, because it was so."),
            concepts: concepts.iter().map(|&concept| concept.into()).collect(),
            files_modified: vec!["src/login.rs".into()],
            ..ObservationText::new(kind, title)
        },
        Origin::Agent,
        NOW,
    )
}

fn made(observations: Vec<NewObservation>) -> CompressedEpisode {
    CompressedEpisode {
        distilled: CompressionOutput {
            observations,
            summary: Some(NewSummary {
                text: SummaryText { request: "Make it faster".into(), ..SummaryText::default() },
                created_at: NOW,
                ..NewSummary::default()
            }),
            ..CompressionOutput::default()
        },
        claims: None,
        made_by: "local".into(),
        carry: Some("{\"kept\":true}".into()),
        rolling_summary: None,
    }
}

#[test]
fn turn_is_stored_and_acknowledged() {
    let (_scratch, mut store) = furnished();
    accept(
        &mut store,
        &[
            event("s", 1, prompt("Make the login faster")),
            event("s", 2, edit("/src/shop/login.rs", "t1")),
            event("s", 3, stop("It is faster now.")),
        ],
    );
    let work = take_one(&mut store, 1);
    assert!(work.has_content());
    let made = made(vec![observed("Login is faster", ObservationType::CHANGE, &[])]);
    let left = work.complete(&mut store, &made).unwrap();
    assert_eq!((left.events, left.prompts.len(), left.messages.len()), (3, 1, 1));
    let reads = store.read();
    let counts = reads.counts().unwrap();
    assert_eq!(counts.queue.done, 3);
    assert_eq!(counts.queue.waiting + counts.queue.leased, 0);
    let stored = reads.observation(left.observations[0]).unwrap();
    assert_eq!(stored.text.title, "Login is faster");
    assert_eq!((stored.prompt_number, stored.branch.as_deref()), (1, Some("main")));
    assert!(stored.read_tokens > 0);
    assert!(reads.summary(left.summary.unwrap()).unwrap().read_tokens > 0);
    assert_eq!(reads.session_carry(work.session).unwrap().as_deref(), Some("{\"kept\":true}"));
}

#[test]
fn lost_lease_stores_nothing() {
    let (_scratch, mut store) = furnished();
    accept(&mut store, &[event("s", 1, prompt("a")), event("s", 2, stop("b"))]);
    let slow = take_one(&mut store, 1);
    let later = NOW.plus_seconds(LEASE_SECONDS + 1);
    let fast = lease_job(&mut store, &ready("s"), LeaseId(2), later, true).unwrap().unwrap();
    let memory = || made(vec![observed("Once", ObservationType::CHANGE, &[])]);
    assert!(matches!(slow.complete(&mut store, &memory()), Err(StoreError::LeaseLost)));
    assert_eq!(store.read().counts().unwrap().prompts, 0);
    fast.complete(&mut store, &memory()).unwrap();
    let counts = store.read().counts().unwrap();
    assert_eq!((counts.prompts, counts.final_messages, counts.observations), (1, 1, 1));
}

#[test]
fn duplicate_observation_is_dropped() {
    let (_scratch, mut store) = furnished();
    let twice = || observed("Login is faster", ObservationType::CHANGE, &[]);
    for (turn, lease) in [("a", 1), ("b", 2)] {
        accept(&mut store, &[event("s", lease, prompt(turn)), event("s", lease, stop(turn))]);
        let work = take_one(&mut store, lease);
        work.complete(&mut store, &made(vec![twice(), twice()])).unwrap();
    }
    assert_eq!(store.read().counts().unwrap().observations, 1);
}

#[test]
fn later_decision_supersedes_a_contradicted_one() {
    let (_scratch, mut store) = furnished();
    let mut ids = Vec::new();
    for (title, lease) in [("MAX_RETRIES is 3", 1), ("MAX_RETRIES is 5", 2)] {
        accept(&mut store, &[event("s", lease, prompt(title)), event("s", lease, stop(title))]);
        let work = take_one(&mut store, lease);
        let decision = observed(title, ObservationType::DECISION, &[]);
        ids.extend(work.complete(&mut store, &made(vec![decision])).unwrap().observations);
    }
    let replaced_by = |id| store.read().observation(id).unwrap().replaced_by;
    assert_eq!(replaced_by(ids[0]), Some(ids[1]));
    assert_eq!(replaced_by(ids[1]), None);
}

#[test]
fn preference_is_only_proposed() {
    let (_scratch, mut store) = furnished();
    accept(&mut store, &[event("s", 1, prompt("a")), event("s", 2, stop("b"))]);
    let work = take_one(&mut store, 1);
    let likes = observed("Prefers tabs", ObservationType::DECISION, &[PREFERENCE]);
    let left = work.complete(&mut store, &made(vec![likes])).unwrap();
    let level = store.read().observation(left.observations[0]).unwrap().level;
    assert_eq!(level, MemoryLevel::Proposed);
}

#[test]
fn resumed_session_is_active_again() {
    let (_scratch, mut store) = furnished();
    accept(&mut store, &[event("s", 1, prompt("a")), event("s", 2, end())]);
    let work = take_one(&mut store, 1);
    work.complete(&mut store, &CompressedEpisode::default()).unwrap();
    let status = |store: &Store| store.read().session(work.session).unwrap().status;
    assert_eq!(status(&store), SessionStatus::Completed);
    let resumed = EventBody::SessionStart { source: "resume".into() };
    accept(&mut store, &[event("s", 3, resumed)]);
    let again = take_one(&mut store, 2);
    again.complete(&mut store, &CompressedEpisode::default()).unwrap();
    assert_eq!(status(&store), SessionStatus::Active);
}

#[test]
fn subagent_and_compaction_messages_are_stored() {
    let (_scratch, mut store) = furnished();
    let mut sub = event("s", 2, EventBody::SubagentStop { last_message: Some("Found three places.".into()) });
    sub.agent_id = Some("a1".into());
    sub.agent_type = Some("Explore".into());
    let compacted = EventBody::PostCompact { summary: "We looked at logins.".into() };
    accept(
        &mut store,
        &[event("s", 1, prompt("look")), sub, event("s", 3, compacted), event("s", 4, stop("Done."))],
    );
    let work = take_one(&mut store, 1);
    assert_eq!(work.episode.compact_summary.as_deref(), Some("We looked at logins."));
    work.complete(&mut store, &CompressedEpisode::default()).unwrap();
    let of_session = RowFilter { session: Some(work.session), oldest_first: true, ..RowFilter::default() };
    let messages = store.read().final_messages(&of_session, PageRequest::first(10)).unwrap();
    let said: Vec<_> =
        messages.items.iter().map(|message| (message.agent_type.as_deref(), message.text.as_str())).collect();
    assert_eq!(
        said,
        [
            (Some("Explore"), "Found three places."),
            (Some(COMPACT_AGENT_TYPE), "We looked at logins."),
            (None, "Done."),
        ]
    );
}

#[test]
fn ignored_session_stores_nothing() {
    let (_scratch, mut store) = furnished();
    let session = ClientSessionId("s".into());
    store.write(|tx| tx.ignore_session("claude-code", &session, NOW)).unwrap();
    accept(&mut store, &[event("s", 1, prompt("a")), event("s", 2, stop("b"))]);
    let work = take_one(&mut store, 1);
    assert!(!work.has_content());
    work.complete(&mut store, &made(vec![observed("x", ObservationType::CHANGE, &[])])).unwrap();
    let counts = store.read().counts().unwrap();
    assert_eq!((counts.prompts, counts.final_messages, counts.observations), (0, 0, 0));
    assert_eq!((counts.projects, counts.summaries, counts.queue.done), (0, 0, 2));
}
