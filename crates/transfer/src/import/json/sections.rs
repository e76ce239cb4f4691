//! Reads one list of a JSON document at a time, row by row, and skips the rest unparsed.

use std::io::BufReader;
use std::path::Path;

use serde::de::{DeserializeSeed, Deserializer, Error as _, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::import::ImportError;

/// Format, version and row count of a document.
#[derive(Debug, Default)]
pub(super) struct DocumentOverview {
    pub format: Option<String>,
    pub version: Option<u32>,
    pub rows: u64,
    /// The document has the lists of the legacy program's export.
    pub is_legacy: bool,
}

const ROW_SECTIONS: [&str; 7] =
    ["sessions", "prompts", "messages", "observations", "summaries", "accounts", "open_items"];

impl DocumentOverview {
    pub(super) fn scan(path: &Path) -> Result<Self, ImportError> {
        let mut found = Self::default();
        read_document(path, &mut found)?;
        Ok(found)
    }
}

/// Calls `act` for every row of the named list.
pub(super) fn read_section(
    path: &Path,
    name: &str,
    act: &mut dyn FnMut(&RawValue) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    read_document(path, &mut SectionReader { name, act })
}

/// How to treat a field of the document.
enum FieldAction {
    Skip,
    Value,
    Rows,
}

/// Receives the fields and rows of a document.
trait SectionVisitor {
    fn field_action(&mut self, name: &str) -> FieldAction;
    fn value(&mut self, _name: &str, _value: &RawValue) {}
    fn row(&mut self, row: &RawValue) -> Result<(), ImportError>;
}

impl SectionVisitor for DocumentOverview {
    fn field_action(&mut self, name: &str) -> FieldAction {
        self.is_legacy |= matches!(name, "sessions" | "observations");
        match name {
            "format" | "version" => FieldAction::Value,
            name if ROW_SECTIONS.contains(&name) => FieldAction::Rows,
            _ => FieldAction::Skip,
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

struct SectionReader<'a> {
    name: &'a str,
    act: &'a mut dyn FnMut(&RawValue) -> Result<(), ImportError>,
}

impl SectionVisitor for SectionReader<'_> {
    fn field_action(&mut self, name: &str) -> FieldAction {
        if name == self.name { FieldAction::Rows } else { FieldAction::Skip }
    }

    fn row(&mut self, row: &RawValue) -> Result<(), ImportError> {
        (self.act)(row)
    }
}

fn read_document(path: &Path, reads: &mut dyn SectionVisitor) -> Result<(), ImportError> {
    let name = || path.display().to_string();
    let file = claude_mem_core::paths::open_file(path).map_err(|e| ImportError::Unreadable(name(), e))?;
    let mut from = serde_json::Deserializer::from_reader(BufReader::with_capacity(1 << 16, file));
    let mut failed = None;
    let document = DocumentVisitor { reads, failed: &mut failed };
    let read = document.deserialize(&mut from).and_then(|()| from.end());
    match (failed, read) {
        (Some(why), _) => Err(why),
        (None, Err(e)) if e.is_io() => Err(ImportError::Unreadable(name(), e.into())),
        (None, Err(e)) => Err(ImportError::NotJson(name(), e)),
        (None, Ok(())) => Ok(()),
    }
}

/// Visits the document's top-level object.
struct DocumentVisitor<'a> {
    reads: &'a mut dyn SectionVisitor,
    /// The import error of a rejected row, kept here because serde can only return JSON errors.
    failed: &'a mut Option<ImportError>,
}

impl<'de> DeserializeSeed<'de> for DocumentVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_map(self)
    }
}

impl<'de> Visitor<'de> for DocumentVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("an export")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some(name) = map.next_key::<String>()? {
            match self.reads.field_action(&name) {
                FieldAction::Skip => drop(map.next_value::<IgnoredAny>()?),
                FieldAction::Value => {
                    let value = map.next_value::<Box<RawValue>>()?;
                    self.reads.value(&name, &value);
                }
                FieldAction::Rows => map.next_value_seed(RowListVisitor(DocumentVisitor {
                    reads: &mut *self.reads,
                    failed: &mut *self.failed,
                }))?,
            }
        }
        Ok(())
    }
}

/// Visits a list of rows.
struct RowListVisitor<'a>(DocumentVisitor<'a>);

impl<'de> DeserializeSeed<'de> for RowListVisitor<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<(), D::Error> {
        from.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for RowListVisitor<'_> {
    type Value = ();

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a list of rows")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut rows: A) -> Result<(), A::Error> {
        while let Some(row) = rows.next_element::<Box<RawValue>>()? {
            if let Err(why) = self.0.reads.row(&row) {
                *self.0.failed = Some(why);
                return Err(A::Error::custom("row rejected"));
            }
        }
        Ok(())
    }
}
