//! Pitfalls that the session itself mended, or that several turns told: the first belong to the work, of the second
//! one is kept.

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::source::Voice;

use crate::attribution::MACHINERY_WORTH;
use crate::claim::{Claim, ClaimKind};
use crate::sentences;
use crate::text::{content_words, overlap, shared};

use super::frames::{ClaimFrame, FINDING_WORTH_MIN, FrameKind, names_file};
use super::overtaken::{changes_code, names, names_of_work};

/// Two pitfalls that share this much are one.
const SAME_PITFALL: f32 = 0.3;
/// The share of a statement's words that a pitfall must tell.
const TOLD_SHARE: f32 = 0.8;

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
        let own = names(statement(claim));
        let later = works.iter().any(|(at, told)| *at > claim.at && !own.is_disjoint(told));
        claim.worth < MACHINERY_WORTH && later
    };
    let mended =
        |claim: &Claim| files.iter().any(|file| names_file(statement(claim), file)) || taken_up(claim);
    let mut kept: Vec<ClaimFrame<'_>> = Vec::new();
    let mut gone: Vec<BTreeSet<String>> = Vec::new();
    for frame in frames {
        let Some(pitfall) = pitfall_of(&frame) else {
            kept.push(frame);
            continue;
        };
        if mended(pitfall) {
            gone.push(words(pitfall));
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
    drop_told(&mut kept, &gone);
    kept
}

/// Removes from other frames what a pitfall tells, and findings that say too little without it. Of a pitfall that was
/// mended only the cause is left, which explains the work.
fn drop_told(frames: &mut Vec<ClaimFrame<'_>>, mended: &[BTreeSet<String>]) {
    let pitfalls: Vec<BTreeSet<String>> = frames.iter().filter_map(pitfall_of).map(words).collect();
    let is_told = |claim: &Claim| {
        let own = content_words(&claim.text);
        let tells =
            |told: &BTreeSet<String>| shared(&own, told) as f32 >= TOLD_SHARE * own.len().max(1) as f32;
        let is_over = claim.kind != ClaimKind::Cause && mended.iter().any(tells);
        claim.source.voice() == Voice::Agent && (is_over || pitfalls.iter().any(tells))
    };
    frames.retain_mut(|frame| {
        let before = frame.details.len();
        frame.details.retain(|claim| !is_told(claim));
        let is_poorer = frame.kind == FrameKind::Finding && frame.details.len() < before;
        !is_poorer || frame.best_worth() >= FINDING_WORTH_MIN
    });
}

/// The whole sentence that the title begins, or the title.
fn statement(claim: &Claim) -> &str {
    let title = content_words(&claim.title);
    let first = sentences::split(&claim.text).first().copied().unwrap_or_default();
    let is_whole = shared(&title, &content_words(first)) as f32 >= TOLD_SHARE * title.len().max(1) as f32;
    if is_whole { first } else { &claim.title }
}

fn pitfall_of<'c>(frame: &ClaimFrame<'c>) -> Option<&'c Claim> {
    frame.leads.first().copied().filter(|lead| lead.kind == ClaimKind::Pitfall)
}

fn words(claim: &Claim) -> BTreeSet<String> {
    content_words(&format!("{} {}", claim.title, claim.text))
}
