use claude_mem_core::clock::Millis;
use claude_mem_core::event::{Event, EventBody, EventKey};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::limits::ATTEMPTS_MAX;
use claude_mem_core::queue::LeaseId;
use claude_mem_core::source::TextSource;
use claude_mem_store::Store;
use insta::assert_snapshot;
use rig::Sandbox;

use crate::common::{NOW, sandbox, shown};

/// A store with this many queued events, the first `dead` of them dead.
fn with_events(events: u8, dead: usize) -> Sandbox {
    let home = sandbox();
    home.mem(&["install", "--no-check"]).ok();
    let mut store = Store::open(&home.data_dir().join("claude-mem.db")).expect("opened");
    let now = Millis(NOW);
    for number in 0..events {
        let event = Event::new(
            "claude-code",
            // A failed event blocks its session, so each event has its own.
            ClientSessionId(format!("0000000{number}-0000-7000-8000-000000000000")),
            now.micros(),
            EventBody::Prompt {
                text: "words that no list shows".to_owned(),
                private: false,
                source: TextSource::Prompt,
            },
        );
        store.write(|writes| writes.accept(EventKey([number; 16]), &event, now)).expect("accepted");
    }
    for ready in store.read().sessions_with_work().expect("read").iter().take(dead) {
        for attempt in 0..ATTEMPTS_MAX {
            let later = now.plus_seconds(i64::from(attempt) * 86_400);
            let lease = store
                .write(|writes| writes.lease_session(&ready.client, &ready.session, 1, LeaseId(7), later))
                .expect("leased")
                .expect("it may be taken");
            let ids: Vec<_> = lease.events.iter().map(|event| event.id).collect();
            store.write(|writes| writes.fail(lease.id, &ids, "the model said no", later)).expect("failed");
        }
    }
    home
}

#[test]
fn session_without_a_prompt_waits() {
    let home = sandbox();
    home.mem(&["install", "--no-check"]).ok();
    let mut store = Store::open(&home.data_dir().join("claude-mem.db")).expect("opened");
    let now = Millis(NOW);
    let mut hear = |number: u8, session: &str, body: EventBody| {
        let event = Event::new("claude-code", ClientSessionId(session.to_owned()), now.micros(), body);
        store.write(|writes| writes.accept(EventKey([number; 16]), &event, now)).expect("accepted");
    };
    let opened = || EventBody::SessionStart { source: "startup".to_owned() };
    hear(1, "idle", opened());
    let status = home.mem(&["status"]).ok().stdout;
    assert!(status.contains("queue    0 waiting, 1 waiting for a prompt"), "{status}");
    let listed = home.mem(&["queue", "list"]).ok().stdout;
    assert!(listed.contains("waiting for the session's prompt"), "{listed}");
    let text = "words that no list shows".to_owned();
    hear(2, "idle", EventBody::Prompt { text, private: false, source: TextSource::Prompt });
    let status = home.mem(&["status"]).ok().stdout;
    assert!(status.contains("queue    2 waiting\n"), "{status}");
}

#[test]
fn empty_queue_is_reported() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["queue", "list"])), @"
    the queue is empty
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["queue", "list", "--json"])), @r#"
    {
      "items": [],
      "has_more": false
    }
    [exit 0]
    "#);
    assert_snapshot!(shown(&home, &home.mem(&["queue", "retry", "1"])), @"
    [stderr]
    error: no memories yet in [HOME]/.claude-mem
    [exit 1]
    ");
}

#[test]
fn dead_events_are_listed_retried_and_dropped() {
    let home = with_events(3, 2);
    assert_snapshot!(shown(&home, &home.mem(&["queue", "list"])), @"
    id  state    kind    received  session   attempts  reason
    3   waiting  prompt  just now  00000002  0
    2   dead     prompt  just now  00000001  3         the model said no
    1   dead     prompt  just now  00000000  3         the model said no
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["status"])), @"
    claude-mem 0.1.0  needs attention

    memory   0 memories, 0 summaries and 0 prompts from 0 sessions in 0 projects
    today    nothing yet
    worker   not running; `claude-mem worker start`
    queue    1 waiting, 2 dead
    provider local; no tokens spent
    disk     [SIZE] in [HOME]/.claude-mem

    problem  2 events could not be processed
             claude-mem queue list --state dead
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["queue", "retry", "3"])), @"
    [stderr]
    error: 3 is not a dead event; see `claude-mem queue list --state dead`
    [exit 1]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["queue", "drop", "1", "--dry-run"])), @"
    1 event would be dropped
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["queue", "drop", "1"])), @"
    1 event dropped
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["queue", "retry", "--all", "--json"])), @r#"
    {
      "action": "retried",
      "dry_run": false,
      "ids": [
        2
      ]
    }
    [exit 0]
    "#);
    assert_snapshot!(shown(&home, &home.mem(&["queue", "list", "--state", "dead"])), @"
    no dead events
    [exit 0]
    ");
    assert_eq!(home.mem(&["status", "--json"]).ok().json()["queue"]["waiting"], 2);
}

#[test]
fn queue_list_is_paged() {
    let home = with_events(5, 0);
    assert_snapshot!(shown(&home, &home.mem(&["queue", "list", "--limit", "2", "--offset", "1"])), @"
    id  state    kind    received  session   attempts  reason
    4   waiting  prompt  just now  00000003  0
    3   waiting  prompt  just now  00000002  0
    more with --offset 3
    [exit 0]
    ");
}
