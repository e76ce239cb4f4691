//! Rows of all kinds as one list, newest first, page by page without counting.

use rusqlite::params_from_iter;
use rusqlite::types::Value;

use super::filter::Where;
use super::{Reads, RowKind, StoreError};
use crate::clock::Millis;
use crate::ids::ProjectId;
use crate::limits::PAGE_ROWS_MAX;
use crate::memory::ObservationType;

/// A place in the feed: the row that was shown last. Rows that come or go elsewhere do not move
/// it, as they would move an offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FeedPlace {
    pub at: Millis,
    pub kind: RowKind,
    pub row_id: i64,
}

/// What of the feed is wanted. Empty lists mean all.
#[derive(Clone, Debug, Default)]
pub struct FeedScope {
    pub project: Option<ProjectId>,
    pub kinds: Vec<RowKind>,
    /// Only observations have a type.
    pub types: Vec<ObservationType>,
    pub before: Option<FeedPlace>,
}

impl FeedScope {
    fn wants(&self, kind: RowKind) -> bool {
        (self.kinds.is_empty() || self.kinds.contains(&kind))
            && (self.types.is_empty() || kind == RowKind::Observation)
    }
}

impl Reads<'_> {
    /// Newest first; one row more than `limit` if there are more.
    pub fn feed(&self, scope: &FeedScope, limit: u32) -> Result<Vec<FeedPlace>, StoreError> {
        let rows = limit.clamp(1, PAGE_ROWS_MAX) as usize + 1;
        let mut found = Vec::new();
        for kind in RowKind::ALL {
            if scope.wants(kind) {
                self.feed_of(kind, scope, rows, &mut found)?;
            }
        }
        found.sort_unstable_by(|a, b| b.cmp(a));
        found.truncate(rows);
        Ok(found)
    }

    fn feed_of(
        &self,
        kind: RowKind,
        scope: &FeedScope,
        rows: usize,
        into: &mut Vec<FeedPlace>,
    ) -> Result<(), StoreError> {
        let mut clause = Where::default();
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
        let mut rows = self.0.prepare_cached(&sql)?;
        let mut rows = rows.query(params_from_iter(clause.values()))?;
        while let Some(row) = rows.next()? {
            into.push(FeedPlace {
                at: row.get(0)?,
                kind,
                row_id: row.get(1)?,
            });
        }
        Ok(())
    }
}
