//! One of its rows at a time becomes one of ours.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use super::fields::{at, client, derived, moment, number, session_uid, told, type_of};
use super::lists::entries;
use super::places::Places;
use crate::clock::Millis;
use crate::ids::PublicId;
use crate::import::{ImportError, Report, Skipped, Taker};
use crate::memory::Origin;
use crate::remember;
use crate::store::{
    EarlierRow, EarlierTable, Level, ObservationRecord, PromptRecord, SessionRecord, SessionStatus,
    SummaryRecord,
};
use crate::tokens;

/// Where it kept the sessions of its own compressor.
pub(super) const OBSERVER: &str = "observer-sessions";
/// The session of what was saved by hand: `manual-<project>`.
const MANUAL: &str = "manual-";

/// Knows what earlier rows have told: which session is which, and what was private.
#[allow(missing_debug_implementations, reason = "it holds what others own")]
pub struct Reader<'a> {
    pub(crate) taker: Taker<'a>,
    pub(super) places: Places,
    /// Its sessions by each of their names.
    by_row: HashMap<i64, PublicId>,
    pub(super) by_content: HashMap<String, PublicId>,
    pub(super) by_memory: HashMap<String, PublicId>,
    /// The project of a session, which its rows may name differently.
    pub(super) projects: HashMap<PublicId, PublicId>,
    pub(super) own_work: HashSet<PublicId>,
    /// First prompts that only the session tells, until its prompts tell more.
    first_prompts: Vec<(PublicId, String, Millis)>,
    prompted: HashSet<PublicId>,
    pub(super) private_turns: HashSet<(PublicId, u32)>,
    asked_first: bool,
    /// When the row at hand was made; of one that does not tell, as the one before it.
    pub(super) at: Millis,
    undated: u64,
}

impl<'a> Reader<'a> {
    pub fn new(mut taker: Taker<'a>, client_dir: &Path, now: Millis) -> Self {
        let (places, unread) = Places::look(client_dir);
        for (path, error) in unread {
            taker.problem(&path, error);
        }
        Self {
            taker,
            places,
            at: now,
            undated: 0,
            by_row: HashMap::new(),
            by_content: HashMap::new(),
            by_memory: HashMap::new(),
            projects: HashMap::new(),
            own_work: HashSet::new(),
            first_prompts: Vec::new(),
            prompted: HashSet::new(),
            private_turns: HashSet::new(),
            asked_first: false,
        }
    }

    /// Takes one row. Sessions are to come before what refers to them, prompts before what was
    /// made of their turns; what refers to nothing gets a session of its own.
    pub fn row(&mut self, table: EarlierTable, row: &EarlierRow) -> Result<(), ImportError> {
        let kind = table.name();
        match at(row) {
            Some(at) => self.at = at,
            None => self.undated += 1,
        }
        match table {
            EarlierTable::Sessions | EarlierTable::OldSessions | EarlierTable::Streamed => {
                self.session(kind, row)
            }
            EarlierTable::Prompts => self.prompt(kind, row),
            EarlierTable::Observations | EarlierTable::Memories => self.observation(kind, row),
            EarlierTable::Summaries | EarlierTable::Overviews => self.summary(kind, row),
            EarlierTable::Queue | EarlierTable::OldQueue | EarlierTable::ToolUses => {
                self.taker.skip(kind, Skipped::Raw);
                Ok(())
            }
        }
    }

    /// Says what the rows left in the dark.
    pub fn finish(mut self, source: &Path, now: Millis) -> Result<Report, ImportError> {
        if self.undated > 0 {
            let why = format!("{} rows do not tell when they were made", self.undated);
            self.taker.problem(source, why);
        }
        self.taker.finish(now)
    }

    fn session(&mut self, kind: &'static str, row: &EarlierRow) -> Result<(), ImportError> {
        let (content, memory) = (row.text("content"), row.text("memory"));
        let Some(name) = content.clone().or_else(|| memory.clone()) else {
            self.taker.skip(kind, Skipped::Empty);
            return Ok(());
        };
        let client = client(row.text("platform").as_deref());
        let uid = session_uid(&client, &name);
        self.by_row.insert(row.id, uid);
        content.map(|id| self.by_content.insert(id, uid));
        memory.map(|id| self.by_memory.insert(id, uid));
        let project = row.text("project").unwrap_or_default();
        if project == OBSERVER {
            self.own_work.insert(uid);
            self.taker.skip(kind, Skipped::OwnWork);
            return Ok(());
        }
        let project = self.project(&project, Some(&name), self.at)?;
        self.projects.insert(uid, project);
        let completed = row.number("completed").map(moment);
        if let Some(prompt) = row.text("prompt") {
            self.first_prompts.push((uid, prompt, self.at));
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
            prompt_counter: number(row, "prompts"),
            carry: None,
            rolling_summary: None,
            last_activity: completed.unwrap_or_default().max(self.at),
            completed_at: completed,
            created_at: self.at,
        };
        self.taker.session(kind, record, true)
    }

    fn prompt(&mut self, kind: &'static str, row: &EarlierRow) -> Result<(), ImportError> {
        let by_row = row.number("session_row");
        let session = by_row.and_then(|id| self.by_row.get(&id)).copied();
        let session = match session {
            Some(uid) => uid,
            None => self.session_of(row)?,
        };
        if self.own_work.contains(&session) {
            self.taker.skip(kind, Skipped::OwnWork);
            return Ok(());
        }
        self.prompted.insert(session);
        let text = row.text("text").unwrap_or_default();
        self.said(kind, session, number(row, "number"), text, self.at)
    }

    fn said(
        &mut self,
        kind: &'static str,
        session: PublicId,
        prompt_number: u32,
        text: String,
        created_at: Millis,
    ) -> Result<(), ImportError> {
        if crate::redact::private(&text).is_fully_private() {
            self.private_turns.insert((session, prompt_number));
        }
        let record = PromptRecord {
            uid: derived(
                "prompt",
                &[&session.to_string(), &prompt_number.to_string(), &text],
            ),
            session: Some(session),
            project: self.projects.get(&session).copied(),
            prompt_number,
            prompt_id: None,
            text,
            private: false,
            origin: Some(Origin::User),
            created_at,
        };
        self.taker.prompt(kind, record)
    }

    /// Its oldest versions kept no prompts but each session's first.
    fn ask_first(&mut self) -> Result<(), ImportError> {
        if std::mem::replace(&mut self.asked_first, true) {
            return Ok(());
        }
        for (session, text, at) in std::mem::take(&mut self.first_prompts) {
            if !self.prompted.contains(&session) {
                self.said(EarlierTable::Prompts.name(), session, 1, text, at)?;
            }
        }
        Ok(())
    }

    fn observation(&mut self, kind: &'static str, row: &EarlierRow) -> Result<(), ImportError> {
        self.ask_first()?;
        let by_hand = row.text("memory").is_some_and(|id| id.starts_with(MANUAL));
        let session = if by_hand {
            None
        } else {
            Some(self.session_of(row)?)
        };
        let prompt_number = number(row, "number");
        if let Some(why) = session.and_then(|uid| self.is_not_for_us(uid, prompt_number)) {
            self.taker.skip(kind, why);
            return Ok(());
        }
        let project = self.project_of(row, session)?;
        let text = row.text("text").unwrap_or_default();
        let narrative = told(row.text("narrative").unwrap_or_default(), &text);
        let title = row
            .text("title")
            .unwrap_or_else(|| remember::first_sentence(&narrative));
        let subtitle = row.text("subtitle").unwrap_or_default();
        let facts = entries(row.text("facts"), false);
        let mut concepts = entries(row.text("concepts"), true);
        concepts.extend(entries(row.text("keywords"), true));
        let mut files_read = entries(row.text("files_read"), true);
        files_read.extend(entries(row.text("files"), true));
        let of = session.map_or_else(
            || format!("{project} {}", at(row).unwrap_or_default().0),
            |uid| uid.to_string(),
        );
        let all_facts = facts.join("\n");
        let record = ObservationRecord {
            uid: derived(
                "observation",
                &[&of, &title, &subtitle, &narrative, &all_facts],
            ),
            session,
            project: Some(project),
            level: Level::Project,
            prompt_number,
            kind: type_of(row.text("type")),
            read_tokens: [&title, &subtitle, &narrative, &all_facts]
                .map(|text| tokens::estimate(text))
                .iter()
                .sum(),
            title,
            subtitle,
            narrative,
            facts,
            concepts,
            files_read,
            files_modified: entries(row.text("files_modified"), true),
            branch: None,
            agent_id: row.text("agent_id"),
            agent_type: row.text("agent_type"),
            origin: Some(if by_hand {
                Origin::Manual
            } else {
                Origin::Import
            }),
            made_by: row.text("model").unwrap_or_else(|| "claude-mem".to_owned()),
            discovery_tokens: number(row, "tokens"),
            pinned: false,
            wrong: false,
            replaced_by: None,
            created_at: self.at,
            updated_at: self.at,
        };
        self.taker.observation(kind, record)
    }

    fn summary(&mut self, kind: &'static str, row: &EarlierRow) -> Result<(), ImportError> {
        self.ask_first()?;
        let session = self.session_of(row)?;
        let prompt_number = number(row, "number");
        if let Some(why) = self.is_not_for_us(session, prompt_number) {
            self.taker.skip(kind, why);
            return Ok(());
        }
        let project = self.project_of(row, Some(session))?;
        let text = |field| row.text(field).unwrap_or_default();
        let said = [
            "request",
            "investigated",
            "learned",
            "completed",
            "next_steps",
            "notes",
        ];
        let [request, investigated, learned, completed, next_steps, notes] = said.map(text);
        let record = SummaryRecord {
            uid: derived(
                "summary",
                &[
                    &session.to_string(),
                    &request,
                    &investigated,
                    &learned,
                    &completed,
                    &next_steps,
                    &notes,
                ],
            ),
            session: Some(session),
            project: Some(project),
            prompt_number,
            read_tokens: [
                &request,
                &investigated,
                &learned,
                &completed,
                &next_steps,
                &notes,
            ]
            .map(|text| tokens::estimate(text))
            .iter()
            .sum(),
            request,
            investigated,
            learned,
            completed,
            next_steps,
            notes,
            files_read: entries(row.text("files_read"), true),
            files_edited: entries(row.text("files_edited"), true),
            branch: None,
            origin: Some(Origin::Import),
            made_by: "claude-mem".to_owned(),
            discovery_tokens: number(row, "tokens"),
            created_at: self.at,
        };
        self.taker.summary(kind, record)
    }
}
