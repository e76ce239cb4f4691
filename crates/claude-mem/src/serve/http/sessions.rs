//! Sessions, and one of them in full.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::Api;
use super::call::Params;
use super::ledger::{Entry, entries};
use super::lists::{listed, page};
use super::problem::Problem;
use super::projects;
use super::route::Nothing;
use super::rows::{
    Listed, MessageView, ObservationView, PromptView, SessionView, SummaryView, Views,
};
use crate::ids::{ClientSessionId, SessionId};
use crate::limits::HTTP_SESSION_ROWS_MAX;
use crate::store::{Filter, Page, Paged, Reads, Session, SessionStatus, Signal, StoreError};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Which {
    offset: u32,
    limit: Option<u32>,
    /// An id, or a name.
    project: Option<String>,
    status: Option<SessionStatus>,
}

pub(super) fn list(api: &Api, _: &Params, which: Which) -> Result<Listed<SessionView>, Problem> {
    api.view(|reads| {
        let filter = Filter {
            project: projects::named(reads, which.project.as_deref())?,
            status: which.status,
            ..Filter::default()
        };
        let (page, mut views) = (page(which.offset, which.limit), Views::new(reads));
        listed(page, reads.sessions(&filter, page)?, |row| {
            views.session_view(row)
        })
    })
}

/// By our number, or by its client's id. A number is ours, and the client's where we have no such
/// session; `client:42` is the client's in any case.
pub(super) fn find(reads: &Reads<'_>, text: &str) -> Result<Session, Problem> {
    if let Ok(id) = text.parse() {
        match reads.session(SessionId(id)) {
            Err(StoreError::NoSuchRow { .. }) => {}
            found => return Ok(found?),
        }
    }
    let text = text.strip_prefix("client:").unwrap_or(text);
    let found = reads.session_called(&ClientSessionId(text.to_owned()))?;
    found.ok_or_else(|| Problem::not_there(format!("session {text:?}")))
}

/// A session with its rows, oldest first. Of a very long one they are the newest of each kind; its
/// own counts are those of all.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Whole {
    session: SessionView,
    prompts: Vec<PromptView>,
    observations: Vec<ObservationView>,
    summaries: Vec<SummaryView>,
    messages: Vec<MessageView>,
    /// What it was told, and why.
    injections: Vec<Entry>,
    told: Told,
    spend: Spent,
    /// Of which there are earlier ones: the lists with `?session=`, and the ledger, have them all.
    has_more: HasMore,
}

#[derive(Debug, Default, Serialize, JsonSchema)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "one for each list, whatever the others are"
)]
struct HasMore {
    prompts: bool,
    observations: bool,
    summaries: bool,
    messages: bool,
    injections: bool,
}

/// All that it was told, also what is not listed.
#[derive(Debug, Serialize, JsonSchema)]
struct Told {
    memories: usize,
    tokens: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Spent {
    tokens: u64,
    calls: u64,
}

pub(super) fn one(api: &Api, params: &Params, _: Nothing) -> Result<Whole, Problem> {
    api.view(|reads| {
        let session = find(reads, params.text("id"))?;
        let (id, called) = (session.id, session.client_session.clone());
        let of_it = Filter {
            session: Some(id),
            ..Filter::default()
        };
        let all = Page::first(HTTP_SESSION_ROWS_MAX);
        let mut views = Views::new(reads);
        let (prompts, observations) = (
            reads.prompts(&of_it, all)?,
            reads.observations(&of_it, all)?,
        );
        let (summaries, messages) = (
            reads.summaries(&of_it, all)?,
            reads.final_messages(&of_it, all)?,
        );
        let mut has_more = HasMore {
            prompts: prompts.has_more,
            observations: observations.has_more,
            summaries: summaries.has_more,
            messages: messages.has_more,
            injections: false,
        };
        let mut told = reads.feedback_in_session(&called.0)?;
        told.retain(|entry| entry.signal == Signal::Injected);
        let all_told = Told {
            memories: told.len(),
            tokens: told.iter().map(|entry| u64::from(entry.tokens)).sum(),
        };
        let earlier = told.len().saturating_sub(HTTP_SESSION_ROWS_MAX as usize);
        told.drain(..earlier);
        has_more.injections = earlier > 0;
        let spent = reads.spend_of_session(id)?;
        Ok(Whole {
            session: views.session_view(session)?,
            prompts: oldest_first(prompts, |row| views.prompt(row))?,
            observations: oldest_first(observations, |row| views.observation(row))?,
            summaries: oldest_first(summaries, |row| views.summary(row))?,
            messages: oldest_first(messages, |row| views.message(row))?,
            injections: entries(reads, told)?,
            told: all_told,
            spend: Spent {
                tokens: spent.tokens,
                calls: spent.calls,
            },
            has_more,
        })
    })
}

/// Rows that come newest first, the other way round.
fn oldest_first<T, V>(
    rows: Paged<T>,
    view: impl FnMut(T) -> Result<V, Problem>,
) -> Result<Vec<V>, Problem> {
    rows.items.into_iter().rev().map(view).collect()
}
