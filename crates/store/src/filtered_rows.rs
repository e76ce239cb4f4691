//! Rows that match a [`RowFilter`], as keys only, and the standing of observations for ranking.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params, params_from_iter};

use super::filter::WhereClause;
use super::{RowFilter, RowId, RowKind, StoreError, StoreReader, TimedRowId};
use crate::columns::{ReadColumn, SqlColumn};
use claude_mem_core::ids::{ObservationId, ProjectId};

/// Whether an observation was marked as wrong, or replaced by a later one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ObservationStanding {
    pub wrong: bool,
    pub replaced_by: Option<ObservationId>,
}

/// The longest chain of replacements that is followed.
const REPLACEMENT_CHAIN_MAX: u32 = 16;

impl StoreReader<'_> {
    /// Every matching row of the kinds that the filter can match.
    pub fn matching_rows(&self, filter: &RowFilter) -> Result<Vec<RowId>, StoreError> {
        let mut rows = Vec::new();
        for kind in filterable_kinds(filter) {
            rows.extend(self.matching_keys(kind, filter, None)?);
        }
        Ok(rows.into_iter().map(|(_, key)| key).collect())
    }

    /// The first `limit` matching rows by time, newest first unless the filter says otherwise.
    /// Stops reading when there are enough.
    pub fn first_matching_rows(&self, filter: &RowFilter, limit: usize) -> Result<Vec<RowId>, StoreError> {
        let mut rows = Vec::new();
        for kind in filterable_kinds(filter) {
            for filter in filter.split_by_owner() {
                rows.extend(self.matching_keys(kind, &filter, Some(limit))?);
            }
        }
        rows.sort_unstable_by(|a, b| if filter.oldest_first { a.cmp(b) } else { b.cmp(a) });
        rows.dedup();
        rows.truncate(limit);
        Ok(rows.into_iter().map(|(_, key)| key).collect())
    }

    fn matching_keys(
        &self,
        kind: RowKind,
        filter: &RowFilter,
        first: Option<usize>,
    ) -> Result<Vec<TimedRowId>, StoreError> {
        let mut filter = filter.clone();
        if kind != RowKind::Observation && filter.user_level {
            filter.user_level = false;
            if filter.project.is_none() {
                return Ok(Vec::new());
            }
        }
        // Observations at user level are few, so each is tested.
        if let Some(limit) = first.filter(|_| !filter.files.is_empty() && !filter.user_level) {
            return self.first_matching_by_file(kind, &filter, limit);
        }
        let mut clause = filter.observation_clause();
        filter.and_client(&mut clause, kind);
        self.and_files(&mut clause, kind, filter.project, &filter.files)?;
        let order = first.map(|limit| {
            let limit = limit.min(i32::MAX as usize);
            let way = if filter.oldest_first { "ASC" } else { "DESC" };
            format!(" ORDER BY created_at_epoch {way}, id {way} LIMIT {limit}")
        });
        self.keys_where(kind, &clause, &order.unwrap_or_default())
    }

    /// The first matching rows that refer to one of the filter's files. The file index has their
    /// times.
    fn first_matching_by_file(
        &self,
        kind: RowKind,
        filter: &RowFilter,
        limit: usize,
    ) -> Result<Vec<TimedRowId>, StoreError> {
        let by_files_alone = filter.types.is_empty()
            && filter.concepts.is_empty()
            && filter.session.is_none()
            && filter.client.is_none()
            && filter.who.is_none();
        let mut rows = self.rows_of_files(kind, filter.project, &filter.files)?;
        if filter.oldest_first {
            rows.reverse();
        }
        let mut first = Vec::new();
        for (at, id) in rows {
            if first.len() >= limit {
                break;
            }
            let in_time =
                filter.since.is_none_or(|since| at >= since) && filter.until.is_none_or(|until| at < until);
            if in_time && (by_files_alone || self.row_passes_filter(kind, id, filter)?) {
                first.push((at, RowId::new(kind, id)));
            }
        }
        Ok(first)
    }

    /// Whether this row matches the filter, files aside.
    fn row_passes_filter(&self, kind: RowKind, id: i64, filter: &RowFilter) -> Result<bool, StoreError> {
        let mut clause = filter.observation_clause();
        filter.and_client(&mut clause, kind);
        clause.and("id = ?", [Value::Integer(id)]);
        Ok(!self.keys_where(kind, &clause, "")?.is_empty())
    }

    fn keys_where(
        &self,
        kind: RowKind,
        clause: &WhereClause,
        order: &str,
    ) -> Result<Vec<TimedRowId>, StoreError> {
        let sql = format!("SELECT created_at_epoch, id FROM {}{}{order}", kind.table(), clause.sql());
        let mut statement = self.0.prepare_cached(&sql)?;
        let rows = statement.query_map(params_from_iter(clause.values()), |row| {
            Ok((row.column(0)?, RowId::new(kind, row.get(1)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The standing of those observations that are wrong or replaced.
    pub fn observation_standings(
        &self,
        ids: &[ObservationId],
    ) -> Result<HashMap<ObservationId, ObservationStanding>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let mut statement = self.0.prepare_cached(
            "SELECT o.id, o.wrong, o.replaced_by FROM json_each(?1) AS asked
             CROSS JOIN observations AS o ON o.id = asked.value
             WHERE o.wrong <> 0 OR o.replaced_by IS NOT NULL",
        )?;
        let said = statement.query_map([serde_json::to_string(&ids)?], |row| {
            let verdict = ObservationStanding { wrong: row.get(1)?, replaced_by: row.column(2)? };
            Ok((row.column(0)?, verdict))
        })?;
        Ok(said.collect::<Result<_, _>>()?)
    }

    /// The observation that replaces `id` now, after any number of replacements; `id` itself if it
    /// was not replaced.
    pub fn current_replacement(&self, id: ObservationId) -> Result<ObservationId, StoreError> {
        let mut last = self.0.prepare_cached(
            "WITH RECURSIVE chain (id, place) AS (
               VALUES (?1, 0)
               UNION ALL
               SELECT o.replaced_by, chain.place + 1 FROM chain JOIN observations AS o ON o.id = chain.id
               WHERE o.replaced_by IS NOT NULL AND chain.place < ?2
             ) SELECT id FROM chain ORDER BY place DESC LIMIT 1",
        )?;
        Ok(last.query_row(params![id.sql(), REPLACEMENT_CHAIN_MAX], |row| row.column(0))?)
    }

    pub fn project_name(&self, id: ProjectId) -> Result<Option<String>, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT name FROM projects WHERE id = ?1")?
            .query_row([id.sql()], |row| row.get(0))
            .optional()?)
    }
}

/// The kinds that a filter can match: summaries have files, but neither type nor concepts; accounts have a
/// member and a session, and the others only a session.
fn filterable_kinds(filter: &RowFilter) -> impl Iterator<Item = RowKind> {
    let summaries = filter.types.is_empty() && filter.concepts.is_empty();
    let sessions = summaries && filter.files.is_empty();
    let (by_client, by_member) = (sessions && filter.client.is_some(), sessions && filter.who.is_some());
    RowKind::ALL
        .into_iter()
        .filter(move |kind| match kind {
            RowKind::Observation => true,
            RowKind::Summary => summaries,
            RowKind::Account => by_client || by_member,
            RowKind::Prompt | RowKind::Message => by_client,
        })
        .filter(|kind| filter.includes_kind(*kind))
}
