//! Tests of what the viewer's second edition is built on: turns, edits, review and trash.

use super::testing::TestServer;

#[test]
fn stale_edit_is_a_conflict_and_changes_nothing() {
    let stage = TestServer::with_turn();
    let before = stage.get("/api/observations/1").json();
    let expected = before["updatedAt"].as_i64().unwrap();
    let edit = format!(r#"{{"title":"First","expectedUpdatedAt":{expected}}}"#);
    assert_eq!(stage.call("PATCH", "/api/observations/1", &edit).status, 200);
    let stale = format!(r#"{{"title":"Second","expectedUpdatedAt":{expected}}}"#);
    let reply = stage.call("PATCH", "/api/observations/1", &stale);
    assert_eq!(reply.status, 409, "{reply:?}");
    assert_eq!(stage.get("/api/observations/1").json()["title"], "First");
    let story = stage.get("/api/observations/1/provenance").json();
    assert_eq!(story["versions"].as_array().unwrap().len(), 1);
    assert_eq!(story["versions"][0]["title"], before["title"]);
}

#[test]
fn wrong_memory_is_not_pinned() {
    let stage = TestServer::with_turn();
    let patch = |body: &str| stage.call("PATCH", "/api/observations/1", body).json();
    assert_eq!(patch(r#"{"pinned":true}"#)["pinned"], true);
    let wrong = patch(r#"{"wrong":true}"#);
    assert_eq!((&wrong["wrong"], &wrong["pinned"]), (&true.into(), &false.into()));
    let pinned = patch(r#"{"pinned":true}"#);
    assert_eq!((&pinned["wrong"], &pinned["pinned"]), (&false.into(), &true.into()));
}

#[test]
fn pages_of_turns_hold_every_turn_once() {
    let stage = TestServer::with_turn();
    for number in 0..5 {
        let body = format!(r#"{{"text":"Note {number}","project":"shop"}}"#);
        assert_eq!(stage.call("POST", "/api/memory/save", &body).status, 200);
    }
    let whole = stage.get("/api/turns?limit=50").json();
    let handles = |page: &serde_json::Value| -> Vec<String> {
        let items = page["items"].as_array().unwrap().iter();
        items.map(|turn| turn["handle"].as_str().unwrap().to_owned()).collect()
    };
    let (mut found, mut path) = (Vec::new(), "/api/turns?limit=2".to_owned());
    loop {
        let page = stage.get(&path).json();
        found.extend(handles(&page));
        let Some(next) = page["nextCursor"].as_str() else { break };
        path = format!("/api/turns?limit=2&before={next}");
    }
    assert_eq!(found, handles(&whole));
    assert!(found.contains(&"T1-1".to_owned()), "{found:?}");
    assert!(found.len() >= 6, "{found:?}");
    let turn = whole["items"].as_array().unwrap().iter().find(|turn| turn["handle"] == "T1-1").unwrap();
    assert_eq!(turn["rows"][0]["kind"], "prompt", "the prompt is the oldest row");
}

#[test]
fn queued_prompt_is_a_running_turn_until_its_end() {
    let stage = TestServer::with_turn();
    let base = r#""session_id":"busy","cwd":"/src/shop""#;
    let prompt = format!(r#"{{{base},"hook_event_name":"UserPromptSubmit","prompt":"Count the planks"}}"#);
    assert_eq!(stage.call("POST", "/api/sessions/init", &prompt).status, 200);
    let tool =
        format!(r#"{{{base},"tool_name":"Edit","tool_use_id":"t9","tool_input":{{}},"tool_response":{{}}}}"#);
    assert_eq!(stage.call("POST", "/api/sessions/observations", &tool).status, 200);
    let running = stage.get("/api/running").json();
    assert_eq!(running["items"][0]["prompt"], "Count the planks", "{running}");
    assert_eq!(running["items"][0]["toolCalls"], 1);
    let stop = format!(r#"{{{base},"last_assistant_message":"There are twelve."}}"#);
    assert_eq!(stage.call("POST", "/api/sessions/summarize", &stop).status, 200);
    assert_eq!(stage.get("/api/running").json()["items"].as_array().map(Vec::len), Some(0));
}

#[test]
fn forgotten_rows_are_in_the_trash_until_restored() {
    let stage = TestServer::with_turn();
    let bulk = |action: &str| {
        let body = format!(r##"{{"handles":["#1","P1","#999"],"action":"{action}"}}"##);
        stage.call("POST", "/api/memory/bulk", &body).json()
    };
    let done = bulk("forget");
    assert_eq!(done["done"].as_array().map(Vec::len), Some(2), "{done}");
    assert_eq!(done["skipped"][0], "#999");
    let trash = stage.get("/api/trash").json();
    assert_eq!(trash["items"].as_array().map(Vec::len), Some(2), "{trash}");
    assert!(!trash["items"][0]["title"].as_str().unwrap().is_empty());
    bulk("restore");
    assert_eq!(stage.get("/api/trash").json()["items"].as_array().map(Vec::len), Some(0));
    assert_eq!(stage.get("/api/observations/1").status, 200);
}

#[test]
fn feedback_can_be_taken_back_once() {
    let stage = TestServer::with_turn();
    let judge = |undo: bool| {
        let body = format!(r##"{{"handle":"#1","signal":"useless","undo":{undo}}}"##);
        stage.call("POST", "/api/feedback", &body).json()["recorded"].clone()
    };
    assert_eq!(judge(false), true);
    assert_eq!(judge(true), true);
    assert_eq!(judge(true), false, "there is nothing left to take back");
}

#[test]
fn part_of_a_concept_finds_it() {
    let stage = TestServer::with_turn();
    assert_eq!(stage.call("PATCH", "/api/observations/1", r#"{"concepts":["Retry policy"]}"#).status, 200);
    for concept in ["retry", "policy", "Retry%20policy"] {
        let found = stage.get(&format!("/api/observations?concept={concept}")).json();
        assert_eq!(found["items"].as_array().map(Vec::len), Some(1), "{concept}");
    }
    assert_eq!(
        stage.get("/api/observations?concept=retried").json()["items"].as_array().map(Vec::len),
        Some(0)
    );
}

#[test]
fn unconfirmed_restart_is_refused() {
    let stage = TestServer::new();
    assert_eq!(stage.call("POST", "/api/worker/restart", "{}").status, 422);
}
