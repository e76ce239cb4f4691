//! Filters that several lists share, and their resolution to a filter of the store.

use schemars::JsonSchema;
use serde::Deserialize;

use super::api::ApiState;
use super::lookup;
use super::paging::page;
use super::problem::Problem;
use claude_mem_core::agents::{AGENTS, CodingAgent};
use claude_mem_core::clock::Millis;
use claude_mem_core::memory::ObservationType;
use claude_mem_search::date_arg;
use claude_mem_store::{PageRequest, RowFilter, RowKind, StoreReader};

/// Filters and page of a list of observations.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct ObservationListParams {
    pub(super) offset: u32,
    pub(super) limit: Option<u32>,
    /// Project id or name.
    pub(super) project: Option<String>,
    /// Our session id, or the client's.
    pub(super) session: Option<String>,
    /// Observation types, separated by commas.
    pub(super) r#type: Option<String>,
    pub(super) concept: Option<String>,
    /// A path, a path suffix, or a directory.
    pub(super) file: Option<String>,
    /// Only pinned observations.
    pub(super) pinned: bool,
    /// Only observations marked as wrong.
    pub(super) wrong: bool,
    /// Milliseconds since 1970, a date, a time, or an age such as `3d`.
    pub(super) since: Option<String>,
    /// Same formats; a date includes the whole day.
    pub(super) until: Option<String>,
}

/// Filters and page of a list of summaries, which have files but no type or concepts.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct SummaryListParams {
    offset: u32,
    limit: Option<u32>,
    /// Project id or name.
    project: Option<String>,
    /// Our session id, or the client's.
    session: Option<String>,
    /// A path, a path suffix, or a directory.
    file: Option<String>,
    /// Milliseconds since 1970, a date, a time, or an age such as `3d`.
    since: Option<String>,
    /// Same formats; a date includes the whole day.
    until: Option<String>,
}

/// Filters and page of a list of prompts or messages, which have no files either.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct MessageListParams {
    offset: u32,
    limit: Option<u32>,
    /// Project id or name.
    project: Option<String>,
    /// Our session id, or the client's.
    session: Option<String>,
    /// Milliseconds since 1970, a date, a time, or an age such as `3d`.
    since: Option<String>,
    /// Same formats; a date includes the whole day.
    until: Option<String>,
}

impl From<SummaryListParams> for ObservationListParams {
    fn from(asked: SummaryListParams) -> Self {
        Self {
            offset: asked.offset,
            limit: asked.limit,
            project: asked.project,
            session: asked.session,
            file: asked.file,
            since: asked.since,
            until: asked.until,
            ..Self::default()
        }
    }
}

impl From<MessageListParams> for ObservationListParams {
    fn from(asked: MessageListParams) -> Self {
        Self {
            offset: asked.offset,
            limit: asked.limit,
            project: asked.project,
            session: asked.session,
            since: asked.since,
            until: asked.until,
            ..Self::default()
        }
    }
}

impl ObservationListParams {
    /// The requested page.
    pub(super) fn page(&self) -> PageRequest {
        page(self.offset, self.limit)
    }

    /// Resolves the parameters to a filter of the store.
    pub(super) fn filter(&self, api: &ApiState, reads: &StoreReader<'_>) -> Result<RowFilter, Problem> {
        let session = self.session.as_deref();
        Ok(RowFilter {
            project: lookup::resolve_project(reads, self.project.as_deref())?,
            session: session
                .map(|text| lookup::find_session(reads, text))
                .transpose()?
                .map(|session| session.id),
            types: parse_types(self.r#type.as_deref()),
            concepts: self.concept.clone().into_iter().collect(),
            files: self.file.clone().into_iter().collect(),
            pinned: self.pinned,
            wrong: self.wrong,
            since: parse_since(api, self.since.as_deref())?,
            until: parse_until(api, self.until.as_deref())?,
            ..RowFilter::default()
        })
    }
}

/// Parses observation types separated by commas.
pub(super) fn parse_types(text: Option<&str>) -> Vec<ObservationType> {
    let names = text.unwrap_or_default().split(',').map(str::trim);
    names.filter(|name| !name.is_empty()).map(|name| ObservationType::named(name.to_lowercase())).collect()
}

/// Parses the start of a time range.
pub(super) fn parse_since(api: &ApiState, text: Option<&str>) -> Result<Option<Millis>, Problem> {
    text.map(|text| parse_time(api, text, date_arg::parse_time)).transpose()
}

/// Parses the end of a time range; a date means the end of that day.
pub(super) fn parse_until(api: &ApiState, text: Option<&str>) -> Result<Option<Millis>, Problem> {
    text.map(|text| parse_time(api, text, date_arg::parse_time_end)).transpose()
}

fn parse_time(api: &ApiState, text: &str, as_person: date_arg::TimeParser) -> Result<Millis, Problem> {
    let as_millis = || text.trim().parse().ok().map(Millis);
    as_person(text, api.now(), &api.zone).or_else(as_millis).ok_or_else(|| {
        let hint = "Use milliseconds since 1970, a date such as 2026-11-15, or an age such as 3d.";
        Problem::bad_request(format!("{text:?} is not a time"), hint)
    })
}

/// Parses row kinds separated by commas.
pub(super) fn parse_kinds(text: Option<&str>) -> Result<Vec<RowKind>, Problem> {
    let names = text.unwrap_or_default().split(',').map(str::trim);
    let kind = |name: &str| {
        RowKind::from_name(name).ok_or_else(|| {
            let hint = "Kinds are observation, summary, prompt and message.";
            Problem::bad_request(format!("{name:?} is not a kind"), hint)
        })
    };
    names.filter(|name| !name.is_empty()).map(kind).collect()
}

/// Parses the name of a coding agent.
pub(super) fn parse_agent(text: Option<&str>) -> Result<Option<&'static str>, Problem> {
    let Some(text) = text.map(str::trim).filter(|text| !text.is_empty()) else { return Ok(None) };
    let names = || AGENTS.iter().map(|agent| agent.name).collect::<Vec<_>>().join(", ");
    let found = CodingAgent::by_name(text).map(|agent| agent.name);
    found.map(Some).ok_or_else(|| {
        Problem::bad_request(format!("{text:?} is not an agent"), format!("Agents are {}.", names()))
    })
}
