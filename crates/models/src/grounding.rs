//! Grounding: checks a model's answer against the episode.
//!
//! [`AnswerGrounding`] turns a [`ParsedAnswer`] into memories whose types and concepts are in the
//! vocabulary and whose files occur in the episode.
//!
//! Invariant: `files_modified` comes only from tool inputs. A path that the model was not shown is not
//! stored.

use super::answer::{AnswerObservation, ParsedAnswer};
use claude_mem_core::episode::{Episode, EpisodeStep};
use claude_mem_core::memory::{
    AbsorbedTitle, CompressionOutput, NewObservation, NewSummary, ObservationText, ObservationType, Origin,
    SummaryText, is_same_title,
};
use claude_mem_core::vocabulary::Vocabulary;

/// The episode, message and vocabulary that an answer is checked against.
#[derive(Clone, Copy, Debug)]
pub struct AnswerGrounding<'a> {
    pub episode: &'a Episode,
    /// The message as it was sent.
    pub shown: &'a str,
    pub vocabulary: &'a Vocabulary,
}

impl AnswerGrounding<'_> {
    /// Turns an answer into memories.
    pub fn ground_answer(&self, answer: ParsedAnswer) -> CompressionOutput {
        let alone = answer.observations.len() == 1;
        let real = self.episode.files_modified();
        let absorbed = absorbed_titles(&answer.observations);
        let observations = answer.observations.into_iter();
        CompressionOutput {
            absorbed,
            observations: observations.map(|said| self.ground_observation(said.text, &real, alone)).collect(),
            // An unfinished turn gets no summary, even if the model wrote one.
            summary: answer.summary.filter(|_| self.episode.finished).map(|s| self.ground_summary(s, real)),
        }
    }

    fn ground_observation(&self, said: ObservationText, real: &[String], alone: bool) -> NewObservation {
        let files_modified = attributed_files(&said, real, alone);
        let origin = self.origin(&files_modified);
        let text = ObservationText {
            kind: self.kind(said.kind.as_str(), &files_modified),
            concepts: self.concepts(&said.concepts),
            files_read: self.files_read(&said.files_read, &files_modified),
            files_modified,
            ..said
        };
        NewObservation::from_text(text, origin, self.episode.ended_at())
    }

    fn kind(&self, said: &str, files_modified: &[String]) -> ObservationType {
        match said {
            "" if files_modified.is_empty() => self.vocabulary.resolve_type("discovery"),
            "" => self.vocabulary.resolve_type("change"),
            said => self.vocabulary.resolve_type(said),
        }
    }

    fn concepts(&self, said: &[String]) -> Vec<String> {
        let mut concepts: Vec<String> = Vec::new();
        for concept in said.iter().filter_map(|said| self.vocabulary.find_concept(said)) {
            if !concepts.iter().any(|known| known == concept) {
                concepts.push(concept.to_owned());
            }
        }
        concepts
    }

    fn files_read(&self, said: &[String], modified: &[String]) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for path in said.iter().filter(|path| self.shown.contains(path.as_str())) {
            let path = self.episode.relative_path(path);
            let known = |list: &[String]| list.iter().any(|known| known == path);
            if !known(&files) && !known(modified) {
                files.push(path.to_owned());
            }
        }
        files
    }

    /// An episode that read from the web and changed no file may repeat untrusted content.
    fn origin(&self, files_modified: &[String]) -> Origin {
        let web = |step: &EpisodeStep| matches!(step.tool.as_str(), "WebFetch" | "WebSearch");
        if files_modified.is_empty() && self.episode.steps.iter().any(web) {
            Origin::Web
        } else {
            Origin::Agent
        }
    }

    fn ground_summary(&self, said: SummaryText, real: Vec<String>) -> NewSummary {
        let mut files_read = self.episode.files_read();
        files_read.retain(|path| !real.contains(path));
        NewSummary {
            text: SummaryText { files_read, files_edited: real, ..said },
            created_at: self.episode.ended_at(),
            discovery_tokens: 0,
        }
    }
}

/// The earlier titles that observations name, except those of other observations of this answer. Whether there is such an
/// observation is checked against the session when it is stored.
fn absorbed_titles(said: &[AnswerObservation]) -> Vec<AbsorbedTitle> {
    let named = said.iter().enumerate().flat_map(|(into, said)| {
        said.replaces.iter().map(move |title| AbsorbedTitle { into, title: title.clone() })
    });
    let is_of_another = |absorbed: &AbsorbedTitle| {
        let mut titled =
            said.iter().enumerate().filter(|(_, said)| is_same_title(&said.text.title, &absorbed.title));
        titled.any(|(at, _)| at != absorbed.into)
    };
    named.filter(|absorbed| !is_of_another(absorbed)).collect()
}

/// The modified files that belong to an observation: those it lists, else all if it is the only
/// observation, else those its text names.
fn attributed_files(said: &ObservationText, real: &[String], alone: bool) -> Vec<String> {
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
        texts.into_iter().chain(&said.facts).any(|text| text.contains(name))
    };
    real.iter().filter(named).cloned().collect()
}

/// Whether two paths name the same file. Models drop leading directories.
fn same_file(a: &str, b: &str) -> bool {
    let ends = |long: &str, short: &str| {
        long.strip_suffix(short).is_some_and(|head| head.is_empty() || head.ends_with('/'))
    };
    !a.is_empty() && !b.is_empty() && (ends(a, b) || ends(b, a))
}

#[cfg(test)]
#[path = "grounding_tests.rs"]
mod tests;
