//! Problems that later work of the same session solved: they are told with that work, not as the state.

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;

use crate::claim::{Claim, ClaimKind};
use crate::text::{content_words, is_name, overlap, shared};

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
            let mut details = std::mem::take(&mut frames[index].details);
            // What was lacking is there now; why it was wrong still explains the work.
            details.retain(|claim| claim.kind == ClaimKind::Cause || !says_problem(&claim.text));
            frames[*solver].details.extend(details);
        }
    }
    let mut solved = solvers.iter().map(Option::is_some);
    frames.retain(|_| !solved.next().unwrap_or(false));
    drop_supplied(&mut frames);
    absorb_repeated(frames)
}

/// The share of its words by which a finding repeats a commit of the session.
const REPEATED_WORDS: f32 = 0.5;

/// The share of its words that a finding has in common with the later work that it led to, and their least number:
/// two short causes share the words by which causes are told.
const LED_TO_WORDS: f32 = 0.42;
const LED_TO_WORDS_MIN: usize = 5;

/// Gives findings that say what a commit of the session says, or that led to later work, to the frame of that work.
fn absorb_repeated(frames: Vec<ClaimFrame<'_>>) -> Vec<ClaimFrame<'_>> {
    let (findings, mut kept): (Vec<_>, Vec<_>) = frames
        .into_iter()
        .partition(|frame| matches!(frame.kind, FrameKind::Finding | FrameKind::MemoryFile));
    for finding in findings {
        let words = finding.words();
        let said = content_words(&texts(&finding));
        let repeats = |work: &ClaimFrame<'_>| {
            let done = content_words(&texts(work));
            let led_to = finding.kind == FrameKind::Finding
                && work.at > finding.at
                && shared(&said, &done) >= LED_TO_WORDS_MIN
                && shared(&said, &done) as f32 >= LED_TO_WORDS * said.len() as f32;
            let says_same = work.is_committed() && overlap(&done, &words) >= REPEATED_WORDS;
            // Beside a bare commit of a note, the lines of a memory file are the better text.
            let tells = finding.kind == FrameKind::Finding || changes_code(work) || work.explains_itself();
            let is_told = says_same && tells;
            is_told || (led_to && changes_code(work))
        };
        match kept.iter_mut().find(|work| repeats(work)) {
            Some(work) => work.details.extend(finding.details),
            None => kept.push(finding),
        }
    }
    kept.sort_by_key(|frame| frame.at);
    kept
}

/// Removes from findings each sentence about something that is lacking or wrong, if later work of the session
/// changed what the sentence names.
fn drop_supplied(frames: &mut [ClaimFrame<'_>]) {
    let works: Vec<(Millis, BTreeSet<String>)> = frames
        .iter()
        .filter(|frame| changes_code(frame))
        .map(|work| (work.at, names_of_work(work)))
        .collect();
    for finding in frames.iter_mut().filter(|frame| frame.kind == FrameKind::Finding) {
        let at = finding.at;
        let is_supplied = |claim: &&Claim| {
            let own = names(&claim.text);
            let changes = |(done, changed): &&(Millis, BTreeSet<String>)| {
                *done > at && own.intersection(changed).count() >= SHARED_NAMES_MIN
            };
            claim.kind != ClaimKind::Cause && says_problem(&claim.text) && works.iter().any(|w| changes(&w))
        };
        finding.details.retain(|claim| !is_supplied(claim));
    }
}

/// The names from code in what is said of a change, and its files.
pub(super) fn names_of_work(work: &ClaimFrame<'_>) -> BTreeSet<String> {
    let mut known = names(&texts(work));
    for file in &work.files {
        let name = file.rsplit('/').next().unwrap_or(file);
        known.extend([name, name.split('.').next().unwrap_or(name)].map(str::to_owned));
    }
    known
}

/// The later work that solved the problem that a finding is about.
fn solver(finding: &ClaimFrame<'_>, frames: &[ClaimFrame<'_>]) -> Option<usize> {
    if finding.kind != FrameKind::Finding || !is_problem(finding) {
        return None;
    }
    let later = |work: &ClaimFrame<'_>| changes_code(work) && work.at > finding.at;
    frames.iter().position(|work| later(work) && is_about(work, finding))
}

/// Whether a frame is work on more than notes: a todo about a problem does not solve it.
pub(super) fn changes_code(frame: &ClaimFrame<'_>) -> bool {
    let is_note = |file: &String| [".md", ".mdx", ".txt", ".rst"].iter().any(|ending| file.ends_with(ending));
    frame.kind == FrameKind::Work && (frame.files.is_empty() || !frame.files.iter().all(is_note))
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
    let (done, found) = (texts(work), texts(finding));
    let files = work.files.iter().filter(|file| names_file(&found, file)).count();
    let shared = names(&done).intersection(&names(&found)).count();
    let names_min = if prescribes(&found) { 1 } else { SHARED_NAMES_MIN };
    // A file that is named whole is what the finding is about; its stem may be a common word.
    let named = work.files.iter().any(|file| found.contains(file.rsplit('/').next().unwrap_or(file)));
    named || files + shared >= names_min || overlap(&content_words(&done), &finding.words()) >= SHARED_WORDS
}

/// Phrases that say what has to be done.
const PRESCRIBING: &[&str] =
    &["the fix is ", "needs to ", "need to ", "just needs ", "should be ", "will hit "];

/// Whether a finding says what has to be done about it: work on the same thing did it.
fn prescribes(text: &str) -> bool {
    let lower = text.to_lowercase();
    PRESCRIBING.iter().any(|phrase| lower.contains(phrase))
}

/// Everything that is said in a frame.
fn texts(frame: &ClaimFrame<'_>) -> String {
    let claims = frame.leads.iter().chain(&frame.details);
    let texts: Vec<&str> = claims.flat_map(|claim| [claim.title.as_str(), claim.text.as_str()]).collect();
    texts.join(" ")
}

/// The names from code in a text.
pub(super) fn names(text: &str) -> BTreeSet<String> {
    let words = text.split_whitespace().filter(|word| is_name(word));
    words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && c != '_').to_owned()).collect()
}
