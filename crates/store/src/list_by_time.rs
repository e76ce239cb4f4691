//! Rows of all kinds by time: read from one index per kind, then merged.

use rusqlite::{OptionalExtension, params_from_iter};

use super::{RowFilter, RowId, RowKind, RowOwner, StoreError, StoreReader, TimedRowId};
use crate::columns::ReadColumn;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;

impl StoreReader<'_> {
    /// The first rows in scope, newest first unless the filter says otherwise. Concepts, files and marks
    /// are not considered.
    pub fn rows_by_time(&self, scope: &RowFilter, limit: usize) -> Result<Vec<RowId>, StoreError> {
        let mut timed = Vec::new();
        for kind in RowKind::ALL {
            let wanted =
                scope.includes_kind(kind) && (scope.types.is_empty() || kind == RowKind::Observation);
            for scope in scope.split_by_owner().iter().filter(|_| wanted) {
                self.append_kind_by_time(kind, scope, limit, &mut timed)?;
            }
        }
        timed.sort_by(|a, b| if scope.oldest_first { a.cmp(b) } else { b.cmp(a) });
        // An observation at user level may belong to this project too.
        timed.dedup();
        timed.truncate(limit);
        Ok(timed.into_iter().map(|(_, row)| row).collect())
    }

    fn append_kind_by_time(
        &self,
        kind: RowKind,
        scope: &RowFilter,
        limit: usize,
        into: &mut Vec<TimedRowId>,
    ) -> Result<(), StoreError> {
        if scope.user_level && kind != RowKind::Observation {
            return Ok(());
        }
        let mut clause = scope.base_clause();
        match kind {
            RowKind::Observation | RowKind::Summary | RowKind::Account => scope.and_owner_of_row(&mut clause),
            // Prompts and messages of other members never come here.
            RowKind::Prompt | RowKind::Message if matches!(scope.who, Some(RowOwner::Member(_))) => {
                return Ok(());
            }
            RowKind::Prompt | RowKind::Message => {}
        }
        scope.and_types(&mut clause);
        if kind == RowKind::Prompt {
            clause.and("private = 0", []);
        }
        let table = kind.table();
        let way = if scope.oldest_first { "ASC" } else { "DESC" };
        let sql = format!(
            "SELECT created_at_epoch, id FROM {table}{} ORDER BY created_at_epoch {way}, id {way} LIMIT {limit}",
            clause.sql()
        );
        let mut statement = self.0.prepare_cached(&sql)?;
        let mut rows = statement.query(params_from_iter(clause.values()))?;
        while let Some(row) = rows.next()? {
            into.push((row.column(0)?, RowId::new(kind, row.get(1)?)));
        }
        Ok(())
    }

    /// The number of the prompt that a row belongs to, if known.
    pub fn prompt_number_of(&self, RowId { kind, row_id }: RowId) -> Result<Option<i64>, StoreError> {
        if kind == RowKind::Account {
            return Ok(None);
        }
        let table = kind.table();
        let mut statement =
            self.0.prepare_cached(&format!("SELECT prompt_number FROM {table} WHERE id = ?1"))?;
        let number = statement.query_row([row_id], |row| row.get(0)).optional()?;
        Ok(number.filter(|number: &i64| *number > 0))
    }

    /// A row's project and time; `None` if the row is gone.
    pub fn project_and_time_of(
        &self,
        RowId { kind, row_id }: RowId,
    ) -> Result<Option<(Option<ProjectId>, Millis)>, StoreError> {
        let table = kind.table();
        Ok(self
            .0
            .prepare_cached(&format!("SELECT project_id, created_at_epoch FROM {table} WHERE id = ?1"))?
            .query_row([row_id], |row| Ok((row.column(0)?, row.column(1)?)))
            .optional()?)
    }
}
