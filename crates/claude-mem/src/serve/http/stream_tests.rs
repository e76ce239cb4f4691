//! Pages are told what happens, at their own pace.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::testing::{Stage, read};
use crate::clock::Millis;
use crate::ids::ObservationId;
use crate::limits::{HTTP_STREAM_ROWS_MAX, HTTP_STREAMS_MAX};
use crate::memory::{NewObservation, ObservationType, Origin};
use crate::serve::testing as events;
use crate::store::{ObservationEdit, RowKind, Store, Stored};

/// One page that listens.
struct Page {
    from: BufReader<TcpStream>,
    /// What came and was not looked at yet, chunks put together.
    rest: String,
    /// The id that it was greeted with.
    seen: Option<String>,
}

#[derive(Debug)]
struct Event {
    id: Option<String>,
    name: String,
    data: Value,
}

impl Page {
    fn open(stage: &Stage, last: Option<&str>) -> Self {
        let mut stream = stage.connect();
        let last = last.map_or_else(String::new, |id| format!("last-event-id: {id}\r\n"));
        let (host, token) = (stage.host(), &stage.token);
        let request = format!(
            "GET /stream HTTP/1.1\r\nhost: {host}\r\nx-claude-mem-token: {token}\r\n{last}\r\n"
        );
        stream.write_all(request.as_bytes()).unwrap();
        let mut page = Self {
            from: BufReader::new(stream),
            rest: String::new(),
            seen: None,
        };
        let head = read(&mut page.from);
        assert_eq!(head.status, 200);
        assert_eq!(head.header("content-type"), Some("text/event-stream"));
        let first = page.next();
        assert_eq!(first.name, "connected");
        page.seen = first.id;
        page
    }

    /// The next event, whatever it is.
    fn next(&mut self) -> Event {
        let whole = loop {
            match self.rest.split_once("\n\n") {
                Some((event, rest)) => {
                    let event = event.to_owned();
                    self.rest = rest.to_owned();
                    break event;
                }
                None => assert!(self.chunk(), "the stream ended"),
            }
        };
        let mut event = Event {
            id: None,
            name: String::new(),
            data: Value::Null,
        };
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

    /// Reads one chunk of the answer. False at its end.
    fn chunk(&mut self) -> bool {
        let mut size = String::new();
        self.from.read_line(&mut size).unwrap();
        let size = usize::from_str_radix(size.trim_end(), 16).unwrap();
        let mut chunk = vec![0; size + 2];
        self.from.read_exact(&mut chunk).unwrap();
        self.rest
            .push_str(std::str::from_utf8(&chunk[..size]).unwrap());
        size > 0
    }

    /// The next event of this name.
    fn until(&mut self, name: &str) -> Event {
        loop {
            let event = self.next();
            if event.name == name {
                return event;
            }
        }
    }
}

fn save(stage: &Stage, text: &str) -> i64 {
    let body = json!({ "text": text, "global": true }).to_string();
    let saved = stage.call("POST", "/api/memory/save", &body);
    assert_eq!(saved.status, 200, "{saved:?}");
    saved.json()["id"].as_i64().unwrap()
}

#[test]
fn what_is_stored_changed_and_forgotten_is_told() {
    let stage = Stage::new();
    let mut page = Page::open(&stage, None);
    assert_eq!(page.until("queue").data["waiting"], 0);
    assert_eq!(page.until("spend").data["today"], 0);
    stage.turn("one", 1_000);
    let prompt = page.until("prompt");
    assert!(prompt.data["text"].as_str().unwrap().contains("retries"));
    assert_eq!(prompt.data["project"]["name"], "shop");
    let id = save(&stage, "Money is counted in cents");
    loop {
        let event = page.until("observation");
        if event.data["id"] == id {
            assert_eq!(event.data["title"], "Money is counted in cents");
            break;
        }
    }
    stage.call(
        "PATCH",
        &format!("/api/observations/{id}"),
        r#"{"pinned":true}"#,
    );
    assert_eq!(page.until("observation").data["pinned"], true);
    stage.call("DELETE", &format!("/api/observations/{id}"), "");
    assert_eq!(
        page.until("removed").data,
        json!({ "kind": "observation", "id": id })
    );
    stage.call(
        "POST",
        &format!("/api/memory/observation/{id}/restore"),
        "{}",
    );
    assert_eq!(page.until("observation").data["id"], id);
}

#[test]
fn what_another_process_does_is_told_too() {
    let stage = Stage::new();
    let mut page = Page::open(&stage, None);
    let mut store = crate::store::Store::open(&stage.scratch.dir.db()).unwrap();
    let note = crate::remember::Note {
        text: "From the command line",
        global: true,
        ..crate::remember::Note::default()
    };
    crate::remember::save(&mut store, &note, crate::clock::Millis(5)).unwrap();
    assert_eq!(
        page.until("observation").data["title"],
        "From the command line"
    );
}

#[test]
fn what_another_process_corrects_is_told_also_to_a_page_that_was_away() {
    let stage = Stage::new();
    let id = save(&stage, "Money is counted in cents");
    let last = save(&stage, "Prices are whole cents");
    let mut page = Page::open(&stage, None);
    // It has caught up when it is told what comes next.
    let next = save(&stage, "Taxes are whole cents too");
    let mut seen = page.until("observation");
    assert_eq!(seen.data["id"], next);
    let marked = |handle: i64, signal: &str| {
        let body = json!({ "handle": format!("#{handle}"), "signal": signal });
        let told = stage.call("POST", "/api/feedback", &body.to_string());
        assert_eq!(told.status, 200, "{told:?}");
    };
    marked(id, "wrong");
    seen = page.until("observation");
    assert_eq!(
        (&seen.data["id"], &seen.data["wrong"]),
        (&json!(id), &json!(true))
    );
    drop(page);
    let mut store = Store::open(&stage.scratch.dir.db()).unwrap();
    let pinned = ObservationEdit {
        pinned: Some(true),
        ..ObservationEdit::default()
    };
    let much_later = Millis(4_000_000_000_000);
    store
        .write(|tx| tx.edit_observation(ObservationId(last), &pinned, much_later))
        .unwrap();
    let mut page = Page::open(&stage, seen.id.as_deref());
    let told = page.until("observation");
    assert_eq!(
        (&told.data["id"], &told.data["pinned"]),
        (&json!(last), &json!(true))
    );
}

#[test]
fn a_page_that_comes_back_is_told_what_it_missed_and_nothing_twice() {
    let stage = Stage::new();
    let mut page = Page::open(&stage, None);
    save(&stage, "Before it went");
    let last = page.until("observation").id.unwrap();
    drop(page);
    let missed = [
        save(&stage, "While it was away"),
        save(&stage, "And another"),
    ];
    let mut again = Page::open(&stage, Some(&last));
    assert_eq!(
        missed,
        [
            again.until("observation").data["id"].as_i64().unwrap(),
            again.until("observation").data["id"].as_i64().unwrap()
        ]
    );
    let after = save(&stage, "Now it is back");
    assert_eq!(again.until("observation").data["id"], after);
}

#[test]
fn what_came_after_the_feed_was_read_is_told_and_nothing_of_the_feed() {
    let stage = Stage::new();
    save(&stage, "In the feed");
    let feed = stage.get("/api/feed").json();
    assert_eq!(feed["items"].as_array().map(Vec::len), Some(1));
    let after = save(&stage, "Between the feed and the stream");
    let mut page = Page::open(&stage, feed["seen"].as_str());
    assert_eq!(page.until("observation").data["id"], after);
}

#[test]
fn masses_are_not_told_one_by_one() {
    let stage = Stage::new();
    let mut page = Page::open(&stage, None);
    page.until("spend");
    let newest = (HTTP_STREAM_ROWS_MAX + 50) as i64;
    // In one go, as an import's batch comes: a page is told all of it or none.
    let mut other = Store::open(&stage.scratch.dir.db()).unwrap();
    let saved = other.write(|tx| {
        (0..newest).try_for_each(|at| {
            let new = NewObservation {
                kind: ObservationType::DISCOVERY,
                origin: Origin::Import,
                ..events::observation(&format!("Note {at}"), Millis(5))
            };
            tx.create_observation(&new, &Stored::default()).map(drop)
        })
    });
    saved.unwrap();
    for mut page in [page, Page::open(&stage, Some("0.0.0.0.0"))] {
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
fn a_page_that_was_told_nothing_yet_can_come_back_all_the_same() {
    let stage = Stage::new();
    let page = Page::open(&stage, None);
    let seen = page.seen.clone();
    drop(page);
    let id = save(&stage, "While it was away");
    let mut again = Page::open(&stage, seen.as_deref());
    assert_eq!(again.until("observation").data["id"], id);
}

#[test]
fn a_turn_is_told_in_full_with_what_waits_and_what_it_cost() {
    let stage = Stage::new();
    let mut page = Page::open(&stage, None);
    page.until("spend");
    stage
        .worker
        .store
        .with(|store| {
            events::accept(
                store,
                &[events::event("one", 1, events::prompt("Count the till"))],
            );
            Ok(())
        })
        .unwrap();
    assert_eq!(page.until("queue").data["waiting"], 1);
    stage.turn("one", 1_000);
    let mut told = std::collections::BTreeSet::new();
    while !["prompt", "observation", "summary", "message", "session"]
        .iter()
        .all(|name| told.contains(*name))
    {
        told.insert(page.next().name);
    }
    let today = crate::clock::local_day(crate::clock::now().millis());
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
    assert_eq!(page.until("spend").data["today"], 70);
}

#[test]
fn a_stream_that_cannot_begin_says_so_at_once() {
    let stage = Stage::new();
    let db = stage.scratch.dir.db();
    std::fs::rename(&db, db.with_extension("away")).unwrap();
    let refused = stage.get("/stream");
    assert_eq!(refused.status, 503, "{refused:?}");
    assert!(refused.json()["hint"].is_string());
    std::fs::rename(db.with_extension("away"), &db).unwrap();
}

#[test]
fn an_id_that_is_not_ours_is_as_good_as_none() {
    let stage = Stage::new();
    save(&stage, "Before");
    for odd in [
        "",
        "1",
        "1.2.3",
        "a.b.c.d.e",
        "-1.0.0.0.0",
        "99999999999999999999.0.0.0.0",
        "0.0.0.0",
        "0.0.0.0.0.0",
    ] {
        let mut page = Page::open(&stage, Some(odd));
        let next = save(&stage, &format!("After {odd}"));
        assert_eq!(page.until("observation").data["id"], next, "{odd:?}");
    }
}

#[test]
fn a_page_that_does_not_read_holds_up_nobody() {
    let stage = Stage::new();
    let stuck = Page::open(&stage, None);
    let mut quick = Page::open(&stage, None);
    let long = "long ".repeat(4_000);
    let mut newest = 0;
    // Far more than the sockets' buffers hold.
    for at in 0..200 {
        newest = save(&stage, &format!("{at}. {long}"));
    }
    while quick.until("observation").data["id"] != newest {}
    assert_eq!(stage.get("/health").status, 200);
    drop(stuck);
}

#[test]
fn the_worker_stays_while_somebody_looks_and_not_longer() {
    let stage = Stage::new();
    let later = Instant::now() + Duration::from_hours(10);
    assert!(stage.worker.presence.idle_for(later) > Duration::ZERO);
    let page = Page::open(&stage, None);
    assert_eq!(stage.worker.presence.idle_for(later), Duration::ZERO);
    drop(page);
    // The page's end is noticed by itself; there is nothing to wait for but that.
    while stage.worker.presence.idle_for(later) == Duration::ZERO {
        std::thread::yield_now();
    }
}

#[test]
fn there_is_a_limit_to_pages_and_a_page_that_goes_makes_room() {
    let stage = Stage::new();
    let mut pages: Vec<Page> = (0..HTTP_STREAMS_MAX)
        .map(|_| Page::open(&stage, None))
        .collect();
    let refused = stage.get("/stream");
    assert_eq!(refused.status, 503, "{refused:?}");
    pages.pop();
    while stage.get("/stream").status == 503 {
        std::thread::yield_now();
    }
}

#[test]
fn streams_end_with_the_server() {
    let stage = Stage::new();
    let mut page = Page::open(&stage, None);
    let reading = std::thread::spawn(move || while page.chunk() {});
    drop(stage);
    // It ended in order; an answer that breaks off has no last chunk.
    reading.join().unwrap();
}

#[test]
fn a_session_that_begins_or_ends_is_told_without_a_row() {
    let stage = Stage::new();
    let mut page = Page::open(&stage, None);
    stage.events(&[events::event(
        "one",
        1_000,
        events::prompt("Look at the till"),
    )]);
    page.until("prompt");
    stage.events(&[events::event("one", 2_000, events::end())]);
    loop {
        let session = page.until("session").data;
        if session["status"] == "completed" {
            assert_eq!(session["clientSession"], "one");
            assert_eq!(session["completedAt"], 2_000_000);
            break;
        }
    }
}

#[test]
fn what_another_process_brings_back_is_told() {
    let stage = Stage::new();
    let (first, second) = (save(&stage, "The first"), save(&stage, "The second"));
    let mut page = Page::open(&stage, None);
    let mut other = crate::store::Store::open(&stage.scratch.dir.db()).unwrap();
    // The last one has a number above the mark once it is gone; the first has not.
    for id in [first, second] {
        let kind = RowKind::Observation;
        stage.call("DELETE", &format!("/api/observations/{id}"), "");
        assert_eq!(page.until("removed").data["id"], id);
        assert!(other.write(|tx| tx.undo_forget(kind, id)).unwrap());
        assert_eq!(page.until("observation").data["id"], id);
    }
    // Once each.
    let third = save(&stage, "The third");
    assert_eq!(page.until("observation").data["id"], third);
}
