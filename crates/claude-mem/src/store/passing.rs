//! Which rows pass a filter, and what has been said of them: keys alone, for ranking to go on.

use std::collections::{HashMap, HashSet};

use rusqlite::types::Value;
use rusqlite::{OptionalExtension, params_from_iter};

use super::{Filter, Reads, RowKind, StoreError, WordScope};
use crate::clock::Millis;
use crate::ids::{ObservationId, ProjectId};

/// What a person or a later memory said of an observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Verdict {
    pub wrong: bool,
    pub replaced_by: Option<ObservationId>,
}

impl Reads<'_> {
    /// Every row that passes: observations, and summaries where only files are asked for.
    pub fn rows_passing(&self, filter: &Filter) -> Result<Vec<(RowKind, i64)>, StoreError> {
        let mut rows = self.keys(RowKind::Observation, filter)?;
        if filter.types.is_empty() && filter.concepts.is_empty() {
            rows.extend(self.keys(RowKind::Summary, filter)?);
        }
        Ok(rows)
    }

    fn keys(&self, kind: RowKind, filter: &Filter) -> Result<Vec<(RowKind, i64)>, StoreError> {
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
        if !filter.files.is_empty() {
            let ids = self.rows_of_files(kind, filter.project, &filter.files)?;
            let ids = Value::Text(serde_json::to_string(&ids)?);
            clause.and("id IN (SELECT value FROM json_each(?))", [ids]);
        }
        let table = match kind {
            RowKind::Observation => "observations",
            RowKind::Summary => "session_summaries",
            RowKind::Prompt => "user_prompts",
            RowKind::Message => "final_messages",
        };
        let sql = format!("SELECT id FROM {table}{}", clause.sql());
        let mut rows = self.0.prepare_cached(&sql)?;
        let rows = rows.query_map(params_from_iter(clause.values()), |row| {
            Ok((kind, row.get(0)?))
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// These rows as far as they are in the scope, newest first.
    pub fn newest_of(
        &self,
        rows: &HashSet<(RowKind, i64)>,
        scope: &WordScope,
    ) -> Result<Vec<(RowKind, i64)>, StoreError> {
        let mut timed: Vec<(Millis, (RowKind, i64))> = Vec::with_capacity(rows.len());
        for &(kind, row_id) in rows {
            let inside = scope.kinds.is_empty() || scope.kinds.contains(&kind);
            if let Some(text) = inside
                .then(|| self.owed_text(kind, row_id))
                .transpose()?
                .flatten()
            {
                timed.push((text.created_at, (kind, row_id)));
            }
        }
        timed.sort_unstable_by(|a, b| b.cmp(a));
        Ok(timed.into_iter().map(|(_, key)| key).collect())
    }

    /// Of those of whom anything was said.
    pub fn verdicts(
        &self,
        ids: &[ObservationId],
    ) -> Result<HashMap<ObservationId, Verdict>, StoreError> {
        let mut by_id = self
            .0
            .prepare_cached("SELECT wrong, replaced_by FROM observations WHERE id = ?1")?;
        let mut verdicts = HashMap::new();
        for &id in ids {
            let verdict = by_id
                .query_row([id], |row| {
                    Ok(Verdict {
                        wrong: row.get(0)?,
                        replaced_by: row.get(1)?,
                    })
                })
                .optional()?;
            if let Some(verdict) = verdict
                && (verdict.wrong || verdict.replaced_by.is_some())
            {
                verdicts.insert(id, verdict);
            }
        }
        Ok(verdicts)
    }

    pub fn project_name(&self, id: ProjectId) -> Result<Option<String>, StoreError> {
        Ok(self
            .0
            .prepare_cached("SELECT name FROM projects WHERE id = ?1")?
            .query_row([id], |row| row.get(0))
            .optional()?)
    }
}
