//! Builds [`SearchItem`]s from rows of any kind.

use std::collections::HashMap;

use crate::request::{ScoreExplanation, SearchItem};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{
    AccountId, ClientSessionId, FinalMessageId, MemberRowId, ObservationId, ProjectId, PromptId, SessionId,
    SummaryId,
};
use claude_mem_core::limits::TITLE_CHARS_MAX;
use claude_mem_core::memory::Origin;
use claude_mem_core::tokens;
use claude_mem_store::{MemoryLevel, RowId, RowKind, StoreError, StoreReader};

/// Builds items and caches the session and project names it looks up.
pub(super) struct ItemBuilder<'r> {
    reads: &'r StoreReader<'r>,
    sessions: HashMap<SessionId, Option<ClientSessionId>>,
    projects: HashMap<ProjectId, Option<String>>,
    members: HashMap<MemberRowId, Option<String>>,
}

/// The fields common to all kinds of rows.
struct ItemFields {
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
    member: Option<MemberRowId>,
}

impl<'r> ItemBuilder<'r> {
    pub(super) fn new(reads: &'r StoreReader<'r>) -> Self {
        Self { reads, sessions: HashMap::new(), projects: HashMap::new(), members: HashMap::new() }
    }

    /// Builds the item of one row; `None` if the row was deleted.
    pub(super) fn build(
        &mut self,
        key: RowId,
        score: f64,
        why: ScoreExplanation,
    ) -> Result<Option<SearchItem>, StoreError> {
        let read = match key.kind {
            RowKind::Observation => self.observation(key.row_id),
            RowKind::Summary => self.summary(key.row_id),
            RowKind::Prompt => self.prompt(key.row_id),
            RowKind::Message => self.message(key.row_id),
            RowKind::Account => self.account(key.row_id),
        };
        let (common, observation_type, replaced_by) = match read {
            Err(StoreError::NoSuchRow { .. }) => return Ok(None),
            read => read?,
        };
        Ok(Some(SearchItem {
            id: key,
            kind: key.kind,
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
            who: self.member(common.member)?,
            near: false,
            wrong: common.wrong,
        }))
    }

    fn observation(&self, id: i64) -> Result<ItemParts, StoreError> {
        let row = self.reads.observation(ObservationId(id))?;
        let mut files = row.text.files_modified;
        files.extend(row.text.files_read.into_iter().filter(|file| !file.is_empty()));
        files.dedup();
        let common = ItemFields {
            title: row.text.title,
            subtitle: row.text.subtitle,
            session: row.session,
            project: row.project,
            files,
            created_at: row.created_at,
            read_tokens: row.read_tokens,
            origin: row.origin,
            user_level: row.level == MemoryLevel::User,
            wrong: row.wrong,
            member: row.member,
        };
        let newer = row.replaced_by.map(|newer| RowId::new(RowKind::Observation, newer.0));
        Ok((common, Some(row.text.kind), newer))
    }

    fn account(&self, id: i64) -> Result<ItemParts, StoreError> {
        let row = self.reads.account(AccountId(id))?;
        let lines = || row.sections().into_iter().flat_map(|(_, lines)| lines);
        let title = if row.text.purpose.is_empty() {
            lines().next().cloned()
        } else {
            Some(row.text.purpose.clone())
        };
        let title = title.unwrap_or_default();
        let subtitle = lines().find(|line| **line != title).cloned().unwrap_or_default();
        let common = ItemFields {
            title,
            subtitle,
            session: Some(row.session),
            project: row.project,
            files: row.text.files_edited.clone(),
            created_at: row.created_at,
            read_tokens: row.read_tokens,
            origin: row.origin,
            user_level: false,
            wrong: false,
            member: row.member,
        };
        Ok((common, None, None))
    }

    fn summary(&self, id: i64) -> Result<ItemParts, StoreError> {
        let row = self.reads.summary(SummaryId(id))?;
        let mut files = row.text.files_edited;
        files.extend(row.text.files_read);
        let title = first_nonempty([
            &row.text.request,
            &row.text.completed,
            &row.text.learned,
            &row.text.investigated,
        ]);
        let subtitle = first_nonempty([&row.text.completed, &row.text.learned, &row.text.next_steps]);
        let common = ItemFields {
            subtitle: if subtitle == title { String::new() } else { subtitle },
            title,
            session: Some(row.session),
            project: row.project,
            files,
            created_at: row.created_at,
            read_tokens: row.read_tokens,
            origin: row.origin,
            user_level: false,
            wrong: false,
            member: None,
        };
        Ok((common, None, None))
    }

    fn prompt(&self, id: i64) -> Result<ItemParts, StoreError> {
        let row = self.reads.prompt(PromptId(id))?;
        let common = message_fields(&row.text, row.session, row.project, row.created_at, row.origin);
        Ok((common, None, None))
    }

    fn message(&self, id: i64) -> Result<ItemParts, StoreError> {
        let row = self.reads.final_message(FinalMessageId(id))?;
        let common = message_fields(&row.text, row.session, row.project, row.created_at, row.origin);
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

    /// The name by which people know the member.
    fn member(&mut self, id: Option<MemberRowId>) -> Result<Option<String>, StoreError> {
        let Some(id) = id else { return Ok(None) };
        if let Some(known) = self.members.get(&id) {
            return Ok(known.clone());
        }
        let found = self.reads.member(id)?.map(|member| member.label().to_owned());
        self.members.insert(id, found.clone());
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

type ItemParts = (ItemFields, Option<claude_mem_core::memory::ObservationType>, Option<RowId>);

/// The fields of a prompt or message: its first two lines are title and subtitle.
fn message_fields(
    text: &str,
    session: SessionId,
    project: Option<ProjectId>,
    at: Millis,
    origin: Origin,
) -> ItemFields {
    let mut lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    ItemFields {
        title: truncate_line(lines.next().unwrap_or_default()),
        subtitle: truncate_line(lines.next().unwrap_or_default()),
        session: Some(session),
        project,
        files: Vec::new(),
        created_at: at,
        read_tokens: tokens::estimate(text),
        origin,
        user_level: false,
        wrong: false,
        member: None,
    }
}

/// The first line of the first nonempty text.
fn first_nonempty<const N: usize>(texts: [&String; N]) -> String {
    let said = texts.into_iter().find(|text| !text.trim().is_empty());
    said.map(|text| truncate_line(text.lines().next().unwrap_or_default())).unwrap_or_default()
}

/// Truncates a line to `TITLE_CHARS_MAX` characters.
fn truncate_line(line: &str) -> String {
    let mut kept: String = line.chars().take(TITLE_CHARS_MAX).collect();
    if kept.len() < line.len() {
        kept.push('…');
    }
    kept
}
