//! Frames: the claims of a session, grouped by the change, finding or decision that they are about.

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::memory::ObservationType;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::gates::{first_word, is_passing_trouble};
use crate::report::FIXED_LABEL;
use crate::staging::{is_staged, names_a_file};
use crate::text::{content_words, overlap};

/// What a frame is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FrameKind {
    /// A change to the code, committed or not.
    Work,
    /// Something found out, in turns that changed nothing.
    Finding,
    /// A rule, choice or fact of the user, or what a conversation settled.
    Decision,
    /// Lines of a memory file.
    MemoryFile,
    /// How a failing command was made to pass.
    Remedy,
    /// Points of a review that were declined, with their reasons.
    Declined,
}

/// Claims that become one observation.
#[derive(Clone, Debug)]
pub(super) struct ClaimFrame<'c> {
    pub kind: FrameKind,
    /// Commits, pull requests, plans, answers: claims with a title of their own, the leading one first.
    pub leads: Vec<&'c Claim>,
    pub details: Vec<&'c Claim>,
    pub files: Vec<String>,
    /// What the agent's report of the turn says was done, item by item.
    pub report: Vec<&'c str>,
    /// What the user asked for.
    pub request: &'c str,
    pub at: Millis,
    pub turn: u32,
}

/// Details of a finding: at least one must be this likely to be worth remembering.
pub(super) const FINDING_WORTH_MIN: f32 = 0.52;
/// Work without a commit needs a sentence this likely to be worth remembering.
const STRONG_WORTH_MIN: f32 = 0.3;
/// The same for planned work and a commit that repairs something.
const REPAIR_OVERLAP: f32 = 0.75;
/// Two changes whose titles share this much are one.
const SAME_WORK_OVERLAP: f32 = 0.5;
/// The same for two commits of the same files.
const SAME_COMMIT_OVERLAP: f32 = 0.34;

/// Words of a prompt that thinks aloud: what is answered need not be so.
const IDEA_WORDS: &[&str] = &["an idea", "my idea", "ideas", "brainstorm", "strategiz", "what if "];

/// A detail of a change or finding must be this likely to be worth remembering.
pub(super) const DETAIL_WORTH_MIN: f32 = 0.4;
/// A commit whose body has this many characters explains itself.
pub(super) const COMMIT_BODY_CHARS_MIN: usize = 160;

impl<'c> ClaimFrame<'c> {
    pub(super) fn new(kind: FrameKind, episode: &'c EpisodeClaims, at: Millis) -> Self {
        Self {
            kind,
            leads: Vec::new(),
            details: Vec::new(),
            files: Vec::new(),
            report: Vec::new(),
            request: &episode.request,
            at,
            turn: episode.turn,
        }
    }

    pub(super) fn is_committed(&self) -> bool {
        self.leads.iter().any(|lead| matches!(lead.kind, ClaimKind::Commit | ClaimKind::PullRequest))
    }

    /// The files of the change: of commits for which files were staged by name, these.
    pub(super) fn shown_files(&self) -> Vec<String> {
        let commits = || self.leads.iter().filter(|lead| lead.kind == ClaimKind::Commit);
        let named = commits().count() > 0 && commits().all(|commit| !commit.staged.is_empty());
        if !named {
            return self.files.clone();
        }
        let staged: Vec<String> = commits().flat_map(|commit| commit.staged.iter().cloned()).collect();
        let mut shown: Vec<String> =
            self.files.iter().filter(|file| is_staged(file, &staged)).cloned().collect();
        // What a command or a subagent changed is known by its name alone.
        for path in staged {
            if names_a_file(&path) && !shown.contains(&path) {
                shown.push(path);
            }
        }
        shown
    }

    /// Whether it says enough for a row of its own without a commit.
    pub(super) fn is_strong(&self) -> bool {
        let told = self.details.iter().filter(|claim| claim.source != TextSource::Plan);
        let mut told = told.filter(|claim| claim.kind != ClaimKind::Finished);
        told.any(|claim| claim.worth >= STRONG_WORTH_MIN || claim.kind == ClaimKind::Done)
            || !self.leads.is_empty()
            || self.reports_repair()
    }

    /// Whether its report has a heading that names a repaired fault.
    pub(super) fn reports_repair(&self) -> bool {
        self.report.iter().any(|item| item.starts_with(FIXED_LABEL))
    }

    /// Whether it was said about something that nobody has built: the prompt thinks aloud.
    pub(super) fn is_idea(&self) -> bool {
        let lower = self.request.to_lowercase();
        self.kind == FrameKind::Finding && IDEA_WORDS.iter().any(|word| lower.contains(word))
    }

    /// The worth of the detail that is most worth remembering.
    pub(super) fn best_worth(&self) -> f32 {
        self.details.iter().map(|claim| claim.worth).fold(0.0, f32::max)
    }

    /// Whether a commit of the frame says more than its subject.
    pub(super) fn explains_itself(&self) -> bool {
        let mut commits = self.leads.iter().filter(|lead| lead.kind == ClaimKind::Commit);
        commits.any(|lead| lead.text.chars().count() >= COMMIT_BODY_CHARS_MIN)
    }

    pub(super) fn names_cause(&self) -> bool {
        self.details.iter().any(|claim| {
            claim.kind == ClaimKind::Cause
                && claim.worth >= FINDING_WORTH_MIN
                && !is_passing_trouble(&claim.text)
        })
    }

    /// How well a commit fits the work of a turn. Planned work keeps its own row unless the commit's title
    /// repeats the plan's.
    pub(super) fn fit_to_commit(&self, commit: &Claim, words: &BTreeSet<String>) -> f32 {
        match self.leads.first() {
            Some(plan) => overlap(&content_words(&plan.title), &content_words(&commit.title)) - 0.3,
            None => overlap(&self.words(), words),
        }
    }

    /// The words of its titles and details.
    pub(super) fn words(&self) -> BTreeSet<String> {
        self.leads.iter().chain(&self.details).flat_map(|claim| content_words(claim.headline())).collect()
    }

    pub(super) fn absorb(&mut self, other: Self) {
        self.leads.extend(other.leads);
        self.details.extend(other.details);
        for file in other.files {
            if !self.files.contains(&file) {
                self.files.push(file);
            }
        }
        self.report.extend(other.report);
        self.at = self.at.max(other.at);
    }

    /// How well a claim fits: names of files and words that both have.
    pub(super) fn affinity(&self, claim: &Claim) -> f32 {
        let words = content_words(&claim.text);
        let own: BTreeSet<String> = self
            .leads
            .iter()
            .flat_map(|lead| content_words(&format!("{} {}", lead.title, lead.text)))
            .collect();
        let named = self.files.iter().filter(|file| names_file(&claim.text, file)).count();
        overlap(&words, &own) + 0.3 * named.min(2) as f32
    }
}

/// Whether a text names a file by its last component or its stem.
pub(super) fn names_file(text: &str, path: &str) -> bool {
    let name = path.rsplit('/').next().unwrap_or(path);
    let stem = name.split('.').next().unwrap_or(name);
    text.contains(name) || (stem.len() > 5 && text.contains(stem))
}

/// Commits about the same change become one frame, led by the one that says most.
pub(super) fn merge_work(frames: Vec<ClaimFrame<'_>>) -> Vec<ClaimFrame<'_>> {
    let mut merged: Vec<ClaimFrame<'_>> = Vec::new();
    for frame in frames {
        let same = |known: &ClaimFrame<'_>| {
            known.kind == FrameKind::Work && frame.kind == FrameKind::Work && is_same_work(known, &frame)
        };
        match merged.iter_mut().rev().find(|known| same(known)) {
            Some(known) => {
                known.absorb(frame);
                known.leads.sort_by_key(|lead| lead_rank(lead));
            }
            None => merged.push(frame),
        }
    }
    merged
}

/// Commits that say why come first, then pull requests, then plans.
fn lead_rank(lead: &Claim) -> (u8, std::cmp::Reverse<usize>) {
    let kind = match lead.kind {
        ClaimKind::Commit => 0,
        ClaimKind::PullRequest => 1,
        _ => 2,
    };
    (kind, std::cmp::Reverse(lead.text.len().min(600) / 100))
}

fn fixes(frame: &ClaimFrame<'_>) -> bool {
    let lead = frame.leads.first();
    lead.is_some_and(|lead| lead.work == Some(ObservationType::BUGFIX) || first_word(&lead.title) == "fix")
}

pub(super) fn is_same_work(a: &ClaimFrame<'_>, b: &ClaimFrame<'_>) -> bool {
    let words = |frame: &ClaimFrame<'_>| -> BTreeSet<String> {
        frame.leads.iter().flat_map(|lead| content_words(&lead.title)).collect()
    };
    let (one, other) = (words(a), words(b));
    let files = a.files.iter().filter(|file| b.files.contains(file)).count();
    let fewer = a.files.len().min(b.files.len()).max(1);
    // A repair of planned work is not that work.
    let repairs = fixes(a) != fixes(b) && a.is_committed() != b.is_committed();
    let least = if repairs { REPAIR_OVERLAP } else { SAME_WORK_OVERLAP };
    let alike = !one.is_empty() && !other.is_empty() && overlap(&one, &other) >= least;
    let both_committed = a.is_committed() && b.is_committed();
    // A repair that explains itself is a memory of its own, beside the work that it repairs.
    if both_committed && fixes(a) != fixes(b) && a.explains_itself() && b.explains_itself() {
        return !one.is_empty() && overlap(&one, &other) >= REPAIR_OVERLAP;
    }
    let akin = if both_committed {
        overlap(&one, &other) >= SAME_COMMIT_OVERLAP
    } else {
        overlap(&a.words(), &b.words()) >= 0.55
    };
    alike || (files * 2 >= fewer && files > 0 && akin)
}
