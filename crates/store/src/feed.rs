//! The feed: rows of all kinds in one list, newest first, paginated by cursor.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::filter::WhereClause;
use super::{RowKind, StoreError, StoreReader};
use crate::columns::ReadColumn;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::limits::PAGE_ROWS_MAX;
use claude_mem_core::memory::ObservationType;

/// A position in the feed: the last row shown. Unlike an offset, it does not shift when other rows
/// are added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedCursor {
    pub at: Millis,
    pub kind: RowKind,
    pub row_id: i64,
}

/// Filter for the feed. Empty lists match all rows.
#[derive(Clone, Debug, Default)]
pub struct FeedScope {
    pub project: Option<ProjectId>,
    pub kinds: Vec<RowKind>,
    /// Only observations have a type.
    pub types: Vec<ObservationType>,
    pub before: Option<FeedCursor>,
}

impl FeedScope {
    fn includes(&self, kind: RowKind) -> bool {
        // Accounts repeat what the feed shows, so they are listed only on request.
        (self.kinds.is_empty() && kind != RowKind::Account || self.kinds.contains(&kind))
            && (self.types.is_empty() || kind == RowKind::Observation)
    }
}

impl StoreReader<'_> {
    /// The feed's next rows, newest first; one more than `limit` if there are more.
    pub fn feed(&self, scope: &FeedScope, limit: u32) -> Result<Vec<FeedCursor>, StoreError> {
        let rows = limit.clamp(1, PAGE_ROWS_MAX) as usize + 1;
        let mut found = Vec::new();
        for kind in RowKind::ALL {
            if scope.includes(kind) {
                self.feed_of_kind(kind, scope, rows, &mut found)?;
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(rows);
        Ok(found)
    }

    fn feed_of_kind(
        &self,
        kind: RowKind,
        scope: &FeedScope,
        rows: usize,
        into: &mut Vec<FeedCursor>,
    ) -> Result<(), StoreError> {
        let mut clause = WhereClause::default();
        if let Some(project) = scope.project {
            clause.and("project_id = ?", [Value::Integer(project.0)]);
        }
        if let Some(before) = scope.before {
            let at = Value::Integer(before.at.0);
            match kind.cmp(&before.kind) {
                std::cmp::Ordering::Less => clause.and("created_at_epoch <= ?", [at]),
                std::cmp::Ordering::Greater => clause.and("created_at_epoch < ?", [at]),
                std::cmp::Ordering::Equal => clause.and(
                    "created_at_epoch <= ? AND (created_at_epoch < ? OR id < ?)",
                    [at.clone(), at, Value::Integer(before.row_id)],
                ),
            }
        }
        if !scope.types.is_empty() {
            let types = scope.types.iter();
            let types = types.map(|ty| Value::Text(ty.as_str().to_owned()));
            clause.and_in("type", types.collect());
        }
        let table = kind.table();
        let sql = format!(
            "SELECT created_at_epoch, id FROM {table}{} ORDER BY created_at_epoch DESC, id DESC LIMIT {rows}",
            clause.sql()
        );
        let mut statement = self.0.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(clause.values()))?;
        while let Some(row) = rows.next()? {
            into.push(FeedCursor { at: row.column(0)?, kind, row_id: row.get(1)? });
        }
        Ok(())
    }
}
