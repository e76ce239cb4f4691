//! What is known of a session so far, in few words: for a model that was not there.
//!
//! Kept with the session as JSON, which only this module reads. One that does not read, because
//! another version wrote it, is an empty one.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::{elide, quote};
use crate::limits::{SO_FAR_BYTES_MAX, SO_FAR_TITLES_MAX};
use crate::memory::Distilled;

/// The newest summary and the titles of what was kept, newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rolling {
    #[serde(default)]
    request: String,
    #[serde(default)]
    learned: String,
    #[serde(default)]
    completed: String,
    #[serde(default)]
    next_steps: String,
    #[serde(default)]
    titles: VecDeque<String>,
}

impl Rolling {
    pub fn read(kept: Option<&str>) -> Self {
        kept.and_then(|text| serde_json::from_str(text).ok())
            .unwrap_or_default()
    }

    pub fn to_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// Takes in what an episode left, whoever made it.
    pub fn add(&mut self, distilled: &Distilled) {
        let short = |text: &str| elide::middle(text, SO_FAR_BYTES_MAX / 6).into_owned();
        if let Some(summary) = &distilled.summary {
            self.request = short(&summary.request);
            self.learned = short(&summary.learned);
            self.completed = short(&summary.completed);
            self.next_steps = short(&summary.next_steps);
        }
        for observation in &distilled.observations {
            self.titles
                .push_back(elide::middle(&observation.title, 200).into_owned());
        }
        while self.titles.len() > SO_FAR_TITLES_MAX {
            self.titles.pop_front();
        }
    }

    /// As a model is told; empty where nothing is known.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (name, value) in [
            ("request", &self.request),
            ("learned", &self.learned),
            ("completed", &self.completed),
            ("next steps", &self.next_steps),
        ] {
            if !value.is_empty() {
                let _ = writeln!(text, "{name}: {value}");
            }
        }
        if !self.titles.is_empty() {
            text.push_str("already kept:\n");
        }
        for title in &self.titles {
            let _ = writeln!(text, "- {title}");
        }
        let text = quote::data(text.trim_end());
        elide::middle(&text, SO_FAR_BYTES_MAX).into_owned()
    }
}

#[cfg(test)]
#[path = "rolling_tests.rs"]
mod tests;
