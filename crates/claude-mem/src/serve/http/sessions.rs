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
use crate::store::{Filter, Page, Reads, Session, SessionStatus, Signal};

#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
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

/// By our number, or by its client's id.
pub(super) fn find(reads: &Reads<'_>, text: &str) -> Result<Session, Problem> {
    if let Ok(id) = text.parse() {
        return Ok(reads.session(SessionId(id))?);
    }
    let found = reads.session_called(&ClientSessionId(text.to_owned()))?;
    found.ok_or_else(|| Problem::not_there(format!("session {text:?}")))
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Whole {
    session: SessionView,
    prompts: Vec<PromptView>,
    observations: Vec<ObservationView>,
    summaries: Vec<SummaryView>,
    messages: Vec<MessageView>,
    /// What it was told, and why.
    injections: Vec<Entry>,
    spend: Spent,
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
            oldest_first: true,
            ..Filter::default()
        };
        let all = Page::first(HTTP_SESSION_ROWS_MAX);
        let mut views = Views::new(reads);
        let prompts = reads.prompts(&of_it, all)?.items.into_iter();
        let prompts = prompts
            .map(|row| views.prompt(row))
            .collect::<Result<_, _>>()?;
        let observations = reads.observations(&of_it, all)?.items.into_iter();
        let observations = observations
            .map(|row| views.observation(row))
            .collect::<Result<_, _>>()?;
        let summaries = reads.summaries(&of_it, all)?.items.into_iter();
        let summaries = summaries
            .map(|row| views.summary(row))
            .collect::<Result<_, _>>()?;
        let messages = reads.final_messages(&of_it, all)?.items.into_iter();
        let messages = messages
            .map(|row| views.message(row))
            .collect::<Result<_, _>>()?;
        let mut told = reads.feedback_in_session(&called.0)?;
        told.retain(|entry| entry.signal == Signal::Injected);
        told.truncate(HTTP_SESSION_ROWS_MAX as usize);
        let spent = reads.spend_of_session(id)?;
        Ok(Whole {
            session: views.session_view(session)?,
            prompts,
            observations,
            summaries,
            messages,
            injections: entries(reads, told)?,
            spend: Spent {
                tokens: spent.tokens,
                calls: spent.calls,
            },
        })
    })
}
