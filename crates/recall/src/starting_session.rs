//! A session that starts: the same answer for the hook that tells the agent and for whoever
//! wants to see what it would be told.

use std::path::Path;

use jiff::tz::TimeZone;

use super::recall_request::RecallTarget;
use super::session_start::{StartContextParts, StartContextRequest, StartContextText, session_start};
use claude_mem_core::config::Settings;
use claude_mem_core::ids::{ProjectId, SessionId};
use claude_mem_store::{PageRequest, RowFilter, RowOwner, StoreError, StoreReader};

/// Who starts, where and how.
#[derive(Debug)]
pub struct StartingSession<'a> {
    /// No session: one that nobody has heard of yet.
    pub listener: &'a RecallTarget,
    /// startup, resume, clear or compact.
    pub source: &'a str,
    /// `None`: memory does not know it yet.
    pub project: Option<ProjectId>,
    /// What the directory is called; a project goes by the name that memory has for it.
    pub name: &'a str,
    pub root: &'a Path,
    pub branch: Option<&'a str>,
    pub settings: &'a Settings,
    pub budget_tokens: u32,
    pub notices: &'a [String],
    pub zone: &'a TimeZone,
}

impl StartingSession<'_> {
    /// Nothing where the settings say so.
    pub fn block(&self, reads: &StoreReader<'_>) -> Result<StartContextText, StoreError> {
        if !self.settings.context {
            return Ok(StartContextText::default());
        }
        let own = self.listener.own_session(reads)?;
        let resumed = match own.filter(|_| self.source == "resume") {
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
            compacted: self.source == "compact",
            budget_tokens: self.budget_tokens,
            parts: self.parts(),
            zone: self.zone,
            notices: self.notices,
        };
        session_start(reads, &ask)
    }

    /// A forked conversation has heard it all; only what needs the person is said again.
    fn parts(&self) -> StartContextParts {
        if self.source == "fork" {
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
            ("compact", _) => Ok(own),
            ("clear", Some(project)) => {
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
