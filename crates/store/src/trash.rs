//! The trash: forgotten rows that can still be restored.

use rusqlite::params;

use super::forget::ForgottenBody;
use super::{PageRequest, RowId, RowPage, StoreError, StoreReader};
use crate::columns::ReadColumn;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;

/// A forgotten row that can still be restored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenRow {
    pub row: RowId,
    /// Its title, or the beginning of its text.
    pub title: String,
    /// The type of an observation.
    pub observation_type: Option<String>,
    pub project: Option<ProjectId>,
    pub forgotten_at: Millis,
}

impl StoreReader<'_> {
    /// Forgotten rows, the last one first.
    pub fn forgotten_rows(&self, page: PageRequest) -> Result<RowPage<ForgottenRow>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT kind, row_id, body, created_at_epoch FROM forgotten ORDER BY id DESC LIMIT ?1 OFFSET ?2",
        )?;
        let rows = rows.query_map(params![page.row_limit() + 1, page.offset], |row| {
            Ok((RowId::from_columns(row, 0)?, row.get::<_, String>(2)?, row.column(3)?))
        })?;
        let mut found = Vec::new();
        for row in rows {
            let (row, body, forgotten_at) = row?;
            let body: ForgottenBody = serde_json::from_str(&body)?;
            let names = ["title", "request", "purpose", "prompt_text", "message_text"];
            let title = names.iter().find_map(|name| body.text(name).filter(|text| !text.is_empty()));
            found.push(ForgottenRow {
                row,
                title: title.unwrap_or_default().to_owned(),
                observation_type: body.text("type").map(str::to_owned),
                project: body.number("project_id").map(ProjectId),
                forgotten_at,
            });
        }
        Ok(RowPage::from_overfetch(found, page))
    }
}
