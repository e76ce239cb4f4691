//! The account of a session: what it was for, done, learnt, decided, checked and left open.

use std::collections::BTreeSet;

use claude_mem_core::memory::{AccountText, ConsolidatedObservation, NewOpenItem, SessionAccount};
use claude_mem_core::source::TextSource;

use crate::answers::told_answer;
use crate::claim::{Claim, ClaimKind, EpisodeClaims, RunClaim};
use crate::commands;
use crate::gates;
use crate::text::{capitalised, content_words, lower_first, overlap, shared};
use crate::turn_outcome::is_prose_file;
use crate::user_acts;
use crate::verbs::has_verb;

use super::account_line::{self, LINE_CHARS_MAX, whole_line};
use super::done::done_lines;
use super::frames::{ClaimFrame, FrameKind};
use super::open_items::ended;
use super::purpose::purpose;
use super::title_label;

/// Lines of the lists of an account.
const LEARNED_MAX: usize = 6;
const DECIDED_MAX: usize = 16;
/// Characters of a decision: an answer that the user typed stays whole.
const DECIDED_CHARS_MAX: usize = 600;
const CHECKED_MAX: usize = 6;
/// A sentence of an account must be this likely to be worth remembering.
const LINE_WORTH_MIN: f32 = 0.5;
/// The same for a sentence in the middle of a turn, which is often corrected at its end.
const INTURN_WORTH_MIN: f32 = 0.6;
/// Lines that one frame gives to what was learnt.
const FRAME_LINES_MAX: usize = 3;
/// Two lines that share this much say the same.
const SAME_LINE: f32 = 0.7;
/// A line of another list repeats a line of at least this many words.
const REPEATED_WORDS_MIN: usize = 5;
const FILES_MAX: usize = 40;

/// Writes the account of the episodes, which are in order. `None` if nothing happened.
pub(super) fn write_account(
    episodes: &[&EpisodeClaims],
    frames: &[ClaimFrame<'_>],
    observations: &[ConsolidatedObservation],
    open_items: &[NewOpenItem],
) -> Option<SessionAccount> {
    let claims: Vec<&Claim> = episodes.iter().flat_map(|episode| &episode.claims).collect();
    let mut account = SessionAccount {
        text: AccountText {
            purpose: purpose(episodes, &claims, observations),
            open: open_items.iter().filter(|item| !item.closed).map(|item| item.text.clone()).collect(),
            checked: checks_after_last_edit(episodes),
            ..AccountText::default()
        },
        at: episodes.iter().map(|episode| episode.at).max().unwrap_or_default(),
    };
    account.text.done = done_lines(episodes, frames, &ended(episodes), &account.text.purpose);
    account.text.decided = decided(&claims);
    let told: Vec<String> = account.text.done.iter().chain(&account.text.decided).cloned().collect();
    account.text.learned = lines(
        learned(frames).chain(stated_facts(&claims, &account.text.purpose)),
        LEARNED_MAX,
        LINE_CHARS_MAX,
        &told,
    );
    for file in episodes.iter().flat_map(|episode| &episode.edited) {
        if account.text.files_edited.len() < FILES_MAX && !account.text.files_edited.contains(file) {
            account.text.files_edited.push(file.clone());
        }
    }
    let empty = account.text.done.is_empty()
        && account.text.learned.is_empty()
        && account.text.decided.is_empty()
        && account.text.open.is_empty()
        && account.text.files_edited.is_empty();
    (!empty).then_some(account)
}

/// What was decided: the user's answers and choices, rules that last, what a conversation settled, and what the agent
/// says was decided.
fn decided(claims: &[&Claim]) -> Vec<String> {
    let said = claims.iter().filter_map(|claim| {
        let text = match claim.kind {
            ClaimKind::Choice if !claim.title.is_empty() => told_answer(claim)?,
            ClaimKind::Choice if user_acts::is_choice(&claim.text) => claim.text.clone(),
            ClaimKind::Rule if user_acts::is_standing_rule(&claim.text) => claim.headline().to_owned(),
            ClaimKind::Settled => claim.headline().to_owned(),
            // What a plan meant to do is not what was decided in the end.
            ClaimKind::Decision if claim.source != TextSource::Plan && is_decision(claim) => {
                claim.text.clone()
            }
            _ => return None,
        };
        (!text.ends_with('?')).then_some((claim.worth, text))
    });
    lines(said, DECIDED_MAX, DECIDED_CHARS_MAX, &[])
}

/// Whether a sentence of the agent says that something was decided, rather than what was done or why.
fn is_decision(claim: &Claim) -> bool {
    let lower = claim.text.to_lowercase();
    let says = ["decided ", "we chose ", "agreed ", "deliberately ", "by design", "on purpose"];
    claim.worth >= LINE_WORTH_MIN
        && says.iter().any(|phrase| lower.contains(phrase))
        && account_line::stands_alone(&claim.text)
        && !gates::is_offer(&claim.text)
        && !title_label::is_labelled(&claim.text)
}

/// What the user stated about the system, in the user's words.
fn stated_facts<'c>(claims: &'c [&Claim], purpose: &str) -> impl Iterator<Item = (f32, String)> + 'c {
    let asked = content_words(purpose);
    let facts =
        claims.iter().filter(|claim| claim.kind == ClaimKind::UserFact && claim.worth >= LINE_WORTH_MIN);
    facts
        .filter(move |claim| overlap(&content_words(&claim.text), &asked) < SAME_LINE)
        .map(|claim| (claim.worth, format!("The user: “{}”", claim.text)))
}

/// What was found out and still holds: causes and caveats of changes, the best of each finding, and remedies.
/// What a change consists of is told as done.
fn learned<'c>(frames: &'c [ClaimFrame<'_>]) -> impl Iterator<Item = (f32, String)> + 'c {
    frames.iter().flat_map(|frame| {
        let told = |claim: &&&Claim| match frame.kind {
            FrameKind::Work => {
                let explains =
                    matches!(claim.kind, ClaimKind::Cause | ClaimKind::DeadEnd | ClaimKind::Caveat);
                let reasoned = claim.kind == ClaimKind::Fact && claim.text.contains(" because ");
                claim.source != TextSource::Plan && (explains || reasoned)
            }
            FrameKind::Finding | FrameKind::MemoryFile => true,
            FrameKind::Decision | FrameKind::Remedy | FrameKind::Declined => false,
        };
        let stands = |claim: &&&Claim| {
            claim.worth >= LINE_WORTH_MIN
                && account_line::stands_alone(&without_label(&claim.text))
                && (frame.kind == FrameKind::MemoryFile
                    || !account_line::tells_work(&without_label(&claim.text)))
                && (claim.source != TextSource::Message || claim.worth >= INTURN_WORTH_MIN)
                && has_verb(&claim.text)
                && !gates::is_passing_trouble(&claim.text)
                && !title_label::is_labelled(&claim.text)
                && (frame.kind == FrameKind::MemoryFile || !gates::is_offer(&claim.text))
        };
        let mut details: Vec<(usize, &Claim)> =
            frame.details.iter().filter(told).filter(stands).copied().enumerate().collect();
        details.sort_by(|a, b| b.1.worth.total_cmp(&a.1.worth));
        details.truncate(FRAME_LINES_MAX);
        details.sort_by_key(|(place, claim)| (claim.at, *place));
        let remedies = frame
            .leads
            .iter()
            .filter(|lead| matches!(lead.kind, ClaimKind::Remedy | ClaimKind::Pitfall))
            .copied();
        details
            .into_iter()
            .map(|(_, claim)| claim)
            .chain(remedies)
            .map(|claim| {
                let line = without_label(claim.headline());
                (claim.worth, if frame.is_idea() { format!("An idea: {}", lower_first(&line)) } else { line })
            })
            .collect::<Vec<_>>()
    })
}

/// A sentence without the label that leads to its statement: "The issue is that keys expire" → "Keys expire".
fn without_label(text: &str) -> String {
    let lower = text.to_lowercase();
    let label = LABELS.iter().find(|label| lower.starts_with(**label)).map_or(0, |label| label.len());
    let text = text.get(label..).unwrap_or(text).trim_start();
    // "Desktop client — the reader decrypts whole files": the statement says what it is about itself.
    let stated = text.split_once(" — ").filter(|(head, rest)| {
        let named = head.split_whitespace().count() <= 5 && !has_verb(head) && !head.contains('`');
        named && has_verb(rest) && gates::stands_alone(rest)
    });
    capitalised(stated.map_or(text, |(_, rest)| rest))
}

#[rustfmt::skip]
const LABELS: &[&str] = &[
    "the issue is that ", "the problem is that ", "the issue was that ", "the problem was that ", "the answer is: because ",
    "the answer is: ", "the answer is that ", "it turns out that ", "turns out that ", "turns out ", "the issue is clear from the docs: ",
    "problem: ", "reason: ", "note: ", "key insight: ", "key finding: ", "important: ", "the root cause is that ",
    "the root cause was that ", "the root cause is clear: ", "the deeper issue is that ", "bonus: ", "one heads-up: ", "the issue is ",
    "the real issue is ", "the problem is ", "the real problem is ", "root cause: ", "the root cause: ", "cause: ", "takeaway: ",
];

/// The worthiest different lines that no line of `told` says already, in the order they were said.
fn lines(
    candidates: impl Iterator<Item = (f32, String)>,
    lines_max: usize,
    chars_max: usize,
    told: &[String],
) -> Vec<String> {
    let told: Vec<BTreeSet<String>> = told.iter().map(|line| content_words(line)).collect();
    let mut distinct: Vec<(usize, f32, String, BTreeSet<String>)> = Vec::new();
    for (order, (worth, text)) in candidates.enumerate() {
        let Some(line) = whole_line(&text, chars_max) else {
            continue;
        };
        let words = content_words(&line);
        // A few common words prove no repetition.
        let held = |known: &BTreeSet<String>| {
            words.len() >= REPEATED_WORDS_MIN
                && shared(known, &words) as f32 >= SAME_LINE * words.len() as f32
        };
        let repeated = distinct.iter().any(|(_, _, _, known)| overlap(known, &words) >= SAME_LINE);
        if !repeated && !told.iter().any(held) {
            distinct.push((order, worth, line, words));
        }
    }
    distinct.sort_by(|a, b| b.1.total_cmp(&a.1));
    distinct.truncate(lines_max);
    distinct.sort_by_key(|line| line.0);
    distinct.into_iter().map(|(_, _, text, _)| text).collect()
}

/// The checks that ran after the last edit of code, each once with its last outcome.
fn checks_after_last_edit(episodes: &[&EpisodeClaims]) -> Vec<String> {
    let edits_code = |episode: &&EpisodeClaims| episode.edited.iter().any(|file| !is_prose_file(file));
    let last_edit = episodes.iter().rposition(edits_code).unwrap_or(0);
    let mut checks: Vec<&RunClaim> = Vec::new();
    let runs = episodes.iter().skip(last_edit).flat_map(|episode| &episode.runs);
    for run in runs.filter(|run| !run.stale) {
        if commands::is_fixer(&run.command) {
            // What it mended is not known before the check runs again.
            checks.retain(|known| known.passed || !run.passed);
            continue;
        }
        let known = checks.iter().position(|known| is_same_check(known, run));
        match known {
            // The hook ran the same script by its inner command: the name that the project uses stays.
            Some(known) if run.by_hook && checks[known].passed && !checks[known].result.is_empty() => {}
            Some(known) if run.by_hook && checks[known].passed && run.result.is_empty() => {}
            Some(known) => {
                checks.remove(known);
                checks.push(run);
            }
            None => checks.push(run),
        }
    }
    checks.into_iter().take(CHECKED_MAX).map(told_check).collect()
}

fn is_same_check(one: &RunClaim, other: &RunClaim) -> bool {
    let tests = |run: &RunClaim| {
        run.key.split_whitespace().nth(1).is_some_and(|word| word == "test" || word == "run")
            && run.key.contains("test")
    };
    let program = |run: &RunClaim| run.key.split_whitespace().next().map(str::to_owned);
    // The hook runs the tests of the project under another name: `bun run test` and `bun test src/`.
    let by_hook = one.by_hook != other.by_hook
        && ((!one.result.is_empty() && one.result == other.result)
            || (tests(one) && tests(other) && program(one) == program(other)));
    one.key == other.key || one.covers.contains(&other.key) || other.covers.contains(&one.key) || by_hook
}

fn told_check(run: &RunClaim) -> String {
    let outcome = match (run.passed, run.result.is_empty()) {
        (_, false) => run.result.clone(),
        (true, true) => "passes".to_owned(),
        (false, true) => "fails".to_owned(),
    };
    let place = if run.by_hook { " (commit hook)" } else { "" };
    format!("`{}`{place}: {outcome}", run.command)
}
