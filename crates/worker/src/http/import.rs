//! The route that imports an export.

use std::collections::BTreeMap;
use std::path::Path;

use axum::http::StatusCode;
use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::api::ApiState;
use super::handler_request::PathParams;
use super::problem::Problem;
use claude_mem_capture::settings::HookSettings;
use claude_mem_core::platform::MemoryFile;
use claude_mem_setup::install::manifest::InstallManifest;
use claude_mem_store::Store;
use claude_mem_transfer::import;
use claude_mem_transfer::import::{ImportContext, ImportError, ImportReport, NoProgress, SourceTrust, json};

/// The source under which the import run is listed.
const SOURCE: &str = "the HTTP API";

/// The unparsed JSON document.
#[derive(Debug, Deserialize)]
#[serde(transparent)]
pub(super) struct ImportDocument(Box<RawValue>);

impl JsonSchema for ImportDocument {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Export".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let rows = || json_schema!({ "type": "array", "items": { "type": "object" } });
        json_schema!({
            "type": "object",
            "description": "The output of `claude-mem export`, or the legacy program's JSON",
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

/// The result of an import.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Outcome")]
pub(super) struct ImportResponse {
    /// The run id for `claude-mem import undo`; `null` if nothing was written.
    run: Option<i64>,
    imported: u64,
    /// Counts per kind of row.
    counts: BTreeMap<&'static str, ImportCountsView>,
}

/// Rows of one kind in an import.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Tally")]
struct ImportCountsView {
    found: u64,
    imported: u64,
    /// Rows that are known, forgotten, private, ignored or unreadable.
    skipped: u64,
}

/// Handles `POST /api/import`.
pub(super) fn import(
    api: &ApiState,
    _: &PathParams,
    document: ImportDocument,
) -> Result<ImportResponse, Problem> {
    let _alone = import::acquire_import_lock(api.dir())?;
    let loaded = api.settings();
    let settings = HookSettings::from_settings(loaded.settings, loaded.file_unreadable);
    let home = (api.env)("HOME").unwrap_or_default();
    // `doctor` reports an unreadable manifest; the default directory counts meanwhile.
    let manifest = InstallManifest::read(&api.dir().installed()).unwrap_or_default();
    let client_dir = manifest.client_dir.unwrap_or_else(|| Path::new(&home).join(".claude"));
    // A page or a program may send any document; `claude-mem import json --trust` restores an own one.
    let trust = SourceTrust::Foreign;
    let around = ImportContext { settings: &settings, home: &home, client_dir: &client_dir, trust };
    let held = memory_file(document.0.get())?;
    // On its own connection, so that the worker can write between the batches.
    let mut store = Store::open(&api.dir().db())?;
    let report = json::run_named(&mut store, around, &held.path(), SOURCE, api.now(), &mut NoProgress)?;
    api.worker.index_signal.notify();
    api.notify_change();
    Ok(import_response(report))
}

fn import_response(report: ImportReport) -> ImportResponse {
    ImportResponse {
        run: report.run,
        imported: report.imported(),
        counts: report
            .kinds
            .into_iter()
            .map(|(kind, tally)| {
                let counts = ImportCountsView {
                    found: tally.found,
                    imported: tally.imported,
                    skipped: tally.skipped_total(),
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
                "Try again when the other import has finished.",
            ),
            ImportError::UnexpectedSource(_, what) => {
                Self::unprocessable(format!("this is {what}"), "Send the output of `claude-mem export`.")
            }
            ImportError::NotJson(_, why) => Self::unprocessable(
                format!("the document cannot be parsed: {why}"),
                "Send the output of `claude-mem export`.",
            ),
            ImportError::Unreadable(..) => Self::internal(error),
        }
    }
}

/// The document in memory: it is not redacted yet and must not reach the disk.
fn memory_file(text: &str) -> Result<MemoryFile, Problem> {
    MemoryFile::with_content(text.as_bytes()).map_err(|error| match error.kind() {
        std::io::ErrorKind::Unsupported => Problem::new(
            StatusCode::NOT_IMPLEMENTED,
            "this system does not support in-memory files",
            "`claude-mem import json` reads the document from its file.",
        ),
        _ => error.into(),
    })
}
