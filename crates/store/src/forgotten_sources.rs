//! The sources of a forgotten row: its claims, the open items that they opened, and the lines of
//! the account that repeat it.
//!
//! Invariant: after [`StoreWriter::forget`] none of this text is left in the database but in the
//! `forgotten` table, and undoing puts it back.

use rusqlite::{OptionalExtension, params};
use serde::{Deserialize, Serialize};

use super::{RowId, RowKind, StoreError, StoreWriter};
use crate::columns::{JsonList, SqlColumn};
use crate::session_claims::{ACCOUNT_CLAIM, RemovedClaim};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, ObservationId, SessionId};

/// The sources of a forgotten row, to restore them.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct ForgottenSources {
    /// Session and key of each claim.
    links: Vec<(i64, String)>,
    claims: Vec<RemovedClaim>,
    /// Further sessions that said it.
    sessions: Vec<i64>,
    open_items: Vec<ForgottenItem>,
    account_lines: Vec<ForgottenLine>,
}

/// An open item that a forgotten claim had opened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ForgottenItem {
    id: i64,
    uid: String,
    session: i64,
    project: Option<i64>,
    branch: Option<String>,
    claim: String,
    text: String,
    opened_at: i64,
    closed_at: Option<i64>,
    closed_by: Option<String>,
    reason: String,
    by_hand: bool,
}

/// A line that was removed from one list of an account.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct ForgottenLine {
    session: i64,
    list: String,
    at: usize,
    line: String,
}

/// The lists of an account, by column.
const ACCOUNT_LISTS: [&str; 5] = ["done", "learned", "decided", "checked", "open"];

impl ForgottenSources {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl StoreWriter<'_> {
    /// Removes what a row was made from, before the row itself is removed.
    pub(super) fn forget_sources(&self, row: RowId, now: Millis) -> Result<ForgottenSources, StoreError> {
        // Snapshots hold the text of the row.
        self.tx
            .prepare_cached(&format!(
                "DELETE FROM session_snapshots WHERE session_id IN (SELECT session_id FROM {} WHERE id = ?1)
                   OR ?2 AND session_id IN (SELECT session_id FROM observation_sources WHERE observation_id = ?1)",
                row.kind.table()
            ))?
            .execute(params![row.row_id, row.kind == RowKind::Observation])?;
        match row.kind {
            RowKind::Observation => self.forget_observation_sources(ObservationId(row.row_id), now),
            RowKind::Account => self.forget_account_sources(AccountId(row.row_id), now),
            RowKind::Summary | RowKind::Prompt | RowKind::Message => Ok(ForgottenSources::default()),
        }
    }

    fn forget_observation_sources(
        &self,
        id: ObservationId,
        now: Millis,
    ) -> Result<ForgottenSources, StoreError> {
        let mut sources = ForgottenSources::default();
        let (title, facts, own) = self.tx.query_row(
            "SELECT title, facts, session_id FROM observations WHERE id = ?1",
            [id.sql()],
            |row| Ok((row.get::<_, String>(0)?, row.get::<_, JsonList>(1)?.0, row.get::<_, Option<i64>>(2)?)),
        )?;
        let sessions = self.sessions_of_observation(id)?;
        let further = sessions.iter().map(|session| session.0).filter(|session| Some(*session) != own);
        sources.sessions = further.collect();
        let links = self.claims_of_observation(id)?;
        for session in &sessions {
            let keys: Vec<String> =
                links.iter().filter(|(of, _)| of == session).map(|(_, key)| key.clone()).collect();
            self.forget_claims(*session, &keys, now, &mut sources)?;
            let said = std::iter::once(&title).chain(&facts);
            self.drop_account_lines(*session, said, &mut sources)?;
        }
        sources.links = links.into_iter().map(|(session, key)| (session.0, key)).collect();
        self.tx.execute("DELETE FROM observation_claims WHERE observation_id = ?1", [id.sql()])?;
        Ok(sources)
    }

    /// The account of a session also holds what went into no observation: those claims go with it, and no
    /// later turn brings the account back.
    fn forget_account_sources(&self, id: AccountId, now: Millis) -> Result<ForgottenSources, StoreError> {
        let mut sources = ForgottenSources::default();
        let session = self.account(id)?.session;
        self.add_tombstone(&self.claim_tombstone(session, ACCOUNT_CLAIM)?, now)?;
        sources.links.push((session.0, ACCOUNT_CLAIM.to_owned()));
        let linked = self.claim_links(session)?;
        let mut keys = Vec::new();
        for stored in self.session_claims(session)? {
            let episode: serde_json::Value = serde_json::from_str(&stored.body)?;
            let claims = episode.get("claims").and_then(serde_json::Value::as_array);
            let named = claims.into_iter().flatten().filter_map(|claim| claim.get("key")?.as_str());
            keys.extend(named.filter(|key| linked.iter().all(|(known, _)| known != key)).map(str::to_owned));
        }
        self.forget_claims(session, &keys, now, &mut sources)?;
        Ok(sources)
    }

    fn forget_claims(
        &self,
        session: SessionId,
        keys: &[String],
        now: Millis,
        sources: &mut ForgottenSources,
    ) -> Result<(), StoreError> {
        for key in keys {
            self.add_tombstone(&self.claim_tombstone(session, key)?, now)?;
            sources.open_items.extend(self.take_open_item(session, key)?);
        }
        sources.claims.extend(self.remove_claims(session, keys)?);
        Ok(())
    }

    pub(super) fn add_tombstone(&self, key: &str, now: Millis) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO tombstones (key, created_at_epoch) VALUES (?1, ?2) ON CONFLICT DO NOTHING",
            )?
            .execute(params![key, now.sql()])?;
        Ok(())
    }

    fn take_open_item(&self, session: SessionId, claim: &str) -> Result<Option<ForgottenItem>, StoreError> {
        let mut take = self.tx.prepare_cached(
            "DELETE FROM open_items WHERE session_id = ?1 AND claim = ?2
             RETURNING id, uid, session_id, project_id, branch, claim, text, opened_at_epoch, closed_at_epoch, closed_by,
               reason, by_hand",
        )?;
        let taken = take.query_row(params![session.sql(), claim], |row| {
            Ok(ForgottenItem {
                id: row.get(0)?,
                uid: row.get(1)?,
                session: row.get(2)?,
                project: row.get(3)?,
                branch: row.get(4)?,
                claim: row.get(5)?,
                text: row.get(6)?,
                opened_at: row.get(7)?,
                closed_at: row.get(8)?,
                closed_by: row.get(9)?,
                reason: row.get(10)?,
                by_hand: row.get(11)?,
            })
        });
        Ok(taken.optional()?)
    }

    /// Removes the lines of a session's account that repeat one of these texts.
    fn drop_account_lines<'t>(
        &self,
        session: SessionId,
        said: impl Iterator<Item = &'t String> + Clone,
        sources: &mut ForgottenSources,
    ) -> Result<(), StoreError> {
        for list in ACCOUNT_LISTS {
            let Some(lines) = self.account_list(session, list)? else {
                return Ok(());
            };
            let mut kept = Vec::new();
            for (at, line) in lines.iter().enumerate() {
                let repeats = said.clone().any(|text| repeats(line, text));
                if repeats {
                    let (list, line) = (list.to_owned(), line.clone());
                    sources.account_lines.push(ForgottenLine { session: session.0, list, at, line });
                } else {
                    kept.push(line.clone());
                }
            }
            if kept.len() < lines.len() {
                self.set_account_list(session, list, kept)?;
            }
        }
        Ok(())
    }

    fn account_list(
        &self,
        session: SessionId,
        list: &'static str,
    ) -> Result<Option<Vec<String>>, StoreError> {
        let sql = format!("SELECT {list} FROM session_accounts WHERE session_id = ?1");
        let found = self.tx.prepare_cached(&sql)?.query_row([session.sql()], |row| row.get::<_, JsonList>(0));
        Ok(found.optional()?.map(|list| list.0))
    }

    fn set_account_list(
        &self,
        session: SessionId,
        list: &'static str,
        lines: Vec<String>,
    ) -> Result<(), StoreError> {
        let sql = format!("UPDATE session_accounts SET {list} = ?2 WHERE session_id = ?1 RETURNING id");
        let id: i64 = self
            .tx
            .prepare_cached(&sql)?
            .query_row(params![session.sql(), JsonList(lines)], |row| row.get(0))?;
        self.index_account(AccountId(id))
    }

    /// Puts back what [`StoreWriter::forget_sources`] removed, after the row itself is back.
    pub(super) fn restore_sources(&self, row: RowId, sources: &ForgottenSources) -> Result<(), StoreError> {
        for (session, key) in &sources.links {
            let session = SessionId(*session);
            if !self.has_session(session)? {
                continue;
            }
            self.drop_claim_tombstone(session, key)?;
            if row.kind == RowKind::Observation {
                self.link_claim(session, key, ObservationId(row.row_id))?;
            }
        }
        for claim in &sources.claims {
            let session = SessionId(claim.session());
            if let (Some(key), true) = (claim.key(), self.has_session(session)?) {
                self.drop_claim_tombstone(session, key)?;
            }
        }
        self.restore_claims(&sources.claims)?;
        for session in sources.sessions.iter().copied().map(SessionId) {
            if self.has_session(session)? {
                self.add_observation_source(ObservationId(row.row_id), session)?;
            }
        }
        for item in &sources.open_items {
            self.restore_open_item(item)?;
        }
        for ForgottenLine { session, list, at, line } in &sources.account_lines {
            let session = SessionId(*session);
            let Some(list) = ACCOUNT_LISTS.into_iter().find(|known| known == list) else {
                continue;
            };
            if let Some(mut lines) = self.account_list(session, list)?
                && !lines.contains(line)
            {
                lines.insert((*at).min(lines.len()), line.clone());
                self.set_account_list(session, list, lines)?;
            }
        }
        Ok(())
    }

    fn drop_claim_tombstone(&self, session: SessionId, key: &str) -> Result<(), StoreError> {
        let tombstone = self.claim_tombstone(session, key)?;
        self.tx.prepare_cached("DELETE FROM tombstones WHERE key = ?1")?.execute([tombstone])?;
        Ok(())
    }

    fn has_session(&self, id: SessionId) -> Result<bool, StoreError> {
        Ok(self.tx.prepare_cached("SELECT 1 FROM sdk_sessions WHERE id = ?1")?.exists([id.sql()])?)
    }

    fn restore_open_item(&self, item: &ForgottenItem) -> Result<(), StoreError> {
        if !self.has_session(SessionId(item.session))? {
            return Ok(());
        }
        self.tx
            .prepare_cached(
                "INSERT INTO open_items (id, uid, session_id, project_id, branch, claim, text, opened_at_epoch,
                   closed_at_epoch, closed_by, reason, by_hand)
                 VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12) ON CONFLICT DO NOTHING",
            )?
            .execute(params![
                item.id,
                item.uid,
                item.session,
                item.project,
                item.branch,
                item.claim,
                item.text,
                item.opened_at,
                item.closed_at,
                item.closed_by,
                item.reason,
                item.by_hand
            ])?;
        Ok(())
    }
}

/// Whether a line of an account says what a forgotten text says: one contains the other, whatever the case.
fn repeats(line: &str, text: &str) -> bool {
    let (line, text) = (plain(line), plain(text));
    !line.is_empty() && !text.is_empty() && (line.contains(&text) || text.contains(&line))
}

fn plain(text: &str) -> String {
    text.trim().trim_end_matches(['.', '!', ' ']).to_lowercase()
}
