//! Lists: every page, every filter, and no unknown parameter.

use serde_json::{Value, json};

use super::route::{RouteAction, RouteMethod};
use super::testing::TestServer;
use crate::http::routes::routes;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::SessionId;
use claude_mem_core::limits::HTTP_SESSION_ROWS_MAX;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_store::testing as events;
use claude_mem_store::{NewRowContext, StoreWriter};

/// Three sessions of one turn each, in two projects.
fn stage() -> TestServer {
    let stage = TestServer::with_turn();
    // Another subject: what two sessions say alike is one observation.
    let message =
        "The cart keeps its items because the cookie outlives the login. I changed billing/retry.rs.";
    stage.events(&[
        events::event("two", 2_000, events::prompt("Why does the cart keep its items?")),
        events::event("two", 2_001, events::edit("/src/shop/billing/retry.rs", "two-e1")),
        events::event("two", 2_002, events::stop(message)),
        events::event("two", 2_003, events::end()),
    ]);
    stage.leave_account();
    let mut other = events::event("three", 3_000, events::prompt("Bake the bread"));
    other.project = Some(hint("bakery"));
    stage.events(&[other]);
    for (session, handle) in [("two", "#1"), ("three", "#2")] {
        let body = json!({ "handle": handle, "signal": "useful" }).to_string();
        assert_eq!(stage.call("POST", "/api/feedback", &body).status, 200);
        let inject = json!({ "project": "shop", "sessionId": session }).to_string();
        assert_eq!(stage.call("POST", "/api/context/inject", &inject).status, 200);
    }
    spend(&stage);
    stage
}

fn hint(name: &str) -> ProjectHint {
    ProjectHint {
        name: name.into(),
        keys: vec![format!("path:/src/{name}")],
        root: format!("/src/{name}"),
        branch: None,
    }
}

fn spend(stage: &TestServer) {
    let spent = stage.worker.store.with(|store| {
        store.write(|tx| {
            (0..3).try_for_each(|at| {
                tx.reserve_spend("2026-11-16", None, "p", "m", "compress", 9, Millis(at)).map(drop)
            })
        })
    });
    spent.unwrap();
}

fn items(answer: &Value) -> Vec<Value> {
    answer["items"].as_array().unwrap().clone()
}

#[test]
fn every_list_can_be_paged_to_its_end() {
    let stage = stage();
    for path in [
        "/api/observations?",
        "/api/summaries?",
        "/api/open-items?all=true&",
        "/api/prompts?",
        "/api/messages?",
        "/api/sessions?",
        "/api/projects?",
        "/api/queue?",
        "/api/spend?",
        "/api/ledger?row=%231&",
        "/api/ledger?session=two&",
        "/api/search?query=retries&",
    ] {
        let whole = stage.get(&format!("{path}limit=200")).json();
        assert_eq!((&whole["limit"], &whole["hasMore"]), (&json!(200), &json!(false)));
        let all = items(&whole);
        let mut walked = Vec::new();
        loop {
            let offset = walked.len();
            let page = stage.get(&format!("{path}limit=1&offset={offset}")).json();
            assert_eq!((&page["limit"], &page["offset"]), (&json!(1), &json!(offset)), "{path}");
            let found = items(&page);
            assert_eq!(found.len(), 1, "{path} at {offset}: {page}");
            walked.extend(found);
            if page["hasMore"] == false {
                break;
            }
        }
        let least = if path.contains("ledger") { 1 } else { 2 };
        assert!(all.len() >= least, "{path}: {}", all.len());
        let names = |rows: &[Value]| -> Vec<String> {
            let name = |row: &Value| {
                let parts = [&row["handle"], &row["id"], &row["at"], &row["signal"]];
                parts.map(Value::to_string).join(" ")
            };
            rows.iter().map(name).collect()
        };
        assert_eq!(names(&walked), names(&all), "{path}");
    }
}

#[test]
fn every_filter_excludes_other_rows() {
    let stage = stage();
    let edit = json!({ "concepts": ["gotcha"], "type": "decision" }).to_string();
    let edited = stage.call("PATCH", "/api/observations/1", &edit);
    assert_eq!(edited.status, 200, "{edited:?}");
    let count = |path: &str| {
        let answer = stage.get(path);
        assert_eq!(answer.status, 200, "{path}: {answer:?}");
        items(&answer.json()).len()
    };
    for (list, filter) in [
        ("observations", "type=decision"),
        ("observations", "concept=gotcha"),
        ("observations", "session=two"),
        ("observations", "until=1500000"),
        ("prompts", "project=bakery"),
        ("prompts", "session=two"),
        ("prompts", "since=2900000"),
        ("messages", "session=one"),
        ("messages", "since=1500000"),
        ("summaries", "until=1500000"),
        ("sessions", "project=bakery"),
        ("sessions", "status=active"),
        ("feed", "kind=prompt"),
        ("feed", "project=bakery"),
        ("feed", "type=decision"),
        ("queue", "state=dead"),
    ] {
        let all = count(&format!("/api/{list}?limit=200"));
        let some = count(&format!("/api/{list}?limit=200&{filter}"));
        assert!(some < all, "{list}?{filter}: {some} of {all}");
        let empty = filter == "state=dead";
        assert_eq!(some == 0, empty, "{list}?{filter}");
    }
    let file = "/api/observations?file=billing/retry.rs";
    assert!(count(file) > 0 && count("/api/observations?file=nowhere.rs") == 0);
    assert_eq!(count("/api/summaries?file=nowhere.rs"), 0);
}

#[test]
fn get_routes_reject_unknown_parameters() {
    let stage = TestServer::with_turn();
    for route in routes() {
        if route.method != RouteMethod::Get || !matches!(route.action, RouteAction::Handler(_)) {
            continue;
        }
        let path = route.path.replace("{id}", "1");
        let refused = stage.get(&format!("{path}?nonsense=1"));
        assert_eq!(refused.status, 400, "{path}: {refused:?}");
        let why = refused.json()["error"].as_str().unwrap().to_owned();
        assert!(why.contains("nonsense"), "{path}: {why}");
    }
    for (path, body) in [
        ("/api/observations/batch", r#"{"ids":[],"nonsense":1}"#),
        ("/api/queue/1/retry", r#"{"nonsense":1}"#),
        ("/api/page/token", r#"{"secret":"","nonsense":1}"#),
    ] {
        assert_eq!(stage.call("POST", path, body).status, 422, "{path}");
    }
}

fn note(tx: &StoreWriter<'_>, session: SessionId, at: i64) {
    let new = {
        let base = events::observation(&format!("Note {at}"), Millis(2_000_000 + at));
        NewObservation {
            text: ObservationText { kind: ObservationType::DISCOVERY, ..base.text },
            origin: Origin::Agent,
            ..base
        }
    };
    let place = NewRowContext { session: Some(session), ..NewRowContext::default() };
    tx.create_observation(&new, &place).unwrap();
}

#[test]
fn long_session_lists_its_newest_rows() {
    let stage = TestServer::with_turn();
    let whole = stage.get("/api/sessions/one").json();
    assert_eq!(whole["hasMore"]["observations"], false);
    let last = i64::from(HTTP_SESSION_ROWS_MAX);
    let noted = stage.worker.store.with(|store| {
        store.write(|tx| {
            (0..=last).for_each(|at| note(tx, SessionId(1), at));
            Ok(())
        })
    });
    noted.unwrap();
    let whole = stage.get("/api/sessions/one").json();
    let shown = whole["observations"].as_array().unwrap();
    assert_eq!(shown.len(), HTTP_SESSION_ROWS_MAX as usize);
    assert_eq!(shown[shown.len() - 1]["title"], format!("Note {last}"));
    assert_eq!(whole["hasMore"]["observations"], true);
    assert_eq!(whole["hasMore"]["prompts"], false);
    assert!(whole["session"]["observations"].as_i64() > Some(last));
}

#[test]
fn numeric_names_can_be_addressed() {
    let stage = TestServer::with_turn();
    for (session, project) in [("2048", "1984"), ("1", "1")] {
        let mut prompt = events::event(session, 2_000, events::prompt("What year is it?"));
        prompt.project = Some(hint(project));
        stage.events(&[prompt]);
    }
    let project = |text: &str| {
        let rows = stage.get(&format!("/api/prompts?project={text}")).json();
        rows["items"][0]["project"]["name"].clone()
    };
    assert_eq!(project("1984"), "1984");
    assert_eq!(project("1"), "shop", "a number is an id where there is one");
    assert_eq!(project("name:1"), "1");
    let session = |text: &str| {
        let whole = stage.get(&format!("/api/sessions/{text}")).json();
        whole["session"]["clientSession"].clone()
    };
    assert_eq!(session("2048"), "2048");
    assert_eq!(session("1"), "one");
    assert_eq!(session("client:1"), "1");
}
