//! The request and response types of search: [`SearchRequest`] in, [`SearchResponse`] out.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::rank::ScoreParts;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, ProjectId, SessionId};
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_store::{PageRequest, RowId, RowKind};

/// Which projects a search covers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ProjectScope {
    /// All projects, including user-level memories.
    #[default]
    All,
    /// This project; falls back to other projects if it has no match, and the response says so.
    ProjectFirst(ProjectId),
    /// This project only.
    ProjectOnly(ProjectId),
    /// The current directory belongs to no known project; falls back to all projects.
    UnknownProject,
}

/// Sort order of the results.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ResultOrder {
    /// Best match first; newest first when there are no query words.
    #[default]
    Relevance,
    NewestFirst,
    OldestFirst,
}

/// One search. Without query words it is a filtered list, newest first.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// The text as typed: words, operators and filters.
    pub text: String,
    pub project_scope: ProjectScope,
    /// Row kinds to return; empty means all.
    pub kinds: Vec<RowKind>,
    /// Observation types, any of which matches; implies observations only.
    pub types: Vec<ObservationType>,
    /// Concepts, all of which must match.
    pub concepts: Vec<String>,
    /// Files, any of which matches: a path, a path suffix, or a folder.
    pub files: Vec<String>,
    /// Earliest creation time, inclusive.
    pub since: Option<Millis>,
    /// Latest creation time, exclusive.
    pub until: Option<Millis>,
    /// Excludes rows of this session, which already has them in its context.
    pub exclude_session: Option<SessionId>,
    /// Includes observations marked as wrong.
    pub include_wrong: bool,
    /// The last word may be incomplete (search as you type), so it is also matched as a prefix.
    pub is_incomplete: bool,
    pub order: ResultOrder,
    /// The page of results to return.
    pub page: PageRequest,
    /// The current time, for relative dates.
    pub now: Millis,
    /// The user's time zone, for calendar dates.
    pub zone: TimeZone,
}

impl SearchRequest {
    /// A search over all projects with no filters, first page.
    pub fn new(text: impl Into<String>, now: Millis) -> Self {
        Self {
            text: text.into(),
            project_scope: ProjectScope::All,
            kinds: Vec::new(),
            types: Vec::new(),
            concepts: Vec::new(),
            files: Vec::new(),
            since: None,
            until: None,
            exclude_session: None,
            include_wrong: false,
            is_incomplete: false,
            order: ResultOrder::default(),
            page: PageRequest::first(20),
            now,
            zone: TimeZone::UTC,
        }
    }

    /// Sets the project scope.
    #[must_use]
    pub fn in_scope(mut self, whose: ProjectScope) -> Self {
        self.project_scope = whose;
        self
    }

    /// Sets the row kinds to return.
    #[must_use]
    pub fn kinds(mut self, kinds: &[RowKind]) -> Self {
        self.kinds = kinds.to_vec();
        self
    }

    /// Sets the page to return.
    #[must_use]
    pub fn page(mut self, page: PageRequest) -> Self {
        self.page = page;
        self
    }

    /// Observations tagged with a concept.
    pub fn by_concept(concept: &str, now: Millis) -> Self {
        let concepts = vec![concept.to_owned()];
        let kinds = vec![RowKind::Observation];
        Self { kinds, concepts, ..Self::new("", now) }
    }

    /// Observations and summaries about a file: a path, a path suffix, or a folder.
    pub fn by_file(file: &str, now: Millis) -> Self {
        let files = vec![file.to_owned()];
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        Self { kinds, files, ..Self::new("", now) }
    }

    /// Observations of one type.
    pub fn by_type(kind: ObservationType, now: Millis) -> Self {
        let kinds = vec![RowKind::Observation];
        Self { kinds, types: vec![kind], ..Self::new("", now) }
    }

    /// The most recent observations and summaries.
    pub fn recent(project_scope: ProjectScope, now: Millis) -> Self {
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        Self { project_scope, kinds, ..Self::new("", now) }
    }
}

/// Where the results come from and how well they match.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ResponseScope {
    /// The projects the results were found in.
    pub from: AnswerScope,
    /// Name of the requested project.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// How well the results match the request.
    #[serde(rename = "match")]
    pub quality: MatchQuality,
    /// Whether vector retrieval took part in the ranking.
    pub vectors: bool,
    /// Notes for the reader, e.g. filters that could not be applied.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// The projects that a response covers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum AnswerScope {
    Project,
    /// The requested project had no match.
    OtherProjects,
    AllProjects,
}

/// How well the results of a response match its request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MatchQuality {
    /// The results meet the request.
    #[serde(rename = "asked")]
    Full,
    /// No row meets every required clause; these meet some.
    Broader,
    /// Nothing matches; these rows are only near in meaning or share single words.
    Near,
    /// Nothing matches and nothing is near: there are no results.
    #[serde(rename = "none")]
    Nothing,
    /// The request had no query words: a filtered list, newest first.
    Listed,
}

/// The answer to one [`SearchRequest`].
#[derive(Debug)]
pub struct SearchResponse {
    pub scope: ResponseScope,
    /// One page of results, best first.
    pub results: Vec<SearchItem>,
    /// Whether a further page exists.
    pub has_more: bool,
    /// Why vector retrieval failed, if it was expected to run.
    pub vectors_unavailable: Option<String>,
}

/// One result with enough detail to decide whether to read the row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SearchItem {
    pub id: RowId,
    pub kind: RowKind,
    /// Set for observations only.
    #[serde(rename = "type")]
    pub observation_type: Option<ObservationType>,
    pub title: String,
    pub subtitle: String,
    /// The client's own session id.
    pub session: Option<ClientSessionId>,
    pub project: Option<String>,
    /// Identifies the project; names are not unique.
    #[serde(skip)]
    pub project_id: Option<ProjectId>,
    pub files: Vec<String>,
    pub created_at: Millis,
    pub score: f64,
    pub why: ScoreExplanation,
    /// The observation that supersedes this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<RowId>,
    /// Estimated tokens to read the row in full.
    pub read_tokens: u32,
    #[serde(skip)]
    pub origin: Origin,
    /// A user-level memory, valid in every project.
    #[serde(skip)]
    pub user_level: bool,
    /// The member of the team who recorded it; absent for one's own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub who: Option<String>,
    /// Not a match, only near in meaning.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub near: bool,
    /// Marked as wrong; returned only if the request includes such rows.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wrong: bool,
}

/// The score's parts as they entered the sum, and the matched words.
pub type ScoreExplanation = ScoreParts;
