//! [`WholeRow`]: all columns of a row, whatever the schema, so that it can be restored exactly.

use rusqlite::{Transaction, params_from_iter};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::StoreError;
use crate::columns::SqlColumn;
use crate::json_column::{as_json, as_sql};
use claude_mem_core::ids::SessionId;

/// The columns of one row by name. Column names come from SQLite itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct WholeRow(Vec<(String, Value)>);

impl WholeRow {
    /// The rows of a query whose one parameter is a session.
    pub(super) fn load_all(
        tx: &Transaction<'_>,
        sql: &str,
        session: SessionId,
    ) -> Result<Vec<Self>, StoreError> {
        let mut statement = tx.prepare(sql)?;
        let names: Vec<String> = statement.column_names().map(str::to_owned).collect();
        let rows = statement.query_map([session.sql()], |row| {
            let columns = names.iter().enumerate();
            columns
                .map(|(at, name)| Ok((name.clone(), as_json(row.get_ref(at)?))))
                .collect::<Result<_, _>>()
                .map(Self)
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    pub(super) fn value(&self, name: &str) -> Option<&Value> {
        self.0.iter().find(|(column, _)| column == name).map(|(_, value)| value)
    }

    pub(super) fn number(&self, name: &str) -> Option<i64> {
        self.value(name)?.as_i64()
    }

    pub(super) fn insert(&self, tx: &Transaction<'_>, table: &str) -> Result<(), StoreError> {
        let names: Vec<String> = self.writable().map(|(name, _)| quoted(name)).collect();
        let marks = vec!["?"; names.len()].join(", ");
        let sql = format!("INSERT INTO {table} ({}) VALUES ({marks})", names.join(", "));
        tx.execute(&sql, params_from_iter(self.writable().map(|(_, value)| as_sql(value))))?;
        Ok(())
    }

    pub(super) fn update(&self, tx: &Transaction<'_>, table: &str, id: i64) -> Result<(), StoreError> {
        let set: Vec<String> = self.writable().map(|(name, _)| format!("{} = ?", quoted(name))).collect();
        let sql = format!("UPDATE {table} SET {} WHERE id = {id}", set.join(", "));
        tx.execute(&sql, params_from_iter(self.writable().map(|(_, value)| as_sql(value))))?;
        Ok(())
    }

    /// Generated columns cannot be written.
    fn writable(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.0.iter().filter(|(name, _)| name != "created_at").map(|(name, value)| (name.as_str(), value))
    }
}

fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}
