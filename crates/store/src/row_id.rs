//! [`RowId`]: the id of a row of any kind, which users and agents see as `#12`, `S3`, `P7`, `M9`
//! or `A4`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::RowKind;
use claude_mem_core::clock::Millis;

/// A row of any kind, displayed as `#12` (observation), `S3` (summary of a turn), `P7` (prompt), `M9`
/// (message) or `A4` (account of a session).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RowId {
    pub kind: RowKind,
    pub row_id: i64,
}

impl RowId {
    pub const fn new(kind: RowKind, row_id: i64) -> Self {
        Self { kind, row_id }
    }

    /// Reads the kind and the row id from two neighbouring columns.
    pub(crate) fn from_columns(row: &rusqlite::Row<'_>, first: usize) -> rusqlite::Result<Self> {
        Ok(Self { kind: row.get(first)?, row_id: row.get(first + 1)? })
    }
}

/// A row with its creation time; sorts by time.
pub type TimedRowId = (Millis, RowId);

impl fmt::Display for RowId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            RowKind::Observation => '#',
            RowKind::Summary => 'S',
            RowKind::Prompt => 'P',
            RowKind::Message => 'M',
            RowKind::Account => 'A',
        };
        f.pad(&format!("{sign}{}", self.row_id))
    }
}

/// The text is not a row id.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not an id; ids look like #12, S3, P7, M9 or A4")]
pub struct ParseRowIdError(String);

impl FromStr for RowId {
    type Err = ParseRowIdError;

    /// Parses an id; a bare number is an observation.
    fn from_str(text: &str) -> Result<Self, ParseRowIdError> {
        let trimmed = text.trim();
        let digits = trimmed.trim_start_matches(|c: char| !c.is_ascii_digit());
        let kind = match &trimmed[..trimmed.len() - digits.len()] {
            "" | "#" => RowKind::Observation,
            "S" | "s" => RowKind::Summary,
            "P" | "p" => RowKind::Prompt,
            "M" | "m" => RowKind::Message,
            "A" | "a" => RowKind::Account,
            _ => return Err(ParseRowIdError(text.to_owned())),
        };
        match digits.parse() {
            Ok(row_id) if row_id > 0 => Ok(Self { kind, row_id }),
            _ => Err(ParseRowIdError(text.to_owned())),
        }
    }
}

impl Serialize for RowId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for RowId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn displayed_ids_parse_back() {
        for kind in RowKind::ALL {
            let handle = RowId::new(kind, 12);
            assert_eq!(handle.to_string().parse(), Ok(handle));
        }
        let twelve = RowId::new(RowKind::Observation, 12);
        assert_eq!(" 12 ".parse(), Ok(twelve));
        assert_eq!("s3".parse::<RowId>().unwrap().to_string(), "S3");
    }

    #[test]
    fn other_texts_are_not_ids() {
        for text in ["", "#", "S", "X1", "#-1", "#0", "12a", "##1", "99999999999999999999", "日1"] {
            assert!(text.parse::<RowId>().is_err(), "{text:?}");
        }
    }
}
