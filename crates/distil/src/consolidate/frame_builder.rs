//! Groups the claims of a session into frames, episode by episode.

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;

use crate::answers::is_picked;
use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::staging::is_staged;
use crate::text::{content_words, overlap, shared};
use crate::user_acts;

use super::frames::{
    COMMIT_BODY_CHARS_MIN, ClaimFrame, FINDING_WORTH_MIN, FrameKind, is_same_work, merge_work,
};

/// A sentence said before a commit belongs to it if it fits this well.
const COMMIT_AFFINITY_MIN: f32 = 0.2;
/// A settled claim of this worth is a recap.
const RECAP_WORTH: f32 = 0.85;
/// Words that an earlier decision of a mere conversation must share with its recap.
const RECAP_SHARED_WORDS: usize = 2;
/// The share of an earlier decision's words that a recap must repeat.
const RECAP_OVERLAP: f32 = 0.4;
/// Two findings that share this much are one.
const SAME_FINDING_OVERLAP: f32 = 0.42;

/// Whether a plan was carried out by other means than the editing tools: the report says what was done.
fn reports_planned_work(episode: &EpisodeClaims) -> bool {
    let has = |kind: ClaimKind, source: TextSource| {
        episode.claims.iter().any(|claim| claim.kind == kind && claim.source == source)
    };
    has(ClaimKind::Plan, TextSource::Plan) && has(ClaimKind::Done, TextSource::FinalMessage)
}

/// Whether an operation on a machine repaired something: it is work with its cause. Other operations are steps on the
/// way, which the account tells.
fn repairs_by_operation(episode: &EpisodeClaims) -> bool {
    let is_cause = |claim: &Claim| claim.kind == ClaimKind::Cause && claim.worth >= FINDING_WORTH_MIN;
    episode.reports_operation() && episode.claims.iter().any(is_cause)
}

/// Whether the agent said it to prepare a question that the user answered in the same turn: the answer may have changed
/// it. A cause stays one.
fn leads_to_question(claim: &Claim, answered: Option<Millis>) -> bool {
    claim.source == TextSource::Message
        && claim.kind != ClaimKind::Cause
        && answered.is_some_and(|answered| claim.at < answered)
}

/// Whether work of an earlier turn is told by a later commit that explains itself: the commit holds all its files, by
/// name or because its own turns edited them again. The repair of a fault keeps its own row, and so does planned work.
fn is_part_of(work: &ClaimFrame<'_>, committed: &ClaimFrame<'_>, commit: &Claim) -> bool {
    let is_held = |file: &String| {
        if commit.staged.is_empty() {
            committed.files.contains(file)
        } else {
            is_staged(file, &commit.staged)
        }
    };
    work.leads.iter().all(|lead| lead.kind == ClaimKind::Plan)
        && !work.names_cause()
        && !work.reports_repair()
        && commit.text.chars().count() >= COMMIT_BODY_CHARS_MIN
        && !work.files.is_empty()
        && work.files.iter().all(is_held)
}

/// Groups the claims of the episodes, which are in order.
pub(super) fn build_frames<'c>(episodes: &[&'c EpisodeClaims]) -> Vec<ClaimFrame<'c>> {
    let mut builder = FrameBuilder::default();
    for episode in episodes {
        builder.add(episode);
    }
    let mut frames = merge_work(builder.finish());
    // What a conversation settled answers the request that opened it.
    let opening = episodes.iter().map(|episode| episode.request.as_str()).find(|request| !request.is_empty());
    for frame in &mut frames {
        if frame.leads.first().is_some_and(|lead| lead.composed.is_some() || is_picked(lead)) {
            frame.request = opening.unwrap_or_default();
        }
    }
    frames
}

#[derive(Default)]
struct FrameBuilder<'c> {
    frames: Vec<ClaimFrame<'c>>,
    /// Work of earlier turns that is not committed yet, one frame per turn.
    uncommitted: Vec<ClaimFrame<'c>>,
}

impl<'c> FrameBuilder<'c> {
    fn add(&mut self, episode: &'c EpisodeClaims) {
        let mut work = ClaimFrame::new(FrameKind::Work, episode, episode.at);
        let mut finding = ClaimFrame::new(FrameKind::Finding, episode, episode.at);
        let commits = episode.claims.iter().filter(|claim| claim.kind == ClaimKind::Commit).count();
        let unseen = reports_planned_work(episode) || repairs_by_operation(episode);
        let works = !episode.edited.is_empty() || commits > 0 || unseen;
        work.files.clone_from(&episode.edited);
        work.report = episode.outcome.report.iter().map(String::as_str).collect();
        let first = self.frames.len();
        let answered = episode.claims.iter().filter(|claim| claim.source == TextSource::Answer);
        let answered = answered.map(|claim| claim.at).max();
        for claim in &episode.claims {
            match claim.kind {
                ClaimKind::Commit => self.commit(episode, claim, &mut work),
                ClaimKind::PullRequest => self.pull_request(episode, claim),
                ClaimKind::Plan => work.leads.push(claim),
                // A wish for the change at hand is part of the change.
                ClaimKind::Choice | ClaimKind::UserFact if works && claim.source != TextSource::Answer => {
                    work.details.push(claim);
                }
                ClaimKind::Rule if works && !user_acts::is_standing_rule(&claim.text) => {
                    work.details.push(claim);
                }
                ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact | ClaimKind::Settled => {
                    self.decision(episode, claim);
                }
                ClaimKind::MemoryLine => self.memory_line(episode, claim),
                ClaimKind::Remedy | ClaimKind::Pitfall => self.push_single(FrameKind::Remedy, episode, claim),
                ClaimKind::Finished if works => work.details.push(claim),
                ClaimKind::Open | ClaimKind::Finished => {}
                ClaimKind::Cause
                | ClaimKind::Done
                | ClaimKind::Decision
                | ClaimKind::Fact
                | ClaimKind::DeadEnd
                | ClaimKind::Caveat => {
                    if claim.source == TextSource::Plan {
                        work.details.push(claim);
                    } else if works {
                        self.work_detail(first, claim, &mut work);
                    } else if !leads_to_question(claim, answered) {
                        finding.details.push(claim);
                    }
                }
            }
        }
        if work.files.is_empty() && !unseen {
            // What was said on the way and belongs to no change is a finding of the turn.
            let loose = work.details.into_iter().filter(|claim| claim.source != TextSource::Plan);
            finding.details.extend(loose);
        } else {
            self.uncommitted.push(work);
        }
        self.finding(finding);
    }

    /// A commit belongs to the turn whose words it repeats; turns that say little go with it.
    fn commit(&mut self, episode: &'c EpisodeClaims, claim: &'c Claim, work: &mut ClaimFrame<'c>) {
        if claim.amends && self.amend(claim, work) {
            return;
        }
        let mut frame = ClaimFrame::new(FrameKind::Work, episode, claim.at);
        frame.leads.push(claim);
        std::mem::swap(&mut frame.files, &mut work.files);
        std::mem::swap(&mut frame.report, &mut work.report);
        frame.leads.append(&mut work.leads);
        let details = std::mem::take(&mut work.details);
        let (fitting, loose): (Vec<_>, Vec<_>) =
            details.into_iter().partition(|detail| frame.affinity(detail) >= COMMIT_AFFINITY_MIN);
        frame.details = fitting;
        work.details = loose;
        let words = content_words(&format!("{} {}", claim.title, claim.text));
        let mut earlier = std::mem::take(&mut self.uncommitted);
        let fits = |known: &ClaimFrame<'_>| known.fit_to_commit(claim, &words);
        let best = (0..earlier.len()).max_by(|a, b| fits(&earlier[*a]).total_cmp(&fits(&earlier[*b])));
        let strong = earlier.iter().filter(|known| known.is_strong()).count();
        // A commit over several turns leaves a repaired fault its own row.
        let keeps = |known: &ClaimFrame<'_>| strong > 1 && known.names_cause();
        let taken =
            best.filter(|best| fits(&earlier[*best]) >= COMMIT_AFFINITY_MIN && !keeps(&earlier[*best]));
        if let Some(best) = taken {
            frame.absorb(earlier.remove(best));
        }
        for known in earlier {
            if known.is_strong() && !is_part_of(&known, &frame, claim) {
                self.frames.push(known);
            } else {
                frame.absorb(known);
            }
        }
        self.frames.push(frame);
    }

    /// Replaces the last commit by the one that amends it. Returns whether there is one.
    fn amend(&mut self, claim: &'c Claim, work: &mut ClaimFrame<'c>) -> bool {
        let amended = self.frames.iter_mut().rev().find_map(|frame| {
            let lead = frame.leads.iter().rposition(|lead| lead.kind == ClaimKind::Commit)?;
            Some((frame, lead))
        });
        let Some((frame, lead)) = amended else {
            return false;
        };
        frame.leads[lead] = claim;
        for file in std::mem::take(&mut work.files) {
            if !frame.files.contains(&file) {
                frame.files.push(file);
            }
        }
        true
    }

    /// A pull request speaks of the commits before it.
    fn pull_request(&mut self, episode: &'c EpisodeClaims, claim: &'c Claim) {
        let words = content_words(&format!("{} {}", claim.title, claim.text));
        let about = |frame: &ClaimFrame<'_>| {
            let title: BTreeSet<String> =
                frame.leads.iter().flat_map(|lead| content_words(&lead.title)).collect();
            frame.kind == FrameKind::Work && frame.is_committed() && overlap(&title, &words) >= 0.4
        };
        match self.frames.iter().rposition(about) {
            Some(index) => self.frames[index].leads.push(claim),
            None => {
                let mut frame = ClaimFrame::new(FrameKind::Work, episode, claim.at);
                frame.leads.push(claim);
                self.frames.push(frame);
            }
        }
    }

    /// A sentence about the work of this turn: it belongs to the commit that it fits, else to the work that
    /// is not committed yet, else to the turn's only commit.
    fn work_detail(&mut self, first: usize, claim: &'c Claim, work: &mut ClaimFrame<'c>) {
        let commits: Vec<usize> =
            (first..self.frames.len()).filter(|index| self.frames[*index].is_committed()).collect();
        if commits.is_empty() || claim.source == TextSource::Message {
            work.details.push(claim);
            return;
        }
        let best = commits
            .iter()
            .map(|index| (self.frames[*index].affinity(claim), *index))
            .max_by(|a, b| a.0.total_cmp(&b.0));
        match best {
            Some((affinity, index)) if affinity >= COMMIT_AFFINITY_MIN || commits.len() == 1 => {
                self.frames[index].details.push(claim);
            }
            _ => work.details.push(claim),
        }
    }

    fn decision(&mut self, episode: &'c EpisodeClaims, claim: &'c Claim) {
        if claim.kind == ClaimKind::Settled && claim.worth >= RECAP_WORTH {
            self.recap(episode, claim);
            return;
        }
        // Answers of one question tool call, or of calls in a row, are one decision.
        if claim.source == TextSource::Answer
            && let Some(last) = self.frames.iter_mut().rev().find(|frame| frame.kind == FrameKind::Decision)
            && last.turn == episode.turn
            && last.leads.first().is_some_and(|lead| lead.source == TextSource::Answer)
            && last.leads.len() < 4
        {
            last.leads.push(claim);
            return;
        }
        // Options picked one after the other narrow one decision down: the last one holds.
        if is_picked(claim)
            && let Some(last) = self.frames.iter_mut().rev().find(|frame| frame.kind != FrameKind::Finding)
            && last.kind == FrameKind::Decision
            && last.leads.first().is_some_and(|lead| is_picked(lead))
        {
            last.leads.insert(0, claim);
            last.at = claim.at;
            return;
        }
        self.push_single(FrameKind::Decision, episode, claim);
    }

    /// A recap says again what earlier turns settled: they become one decision.
    fn recap(&mut self, episode: &'c EpisodeClaims, claim: &'c Claim) {
        let mut frame = ClaimFrame::new(FrameKind::Decision, episode, claim.at);
        frame.leads.push(claim);
        let words = content_words(&format!("{} {}", claim.title, claim.text));
        let same = |known: &ClaimFrame<'_>, only_talk: bool| {
            let lead = known.leads.first();
            let talk = matches!(known.kind, FrameKind::Decision | FrameKind::Finding);
            let answered = lead.is_some_and(|lead| lead.source == TextSource::Answer);
            let own: BTreeSet<String> = known
                .leads
                .iter()
                .chain(&known.details)
                .flat_map(|claim| content_words(&claim.text))
                .collect();
            talk && !answered
                && (overlap(&own, &words) >= RECAP_OVERLAP
                    || (only_talk && shared(&own, &words) >= RECAP_SHARED_WORDS))
        };
        let only_talk = !self.frames.iter().any(|frame| frame.kind == FrameKind::Work);
        let same = |known: &ClaimFrame<'_>| same(known, only_talk);
        let (settled, others): (Vec<_>, Vec<_>) =
            std::mem::take(&mut self.frames).into_iter().partition(same);
        self.frames = others;
        for known in settled {
            frame.absorb(known);
        }
        self.frames.push(frame);
    }

    fn memory_line(&mut self, episode: &'c EpisodeClaims, claim: &'c Claim) {
        if let Some(last) = self.frames.iter_mut().rev().find(|frame| frame.kind == FrameKind::MemoryFile)
            && last.turn == episode.turn
        {
            last.details.push(claim);
            return;
        }
        let mut frame = ClaimFrame::new(FrameKind::MemoryFile, episode, claim.at);
        frame.details.push(claim);
        self.frames.push(frame);
    }

    fn push_single(&mut self, kind: FrameKind, episode: &'c EpisodeClaims, claim: &'c Claim) {
        let mut frame = ClaimFrame::new(kind, episode, claim.at);
        frame.leads.push(claim);
        self.frames.push(frame);
    }

    fn finding(&mut self, finding: ClaimFrame<'c>) {
        if finding.best_worth() < FINDING_WORTH_MIN {
            // What is too little for a row of its own may belong to work in progress or to the account.
            return;
        }
        let words = finding.words();
        if let Some(last) = self.frames.iter_mut().rev().find(|frame| frame.kind == FrameKind::Finding)
            && overlap(&last.words(), &words) >= SAME_FINDING_OVERLAP
        {
            last.absorb(finding);
            return;
        }
        self.frames.push(finding);
    }

    /// Ends the session: work that was never committed is told by its reports.
    fn finish(mut self) -> Vec<ClaimFrame<'c>> {
        for frame in self.uncommitted {
            let same =
                |known: &&mut ClaimFrame<'_>| known.kind == FrameKind::Work && is_same_work(known, &frame);
            if frame.is_strong() {
                self.frames.push(frame);
            } else if let Some(known) = self.frames.iter_mut().rev().find(same) {
                known.absorb(frame);
            }
        }
        self.frames
    }
}
