//! Pitfalls that the session itself mended, or that several turns told: the first belong to the work, of the second
//! one is kept.

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;

use crate::attribution::MACHINERY_WORTH;
use crate::claim::{Claim, ClaimKind};
use crate::text::{content_words, overlap};

use super::frames::{ClaimFrame, FrameKind, names_file};
use super::overtaken::{changes_code, names, names_of_work};

/// Two pitfalls that share this much are one.
const SAME_PITFALL: f32 = 0.3;

/// Removes pitfalls about files that work of the session changed, and those that repeat another memory of this kind.
pub(super) fn drop_mended(frames: Vec<ClaimFrame<'_>>) -> Vec<ClaimFrame<'_>> {
    let files: Vec<String> = frames
        .iter()
        .filter(|frame| frame.kind == FrameKind::Work)
        .flat_map(|frame| frame.files.clone())
        .collect();
    let works: Vec<(Millis, BTreeSet<String>)> = frames
        .iter()
        .filter(|frame| changes_code(frame))
        .map(|work| (work.at, names_of_work(work)))
        .collect();
    // How a tool works is not changed by work that speaks of the same names.
    let taken_up = |claim: &Claim| {
        let own = names(&claim.title);
        let later = works.iter().any(|(at, told)| *at > claim.at && !own.is_disjoint(told));
        claim.worth < MACHINERY_WORTH && later
    };
    let mended = |claim: &Claim| files.iter().any(|file| names_file(&claim.title, file)) || taken_up(claim);
    let mut kept: Vec<ClaimFrame<'_>> = Vec::new();
    for frame in frames {
        let Some(pitfall) = pitfall_of(&frame) else {
            kept.push(frame);
            continue;
        };
        if mended(pitfall) {
            continue;
        }
        let same = |known: &&mut ClaimFrame<'_>| {
            let lead = known.leads.first().filter(|_| known.kind == FrameKind::Remedy);
            lead.is_some_and(|lead| overlap(&words(lead), &words(pitfall)) >= SAME_PITFALL)
        };
        match kept.iter_mut().find(same) {
            // What was said later was said with more knowledge.
            Some(known) if pitfall_of(known).is_some_and(|told| told.worth <= pitfall.worth) => {
                *known = frame;
            }
            Some(_) => {}
            None => kept.push(frame),
        }
    }
    kept
}

fn pitfall_of<'c>(frame: &ClaimFrame<'c>) -> Option<&'c Claim> {
    frame.leads.first().copied().filter(|lead| lead.kind == ClaimKind::Pitfall)
}

fn words(claim: &Claim) -> BTreeSet<String> {
    content_words(&format!("{} {}", claim.title, claim.text))
}
