//! The values of a row that is written, by column name, and the columns of a row's text.
//!
//! Invariant: the text of an observation, a summary or an account reaches its table only through
//! [`TextColumns`], which redacts every string.

use rusqlite::{Row, ToSql, Transaction, params_from_iter};

use crate::StoreError;
use crate::columns::{JsonList, text_column};
use claude_mem_core::memory::{AccountText, ObservationText, ObservationType, SummaryText};

/// A text whose fields are columns of one table.
pub(crate) trait TextColumns: Sized {
    /// The columns, in the order of [`read`](Self::read) and [`redacted`](Self::redacted).
    const COLUMNS: &'static [&'static str];

    /// Reads the text from neighbouring columns.
    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self>;

    /// The redacted value of each column.
    fn redacted(&self) -> Vec<Box<dyn ToSql + '_>>;

    /// The columns of `table` (an alias, or empty) as they are written in a SELECT.
    fn select_list(table: &str) -> String {
        let dot = if table.is_empty() { "" } else { "." };
        let named: Vec<String> = Self::COLUMNS.iter().map(|column| format!("{table}{dot}{column}")).collect();
        named.join(", ")
    }
}

impl TextColumns for ObservationText {
    const COLUMNS: &'static [&'static str] =
        &["type", "title", "subtitle", "narrative", "facts", "concepts", "files_read", "files_modified"];

    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            kind: ObservationType::named(row.get::<_, String>(first)?),
            title: row.get(first + 1)?,
            subtitle: row.get(first + 2)?,
            narrative: row.get(first + 3)?,
            facts: read_list(row, first + 4)?,
            concepts: read_list(row, first + 5)?,
            files_read: read_list(row, first + 6)?,
            files_modified: read_list(row, first + 7)?,
        })
    }

    fn redacted(&self) -> Vec<Box<dyn ToSql + '_>> {
        let Self { kind, title, subtitle, narrative, facts, concepts, files_read, files_modified } = self;
        vec![
            Box::new(kind.as_str()),
            Box::new(text_column(title)),
            Box::new(text_column(subtitle)),
            Box::new(text_column(narrative)),
            Box::new(JsonList(facts.clone())),
            Box::new(JsonList(concepts.clone())),
            Box::new(JsonList(files_read.clone())),
            Box::new(JsonList(files_modified.clone())),
        ]
    }
}

impl TextColumns for SummaryText {
    const COLUMNS: &'static [&'static str] = &[
        "request",
        "investigated",
        "learned",
        "completed",
        "next_steps",
        "notes",
        "files_read",
        "files_edited",
    ];

    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            request: row.get(first)?,
            investigated: row.get(first + 1)?,
            learned: row.get(first + 2)?,
            completed: row.get(first + 3)?,
            next_steps: row.get(first + 4)?,
            notes: row.get(first + 5)?,
            files_read: read_list(row, first + 6)?,
            files_edited: read_list(row, first + 7)?,
        })
    }

    fn redacted(&self) -> Vec<Box<dyn ToSql + '_>> {
        let Self { request, investigated, learned, completed, next_steps, notes, files_read, files_edited } =
            self;
        vec![
            Box::new(text_column(request)),
            Box::new(text_column(investigated)),
            Box::new(text_column(learned)),
            Box::new(text_column(completed)),
            Box::new(text_column(next_steps)),
            Box::new(text_column(notes)),
            Box::new(JsonList(files_read.clone())),
            Box::new(JsonList(files_edited.clone())),
        ]
    }
}

impl TextColumns for AccountText {
    const COLUMNS: &'static [&'static str] =
        &["purpose", "done", "learned", "decided", "checked", "open", "files_edited"];

    fn read(row: &Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self {
            purpose: row.get(first)?,
            done: read_list(row, first + 1)?,
            learned: read_list(row, first + 2)?,
            decided: read_list(row, first + 3)?,
            checked: read_list(row, first + 4)?,
            open: read_list(row, first + 5)?,
            files_edited: read_list(row, first + 6)?,
        })
    }

    fn redacted(&self) -> Vec<Box<dyn ToSql + '_>> {
        let Self { purpose, done, learned, decided, checked, open, files_edited } = self;
        vec![
            Box::new(text_column(purpose)),
            Box::new(JsonList(done.clone())),
            Box::new(JsonList(learned.clone())),
            Box::new(JsonList(decided.clone())),
            Box::new(JsonList(checked.clone())),
            Box::new(JsonList(open.clone())),
            Box::new(JsonList(files_edited.clone())),
        ]
    }
}

fn read_list(row: &Row<'_>, at: usize) -> rusqlite::Result<Vec<String>> {
    row.get::<_, JsonList>(at).map(|list| list.0)
}

/// The values of one row to insert or to update.
pub(crate) struct RowValues<'a> {
    /// Column, and the expression of its value with one `?`.
    columns: Vec<(&'static str, &'static str)>,
    values: Vec<Box<dyn ToSql + 'a>>,
}

impl<'a> RowValues<'a> {
    pub(crate) fn from_text<T: TextColumns>(text: &'a T) -> Self {
        let columns = T::COLUMNS.iter().map(|column| (*column, "?")).collect();
        Self { columns, values: text.redacted() }
    }

    pub(crate) fn set(self, column: &'static str, value: impl ToSql + 'a) -> Self {
        self.set_to(column, "?", value)
    }

    /// Sets a column to an expression of SQL with one `?`, such as `max(edited, ?)`.
    pub(crate) fn set_to(
        mut self,
        column: &'static str,
        expression: &'static str,
        value: impl ToSql + 'a,
    ) -> Self {
        self.columns.push((column, expression));
        self.values.push(Box::new(value));
        self
    }

    /// Inserts the row and returns its id.
    pub(crate) fn insert(self, tx: &Transaction<'_>, table: &str) -> Result<i64, StoreError> {
        let (columns, expressions): (Vec<_>, Vec<_>) = self.columns.into_iter().unzip();
        let sql = format!("INSERT INTO {table} ({}) VALUES ({})", columns.join(", "), expressions.join(", "));
        tx.prepare_cached(&sql)?.execute(params_from_iter(self.values))?;
        Ok(tx.last_insert_rowid())
    }

    /// Updates the row with this id.
    pub(crate) fn update(mut self, tx: &Transaction<'_>, table: &str, id: i64) -> Result<(), StoreError> {
        let set: Vec<String> =
            self.columns.iter().map(|(column, expression)| format!("{column} = {expression}")).collect();
        self.values.push(Box::new(id));
        let sql = format!("UPDATE {table} SET {} WHERE id = ?", set.join(", "));
        tx.prepare_cached(&sql)?.execute(params_from_iter(self.values))?;
        Ok(())
    }
}
