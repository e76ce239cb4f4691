//! [`StartingSession`] makes the start context: the same for the hook that gives it to the agent, and for the
//! command and the page that show it.

use std::path::Path;

use jiff::tz::TimeZone;

use super::recall_request::RecallTarget;
use super::session_start::{StartContextParts, StartContextRequest, StartContextText, session_start};
use claude_mem_core::config::Settings;
use claude_mem_core::ids::{ProjectId, SessionId};
use claude_mem_store::{PageRequest, RowFilter, RowOwner, StoreError, StoreReader};

/// Why a session starts, as clients report it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum StartSource {
    #[default]
    Startup,
    Resume,
    Clear,
    Compact,
    /// A copy of a conversation that goes its own way.
    Fork,
    /// A name that this version does not know.
    Other,
}

impl StartSource {
    /// Without a name, a session is new.
    pub fn from_name(name: &str) -> Self {
        match name {
            "resume" => Self::Resume,
            "clear" => Self::Clear,
            "compact" => Self::Compact,
            "fork" => Self::Fork,
            "startup" | "" => Self::Startup,
            _ => Self::Other,
        }
    }
}

/// A session that starts, and where.
#[derive(Debug)]
pub struct StartingSession<'a> {
    /// Without a session id: a session that the store does not know.
    pub recipient: &'a RecallTarget,
    pub source: StartSource,
    /// `None`: the store does not know it yet.
    pub project: Option<ProjectId>,
    /// The name of the directory, for a project that the store does not know.
    pub name: &'a str,
    pub root: &'a Path,
    pub branch: Option<&'a str>,
    pub settings: &'a Settings,
    pub budget_tokens: u32,
    pub notices: &'a [String],
    pub zone: &'a TimeZone,
}

impl StartingSession<'_> {
    /// The start context; empty if the settings disable it.
    pub fn block(&self, reads: &StoreReader<'_>) -> Result<StartContextText, StoreError> {
        if !self.settings.context {
            return Ok(StartContextText::default());
        }
        let own = self.recipient.own_session(reads)?;
        let resumed = match own.filter(|_| self.source == StartSource::Resume) {
            Some(id) => Some((id, reads.session(id)?.last_activity)),
            None => None,
        };
        let known = match self.project {
            Some(project) => reads.project_name(project)?,
            None => None,
        };
        let ask = StartContextRequest {
            project: self.project,
            name: known.as_deref().unwrap_or(self.name),
            root: self.root,
            branch: self.branch,
            resumed,
            current: self.under_way(reads, own)?,
            compacted: self.source == StartSource::Compact,
            budget_tokens: self.budget_tokens,
            parts: self.parts(),
            zone: self.zone,
            notices: self.notices,
        };
        session_start(reads, &ask)
    }

    /// A forked conversation contains the start context already; only notices to the user are repeated.
    fn parts(&self) -> StartContextParts {
        if self.source == StartSource::Fork {
            return StartContextParts {
                summary: false,
                index: false,
                preferences: false,
                economics: false,
                agent_notes: false,
            };
        }
        StartContextParts::from_settings(self.settings)
    }

    /// The session whose work goes on: its own after a compaction, the one before it after
    /// `/clear`.
    fn under_way(
        &self,
        reads: &StoreReader<'_>,
        own: Option<SessionId>,
    ) -> Result<Option<SessionId>, StoreError> {
        match (self.source, self.project) {
            (StartSource::Compact, _) => Ok(own),
            (StartSource::Clear, Some(project)) => {
                let cleared = reads.last_cleared(project)?;
                if cleared.is_some() && cleared != own {
                    return Ok(cleared);
                }
                // A client that does not say what it cleared.
                let of_project =
                    RowFilter { project: Some(project), who: Some(RowOwner::Own), ..RowFilter::default() };
                let last = reads.sessions(&of_project, PageRequest::first(2))?.items;
                let mut last = last.into_iter().map(|session| session.id);
                Ok(last.find(|id| Some(*id) != own))
            }
            _ => Ok(None),
        }
    }
}
