//! What is asked, and what comes back.

use jiff::tz::TimeZone;
use serde::Serialize;

use super::handle::Handle;
use super::rank::Parts;
use crate::clock::Millis;
use crate::ids::{ClientSessionId, ProjectId, SessionId};
use crate::memory::{ObservationType, Origin};
use crate::store::{Page, RowKind};

/// Whose memories are looked through.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Whose {
    /// Every project's, and what is kept at user level.
    #[default]
    All,
    /// This project's; others' if it has nothing, and said so.
    ProjectFirst(ProjectId),
    /// This project's and no other's.
    ProjectOnly(ProjectId),
    /// A directory that nothing is remembered of.
    Nobody,
}

/// What comes first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Order {
    /// The best answer; in a list, the newest.
    #[default]
    Relevance,
    NewestFirst,
    OldestFirst,
}

/// One question. Without words it is a list, newest first.
#[derive(Clone, Debug)]
pub struct Ask {
    /// As typed: words, operators and filters.
    pub text: String,
    pub whose: Whose,
    /// Empty: all kinds.
    pub kinds: Vec<RowKind>,
    /// Any of these; they are of observations alone.
    pub types: Vec<ObservationType>,
    /// All of these.
    pub concepts: Vec<String>,
    /// A path, the end of one, or a folder. Any of these.
    pub files: Vec<String>,
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
    /// Rows of this session are left out: it knows them.
    pub not_of: Option<SessionId>,
    /// Also what was marked as wrong.
    pub with_wrong: bool,
    /// The last word may not be finished: it is being typed.
    pub typing: bool,
    /// Say "recent" where nothing matches, rather than nothing.
    pub fall_back: bool,
    pub order: Order,
    pub page: Page,
    pub now: Millis,
    pub zone: TimeZone,
}

impl Ask {
    pub fn new(text: impl Into<String>, now: Millis) -> Self {
        Self {
            text: text.into(),
            whose: Whose::All,
            kinds: Vec::new(),
            types: Vec::new(),
            concepts: Vec::new(),
            files: Vec::new(),
            since: None,
            until: None,
            not_of: None,
            with_wrong: false,
            typing: false,
            fall_back: true,
            order: Order::default(),
            page: Page::first(20),
            now,
            zone: TimeZone::UTC,
        }
    }

    #[must_use]
    pub fn of(mut self, whose: Whose) -> Self {
        self.whose = whose;
        self
    }

    #[must_use]
    pub fn kinds(mut self, kinds: &[RowKind]) -> Self {
        self.kinds = kinds.to_vec();
        self
    }

    #[must_use]
    pub fn page(mut self, page: Page) -> Self {
        self.page = page;
        self
    }

    /// Observations of a concept, newest first or by further words.
    pub fn by_concept(concept: &str, now: Millis) -> Self {
        let concepts = vec![concept.to_owned()];
        let kinds = vec![RowKind::Observation];
        Self {
            kinds,
            concepts,
            ..Self::new("", now)
        }
    }

    /// What speaks of a file: a path, the end of one, or a folder.
    pub fn by_file(file: &str, now: Millis) -> Self {
        let files = vec![file.to_owned()];
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        Self {
            kinds,
            files,
            ..Self::new("", now)
        }
    }

    pub fn by_type(kind: ObservationType, now: Millis) -> Self {
        let kinds = vec![RowKind::Observation];
        Self {
            kinds,
            types: vec![kind],
            ..Self::new("", now)
        }
    }

    /// What happened last.
    pub fn recent(whose: Whose, now: Millis) -> Self {
        let kinds = vec![RowKind::Observation, RowKind::Summary];
        Self {
            whose,
            kinds,
            ..Self::new("", now)
        }
    }
}

/// Whose memories an answer is from, and how closely it fits.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Scope {
    pub from: From,
    /// The project that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    #[serde(rename = "match")]
    pub fit: Fit,
    /// Whether meaning had a say, or words alone.
    pub vectors: bool,
    /// What in the question could not be understood, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum From {
    Project,
    /// The project had nothing.
    OtherProjects,
    AllProjects,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Fit {
    /// What was asked for.
    Asked,
    /// Nothing had all that was demanded; these have some of it.
    Broader,
    /// Nothing matched; these are merely recent.
    Recent,
    /// Nothing was asked but a filter: a list, newest first.
    Listed,
}

#[derive(Debug)]
pub struct Found {
    pub scope: Scope,
    pub results: Vec<Item>,
    pub has_more: bool,
    /// Why vectors had no say, where they should have had.
    pub without_vectors: Option<String>,
}

/// One answer, enough of it to choose by.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Item {
    pub id: Handle,
    pub kind: RowKind,
    /// Of an observation; others have none.
    #[serde(rename = "type")]
    pub observation_type: Option<ObservationType>,
    pub title: String,
    pub subtitle: String,
    /// The client's own id of the session.
    pub session: Option<ClientSessionId>,
    pub project: Option<String>,
    /// Two projects may be called the same.
    #[serde(skip)]
    pub project_id: Option<ProjectId>,
    pub files: Vec<String>,
    pub created_at: Millis,
    pub score: f64,
    pub why: Why,
    /// Took its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub replaced_by: Option<Handle>,
    /// What reading it in full costs.
    pub read_tokens: u32,
    #[serde(skip)]
    pub origin: Origin,
    /// Holds in every project.
    #[serde(skip)]
    pub user_level: bool,
    /// Somebody said so; only shown to those who ask for such rows too.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wrong: bool,
}

/// Each part of the score, as it went into the sum, and the words that were found.
pub type Why = Parts;
