//! How a row is called where people and agents see it: `#12`, `S3`, `P7`, `M9`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use super::rank::RowKey;
use crate::store::RowKind;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Handle {
    pub kind: RowKind,
    pub row_id: i64,
}

impl Handle {
    pub const fn key(self) -> RowKey {
        (self.kind, self.row_id)
    }
}

impl From<RowKey> for Handle {
    fn from((kind, row_id): RowKey) -> Self {
        Self { kind, row_id }
    }
}

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sign = match self.kind {
            RowKind::Observation => '#',
            RowKind::Summary => 'S',
            RowKind::Prompt => 'P',
            RowKind::Message => 'M',
        };
        f.pad(&format!("{sign}{}", self.row_id))
    }
}

#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error("{0:?} is not an id; ids look like #12, S3, P7 or M9")]
pub struct NotAHandle(String);

impl FromStr for Handle {
    type Err = NotAHandle;

    /// A bare number is an observation.
    fn from_str(text: &str) -> Result<Self, NotAHandle> {
        let trimmed = text.trim();
        let digits = trimmed.trim_start_matches(|c: char| !c.is_ascii_digit());
        let kind = match &trimmed[..trimmed.len() - digits.len()] {
            "" | "#" => RowKind::Observation,
            "S" | "s" => RowKind::Summary,
            "P" | "p" => RowKind::Prompt,
            "M" | "m" => RowKind::Message,
            _ => return Err(NotAHandle(text.to_owned())),
        };
        match digits.parse() {
            Ok(row_id) if row_id > 0 => Ok(Self { kind, row_id }),
            _ => Err(NotAHandle(text.to_owned())),
        }
    }
}

impl Serialize for Handle {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Handle {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?
            .parse()
            .map_err(serde::de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_can_be_typed() {
        for kind in RowKind::ALL {
            let handle = Handle { kind, row_id: 12 };
            assert_eq!(handle.to_string().parse(), Ok(handle));
        }
        let twelve = Handle::from((RowKind::Observation, 12));
        assert_eq!(" 12 ".parse(), Ok(twelve));
        assert_eq!("s3".parse::<Handle>().unwrap().to_string(), "S3");
    }

    #[test]
    fn nothing_else_is_an_id() {
        for text in [
            "",
            "#",
            "S",
            "X1",
            "#-1",
            "#0",
            "12a",
            "##1",
            "99999999999999999999",
            "日1",
        ] {
            assert!(text.parse::<Handle>().is_err(), "{text:?}");
        }
    }
}
