//! The account of a session: what it was for, done, learnt, decided, checked and left open.

use std::collections::BTreeSet;

use claude_mem_core::memory::{NewOpenItem, SessionAccount};
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::text::{clip, content_words, full_stop, overlap};

use super::frames::{ClaimFrame, FrameKind};
use super::titles;

/// Lines of each list of an account.
const LINES_MAX: usize = 10;
const LINE_CHARS_MAX: usize = 300;
/// A sentence of an account must be this likely to be worth remembering.
const LINE_WORTH_MIN: f32 = 0.5;
const FILES_MAX: usize = 40;

/// Writes the account of the episodes, which are in order. `None` if nothing happened.
pub(super) fn write_account(
    episodes: &[&EpisodeClaims],
    frames: &[ClaimFrame<'_>],
    open_items: &[NewOpenItem],
) -> Option<SessionAccount> {
    let claims: Vec<&Claim> = episodes.iter().flat_map(|episode| &episode.claims).collect();
    let mut account = SessionAccount {
        purpose: purpose(episodes, &claims),
        open: open_items.iter().filter(|item| !item.closed).map(|item| item.text.clone()).collect(),
        checked: checks_after_last_edit(episodes),
        at: episodes.iter().map(|episode| episode.at).max().unwrap_or_default(),
        ..SessionAccount::default()
    };
    let work = frames.iter().filter(|frame| frame.kind == FrameKind::Work);
    let tasks = claims.iter().filter(|claim| claim.kind == ClaimKind::Finished);
    account.done = lines(
        work.filter_map(titles::done_title)
            .map(|title| (1.0, title))
            .chain(sentences(&claims, &[ClaimKind::Done]))
            .chain(tasks.map(|claim| (LINE_WORTH_MIN, claim.text.clone()))),
    );
    account.learned = lines(sentences(
        &claims,
        &[ClaimKind::Cause, ClaimKind::Fact, ClaimKind::Caveat, ClaimKind::DeadEnd, ClaimKind::MemoryLine],
    ));
    let user = claims.iter().filter(|claim| {
        matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact | ClaimKind::Settled)
    });
    // What a plan meant to do is not what was decided in the end.
    let said: Vec<&Claim> = claims.iter().copied().filter(|claim| claim.source != TextSource::Plan).collect();
    account.decided = lines(
        user.map(|claim| (1.0, claim.headline().to_owned())).chain(sentences(&said, &[ClaimKind::Decision])),
    );
    for file in episodes.iter().flat_map(|episode| &episode.edited) {
        if account.files_edited.len() < FILES_MAX && !account.files_edited.contains(file) {
            account.files_edited.push(file.clone());
        }
    }
    let empty = account.done.is_empty()
        && account.learned.is_empty()
        && account.decided.is_empty()
        && account.open.is_empty()
        && account.files_edited.is_empty();
    (!empty).then_some(account)
}

/// What the session was for: the plan's title, else the first request that says something.
fn purpose(episodes: &[&EpisodeClaims], claims: &[&Claim]) -> String {
    let plan = claims.iter().find(|claim| claim.kind == ClaimKind::Plan && claim.source == TextSource::Plan);
    let first = episodes.first().map(|episode| episode.turn);
    if let Some(plan) = plan
        && episodes
            .iter()
            .any(|episode| Some(episode.turn) == first && episode.claims.iter().any(|c| c.key == plan.key))
    {
        return clip(&plan.title, LINE_CHARS_MAX);
    }
    let says = |request: &str| content_words(request).len() >= 2;
    let request = episodes.iter().map(|episode| episode.request.as_str()).find(|request| says(request));
    request
        .or_else(|| {
            episodes.iter().map(|episode| episode.request.as_str()).find(|request| !request.is_empty())
        })
        .map(|request| clip(request, LINE_CHARS_MAX))
        .unwrap_or_default()
}

fn sentences<'c>(claims: &'c [&Claim], kinds: &'c [ClaimKind]) -> impl Iterator<Item = (f32, String)> + 'c {
    claims
        .iter()
        .filter(|claim| kinds.contains(&claim.kind) && claim.worth >= LINE_WORTH_MIN)
        .map(|claim| (claim.worth, claim.text.clone()))
}

/// The worthiest different lines, in the order they were said.
fn lines(candidates: impl Iterator<Item = (f32, String)>) -> Vec<String> {
    let mut distinct: Vec<(usize, f32, String, BTreeSet<String>)> = Vec::new();
    for (order, (worth, text)) in candidates.enumerate() {
        let words = content_words(&text);
        if !distinct.iter().any(|(_, _, _, known)| overlap(known, &words) >= 0.8) {
            distinct.push((order, worth, text, words));
        }
    }
    distinct.sort_by(|a, b| b.1.total_cmp(&a.1));
    distinct.truncate(LINES_MAX);
    distinct.sort_by_key(|line| line.0);
    distinct.into_iter().map(|(_, _, text, _)| clip(&full_stop(&text), LINE_CHARS_MAX)).collect()
}

/// The checks that ran after the last edit of the session, each once with its last outcome.
fn checks_after_last_edit(episodes: &[&EpisodeClaims]) -> Vec<String> {
    let last_edit = episodes.iter().rposition(|episode| !episode.edited.is_empty()).unwrap_or(0);
    let mut checks: Vec<(String, String)> = Vec::new();
    for run in
        episodes[last_edit.min(episodes.len().saturating_sub(1))..].iter().flat_map(|episode| &episode.runs)
    {
        if run.stale {
            continue;
        }
        let outcome = match (run.passed, run.result.is_empty()) {
            (_, false) => run.result.clone(),
            (true, true) => "passes".to_owned(),
            (false, true) => "fails".to_owned(),
        };
        checks.retain(|(key, _)| *key != run.key);
        checks.push((run.key.clone(), format!("`{}`: {outcome}", run.command)));
    }
    checks.into_iter().map(|(_, told)| told).take(LINES_MAX).collect()
}
