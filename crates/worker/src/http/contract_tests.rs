//! The contract of each route. `every_route_matches_its_schema` fails for a route without a sample.

use crate::http::observations::HTTP_BATCH_MAX;
use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::openapi::describe;
use super::testing::TestServer;
use crate::http::routes::routes;
use crate::http::schema_check_tests::schema_violation;
use claude_mem_core::limits::HTTP_ROWS_MAX;

const ROW: &[&str] = &["id", "handle", "kind", "project", "session", "createdAt"];
const OBSERVATION: &[&str] = &[
    "type",
    "title",
    "subtitle",
    "narrative",
    "facts",
    "concepts",
    "filesRead",
    "filesModified",
    "promptNumber",
    "level",
    "branch",
    "agentType",
    "origin",
    "madeBy",
    "discoveryTokens",
    "readTokens",
    "pinned",
    "wrong",
    "replacedBy",
    "updatedAt",
];
const SUMMARY: &[&str] = &[
    "request",
    "investigated",
    "learned",
    "completed",
    "nextSteps",
    "notes",
    "filesRead",
    "filesEdited",
    "promptNumber",
    "branch",
    "origin",
    "madeBy",
    "discoveryTokens",
    "readTokens",
];
const SESSION: &[&str] = &[
    "id",
    "client",
    "clientSession",
    "project",
    "branch",
    "title",
    "status",
    "promptCounter",
    "createdAt",
    "lastActivityAt",
    "completedAt",
    "observations",
    "summaries",
];
const LIST: &[&str] = &["items", "offset", "limit", "hasMore"];

/// Method, route, target, body, pointer into the response, keys expected there.
pub(super) type RouteSample =
    (&'static str, &'static str, &'static str, &'static str, &'static str, &'static [&'static str]);

/// Run in this order: later samples depend on earlier ones.
#[rustfmt::skip]
pub(super) const TRIES: &[RouteSample] = &[
    ("GET", "/health", "/health", "", "", &["status", "version", "uptimeSeconds", "pid"]),
    ("GET", "/api/health", "/api/health", "", "", &["status", "version", "uptimeSeconds", "pid"]),
    ("GET", "/api/readiness", "/api/readiness", "", "", &["ready", "problems"]),
    ("GET", "/api/version", "/api/version", "", "", &["version", "schema"]),
    ("GET", "/api/openapi.json", "/api/openapi.json", "", "", &["openapi", "info", "paths", "components"]),
    ("GET", "/api/feed", "/api/feed?limit=2", "", "", &["items", "nextCursor", "seen"]),
    ("GET", "/api/feed", "/api/feed", "", "/items/0", ROW),
    ("GET", "/api/turns", "/api/turns?limit=2", "", "", &["items", "nextCursor", "seen"]),
    ("GET", "/api/turns", "/api/turns", "", "/items/0", &["handle", "session", "number", "createdAt", "rows"]),
    ("GET", "/api/turns/{session}/{number}", "/api/turns/1/1", "", "", &["handle", "session", "number", "rows"]),
    ("GET", "/api/running", "/api/running", "", "", &["items"]),
    ("GET", "/api/search", "/api/search?query=retries&explain=true", "", "", &["query", "scope", "items", "hasMore"]),
    ("GET", "/api/search", "/api/search?query=retries&explain=true", "", "/scope", &["project", "how"]),
    ("GET", "/api/search", "/api/search?query=retries&explain=true", "", "/items/0", &["handle", "score", "why"]),
    ("GET", "/api/search", "/api/search?query=retries&explain=true", "", "/items/0/why", &["words", "vectors", "coverage", "neighbours", "recency", "matched"]),
    ("GET", "/api/timeline", "/api/timeline?anchor=P1&before=1&after=1", "", "", &["anchor", "items"]),
    ("POST", "/api/memory/save", "/api/memory/save", r#"{"text":"Cents, never floats","title":"Money","project":"shop","type":"decision"}"#, "", OBSERVATION),
    ("GET", "/api/observations", "/api/observations?type=decision", "", "", LIST),
    ("GET", "/api/observations", "/api/observations", "", "/items/0", OBSERVATION),
    ("GET", "/api/observations", "/api/observations", "", "/items/0", ROW),
    ("GET", "/api/observations/{id}", "/api/observations/1", "", "", OBSERVATION),
    ("PATCH", "/api/observations/{id}", "/api/observations/1", r#"{"title":"Better","pinned":true,"facts":["a","b"]}"#, "", OBSERVATION),
    ("POST", "/api/observations/batch", "/api/observations/batch", r#"{"ids":[1,99]}"#, "", &["items"]),
    ("POST", "/api/feedback", "/api/feedback", r##"{"handle":"#1","signal":"useful"}"##, "", &["recorded"]),
    ("GET", "/api/ledger", "/api/ledger?row=%231", "", "/items/0", &["kind", "id", "handle", "title", "place", "score", "rank", "tokens", "reason", "at"]),
    ("GET", "/api/observations/{id}/provenance", "/api/observations/1/provenance", "", "", &["sources", "usage", "versions", "replaces", "replacedBy", "near"]),
    ("GET", "/api/observations/{id}/provenance", "/api/observations/1/provenance", "", "/versions/0", &["at", "title", "narrative", "facts"]),
    ("POST", "/api/observations/{id}/replace", "/api/observations/1/replace", r##"{"by":"#2"}"##, "", OBSERVATION),
    ("GET", "/api/review", "/api/review?days=1&groups=unused,replaced", "", "/groups/1/items/0", &["row", "other"]),
    ("POST", "/api/review/keep", "/api/review/keep", r##"{"handle":"#1","reason":"unused"}"##, "", &["kept"]),
    ("POST", "/api/observations/{id}/replace", "/api/observations/1/replace", r#"{"by":null}"#, "", OBSERVATION),
    ("GET", "/api/siblings", "/api/siblings?row=%231", "", "", &["items"]),
    ("POST", "/api/memory/bulk", "/api/memory/bulk", r##"{"handles":["#1","#2"],"action":"forget"}"##, "", &["done", "skipped"]),
    ("GET", "/api/trash", "/api/trash", "", "/items/0", &["handle", "kind", "id", "title", "type", "project", "forgottenAt"]),
    ("POST", "/api/memory/bulk", "/api/memory/bulk", r##"{"handles":["#1","#2"],"action":"restore"}"##, "", &["done", "skipped"]),
    ("DELETE", "/api/observations/{id}", "/api/observations/1", "", "", &["forgotten"]),
    ("POST", "/api/memory/{kind}/{id}/restore", "/api/memory/observation/1/restore", "{}", "", &["restored"]),
    ("GET", "/api/summaries", "/api/summaries", "", "", LIST),
    ("GET", "/api/summaries/{id}", "/api/summaries/1", "", "", SUMMARY),
    ("DELETE", "/api/summaries/{id}", "/api/summaries/1", "", "", &["forgotten"]),
    ("POST", "/api/memory/{kind}/{id}/restore", "/api/memory/summary/1/restore", "{}", "", &["restored"]),
    ("GET", "/api/accounts", "/api/accounts?session=one", "", "/items/0", ROW),
    ("GET", "/api/accounts/{id}", "/api/accounts/1", "", "", &["handle", "purpose", "done", "learned", "decided", "checked", "open", "filesEdited"]),
    ("DELETE", "/api/accounts/{id}", "/api/accounts/1", "", "", &["forgotten"]),
    ("POST", "/api/memory/{kind}/{id}/restore", "/api/memory/account/1/restore", "{}", "", &["restored"]),
    ("GET", "/api/open-items", "/api/open-items?project=shop", "", "/items/0", &["id", "text", "openedAt", "closedAt", "closedBy", "reason"]),
    ("POST", "/api/open-items/{id}/close", "/api/open-items/1/close", r#"{"reason":"not needed"}"#, "", &["id", "closedAt", "reason"]),
    ("POST", "/api/open-items/{id}/reopen", "/api/open-items/1/reopen", "{}", "", &["id", "closedAt"]),
    ("GET", "/api/prompts", "/api/prompts?session=one", "", "/items/0", &["text", "private", "origin", "number"]),
    ("GET", "/api/prompts/{id}", "/api/prompts/1", "", "", ROW),
    ("DELETE", "/api/prompts/{id}", "/api/prompts/1", "", "", &["forgotten"]),
    ("POST", "/api/memory/{kind}/{id}/restore", "/api/memory/prompt/1/restore", "{}", "", &["restored"]),
    ("GET", "/api/messages", "/api/messages", "", "/items/0", &["text", "promptNumber", "agentType"]),
    ("GET", "/api/messages/{id}", "/api/messages/1", "", "", ROW),
    ("DELETE", "/api/messages/{id}", "/api/messages/1", "", "", &["forgotten"]),
    ("POST", "/api/memory/{kind}/{id}/restore", "/api/memory/message/1/restore", "{}", "", &["restored"]),
    ("GET", "/api/team", "/api/team", "", "", &["joined", "inStep", "members", "spaces", "review"]),
    ("GET", "/api/projects", "/api/projects", "", "/items/0", &["id", "name", "root", "lastActiveAt", "observations", "sessions"]),
    ("GET", "/api/projects/{id}/files", "/api/projects/1/files", "", "", &["items"]),
    ("GET", "/api/agents", "/api/agents", "", "/items/0", &["name", "title"]),
    ("GET", "/api/sessions", "/api/sessions?status=completed&agent=claude-code", "", "", LIST),
    ("GET", "/api/sessions", "/api/sessions", "", "/items/0", SESSION),
    ("GET", "/api/sessions/{id}", "/api/sessions/1", "", "", &["session", "prompts", "observations", "summaries", "messages", "injections", "told", "spend"]),
    ("GET", "/api/sessions/{id}", "/api/sessions/one", "", "/session", SESSION),
    ("GET", "/api/context/preview", "/api/context/preview?project=shop&tokens=900", "", "", &["text", "tokens", "budget", "items", "leftOut", "settings"]),
    ("GET", "/api/context/preview", "/api/context/preview?project=1", "", "/items/0", &["handle", "title", "type", "tokens", "reason", "value"]),
    ("POST", "/api/context/inject", "/api/context/inject", r#"{"project":1,"sessionId":"fresh","source":"startup"}"#, "", &["context"]),
    ("GET", "/api/ledger", "/api/ledger?session=fresh", "", "/items/0", &["handle", "signal", "tokens"]),
    ("POST", "/api/context/semantic", "/api/context/semantic", r#"{"query":"retries of billing","project":"shop","limit":3}"#, "", &["context", "count", "items"]),
    ("GET", "/api/usage", "/api/usage?list=received", "", "/listed/0", &["handle", "title", "received", "fetched", "cited", "tokens", "lastAt"]),
    ("GET", "/api/usage", "/api/usage?days=7", "", "", &["sessions", "received", "tokens", "memories", "fetched", "cited", "used", "mostUsed", "neverUsed", "byProject"]),
    ("GET", "/api/stats", "/api/stats", "", "", &["counts", "database", "vectors", "queue", "today", "perDay", "byType", "byProject", "tokens", "health", "agents"]),
    ("GET", "/api/stats", "/api/stats", "", "/agents/0", &["name", "title", "isPresent", "transcripts", "read", "isImported"]),
    ("GET", "/api/stats", "/api/stats", "", "/counts", &["projects", "sessions", "prompts", "observations", "summaries", "messages"]),
    ("GET", "/api/stats", "/api/stats", "", "/tokens", &["spentToday", "spentTotal", "calls", "budgetPerDay", "discovery", "read", "saved", "perDay"]),
    ("GET", "/api/stats", "/api/stats", "", "/perDay/59", &["day", "observations", "summaries", "prompts"]),
    ("GET", "/api/processing-status", "/api/processing-status", "", "", &["queue", "active", "paused", "provider", "pause"]),
    ("GET", "/api/queue", "/api/queue?state=done", "", "/items/0", &["id", "client", "session", "kind", "state", "attempts", "error", "acceptedAt"]),
    ("GET", "/api/spend", "/api/spend", "", "", LIST),
    ("GET", "/api/settings", "/api/settings", "", "/items/0", &["key", "group", "type", "value", "default", "source", "help"]),
    ("PATCH", "/api/settings", "/api/settings", r#"{"context_tokens":800,"recall_file":null}"#, "", &["items", "warnings"]),
    ("POST", "/api/pause", "/api/pause", r#"{"minutes":5}"#, "", &["paused", "until"]),
    ("POST", "/api/resume", "/api/resume", "{}", "", &["paused"]),
    ("POST", "/api/sessions/init", "/api/sessions/init", r#"{"session_id":"web","hook_event_name":"UserPromptSubmit","prompt":"Hello","cwd":"/src/shop"}"#, "", &["accepted"]),
    ("POST", "/api/sessions/observations", "/api/sessions/observations", r#"{"client":"claude-code","payload":{"session_id":"web","tool_name":"Edit","tool_use_id":"t1","tool_input":{},"tool_response":{},"cwd":"/src/shop"}}"#, "", &["accepted"]),
    ("POST", "/api/sessions/summarize", "/api/sessions/summarize", r#"{"session_id":"web","last_assistant_message":"Done.","cwd":"/src/shop"}"#, "", &["accepted"]),
    ("POST", "/api/sessions/complete", "/api/sessions/complete", r#"{"session_id":"web","reason":"exit","cwd":"/src/shop"}"#, "", &["accepted"]),
    ("POST", "/api/import", "/api/import", r#"{"sessions":[],"observations":[],"summaries":[],"prompts":[]}"#, "", &["run", "imported", "counts"]),
    ("POST", "/api/token/rotate", "/api/token/rotate", "{}", "", &["rotated", "file"]),
];

/// Routes with tests of their own: the page, the stream, the link, those on dead events, and the restart.
const ELSEWHERE: [&str; 7] = [
    "GET /",
    "GET /assets/{version}/{file}",
    "GET /stream",
    "POST /api/page/token",
    "POST /api/queue/{id}/retry",
    "DELETE /api/queue/{id}",
    "POST /api/worker/restart",
];

#[test]
fn lists_reject_unknown_filters() {
    let stage = TestServer::new();
    for path in [
        "/api/prompts?type=bugfix",
        "/api/prompts?file=a.rs",
        "/api/messages?concept=x",
        "/api/summaries?type=bugfix",
        "/api/observations?q=pool",
        "/api/search?q=pool",
        "/api/timeline?anchor=1&depth=3",
    ] {
        assert_eq!(stage.get(path).status, 400, "{path}");
    }
}

#[test]
fn every_route_matches_its_schema() {
    let stage = TestServer::with_turn();
    let all = describe(&routes());
    let mut tried: BTreeSet<String> = ELSEWHERE.iter().map(ToString::to_string).collect();
    for (method, route, target, body, place, keys) in TRIES {
        let reply = stage.call(method, target, body);
        assert_eq!(reply.status, 200, "{method} {target}: {reply:?}");
        assert_eq!(reply.header("content-type"), Some("application/json"));
        let answer = reply.json();
        let found = answer.pointer(place);
        let found = found.unwrap_or_else(|| panic!("{target}: no {place} in {answer}"));
        for key in *keys {
            assert!(found.get(key).is_some(), "{method} {target}: no {key} at {place} in {found}");
        }
        let operation = &all["paths"][route][method.to_ascii_lowercase()];
        let schema = &operation["responses"]["200"]["content"]["application/json"]["schema"];
        assert!(!schema.is_null(), "{method} {route} is not described");
        let misfit = schema_violation(&answer, schema, &all);
        assert_eq!(misfit, None, "{method} {target} is not as described");
        tried.insert(format!("{method} {route}"));
    }
    for route in routes() {
        let name = format!("{} {}", route.method.name().to_ascii_uppercase(), route.path);
        assert!(tried.contains(&name), "{name} is not tried");
    }
}

#[test]
fn docs_list_every_route() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/http.md");
    let page = std::fs::read_to_string(path).unwrap();
    let told: Vec<&str> = page.lines().filter(|line| line.starts_with("| `")).collect();
    let want: Vec<String> = routes()
        .iter()
        .map(|route| {
            let method = route.method.name().to_ascii_uppercase();
            format!("| `{method} {}` | {} |", route.path, route.summary)
        })
        .collect();
    assert_eq!(told, want);
}

#[test]
#[allow(clippy::too_many_lines, reason = "one table")]
fn bad_requests_get_a_status_and_a_hint() {
    let stage = TestServer::with_turn();
    for (method, target, body, status) in [
        ("GET", "/api/observations/99", "", 404),
        ("GET", "/api/observations/x", "", 404),
        ("PATCH", "/api/observations/99", r#"{"pinned":true}"#, 404),
        ("PATCH", "/api/observations/1", r#"{"title":" "}"#, 422),
        ("PATCH", "/api/observations/1", r#"{"nonsense":1}"#, 422),
        ("PATCH", "/api/observations/1", r#"{"type":"<b>"}"#, 422),
        ("PATCH", "/api/observations/1", "{", 400),
        ("DELETE", "/api/observations/99", "", 404),
        ("POST", "/api/memory/observation/99/restore", "{}", 404),
        ("POST", "/api/memory/observation/1/restore", "{}", 409),
        ("POST", "/api/memory/nonsense/1/restore", "{}", 404),
        ("POST", "/api/memory/save", r#"{"text":"  "}"#, 422),
        ("POST", "/api/memory/save", r#"{"text":"<private>all</private>"}"#, 422),
        ("POST", "/api/memory/save", r#"{"text":"x","project":"nowhere"}"#, 404),
        ("POST", "/api/feedback", r#"{"handle":"X1","signal":"useful"}"#, 422),
        ("POST", "/api/feedback", r##"{"handle":"#99","signal":"useful"}"##, 404),
        ("POST", "/api/feedback", r##"{"handle":"#1","signal":"injected"}"##, 422),
        ("POST", "/api/feedback", r#"{"handle":"S1","signal":"wrong"}"#, 422),
        ("POST", "/api/context/inject", r#"{"source":"anything"}"#, 422),
        ("POST", "/api/context/inject", r#"{"client":"nobody"}"#, 422),
        ("GET", "/api/feed?before=yesterday", "", 400),
        ("GET", "/api/feed?kind=nonsense", "", 400),
        ("GET", "/api/feed?limit=-1", "", 400),
        ("GET", "/api/feed?project=nowhere", "", 404),
        ("GET", "/api/observations?since=whenever", "", 400),
        ("GET", "/api/timeline?anchor=%2399", "", 404),
        ("GET", "/api/timeline", "", 400),
        ("GET", "/api/ledger", "", 400),
        ("GET", "/api/sessions/99", "", 404),
        ("GET", "/api/sessions/no-such-session", "", 404),
        ("GET", "/api/queue?state=lost", "", 400),
        ("POST", "/api/queue/99/retry", "{}", 404),
        ("DELETE", "/api/queue/99", "", 404),
        ("PATCH", "/api/settings", r#"{"context_tokens":1}"#, 422),
        ("PATCH", "/api/settings", r#"{"contex_tokens":900}"#, 422),
        ("POST", "/api/pause", r#"{"minutes":0}"#, 422),
        ("POST", "/api/sessions/init", r#"{"prompt":"whose?"}"#, 422),
        ("POST", "/api/sessions/init", r#"{"session_id":"a","hook_event_name":"SessionEnd"}"#, 422),
        ("POST", "/api/sessions/init", r#"{"client":"nobody","payload":{"session_id":"a"}}"#, 422),
        ("POST", "/api/sessions/complete", "[]", 422),
    ] {
        let reply = stage.call(method, target, body);
        assert_eq!(reply.status, status, "{method} {target} {body}: {reply:?}");
        let problem = reply.json();
        assert!(problem["error"].is_string() && problem["hint"].is_string(), "{reply:?}");
    }
    let too_many = json!({ "ids": vec![1; HTTP_BATCH_MAX + 1] }).to_string();
    assert_eq!(stage.call("POST", "/api/observations/batch", &too_many).status, 422);
    let unknown = stage.call("PATCH", "/api/settings", r#"{"contex_tokens":900}"#).json();
    assert_eq!(unknown["key"], "contex_tokens");
    assert_eq!(unknown["hint"], "did you mean context_tokens?");
}

#[test]
fn feed_pages_cover_every_row_once() {
    let stage = TestServer::with_turn();
    stage.turn("two", 2_000);
    stage.turn("three", 2_000);
    let whole = stage.get(&format!("/api/feed?limit={HTTP_ROWS_MAX}")).json();
    let handles = |answer: &Value| -> Vec<String> {
        let items = answer["items"].as_array().unwrap().iter();
        items.map(|item| item["handle"].as_str().unwrap().to_owned()).collect()
    };
    let all = handles(&whole);
    assert!(all.len() > 6, "{all:?}");
    let times: Vec<i64> =
        whole["items"].as_array().unwrap().iter().map(|item| item["createdAt"].as_i64().unwrap()).collect();
    assert!(times.is_sorted_by(|a, b| a >= b));
    let (mut walked, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = stage.get(&format!("/api/feed?limit=2&before={cursor}")).json();
        walked.extend(handles(&page));
        match page["nextCursor"].as_str() {
            Some(next) => next.clone_into(&mut cursor),
            None => break,
        }
    }
    assert_eq!(walked, all);
    let prompts = stage.get("/api/feed?kind=prompt").json();
    assert!(handles(&prompts).iter().all(|handle| handle.starts_with('P')));
}

#[test]
fn pinned_and_wrong_rows_can_be_filtered() {
    let stage = TestServer::with_turn();
    let save = |title: &str| {
        let body = json!({ "text": "The lighthouse blinks twice.", "title": title, "project": "shop" });
        let saved = stage.call("POST", "/api/memory/save", &body.to_string());
        saved.json()["id"].as_i64().unwrap()
    };
    let (pinned, wrong) = (save("Lighthouse one"), save("Lighthouse two"));
    for (id, mark) in [(pinned, "pinned"), (wrong, "wrong")] {
        let body = json!({ mark: true }).to_string();
        let marked = stage.call("PATCH", &format!("/api/observations/{id}"), &body);
        assert_eq!(marked.status, 200, "{marked:?}");
        let listed = stage.get(&format!("/api/observations?{mark}=true")).json();
        let ids: Vec<_> = listed["items"].as_array().unwrap().iter().collect();
        assert_eq!(ids.len(), 1, "{mark}: {listed}");
        assert_eq!(ids[0]["id"], id);
    }
    for (also, is_found) in [("", false), ("&wrong=true", true)] {
        for query in ["lighthouse", ""] {
            let found = stage.get(&format!("/api/search?allProjects=true&query={query}{also}"));
            assert_eq!(found.body.contains("Lighthouse two"), is_found, "{also} {query:?}");
        }
    }
}

#[test]
fn forgotten_row_is_gone_until_restored() {
    let stage = TestServer::with_turn();
    assert_eq!(stage.call("DELETE", "/api/prompts/1", "").status, 200);
    assert_eq!(stage.get("/api/prompts/1").status, 404);
    assert!(!stage.get("/api/feed").body.contains("\"P1\""));
    assert_eq!(stage.call("POST", "/api/memory/prompt/1/restore", "{}").status, 200);
    assert_eq!(stage.get("/api/prompts/1").status, 200);
}

#[test]
fn saved_text_is_redacted() {
    let stage = TestServer::with_turn();
    let secret = "sk-ant-api03-AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA-AAAAAAAA";
    let body = json!({ "narrative": format!("key {secret}"), "facts": ["<private>mine</private> yours"] });
    let edited = stage.call("PATCH", "/api/observations/1", &body.to_string());
    assert_eq!(edited.status, 200, "{edited:?}");
    assert!(!edited.body.contains(secret) && !edited.body.contains("mine"), "{edited:?}");
    assert!(edited.body.contains("yours"));
}

#[test]
fn secret_settings_are_never_returned() {
    let stage = TestServer::with_turn();
    let canary = "canary-5521-secret";
    let set = stage.call("PATCH", "/api/settings", &json!({ "api_key": canary }).to_string());
    assert_eq!(set.status, 200, "{set:?}");
    let file = std::fs::read_to_string(stage.scratch.dir.settings()).unwrap();
    assert!(file.contains(canary), "it was not kept");
    let item = |answer: &Value| {
        let items = answer["items"].as_array().unwrap().iter();
        items.clone().find(|item| item["key"] == "api_key").unwrap().clone()
    };
    let shown = item(&set.json());
    assert_eq!((&shown["value"], &shown["set"]), (&Value::Null, &json!(true)));
    for route in routes() {
        if route.method.name() == "get" && route.path != "/stream" {
            let reply = stage.get(&route.path.replace("{id}", "1").replace("{file}", "app.js"));
            assert!(!reply.body.contains(canary), "{}", route.path);
        }
    }
    let unset = stage.call("PATCH", "/api/settings", r#"{"api_key":null}"#).json();
    assert_eq!(item(&unset)["set"], json!(false));
}

#[test]
fn credentials_in_urls_are_hidden() {
    let stage = TestServer::new();
    let set = |text: &str| {
        let body = json!({ "base_url": text }).to_string();
        stage.call("PATCH", "/api/settings", &body)
    };
    for (kept, shown) in [
        ("https://me:canary-77@host.example/v1?key=canary-78", "https://…@host.example/v1?…"),
        ("https://host.example:8443/v1", "https://host.example:8443/v1"),
        ("http://canary-79@localhost", "http://…@localhost"),
    ] {
        let answer = set(kept);
        assert_eq!(answer.status, 200, "{answer:?}");
        let items = answer.json();
        let mut items = items["items"].as_array().unwrap().iter();
        let item = items.find(|item| item["key"] == "base_url").unwrap();
        assert_eq!(item["value"], shown);
        assert!(!answer.body.contains("canary"), "{answer:?}");
        let file = std::fs::read_to_string(stage.scratch.dir.settings()).unwrap();
        assert!(file.contains(kept), "{file}");
    }
    // The masked value must not be saved in place of the real one.
    assert_eq!(set("https://…@host.example/v1").status, 422);
}

#[test]
fn edit_updates_read_tokens() {
    let stage = TestServer::with_turn();
    let before = stage.get("/api/observations/1").json()["readTokens"].as_u64().unwrap();
    let edit = |body: Value| {
        let edited = stage.call("PATCH", "/api/observations/1", &body.to_string());
        assert_eq!(edited.status, 200, "{edited:?}");
        edited.json()["readTokens"].as_u64().unwrap()
    };
    let old = stage.get("/api/observations/1").json()["narrative"].clone();
    assert_eq!(edit(json!({ "pinned": true })), before);
    let long = edit(json!({ "narrative": "long ".repeat(400) }));
    assert!(long > before + 300, "{before} became {long}");
    assert_eq!(edit(json!({ "narrative": old })), before);
}

#[test]
fn one_invalid_setting_rejects_all() {
    let stage = TestServer::new();
    let reply = stage.call("PATCH", "/api/settings", r#"{"context_tokens":800,"port":"high"}"#);
    assert_eq!(reply.status, 422);
    assert_eq!(reply.json()["key"], "port");
    assert!(!stage.scratch.dir.settings().exists());
}

/// Queues an event and lets it die.
fn dead(stage: &TestServer, session: &str) -> i64 {
    let died = stage.worker.store.with(|store| {
        let end = claude_mem_store::testing::end();
        let event = claude_mem_store::testing::event(session, 9, end);
        claude_mem_store::testing::accept(store, &[event]);
        store.write(|tx| {
            let session = claude_mem_core::ids::ClientSessionId(session.into());
            let lease = claude_mem_core::queue::LeaseId(77);
            for at in 0..3 {
                let now = claude_mem_core::clock::Millis(at * 1_000_000_000);
                let Some(leased) = tx.lease_session("claude-code", &session, 1, lease, now)? else {
                    break;
                };
                tx.fail(lease, &[leased.events[0].id], "the model said no", now)?;
            }
            Ok(())
        })
    });
    died.unwrap();
    let dead = stage.get("/api/queue?state=dead").json();
    assert_eq!(dead["items"][0]["error"], "the model said no");
    dead["items"][0]["id"].as_i64().unwrap()
}

#[test]
fn only_dead_events_are_retried_or_deleted() {
    let stage = TestServer::with_turn();
    let status = |method: &str, path: String| stage.call(method, &path, "{}").status;
    let id = dead(&stage, "dropped");
    let done = stage.get("/api/queue?state=done").json()["items"][0]["id"].as_i64().unwrap();
    assert_eq!(status("DELETE", format!("/api/queue/{done}")), 409);
    assert_eq!(status("POST", format!("/api/queue/{done}/retry")), 409);
    assert_eq!(status("DELETE", format!("/api/queue/{id}")), 200);
    assert_eq!(status("DELETE", format!("/api/queue/{id}")), 404);
    assert_eq!(status("POST", format!("/api/queue/{id}/retry")), 404);
    let id = dead(&stage, "retried");
    assert_eq!(status("POST", format!("/api/queue/{id}/retry")), 200);
    stage.worker.scheduler.flush(|| false).unwrap();
    let all = stage.get("/api/queue?limit=200").json();
    let all = all["items"].as_array().unwrap();
    let retried = all.iter().find(|event| event["id"] == id).unwrap();
    assert_eq!(retried["state"], "done", "this time it was worked on");
    assert_eq!(status("POST", format!("/api/queue/{id}/retry")), 409);
}

#[test]
fn ignored_capture_reports_its_reason() {
    let stage = TestServer::new();
    let send = |path: &str, payload: Value| {
        let reply = stage.call("POST", &format!("/api/sessions/{path}"), &payload.to_string());
        assert_eq!(reply.status, 200, "{reply:?}");
        reply.json()
    };
    let prompt = |text: &str| json!({ "session_id": "web", "cwd": "/src/shop", "prompt": text });
    let tool = |tool: &str, file: &str| json!({ "session_id": "web", "cwd": "/src/shop", "tool_name": tool, "tool_use_id": file, "tool_input": { "file_path": file }, "tool_response": {} });
    let refused = |answer: &Value, word: &str| {
        assert_eq!(answer["accepted"], false, "{answer}");
        let why = answer["reason"].as_str().unwrap();
        assert!(why.contains(word), "{why}");
    };
    let kept = send("init", prompt("Keep this"));
    assert_eq!((&kept["accepted"], kept.get("reason")), (&json!(true), None));
    assert_eq!(kept.get("context"), None, "{kept}");
    let set = json!({ "ignore_paths": ["/src/shop/secret/**"], "skip_tools": ["Glob"] });
    let set = stage.call("PATCH", "/api/settings", &set.to_string());
    assert_eq!(set.status, 200, "{set:?}");
    refused(&send("observations", tool("Read", "/src/shop/secret/a")), "path");
    refused(&send("observations", tool("Glob", "/src/shop/b")), "tool");
    assert_eq!(send("observations", tool("Read", "/src/shop/c"))["accepted"], true);
    send("init", prompt("<private>All of this</private>"));
    refused(&send("observations", tool("Read", "/src/shop/d")), "private");
    let set = json!({ "ignore_projects": ["*"] }).to_string();
    stage.call("PATCH", "/api/settings", &set);
    refused(&send("init", prompt("Not this")), "project");
    stage.call("PATCH", "/api/settings", r#"{"ignore_projects":null}"#);
    stage.call("POST", "/api/pause", "{}");
    refused(&send("init", prompt("Nor this")), "paused");
}

#[test]
fn incomplete_body_is_not_reported_as_too_large() {
    let stage = TestServer::new();
    let mut stream = stage.connect();
    let (host, token) = (stage.host(), &stage.token);
    let head = format!(
        "POST /api/memory/save HTTP/1.1\r\nhost: {host}\r\nx-claude-mem-token: {token}\r\n\
         content-type: application/json\r\ntransfer-encoding: chunked\r\n\r\nnonsense\r\n"
    );
    std::io::Write::write_all(&mut stream, head.as_bytes()).unwrap();
    let reply = super::testing::read_response(&mut std::io::BufReader::new(stream));
    assert_eq!(reply.status, 400, "{reply:?}");
}

#[test]
fn readiness_sets_the_status_code() {
    let stage = TestServer::new();
    let ready = stage.get("/api/readiness");
    assert_eq!((ready.status, &ready.json()["ready"]), (200, &json!(true)));
    let db = stage.scratch.dir.db();
    std::fs::rename(&db, db.with_extension("away")).unwrap();
    let not = stage.get("/api/readiness");
    assert_eq!((not.status, &not.json()["ready"]), (503, &json!(false)));
    assert!(not.json()["problems"][0].is_string(), "{not:?}");
    assert!(not.json()["error"].is_string() && not.json()["hint"].is_string());
    std::fs::rename(db.with_extension("away"), &db).unwrap();
}

#[test]
fn corruption_found_by_a_read_starts_recovery() {
    use std::io::{Seek as _, Write as _};
    let stage = TestServer::with_turn();
    let db = stage.scratch.dir.db();
    let emptied = stage.worker.store.with(|store| store.checkpoint());
    emptied.unwrap();
    let mut file = std::fs::File::options().write(true).open(&db).unwrap();
    let length = file.metadata().unwrap().len();
    file.seek(std::io::SeekFrom::Start(100)).unwrap();
    file.write_all(&vec![0x5a; length as usize - 100]).unwrap();
    drop(file);
    let first = stage.get("/api/observations");
    assert_eq!(first.status, 503, "{first:?}");
    let second = stage.get("/api/observations");
    assert_eq!(second.status, 200, "{second:?}");
    let store = claude_mem_store::Store::open_read_only(&db).unwrap();
    let notice = store.read().meta(claude_mem_store::recovery::RECOVERY_NOTICE_KEY).unwrap();
    assert!(notice.is_some(), "and the person will be told");
}

#[test]
fn health_checks_do_not_reset_the_idle_timer() {
    let stage = TestServer::new();
    let later = std::time::Instant::now() + std::time::Duration::from_hours(10);
    let before = stage.worker.idle.idle_for(later);
    let health = stage.send("GET", "/health", &[], "");
    assert_eq!(health.status, 200);
    assert_eq!(stage.worker.idle.idle_for(later), before);
    stage.get("/api/health");
    assert!(stage.worker.idle.idle_for(later) < before);
}

#[test]
fn preview_budget_is_clamped_to_the_setting() {
    let stage = TestServer::with_turn();
    let budget = |tokens: u64| {
        let path = format!("/api/context/preview?tokens={tokens}");
        stage.get(&path).json()["budget"].as_u64().unwrap()
    };
    let setting = stage.get("/api/settings").json();
    let setting = setting["items"].as_array().unwrap().iter();
    let setting = setting.clone().find(|item| item["key"] == "context_tokens");
    let setting = setting.unwrap();
    assert_eq!(budget(0), setting["min"].as_u64().unwrap());
    assert_eq!(budget(4_000_000), setting["max"].as_u64().unwrap());
    assert_eq!(budget(900), 900);
}

#[test]
fn concurrent_setting_changes_are_all_kept() {
    let stage = TestServer::new();
    let keys = ["context_summary", "context_index", "context_preferences", "context_economics"];
    std::thread::scope(|scope| {
        for key in keys {
            let stage = &stage;
            scope.spawn(move || {
                for on in [true, false, true, false] {
                    let body = json!({ key: on }).to_string();
                    let set = stage.call("PATCH", "/api/settings", &body);
                    assert_eq!(set.status, 200, "{set:?}");
                    let text = std::fs::read_to_string(stage.scratch.dir.settings()).unwrap();
                    assert!(text.trim_end().ends_with('}'), "{text:?}");
                }
            });
        }
    });
    let settings = stage.get("/api/settings").json();
    for key in keys {
        let mut items = settings["items"].as_array().unwrap().iter();
        let item = items.find(|item| item["key"] == key).unwrap();
        assert_eq!(item["value"], false, "{key}");
    }
}

#[test]
fn hook_payloads_over_http_become_memories() {
    let stage = TestServer::new();
    let prompt = json!({ "session_id": "web", "hook_event_name": "UserPromptSubmit", "cwd": "/src/shop", "prompt": "Keep this <private>not this</private>" });
    assert_eq!(stage.call("POST", "/api/sessions/init", &prompt.to_string()).status, 200);
    let stop = json!({ "session_id": "web", "cwd": "/src/shop", "last_assistant_message": "Kept." });
    assert_eq!(stage.call("POST", "/api/sessions/summarize", &stop.to_string()).status, 200);
    let end = json!({ "session_id": "web", "cwd": "/src/shop", "reason": "exit" });
    assert_eq!(stage.call("POST", "/api/sessions/complete", &end.to_string()).status, 200);
    stage.worker.scheduler.flush(|| false).unwrap();
    let session = stage.get("/api/sessions/web").json();
    let said = session["prompts"][0]["text"].as_str().unwrap();
    assert!(said.contains("Keep this") && !said.contains("not this"), "{said}");
    assert_eq!(session["messages"][0]["text"], "Kept.");
    assert_eq!(session["session"]["status"], "completed");
}

#[test]
fn import_is_idempotent_and_leaves_no_file() {
    let (from, to) = (TestServer::with_turn(), TestServer::new());
    let mut document = Vec::new();
    let written = from.worker.store.with(|store| {
        let now = claude_mem_core::clock::Millis(5);
        let written = claude_mem_transfer::export::json::write_document(
            &store.read(),
            claude_mem_transfer::export::ExportScope::default(),
            now,
            &mut document,
        );
        Ok(written.unwrap())
    });
    let document = String::from_utf8(document).unwrap();
    let first = to.call("POST", "/api/import", &document);
    assert_eq!(first.status, 200, "{first:?}");
    let counts = &first.json()["counts"];
    assert_eq!(counts["prompts"]["imported"], written.unwrap().prompts);
    let again = to.call("POST", "/api/import", &document).json();
    assert_eq!(again["imported"], 0, "{again}");
    assert_eq!(
        to.get("/api/prompts").json()["items"][0]["text"],
        from.get("/api/prompts").json()["items"][0]["text"]
    );
    for wrong in [r#"{"format":"other"}"#, "[]", "7"] {
        assert_eq!(to.call("POST", "/api/import", wrong).status, 422, "{wrong}");
    }
}

#[test]
fn paused_capture_accepts_nothing() {
    let stage = TestServer::new();
    stage.call("POST", "/api/pause", "{}");
    assert_eq!(stage.get("/api/processing-status").json()["paused"], true);
    let prompt = json!({ "session_id": "web", "cwd": "/src/shop", "prompt": "Keep this" });
    let answer = stage.call("POST", "/api/sessions/init", &prompt.to_string());
    assert_eq!((answer.status, &answer.json()["accepted"]), (200, &json!(false)));
    stage.worker.scheduler.flush(|| false).unwrap();
    assert_eq!(stage.get("/api/sessions/web").status, 404);
    stage.call("POST", "/api/resume", "{}");
    assert_eq!(stage.get("/api/processing-status").json()["paused"], false);
}

#[test]
fn trouble_with_the_model_is_in_readiness_and_health() {
    let stage = TestServer::with_turn();
    stage.call(
        "PATCH",
        "/api/settings",
        r#"{"provider":"openai","model":"m","base_url":"http://127.0.0.1:9/v1"}"#,
    );
    assert_eq!(stage.get("/api/readiness").status, 200);
    let trouble = json!({
        "kind": "invalid_answer", "why": "the model's answer is empty", "provider": "openai", "since": 1, "last": 2,
    });
    let key = "model_trouble";
    let write =
        |store: &mut claude_mem_store::Store| store.write(|tx| tx.set_meta(key, &trouble.to_string()));
    stage.worker.store.with(write).unwrap();
    let ready = stage.get("/api/readiness");
    assert_eq!(ready.status, 503);
    assert!(ready.json()["problems"][0].as_str().unwrap().contains("answer is empty"), "{:#}", ready.json());
    let stats = stage.get("/api/stats").json();
    let health = stats["health"].as_array().unwrap();
    let found =
        health.iter().find(|one| one["problem"].as_str().unwrap().contains("answer is empty")).unwrap();
    assert!(found["fix"].as_str().unwrap().contains("claude-mem config set model"), "{found:#}");
    // The notice ends when no model is configured.
    stage.call("PATCH", "/api/settings", r#"{"provider":"local"}"#);
    assert_eq!(stage.get("/api/readiness").status, 200);
}
