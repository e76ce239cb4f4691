//! The figures of one coding agent, as the API gives them.

use schemars::JsonSchema;
use serde::Serialize;

/// One agent's figures.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "AgentStats")]
pub(super) struct AgentStatsView {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    /// Whether it was used on this machine.
    pub(super) is_present: bool,
    /// Sessions that its transcripts hold.
    pub(super) transcripts: usize,
    /// How many of them were read, by an import or because hooks reported the session.
    pub(super) read: usize,
    /// Whether an import of its transcripts was completed, or nothing is left to import.
    pub(super) is_imported: bool,
}
