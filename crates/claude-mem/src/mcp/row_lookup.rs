//! Finds the rows and projects that an agent names. An error is a sentence for the agent.

use claude_mem_core::ids::ProjectId;
use claude_mem_recall::quote;
use claude_mem_search::project_lookup::{ProjectLookup, find_project, format_choices};
use claude_mem_store::{RowId, StoreError, StoreReader};

/// The row that holds the content of this number now, and a note if it is another one.
pub(super) fn current_row(reads: &StoreReader<'_>, asked: RowId) -> Result<(RowId, String), String> {
    let resolution = reads.resolve_row(asked).map_err(store_error_text)?;
    let notice = resolution.notice(asked).map_or_else(String::new, |notice| format!("{notice}.\n"));
    match resolution.current(asked) {
        Some(row) => Ok((row, notice)),
        None => Err(notice.trim_end().to_owned()),
    }
}

/// The project of this name or id, or a text that asks for a choice.
pub(super) fn find_named_project(reads: &StoreReader<'_>, name: &str) -> Result<ProjectId, String> {
    match find_project(reads, name).map_err(store_error_text)? {
        ProjectLookup::One(id) => Ok(id),
        ProjectLookup::Ambiguous(several) => Err(format!(
            "Several projects are named {}; pass the id of one: {}.",
            quote::line(name, 60),
            quote::line(&format_choices(&several), 600)
        )),
        ProjectLookup::NotFound => Err(format!(
            "No project is named {}; omit it for the current project, or pass * for all.",
            quote::line(name, 60)
        )),
    }
}

/// A text for a missing row, else for the store's error.
pub(super) fn missing_row_text(handle: RowId, error: StoreError) -> String {
    match error {
        StoreError::NoSuchRow { .. } => format!("{handle} does not exist."),
        error => store_error_text(error),
    }
}

/// A sentence for the agent about a store error.
#[allow(clippy::needless_pass_by_value, reason = "it is handed to map_err")]
pub(super) fn store_error_text(error: StoreError) -> String {
    format!("Cannot read the memory store: {error}. Run `claude-mem doctor`.")
}
