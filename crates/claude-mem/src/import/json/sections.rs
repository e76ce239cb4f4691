//! One list of a document at a time, row by row; the rest is passed over unread.

use std::fs::File;
use std::io::BufReader;
use std::path::Path;

use serde::de::{
    DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::value::RawValue;

use crate::import::ImportError;

/// What a document says about itself.
#[derive(Debug, Default)]
pub(super) struct Sections {
    pub format: Option<String>,
    pub version: Option<u32>,
    pub rows: u64,
    /// It has the lists of the earlier program's export.
    pub is_earlier: bool,
}

const ROWS: [&str; 5] = [
    "sessions",
    "prompts",
    "messages",
    "observations",
    "summaries",
];

impl Sections {
    pub(super) fn of(path: &Path) -> Result<Self, ImportError> {
        let mut found = Self::default();
        read(path, &mut found)?;
        Ok(found)
    }
}

/// Every row of the list of this name.
pub(super) fn section(
    path: &Path,
    name: &str,
    act: &mut dyn FnMut(&RawValue) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    read(path, &mut Section { name, act })
}

/// Whether a field is read, and how.
enum Want {
    Nothing,
    Value,
    Rows,
}

/// Who reads a document.
trait Reads {
    fn wants(&mut self, name: &str) -> Want;
    fn value(&mut self, _name: &str, _value: &RawValue) {}
    fn row(&mut self, row: &RawValue) -> Result<(), ImportError>;
}

impl Reads for Sections {
    fn wants(&mut self, name: &str) -> Want {
        self.is_earlier |= matches!(name, "sessions" | "observations");
        match name {
            "format" | "version" => Want::Value,
            name if ROWS.contains(&name) => Want::Rows,
            _ => Want::Nothing,
        }
    }

    fn value(&mut self, name: &str, value: &RawValue) {
        match name {
            "format" => self.format = serde_json::from_str(value.get()).ok(),
            _ => self.version = serde_json::from_str(value.get()).ok(),
        }
    }

    fn row(&mut self, _row: &RawValue) -> Result<(), ImportError> {
        self.rows += 1;
        Ok(())
    }
}

struct Section<'a> {
    name: &'a str,
    act: &'a mut dyn FnMut(&RawValue) -> Result<(), ImportError>,
}

impl Reads for Section<'_> {
    fn wants(&mut self, name: &str) -> Want {
        if name == self.name {
            Want::Rows
        } else {
            Want::Nothing
        }
    }

    fn row(&mut self, row: &RawValue) -> Result<(), ImportError> {
        (self.act)(row)
    }
}

fn read(path: &Path, reads: &mut dyn Reads) -> Result<(), ImportError> {
    let name = || path.display().to_string();
    let file = File::open(path).map_err(|e| ImportError::Unreadable(name(), e))?;
    let mut from = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, file));
    let mut failed = None;
    let document = Document {
        reads,
        failed: &mut failed,
    };
    let read = document.deserialize(&mut from).and_then(|()| from.end());
    match (failed, read) {
        (Some(why), _) => Err(why),
        (None, Err(e)) if e.is_io() => Err(ImportError::Unreadable(name(), e.into())),
        (None, Err(e)) => Err(ImportError::NotJson(name(), e)),
        (None, Ok(())) => Ok(()),
    }
}

/// The object that everything stands in.
struct Document<'a> {
    reads: &'a mut dyn Reads,
    /// Why a row could not be taken: a reader of JSON knows only errors of JSON.
    failed: &'a mut Option<ImportError>,
}

impl<'de> DeserializeSeed<'de> for Document<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for Document<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an export")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match self.reads.wants(&name) {
                Want::Nothing => drop(map.next_value::<IgnoredAny>()?),
                Want::Value => {
                    let value = map.next_value::<Box<RawValue>>()?;
                    self.reads.value(&name, &value);
                }
                Want::Rows => map.next_value_seed(Rows(Document {
                    reads: &mut *self.reads,
                    failed: &mut *self.failed,
                }))?,
            }
        }
        Ok(())
    }
}

/// A list of rows.
struct Rows<'a>(Document<'a>);

impl<'de> DeserializeSeed<'de> for Rows<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Rows<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element::<Box<RawValue>>()? {
            if let Err(why) = self.0.reads.row(&row) {
                *self.0.failed = Some(why);
                return Err(A::Error::custom("a row could not be taken"));
            }
        }
        Ok(())
    }
}
