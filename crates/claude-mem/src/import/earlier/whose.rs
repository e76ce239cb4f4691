//! Which session and which project of ours a row of it belongs to.

use super::fields::{CLAUDE, derived, session_uid};
use super::read::{OBSERVER, Reader};
use crate::clock::Millis;
use crate::hook::event::ProjectHint;
use crate::ids::PublicId;
use crate::import::{ImportError, Skipped};
use crate::memory::Origin;
use crate::store::{
    EarlierRow, EarlierTable, ProjectRecord, SessionRecord, SessionStatus, name_key,
};

impl Reader<'_> {
    /// A row's session. Rows whose session is gone exist: they get one under the name they give.
    pub(super) fn session_of(&mut self, row: &EarlierRow) -> Result<PublicId, ImportError> {
        let (content, memory) = (row.text("content"), row.text("memory"));
        let known = content.as_ref().and_then(|id| self.by_content.get(id));
        let known = known.or_else(|| self.by_memory.get(memory.as_ref()?));
        if let Some(uid) = known {
            return Ok(*uid);
        }
        let name = content.clone().or_else(|| memory.clone());
        let name = name.unwrap_or_else(|| "unknown".to_owned());
        let uid = session_uid(CLAUDE, &name);
        content.map(|id| self.by_content.insert(id, uid));
        memory.map(|id| self.by_memory.insert(id, uid));
        let project = row.text("project").unwrap_or_default();
        if project == OBSERVER {
            self.own_work.insert(uid);
            return Ok(uid);
        }
        let project = self.project(&project, Some(&name), self.at)?;
        self.projects.insert(uid, project);
        let record = SessionRecord {
            uid,
            client: CLAUDE.to_owned(),
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
            last_activity: self.at,
            completed_at: None,
            created_at: self.at,
        };
        self.taker
            .session(EarlierTable::Sessions.name(), record, false)?;
        Ok(uid)
    }

    pub(super) fn is_not_for_us(&self, session: PublicId, prompt_number: u32) -> Option<Skipped> {
        if self.own_work.contains(&session) {
            Some(Skipped::OwnWork)
        } else {
            let private = self.private_turns.contains(&(session, prompt_number));
            private.then_some(Skipped::Private)
        }
    }

    /// Where the row belongs: where it was merged into, else where it says, which is nearly
    /// always where its session does.
    pub(super) fn project_of(
        &mut self,
        row: &EarlierRow,
        session: Option<PublicId>,
    ) -> Result<PublicId, ImportError> {
        let of_session = session.and_then(|uid| self.projects.get(&uid)).copied();
        match (row.text("merged"), of_session) {
            (Some(into), _) => self.project(&into, None, self.at),
            (None, Some(known)) => Ok(known),
            (None, None) => self.project(&row.text("project").unwrap_or_default(), None, self.at),
        }
    }

    /// Which project of ours it is that it called `name`.
    pub(super) fn project(
        &mut self,
        name: &str,
        session: Option<&str>,
        at: Millis,
    ) -> Result<PublicId, ImportError> {
        // Worktrees were `repository/worktree`; to us they are one project.
        let name = name
            .split('/')
            .find(|part| !part.trim().is_empty())
            .unwrap_or("unknown");
        let located = session.and_then(|session| self.places.of_session(session, name));
        let hint = located.or_else(|| self.places.of_name(name));
        let hint = hint.unwrap_or_else(|| ProjectHint {
            name: name.to_owned(),
            keys: vec![name_key(name)],
            ..ProjectHint::default()
        });
        let keys: Vec<&str> = hint.keys.iter().map(String::as_str).collect();
        let uid = derived("project", &keys);
        if self.taker.knows_project(uid) {
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
        let named = self.taker.reads().projects_named(name)?;
        match &named[..] {
            // The only one of this name is the one that is meant.
            [one] if record.root.is_empty() && !self.taker.ignores(&record) => {
                self.taker.is_project(uid, one.id);
            }
            _ => self.taker.project(&record)?,
        }
        Ok(uid)
    }
}
