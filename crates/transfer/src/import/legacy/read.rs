//! Converts legacy rows to ours, one at a time.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::fields::{
    client_name, count_field, created_at, derived_id, from_epoch, merge_narrative, observation_type,
    session_uid,
};
use super::lists::parse_list;
use super::places::ProjectLocator;
use crate::import::{ImportError, ImportReport, ImportSkipReason, ImportWriter};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::PublicId;
use claude_mem_core::memory::{ObservationText, Origin, SummaryText};
use claude_mem_recall::manual_edits;
use claude_mem_store::{
    LegacyRow, LegacyTable, MemoryLevel, ObservationRecord, PromptRecord, SessionRecord, SessionStatus,
    SummaryRecord,
};

/// Legacy project that holds the sessions of the legacy program's own compressor.
pub(super) const OBSERVER_PROJECT: &str = "observer-sessions";
/// Prefix of the session id of manually saved observations: `manual-<project>`.
const MANUAL_SESSION_PREFIX: &str = "manual-";

/// Imports legacy rows and remembers their sessions and private turns.
#[allow(missing_debug_implementations, reason = "it borrows the store")]
pub struct LegacyImporter<'a> {
    pub(crate) writer: ImportWriter<'a>,
    pub(super) locator: ProjectLocator,
    /// Legacy sessions by row id; the next two maps use their other ids.
    by_row: HashMap<i64, PublicId>,
    pub(super) by_content: HashMap<String, PublicId>,
    pub(super) by_memory: HashMap<String, PublicId>,
    /// The project of each session; the session's rows may name it differently.
    pub(super) projects: HashMap<PublicId, PublicId>,
    pub(super) own_work: HashSet<PublicId>,
    /// First prompts from session rows, used for sessions without prompt rows.
    first_prompts: Vec<(PublicId, String, Millis)>,
    sessions_with_prompts: HashSet<PublicId>,
    pub(super) private_turns: HashSet<(PublicId, u32)>,
    first_prompts_done: bool,
    /// Creation time of the current row; an undated row takes that of the row before it.
    pub(super) row_time: Millis,
    undated: u64,
}

impl<'a> LegacyImporter<'a> {
    pub fn new(mut writer: ImportWriter<'a>, client_dir: &Path, now: Millis) -> Self {
        let (locator, unread) = ProjectLocator::scan(client_dir);
        for (path, error) in unread {
            writer.add_problem(&path, error);
        }
        Self {
            writer,
            locator,
            row_time: now,
            undated: 0,
            by_row: HashMap::new(),
            by_content: HashMap::new(),
            by_memory: HashMap::new(),
            projects: HashMap::new(),
            own_work: HashSet::new(),
            first_prompts: Vec::new(),
            sessions_with_prompts: HashSet::new(),
            private_turns: HashSet::new(),
            first_prompts_done: false,
        }
    }

    /// Imports one row. Sessions must precede the rows that refer to them, and prompts the observations
    /// of their turns; a row without a session gets its own.
    pub fn import_row(&mut self, table: LegacyTable, row: &LegacyRow) -> Result<(), ImportError> {
        let kind = table.name();
        match created_at(row) {
            Some(at) => self.row_time = at,
            None => self.undated += 1,
        }
        match table {
            LegacyTable::Sessions | LegacyTable::V3Sessions | LegacyTable::StreamingSessions => {
                self.session(kind, row)
            }
            LegacyTable::Prompts => self.prompt(kind, row),
            LegacyTable::Observations | LegacyTable::Memories => self.observation(kind, row),
            LegacyTable::Summaries | LegacyTable::Overviews => self.summary(kind, row),
            LegacyTable::Queue | LegacyTable::OldQueue | LegacyTable::ToolUses => {
                self.writer.skip(kind, ImportSkipReason::Raw);
                Ok(())
            }
        }
    }

    /// Reports undated rows and finishes the run.
    pub fn finish(mut self, source: &Path, now: Millis) -> Result<ImportReport, ImportError> {
        if self.undated > 0 {
            let why = format!("{} rows have no timestamp", self.undated);
            self.writer.add_problem(source, why);
        }
        self.writer.finish(now)
    }

    fn session(&mut self, kind: &'static str, row: &LegacyRow) -> Result<(), ImportError> {
        let (content, memory) = (row.text("content"), row.text("memory"));
        let Some(name) = content.clone().or_else(|| memory.clone()) else {
            self.writer.skip(kind, ImportSkipReason::Empty);
            return Ok(());
        };
        let client = client_name(row.text("platform").as_deref());
        let uid = session_uid(&client, &name);
        self.by_row.insert(row.id, uid);
        content.map(|id| self.by_content.insert(id, uid));
        memory.map(|id| self.by_memory.insert(id, uid));
        let project = row.text("project").unwrap_or_default();
        if project == OBSERVER_PROJECT {
            self.own_work.insert(uid);
            self.writer.skip(kind, ImportSkipReason::OwnWork);
            return Ok(());
        }
        let project = self.resolve_project(&project, Some(&name), self.row_time)?;
        self.projects.insert(uid, project);
        let completed = row.number("completed").map(from_epoch);
        if let Some(prompt) = row.text("prompt") {
            self.first_prompts.push((uid, prompt, self.row_time));
        }
        let title = row.text("custom_title").or_else(|| row.text("title"));
        let record = SessionRecord {
            uid,
            client,
            client_session: name,
            project: Some(project),
            branch: None,
            transcript_path: None,
            transcript_closed: false,
            user_prompt: title,
            status: Some(match row.text("status").as_deref() {
                Some("completed") => SessionStatus::Completed,
                Some("failed") => SessionStatus::Failed,
                _ if completed.is_some() => SessionStatus::Completed,
                _ => SessionStatus::Interrupted,
            }),
            origin: Some(Origin::Import),
            prompt_counter: count_field(row, "prompts"),
            carry: None,
            rolling_summary: None,
            last_activity: completed.unwrap_or_default().max(self.row_time),
            completed_at: completed,
            files_read: Vec::new(),
            files_edited: Vec::new(),
            created_at: self.row_time,
        };
        self.writer.session(kind, record, true)
    }

    fn prompt(&mut self, kind: &'static str, row: &LegacyRow) -> Result<(), ImportError> {
        let by_row = row.number("session_row");
        let session = by_row.and_then(|id| self.by_row.get(&id)).copied();
        let session = match session {
            Some(uid) => uid,
            None => self.session_for(row)?,
        };
        if self.own_work.contains(&session) {
            self.writer.skip(kind, ImportSkipReason::OwnWork);
            return Ok(());
        }
        self.sessions_with_prompts.insert(session);
        let text = row.text("text").unwrap_or_default();
        self.import_prompt_text(kind, session, count_field(row, "number"), text, self.row_time)
    }

    fn import_prompt_text(
        &mut self,
        kind: &'static str,
        session: PublicId,
        prompt_number: u32,
        text: String,
        created_at: Millis,
    ) -> Result<(), ImportError> {
        if claude_mem_redact::private(&text).is_fully_private() {
            self.private_turns.insert((session, prompt_number));
        }
        let record = PromptRecord {
            uid: derived_id("prompt", &[&session.to_string(), &prompt_number.to_string(), &text]),
            session: Some(session),
            project: self.projects.get(&session).copied(),
            prompt_number,
            prompt_id: None,
            text,
            private: false,
            origin: Some(Origin::User),
            created_at,
        };
        self.writer.prompt(kind, record)
    }

    /// Imports each session's first prompt: the oldest legacy versions stored no other.
    fn import_first_prompts(&mut self) -> Result<(), ImportError> {
        if std::mem::replace(&mut self.first_prompts_done, true) {
            return Ok(());
        }
        for (session, text, at) in std::mem::take(&mut self.first_prompts) {
            if !self.sessions_with_prompts.contains(&session) {
                self.import_prompt_text(LegacyTable::Prompts.name(), session, 1, text, at)?;
            }
        }
        Ok(())
    }

    fn observation(&mut self, kind: &'static str, row: &LegacyRow) -> Result<(), ImportError> {
        self.import_first_prompts()?;
        let by_hand = row.text("memory").is_some_and(|id| id.starts_with(MANUAL_SESSION_PREFIX));
        let session = if by_hand { None } else { Some(self.session_for(row)?) };
        let prompt_number = count_field(row, "number");
        if let Some(why) = session.and_then(|uid| self.skip_reason(uid, prompt_number)) {
            self.writer.skip(kind, why);
            return Ok(());
        }
        let project = self.project_for(row, session)?;
        let narrative =
            merge_narrative(row.text("narrative").unwrap_or_default(), &row.text("text").unwrap_or_default());
        let mut concepts = parse_list(row.text("concepts"), true);
        concepts.extend(parse_list(row.text("keywords"), true));
        let mut files_read = parse_list(row.text("files_read"), true);
        files_read.extend(parse_list(row.text("files"), true));
        let text = ObservationText {
            kind: observation_type(row.text("type")),
            title: row.text("title").unwrap_or_else(|| manual_edits::first_sentence(&narrative)),
            subtitle: row.text("subtitle").unwrap_or_default(),
            narrative,
            facts: parse_list(row.text("facts"), false),
            concepts,
            files_read,
            files_modified: parse_list(row.text("files_modified"), true),
        };
        let of = session.map_or_else(
            || format!("{project} {}", created_at(row).unwrap_or_default().0),
            |uid| uid.to_string(),
        );
        let [title, subtitle, narrative] = text.texts();
        let record = ObservationRecord {
            uid: derived_id("observation", &[&of, title, subtitle, narrative, &text.facts.join("\n")]),
            session,
            project: Some(project),
            level: MemoryLevel::Project,
            prompt_number,
            read_tokens: text.read_tokens(),
            text,
            branch: None,
            agent_id: row.text("agent_id"),
            agent_type: row.text("agent_type"),
            origin: Some(if by_hand { Origin::Manual } else { Origin::Agent }),
            made_by: row.text("model").unwrap_or_else(|| "claude-mem".to_owned()),
            discovery_tokens: count_field(row, "tokens"),
            pinned: false,
            wrong: false,
            replaced_by: None,
            created_at: self.row_time,
            updated_at: self.row_time,
            edited: false,
            sessions: Vec::new(),
        };
        self.writer.observation(kind, record)
    }

    fn summary(&mut self, kind: &'static str, row: &LegacyRow) -> Result<(), ImportError> {
        self.import_first_prompts()?;
        let session = self.session_for(row)?;
        let prompt_number = count_field(row, "number");
        if let Some(why) = self.skip_reason(session, prompt_number) {
            self.writer.skip(kind, why);
            return Ok(());
        }
        let project = self.project_for(row, Some(session))?;
        let text = |field| row.text(field).unwrap_or_default();
        let text = SummaryText {
            request: text("request"),
            investigated: text("investigated"),
            learned: text("learned"),
            completed: text("completed"),
            next_steps: text("next_steps"),
            notes: text("notes"),
            files_read: parse_list(row.text("files_read"), true),
            files_edited: parse_list(row.text("files_edited"), true),
        };
        let session_name = session.to_string();
        let parts: Vec<&str> = std::iter::once(session_name.as_str()).chain(text.texts()).collect();
        let record = SummaryRecord {
            uid: derived_id("summary", &parts),
            session: Some(session),
            project: Some(project),
            prompt_number,
            read_tokens: text.read_tokens(),
            text,
            branch: None,
            origin: Some(Origin::Agent),
            made_by: "claude-mem".to_owned(),
            discovery_tokens: count_field(row, "tokens"),
            created_at: self.row_time,
        };
        self.writer.summary(kind, record)
    }
}
