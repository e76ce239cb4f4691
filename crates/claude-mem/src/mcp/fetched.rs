//! Collects full rows for one reply, within a token budget.

use std::collections::HashSet;

use serde_json::{Value, json};

use claude_mem_core::tokens;
use claude_mem_store::RowId;

/// Maximum tokens per reply, because clients truncate longer ones. Further rows are named, so that
/// they can be fetched separately.
pub(super) const DETAILS_TOKENS_MAX: u32 = 8_000;

/// The rows of one reply, and the ids that are missing, invalid or left out.
#[derive(Default)]
pub(super) struct FetchedRows {
    pub(super) texts: Vec<Value>,
    tokens: u32,
    pub(super) found: Vec<RowId>,
    pub(super) left_out: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) invalid_ids: Vec<String>,
    /// Sentences about numbers whose rows were withdrawn.
    pub(super) notices: Vec<String>,
    seen: HashSet<RowId>,
}

impl FetchedRows {
    /// Whether this row was requested before in the same call, even if it was left out.
    pub(super) fn is_repeat(&mut self, handle: RowId) -> bool {
        !self.seen.insert(handle)
    }

    /// Adds a row's text, or records that it is missing or does not fit.
    pub(super) fn add(&mut self, handle: RowId, details: Option<String>) {
        let Some(details) = details else {
            self.missing.push(handle.to_string());
            return;
        };
        let cost = tokens::estimate(&details);
        if self.tokens + cost > DETAILS_TOKENS_MAX && !self.found.is_empty() {
            self.left_out.push(format!("{handle} (~{cost})"));
            return;
        }
        self.tokens += cost;
        self.found.push(handle);
        self.texts.push(json!({ "id": handle.to_string(), "text": details.trim_end() }));
    }

    /// Whether no requested row exists.
    pub(super) fn is_empty(&self) -> bool {
        self.found.is_empty() && self.left_out.is_empty()
    }

    /// The reply's text.
    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for told in self.texts.iter().filter_map(|row| row["text"].as_str()) {
            text.push_str(told);
            text.push_str("\n\n");
        }
        for (says, which) in [
            ("Not found", &self.missing),
            ("Invalid ids", &self.invalid_ids),
            ("Too large for this reply, fetch separately", &self.left_out),
        ] {
            if !which.is_empty() {
                text.push_str(&format!("{says}: {}.\n", which.join(", ")));
            }
        }
        for notice in &self.notices {
            text.push_str(&format!("{notice}\n"));
        }
        text
    }
}
