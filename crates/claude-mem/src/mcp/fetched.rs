//! Memories in full, as many as one answer holds.

use std::collections::HashSet;

use serde_json::{Value, json};

use crate::search::Handle;
use crate::tokens;

/// What one answer tells in full: clients cut longer ones off. The rest is named, so that it can be
/// asked for by itself.
pub(super) const DETAILS_TOKENS_MAX: u32 = 8_000;

/// What was asked for in full, as far as one answer goes.
#[derive(Default)]
pub(super) struct Fetched {
    pub(super) texts: Vec<Value>,
    tokens: u32,
    pub(super) found: Vec<Handle>,
    pub(super) left_out: Vec<String>,
    pub(super) missing: Vec<String>,
    pub(super) no_ids: Vec<String>,
    seen: HashSet<Handle>,
}

impl Fetched {
    /// Also if there was no room for it.
    pub(super) fn knows(&mut self, handle: Handle) -> bool {
        !self.seen.insert(handle)
    }

    pub(super) fn take(&mut self, handle: Handle, details: Option<String>) {
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
        self.texts
            .push(json!({ "id": handle.to_string(), "text": details.trim_end() }));
    }

    /// Not one of them is there.
    pub(super) fn is_nothing(&self) -> bool {
        self.found.is_empty() && self.left_out.is_empty()
    }

    pub(super) fn text(&self) -> String {
        let mut text = String::new();
        for told in self.texts.iter().filter_map(|row| row["text"].as_str()) {
            text.push_str(told);
            text.push_str("\n\n");
        }
        for (says, which) in [
            ("Not there", &self.missing),
            ("Not ids", &self.no_ids),
            (
                "No room for these here, ask for them by themselves",
                &self.left_out,
            ),
        ] {
            if !which.is_empty() {
                text.push_str(&format!("{says}: {}.\n", which.join(", ")));
            }
        }
        text
    }
}
