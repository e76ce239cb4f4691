//! What an import of transcripts has taught, for the person who waited for it.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::serve::rows::Left;

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Learnt {
    pub events: u64,
    pub prompts: u64,
    pub messages: u64,
    pub summaries: u64,
    pub observations: u64,
    /// Observations by their type.
    pub types: BTreeMap<String, u64>,
    pub projects: BTreeMap<String, OfProject>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct OfProject {
    pub sessions: u64,
    pub observations: u64,
}

impl Learnt {
    pub(super) fn add(&mut self, project: &str, left: &Left, types: &[String]) {
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

    pub(super) fn session(&mut self, project: &str) {
        self.projects
            .entry(project.to_owned())
            .or_default()
            .sessions += 1;
    }
}
