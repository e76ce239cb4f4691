//! The account of a session: what it was for, done, learnt, decided, checked and left open.

use std::collections::BTreeSet;

use claude_mem_core::memory::{AccountText, ConsolidatedObservation, NewOpenItem, SessionAccount};
use claude_mem_core::source::TextSource;

use crate::agent_claims::names_cause;
use crate::carry::are_alike;
use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::commands;
use crate::cues::Language;
use crate::gates;
use crate::sentences;
use crate::text::without_openers;
use crate::text::{capitalised, clip, content_words, full_stop, overlap};

use super::frames::{ClaimFrame, FrameKind};
use super::overtaken::says_problem;
use super::titles;

/// Lines of the lists of an account.
const DONE_MAX: usize = 6;
const LEARNED_MAX: usize = 6;
const DECIDED_MAX: usize = 8;
const CHECKED_MAX: usize = 5;
const LINE_CHARS_MAX: usize = 300;
/// A sentence of an account must be this likely to be worth remembering.
const LINE_WORTH_MIN: f32 = 0.5;
/// Lines that one frame gives to what was learnt.
const FRAME_LINES_MAX: usize = 3;
/// A session of at most this many changes tells more of each than its title.
const EXPLAINED_CHANGES_MAX: usize = 3;
const GIST_CHARS_MAX: usize = 220;
const FILES_MAX: usize = 40;
const PURPOSE_CHARS_MAX: usize = 200;
/// A request of fewer words that mean something does not say what a session is for.
const PURPOSE_WORDS_MIN: usize = 3;

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
    let work = frames.iter().filter(|frame| frame.kind == FrameKind::Work);
    let titles: Vec<(String, bool)> =
        work.filter_map(|frame| Some((titles::done_title(frame)?, frame.is_committed()))).collect();
    // The steps of a list are part of the changes, if those have titles.
    let tasks = claims.iter().filter(|claim| claim.kind == ClaimKind::Finished && titles.is_empty());
    let explained = titles.len() <= EXPLAINED_CHANGES_MAX;
    let told = |(title, committed): &(String, bool)| match gist(title, observations) {
        // A session of nothing but a commit: its observation says the rest.
        _ if *committed && *title == account.text.purpose => title.clone(),
        Some(gist) if explained && !committed && is_purpose(title, &account.text.purpose, &gist) => gist,
        Some(gist) if explained => format!("{} {gist}", full_stop(title)),
        _ => title.clone(),
    };
    let told: Vec<String> = titles.iter().map(told).collect();
    account.text.done = lines(
        told.into_iter()
            .map(|line| (1.0, line))
            .chain(worthy_sentences(&claims, &[ClaimKind::Done]).filter(|_| titles.is_empty()))
            .chain(tasks.map(|claim| (LINE_WORTH_MIN, claim.text.clone()))),
        DONE_MAX,
    );
    let purpose = full_stop(&account.text.purpose);
    let is_committed = titles.iter().any(|(title, committed)| *committed && *title == account.text.purpose);
    if account.text.done.len() > 1 && !is_committed {
        account.text.done.retain(|line| *line != purpose);
    }
    account.text.learned = lines(learned(frames), LEARNED_MAX);
    let user = claims.iter().filter(|claim| {
        matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact | ClaimKind::Settled)
    });
    // What a plan meant to do is not what was decided in the end.
    let said: Vec<&Claim> = claims.iter().copied().filter(|claim| claim.source != TextSource::Plan).collect();
    let is_settled = |(_, text): &(f32, String)| !text.ends_with('?') && !gates::is_offer(text);
    account.text.decided = lines(
        user.filter(|claim| !is_long_answer(claim))
            .map(|claim| (1.0, claim.headline().to_owned()))
            .chain(worthy_sentences(&said, &[ClaimKind::Decision]).filter(is_settled)),
        DECIDED_MAX,
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

/// An answer typed at such length that its title had to be cut: it discusses rather than decides.
fn is_long_answer(claim: &Claim) -> bool {
    claim.source == TextSource::Answer && claim.title.ends_with('…')
}

/// What the session was for: the plan's title, else the first request that says it, else the first commit.
fn purpose(
    episodes: &[&EpisodeClaims],
    claims: &[&Claim],
    observations: &[ConsolidatedObservation],
) -> String {
    let plan = claims.iter().find(|claim| claim.kind == ClaimKind::Plan && claim.source == TextSource::Plan);
    let first = episodes.first().map(|episode| episode.turn);
    if let Some(plan) = plan
        && episodes
            .iter()
            .any(|episode| Some(episode.turn) == first && episode.claims.iter().any(|c| c.key == plan.key))
    {
        return clip(&plan.title, LINE_CHARS_MAX);
    }
    let requests = || episodes.iter().map(|episode| episode.request.as_str());
    let asked = requests().find(|request| says_purpose(request)).map(str::to_owned);
    // A session of nothing but "resume" and "commit" was for what it committed, changed or found out.
    let committed =
        || claims.iter().find(|claim| claim.kind == ClaimKind::Commit).map(|claim| claim.title.clone());
    let made = || observations.first().map(|made| made.observation.text.title.clone());
    let any = || requests().find(|request| !request.is_empty()).map(str::to_owned);
    let plain = || any().filter(|request| !is_remark(request) && content_words(request).len() > 1);
    let purpose = asked.or_else(committed).or_else(plain).or_else(made).or_else(any).unwrap_or_default();
    let purpose = capitalised(&without_openers(without_command(&purpose)));
    let whole = sentences::join_fitting(sentences::split(&purpose).into_iter(), PURPOSE_CHARS_MAX);
    if whole.is_empty() { clip(&purpose, PURPOSE_CHARS_MAX) } else { whole }
}

/// First words of requests that only steer the conversation or the branch.
#[rustfmt::skip]
const STEERING: &[&str] = &[
    "switch", "checkout", "resume", "continue", "proceed", "commit", "push", "pull", "merge", "rebase", "go", "get",
    "yes", "no", "start", "do", "retry", "try", "run", "rerun", "again", "done", "clear", "compact", "stop",
];

/// Whether a request says what the session is for.
fn says_purpose(request: &str) -> bool {
    let request = without_openers(without_command(request));
    let first = gates::first_word(&request);
    content_words(&request).len() >= PURPOSE_WORDS_MIN
        && !STEERING.contains(&first.as_str())
        && !is_remark(&request)
}

/// Whether a request picks an option or remarks on what is there.
fn is_remark(request: &str) -> bool {
    let first = gates::first_word(request);
    first.chars().all(|c| c.is_ascii_digit()) || REMARKS.contains(&first.as_str())
}

/// First words of remarks on what is there already; what they are for only the work tells.
#[rustfmt::skip]
const REMARKS: &[&str] = &[
    "that", "that's", "thats", "there's", "theres", "these", "those", "some", "it", "its", "it's", "still", "looks", "seems",
    "thanks", "great", "nice", "good", "hmm", "wait", "sorry", "same", "they", "now", "while", "all",
];

/// The words after a slash command.
fn without_command(request: &str) -> &str {
    match request.trim().strip_prefix('/').and_then(|rest| rest.split_once(' ')) {
        // "/review the last release": without a verb of its own, the command is part of the sentence.
        Some((command, rest)) if !command.contains('/') && gates::has_verb(rest) => rest.trim(),
        _ => request.trim(),
    }
}

/// The first sentence that the observation with this title tells, unless it is the reason.
fn gist(title: &str, observations: &[ConsolidatedObservation]) -> Option<String> {
    let observation =
        observations.iter().map(|made| &made.observation).find(|made| made.text.title == title)?;
    let first = sentences::split(&observation.text.narrative).first().map(|s| (*s).to_owned())?;
    let reason = ["Why: ", "Cause: ", "The user: "].iter().any(|label| first.starts_with(label));
    (!reason && first.chars().count() <= GIST_CHARS_MAX).then_some(first)
}

/// Whether a title only repeats what the session was for, and the sentence below it says what was done.
fn is_purpose(title: &str, purpose: &str, gist: &str) -> bool {
    are_alike(title, purpose) && !names_cause(gist, Language::detect(gist)) && !says_problem(gist)
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
            FrameKind::Decision | FrameKind::Remedy => false,
        };
        let stands = |claim: &&&Claim| {
            claim.worth >= LINE_WORTH_MIN
                && !gates::refers_back(&claim.text)
                && !gates::is_passing_trouble(&claim.text)
                && !gates::speaks_to_reader(&claim.text)
                && !titles::is_labelled(&claim.text)
                && (frame.kind == FrameKind::MemoryFile || !gates::is_offer(&claim.text))
        };
        let mut details: Vec<&Claim> = frame.details.iter().filter(told).filter(stands).copied().collect();
        details.sort_by(|a, b| b.worth.total_cmp(&a.worth));
        details.truncate(FRAME_LINES_MAX);
        details.sort_by_key(|claim| claim.at);
        let remedies = frame.leads.iter().filter(|lead| lead.kind == ClaimKind::Remedy).copied();
        details
            .into_iter()
            .chain(remedies)
            .map(|claim| (claim.worth, claim.headline().to_owned()))
            .collect::<Vec<_>>()
    })
}

fn worthy_sentences<'c>(
    claims: &'c [&Claim],
    kinds: &'c [ClaimKind],
) -> impl Iterator<Item = (f32, String)> + 'c {
    claims
        .iter()
        .filter(|claim| kinds.contains(&claim.kind) && claim.worth >= LINE_WORTH_MIN)
        .map(|claim| (claim.worth, claim.text.clone()))
}

/// The worthiest different lines, in the order they were said.
fn lines(candidates: impl Iterator<Item = (f32, String)>, lines_max: usize) -> Vec<String> {
    let mut distinct: Vec<(usize, f32, String, BTreeSet<String>)> = Vec::new();
    for (order, (worth, text)) in candidates.enumerate() {
        let words = content_words(&text);
        if !distinct.iter().any(|(_, _, _, known)| overlap(known, &words) >= 0.8) {
            distinct.push((order, worth, text, words));
        }
    }
    distinct.sort_by(|a, b| b.1.total_cmp(&a.1));
    distinct.truncate(lines_max);
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
        if run.stale || commands::is_fixer(&run.command) {
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
    checks.into_iter().map(|(_, told)| told).take(CHECKED_MAX).collect()
}
