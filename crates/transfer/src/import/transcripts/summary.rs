//! Summary of a transcript import, as shown to the user.

use std::collections::BTreeMap;

use serde::Serialize;

use claude_mem_ingest::persist::StoredRows;

/// Rows that a transcript import created.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportSummary {
    pub events: u64,
    pub prompts: u64,
    pub messages: u64,
    pub summaries: u64,
    pub observations: u64,
    /// Number of observations by type.
    pub types: BTreeMap<String, u64>,
    pub projects: BTreeMap<String, ProjectImportCounts>,
}

/// Counts of one project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProjectImportCounts {
    pub sessions: u64,
    pub observations: u64,
}

impl ImportSummary {
    pub(super) fn add_episode(&mut self, project: &str, left: &StoredRows, types: &[String]) {
        self.events += left.events as u64;
        self.prompts += left.prompts.len() as u64;
        self.messages += left.messages.len() as u64;
        self.summaries += u64::from(left.summary.is_some());
        self.observations += left.observations.len() as u64;
        for kind in types {
            *self.types.entry(kind.clone()).or_default() += 1;
        }
        let of_project = self.projects.entry(project.to_owned()).or_default();
        of_project.observations += left.observations.len() as u64;
    }

    pub(super) fn add_session(&mut self, project: &str) {
        self.projects.entry(project.to_owned()).or_default().sessions += 1;
    }
}
