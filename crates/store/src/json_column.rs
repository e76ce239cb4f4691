//! Column values as JSON and back, for rows that are kept aside whole.

use rusqlite::types::{Value, ValueRef};

pub(crate) fn as_json(value: ValueRef<'_>) -> serde_json::Value {
    match value {
        ValueRef::Null | ValueRef::Blob(_) => serde_json::Value::Null,
        ValueRef::Integer(number) => number.into(),
        ValueRef::Real(number) => number.into(),
        ValueRef::Text(text) => String::from_utf8_lossy(text).into(),
    }
}

pub(crate) fn as_sql(value: &serde_json::Value) -> Value {
    match value {
        serde_json::Value::String(text) => Value::Text(text.clone()),
        serde_json::Value::Number(number) => {
            number.as_i64().map_or_else(|| number.as_f64().map_or(Value::Null, Value::Real), Value::Integer)
        }
        _ => Value::Null,
    }
}
