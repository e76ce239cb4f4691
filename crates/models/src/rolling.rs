//! The rolling summary of a session, for a model that has not seen its earlier episodes.
//!
//! Stored with the session as JSON that only this module reads. Text that does not parse, because
//! another version wrote it, is treated as empty.

use std::collections::VecDeque;
use std::fmt::Write as _;

use serde::{Deserialize, Serialize};

use super::quote;
use crate::truncate_middle;
use claude_mem_core::memory::{CompressionOutput, ObservationText, is_same_title};

/// Maximum titles of stored observations that a message to a model lists, so that the model does
/// not repeat them.
const SO_FAR_TITLES_MAX: usize = 24;

/// Maximum bytes of a message to a model that describe the session before the episode.
pub(crate) const SO_FAR_BYTES_MAX: usize = 4 << 10;

/// The newest observations are shown with their text, so that a model that writes one anew knows what it said.
const SO_FAR_TEXTS_MAX: usize = 6;
const SO_FAR_TEXT_BYTES_MAX: usize = 320;

/// The latest summary, the titles of stored observations and the texts of the newest, newest last.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RollingSummary {
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
    /// The texts of the newest observations, by title.
    #[serde(default, skip_serializing_if = "VecDeque::is_empty")]
    texts: VecDeque<(String, String)>,
}

impl RollingSummary {
    /// Parses the stored JSON.
    pub fn from_json(kept: Option<&str>) -> Self {
        kept.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
    }

    pub fn to_json(&self) -> Option<String> {
        serde_json::to_string(self).ok()
    }

    /// Adds the memories of an episode, whichever compressor made them.
    pub fn add_episode(&mut self, distilled: &CompressionOutput) {
        let short = |text: &str| truncate_middle::shorten(text, SO_FAR_BYTES_MAX / 6).into_owned();
        if let Some(summary) = &distilled.summary {
            self.request = short(&summary.text.request);
            self.learned = short(&summary.text.learned);
            self.completed = short(&summary.text.completed);
            self.next_steps = short(&summary.text.next_steps);
        }
        let is_absorbed =
            |title: &String| distilled.absorbed.iter().any(|absorbed| is_same_title(&absorbed.title, title));
        self.titles.retain(|title| !is_absorbed(title));
        self.texts.retain(|(title, _)| !is_absorbed(title));
        for observation in &distilled.observations {
            let title = truncate_middle::shorten(&observation.text.title, 200).into_owned();
            let text = kept_text(&observation.text);
            if !text.is_empty() {
                self.texts.push_back((title.clone(), text));
            }
            self.titles.push_back(title);
        }
        while self.texts.len() > SO_FAR_TEXTS_MAX {
            self.texts.pop_front();
        }
        while self.titles.len() > SO_FAR_TITLES_MAX {
            self.titles.pop_front();
        }
    }

    /// The text for the prompt; empty if nothing is known.
    pub fn to_prompt_text(&self) -> String {
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
            let said = self.texts.iter().find(|(known, _)| known == title).map(|(_, said)| said.as_str());
            let _ = match said {
                Some(said) => writeln!(text, "- {title}: {said}"),
                None => writeln!(text, "- {title}"),
            };
        }
        let text = quote::escape_tags(text.trim_end());
        truncate_middle::shorten(&text, SO_FAR_BYTES_MAX).into_owned()
    }
}

/// Narrative and facts of an observation in one line.
fn kept_text(text: &ObservationText) -> String {
    let parts = std::iter::once(&text.narrative).chain(&text.facts).filter(|part| !part.is_empty());
    let line: Vec<&str> = parts.flat_map(|part| part.split_whitespace()).collect();
    truncate_middle::prefix(&line.join(" "), SO_FAR_TEXT_BYTES_MAX).to_owned()
}

#[cfg(test)]
#[path = "rolling_tests.rs"]
mod tests;
