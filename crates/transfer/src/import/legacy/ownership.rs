//! Resolves the session and the project that a legacy row belongs to.

use super::fields::{CLAUDE_CODE_NAME, derived_id, session_uid};
use super::read::{LegacyImporter, OBSERVER_PROJECT};
use crate::import::{ImportError, ImportSkipReason};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::PublicId;
use claude_mem_core::memory::Origin;
use claude_mem_store::{LegacyRow, LegacyTable, ProjectRecord, SessionRecord, SessionStatus, name_key};

impl LegacyImporter<'_> {
    /// The session of a row. A row whose session is missing gets one under the id that it names.
    pub(super) fn session_for(&mut self, row: &LegacyRow) -> Result<PublicId, ImportError> {
        let (content, memory) = (row.text("content"), row.text("memory"));
        let known = content.as_ref().and_then(|id| self.by_content.get(id));
        let known = known.or_else(|| self.by_memory.get(memory.as_ref()?));
        if let Some(uid) = known {
            return Ok(*uid);
        }
        let name = content.clone().or_else(|| memory.clone());
        let name = name.unwrap_or_else(|| "unknown".to_owned());
        let uid = session_uid(CLAUDE_CODE_NAME, &name);
        content.map(|id| self.by_content.insert(id, uid));
        memory.map(|id| self.by_memory.insert(id, uid));
        let project = row.text("project").unwrap_or_default();
        if project == OBSERVER_PROJECT {
            self.own_work.insert(uid);
            return Ok(uid);
        }
        let project = self.resolve_project(&project, Some(&name), self.row_time)?;
        self.projects.insert(uid, project);
        let record = SessionRecord {
            uid,
            client: CLAUDE_CODE_NAME.to_owned(),
            client_session: name,
            project: Some(project),
            branch: None,
            transcript_path: None,
            transcript_closed: false,
            user_prompt: None,
            status: Some(SessionStatus::Interrupted),
            origin: Some(Origin::Import),
            prompt_counter: 0,
            carry: None,
            rolling_summary: None,
            last_activity: self.row_time,
            completed_at: None,
            files_read: Vec::new(),
            files_edited: Vec::new(),
            created_at: self.row_time,
        };
        self.writer.session(LegacyTable::Sessions.name(), record, false)?;
        Ok(uid)
    }

    /// Why rows of this turn are skipped, if they are.
    pub(super) fn skip_reason(&self, session: PublicId, prompt_number: u32) -> Option<ImportSkipReason> {
        if self.own_work.contains(&session) {
            Some(ImportSkipReason::OwnWork)
        } else {
            let private = self.private_turns.contains(&(session, prompt_number));
            private.then_some(ImportSkipReason::Private)
        }
    }

    /// The project of a row: the one it was merged into, else its session's, else the one it names.
    pub(super) fn project_for(
        &mut self,
        row: &LegacyRow,
        session: Option<PublicId>,
    ) -> Result<PublicId, ImportError> {
        let of_session = session.and_then(|uid| self.projects.get(&uid)).copied();
        match (row.text("merged"), of_session) {
            (Some(into), _) => self.resolve_project(&into, None, self.row_time),
            (None, Some(known)) => Ok(known),
            (None, None) => {
                self.resolve_project(&row.text("project").unwrap_or_default(), None, self.row_time)
            }
        }
    }

    /// Resolves a legacy project name to a project of ours.
    pub(super) fn resolve_project(
        &mut self,
        name: &str,
        session: Option<&str>,
        at: Millis,
    ) -> Result<PublicId, ImportError> {
        // The legacy name of a worktree is `repository/worktree`; we treat both as one project.
        let name = name.split('/').find(|part| !part.trim().is_empty()).unwrap_or("unknown");
        let located = session.and_then(|session| self.locator.for_session(session, name));
        let hint = located.or_else(|| self.locator.for_name(name));
        let hint = hint.unwrap_or_else(|| ProjectHint {
            name: name.to_owned(),
            keys: vec![name_key(name)],
            ..ProjectHint::default()
        });
        let keys: Vec<&str> = hint.keys.iter().map(String::as_str).collect();
        let uid = derived_id("project", &keys);
        if self.writer.knows_project(uid) {
            return Ok(uid);
        }
        let record = ProjectRecord {
            uid,
            name: hint.name,
            root: hint.root,
            last_active: at,
            created_at: at,
            keys: hint.keys,
        };
        let named = self.writer.reads().projects_named(name)?;
        match &named[..] {
            // A unique name identifies the project.
            [one] if record.root.is_empty() && !self.writer.ignores_project(&record) => {
                self.writer.map_project(uid, one.id);
            }
            _ => self.writer.project(&record)?,
        }
        Ok(uid)
    }
}
