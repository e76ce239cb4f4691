//! Which rows pass a filter, and what has been said of them: keys alone, for ranking to go on.

use std::collections::HashMap;

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params, params_from_iter};

use super::filter::Where;
use super::{Filter, Reads, RowKind, StoreError};
use crate::clock::Millis;
use crate::ids::{ObservationId, ProjectId};

/// What a person or a later memory said of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub wrong: bool,
    pub replaced_by: Option<ObservationId>,
}

/// Rules that replaced each other, one after another.
const REPLACED_MAX: u32 = 16;

/// A row and its time: sorts by it.
type Timed = (Millis, (RowKind, i64));

impl Reads<'_> {
    /// Every row that passes: observations, and summaries where only files are asked for.
    pub fn rows_passing(&self, filter: &Filter) -> Result<Vec<(RowKind, i64)>, StoreError> {
        let mut rows = Vec::new();
        for kind in kinds_of(filter) {
            rows.extend(self.keys(kind, filter, None)?);
        }
        Ok(rows.into_iter().map(|(_, key)| key).collect())
    }

    /// The newest rows that pass, or the oldest if the filter says so, in the order of time: read
    /// until there are enough.
    pub fn first_passing(
        &self,
        filter: &Filter,
        kinds: &[RowKind],
        limit: usize,
    ) -> Result<Vec<(RowKind, i64)>, StoreError> {
        let mut rows = Vec::new();
        for kind in kinds_of(filter) {
            if kinds.is_empty() || kinds.contains(&kind) {
                for filter in filter.apart() {
                    rows.extend(self.keys(kind, &filter, Some(limit))?);
                }
            }
        }
        rows.sort_unstable_by(|a, b| {
            if filter.oldest_first {
                a.cmp(b)
            } else {
                b.cmp(a)
            }
        });
        rows.dedup();
        rows.truncate(limit);
        Ok(rows.into_iter().map(|(_, key)| key).collect())
    }

    fn keys(
        &self,
        kind: RowKind,
        filter: &Filter,
        first: Option<usize>,
    ) -> Result<Vec<Timed>, StoreError> {
        let mut filter = filter.clone();
        if kind != RowKind::Observation && filter.user_level {
            filter.user_level = false;
            if filter.project.is_none() {
                return Ok(Vec::new());
            }
        }
        // Those at user level are so few that each is tested.
        if let Some(limit) = first.filter(|_| !filter.files.is_empty() && !filter.user_level) {
            return self.first_of_files(kind, &filter, limit);
        }
        let mut clause = clause(&filter);
        self.and_files(&mut clause, kind, filter.project, &filter.files)?;
        let order = first.map(|limit| {
            let limit = limit.min(i32::MAX as usize);
            let way = if filter.oldest_first { "ASC" } else { "DESC" };
            format!(" ORDER BY created_at_epoch {way}, id {way} LIMIT {limit}")
        });
        self.keys_where(kind, &clause, &order.unwrap_or_default())
    }

    /// Of those that speak of a file, which the index of files knows with their times.
    fn first_of_files(
        &self,
        kind: RowKind,
        filter: &Filter,
        limit: usize,
    ) -> Result<Vec<Timed>, StoreError> {
        let by_files_alone =
            filter.types.is_empty() && filter.concepts.is_empty() && filter.session.is_none();
        let mut rows = self.rows_of_files(kind, filter.project, &filter.files)?;
        if filter.oldest_first {
            rows.reverse();
        }
        let mut first = Vec::new();
        for (at, id) in rows {
            if first.len() >= limit {
                break;
            }
            let in_time = filter.since.is_none_or(|since| at >= since)
                && filter.until.is_none_or(|until| at < until);
            if in_time && (by_files_alone || self.passes(kind, id, filter)?) {
                first.push((at, (kind, id)));
            }
        }
        Ok(first)
    }

    /// Whether this row passes what is asked beside files.
    fn passes(&self, kind: RowKind, id: i64, filter: &Filter) -> Result<bool, StoreError> {
        let mut clause = clause(filter);
        clause.and("id = ?", [Value::Integer(id)]);
        Ok(!self.keys_where(kind, &clause, "")?.is_empty())
    }

    fn keys_where(
        &self,
        kind: RowKind,
        clause: &Where,
        order: &str,
    ) -> Result<Vec<Timed>, StoreError> {
        let sql = format!(
            "SELECT created_at_epoch, id FROM {}{}{order}",
            kind.table(),
            clause.sql(),
        );
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(params_from_iter(clause.values()), |row| {
            Ok((row.get(0)?, (kind, row.get(1)?)))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Of those of whom anything was said.
    pub fn verdicts(
        &self,
        ids: &[ObservationId],
    ) -> Result<HashMap<ObservationId, Verdict>, StoreError> {
        let ids: Vec<i64> = ids.iter().map(|id| id.0).collect();
        let mut said = self.0.prepare_cached(
            "SELECT o.id, o.wrong, o.replaced_by FROM json_each(?1) AS asked
             CROSS JOIN observations AS o ON o.id = asked.value
             WHERE o.wrong <> 0 OR o.replaced_by IS NOT NULL",
        )?;
        let said = said.query_map([serde_json::to_string(&ids)?], |row| {
            let verdict = Verdict {
                wrong: row.get(1)?,
                replaced_by: row.get(2)?,
            };
            Ok((row.get(0)?, verdict))
        })?;
        Ok(said.collect::<Result<_, _>>()?)
    }

    /// What stands in the place of a rule now, after however many replacements: itself, if it was
    /// not replaced.
    pub fn in_place_of(&self, id: ObservationId) -> Result<ObservationId, StoreError> {
        let mut last = self.0.prepare_cached(
            "WITH RECURSIVE chain (id, place) AS (
               VALUES (?1, 0)
               UNION ALL
               SELECT o.replaced_by, chain.place + 1 FROM chain JOIN observations AS o ON o.id = chain.id
               WHERE o.replaced_by IS NOT NULL AND chain.place < ?2
             ) SELECT id FROM chain ORDER BY place DESC LIMIT 1",
        )?;
        Ok(last.query_row(params![id, REPLACED_MAX], |row| row.get(0))?)
    }

    pub fn project_name(&self, id: ProjectId) -> Result<Option<String>, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT name FROM projects WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?)
    }
}

/// All but files, which have an index of their own.
fn clause(filter: &Filter) -> Where {
    let mut clause = filter.common();
    if !filter.types.is_empty() {
        let types = filter.types.iter();
        let types = types
            .map(|ty| Value::Text(ty.as_str().to_owned()))
            .collect();
        clause.and_in("type", types);
    }
    for concept in &filter.concepts {
        clause.and(
            "EXISTS (SELECT 1 FROM json_each(concepts) WHERE value = ? COLLATE NOCASE)",
            [Value::Text(concept.clone())],
        );
    }
    clause
}

/// Summaries have files, but neither a type nor concepts.
fn kinds_of(filter: &Filter) -> impl Iterator<Item = RowKind> + use<> {
    let summaries = filter.types.is_empty() && filter.concepts.is_empty();
    std::iter::once(RowKind::Observation).chain(summaries.then_some(RowKind::Summary))
}
