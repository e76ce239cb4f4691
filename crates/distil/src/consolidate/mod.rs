//! Consolidation: the memories of a session as a pure function of its claims.
//!
//! [`consolidate`] groups claims into frames (`frames`): what belongs to one change becomes one frame with
//! its cause, fix and dead ends. Each frame becomes an observation (`compose`); what no observation tells
//! becomes a line of the session's account (`account`), and remaining work becomes open items (`open_items`).
//!
//! Invariant: the result depends on the claims alone. Running it again changes nothing, and the order in
//! which episodes arrive does not matter, because they are sorted by turn and time first.

mod abridged_titles;
mod account;
mod account_line;
mod commit_title;
mod compose;
mod decision;
mod decision_outcome;
mod done;
mod finding;
mod finding_title;
mod frame_builder;
mod frames;
mod later_work;
mod list_intro;
mod narrative;
mod open_items;
mod overtaken;
mod pitfall;
mod plan_reason;
mod points;
mod purpose;
mod split;
mod story;
mod title_echo;
mod title_form;
mod title_label;
mod title_score;
mod titles;
mod work_story;

use claude_mem_core::memory::SessionMemories;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::text::{content_words, shared};

/// Makes the observations, the account and the open items of a session from the claims of its episodes.
pub fn consolidate(episodes: &[EpisodeClaims]) -> SessionMemories {
    let mut turns = join_turns(episodes);
    keep_last_recap(&mut turns);
    withdraw_retracted(&mut turns);
    let ordered: Vec<&EpisodeClaims> = turns.iter().collect();
    let frames = overtaken::absorb_overtaken(split_frames(frame_builder::build_frames(&ordered)));
    let frames = pitfall::drop_mended(frames);
    let vocabulary = ordered.iter().rev().find_map(|episode| episode.vocabulary.as_deref().cloned());
    let observations = compose::compose_observations(&frames, &ordered, &vocabulary.unwrap_or_default());
    let open_items = open_items::open_items(&ordered);
    let account = account::write_account(&ordered, &frames, &observations, &open_items);
    let finished = finished_work(&ordered);
    let settled = open_items::settled_keys(&ordered);
    SessionMemories { observations, account, open_items, finished, settled }
}

/// Splits frames that tell more than one thing.
fn split_frames(frames: Vec<frames::ClaimFrame<'_>>) -> Vec<frames::ClaimFrame<'_>> {
    split::split_lessons(split::split_declined(split::split_causes(frames)))
}

/// What the session finished, in words that may close an open item: commits, tasks, reports, plans and requests that
/// were carried out, and what the user says is done.
fn finished_work(episodes: &[&EpisodeClaims]) -> Vec<String> {
    let done = |episode: &EpisodeClaims, claim: &Claim| match claim.kind {
        ClaimKind::Commit | ClaimKind::PullRequest | ClaimKind::Finished | ClaimKind::Done => true,
        ClaimKind::Plan => !episode.edited.is_empty(),
        _ => false,
    };
    let claims =
        episodes.iter().flat_map(|episode| episode.claims.iter().map(move |claim| (*episode, claim)));
    let claimed =
        claims.filter(|(episode, claim)| done(episode, claim)).map(|(_, claim)| claim.headline().to_owned());
    let reported = episodes.iter().flat_map(|episode| &episode.outcome.report).cloned();
    let requested = episodes
        .iter()
        .enumerate()
        .filter(|(index, _)| is_carried_out(&episodes[*index..]))
        .map(|(_, episode)| episode.outcome.asked.clone());
    let stated = episodes.iter().flat_map(|episode| &episode.outcome.stated_done).cloned();
    let mut finished: Vec<String> = Vec::new();
    for text in claimed.chain(reported).chain(requested).chain(stated) {
        // Filing a todo does not do it.
        if !open_items::files_work(&text) && !finished.contains(&text) {
            finished.push(text);
        }
    }
    finished
}

/// Whether the first of these turns did what it was asked: it changed the project and reported it, or the change was
/// committed. A question asks for no work.
fn is_carried_out(turns: &[&EpisodeClaims]) -> bool {
    let Some(turn) = turns.first() else {
        return false;
    };
    let asked = &turn.outcome.asked;
    let told = !turn.outcome.report.is_empty() || turns.iter().any(|later| later.outcome.committed);
    !turn.edited.is_empty() && told && !turn.outcome.unanswered && !asked.is_empty() && !asked.ends_with('?')
}

/// Words of the user's objection that a claim must share to be taken back with it.
const OBJECTION_WORDS_MIN: usize = 2;

/// Removes what the agent said in one turn and the next one refutes: as far as the user's objection speaks of
/// it, or all of it if the next turn edits the same files again.
fn withdraw_retracted(turns: &mut [EpisodeClaims]) {
    for next in 1..turns.len() {
        let (before, after) = turns.split_at_mut(next);
        let (Some(last), Some(next)) = (before.last_mut(), after.first()) else {
            continue;
        };
        if !next.takes_back && !next.objects {
            continue;
        }
        let objection = content_words(&next.request);
        let redone = next.edited.iter().any(|file| last.edited.contains(file));
        if redone {
            last.outcome.report.clear();
        }
        last.claims.retain(|claim| {
            let said = matches!(claim.source, TextSource::FinalMessage | TextSource::Recap);
            let states = matches!(
                claim.kind,
                ClaimKind::Fact
                    | ClaimKind::Cause
                    | ClaimKind::Decision
                    | ClaimKind::Caveat
                    | ClaimKind::Open
            );
            let spoken_of = shared(&content_words(&claim.text), &objection) >= OBJECTION_WORDS_MIN;
            let undone = redone && (states || claim.kind == ClaimKind::Done);
            !(said && ((states && spoken_of) || undone))
        });
    }
}

/// Keeps of the client's recaps only the last: it knows how the session ended.
fn keep_last_recap(turns: &mut [EpisodeClaims]) {
    let recaps = turns.iter().flat_map(|turn| &turn.claims).filter(|claim| claim.source == TextSource::Recap);
    let Some(last) = recaps.map(|claim| claim.at).max() else {
        return;
    };
    for turn in turns {
        turn.claims.retain(|claim| claim.source != TextSource::Recap || claim.at == last);
    }
}

/// The episodes in order, those of one turn joined: a long turn is cut into pieces, and lines that arrive late
/// make an episode of their own.
fn join_turns(episodes: &[EpisodeClaims]) -> Vec<EpisodeClaims> {
    let mut ordered: Vec<&EpisodeClaims> = episodes.iter().collect();
    ordered.sort_by_key(|episode| (episode.turn, episode.at));
    let mut turns: Vec<EpisodeClaims> = Vec::new();
    for episode in ordered {
        match turns.last_mut() {
            Some(turn) if turn.turn == episode.turn => turn.join(episode),
            _ => turns.push(episode.clone()),
        }
    }
    for turn in &mut turns {
        turn.claims.sort_by_key(|claim| claim.at);
        turn.runs.sort_by_key(|run| run.at);
    }
    turns
}
