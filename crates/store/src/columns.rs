//! How values become columns: ids and times of `core` through [`SqlColumn`], so that `core` does not
//! know SQLite, and lists through [`JsonList`].

use std::borrow::Cow;

use rusqlite::Row;
use rusqlite::types::{FromSql, FromSqlError, FromSqlResult, ToSql, ToSqlOutput, Value, ValueRef};

use claude_mem_core::clock::{Micros, Millis};
use claude_mem_core::ids::{
    AccountId, FinalMessageId, MemberRowId, ObservationId, OpenItemId, PendingId, ProjectId, PromptId,
    PublicId, SessionId, SpaceRowId, SummaryId,
};
use claude_mem_core::memory::Origin;
use claude_mem_redact::{LongText, ShortText};

/// A name, branch or word as a query parameter: redacted, whoever calls the store.
pub(crate) fn name_column(text: &str) -> Cow<'_, str> {
    ShortText::name(text).into_text()
}

/// An id as a query parameter.
pub(crate) fn id_column(text: &str) -> Cow<'_, str> {
    ShortText::id(text).into_text()
}

/// A path as a query parameter.
pub(crate) fn path_column(text: &str) -> Cow<'_, str> {
    ShortText::path(text).into_text()
}

/// A project key as a query parameter.
pub(crate) fn key_column(text: &str) -> Cow<'_, str> {
    ShortText::key(text).into_text()
}

/// A title, a narrative or another long text as a query parameter.
pub(crate) fn text_column(text: &str) -> Cow<'_, str> {
    LongText::new(text).into_text()
}

/// Internal state in JSON as a query parameter. It is written by this program from redacted texts, so its strings
/// are examined one by one only if the whole is not clean.
pub(crate) fn state_column(state: &str) -> Cow<'_, str> {
    if matches!(text_column(state), Cow::Borrowed(_)) {
        return Cow::Borrowed(state);
    }
    match serde_json::from_str::<serde_json::Value>(state) {
        Ok(mut value) => {
            redact_strings(&mut value);
            Cow::Owned(value.to_string())
        }
        Err(_) => text_column(state),
    }
}

fn redact_strings(value: &mut serde_json::Value) {
    match value {
        serde_json::Value::String(text) => {
            if let Cow::Owned(redacted) = text_column(text) {
                *text = redacted;
            }
        }
        serde_json::Value::Array(items) => items.iter_mut().for_each(redact_strings),
        serde_json::Value::Object(fields) => fields.values_mut().for_each(redact_strings),
        _ => {}
    }
}

/// A value of `core` that is stored in one column.
pub(crate) trait SqlColumn: Sized {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self>;

    /// The value as a query parameter.
    fn sql(&self) -> Value;
}

macro_rules! integer_columns {
    ($($name:ident),*) => {$(
        impl SqlColumn for $name {
            fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }

            fn sql(&self) -> Value {
                Value::Integer(self.0)
            }
        }
    )*};
}
integer_columns!(
    ProjectId,
    SessionId,
    ObservationId,
    SummaryId,
    AccountId,
    OpenItemId,
    PromptId,
    FinalMessageId,
    MemberRowId,
    SpaceRowId,
    PendingId,
    Millis,
    Micros
);

impl SqlColumn for PublicId {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
        value.as_str()?.parse().map_err(|e| FromSqlError::Other(Box::new(e)))
    }

    fn sql(&self) -> Value {
        Value::Text(self.to_string())
    }
}

impl<T: SqlColumn> SqlColumn for Option<T> {
    fn from_sql(value: ValueRef<'_>) -> FromSqlResult<Self> {
        match value {
            ValueRef::Null => Ok(None),
            value => T::from_sql(value).map(Some),
        }
    }

    fn sql(&self) -> Value {
        self.as_ref().map_or(Value::Null, SqlColumn::sql)
    }
}

/// Reads an origin. One that this version does not know counts as imported, which is trusted least.
pub(crate) fn read_origin(row: &Row<'_>, at: usize) -> rusqlite::Result<Origin> {
    Ok(Origin::from_name(row.get_ref(at)?.as_str()?).unwrap_or(Origin::Import))
}

/// Reads [`SqlColumn`] values from a row, as `Row::get` reads SQLite's own types.
pub(crate) trait ReadColumn {
    fn column<T: SqlColumn>(&self, at: usize) -> rusqlite::Result<T>;
}

impl ReadColumn for Row<'_> {
    fn column<T: SqlColumn>(&self, at: usize) -> rusqlite::Result<T> {
        struct Adapter<T>(T);
        impl<T: SqlColumn> FromSql for Adapter<T> {
            fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
                T::from_sql(value).map(Self)
            }
        }
        self.get::<_, Adapter<T>>(at).map(|read| read.0)
    }
}

/// A list of strings, stored as a JSON array in a TEXT column. Every string is redacted on the way.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct JsonList(pub Vec<String>);

impl ToSql for JsonList {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        let redacted: Vec<Cow<'_, str>> = self.0.iter().map(|text| text_column(text)).collect();
        let text = serde_json::to_string(&redacted)
            .map_err(|e| rusqlite::Error::ToSqlConversionFailure(Box::new(e)))?;
        Ok(ToSqlOutput::from(text))
    }
}

impl FromSql for JsonList {
    fn column_result(value: ValueRef<'_>) -> FromSqlResult<Self> {
        serde_json::from_str(value.as_str()?).map(Self).map_err(|e| FromSqlError::Other(Box::new(e)))
    }
}
