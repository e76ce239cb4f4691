//! Which rows, and which page of them.

use rusqlite::types::{ToSql, ToSqlOutput, Value};

use super::SessionStatus;
use crate::clock::Millis;
use crate::ids::{ProjectId, SessionId};
use crate::limits::PAGE_ROWS_MAX;
use crate::memory::ObservationType;

/// All that rows can be narrowed by. An empty filter means all.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "each narrows by itself")]
pub struct Filter {
    pub project: Option<ProjectId>,
    /// Of observations: with a project, also those that hold in all of them; without one, those
    /// alone.
    pub user_level: bool,
    pub session: Option<SessionId>,
    /// Any of these.
    pub types: Vec<ObservationType>,
    /// All of these.
    pub concepts: Vec<String>,
    /// A path, a path's suffix, or a folder ending in `/`. Any of these.
    pub files: Vec<String>,
    /// Of observations: those alone that go to every session of their project.
    pub pinned: bool,
    /// Of observations: those alone that were marked as wrong.
    pub wrong: bool,
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
    pub oldest_first: bool,
    /// Of sessions alone.
    pub status: Option<SessionStatus>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Page {
    pub offset: u32,
    pub limit: u32,
}

impl Page {
    pub const fn first(limit: u32) -> Self {
        Self { offset: 0, limit }
    }

    /// Never more than the limit, whatever was asked for.
    pub fn rows(self) -> u32 {
        self.limit.clamp(1, PAGE_ROWS_MAX)
    }
}

/// One page of rows, and whether there are more behind it.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct Paged<T> {
    pub items: Vec<T>,
    #[serde(rename = "hasMore")]
    pub has_more: bool,
}

impl<T> Paged<T> {
    /// `rows` holds one more than the page if there is more.
    pub(super) fn cut(mut rows: Vec<T>, page: Page) -> Self {
        let limit = page.rows() as usize;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Self {
            items: rows,
            has_more,
        }
    }
}

/// A WHERE clause put together from fixed fragments; values are only ever parameters.
#[derive(Debug, Default)]
pub(super) struct Where {
    sql: String,
    values: Vec<Value>,
}

impl Where {
    /// `fragment` has one `?` for each value.
    pub(super) fn and(&mut self, fragment: &'static str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(if self.sql.is_empty() {
            " WHERE "
        } else {
            " AND "
        });
        self.sql.push('(');
        self.sql.push_str(fragment);
        self.sql.push(')');
        self.values.extend(values);
    }

    /// Of this project, of every one, of either, or of all. Only observations have a level.
    pub(super) fn and_owner(&mut self, project: Option<ProjectId>, user_level: bool) {
        match (project.map(|id| Value::Integer(id.0)), user_level) {
            (Some(id), false) => self.and("project_id = ?", [id]),
            (Some(id), true) => self.and("project_id = ? OR level = 'user'", [id]),
            // Said twice for the index, which leaves out the common case.
            (None, true) => self.and("level = 'user' AND level <> 'project'", []),
            (None, false) => {}
        }
    }

    /// `column IN (?, ?, …)`.
    pub(super) fn and_in(&mut self, column: &'static str, values: Vec<Value>) {
        self.sql.push_str(if self.sql.is_empty() {
            " WHERE "
        } else {
            " AND "
        });
        self.sql.push_str(column);
        self.sql.push_str(" IN (");
        for at in 0..values.len() {
            self.sql.push_str(if at == 0 { "?" } else { ", ?" });
        }
        self.sql.push(')');
        self.values.extend(values);
    }

    pub(super) fn sql(&self) -> &str {
        &self.sql
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &Value> {
        self.values.iter()
    }
}

impl Filter {
    /// The same as filters of one owner each, every one of them with an index to be read by.
    pub(super) fn apart(&self) -> Vec<Self> {
        if self.project.is_none() || !self.user_level {
            return vec![self.clone()];
        }
        let (mut own, mut everybodys) = (self.clone(), self.clone());
        own.user_level = false;
        everybodys.project = None;
        vec![own, everybodys]
    }

    /// What every kind of row has: project, session, time.
    pub(super) fn common(&self) -> Where {
        let mut clause = Where::default();
        clause.and_owner(self.project, self.user_level);
        if let Some(session) = self.session {
            clause.and("session_id = ?", [Value::Integer(session.0)]);
        }
        if let Some(since) = self.since {
            clause.and("created_at_epoch >= ?", [Value::Integer(since.0)]);
        }
        if let Some(until) = self.until {
            clause.and("created_at_epoch < ?", [Value::Integer(until.0)]);
        }
        clause
    }

    /// One page of `table`, and one row more. Rows before it are passed by in an index: only
    /// those of the page are read.
    pub(super) fn page(
        &self,
        columns: &str,
        table: &str,
        clause: &mut Where,
        page: Page,
    ) -> String {
        let rows = i64::from(page.rows()) + 1;
        let place = [rows, i64::from(page.offset)].map(Value::Integer);
        clause.values.extend(place);
        let order = if self.oldest_first {
            "ORDER BY created_at_epoch ASC, id ASC"
        } else {
            "ORDER BY created_at_epoch DESC, id DESC"
        };
        let wanted = &clause.sql;
        format!(
            "{columns} WHERE id IN (SELECT id FROM {table}{wanted} {order} LIMIT ? OFFSET ?) {order}"
        )
    }
}

/// A JSON array of strings in a TEXT column.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct List(pub Vec<String>);

impl ToSql for List {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let text = serde_json::to_string(&self.0)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
        Ok(ToSqlOutput::from(text))
    }
}

impl rusqlite::types::FromSql for List {
    fn column_result(value: rusqlite::types::ValueRef<'_>) -> rusqlite::types::FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?)
            .map(Self)
            .map_err(|e| rusqlite::types::FromSqlError::Other(Box::new(e)))
    }
}
