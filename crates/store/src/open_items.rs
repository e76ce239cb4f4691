//! Open items: remaining work that a session named, until it is done or closed by hand.

use rusqlite::{OptionalExtension, Row, params};
use serde::Serialize;

use super::{PageRequest, RowPage, StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, id_column, name_column, text_column};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{OpenItemId, ProjectId, PublicId, SessionId};
use claude_mem_core::memory::NewOpenItem;

/// Maximum open items of a project that finished work is compared with.
const OPEN_ITEMS_COMPARED_MAX: u32 = 200;

/// How an item was closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, serde::Deserialize, schemars::JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum ItemCloser {
    /// Later work, of its own session or another one.
    Session,
    /// A person, or an agent on request.
    Hand,
}

impl ItemCloser {
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::Session => "session",
            Self::Hand => "hand",
        }
    }

    pub(crate) fn from_column(text: &str) -> Self {
        if text == "hand" { Self::Hand } else { Self::Session }
    }
}

/// An open item as stored.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct OpenItemRow {
    pub id: OpenItemId,
    pub uid: PublicId,
    /// The session that named it.
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub branch: Option<String>,
    pub text: String,
    pub opened_at: Millis,
    /// `None` while it is open.
    pub closed_at: Option<Millis>,
    pub closed_by: Option<ItemCloser>,
    /// The session that finished it.
    pub closed_by_session: Option<SessionId>,
    pub reason: String,
}

/// An open item with the key of the claim that opened it, by which the record of later work may settle it.
#[derive(Clone, Debug, PartialEq)]
pub struct ClosableItem {
    pub item: OpenItemRow,
    pub claim: String,
}

/// Filter for open items.
#[derive(Clone, Debug, Default)]
pub struct OpenItemFilter {
    pub project: Option<ProjectId>,
    pub session: Option<SessionId>,
    /// Closed ones too.
    pub with_closed: bool,
}

const COLUMNS: &str =
    "SELECT id, uid, session_id, project_id, branch, text, opened_at_epoch, closed_at_epoch,
    closed_by, closed_by_session, reason, claim FROM open_items";

fn open_item(row: &Row<'_>) -> rusqlite::Result<OpenItemRow> {
    Ok(OpenItemRow {
        id: row.column(0)?,
        uid: row.column(1)?,
        session: row.column(2)?,
        project: row.column(3)?,
        branch: row.get(4)?,
        text: row.get(5)?,
        opened_at: row.column(6)?,
        closed_at: row.column(7)?,
        closed_by: row.get::<_, Option<String>>(8)?.as_deref().map(ItemCloser::from_column),
        closed_by_session: row.column(9)?,
        reason: row.get(10)?,
    })
}

impl StoreReader<'_> {
    pub fn open_item(&self, id: OpenItemId) -> Result<OpenItemRow, StoreError> {
        let found = self
            .0
            .prepare_cached(&format!("{COLUMNS} WHERE id = ?1"))?
            .query_row([id.sql()], open_item)
            .optional()?;
        found.ok_or(StoreError::NoSuchRow { what: "open item", id: id.0 })
    }

    /// The open items of a project, newest first: those of this branch or of none before those of others.
    pub fn open_items(
        &self,
        project: ProjectId,
        branch: Option<&str>,
        limit: u32,
    ) -> Result<Vec<OpenItemRow>, StoreError> {
        let mut rows = self.0.prepare_cached(&format!(
            "{COLUMNS} WHERE project_id = ?1 AND closed_at_epoch IS NULL
             ORDER BY ?2 IS NOT NULL AND branch IS NOT NULL AND branch <> ?2, opened_at_epoch DESC, id DESC LIMIT ?3"
        ))?;
        let rows = rows.query_map(params![project.sql(), branch, limit], open_item)?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The items of other sessions that work of this session may finish or has finished, newest first.
    pub fn closable_items(
        &self,
        project: ProjectId,
        session: SessionId,
    ) -> Result<Vec<ClosableItem>, StoreError> {
        let closable = |row: &Row<'_>| Ok(ClosableItem { item: open_item(row)?, claim: row.get(11)? });
        let mut found = Vec::new();
        for which in ["closed_at_epoch IS NULL AND ?3 > 0", "closed_by_session = ?2"] {
            let mut rows = self.0.prepare_cached(&format!(
                "{COLUMNS} WHERE project_id = ?1 AND {which} AND session_id <> ?2 AND by_hand = 0
                 ORDER BY opened_at_epoch DESC, id DESC LIMIT ?3"
            ))?;
            let rows =
                rows.query_map(params![project.sql(), session.sql(), OPEN_ITEMS_COMPARED_MAX], closable)?;
            found.extend(rows.collect::<Result<Vec<_>, _>>()?);
        }
        Ok(found)
    }

    /// One page of items, newest first.
    pub fn list_open_items(
        &self,
        filter: &OpenItemFilter,
        page: PageRequest,
    ) -> Result<RowPage<OpenItemRow>, StoreError> {
        let sql = format!(
            "{COLUMNS} WHERE (?1 IS NULL OR project_id = ?1) AND (?2 IS NULL OR session_id = ?2)
               AND (?3 OR closed_at_epoch IS NULL)
             ORDER BY opened_at_epoch DESC, id DESC LIMIT ?4 OFFSET ?5"
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(
            params![
                filter.project.sql(),
                filter.session.sql(),
                filter.with_closed,
                page.row_limit() + 1,
                page.offset
            ],
            open_item,
        )?;
        Ok(RowPage::from_overfetch(rows.collect::<Result<_, _>>()?, page))
    }
}

impl StoreWriter<'_> {
    /// Makes the items of a session equal to what its consolidation names. Items that a person closed or
    /// reopened stay as they are, and so do those that another session finished.
    pub fn set_open_items(
        &self,
        session: SessionId,
        items: &[NewOpenItem],
        place: &super::NewRowContext<'_>,
    ) -> Result<(), StoreError> {
        let mut known = self.tx.prepare_cached(
            "SELECT id, claim, by_hand OR coalesce(closed_by_session <> session_id, 0) FROM open_items
             WHERE session_id = ?1",
        )?;
        let known = known.query_map([session.sql()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, String>(1)?, row.get::<_, bool>(2)?))
        })?;
        for (id, claim, is_settled) in known.collect::<Result<Vec<_>, _>>()? {
            // A long key is stored as its digest.
            if !is_settled && !items.iter().any(|item| id_column(&item.claim) == claim) {
                self.tx.execute("DELETE FROM open_items WHERE id = ?1", [id])?;
            }
        }
        for item in items {
            let closed_at = item.closed.then_some(item.at);
            self.tx
                .prepare_cached(
                    "INSERT INTO open_items (uid, session_id, project_id, branch, claim, text, opened_at_epoch,
                       closed_at_epoch, closed_by, closed_by_session, import_run)
                     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)
                     ON CONFLICT (session_id, claim) DO UPDATE SET text = excluded.text,
                       opened_at_epoch = excluded.opened_at_epoch, closed_at_epoch = excluded.closed_at_epoch,
                       closed_by = excluded.closed_by, closed_by_session = excluded.closed_by_session
                     WHERE by_hand = 0 AND (closed_by_session IS NULL OR closed_by_session = session_id)",
                )?
                .execute(params![
                    PublicId::new().sql(),
                    session.sql(),
                    place.project.sql(),
                    place.branch.map(name_column),
                    id_column(&item.claim),
                    text_column(&item.text),
                    item.at.sql(),
                    closed_at.sql(),
                    item.closed.then(|| ItemCloser::Session.as_str()),
                    item.closed.then_some(session).sql(),
                    place.import_run,
                ])?;
        }
        Ok(())
    }

    /// Closes an item because this session finished it. False if it was closed, or decided by hand.
    pub fn close_item_by_session(
        &self,
        id: OpenItemId,
        session: SessionId,
        reason: &str,
        at: Millis,
    ) -> Result<bool, StoreError> {
        let mut close = self.tx.prepare_cached(
            "UPDATE open_items SET closed_at_epoch = ?3, closed_by = 'session', closed_by_session = ?2, reason = ?4
             WHERE id = ?1 AND closed_at_epoch IS NULL AND by_hand = 0",
        )?;
        Ok(close.execute(params![id.sql(), session.sql(), at.sql(), text_column(reason)])? == 1)
    }

    /// Reopens an item that this session had finished, because its consolidation has changed.
    pub fn reopen_item_by_session(&self, id: OpenItemId, session: SessionId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "UPDATE open_items SET closed_at_epoch = NULL, closed_by = NULL, closed_by_session = NULL, reason = ''
                 WHERE id = ?1 AND closed_by_session = ?2 AND by_hand = 0",
            )?
            .execute([id.sql(), session.sql()])?;
        Ok(())
    }

    /// Closes an item by hand. False if it was closed already.
    pub fn close_item(&self, id: OpenItemId, reason: &str, at: Millis) -> Result<bool, StoreError> {
        self.open_item(id)?;
        let closed = self.tx.execute(
            "UPDATE open_items SET closed_at_epoch = ?2, closed_by = 'hand', closed_by_session = NULL, reason = ?3,
               by_hand = 1 WHERE id = ?1 AND closed_at_epoch IS NULL",
            params![id.sql(), at.sql(), text_column(reason)],
        )?;
        Ok(closed == 1)
    }

    /// Reopens an item by hand. False if it was open already.
    pub fn reopen_item(&self, id: OpenItemId) -> Result<bool, StoreError> {
        self.open_item(id)?;
        let opened = self.tx.execute(
            "UPDATE open_items SET closed_at_epoch = NULL, closed_by = NULL, closed_by_session = NULL, reason = '',
               by_hand = 1 WHERE id = ?1 AND closed_at_epoch IS NOT NULL",
            params![id.sql()],
        )?;
        Ok(opened == 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewRowContext, NewSession, Store};
    use claude_mem_core::ids::ClientSessionId;
    use claude_mem_core::memory::Origin;

    /// Stores the items of a session and returns their ids.
    fn set_items(store: &mut Store, items: &[NewOpenItem]) -> Vec<i64> {
        let session = NewSession {
            client: "claude-code",
            client_session: &ClientSessionId("s1".into()),
            project: None,
            branch: None,
            transcript_path: None,
            origin: Origin::Agent,
            import_run: None,
            at: Millis(1),
        };
        store
            .write(|tx| {
                let session = tx.ensure_session(&session)?;
                tx.set_open_items(session, items, &NewRowContext::default())?;
                let mut ids = tx.tx.prepare("SELECT id FROM open_items ORDER BY id")?;
                let ids = ids.query_map([], |row| row.get(0))?;
                Ok(ids.collect::<Result<Vec<i64>, _>>()?)
            })
            .unwrap()
    }

    #[test]
    fn item_with_a_long_key_keeps_its_number() {
        let dir = tempfile::tempdir().unwrap();
        let mut store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
        let item =
            |claim: String| NewOpenItem { claim, text: "Commit it".into(), at: Millis(2), closed: false };
        let items = [item("short".into()), item(format!("refused:{}", "a subject ".repeat(40)))];
        let first = set_items(&mut store, &items);
        assert_eq!(first.len(), 2);
        assert_eq!(set_items(&mut store, &items), first);
        assert_eq!(set_items(&mut store, &items[..1]), first[..1]);
    }
}
