//! Filters and pagination of row lists.
//!
//! [`RowFilter`] selects rows, [`PageRequest`] a page of them, and [`RowPage`] is the result.
//! [`WhereClause`] builds SQL from fixed fragments, with values only as parameters.

use rusqlite::types::Value;

use super::{RowKind, SessionStatus};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{MemberRowId, ProjectId, SessionId};
use claude_mem_core::limits::PAGE_ROWS_MAX;
use claude_mem_core::memory::ObservationType;

/// Filter for rows. The default filter matches all rows.
#[derive(Clone, Debug, Default, PartialEq)]
#[allow(clippy::struct_excessive_bools, reason = "independent conditions")]
pub struct RowFilter {
    pub project: Option<ProjectId>,
    /// Observations only. With a project: also those at user level. Without one: only those.
    pub user_level: bool,
    pub session: Option<SessionId>,
    /// Rows of all other sessions, and those without one.
    pub except_session: Option<SessionId>,
    /// Empty: all kinds.
    pub kinds: Vec<RowKind>,
    /// Any of these; only observations have a type.
    pub types: Vec<ObservationType>,
    /// All of these.
    pub concepts: Vec<String>,
    /// A path, a path's suffix, or a folder ending in `/`. Any of these.
    pub files: Vec<String>,
    /// Only rows of sessions of this coding agent.
    pub client: Option<String>,
    /// Only observations that are pinned.
    pub pinned: bool,
    /// Only observations that are marked as wrong.
    pub wrong: bool,
    pub since: Option<Millis>,
    /// Exclusive.
    pub until: Option<Millis>,
    pub oldest_first: bool,
    /// Sessions only.
    pub status: Option<SessionStatus>,
    /// `None`: rows of all members. Prompts and messages are always the user's own.
    pub who: Option<RowOwner>,
}

/// Selects rows by their owner.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowOwner {
    /// One's own.
    Own,
    Member(MemberRowId),
}

/// A requested page, by offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    pub offset: u32,
    pub limit: u32,
}

impl PageRequest {
    pub const fn first(limit: u32) -> Self {
        Self { offset: 0, limit }
    }

    /// The limit within its bounds, whatever was requested.
    pub fn row_limit(self) -> u32 {
        self.limit.clamp(1, PAGE_ROWS_MAX)
    }
}

/// One page of rows, and whether more follow.
#[derive(Clone, Debug, PartialEq, serde::Serialize)]
pub struct RowPage<T> {
    pub items: Vec<T>,
    #[serde(rename = "hasMore")]
    pub has_more: bool,
}

impl<T> RowPage<T> {
    /// Builds a page from rows that were fetched with one extra row, which tells whether more
    /// follow.
    pub(super) fn from_overfetch(mut rows: Vec<T>, page: PageRequest) -> Self {
        let limit = page.row_limit() as usize;
        let has_more = rows.len() > limit;
        rows.truncate(limit);
        Self { items: rows, has_more }
    }
}

/// A WHERE clause built from fixed fragments; values are only ever parameters.
#[derive(Debug, Default)]
pub(super) struct WhereClause {
    sql: String,
    values: Vec<Value>,
}

impl WhereClause {
    /// Adds a condition with one `?` for each value.
    pub(super) fn and(&mut self, fragment: &'static str, values: impl IntoIterator<Item = Value>) {
        self.sql.push_str(if self.sql.is_empty() { " WHERE " } else { " AND " });
        self.sql.push('(');
        self.sql.push_str(fragment);
        self.sql.push(')');
        self.values.extend(values);
    }

    /// Restricts to a project, to user level, to either, or not at all. Only observations have a
    /// level.
    pub(super) fn and_owner(&mut self, project: Option<ProjectId>, user_level: bool) {
        match (project.map(|id| Value::Integer(id.0)), user_level) {
            (Some(id), false) => self.and("project_id = ?", [id]),
            (Some(id), true) => self.and("project_id = ? OR level = 'user'", [id]),
            // The redundant condition selects the partial index, which omits the common level.
            (None, true) => self.and("level = 'user' AND level <> 'project'", []),
            (None, false) => {}
        }
    }

    /// Adds `column IN (?, ?, …)`.
    pub(super) fn and_in(&mut self, column: &'static str, values: Vec<Value>) {
        self.sql.push_str(if self.sql.is_empty() { " WHERE " } else { " AND " });
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

impl RowFilter {
    /// Whether a row of this project, or of this level, is in scope.
    pub fn includes_owner(&self, project: Option<ProjectId>, at_user_level: bool) -> bool {
        let is_own = self.project.is_some() && self.project == project;
        let is_everybodys = self.user_level && at_user_level;
        let takes_all = self.project.is_none() && !self.user_level;
        is_own || is_everybodys || takes_all
    }

    /// Splits into filters of one owner each, so that each query can use an index.
    pub(super) fn split_by_owner(&self) -> Vec<Self> {
        if self.project.is_none() || !self.user_level {
            return vec![self.clone()];
        }
        let (mut own, mut everybodys) = (self.clone(), self.clone());
        own.user_level = false;
        everybodys.project = None;
        vec![own, everybodys]
    }

    /// Whether rows of this kind may match.
    pub fn includes_kind(&self, kind: RowKind) -> bool {
        self.kinds.is_empty() || self.kinds.contains(&kind)
    }

    /// The conditions that every kind of row supports: project, session and time.
    pub(super) fn base_clause(&self) -> WhereClause {
        let mut clause = WhereClause::default();
        clause.and_owner(self.project, self.user_level);
        if let Some(session) = self.session {
            clause.and("session_id = ?", [Value::Integer(session.0)]);
        }
        if let Some(session) = self.except_session {
            clause.and("session_id IS NOT ?", [Value::Integer(session.0)]);
        }
        if let Some(since) = self.since {
            clause.and("created_at_epoch >= ?", [Value::Integer(since.0)]);
        }
        if let Some(until) = self.until {
            clause.and("created_at_epoch < ?", [Value::Integer(until.0)]);
        }
        clause
    }

    /// Restricts the clause to the rows of the filter's member. Only for tables that have one.
    pub(super) fn and_owner_of_row(&self, clause: &mut WhereClause) {
        match self.who {
            Some(RowOwner::Own) => clause.and("member IS NULL", []),
            Some(RowOwner::Member(id)) => clause.and("member = ?", [Value::Integer(id.0)]),
            None => {}
        }
    }

    /// Restricts the clause to the filter's types.
    pub(super) fn and_types(&self, clause: &mut WhereClause) {
        if !self.types.is_empty() {
            let types = self.types.iter();
            clause.and_in("type", types.map(|ty| Value::Text(ty.as_str().to_owned())).collect());
        }
    }

    /// The conditions on observations alone: types and concepts.
    pub(super) fn observation_clause(&self) -> WhereClause {
        let mut clause = self.base_clause();
        self.and_owner_of_row(&mut clause);
        self.and_types(&mut clause);
        for concept in &self.concepts {
            clause.and(
                "EXISTS (SELECT 1 FROM json_each(concepts) WHERE instr(lower(value), lower(?)) > 0)",
                [Value::Text(concept.clone())],
            );
        }
        clause
    }

    /// Restricts the clause to sessions of the filter's agent. An observation may have several sessions.
    pub(super) fn and_client(&self, clause: &mut WhereClause, kind: RowKind) {
        let Some(client) = &self.client else {
            return;
        };
        let client = || Value::Text(client.clone());
        if kind == RowKind::Observation {
            clause.and(
                "session_id IN (SELECT id FROM sdk_sessions WHERE client = ?) OR id IN
                   (SELECT observation_id FROM observation_sources WHERE session_id IN
                     (SELECT id FROM sdk_sessions WHERE client = ?))",
                [client(), client()],
            );
        } else {
            clause.and("session_id IN (SELECT id FROM sdk_sessions WHERE client = ?)", [client()]);
        }
    }

    /// The SQL for one page of `table` plus one row. Skipped rows are passed in an index; only the
    /// rows of the page are read from the table.
    pub(super) fn page_sql(
        &self,
        columns: &str,
        table: &str,
        clause: &mut WhereClause,
        page: PageRequest,
    ) -> String {
        let rows = i64::from(page.row_limit()) + 1;
        let place = [rows, i64::from(page.offset)].map(Value::Integer);
        clause.values.extend(place);
        let order = if self.oldest_first {
            "ORDER BY created_at_epoch ASC, id ASC"
        } else {
            "ORDER BY created_at_epoch DESC, id DESC"
        };
        let wanted = &clause.sql;
        format!("{columns} WHERE id IN (SELECT id FROM {table}{wanted} {order} LIMIT ? OFFSET ?) {order}")
    }
}
