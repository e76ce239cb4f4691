//! [`ViewBuilder`] makes the JSON views of stored rows.

use std::collections::HashMap;

use super::problem::Problem;
use super::rows::{
    AccountView, AgentRef, MessageView, ObservationView, ProjectRef, PromptView, RowView, SessionRef,
    SessionView, SummaryView, handle,
};
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::ids::{
    AccountId, FinalMessageId, MemberRowId, ObservationId, ProjectId, PromptId, SessionId, SummaryId,
};
use claude_mem_core::memory::{AccountText, ObservationText, SummaryText};
use claude_mem_store::{
    AccountRow, FinalMessageRow, Observation, PromptRow, RowKind, SessionRow, StoreError, StoreReader,
    SummaryRow,
};

/// Edited files that are named of one session.
const SESSION_FILES_MAX: u32 = 5;

/// The author of a row whose member is not stored.
const UNKNOWN_MEMBER: &str = "another member";

/// Builds views, and caches the names of projects, sessions and members.
pub(super) struct ViewBuilder<'r> {
    reads: &'r StoreReader<'r>,
    projects: HashMap<ProjectId, Option<String>>,
    sessions: HashMap<SessionId, Option<(SessionRef, AgentRef)>>,
    members: HashMap<MemberRowId, String>,
}

impl<'r> ViewBuilder<'r> {
    pub(super) fn new(reads: &'r StoreReader<'r>) -> Self {
        Self { reads, projects: HashMap::new(), sessions: HashMap::new(), members: HashMap::new() }
    }

    /// The view of one row, `None` if it does not exist.
    pub(super) fn row(&mut self, kind: RowKind, id: i64) -> Result<Option<RowView>, Problem> {
        let row = match kind {
            RowKind::Observation => self.reads.observation(ObservationId(id)).map(AnyStoredRow::Observation),
            RowKind::Summary => self.reads.summary(SummaryId(id)).map(AnyStoredRow::Summary),
            RowKind::Prompt => self.reads.prompt(PromptId(id)).map(AnyStoredRow::Prompt),
            RowKind::Message => self.reads.final_message(FinalMessageId(id)).map(AnyStoredRow::Message),
            RowKind::Account => self.reads.account(AccountId(id)).map(AnyStoredRow::Account),
        };
        match row {
            Err(StoreError::NoSuchRow { .. }) => Ok(None),
            Ok(AnyStoredRow::Observation(row)) => {
                Ok(Some(RowView::Observation(Box::new(self.observation(row)?))))
            }
            Ok(AnyStoredRow::Summary(row)) => Ok(Some(RowView::Summary(Box::new(self.summary(row)?)))),
            Ok(AnyStoredRow::Prompt(row)) => Ok(Some(RowView::Prompt(self.prompt(row)?))),
            Ok(AnyStoredRow::Message(row)) => Ok(Some(RowView::Message(self.message(row)?))),
            Ok(AnyStoredRow::Account(row)) => Ok(Some(RowView::Account(Box::new(self.account(row)?)))),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn observation(&mut self, row: Observation) -> Result<ObservationView, Problem> {
        let ObservationText {
            kind: observation_type,
            title,
            subtitle,
            narrative,
            facts,
            concepts,
            files_read,
            files_modified,
        } = row.text;
        Ok(ObservationView {
            id: row.id,
            handle: handle(RowKind::Observation, row.id.0),
            kind: RowKind::Observation,
            observation_type,
            title,
            subtitle,
            narrative,
            facts,
            concepts,
            files_read,
            files_modified,
            project: self.project(row.project)?,
            session: self.session(row.session)?,
            agent: self.agent(row.session)?,
            prompt_number: row.prompt_number,
            level: row.level,
            branch: row.branch,
            agent_type: row.agent_type,
            origin: row.origin,
            made_by: row.made_by,
            discovery_tokens: row.discovery_tokens,
            read_tokens: row.read_tokens,
            pinned: row.pinned,
            wrong: row.wrong,
            replaced_by: row.replaced_by,
            who: self.member(row.member)?,
            held_back: row.held_back,
            edited: row.edited,
            source_count: row.source_count,
            formerly: None,
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }

    pub(super) fn summary(&mut self, row: SummaryRow) -> Result<SummaryView, Problem> {
        let SummaryText {
            request,
            investigated,
            learned,
            completed,
            next_steps,
            notes,
            files_read,
            files_edited,
        } = row.text;
        Ok(SummaryView {
            id: row.id,
            handle: handle(RowKind::Summary, row.id.0),
            kind: RowKind::Summary,
            request,
            investigated,
            learned,
            completed,
            next_steps,
            notes,
            files_read,
            files_edited,
            project: self.project(row.project)?,
            session: self.session(Some(row.session))?,
            agent: self.agent(Some(row.session))?,
            prompt_number: row.prompt_number,
            branch: row.branch,
            origin: row.origin,
            made_by: row.made_by,
            discovery_tokens: row.discovery_tokens,
            read_tokens: row.read_tokens,
            created_at: row.created_at,
        })
    }

    pub(super) fn prompt(&mut self, row: PromptRow) -> Result<PromptView, Problem> {
        Ok(PromptView {
            id: row.id,
            handle: handle(RowKind::Prompt, row.id.0),
            kind: RowKind::Prompt,
            text: row.text,
            private: row.private,
            origin: row.origin,
            number: row.number,
            project: self.project(row.project)?,
            session: self.session(Some(row.session))?,
            agent: self.agent(Some(row.session))?,
            created_at: row.created_at,
        })
    }

    pub(super) fn message(&mut self, row: FinalMessageRow) -> Result<MessageView, Problem> {
        Ok(MessageView {
            id: row.id,
            handle: handle(RowKind::Message, row.id.0),
            kind: RowKind::Message,
            text: row.text,
            prompt_number: row.prompt_number,
            agent_type: row.agent_type,
            project: self.project(row.project)?,
            session: self.session(Some(row.session))?,
            agent: self.agent(Some(row.session))?,
            created_at: row.created_at,
        })
    }

    pub(super) fn account(&mut self, row: AccountRow) -> Result<AccountView, Problem> {
        let AccountText { purpose, done, learned, decided, checked, open, files_edited } = row.text;
        Ok(AccountView {
            id: row.id,
            handle: handle(RowKind::Account, row.id.0),
            kind: RowKind::Account,
            purpose,
            done,
            learned,
            decided,
            checked,
            open,
            files_edited,
            project: self.project(row.project)?,
            session: self.session(Some(row.session))?,
            agent: self.agent(Some(row.session))?,
            branch: row.branch,
            origin: row.origin,
            who: self.member(row.member)?,
            held_back: row.held_back,
            made_by: row.made_by,
            read_tokens: row.read_tokens,
            created_at: row.created_at,
        })
    }

    /// The view of a session.
    pub(super) fn session_view(&mut self, row: SessionRow) -> Result<SessionView, Problem> {
        let (observations, summaries) = self.reads.counts_of_session(row.id)?;
        let (files_edited, files) = self.reads.files_edited_in(row.id, SESSION_FILES_MAX)?;
        let account = self.reads.account_of_session(row.id)?;
        let purpose =
            account.as_ref().map(|account| account.text.purpose.clone()).filter(|text| !text.is_empty());
        Ok(SessionView {
            id: row.id,
            agent: agent_ref(&row.client),
            client: row.client,
            client_session: row.client_session,
            project: self.project(row.project)?,
            branch: row.branch,
            title: row.user_prompt,
            status: row.status,
            prompt_counter: row.prompt_counter,
            created_at: row.created_at,
            last_activity_at: row.last_activity,
            completed_at: row.completed_at,
            observations,
            summaries,
            purpose,
            outcome: self.outcome(row.id, account)?,
            files_edited,
            files,
        })
    }

    /// The result of a session: the first line of its account, else its last summary.
    fn outcome(&self, session: SessionId, account: Option<AccountRow>) -> Result<Option<String>, Problem> {
        if let Some(done) = account.and_then(|account| account.text.done.into_iter().next()) {
            return Ok(Some(done));
        }
        let summary = self.reads.newest_summary(session)?;
        Ok(summary.map(|summary| summary.text.completed).filter(|text| !text.is_empty()))
    }

    /// The name of the member who recorded a row.
    fn member(&mut self, id: Option<MemberRowId>) -> Result<Option<String>, Problem> {
        let Some(id) = id else { return Ok(None) };
        if !self.members.contains_key(&id) {
            let found = self.reads.member(id)?;
            // A row whose member is unknown is still another member's.
            let name = found.map_or_else(|| UNKNOWN_MEMBER.to_owned(), |member| member.label().to_owned());
            self.members.insert(id, name);
        }
        Ok(self.members.get(&id).cloned())
    }

    pub(super) fn project(&mut self, id: Option<ProjectId>) -> Result<Option<ProjectRef>, Problem> {
        let Some(id) = id else { return Ok(None) };
        if !self.projects.contains_key(&id) {
            self.projects.insert(id, self.reads.project_name(id)?);
        }
        let name = self.projects.get(&id).cloned().flatten();
        Ok(name.map(|name| ProjectRef { id, name }))
    }

    pub(super) fn session(&mut self, id: Option<SessionId>) -> Result<Option<SessionRef>, Problem> {
        Ok(self.session_and_agent(id)?.map(|(session, _)| session.clone()))
    }

    fn agent(&mut self, session: Option<SessionId>) -> Result<Option<AgentRef>, Problem> {
        Ok(self.session_and_agent(session)?.map(|(_, agent)| agent.clone()))
    }

    fn session_and_agent(
        &mut self,
        id: Option<SessionId>,
    ) -> Result<Option<&(SessionRef, AgentRef)>, Problem> {
        let Some(id) = id else { return Ok(None) };
        if !self.sessions.contains_key(&id) {
            let found = match self.reads.session(id) {
                Err(StoreError::NoSuchRow { .. }) => None,
                found => Some(found?),
            };
            let found = found.map(|row| {
                let agent = agent_ref(&row.client);
                (SessionRef { id, client_session: row.client_session, title: row.user_prompt }, agent)
            });
            self.sessions.insert(id, found);
        }
        Ok(self.sessions.get(&id).and_then(Option::as_ref))
    }
}

/// The agent of this name; one that this version does not know has its name as its title.
pub(super) fn agent_ref(name: &str) -> AgentRef {
    let title = CodingAgent::by_name(name).map_or(name, |agent| agent.title);
    AgentRef { name: name.to_owned(), title: title.to_owned() }
}

/// A stored row of any kind.
enum AnyStoredRow {
    Observation(Observation),
    Summary(SummaryRow),
    Prompt(PromptRow),
    Message(FinalMessageRow),
    Account(AccountRow),
}
