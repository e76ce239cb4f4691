//! Holds what a model wrote against what really happened.
//!
//! In: the items of an answer, in the model's words. Out: memories whose types and concepts are
//! words of the vocabulary and whose files exist in the episode.
//!
//! Invariant: `files_modified` comes from tool inputs alone. A path that the model was never shown
//! is not stored.

use super::answer::{Answer, Observation, Summary};
use crate::episode::{Episode, Step};
use crate::memory::{Distilled, NewObservation, NewSummary, ObservationType, Origin};
use crate::vocabulary::Vocabulary;

/// What an answer is held against.
#[derive(Clone, Copy, Debug)]
pub struct Ground<'a> {
    pub episode: &'a Episode,
    /// The message as it was sent.
    pub shown: &'a str,
    pub vocabulary: &'a Vocabulary,
}

impl Ground<'_> {
    pub fn hold(&self, answer: Answer) -> Distilled {
        let alone = answer.observations.len() == 1;
        let real = self.episode.files_modified();
        let observations = answer.observations.into_iter();
        Distilled {
            observations: observations
                .map(|o| self.observation(o, &real, alone))
                .collect(),
            // Half a turn has no summary, whatever the model thinks.
            summary: answer
                .summary
                .filter(|_| self.episode.finished)
                .map(|s| self.summary(s, real)),
        }
    }

    fn observation(&self, said: Observation, real: &[String], alone: bool) -> NewObservation {
        let files_modified = modified(&said, real, alone);
        NewObservation {
            kind: self.kind(&said.kind, &files_modified),
            concepts: self.concepts(&said.concepts),
            files_read: self.files_read(&said.files_read, &files_modified),
            origin: self.origin(&files_modified),
            files_modified,
            title: said.title,
            subtitle: said.subtitle,
            narrative: said.narrative,
            facts: said.facts,
            created_at: self.episode.ended_at(),
            discovery_tokens: 0,
        }
    }

    fn kind(&self, said: &str, files_modified: &[String]) -> ObservationType {
        match said {
            "" if files_modified.is_empty() => self.vocabulary.kind("discovery"),
            "" => self.vocabulary.kind("change"),
            said => self.vocabulary.kind(said),
        }
    }

    fn concepts(&self, said: &[String]) -> Vec<String> {
        let mut concepts: Vec<String> = Vec::new();
        for concept in said.iter().filter_map(|said| self.vocabulary.concept(said)) {
            if !concepts.iter().any(|known| known == concept) {
                concepts.push(concept.to_owned());
            }
        }
        concepts
    }

    fn files_read(&self, said: &[String], modified: &[String]) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for path in said
            .iter()
            .filter(|path| self.shown.contains(path.as_str()))
        {
            let path = self.episode.relative(path);
            let known = |list: &[String]| list.iter().any(|known| known == path);
            if !known(&files) && !known(modified) {
                files.push(path.to_owned());
            }
        }
        files
    }

    /// An episode that fetched from the web and changed nothing may tell what a stranger wrote.
    fn origin(&self, files_modified: &[String]) -> Origin {
        let web = |step: &Step| matches!(step.tool.as_str(), "WebFetch" | "WebSearch");
        if files_modified.is_empty() && self.episode.steps.iter().any(web) {
            Origin::Web
        } else {
            Origin::Agent
        }
    }

    fn summary(&self, said: Summary, real: Vec<String>) -> NewSummary {
        let mut files_read = self.episode.files_read();
        files_read.retain(|path| !real.contains(path));
        NewSummary {
            request: said.request,
            investigated: said.investigated,
            learned: said.learned,
            completed: said.completed,
            next_steps: said.next_steps,
            notes: said.notes,
            files_read,
            files_edited: real,
            created_at: self.episode.ended_at(),
            discovery_tokens: 0,
        }
    }
}

/// Which of the files that were changed belong to this observation: those it lists, else those
/// its text names, else all if it is the only one.
fn modified(said: &Observation, real: &[String], alone: bool) -> Vec<String> {
    let listed = |path: &&String| said.files_modified.iter().any(|said| same_file(path, said));
    let files: Vec<String> = real.iter().filter(listed).cloned().collect();
    if !files.is_empty() {
        return files;
    }
    if alone {
        return real.to_vec();
    }
    let texts = [&said.title, &said.subtitle, &said.narrative];
    let named = |path: &&String| {
        let name = path.rsplit('/').next().unwrap_or(path);
        texts
            .into_iter()
            .chain(&said.facts)
            .any(|text| text.contains(name))
    };
    real.iter().filter(named).cloned().collect()
}

/// Models shorten paths from the front.
fn same_file(a: &str, b: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short)
            .is_some_and(|head| head.is_empty() || head.ends_with('/'))
    };
    !a.is_empty() && !b.is_empty() && (ends(a, b) || ends(b, a))
}

#[cfg(test)]
#[path = "ground_tests.rs"]
mod tests;
