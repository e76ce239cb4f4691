//! Problems that later work of the same session solved: they are told with that work, not as the state.

use std::collections::BTreeSet;

use crate::claim::{Claim, ClaimKind};
use crate::text::{content_words, is_name, overlap};

use super::frames::{ClaimFrame, FrameKind, names_file};

/// Names from code that a problem and the later work must share.
const SHARED_NAMES_MIN: usize = 2;
/// The share of words that does instead.
const SHARED_WORDS: f32 = 0.45;

/// Words of a sentence about something that is wrong or lacking.
#[rustfmt::skip]
const PROBLEM_WORDS: &[&str] = &[
    " fails", " failing", " failed", " missing", " only has ", " never ", " no ", " not ", "n't ", " cannot ", " wrong",
    " broken", " should ", " needs to ", " need to ", " lacks ", " without ", " bug", " error", " stale ", " hidden", " blocks ",
    " leak", " vulnerab", " incorrect",
];

/// Gives findings about problems to the later work that solved them.
pub(super) fn absorb_overtaken(mut frames: Vec<ClaimFrame<'_>>) -> Vec<ClaimFrame<'_>> {
    let solvers: Vec<Option<usize>> = frames.iter().map(|frame| solver(frame, &frames)).collect();
    for (index, solver) in solvers.iter().enumerate() {
        if let Some(solver) = solver {
            let details = std::mem::take(&mut frames[index].details);
            frames[*solver].details.extend(details);
        }
    }
    let mut solved = solvers.iter().map(Option::is_some);
    frames.retain(|_| !solved.next().unwrap_or(false));
    frames
}

/// The later work that solved the problem that a finding is about.
fn solver(finding: &ClaimFrame<'_>, frames: &[ClaimFrame<'_>]) -> Option<usize> {
    if finding.kind != FrameKind::Finding || !is_problem(finding) {
        return None;
    }
    let later = |work: &ClaimFrame<'_>| work.kind == FrameKind::Work && work.at > finding.at;
    frames.iter().position(|work| later(work) && is_about(work, finding))
}

/// Whether at least half of its sentences say that something is wrong or lacking.
fn is_problem(finding: &ClaimFrame<'_>) -> bool {
    let wrong = |claim: &&&Claim| claim.kind == ClaimKind::Cause || says_problem(&claim.text);
    finding.details.iter().filter(wrong).count() * 2 >= finding.details.len()
}

/// Whether a sentence says that something is wrong or lacking.
pub(super) fn says_problem(text: &str) -> bool {
    let padded = format!(" {} ", text.to_lowercase());
    PROBLEM_WORDS.iter().any(|word| padded.contains(word))
}

/// Whether the work names what the finding names, or says it in the same words.
fn is_about(work: &ClaimFrame<'_>, finding: &ClaimFrame<'_>) -> bool {
    let texts = |frame: &ClaimFrame<'_>| -> String {
        let claims = frame.leads.iter().chain(&frame.details);
        let texts: Vec<&str> = claims.flat_map(|claim| [claim.title.as_str(), claim.text.as_str()]).collect();
        texts.join(" ")
    };
    let (done, found) = (texts(work), texts(finding));
    let files = work.files.iter().filter(|file| names_file(&found, file)).count();
    let shared = names(&done).intersection(&names(&found)).count();
    files + shared >= SHARED_NAMES_MIN || overlap(&content_words(&done), &finding.words()) >= SHARED_WORDS
}

/// The names from code in a text.
fn names(text: &str) -> BTreeSet<String> {
    let words = text.split_whitespace().filter(|word| is_name(word));
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned()).collect()
}
