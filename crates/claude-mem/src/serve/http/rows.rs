//! Rows as the API shows them.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;

use super::problem::Problem;
use crate::clock::Millis;
use crate::ids::{
    ClientSessionId, FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId,
};
use crate::memory::{ObservationType, Origin};
use crate::search::Handle;
use crate::store::{
    self, FinalMessageRow, Level, Observation, PromptRow, Reads, RowKind, SessionStatus,
    StoreError, Summary,
};

#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(super) struct ProjectRef {
    id: ProjectId,
    name: String,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionRef {
    id: SessionId,
    client_session: ClientSessionId,
    title: Option<String>,
}

/// A row of any of the four kinds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(untagged)]
pub(super) enum Row {
    Observation(Box<ObservationView>),
    Summary(Box<SummaryView>),
    Prompt(PromptView),
    Message(MessageView),
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct ObservationView {
    pub(super) id: ObservationId,
    handle: String,
    kind: RowKind,
    #[serde(rename = "type")]
    observation_type: ObservationType,
    title: String,
    subtitle: String,
    narrative: String,
    facts: Vec<String>,
    concepts: Vec<String>,
    files_read: Vec<String>,
    files_modified: Vec<String>,
    project: Option<ProjectRef>,
    session: Option<SessionRef>,
    prompt_number: u32,
    level: Level,
    branch: Option<String>,
    agent_type: Option<String>,
    origin: Origin,
    made_by: String,
    discovery_tokens: u32,
    read_tokens: u32,
    pinned: bool,
    wrong: bool,
    replaced_by: Option<ObservationId>,
    created_at: Millis,
    updated_at: Millis,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SummaryView {
    id: SummaryId,
    handle: String,
    kind: RowKind,
    request: String,
    investigated: String,
    learned: String,
    completed: String,
    next_steps: String,
    notes: String,
    files_read: Vec<String>,
    files_edited: Vec<String>,
    project: Option<ProjectRef>,
    session: Option<SessionRef>,
    prompt_number: u32,
    branch: Option<String>,
    origin: Origin,
    made_by: String,
    discovery_tokens: u32,
    read_tokens: u32,
    created_at: Millis,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct PromptView {
    id: PromptId,
    handle: String,
    kind: RowKind,
    text: String,
    private: bool,
    number: u32,
    project: Option<ProjectRef>,
    session: Option<SessionRef>,
    created_at: Millis,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct MessageView {
    id: FinalMessageId,
    handle: String,
    kind: RowKind,
    text: String,
    prompt_number: u32,
    agent_type: Option<String>,
    project: Option<ProjectRef>,
    session: Option<SessionRef>,
    created_at: Millis,
}

#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct SessionView {
    id: SessionId,
    client: String,
    client_session: ClientSessionId,
    project: Option<ProjectRef>,
    branch: Option<String>,
    /// Its first prompt.
    title: Option<String>,
    status: SessionStatus,
    prompt_counter: u32,
    created_at: Millis,
    last_activity_at: Millis,
    completed_at: Option<Millis>,
    observations: u64,
    summaries: u64,
}

/// One page of a list.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Listed<T> {
    pub(super) items: Vec<T>,
    pub(super) offset: u32,
    pub(super) limit: u32,
    pub(super) has_more: bool,
}

pub(super) fn handle(kind: RowKind, row_id: i64) -> String {
    Handle { kind, row_id }.to_string()
}

impl Row {
    /// What a stream calls the event that brings it.
    pub(super) const fn kind(&self) -> RowKind {
        match self {
            Self::Observation(_) => RowKind::Observation,
            Self::Summary(_) => RowKind::Summary,
            Self::Prompt(_) => RowKind::Prompt,
            Self::Message(_) => RowKind::Message,
        }
    }

    pub(super) const fn id(&self) -> i64 {
        match self {
            Self::Observation(row) => row.id.0,
            Self::Summary(row) => row.id.0,
            Self::Prompt(row) => row.id.0,
            Self::Message(row) => row.id.0,
        }
    }

    pub(super) fn session(&self) -> Option<SessionId> {
        let session = match self {
            Self::Observation(row) => &row.session,
            Self::Summary(row) => &row.session,
            Self::Prompt(row) => &row.session,
            Self::Message(row) => &row.session,
        };
        session.as_ref().map(|session| session.id)
    }

    pub(super) fn created_at(&self) -> Millis {
        match self {
            Self::Observation(row) => row.created_at,
            Self::Summary(row) => row.created_at,
            Self::Prompt(row) => row.created_at,
            Self::Message(row) => row.created_at,
        }
    }
}

/// Makes views, and remembers the names of projects and sessions it has looked up.
pub(super) struct Views<'r> {
    reads: &'r Reads<'r>,
    projects: HashMap<ProjectId, Option<String>>,
    sessions: HashMap<SessionId, Option<SessionRef>>,
}

impl<'r> Views<'r> {
    pub(super) fn new(reads: &'r Reads<'r>) -> Self {
        Self {
            reads,
            projects: HashMap::new(),
            sessions: HashMap::new(),
        }
    }

    /// `None` if the row is gone.
    pub(super) fn row(&mut self, kind: RowKind, id: i64) -> Result<Option<Row>, Problem> {
        let row = match kind {
            RowKind::Observation => self
                .reads
                .observation(ObservationId(id))
                .map(Any::Observation),
            RowKind::Summary => self.reads.summary(SummaryId(id)).map(Any::Summary),
            RowKind::Prompt => self.reads.prompt(PromptId(id)).map(Any::Prompt),
            RowKind::Message => self
                .reads
                .final_message(FinalMessageId(id))
                .map(Any::Message),
        };
        match row {
            Err(StoreError::NoSuchRow { .. }) => Ok(None),
            Ok(Any::Observation(row)) => {
                Ok(Some(Row::Observation(Box::new(self.observation(row)?))))
            }
            Ok(Any::Summary(row)) => Ok(Some(Row::Summary(Box::new(self.summary(row)?)))),
            Ok(Any::Prompt(row)) => Ok(Some(Row::Prompt(self.prompt(row)?))),
            Ok(Any::Message(row)) => Ok(Some(Row::Message(self.message(row)?))),
            Err(error) => Err(error.into()),
        }
    }

    pub(super) fn observation(&mut self, row: Observation) -> Result<ObservationView, Problem> {
        Ok(ObservationView {
            id: row.id,
            handle: handle(RowKind::Observation, row.id.0),
            kind: RowKind::Observation,
            observation_type: row.kind,
            title: row.title,
            subtitle: row.subtitle,
            narrative: row.narrative,
            facts: row.facts,
            concepts: row.concepts,
            files_read: row.files_read,
            files_modified: row.files_modified,
            project: self.project(row.project)?,
            session: self.session(row.session)?,
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
            created_at: row.created_at,
            updated_at: row.updated_at,
        })
    }

    pub(super) fn summary(&mut self, row: Summary) -> Result<SummaryView, Problem> {
        Ok(SummaryView {
            id: row.id,
            handle: handle(RowKind::Summary, row.id.0),
            kind: RowKind::Summary,
            request: row.request,
            investigated: row.investigated,
            learned: row.learned,
            completed: row.completed,
            next_steps: row.next_steps,
            notes: row.notes,
            files_read: row.files_read,
            files_edited: row.files_edited,
            project: self.project(row.project)?,
            session: self.session(Some(row.session))?,
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
            number: row.number,
            project: self.project(row.project)?,
            session: self.session(Some(row.session))?,
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
            created_at: row.created_at,
        })
    }

    pub(super) fn session_view(&mut self, row: store::Session) -> Result<SessionView, Problem> {
        let (observations, summaries) = self.reads.counts_of_session(row.id)?;
        Ok(SessionView {
            id: row.id,
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
        })
    }

    fn project(&mut self, id: Option<ProjectId>) -> Result<Option<ProjectRef>, Problem> {
        let Some(id) = id else { return Ok(None) };
        if !self.projects.contains_key(&id) {
            self.projects.insert(id, self.reads.project_name(id)?);
        }
        let name = self.projects.get(&id).cloned().flatten();
        Ok(name.map(|name| ProjectRef { id, name }))
    }

    fn session(&mut self, id: Option<SessionId>) -> Result<Option<SessionRef>, Problem> {
        let Some(id) = id else { return Ok(None) };
        if !self.sessions.contains_key(&id) {
            let found = match self.reads.session(id) {
                Err(StoreError::NoSuchRow { .. }) => None,
                found => Some(found?),
            };
            let found = found.map(|session| SessionRef {
                id,
                client_session: session.client_session,
                title: session.user_prompt,
            });
            self.sessions.insert(id, found);
        }
        Ok(self.sessions.get(&id).cloned().flatten())
    }
}

enum Any {
    Observation(Observation),
    Summary(Summary),
    Prompt(PromptRow),
    Message(FinalMessageRow),
}
