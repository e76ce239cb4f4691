//! The summary of one finished turn: what was asked, learnt, done, and what is left.

use claude_mem_core::memory::{NewSummary, SummaryText};

use crate::carry::Carry;
use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::limits::OBSERVATION_FILES_MAX;
use crate::speech::SpokenText;
use crate::text::{clip, content_words, full_stop, overlap};

/// Maximum characters of each field of a summary.
pub(crate) const SUMMARY_FIELD_CHARS_MAX: usize = 700;
/// Sentences of each field.
const SENTENCES_MAX: usize = 4;
const SENTENCE_WORTH_MIN: f32 = 0.45;

/// The summary of a turn, or none where nothing happened: "ok", "thanks".
pub(crate) fn summarize_turn(turn: &EpisodeClaims, said: &SpokenText, carry: &Carry) -> Option<NewSummary> {
    let request = if said.is_bare() { carry.request.clone() } else { turn.request.clone() };
    let titles =
        turn.claims.iter().filter(|claim| matches!(claim.kind, ClaimKind::Commit | ClaimKind::PullRequest));
    let done: Vec<String> = titles
        .map(|claim| claim.title.clone())
        .chain(best(turn, &[ClaimKind::Done], SENTENCES_MAX))
        .collect();
    let learned = best(
        turn,
        &[ClaimKind::Cause, ClaimKind::Fact, ClaimKind::Decision, ClaimKind::DeadEnd, ClaimKind::Remedy],
        SENTENCES_MAX,
    );
    let open =
        turn.claims.iter().filter(|claim| claim.kind == ClaimKind::Open).map(|claim| claim.text.clone());
    let mut summary = NewSummary {
        text: SummaryText {
            request: clip(&request, SUMMARY_FIELD_CHARS_MAX),
            investigated: String::new(),
            learned: field(learned),
            completed: field(done),
            next_steps: field(open.take(8).collect()),
            notes: field(best(turn, &[ClaimKind::Caveat], 2)),
            files_read: turn.read.iter().take(OBSERVATION_FILES_MAX).cloned().collect(),
            files_edited: turn.edited.iter().take(OBSERVATION_FILES_MAX).cloned().collect(),
        },
        created_at: turn.at,
        discovery_tokens: 0,
    };
    summary.text.files_read.retain(|path| !summary.text.files_edited.contains(path));
    let told =
        [&summary.text.learned, &summary.text.completed, &summary.text.next_steps, &summary.text.notes];
    let nothing = told.iter().all(|field| field.is_empty()) && summary.text.files_edited.is_empty();
    let settled = turn.claims.iter().any(|claim| claim.kind == ClaimKind::Settled);
    (!nothing || settled).then_some(summary)
}

/// The worthiest sentences of these kinds, in the order they were said.
fn best(turn: &EpisodeClaims, kinds: &[ClaimKind], most: usize) -> Vec<String> {
    let fits = |claim: &&Claim| {
        kinds.contains(&claim.kind) && (claim.worth >= SENTENCE_WORTH_MIN || claim.kind == ClaimKind::Done)
    };
    let mut ranked: Vec<&Claim> = turn.claims.iter().filter(fits).collect();
    ranked.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    ranked.truncate(most);
    ranked.sort_by_key(|claim| (claim.at, claim.group));
    ranked.into_iter().map(|claim| claim.text.clone()).collect()
}

fn field(sentences: Vec<String>) -> String {
    let mut kept: Vec<String> = Vec::new();
    for sentence in sentences {
        let words = content_words(&sentence);
        if !kept.iter().any(|known| overlap(&content_words(known), &words) >= 0.8) {
            kept.push(full_stop(&sentence));
        }
    }
    clip(&kept.join(" "), SUMMARY_FIELD_CHARS_MAX)
}
