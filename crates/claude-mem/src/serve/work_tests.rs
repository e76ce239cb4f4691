use super::*;
use crate::hook::event::Body;
use crate::ids::ClientSessionId;
use crate::limits::LEASE_SECONDS;
use crate::memory::{Distilled, NewObservation, NewSummary, ObservationType};
use crate::serve::testing::{Scratch, accept, edit, end, event, prompt, scratch, stop};
use crate::store::{Filter, Level, Page};
use crate::vocabulary::PREFERENCE;

const NOW: Millis = Millis(1_000_000_000);

fn furnished() -> (Scratch, Store) {
    let scratch = scratch();
    let store = Store::open(&scratch.dir.db()).unwrap();
    (scratch, store)
}

fn ready(session: &str) -> ReadySession {
    ReadySession {
        client: "claude-code".into(),
        session: ClientSessionId(session.into()),
        events: 0,
        oldest_at: crate::clock::Micros(0),
        newest_at: crate::clock::Micros(0),
    }
}

fn take_one(store: &mut Store, lease: i64) -> Work {
    take(store, &ready("s"), LeaseId(lease), NOW, true)
        .unwrap()
        .unwrap()
}

fn observed(title: &str, kind: ObservationType, concepts: &[&str]) -> NewObservation {
    NewObservation {
        kind,
        title: title.into(),
        subtitle: String::new(),
        narrative: format!("{title}, because it was so."),
        facts: Vec::new(),
        concepts: concepts.iter().map(|&concept| concept.into()).collect(),
        files_read: Vec::new(),
        files_modified: vec!["src/login.rs".into()],
        origin: Origin::Agent,
        created_at: NOW,
        discovery_tokens: 0,
    }
}

fn made(observations: Vec<NewObservation>) -> Made {
    Made {
        distilled: Distilled {
            observations,
            summary: Some(NewSummary {
                request: "Make it faster".into(),
                created_at: NOW,
                ..NewSummary::default()
            }),
        },
        by: "local".into(),
        carry: Some("{\"kept\":true}".into()),
        rolling_summary: None,
    }
}

#[test]
fn a_turn_leaves_its_words_its_memories_and_an_empty_queue() {
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
    assert!(work.says_something());
    let made = made(vec![observed(
        "Login is faster",
        ObservationType::CHANGE,
        &[],
    )]);
    let left = work.finish(&mut store, &made).unwrap();
    assert_eq!(
        (left.events, left.prompts.len(), left.messages.len()),
        (3, 1, 1)
    );
    let reads = store.read();
    let counts = reads.counts().unwrap();
    assert_eq!(counts.queue.done, 3);
    assert_eq!(counts.queue.waiting + counts.queue.leased, 0);
    let stored = reads.observation(left.observations[0]).unwrap();
    assert_eq!(stored.title, "Login is faster");
    assert_eq!(
        (stored.prompt_number, stored.branch.as_deref()),
        (1, Some("main"))
    );
    assert!(stored.read_tokens > 0);
    assert!(reads.summary(left.summary.unwrap()).unwrap().read_tokens > 0);
    assert_eq!(
        reads.session_carry(work.session).unwrap().as_deref(),
        Some("{\"kept\":true}")
    );
}

#[test]
fn whoever_lost_the_lease_stores_nothing() {
    let (_scratch, mut store) = furnished();
    accept(
        &mut store,
        &[event("s", 1, prompt("a")), event("s", 2, stop("b"))],
    );
    let slow = take_one(&mut store, 1);
    let later = NOW.plus_seconds(LEASE_SECONDS + 1);
    let fast = take(&mut store, &ready("s"), LeaseId(2), later, true)
        .unwrap()
        .unwrap();
    let memory = || made(vec![observed("Once", ObservationType::CHANGE, &[])]);
    assert!(matches!(
        slow.finish(&mut store, &memory()),
        Err(StoreError::LeaseLost)
    ));
    assert_eq!(store.read().counts().unwrap().prompts, 0);
    fast.finish(&mut store, &memory()).unwrap();
    let counts = store.read().counts().unwrap();
    assert_eq!(
        (counts.prompts, counts.final_messages, counts.observations),
        (1, 1, 1)
    );
}

#[test]
fn what_the_session_said_already_is_not_said_again() {
    let (_scratch, mut store) = furnished();
    let twice = || observed("Login is faster", ObservationType::CHANGE, &[]);
    for (turn, lease) in [("a", 1), ("b", 2)] {
        accept(
            &mut store,
            &[
                event("s", lease, prompt(turn)),
                event("s", lease, stop(turn)),
            ],
        );
        let work = take_one(&mut store, lease);
        work.finish(&mut store, &made(vec![twice(), twice()]))
            .unwrap();
    }
    assert_eq!(store.read().counts().unwrap().observations, 1);
}

#[test]
fn a_later_decision_takes_the_place_of_the_one_it_contradicts() {
    let (_scratch, mut store) = furnished();
    let mut ids = Vec::new();
    for (title, lease) in [("MAX_RETRIES is 3", 1), ("MAX_RETRIES is 5", 2)] {
        accept(
            &mut store,
            &[
                event("s", lease, prompt(title)),
                event("s", lease, stop(title)),
            ],
        );
        let work = take_one(&mut store, lease);
        let decision = observed(title, ObservationType::DECISION, &[]);
        ids.extend(
            work.finish(&mut store, &made(vec![decision]))
                .unwrap()
                .observations,
        );
    }
    let replaced_by = |id| store.read().observation(id).unwrap().replaced_by;
    assert_eq!(replaced_by(ids[0]), Some(ids[1]));
    assert_eq!(replaced_by(ids[1]), None);
}

#[test]
fn a_preference_is_only_proposed() {
    let (_scratch, mut store) = furnished();
    accept(
        &mut store,
        &[event("s", 1, prompt("a")), event("s", 2, stop("b"))],
    );
    let work = take_one(&mut store, 1);
    let likes = observed("Prefers tabs", ObservationType::DECISION, &[PREFERENCE]);
    let left = work.finish(&mut store, &made(vec![likes])).unwrap();
    let level = store
        .read()
        .observation(left.observations[0])
        .unwrap()
        .level;
    assert_eq!(level, Level::Proposed);
}

#[test]
fn a_session_ends_and_a_resumed_one_is_active_again() {
    let (_scratch, mut store) = furnished();
    accept(
        &mut store,
        &[event("s", 1, prompt("a")), event("s", 2, end())],
    );
    let work = take_one(&mut store, 1);
    work.finish(&mut store, &Made::default()).unwrap();
    let status = |store: &Store| store.read().session(work.session).unwrap().status;
    assert_eq!(status(&store), SessionStatus::Completed);
    let resumed = Body::SessionStart {
        source: "resume".into(),
    };
    accept(&mut store, &[event("s", 3, resumed)]);
    let again = take_one(&mut store, 2);
    again.finish(&mut store, &Made::default()).unwrap();
    assert_eq!(status(&store), SessionStatus::Active);
}

#[test]
fn subagents_and_compactions_keep_their_own_words() {
    let (_scratch, mut store) = furnished();
    let mut sub = event(
        "s",
        2,
        Body::SubagentStop {
            last_message: Some("Found three places.".into()),
        },
    );
    sub.agent_id = Some("a1".into());
    sub.agent_type = Some("Explore".into());
    let compacted = Body::PostCompact {
        summary: "We looked at logins.".into(),
    };
    accept(
        &mut store,
        &[
            event("s", 1, prompt("look")),
            sub,
            event("s", 3, compacted),
            event("s", 4, stop("Done.")),
        ],
    );
    let work = take_one(&mut store, 1);
    assert_eq!(
        work.episode.compact_summary.as_deref(),
        Some("We looked at logins.")
    );
    work.finish(&mut store, &Made::default()).unwrap();
    let of_session = Filter {
        session: Some(work.session),
        oldest_first: true,
        ..Filter::default()
    };
    let messages = store
        .read()
        .final_messages(&of_session, Page::first(10))
        .unwrap();
    let said: Vec<_> = messages
        .items
        .iter()
        .map(|message| (message.agent_type.as_deref(), message.text.as_str()))
        .collect();
    assert_eq!(
        said,
        [
            (Some("Explore"), "Found three places."),
            (Some(COMPACT), "We looked at logins."),
            (None, "Done."),
        ]
    );
}

#[test]
fn an_ignored_session_leaves_nothing_but_an_empty_queue() {
    let (_scratch, mut store) = furnished();
    let session = ClientSessionId("s".into());
    store
        .write(|tx| tx.ignore_session("claude-code", &session, NOW))
        .unwrap();
    accept(
        &mut store,
        &[event("s", 1, prompt("a")), event("s", 2, stop("b"))],
    );
    let work = take_one(&mut store, 1);
    assert!(!work.says_something());
    work.finish(
        &mut store,
        &made(vec![observed("x", ObservationType::CHANGE, &[])]),
    )
    .unwrap();
    let counts = store.read().counts().unwrap();
    assert_eq!(
        (counts.prompts, counts.final_messages, counts.observations),
        (0, 0, 0)
    );
    assert_eq!(
        (counts.projects, counts.summaries, counts.queue.done),
        (0, 0, 2)
    );
}
