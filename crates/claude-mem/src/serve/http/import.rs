//! An export, taken in.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use crate::hook::settings::HookSettings;
use crate::import::{self, Around, ImportError, Report, Unwatched, json};
use crate::store::Store;

/// How the run is listed.
const SOURCE: &str = "the HTTP API";

/// A whole document, unread.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct Document(Box<RawValue>);

impl JsonSchema for Document {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Export".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let rows = || json_schema!({ "type": "array", "items": { "type": "object" } });
        json_schema!({
            "type": "object",
            "description": "What `claude-mem export` writes, or the earlier program's JSON",
            "properties": {
                "format": { "type": "string" },
                "version": { "type": "integer" },
                "projects": rows(),
                "sessions": rows(),
                "prompts": rows(),
                "messages": rows(),
                "observations": rows(),
                "summaries": rows(),
            },
        })
    }
}

#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct Outcome {
    /// For `claude-mem import undo`; `null` if nothing was written.
    run: Option<i64>,
    imported: u64,
    /// By kind of row.
    counts: BTreeMap<&'static str, Tally>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Tally {
    found: u64,
    imported: u64,
    /// Known, forgotten, private, ignored or unreadable.
    skipped: u64,
}

pub(super) fn import(api: &Api, _: &Params, document: Document) -> Result<Outcome, Problem> {
    let _alone = import::begin(api.dir())?;
    let loaded = api.settings();
    let settings = HookSettings::of(loaded.settings, loaded.file_unreadable);
    let home = (api.env)("HOME").unwrap_or_default();
    let client_dir = (api.env)("CLAUDE_CONFIG_DIR").filter(|dir| !dir.is_empty());
    let client_dir = client_dir.map_or_else(|| Path::new(&home).join(".claude"), PathBuf::from);
    let around = Around {
        settings: &settings,
        home: &home,
        client_dir: &client_dir,
    };
    let held = InMemory::of(document.0.get())?;
    // On a connection of its own: memories go on being made between its batches.
    let mut store = Store::open(&api.dir().db())?;
    let report = json::run_named(
        &mut store,
        around,
        &held.path(),
        SOURCE,
        api.now(),
        &mut Unwatched,
    )?;
    api.worker.index.ring();
    api.stir();
    Ok(counted(report))
}

fn counted(report: Report) -> Outcome {
    Outcome {
        run: report.run,
        imported: report.imported(),
        counts: report
            .kinds
            .into_iter()
            .map(|(kind, tally)| {
                let counts = Tally {
                    found: tally.found,
                    imported: tally.imported,
                    skipped: tally.skipped_in_all(),
                };
                (kind, counts)
            })
            .collect(),
    }
}

impl From<ImportError> for Problem {
    fn from(error: ImportError) -> Self {
        match error {
            ImportError::Store(error) => error.into(),
            ImportError::Busy => Self::new(
                StatusCode::CONFLICT,
                error.to_string(),
                "Try again when it has ended.",
            ),
            ImportError::NotThat(_, what) => Self::unfit(
                format!("this is {what}"),
                "Send what `claude-mem export` writes.",
            ),
            ImportError::NotJson(_, why) => Self::unfit(
                format!("the document does not read: {why}"),
                "Send what `claude-mem export` writes.",
            ),
            ImportError::Unreadable(..) => Self::ours(error),
        }
    }
}

/// A file that no disk has: what is in a document has not been redacted yet.
struct InMemory(#[cfg(target_os = "linux")] std::fs::File);

impl InMemory {
    #[cfg(target_os = "linux")]
    fn of(text: &str) -> Result<Self, Problem> {
        let file = rustix::fs::memfd_create("import", rustix::fs::MemfdFlags::CLOEXEC);
        let mut file = std::fs::File::from(file.map_err(std::io::Error::from)?);
        std::io::Write::write_all(&mut file, text.as_bytes())?;
        Ok(Self(file))
    }

    #[cfg(not(target_os = "linux"))]
    fn of(_: &str) -> Result<Self, Problem> {
        Err(Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "this system has no files in memory",
            "`claude-mem import json` reads the document from its file.",
        ))
    }

    #[cfg(target_os = "linux")]
    fn path(&self) -> PathBuf {
        use std::os::fd::AsRawFd as _;
        PathBuf::from(format!("/proc/self/fd/{}", self.0.as_raw_fd()))
    }

    #[cfg(not(target_os = "linux"))]
    fn path(&self) -> PathBuf {
        PathBuf::new()
    }
}
