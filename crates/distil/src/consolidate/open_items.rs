//! Remaining work that a session named, and whether the session itself finished it.

use std::collections::BTreeSet;

use claude_mem_core::memory::NewOpenItem;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind, EpisodeClaims, RunClaim};
use crate::text::{clip, content_words, overlap};

/// Maximum open items of one session.
const OPEN_ITEMS_MAX: usize = 12;
const OPEN_CHARS_MAX: usize = 240;
/// The share of an item's words that later work must repeat to finish it.
const FINISHED_OVERLAP: f32 = 0.6;

/// The open items of the episodes, which are in order.
pub(super) fn open_items(episodes: &[&EpisodeClaims]) -> Vec<NewOpenItem> {
    let last_tasks = last_task_keys(episodes);
    let mut items: Vec<NewOpenItem> = Vec::new();
    for (index, episode) in episodes.iter().enumerate() {
        for claim in episode.claims.iter().filter(|claim| claim.kind == ClaimKind::Open) {
            let is_task = claim.source == TextSource::Task;
            if is_task && !last_tasks.contains(claim.key.as_str()) {
                continue;
            }
            let words = content_words(&claim.text);
            let known = |item: &NewOpenItem| overlap(&content_words(&item.text), &words) >= 0.7;
            if items.iter().any(known) {
                continue;
            }
            items.push(NewOpenItem {
                claim: claim.key.clone(),
                text: clip(&claim.text, OPEN_CHARS_MAX),
                at: claim.at,
                closed: is_finished(&words, claim, &episodes[index..]),
            });
        }
    }
    items.extend(standing_failures(episodes));
    // The newest of too many.
    let excess = items.len().saturating_sub(OPEN_ITEMS_MAX);
    items.drain(..excess);
    items
}

/// Tasks that the last list of the session still names.
fn last_task_keys<'c>(episodes: &[&'c EpisodeClaims]) -> BTreeSet<&'c str> {
    let tasks = |episode: &&EpisodeClaims| episode.claims.iter().any(|c| c.source == TextSource::Task);
    let last = episodes.iter().rev().find(|episode| tasks(episode));
    let open = last.into_iter().flat_map(|episode| &episode.claims);
    open.filter(|claim| claim.kind == ClaimKind::Open && claim.source == TextSource::Task)
        .map(|claim| claim.key.as_str())
        .collect()
}

fn is_finished(words: &BTreeSet<String>, item: &Claim, later: &[&EpisodeClaims]) -> bool {
    let finishes = |claim: &Claim| {
        let kind = matches!(
            claim.kind,
            ClaimKind::Commit | ClaimKind::PullRequest | ClaimKind::Finished | ClaimKind::Done
        );
        kind && claim.at > item.at && overlap(words, &content_words(claim.headline())) >= FINISHED_OVERLAP
    };
    later.iter().flat_map(|episode| &episode.claims).any(finishes)
}

/// Checks that failed and have not passed since.
fn standing_failures(episodes: &[&EpisodeClaims]) -> Vec<NewOpenItem> {
    let mut failing: Vec<&RunClaim> = Vec::new();
    for run in episodes.iter().flat_map(|episode| &episode.runs) {
        failing.retain(|open| open.key != run.key && !(run.passed && covers(run, &open.key)));
        if !run.passed && !run.error.is_empty() {
            failing.push(run);
        }
    }
    // Whatever ran last says how the session ended; older failures may be overcome without a second run.
    let last = episodes.iter().flat_map(|episode| &episode.runs).last().map(|run| run.at);
    failing
        .into_iter()
        .filter(|run| Some(run.at) == last)
        .map(|run| NewOpenItem {
            claim: format!("run:{}", run.key),
            text: clip(&format!("`{}` fails: “{}”", run.command, run.error), OPEN_CHARS_MAX),
            at: run.at,
            closed: false,
        })
        .collect()
}

/// Whether a passing run includes a failed command: the same one, or the whole of which it is a part.
fn covers(passed: &RunClaim, failed: &str) -> bool {
    passed.covers.iter().any(|key| {
        let rest = failed.strip_prefix(key.as_str());
        !key.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}
