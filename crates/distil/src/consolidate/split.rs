//! Splits what is about something else off a frame: causes that their change does not speak of, the lessons of a memory
//! file, and the points of a review that were declined.

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::declined;
use crate::text::{content_words, overlap};

use super::finding_title;
use super::frames::{ClaimFrame, FrameKind};

/// A cause must be this likely to be worth remembering to become a row of its own.
const CAUSE_WORTH_MIN: f32 = 0.6;
/// A cause that shares this much with the title of a change belongs to it.
const SAME_SUBJECT_OVERLAP: f32 = 0.2;
/// Another sentence of the same text that shares this much with a cause goes with it.
const SAME_CAUSE_OVERLAP: f32 = 0.25;

/// Where a claim was said: the number of its text in the episode, and the time.
pub(super) type TextPlace = (u32, Millis);

/// Makes a finding of its own of each cause that the title of its change does not speak of.
pub(super) fn split_causes(frames: Vec<ClaimFrame<'_>>) -> Vec<ClaimFrame<'_>> {
    let mut split = Vec::with_capacity(frames.len());
    for mut frame in frames {
        if frame.kind == FrameKind::Work && !frame.leads.is_empty() {
            split.extend(take_causes(&mut frame));
        }
        split.push(frame);
    }
    split
}

/// Takes the causes about something else out of a change, with the sentences that go with them.
fn take_causes<'c>(frame: &mut ClaimFrame<'c>) -> Vec<ClaimFrame<'c>> {
    let title: BTreeSet<String> = frame.leads.iter().flat_map(|lead| content_words(&lead.title)).collect();
    let is_apart = |claim: &&Claim| {
        claim.kind == ClaimKind::Cause
            && claim.source != TextSource::Plan
            && claim.worth >= CAUSE_WORTH_MIN
            && overlap(&content_words(&claim.text), &title) < SAME_SUBJECT_OVERLAP
    };
    let (causes, details): (Vec<_>, Vec<_>) = frame.details.iter().copied().partition(is_apart);
    frame.details = details;
    let mut findings: Vec<(TextPlace, ClaimFrame<'c>)> = Vec::new();
    for cause in causes {
        let place = place_of(cause);
        match findings.iter_mut().find(|(known, _)| *known == place) {
            Some((_, finding)) => finding.details.push(cause),
            None => {
                let finding = ClaimFrame {
                    kind: FrameKind::Finding,
                    leads: Vec::new(),
                    details: vec![cause],
                    files: frame.files.clone(),
                    report: Vec::new(),
                    request: frame.request,
                    at: cause.at,
                    turn: frame.turn,
                };
                findings.push((place, finding));
            }
        }
    }
    for (place, finding) in &mut findings {
        let words = finding.words();
        let goes_along = |claim: &&Claim| {
            place_of(claim) == *place
                && claim.source != TextSource::Plan
                && overlap(&content_words(&claim.text), &words) >= SAME_CAUSE_OVERLAP
        };
        let (along, rest): (Vec<_>, Vec<_>) = frame.details.iter().copied().partition(goes_along);
        finding.details.extend(along);
        frame.details = rest;
    }
    findings.into_iter().map(|(_, finding)| finding).collect()
}

/// Lines that a lesson of a memory file needs for a row of its own, and the most lessons of one file.
const LESSON_LINES_MIN: usize = 2;
const LESSONS_MAX: usize = 8;

/// Makes a frame of its own of each section of a memory file whose heading states a lesson.
pub(super) fn split_lessons(frames: Vec<ClaimFrame<'_>>) -> Vec<ClaimFrame<'_>> {
    let mut split = Vec::with_capacity(frames.len());
    for mut frame in frames {
        if frame.kind == FrameKind::MemoryFile {
            let details = std::mem::take(&mut frame.details);
            let mut lessons = 0;
            for lines in details.chunk_by(|a, b| a.section == b.section) {
                let states = finding_title::lesson_title(&lines[0].section).is_some();
                if states && lines.len() >= LESSON_LINES_MIN && lessons < LESSONS_MAX {
                    lessons += 1;
                    split.push(ClaimFrame { details: lines.to_vec(), ..frame.clone() });
                } else {
                    frame.details.extend_from_slice(lines);
                }
            }
            // A single line beside them says little.
            if lessons > 0 && frame.details.len() < LESSON_LINES_MIN {
                continue;
            }
        }
        split.push(frame);
    }
    split
}

/// Points that a review must have left with reasons for a row of their own.
const DECLINED_MIN: usize = 2;

/// Makes a frame of its own of the points that a report lists as declined.
pub(super) fn split_declined(frames: Vec<ClaimFrame<'_>>) -> Vec<ClaimFrame<'_>> {
    let mut split = Vec::with_capacity(frames.len());
    for mut frame in frames {
        if matches!(frame.kind, FrameKind::Work | FrameKind::Finding) {
            let is_declined = |claim: &&Claim| {
                claim.kind == ClaimKind::Decision
                    && claim.place.listed
                    && declined::is_heading(&claim.section)
            };
            let (points, rest): (Vec<_>, Vec<_>) = frame.details.iter().copied().partition(is_declined);
            frame.details = rest;
            if points.len() >= DECLINED_MIN {
                let at = points[0].at;
                let own = ClaimFrame { kind: FrameKind::Declined, details: points, at, ..frame.clone() };
                split.push(ClaimFrame { leads: Vec::new(), report: Vec::new(), files: Vec::new(), ..own });
            }
        }
        if frame.kind != FrameKind::Finding || !frame.details.is_empty() {
            split.push(frame);
        }
    }
    split
}

pub(super) const fn place_of(claim: &Claim) -> TextPlace {
    (claim.group, claim.at)
}
