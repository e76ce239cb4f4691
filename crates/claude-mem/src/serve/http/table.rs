//! Every route, once: how it is called, who may call it, what goes in and what comes out.
//!
//! The router, the tests of the guard and the OpenAPI document are made from it. To add a route,
//! write its handler in the file of its noun and add a line here.

use super::route::{Act, Method, Route, change, delete, get, get_saying, post};
use super::{
    capture, context, feed, health, import, ledger, lists, memory, observations, openapi, pause,
    projects, queue, search, sessions, settings, stats, tokens,
};
use crate::limits::{HOOK_INPUT_BYTES_MAX, HTTP_IMPORT_BYTES_MAX};

/// The table.
pub(super) fn routes() -> Vec<Route> {
    [itself(), memories(), working()]
        .into_iter()
        .flatten()
        .collect()
}

/// The page, the stream, and the server itself.
#[rustfmt::skip]
fn itself() -> Vec<Route> {
    vec![
        Route::of(Method::Get, "/", "The viewer", Act::Page).visited(),
        Route::of(Method::Get, "/assets/{version}/{file}", "The viewer's files", Act::Asset).open(),
        Route::of(Method::Get, "/stream", "What happens, as server-sent events; resumes after Last-Event-ID", Act::Stream),
        get("/health", "Whether the worker answers", health::health).open(),
        get("/api/health", "Whether the worker answers", health::health),
        get_saying("/api/readiness", "Whether memories are made as they are set up to be", health::readiness, health::is_ready),
        get("/api/version", "Versions of the program and of the database", health::version),
        get("/api/openapi.json", "The whole API as an OpenAPI document", openapi::document),
        post("/api/page/token", "Trades the secret of a link for a page's token, once", tokens::enter).open(),
        post("/api/token/rotate", "A new install token; the old one is void at once", tokens::rotate),
    ]
}

/// What is remembered.
#[rustfmt::skip]
fn memories() -> Vec<Route> {
    vec![
        get("/api/feed", "Everything, newest first, page by page", feed::feed),
        get("/api/search", "What fits a question, best first", search::search).searching(),
        get("/api/timeline", "What happened around a row", search::timeline),
        get("/api/observations", "Observations, newest first", observations::list),
        get("/api/observations/{id}", "One observation", observations::one),
        change(Method::Patch, "/api/observations/{id}", "Corrects an observation", observations::edit),
        delete("/api/observations/{id}", "Forgets an observation", observations::forget),
        post("/api/observations/batch", "Observations by their ids", observations::batch),
        get("/api/summaries", "Summaries, newest first", lists::summaries),
        get("/api/summaries/{id}", "One summary", lists::summary),
        delete("/api/summaries/{id}", "Forgets a summary", lists::forget_summary),
        get("/api/prompts", "Prompts, newest first", lists::prompts),
        get("/api/prompts/{id}", "One prompt", lists::prompt),
        delete("/api/prompts/{id}", "Forgets a prompt", lists::forget_prompt),
        get("/api/messages", "The agent's last words of each turn, newest first", lists::messages),
        get("/api/messages/{id}", "One message", lists::message),
        delete("/api/messages/{id}", "Forgets a message", lists::forget_message),
        post("/api/memory/save", "Keeps something by hand", memory::save),
        post("/api/memory/{kind}/{id}/restore", "Brings back what was forgotten", memory::restore),
        post("/api/feedback", "Says what a memory was worth", memory::feedback),
        get("/api/projects", "Projects, the most recent first", projects::list),
        get("/api/sessions", "Sessions, newest first", sessions::list),
        get("/api/sessions/{id}", "One session: what was said, kept, told and spent", sessions::one),
        get("/api/context/preview", "What the next session would be told, and why", context::preview),
        post("/api/context/inject", "What a session that starts now is told", context::inject),
        post("/api/context/semantic", "What a prompt brings to mind", context::semantic).searching(),
    ]
}

/// How memories come to be, and what it costs.
#[rustfmt::skip]
fn working() -> Vec<Route> {
    let hook = |path, about, run| post(path, about, run).up_to(HOOK_INPUT_BYTES_MAX);
    vec![
        get("/api/stats", "Figures for the dashboard", stats::stats),
        get("/api/processing-status", "What is being worked on", queue::status),
        get("/api/queue", "Events on their way, newest first; never their content", queue::list),
        post("/api/queue/{id}/retry", "A dead event waits again", queue::retry),
        delete("/api/queue/{id}", "Drops a dead event for good", queue::drop_dead),
        get("/api/spend", "Calls of models and what they cost, newest first", ledger::spend),
        get("/api/ledger", "What was shown, of one row or to one session", ledger::ledger),
        get("/api/settings", "Every setting; secrets are never returned", settings::list),
        change(Method::Patch, "/api/settings", "Changes settings; null goes back to the default", settings::edit),
        post("/api/pause", "Keeps nothing until resumed, or for so many minutes", pause::pause),
        post("/api/resume", "Keeps things again", pause::resume),
        hook("/api/sessions/init", "A session starts, or a prompt: what its hook sends", capture::init),
        hook("/api/sessions/observations", "A tool was used: what its hook sends", capture::observation),
        hook("/api/sessions/summarize", "A turn ends: what its hook sends", capture::summarize),
        hook("/api/sessions/complete", "A session ends: what its hook sends", capture::complete),
        post("/api/import", "Takes in an export", import::import).up_to(HTTP_IMPORT_BYTES_MAX),
    ]
}
