//! Rows of all kinds in the order of time: each kind from its own index, then merged.

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use super::filter::Where;
use super::{Reads, RowKind, StoreError, WordScope};
use crate::clock::Millis;
use crate::ids::ProjectId;

impl Reads<'_> {
    /// Newest first, or oldest first.
    pub fn rows_in_time(
        &self,
        scope: &WordScope,
        oldest_first: bool,
        limit: usize,
    ) -> Result<Vec<(RowKind, i64)>, StoreError> {
        let mut timed = Vec::new();
        for kind in RowKind::ALL {
            let wanted = (scope.kinds.is_empty() || scope.kinds.contains(&kind))
                && (scope.types.is_empty() || kind == RowKind::Observation);
            for scope in scope.apart().iter().filter(|_| wanted) {
                self.of_kind(kind, scope, oldest_first, limit, &mut timed)?;
            }
        }
        timed.sort_by(|a, b| if oldest_first { a.cmp(b) } else { b.cmp(a) });
        // What holds in every project may have been said in this one.
        timed.dedup();
        timed.truncate(limit);
        Ok(timed
            .into_iter()
            .map(|(_, kind, row_id)| (kind, row_id))
            .collect())
    }

    fn of_kind(
        &self,
        kind: RowKind,
        scope: &WordScope,
        oldest_first: bool,
        limit: usize,
        into: &mut Vec<(Millis, RowKind, i64)>,
    ) -> Result<(), StoreError> {
        let mut clause = Where::default();
        if scope.user_level && kind != RowKind::Observation {
            return Ok(());
        }
        clause.and_owner(scope.project, scope.user_level);
        if let Some(since) = scope.since {
            clause.and("created_at_epoch >= ?", [Value::Integer(since.0)]);
        }
        if let Some(until) = scope.until {
            clause.and("created_at_epoch < ?", [Value::Integer(until.0)]);
        }
        if !scope.types.is_empty() {
            let types = scope.types.iter();
            let types = types
                .map(|ty| Value::Text(ty.as_str().to_owned()))
                .collect();
            clause.and_in("type", types);
        }
        let table = match kind {
            RowKind::Observation => "observations",
            RowKind::Summary => "session_summaries",
            RowKind::Prompt => {
                clause.and("private = 0", []);
                "user_prompts"
            }
            RowKind::Message => "final_messages",
        };
        let way = if oldest_first { "ASC" } else { "DESC" };
        let sql = format!(
            "SELECT created_at_epoch, id FROM {table}{} ORDER BY created_at_epoch {way}, id {way} LIMIT {limit}",
            clause.sql()
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        let mut rows = rows.query(params_from_iter(clause.values()))?;
        while let Some(row) = rows.next()? {
            into.push((row.get(0)?, kind, row.get(1)?));
        }
        Ok(())
    }

    /// Which prompt of its session a row goes with, if that is known.
    pub fn turn_of(&self, kind: RowKind, row_id: i64) -> Result<Option<i64>, StoreError> {
        let table = kind.table();
        let mut number = self
            .0
            .prepare_cached(&format!("SELECT prompt_number FROM {table} WHERE id = ?1"))?;
        let number = number.query_row([row_id], |row| row.get(0)).optional()?;
        Ok(number.filter(|number: &i64| *number > 0))
    }

    /// Where and when a row belongs; `None` if it is gone.
    pub fn place_of(
        &self,
        kind: RowKind,
        row_id: i64,
    ) -> Result<Option<(Option<ProjectId>, Millis)>, StoreError> {
        let table = kind.table();
        Ok(self
            .0
            .prepare_cached(&format!(
                "SELECT project_id, created_at_epoch FROM {table} WHERE id = ?1"
            ))?
            .query_row([row_id], |row| Ok((row.get(0)?, row.get(1)?)))
            .optional()?)
    }
}
