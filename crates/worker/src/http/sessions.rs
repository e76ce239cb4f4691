//! The list of sessions, and one session with its rows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::ledger::{LedgerEntryView, ledger_entries};
use super::list_params::{parse_agent, parse_since, parse_until};
use super::lookup;
use super::paging::{ListPage, map_page, page};
use super::problem::Problem;
use super::route::NoParams;
use super::rows::{
    AccountView, AgentRef, MessageView, ObservationView, PromptView, SessionView, SummaryView,
};
use super::view_builder::{ViewBuilder, agent_ref};
use claude_mem_core::limits::HTTP_SESSION_ROWS_MAX;
use claude_mem_store::{FeedbackSignal, PageRequest, RowFilter, RowPage, SessionStatus};

/// Filters and page of the list of sessions.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SessionListParams {
    offset: u32,
    limit: Option<u32>,
    /// Project id or name.
    project: Option<String>,
    status: Option<SessionStatus>,
    /// `claude-code`, `codex`, …
    agent: Option<String>,
    /// Milliseconds since 1970, a date, a time, or an age such as `3d`.
    since: Option<String>,
    /// Same formats; a date includes the whole day.
    until: Option<String>,
}

/// Handles `GET /api/sessions`.
pub(super) fn list(
    api: &ApiState,
    _: &PathParams,
    which: SessionListParams,
) -> Result<ListPage<SessionView>, Problem> {
    api.view(|reads| {
        let filter = RowFilter {
            project: lookup::resolve_project(reads, which.project.as_deref())?,
            status: which.status,
            client: parse_agent(which.agent.as_deref())?.map(str::to_owned),
            since: parse_since(api, which.since.as_deref())?,
            until: parse_until(api, which.until.as_deref())?,
            ..RowFilter::default()
        };
        let (page, mut views) = (page(which.offset, which.limit), ViewBuilder::new(reads));
        map_page(page, reads.sessions(&filter, page)?, |row| views.session_view(row))
    })
}

/// The agents that have sessions.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Agents")]
pub(super) struct AgentListView {
    items: Vec<AgentRef>,
}

/// Handles `GET /api/agents`.
pub(super) fn agents(api: &ApiState, _: &PathParams, _: NoParams) -> Result<AgentListView, Problem> {
    let clients = api.view(|reads| Ok(reads.session_clients()?))?;
    Ok(AgentListView { items: clients.iter().map(|client| agent_ref(client)).collect() })
}

/// A session with its rows, oldest first. A very long session lists only the newest rows of each
/// kind; its counts cover all of them.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Whole")]
pub(super) struct SessionDetail {
    session: SessionView,
    prompts: Vec<PromptView>,
    observations: Vec<ObservationView>,
    summaries: Vec<SummaryView>,
    messages: Vec<MessageView>,
    /// The account of the whole session.
    account: Option<AccountView>,
    /// Memories injected into the session, and why.
    injections: Vec<LedgerEntryView>,
    told: InjectedTotals,
    spend: SessionSpend,
    /// The lists that are truncated. `?session=` of the other lists, and of the ledger, returns all rows.
    has_more: SessionHasMore,
}

/// Whether each list of a session was cut.
#[derive(Debug, Default, Serialize, JsonSchema)]
#[allow(clippy::struct_excessive_bools, reason = "one independent flag per list")]
#[schemars(rename = "HasMore")]
struct SessionHasMore {
    prompts: bool,
    observations: bool,
    summaries: bool,
    messages: bool,
    injections: bool,
}

/// Totals of all injected memories, listed or not.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Told")]
struct InjectedTotals {
    memories: usize,
    tokens: u64,
}

/// Model tokens and calls spent on a session.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Spent")]
struct SessionSpend {
    tokens: u64,
    calls: u64,
}

/// Handles `GET /api/sessions/{id}`.
pub(super) fn get_session(
    api: &ApiState,
    params: &PathParams,
    _: NoParams,
) -> Result<SessionDetail, Problem> {
    api.view(|reads| {
        let session = lookup::find_session(reads, params.text("id"))?;
        let (id, called) = (session.id, session.client_session.clone());
        let of_it = RowFilter { session: Some(id), ..RowFilter::default() };
        let all = PageRequest::first(HTTP_SESSION_ROWS_MAX);
        let mut views = ViewBuilder::new(reads);
        let (prompts, observations) = (reads.prompts(&of_it, all)?, reads.observations(&of_it, all)?);
        let (summaries, messages) = (reads.summaries(&of_it, all)?, reads.final_messages(&of_it, all)?);
        let mut has_more = SessionHasMore {
            prompts: prompts.has_more,
            observations: observations.has_more,
            summaries: summaries.has_more,
            messages: messages.has_more,
            injections: false,
        };
        let mut told = reads.feedback_for_session(&called.0)?;
        told.retain(|entry| entry.signal == FeedbackSignal::Injected);
        let all_told = InjectedTotals {
            memories: told.len(),
            tokens: told.iter().map(|entry| u64::from(entry.tokens)).sum(),
        };
        let earlier = told.len().saturating_sub(HTTP_SESSION_ROWS_MAX as usize);
        told.drain(..earlier);
        has_more.injections = earlier > 0;
        let account = reads.account_of_session(id)?.map(|row| views.account(row)).transpose()?;
        let spent = reads.spend_of_session(id)?;
        Ok(SessionDetail {
            session: views.session_view(session)?,
            prompts: oldest_first(prompts, |row| views.prompt(row))?,
            observations: oldest_first(observations, |row| views.observation(row))?,
            summaries: oldest_first(summaries, |row| views.summary(row))?,
            messages: oldest_first(messages, |row| views.message(row))?,
            account,
            injections: ledger_entries(reads, told)?,
            told: all_told,
            spend: SessionSpend { tokens: spent.tokens, calls: spent.calls },
            has_more,
        })
    })
}

/// Reverses rows that come newest first.
fn oldest_first<T, V>(
    rows: RowPage<T>,
    view: impl FnMut(T) -> Result<V, Problem>,
) -> Result<Vec<V>, Problem> {
    rows.items.into_iter().rev().map(view).collect()
}
