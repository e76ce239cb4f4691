//! Summary of a transcript import, as shown to the user.

use std::collections::{BTreeMap, HashMap};

use serde::Serialize;

use claude_mem_core::ids::ObservationId;
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
    /// Project and type of each observation: consolidation may still merge or withdraw it.
    #[serde(skip)]
    rows: HashMap<ObservationId, (String, String)>,
}

/// Counts of one project.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ProjectImportCounts {
    pub sessions: u64,
    pub observations: u64,
}

impl ImportSummary {
    pub(super) fn add_episode(&mut self, project: &str, left: &StoredRows) {
        self.events += left.events as u64;
        self.prompts += left.prompts.len() as u64;
        self.messages += left.messages.len() as u64;
        self.summaries += u64::from(left.summary.is_some());
        self.projects.entry(project.to_owned()).or_default();
    }

    pub(super) fn add_observation(&mut self, id: ObservationId, project: String, kind: String) {
        if self.rows.contains_key(&id) {
            return;
        }
        self.observations += 1;
        *self.types.entry(kind.clone()).or_default() += 1;
        self.projects.entry(project.clone()).or_default().observations += 1;
        self.rows.insert(id, (project, kind));
    }

    pub(super) fn remove_observation(&mut self, id: ObservationId) {
        let Some((project, kind)) = self.rows.remove(&id) else {
            return;
        };
        self.observations -= 1;
        self.projects.entry(project).or_default().observations -= 1;
        if let Some(count) = self.types.get_mut(&kind) {
            *count -= 1;
            if *count == 0 {
                self.types.remove(&kind);
            }
        }
    }

    pub(super) fn add_session(&mut self, project: &str) {
        self.projects.entry(project.to_owned()).or_default().sessions += 1;
    }
}
