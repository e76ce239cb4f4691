//! Rows of every kind as answers of one shape.

use std::collections::HashMap;

use super::ask::{Item, Why};
use super::handle::Handle;
use super::rank::RowKey;
use crate::clock::Millis;
use crate::ids::{
    ClientSessionId, FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId,
};
use crate::limits::TITLE_CHARS_MAX;
use crate::memory::Origin;
use crate::store::{Level, Reads, RowKind, StoreError};
use crate::tokens;

/// Makes answers, and remembers the names of sessions and projects it has looked up.
pub(super) struct Items<'r> {
    reads: &'r Reads<'r>,
    sessions: HashMap<SessionId, Option<ClientSessionId>>,
    projects: HashMap<ProjectId, Option<String>>,
}

/// What every kind of row has.
struct Common {
    title: String,
    subtitle: String,
    session: Option<SessionId>,
    project: Option<ProjectId>,
    files: Vec<String>,
    created_at: Millis,
    read_tokens: u32,
    origin: Origin,
    user_level: bool,
    wrong: bool,
}

impl<'r> Items<'r> {
    pub(super) fn new(reads: &'r Reads<'r>) -> Self {
        Self {
            reads,
            sessions: HashMap::new(),
            projects: HashMap::new(),
        }
    }

    /// `None` if the row is gone.
    pub(super) fn item(
        &mut self,
        key: RowKey,
        score: f64,
        why: Why,
    ) -> Result<Option<Item>, StoreError> {
        let read = match key.0 {
            RowKind::Observation => self.observation(key.1),
            RowKind::Summary => self.summary(key.1),
            RowKind::Prompt => self.prompt(key.1),
            RowKind::Message => self.message(key.1),
        };
        let (common, observation_type, replaced_by) = match read {
            Err(StoreError::NoSuchRow { .. }) => return Ok(None),
            read => read?,
        };
        Ok(Some(Item {
            id: Handle::from(key),
            kind: key.0,
            observation_type,
            session: self.session(common.session)?,
            project: self.project(common.project)?,
            project_id: common.project,
            title: common.title,
            subtitle: common.subtitle,
            files: common.files,
            created_at: common.created_at,
            score,
            why,
            replaced_by,
            read_tokens: common.read_tokens,
            origin: common.origin,
            user_level: common.user_level,
            wrong: common.wrong,
        }))
    }

    fn observation(&self, id: i64) -> Result<Read, StoreError> {
        let row = self.reads.observation(ObservationId(id))?;
        let mut files = row.files_modified;
        files.extend(row.files_read.into_iter().filter(|file| !file.is_empty()));
        files.dedup();
        let common = Common {
            title: row.title,
            subtitle: row.subtitle,
            session: row.session,
            project: row.project,
            files,
            created_at: row.created_at,
            read_tokens: row.read_tokens,
            origin: row.origin,
            user_level: row.level == Level::User,
            wrong: row.wrong,
        };
        let newer = row
            .replaced_by
            .map(|newer| Handle::from((RowKind::Observation, newer.0)));
        Ok((common, Some(row.kind), newer))
    }

    fn summary(&self, id: i64) -> Result<Read, StoreError> {
        let row = self.reads.summary(SummaryId(id))?;
        let mut files = row.files_edited;
        files.extend(row.files_read);
        let title = first_of([
            &row.request,
            &row.completed,
            &row.learned,
            &row.investigated,
        ]);
        let subtitle = first_of([&row.completed, &row.learned, &row.next_steps]);
        let common = Common {
            subtitle: if subtitle == title {
                String::new()
            } else {
                subtitle
            },
            title,
            session: Some(row.session),
            project: row.project,
            files,
            created_at: row.created_at,
            read_tokens: row.read_tokens,
            origin: row.origin,
            user_level: false,
            wrong: false,
        };
        Ok((common, None, None))
    }

    fn prompt(&self, id: i64) -> Result<Read, StoreError> {
        let row = self.reads.prompt(PromptId(id))?;
        let common = spoken(
            &row.text,
            row.session,
            row.project,
            row.created_at,
            row.origin,
        );
        Ok((common, None, None))
    }

    fn message(&self, id: i64) -> Result<Read, StoreError> {
        let row = self.reads.final_message(FinalMessageId(id))?;
        let common = spoken(
            &row.text,
            row.session,
            row.project,
            row.created_at,
            row.origin,
        );
        Ok((common, None, None))
    }

    fn session(&mut self, id: Option<SessionId>) -> Result<Option<ClientSessionId>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        if let Some(known) = self.sessions.get(&id) {
            return Ok(known.clone());
        }
        let found = match self.reads.session(id) {
            Err(StoreError::NoSuchRow { .. }) => None,
            found => Some(found?.client_session),
        };
        self.sessions.insert(id, found.clone());
        Ok(found)
    }

    fn project(&mut self, id: Option<ProjectId>) -> Result<Option<String>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        if let Some(known) = self.projects.get(&id) {
            return Ok(known.clone());
        }
        let found = self.reads.project_name(id)?;
        self.projects.insert(id, found.clone());
        Ok(found)
    }
}

type Read = (
    Common,
    Option<crate::memory::ObservationType>,
    Option<Handle>,
);

fn spoken(
    text: &str,
    session: SessionId,
    project: Option<ProjectId>,
    at: Millis,
    origin: Origin,
) -> Common {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    Common {
        title: cut(lines.next().unwrap_or_default()),
        subtitle: cut(lines.next().unwrap_or_default()),
        session: Some(session),
        project,
        files: Vec::new(),
        created_at: at,
        read_tokens: tokens::estimate(text),
        origin,
        user_level: false,
        wrong: false,
    }
}

fn first_of<const N: usize>(texts: [&String; N]) -> String {
    let said = texts.into_iter().find(|text| !text.trim().is_empty());
    said.map(|text| cut(text.lines().next().unwrap_or_default()))
        .unwrap_or_default()
}

fn cut(line: &str) -> String {
    let mut kept: String = line.chars().take(TITLE_CHARS_MAX).collect();
    if kept.len() < line.len() {
        kept.push('…');
    }
    kept
}
