//! The route table: method, path, access rule and handler of every [`Route`].
//!
//! The router, the guard's tests and the OpenAPI document are generated from it. To add a route,
//! write its handler in the file of its resource and add a line here. `docs/http.md` repeats the
//! summaries; a test compares the two.

use super::accounts;
use super::bulk;
use super::capture;
use super::context;
use super::feed;
use super::health;
use super::import;
use super::ledger;
use super::lists;
use super::memory;
use super::observations;
use super::openapi;
use super::pause;
use super::projects;
use super::provenance;
use super::queue;
use super::recall_preview;
use super::review;
use super::route::{Route, RouteAction, RouteMethod, change, delete, get, get_with_status, post};
use super::search;
use super::sessions;
use super::settings;
use super::stats;
use super::team;
use super::tokens;
use super::turns;
use super::usage;
use claude_mem_core::limits::HOOK_INPUT_BYTES_MAX;

/// Maximum bytes of a request body that uploads an export.
const HTTP_IMPORT_BYTES_MAX: usize = 64 << 20;

/// Every route of the server.
pub(super) fn routes() -> Vec<Route> {
    [server_routes(), memory_routes(), pipeline_routes()].into_iter().flatten().collect()
}

/// The viewer, the event stream, health, description and tokens.
#[rustfmt::skip]
fn server_routes() -> Vec<Route> {
    vec![
        Route::new(RouteMethod::Get, "/", "The viewer", RouteAction::Page).page_access(),
        Route::new(RouteMethod::Get, "/assets/{version}/{file}", "A file of the viewer", RouteAction::Asset).open_access(),
        Route::new(RouteMethod::Get, "/stream", "Changes as server-sent events; resumes after Last-Event-ID", RouteAction::Stream),
        get("/health", "Liveness of the worker", health::health).open_access(),
        get("/api/health", "Liveness of the worker", health::health),
        get_with_status("/api/readiness", "Readiness: 503 if memories are not being made as configured", health::readiness, health::readiness_status),
        get("/api/version", "Version of the program and of the database schema", health::version),
        get("/api/openapi.json", "This API as an OpenAPI document", openapi::document),
        post("/api/page/token", "Exchanges the secret of a link for a page token, once", tokens::exchange_link).open_access(),
        post("/api/token/rotate", "Replaces the install token; the old one is revoked at once", tokens::rotate),
    ]
}

/// Stored memories: lists, search, edits and session context.
#[rustfmt::skip]
fn memory_routes() -> Vec<Route> {
    vec![
        get("/api/feed", "All memories, newest first, page by page", feed::feed),
        get("/api/turns", "Turns with their rows, the last active one first", turns::list),
        get("/api/turns/{session}/{number}", "One turn", turns::get_turn),
        get("/api/running", "Turns that agents are at work on", turns::running),
        get("/api/search", "Search results, best first", search::search).with_search_limit(),
        get("/api/timeline", "Rows before and after a row", search::timeline),
        get("/api/observations", "Memories, newest first", observations::list),
        get("/api/observations/{id}", "One memory", observations::get_observation),
        change(RouteMethod::Patch, "/api/observations/{id}", "Edits a memory", observations::edit),
        delete("/api/observations/{id}", "Forgets a memory", observations::forget),
        get("/api/observations/{id}/provenance", "Sources, use, versions and replacements of a memory", provenance::provenance).with_search_limit(),
        post("/api/observations/{id}/replace", "Marks a memory as replaced by another, or keeps both", bulk::replace),
        post("/api/observations/batch", "Memories by id", observations::batch),
        get("/api/summaries", "Summaries of turns, newest first", lists::summaries),
        get("/api/summaries/{id}", "One summary", lists::summary),
        delete("/api/summaries/{id}", "Forgets a summary", lists::forget_summary),
        get("/api/accounts", "Accounts of whole sessions, newest first", accounts::accounts),
        get("/api/accounts/{id}", "One account", accounts::account),
        delete("/api/accounts/{id}", "Forgets an account", accounts::forget_account),
        get("/api/open-items", "Work that sessions left open, newest first", accounts::open_items),
        post("/api/open-items/{id}/close", "Closes an open item by hand", accounts::close_item),
        post("/api/open-items/{id}/reopen", "Reopens an open item by hand", accounts::reopen_item),
        get("/api/prompts", "Prompts, newest first", lists::prompts),
        get("/api/prompts/{id}", "One prompt", lists::prompt),
        delete("/api/prompts/{id}", "Forgets a prompt", lists::forget_prompt),
        get("/api/messages", "Final messages of the agent, one per turn, newest first", lists::messages),
        get("/api/messages/{id}", "One message", lists::message),
        delete("/api/messages/{id}", "Forgets a message", lists::forget_message),
        post("/api/memory/save", "Saves a memory by hand", memory::save),
        post("/api/memory/{kind}/{id}/restore", "Restores a forgotten row", memory::restore),
        post("/api/memory/bulk", "Changes, forgets or restores several rows", bulk::bulk),
        get("/api/siblings", "Rows that repeat what these rows say", provenance::siblings),
        get("/api/review", "Memories that need a decision, by reason", review::review),
        post("/api/review/keep", "Keeps a memory that the review lists, or lists it again", review::keep),
        get("/api/trash", "Forgotten rows that can be restored", bulk::trash),
        post("/api/feedback", "Records feedback on a memory", memory::feedback),
        get("/api/team", "The team of this machine: members, what is shared, whether it is in step", team::team),
        get("/api/projects", "Projects, most recently active first", projects::list),
        get("/api/projects/{id}/files", "Files that memories of a project refer to", projects::files),
        get("/api/agents", "Coding agents that have sessions", sessions::agents),
        get("/api/sessions", "Sessions, newest first", sessions::list),
        get("/api/sessions/{id}", "One session with its rows, injections and cost", sessions::get_session),
        get("/api/context/preview", "The context the next session would receive, and why", context::preview),
        post("/api/context/inject", "The context for a session that starts now", context::inject),
        post("/api/context/semantic", "What a prompt, an error or a file makes the hook inject", recall_preview::semantic).with_search_limit(),
    ]
}

/// The pipeline that makes memories: queue, cost, settings, capture and import.
#[rustfmt::skip]
fn pipeline_routes() -> Vec<Route> {
    let hook = |path, about, run| post(path, about, run).with_body_limit(HOOK_INPUT_BYTES_MAX);
    vec![
        get("/api/stats", "Statistics for the dashboard", stats::stats),
        get("/api/processing-status", "Queue counts, active sessions and pause state", queue::status),
        get("/api/queue", "Queued events, newest first, without their content", queue::list),
        post("/api/queue/{id}/retry", "Retries a dead event", queue::retry),
        delete("/api/queue/{id}", "Deletes a dead event", queue::drop_dead),
        get("/api/spend", "Model calls and their cost, newest first", ledger::spend),
        get("/api/ledger", "Where one row was shown, or what one session was shown", ledger::ledger),
        get("/api/usage", "What sessions received, and what they used of it", usage::usage),
        get("/api/settings", "Every setting; secrets are never returned", settings::list),
        change(RouteMethod::Patch, "/api/settings", "Changes settings; null restores the default", settings::edit),
        post("/api/pause", "Pauses capture until resumed, or for a number of minutes", pause::pause),
        post("/api/resume", "Resumes capture", pause::resume),
        post("/api/worker/restart", "Restarts the worker", pause::restart),
        hook("/api/sessions/init", "Hook payload: session start or prompt", capture::init),
        hook("/api/sessions/observations", "Hook payload: tool use", capture::observation),
        hook("/api/sessions/summarize", "Hook payload: end of a turn", capture::summarize),
        hook("/api/sessions/complete", "Hook payload: end of a session", capture::complete),
        post("/api/import", "Imports an export", import::import).with_body_limit(HTTP_IMPORT_BYTES_MAX),
    ]
}
