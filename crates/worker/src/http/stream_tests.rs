//! The event stream over a real socket: pages receive changes at their own pace.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::listener::ListenerLimits;
use super::testing::{TestServer, read_response};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::limits::{HTTP_STREAM_ROWS_MAX, HTTP_STREAMS_MAX};
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::testing as events;
use claude_mem_store::{NewObservationMeta, ObservationEdit, RowId, RowKind, Store};

/// A client of the event stream.
struct StreamClient {
    from: BufReader<TcpStream>,
    /// Received text that was not parsed yet, without chunk framing.
    rest: String,
    /// The id of the `connected` event.
    seen: Option<String>,
}

#[derive(Debug)]
struct ReceivedEvent {
    id: Option<String>,
    name: String,
    data: Value,
}

impl StreamClient {
    fn open(stage: &TestServer, last: Option<&str>) -> Self {
        let mut stream = stage.connect();
        let last = last.map_or_else(String::new, |id| format!("last-event-id: {id}\r\n"));
        let (host, token) = (stage.host(), &stage.token);
        let request =
            format!("GET /stream HTTP/1.1\r\nhost: {host}\r\nx-claude-mem-token: {token}\r\n{last}\r\n");
        stream.write_all(request.as_bytes()).unwrap();
        let mut page = Self { from: BufReader::new(stream), rest: String::new(), seen: None };
        let head = read_response(&mut page.from);
        assert_eq!(head.status, 200);
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        assert_eq!(head.header("cache-control"), Some("no-store"));
        let first = page.next();
        assert_eq!(first.name, "connected");
        page.seen = first.id;
        page
    }

    /// The next event of any name.
    fn next(&mut self) -> ReceivedEvent {
        let whole = loop {
            match self.rest.split_once("\n\n") {
                Some((event, rest)) => {
                    let event = event.to_owned();
                    self.rest = rest.to_owned();
                    break event;
                }
                None => assert!(self.read_chunk(), "the stream ended"),
            }
        };
        let mut event = ReceivedEvent { id: None, name: String::new(), data: Value::Null };
        for line in whole.lines() {
            match line.split_once(": ") {
                Some(("id", id)) => event.id = Some(id.to_owned()),
                Some(("event", name)) => name.clone_into(&mut event.name),
                Some(("data", data)) => event.data = serde_json::from_str(data).unwrap(),
                _ => {}
            }
        }
        event
    }

    /// Reads one chunk of the response. False at its end.
    fn read_chunk(&mut self) -> bool {
        let mut size = String::new();
        self.from.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.from.read_exact(&mut chunk).unwrap();
        self.rest.push_str(std::str::from_utf8(&chunk[..size]).unwrap());
        size > 0
    }

    /// The next event with this name.
    fn next_named(&mut self, name: &str) -> ReceivedEvent {
        loop {
            let event = self.next();
            if event.name == name {
                return event;
            }
        }
    }
}

fn save(stage: &TestServer, text: &str) -> i64 {
    let body = json!({ "text": text, "global": true }).to_string();
    let saved = stage.call("POST", "/api/memory/save", &body);
    assert_eq!(saved.status, 200, "{saved:?}");
    saved.json()["id"].as_i64().unwrap()
}

#[test]
fn inserts_edits_and_deletions_are_sent() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    assert_eq!(page.next_named("queue").data["waiting"], 0);
    assert_eq!(page.next_named("spend").data["today"], 0);
    stage.turn("one", 1_000);
    let prompt = page.next_named("prompt");
    assert!(prompt.data["text"].as_str().unwrap().contains("retries"));
    assert_eq!(prompt.data["project"]["name"], "shop");
    let id = save(&stage, "Money is counted in cents");
    loop {
        let event = page.next_named("observation");
        if event.data["id"] == id {
            assert_eq!(event.data["title"], "Money is counted in cents");
            break;
        }
    }
    stage.call("PATCH", &format!("/api/observations/{id}"), r#"{"pinned":true}"#);
    assert_eq!(page.next_named("observation").data["pinned"], true);
    stage.call("DELETE", &format!("/api/observations/{id}"), "");
    assert_eq!(page.next_named("removed").data, json!({ "kind": "observation", "id": id }));
    stage.call("POST", &format!("/api/memory/observation/{id}/restore"), "{}");
    assert_eq!(page.next_named("observation").data["id"], id);
}

#[test]
fn changes_of_other_processes_are_sent() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    let mut store = claude_mem_store::Store::open(&stage.scratch.dir.db()).unwrap();
    let note = claude_mem_recall::manual_edits::ManualNote {
        text: "From the command line",
        global: true,
        ..claude_mem_recall::manual_edits::ManualNote::default()
    };
    claude_mem_recall::manual_edits::save(&mut store, &note, claude_mem_core::clock::Millis(5)).unwrap();
    assert_eq!(page.next_named("observation").data["title"], "From the command line");
}

#[test]
fn edits_by_other_processes_are_sent_on_resume() {
    let stage = TestServer::new();
    let id = save(&stage, "Money is counted in cents");
    let last = save(&stage, "Prices are whole cents");
    let mut page = StreamClient::open(&stage, None);
    // The next event shows that the page has caught up.
    let next = save(&stage, "Taxes are whole cents too");
    let mut seen = page.next_named("observation");
    assert_eq!(seen.data["id"], next);
    let marked = |handle: i64, signal: &str| {
        let body = json!({ "handle": format!("#{handle}"), "signal": signal });
        let told = stage.call("POST", "/api/feedback", &body.to_string());
        assert_eq!(told.status, 200, "{told:?}");
    };
    marked(id, "wrong");
    seen = page.next_named("observation");
    assert_eq!((&seen.data["id"], &seen.data["wrong"]), (&json!(id), &json!(true)));
    drop(page);
    let mut store = Store::open(&stage.scratch.dir.db()).unwrap();
    let pinned = ObservationEdit { pinned: Some(true), ..ObservationEdit::default() };
    let much_later = Millis(4_000_000_000_000);
    store.write(|tx| tx.edit_observation(ObservationId(last), &pinned, much_later)).unwrap();
    let mut page = StreamClient::open(&stage, seen.id.as_deref());
    let told = page.next_named("observation");
    assert_eq!((&told.data["id"], &told.data["pinned"]), (&json!(last), &json!(true)));
}

#[test]
fn resumed_page_gets_missed_events_once() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    save(&stage, "Before it went");
    let last = page.next_named("observation").id.unwrap();
    drop(page);
    let missed = [save(&stage, "While it was away"), save(&stage, "And another")];
    let mut again = StreamClient::open(&stage, Some(&last));
    assert_eq!(
        missed,
        [
            again.next_named("observation").data["id"].as_i64().unwrap(),
            again.next_named("observation").data["id"].as_i64().unwrap()
        ]
    );
    let after = save(&stage, "Now it is back");
    assert_eq!(again.next_named("observation").data["id"], after);
}

#[test]
fn stream_resumes_after_the_feed() {
    let stage = TestServer::new();
    save(&stage, "In the feed");
    let feed = stage.get("/api/feed").json();
    assert_eq!(feed["items"].as_array().map(Vec::len), Some(1));
    let after = save(&stage, "Between the feed and the stream");
    let mut page = StreamClient::open(&stage, feed["seen"].as_str());
    assert_eq!(page.next_named("observation").data["id"], after);
}

#[test]
fn bulk_changes_are_sent_as_missed() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    page.next_named("spend");
    let newest = (HTTP_STREAM_ROWS_MAX + 50) as i64;
    // In one transaction, like a batch of an import: a page sees all of it or nothing.
    let mut other = Store::open(&stage.scratch.dir.db()).unwrap();
    let saved = other.write(|tx| {
        (0..newest).try_for_each(|at| {
            let new = {
                let base = events::observation(&format!("Note {at}"), Millis(5));
                NewObservation {
                    text: ObservationText { kind: ObservationType::DISCOVERY, ..base.text },
                    origin: Origin::Import,
                    ..base
                }
            };
            tx.create_observation(&new, &NewObservationMeta::default()).map(drop)
        })
    });
    saved.unwrap();
    for mut page in [page, StreamClient::open(&stage, Some("0.0.0.0.0.0"))] {
        let (mut missed, mut told) = (0, 0);
        loop {
            let event = page.next();
            missed += u32::from(event.name == "missed");
            told += usize::from(event.name == "observation");
            if event.name == "observation" && event.data["id"] == newest {
                break;
            }
        }
        assert_eq!((missed, told), (1, HTTP_STREAM_ROWS_MAX));
    }
}

#[test]
fn page_without_events_can_resume() {
    let stage = TestServer::new();
    let page = StreamClient::open(&stage, None);
    let seen = page.seen.clone();
    drop(page);
    let id = save(&stage, "While it was away");
    let mut again = StreamClient::open(&stage, seen.as_deref());
    assert_eq!(again.next_named("observation").data["id"], id);
}

#[test]
fn turn_sends_rows_queue_and_spend() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    page.next_named("spend");
    stage
        .worker
        .store
        .with(|store| {
            events::accept(store, &[events::event("one", 1, events::prompt("Count the till"))]);
            Ok(())
        })
        .unwrap();
    assert_eq!(page.next_named("queue").data["waiting"], 1);
    stage.turn("one", 1_000);
    let mut told = std::collections::BTreeSet::new();
    while !["prompt", "observation", "summary", "message", "session"].iter().all(|name| told.contains(*name))
    {
        told.insert(page.next().name);
    }
    let today = claude_mem_core::clock::local_day(claude_mem_core::clock::now().millis());
    stage
        .worker
        .store
        .with(|store| {
            store.write(|tx| {
                let call = tx.reserve_spend(&today, None, "p", "m", "compress", 70, Millis(1))?;
                tx.settle_spend(call, 60, 10, false, "done")
            })
        })
        .unwrap();
    assert_eq!(page.next_named("spend").data["today"], 70);
}

#[test]
fn failure_to_open_is_reported_at_once() {
    let stage = TestServer::new();
    let db = stage.scratch.dir.db();
    std::fs::rename(&db, db.with_extension("away")).unwrap();
    let refused = stage.get("/stream");
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.json()["hint"].is_string());
    std::fs::rename(db.with_extension("away"), &db).unwrap();
}

#[test]
fn foreign_event_ids_are_ignored() {
    let stage = TestServer::new();
    save(&stage, "Before");
    for odd in [
        "",
        "1",
        "1.2.3",
        "a.b.c.d.e.f",
        "-1.0.0.0.0.0",
        "99999999999999999999.0.0.0.0.0",
        "0.0.0.0.0",
        "0.0.0.0.0.0.0",
    ] {
        let mut page = StreamClient::open(&stage, Some(odd));
        let next = save(&stage, &format!("After {odd}"));
        assert_eq!(page.next_named("observation").data["id"], next, "{odd:?}");
    }
}

#[test]
fn stalled_page_blocks_nobody() {
    let stage = TestServer::new();
    let stuck = StreamClient::open(&stage, None);
    let mut quick = StreamClient::open(&stage, None);
    let long = "long ".repeat(4_000);
    let mut newest = 0;
    // Far more than the socket buffers hold.
    for at in 0..200 {
        newest = save(&stage, &format!("{at}. {long}"));
    }
    while quick.next_named("observation").data["id"] != newest {}
    assert_eq!(stage.get("/health").status, 200);
    drop(stuck);
}

#[test]
fn page_that_never_reads_loses_its_slot() {
    let limits = ListenerLimits { write: Duration::from_millis(100), ..ListenerLimits::default() };
    let stage = TestServer::with_limits(limits);
    let stalled = StreamClient::open(&stage, None);
    let later = Instant::now() + Duration::from_hours(10);
    let long = "long ".repeat(4_000);
    // The viewer stops counting once the stream is dropped. If it never is, the runner ends the test.
    while stage.worker.idle.idle_for(later) == Duration::ZERO {
        save(&stage, &format!("{:?} {long}", Instant::now()));
    }
    drop(stalled);
}

#[test]
fn stream_ends_when_the_database_is_replaced() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    let db = stage.scratch.dir.db();
    let away = db.with_extension("away");
    std::fs::rename(&db, &away).unwrap();
    // A complete response: an aborted one would have no last chunk.
    while page.read_chunk() {
        assert!(!page.rest.contains(": nothing new"), "the stream goes on");
    }
    std::fs::rename(&away, &db).unwrap();
}

#[test]
fn open_stream_keeps_the_worker_alive() {
    let stage = TestServer::new();
    let later = Instant::now() + Duration::from_hours(10);
    assert!(stage.worker.idle.idle_for(later) > Duration::ZERO);
    let page = StreamClient::open(&stage, None);
    assert_eq!(stage.worker.idle.idle_for(later), Duration::ZERO);
    drop(page);
    // The disconnect is noticed without a write.
    while stage.worker.idle.idle_for(later) == Duration::ZERO {
        std::thread::yield_now();
    }
}

#[test]
fn streams_are_limited_and_slots_are_freed() {
    let stage = TestServer::new();
    let mut pages: Vec<StreamClient> =
        (0..HTTP_STREAMS_MAX).map(|_| StreamClient::open(&stage, None)).collect();
    let refused = stage.get("/stream");
    assert_eq!(refused.status, 503, "{refused:?}");
    pages.pop();
    while stage.get("/stream").status == 503 {
        std::thread::yield_now();
    }
}

#[test]
fn streams_end_with_the_server() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    let reading = std::thread::spawn(move || while page.read_chunk() {});
    drop(stage);
    // An aborted response would have no last chunk.
    reading.join().unwrap();
}

#[test]
fn session_start_and_end_are_sent_without_rows() {
    let stage = TestServer::new();
    let mut page = StreamClient::open(&stage, None);
    stage.events(&[events::event("one", 1_000, events::prompt("Look at the till"))]);
    page.next_named("prompt");
    stage.events(&[events::event("one", 2_000, events::end())]);
    loop {
        let session = page.next_named("session").data;
        if session["status"] == "completed" {
            assert_eq!(session["clientSession"], "one");
            assert_eq!(session["completedAt"], 2_000_000);
            break;
        }
    }
}

#[test]
fn rows_restored_by_other_processes_are_sent() {
    let stage = TestServer::new();
    let (first, second) = (save(&stage, "The first"), save(&stage, "The second"));
    let mut page = StreamClient::open(&stage, None);
    let mut other = claude_mem_store::Store::open(&stage.scratch.dir.db()).unwrap();
    // Once deleted, the last row has an id above the cursor; the first has not.
    for id in [first, second] {
        let kind = RowKind::Observation;
        stage.call("DELETE", &format!("/api/observations/{id}"), "");
        assert_eq!(page.next_named("removed").data["id"], id);
        assert!(other.write(|tx| tx.undo_forget(RowId::new(kind, id))).unwrap());
        assert_eq!(page.next_named("observation").data["id"], id);
    }
    // Once each.
    let third = save(&stage, "The third");
    assert_eq!(page.next_named("observation").data["id"], third);
}
