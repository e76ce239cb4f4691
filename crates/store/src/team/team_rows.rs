//! Rows that come from other members or from one's other machines: stored, changed and removed here as the
//! server's records say.

use std::collections::HashSet;

use rusqlite::{OptionalExtension, params};

use crate::columns::{ReadColumn, SqlColumn, name_column};
use crate::observations::content_hash;
use crate::row_values::RowValues;
use crate::{
    AccountRecord, ObservationRecord, RowId, RowKind, StoreError, StoreReader, StoreWriter, tombstone_for,
};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, MemberRowId, ObservationId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::Origin;
use sha2::{Digest, Sha256};

/// The client of sessions that were held elsewhere. No hook, sweep or import takes these up.
const TEAM_CLIENT: &str = "team";

/// Where a received row belongs.
#[derive(Clone, Copy, Debug)]
pub struct TeamPlace {
    /// `None`: from another machine of the user.
    pub member: Option<MemberRowId>,
    pub session: Option<SessionId>,
    pub project: Option<ProjectId>,
    /// It reads like an instruction.
    pub held_back: bool,
}

impl StoreReader<'_> {
    /// The row with this public id.
    pub fn row_by_uid(&self, kind: RowKind, uid: PublicId) -> Result<Option<RowId>, StoreError> {
        let sql = format!("SELECT id FROM {} WHERE uid = ?1", kind.table());
        let found = self.0.prepare_cached(&sql)?.query_row([uid.sql()], |row| row.get(0)).optional()?;
        Ok(found.map(|id| RowId::new(kind, id)))
    }

    /// The row's public id.
    pub fn public_id_of(&self, row: RowId) -> Result<PublicId, StoreError> {
        let sql = format!("SELECT uid FROM {} WHERE id = ?1", row.kind.table());
        let found = self.0.prepare_cached(&sql)?.query_row([row.row_id], |row| row.column(0)).optional()?;
        found.ok_or(StoreError::NoSuchRow { what: row.kind.as_str(), id: row.row_id })
    }

    /// The member who owns the row; `None` for the user's own row, or if there is none.
    pub fn member_of_row(&self, row: RowId) -> Result<Option<MemberRowId>, StoreError> {
        if matches!(row.kind, RowKind::Prompt | RowKind::Message) {
            return Ok(None);
        }
        let sql = format!("SELECT member FROM {} WHERE id = ?1", row.kind.table());
        let found = self.0.prepare_cached(&sql)?.query_row([row.row_id], |row| row.column(0)).optional()?;
        Ok(found.flatten())
    }

    /// Whether the row is there and no other member's.
    fn is_own_row(&self, row: RowId) -> Result<bool, StoreError> {
        let sql = format!("SELECT 1 FROM {} WHERE id = ?1 AND member IS NULL", row.kind.table());
        Ok(self.0.prepare_cached(&sql)?.exists([row.row_id])?)
    }

    /// The portable form of one own observation.
    pub fn observation_record(&self, id: ObservationId) -> Result<Option<ObservationRecord>, StoreError> {
        // Without this the query below would read on, through all rows of others, to the next own one.
        if !self.is_own_row(RowId::new(RowKind::Observation, id.0))? {
            return Ok(None);
        }
        let found = self.observation_records(None, id.0 - 1, 1)?;
        Ok(found.into_iter().find(|(row, _)| *row == id.0).map(|(_, record)| record))
    }

    /// The portable form of one own account.
    pub fn account_record(&self, id: AccountId) -> Result<Option<AccountRecord>, StoreError> {
        if !self.is_own_row(RowId::new(RowKind::Account, id.0))? {
            return Ok(None);
        }
        let found = self.account_records(None, id.0 - 1, 1)?;
        Ok(found.into_iter().find(|(row, _)| *row == id.0).map(|(_, record)| record))
    }

    /// Whether a text is the prompt that its session is named after.
    pub fn is_prompt_of_session(&self, session: Option<PublicId>, text: &str) -> Result<bool, StoreError> {
        let Some(session) = session else { return Ok(false) };
        let name: Option<Option<String>> = self
            .0
            .prepare_cached("SELECT user_prompt FROM sdk_sessions WHERE uid = ?1")?
            .query_row([session.sql()], |row| row.get(0))
            .optional()?;
        let squeeze = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ").to_lowercase();
        let (name, text) = (squeeze(&name.flatten().unwrap_or_default()), squeeze(text));
        let (name, text) = (name.trim_end_matches('…'), text.trim_end_matches('…'));
        Ok(!text.is_empty() && !name.is_empty() && (name.starts_with(text) || text.starts_with(name)))
    }

    /// The newest account of another member on this branch that is newer than `since`.
    pub fn latest_team_account(
        &self,
        project: ProjectId,
        branch: &str,
        since: Millis,
    ) -> Result<Option<AccountId>, StoreError> {
        let sql = "SELECT a.id FROM session_accounts AS a JOIN members AS m ON m.id = a.member
             WHERE a.project_id = ?1 AND a.branch = ?2 AND a.member IS NOT NULL AND a.created_at_epoch > ?3
               AND a.held_back = 0 AND m.trust <> 'muted' AND m.role <> 'bot'
             ORDER BY a.created_at_epoch DESC, a.id DESC LIMIT 1";
        let mut found = self.0.prepare_cached(sql)?;
        Ok(found.query_row(params![project.sql(), branch, since.sql()], |row| row.column(0)).optional()?)
    }

    /// All rows of these members.
    pub fn rows_of_members(&self, members: &[MemberRowId]) -> Result<HashSet<RowId>, StoreError> {
        let mut found = HashSet::new();
        for kind in [RowKind::Observation, RowKind::Summary, RowKind::Account] {
            let sql = format!("SELECT id FROM {} WHERE member = ?1", kind.table());
            let mut rows = self.0.prepare_cached(&sql)?;
            for member in members {
                for id in rows.query_map([member.sql()], |row| row.get(0))? {
                    found.insert(RowId::new(kind, id?));
                }
            }
        }
        Ok(found)
    }
}

impl StoreWriter<'_> {
    /// The session that a received row came from. The key includes the member, so that
    /// no other member can write into a session of the user.
    pub fn ensure_team_session(
        &self,
        session: PublicId,
        member: Option<MemberRowId>,
        project: Option<ProjectId>,
        branch: Option<&str>,
        at: Millis,
    ) -> Result<SessionId, StoreError> {
        let (uid, client_session) = match member {
            None => {
                if let Some(known) = self.session_by_uid(session)? {
                    return Ok(known);
                }
                (session, session.to_string())
            }
            Some(member) => {
                let client_session = format!("{member}:{session}");
                let hash = Sha256::digest(format!("team session {client_session}"));
                (PublicId::derived(&std::array::from_fn(|at| hash[at])), client_session)
            }
        };
        let known = self
            .tx
            .prepare_cached("SELECT id FROM sdk_sessions WHERE client = ?1 AND content_session_id = ?2")?
            .query_row(params![TEAM_CLIENT, client_session], |row| row.column(0))
            .optional()?;
        if let Some(known) = known {
            return Ok(known);
        }
        self.tx
            .prepare_cached(
                "INSERT INTO sdk_sessions (uid, client, content_session_id, project_id, branch, transcript_closed, status,
                   origin, member, created_at_epoch, last_activity_epoch, completed_at_epoch)
                 VALUES (?1, ?2, ?3, ?4, ?5, 1, 'completed', 'agent', ?6, ?7, ?7, ?7)",
            )?
            .execute(params![
                uid.sql(),
                TEAM_CLIENT,
                client_session,
                project.sql(),
                branch.map(name_column),
                member.sql(),
                at.sql()
            ])?;
        Ok(SessionId(self.tx.last_insert_rowid()))
    }

    /// Stores or changes a received observation. `None`: the same words were forgotten here.
    pub fn put_team_observation(
        &self,
        record: &ObservationRecord,
        known: Option<ObservationId>,
        place: TeamPlace,
    ) -> Result<Option<ObservationId>, StoreError> {
        let said = tombstone_for(&record.text.title, &record.text.narrative);
        if known.is_none()
            && (self.is_tombstone(&said)? || self.is_tombstone(&format!("uid:{}", record.uid))?)
        {
            return Ok(None);
        }
        let table = RowKind::Observation.table();
        let values = RowValues::from_text(&record.text)
            .set("branch", record.branch.as_deref().map(name_column))
            .set("origin", record.origin.unwrap_or(Origin::Import).as_str())
            .set("made_by", name_column(&record.made_by))
            .set("content_hash", content_hash(place.session, &record.text))
            .set("read_tokens", record.text.read_tokens())
            .set("created_at_epoch", record.created_at.sql())
            .set("updated_at_epoch", record.updated_at.max(record.created_at).sql())
            .set("prompt_number", record.prompt_number)
            .set("held_back", place.held_back);
        let id = if let Some(id) = known {
            values
                .set_to("wrong", "max(wrong, ?)", record.wrong)
                .set_to("edited", "max(edited, ?)", record.edited)
                .update(self.tx, table, id.0)?;
            id
        } else {
            let values = values
                .set("wrong", record.wrong)
                .set("edited", record.edited)
                .set("uid", record.uid.sql())
                .set("session_id", place.session.sql())
                .set("project_id", place.project.sql())
                .set("member", place.member.sql());
            ObservationId(values.insert(self.tx, table)?)
        };
        self.replace_within_member(id, record.replaced_by)?;
        self.index_observation(id)?;
        Ok(Some(id))
    }

    /// A row may be replaced only by a row of the same member.
    fn replace_within_member(&self, id: ObservationId, newer: Option<PublicId>) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE observations SET replaced_by = (SELECT n.id FROM observations AS n
                   WHERE n.uid = ?2 AND n.id <> ?1 AND n.member IS observations.member) WHERE id = ?1",
            )?
            .execute(params![id.sql(), newer.sql()])?;
        Ok(())
    }

    /// Stores or changes a received account. `None`: the session has another one.
    pub fn put_team_account(
        &self,
        record: &AccountRecord,
        known: Option<AccountId>,
        session: SessionId,
        place: TeamPlace,
    ) -> Result<Option<AccountId>, StoreError> {
        if known.is_none()
            && (self.account_of_session(session)?.is_some()
                || self.is_account_forgotten(session)?
                || self.is_tombstone(&format!("uid:{}", record.uid))?)
        {
            return Ok(None);
        }
        let table = RowKind::Account.table();
        let values = RowValues::from_text(&record.text)
            .set("branch", record.branch.as_deref().map(name_column))
            .set("origin", record.origin.unwrap_or(Origin::Agent).as_str())
            .set("made_by", name_column(&record.made_by))
            .set("read_tokens", record.text.read_tokens())
            .set("created_at_epoch", record.created_at.sql())
            .set("held_back", place.held_back);
        let id = if let Some(id) = known {
            values.update(self.tx, table, id.0)?;
            id
        } else {
            let values = values
                .set("uid", record.uid.sql())
                .set("session_id", session.sql())
                .set("project_id", place.project.sql())
                .set("member", place.member.sql());
            AccountId(values.insert(self.tx, table)?)
        };
        self.index_account(id)?;
        Ok(Some(id))
    }

    /// Removes another member's row with its words; there is no copy to restore. Overwrites what it frees.
    pub fn erase_team_row(&self, row: RowId) -> Result<(), StoreError> {
        self.deferred.flush(self.tx)?;
        self.set_fts_secure_delete(true)?;
        self.tx.execute(&format!("DELETE FROM {} WHERE id = ?1", row.kind.table()), [row.row_id])?;
        self.set_fts_secure_delete(false)?;
        self.tx.execute(
            "UPDATE observation_feedback SET reason = '' WHERE kind = ?1 AND row_id = ?2",
            params![row.kind, row.row_id],
        )?;
        self.tx.execute(
            "DELETE FROM forgotten WHERE kind = ?1 AND row_id = ?2",
            params![row.kind, row.row_id],
        )?;
        self.note_deleted_text()
    }

    /// Forgets an own row that was taken back elsewhere, with all it was made from and without a copy.
    pub fn erase_own_row(&self, row: RowId, now: Millis) -> Result<(), StoreError> {
        self.deferred.flush(self.tx)?;
        self.forget(row, now)?;
        self.tx.execute(
            "DELETE FROM forgotten WHERE kind = ?1 AND row_id = ?2",
            params![row.kind, row.row_id],
        )?;
        self.note_deleted_text()
    }

    /// Whether a row with this id was forgotten here and can still be restored.
    pub fn has_forgotten_copy(&self, uid: PublicId) -> Result<bool, StoreError> {
        Ok(self
            .tx
            .prepare_cached("SELECT 1 FROM forgotten WHERE instr(body, ?1) > 0")?
            .exists([format!("[\"uid\",\"{uid}\"]")])?)
    }

    /// Removes the copy of a record that undoing would restore from.
    pub fn drop_forgotten_copy(&self, uid: PublicId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached("DELETE FROM forgotten WHERE instr(body, ?1) > 0")?
            .execute([format!("[\"uid\",\"{uid}\"]")])?;
        Ok(())
    }

    /// Removes up to `rows_max` rows of a member, and of all members without one. Call it until it removes
    /// none.
    pub fn erase_rows_of(&self, member: Option<MemberRowId>, rows_max: u32) -> Result<usize, StoreError> {
        let mut removed = 0;
        for kind in [RowKind::Observation, RowKind::Account] {
            let sql = format!(
                "SELECT id FROM {} WHERE member IS NOT NULL AND (?1 IS NULL OR member = ?1) LIMIT ?2",
                kind.table()
            );
            let ids: Vec<i64> = self
                .tx
                .prepare_cached(&sql)?
                .query_map(params![member.sql(), rows_max], |row| row.get(0))?
                .collect::<Result<_, _>>()?;
            for id in ids {
                self.erase_team_row(RowId::new(kind, id))?;
                removed += 1;
            }
        }
        if removed == 0 {
            // Rows that were forgotten here keep a copy for a while.
            self.tx.execute(
                "DELETE FROM forgotten WHERE EXISTS (SELECT 1 FROM shared_rows AS s
                   WHERE s.member IS NOT NULL AND (?1 IS NULL OR s.member = ?1) AND instr(forgotten.body, s.uid) > 0)",
                [member.sql()],
            )?;
            self.tx.execute(
                "DELETE FROM sdk_sessions WHERE member IS NOT NULL AND (?1 IS NULL OR member = ?1)",
                [member.sql()],
            )?;
        }
        Ok(removed)
    }

    /// Gives a row a new public id: the old one was retracted for good, or another member uses it.
    pub fn renew_public_id(&self, row: RowId) -> Result<PublicId, StoreError> {
        let new = PublicId::new();
        let sql = format!("UPDATE {} SET uid = ?2 WHERE id = ?1", row.kind.table());
        self.tx.prepare_cached(&sql)?.execute(params![row.row_id, new.sql()])?;
        Ok(new)
    }

    /// Forgets all members that have no rows here.
    pub fn remove_members(&self) -> Result<(), StoreError> {
        self.tx.execute(
            "DELETE FROM members WHERE id NOT IN (SELECT member FROM observations WHERE member IS NOT NULL
               UNION SELECT member FROM session_accounts WHERE member IS NOT NULL
               UNION SELECT member FROM sdk_sessions WHERE member IS NOT NULL
               UNION SELECT member FROM shared_rows WHERE member IS NOT NULL)",
            [],
        )?;
        Ok(())
    }
}
