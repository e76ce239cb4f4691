//! Tests of the review, of siblings, and of the lists behind the bars of the usage.

use serde_json::{Value, json};

use super::testing::TestServer;
use claude_mem_store::testing as events;

fn save(stage: &TestServer, title: &str, kind: &str) -> String {
    let body = json!({"text": title, "title": title, "type": kind, "project": "shop"}).to_string();
    let reply = stage.call("POST", "/api/memory/save", &body);
    assert_eq!(reply.status, 200, "{reply:?}");
    reply.json()["handle"].as_str().unwrap().to_owned()
}

/// The handles of a group, each with the handle beside it.
fn group(stage: &TestServer, name: &str) -> Vec<(String, Option<String>)> {
    let found = stage.get(&format!("/api/review?groups={name}")).json();
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let items = found["groups"][0]["items"].as_array().unwrap_or_else(|| panic!("{found}")).iter();
    items.map(|item| (text(&item["row"]["handle"]).unwrap(), text(&item["other"]["handle"]))).collect()
}

fn keep(stage: &TestServer, handle: &str, reason: &str, other: Option<&str>, undo: bool) -> u16 {
    let body = json!({"handle": handle, "reason": reason, "other": other, "undo": undo}).to_string();
    stage.call("POST", "/api/review/keep", &body).status
}

#[test]
fn siblings_are_the_rows_that_repeat_a_sentence_in_any_session() {
    let stage = TestServer::with_turn();
    stage.turn("two", 90_000);
    let prompts = stage.get("/api/prompts").json();
    let prompts: Vec<&str> =
        prompts["items"].as_array().unwrap().iter().map(|row| row["handle"].as_str().unwrap()).collect();
    assert_eq!(prompts.len(), 2, "each session asked the same");
    let unrelated = save(&stage, "Invoices are printed on Mondays by the office", "decision");
    let path = format!("/api/siblings?row={}", prompts[0]);
    let found = stage.get(&path).json();
    let handles: Vec<&str> =
        found["items"].as_array().unwrap().iter().map(|row| row["handle"].as_str().unwrap()).collect();
    assert!(handles.contains(&prompts[1]), "the prompt of the other session: {handles:?}");
    assert!(!handles.contains(&unrelated.as_str()) && !handles.contains(&prompts[0]), "{handles:?}");
    let none = stage.get(&format!("/api/siblings?row={}", unrelated.replace('#', "%23"))).json();
    assert_eq!(none["items"], json!([]));
    let both = stage.get(&format!("/api/siblings?row={},{}", prompts[0], prompts[1])).json();
    let rest = both["items"].as_array().unwrap();
    assert!(rest.iter().all(|row| row["kind"] != "prompt"), "neither is its own sibling: {both}");
    assert_eq!(stage.get("/api/siblings?row=nonsense").status, 400);
}

#[test]
fn group_is_cut_at_the_limit_and_says_so() {
    let stage = TestServer::with_turn();
    for n in 0..4 {
        let handle = save(&stage, &format!("Rule {n} of the shop"), "decision");
        let path = format!("/api/observations/{}", handle.trim_start_matches('#'));
        assert_eq!(stage.call("PATCH", &path, r#"{"level":"proposed"}"#).status, 200);
    }
    for (limit, listed, has_more) in
        [("", 4, false), ("&limit=3", 3, true), ("&limit=4", 4, false), ("&limit=0", 1, true)]
    {
        let found = stage.get(&format!("/api/review?groups=suggested{limit}")).json();
        let group = &found["groups"][0];
        let seen = (group["items"].as_array().unwrap().len(), group["hasMore"].as_bool());
        assert_eq!(seen, (listed, Some(has_more)), "limit {limit:?}");
    }
}

#[test]
fn contradiction_is_listed_until_both_are_kept() {
    let stage = TestServer::with_turn();
    let south = save(&stage, "Ferries moor at the south berth", "decision");
    let east = save(&stage, "Ferries moor at the east berth now", "decision");
    let pair = vec![(south.clone(), Some(east.clone()))];
    assert_eq!(group(&stage, "contradiction"), pair);
    assert_eq!(keep(&stage, &south, "contradiction", Some(&east), false), 200);
    assert_eq!(group(&stage, "contradiction"), []);
    assert_eq!(keep(&stage, &south, "contradiction", Some(&east), true), 200);
    assert_eq!(group(&stage, "contradiction"), pair, "taken back");
    let id = south.trim_start_matches('#');
    let by = json!({"by": east}).to_string();
    assert_eq!(stage.call("POST", &format!("/api/observations/{id}/replace"), &by).status, 200);
    assert_eq!(group(&stage, "contradiction"), [], "a replaced memory contradicts nothing");
    assert_eq!(group(&stage, "replaced"), pair);
}

#[test]
fn duplicate_of_an_old_memory_is_listed_until_it_is_kept() {
    let stage = TestServer::with_turn();
    let old = save(&stage, "The harbour light is always lit at dusk", "discovery");
    let place = claude_mem_store::NewRowContext {
        project: Some(claude_mem_core::ids::ProjectId(1)),
        ..Default::default()
    };
    let filled = stage.worker.store.with(|store| {
        store.write(|tx| {
            for n in 0..600 {
                let title = format!("Buoy{n} counted near pier{n} by crew{n}");
                let at = claude_mem_core::clock::Millis(1_900_000_000_000 + n);
                tx.create_observation(&claude_mem_store::testing::observation(&title, at), &place)?;
            }
            Ok(())
        })
    });
    filled.unwrap();
    let new = save(&stage, "The harbour light is always lit at dusk today", "discovery");
    assert_eq!(group(&stage, "duplicate"), [(old.clone(), Some(new.clone()))]);
    assert_eq!(keep(&stage, &old, "duplicate", Some(&new), false), 200);
    assert_eq!(group(&stage, "duplicate"), []);
}

#[test]
fn unused_memory_can_be_kept_and_a_replaced_one_cannot() {
    let stage = TestServer::with_turn();
    let listed = group(&stage, "unused");
    let (first, _) = listed.first().expect("the memories of the turn are from 1970");
    assert_eq!(keep(&stage, first, "unused", None, false), 200);
    assert!(!group(&stage, "unused").iter().any(|(handle, _)| handle == first));
    assert_eq!(keep(&stage, first, "replaced", None, false), 422);
    assert_eq!(keep(&stage, "P1", "unused", None, false), 422);
    assert_eq!(stage.get("/api/review?groups=nonsense").status, 400);
}

#[test]
fn memories_of_missing_files_are_listed() {
    let stage = TestServer::new();
    let root = stage.scratch.dir.root().join("yard");
    std::fs::create_dir_all(root.join("src")).unwrap();
    std::fs::write(root.join("src/here.rs"), "").unwrap();
    let at = |event: claude_mem_core::event::Event| {
        let mut event = event;
        let project = event.project.as_mut().unwrap();
        project.name = "yard".into();
        project.root = root.display().to_string();
        project.keys = vec![format!("path:{}", root.display())];
        event
    };
    for (n, file) in ["src/here.rs", "src/gone.rs"].into_iter().enumerate() {
        let (session, path) = (format!("yard-{n}"), root.join(file));
        let seconds = 1_000 + n as i64 * 100;
        let said = format!("The pump runs again because the valve {n} was stuck. I changed {file}.");
        stage.events(&[
            at(events::event(&session, seconds, events::prompt(&format!("Repair pump number {n}")))),
            at(events::event(&session, seconds + 1, events::edit(&path.display().to_string(), &session))),
            at(events::event(&session, seconds + 2, events::stop(&said))),
            at(events::event(&session, seconds + 3, events::end())),
        ]);
    }
    let found = stage.get("/api/review?groups=missing").json();
    let files: Vec<&str> = found["groups"][0]["items"]
        .as_array()
        .unwrap()
        .iter()
        .flat_map(|item| item["files"].as_array().unwrap())
        .map(|file| file.as_str().unwrap())
        .collect();
    assert!(!files.is_empty() && files.iter().all(|file| file.ends_with("gone.rs")), "{found}");
}

#[test]
fn usage_lists_the_memories_of_each_bar() {
    let stage = TestServer::with_turn();
    let inject = r#"{"project":1,"sessionId":"fresh","source":"startup"}"#;
    assert_eq!(stage.call("POST", "/api/context/inject", inject).status, 200);
    let list = |name: &str| {
        let found = stage.get(&format!("/api/usage?list={name}")).json();
        let rows = found["listed"].as_array().unwrap_or_else(|| panic!("{found}")).len();
        (rows, found)
    };
    let (received, found) = list("received");
    assert!(received > 0);
    assert_eq!(received as u64, found["memories"].as_u64().unwrap());
    assert_eq!((list("fetched").0, list("cited").0, list("used").0), (0, 0, 0));
    assert_eq!(stage.get("/api/usage").json().get("listed"), None);
    assert_eq!(stage.get("/api/usage?list=nonsense").status, 400);
}

#[test]
fn usage_of_a_forgotten_memory_is_not_counted_as_of_all_projects() {
    let stage = TestServer::with_turn();
    let inject = r#"{"project":1,"sessionId":"fresh","source":"startup"}"#;
    assert_eq!(stage.call("POST", "/api/context/inject", inject).status, 200);
    let forget = r##"{"handles":["#1"],"action":"forget"}"##;
    assert_eq!(stage.call("POST", "/api/memory/bulk", forget).status, 200);
    let found = stage.get("/api/usage").json();
    let places = found["byProject"].as_array().unwrap();
    let names: Vec<&str> = places.iter().map(|one| one["project"].as_str().unwrap()).collect();
    assert!(names.contains(&"Forgotten memories") && !names.contains(&"All projects"), "{found}");
}

#[test]
fn rows_and_sessions_tell_their_agent_and_are_filtered_by_it() {
    let stage = TestServer::with_turn();
    let of_codex = |mut event: claude_mem_core::event::Event| {
        event.client = "codex".into();
        event
    };
    stage.events(&[
        of_codex(events::event("other", 5_000, events::prompt("Paint the crane yellow"))),
        of_codex(events::event("other", 5_001, events::stop("The crane is yellow."))),
        of_codex(events::event("other", 5_002, events::end())),
    ]);
    let agents = stage.get("/api/agents").json();
    assert_eq!(
        agents["items"],
        json!([{"name": "claude-code", "title": "Claude Code"}, {"name": "codex", "title": "Codex"}])
    );
    let names = |path: &str| -> Vec<String> {
        let found = stage.get(path).json();
        let items = found["items"].as_array().unwrap_or_else(|| panic!("{path}: {found}")).iter();
        let mut names: Vec<String> =
            items.map(|row| row["agent"]["name"].as_str().unwrap_or("none").to_owned()).collect();
        names.sort();
        names.dedup();
        names
    };
    assert_eq!(names("/api/feed?limit=50"), ["claude-code", "codex"]);
    for agent in ["claude-code", "codex"] {
        assert_eq!(names(&format!("/api/sessions?agent={agent}")), [agent]);
        assert_eq!(names(&format!("/api/search?agent={agent}")), [agent]);
    }
    assert_eq!(names("/api/search?query=crane&agent=codex"), ["codex"]);
    for path in ["/api/sessions?agent=nobody", "/api/search?agent=nobody"] {
        assert_eq!(stage.get(path).status, 400, "{path}");
    }
}

#[test]
fn restart_is_needed_while_a_setting_differs_from_the_start() {
    let stage = TestServer::new();
    let needed = |body: &str| stage.call("PATCH", "/api/settings", body).json()["restartNeeded"].clone();
    assert_eq!(stage.get("/api/settings").json()["restartNeeded"], json!([]));
    assert_eq!(needed(r#"{"vectors":false}"#), json!(["vectors"]));
    assert_eq!(stage.get("/api/stats").json()["vectors"]["backlog"], 0, "nothing waits to be indexed");
    assert_eq!(needed(r#"{"context_tokens":900}"#), json!(["vectors"]), "another one takes effect at once");
    assert_eq!(needed(r#"{"vectors":true}"#), json!([]), "back to the value at the start");
}
