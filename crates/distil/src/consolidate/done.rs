//! What a session did, change by change: its commits with their reasons, then the work that was not committed.

use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;

use crate::carry::are_alike;
use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::gates;
use crate::line_numbers::without_line_numbers;
use crate::past_tense::{BodyTense, title_as_done};
use crate::report::opens_with_work;
use crate::sentences::{TextBlock, TextDocument};
use crate::text::{capitalised, clip, content_words, full_stop, one_line, overlap, shared};
use crate::turn_outcome::TurnOutcome;

use super::account_line::{is_step, stands_alone, whole_line};
use super::frames::{ClaimFrame, FrameKind};
use super::titles;

/// Changes of one session, and the characters of all of them.
const CHANGES_MAX: usize = 9;
const DONE_CHARS: usize = 1_100;
/// Characters of one change.
const CHANGE_CHARS_MAX: usize = 480;
const TITLE_CHARS_MAX: usize = 240;
/// A commit with a body of this many characters tells its work.
const BODY_CHARS_MIN: usize = 60;
/// The share of a report's words that a commit must have to tell the same.
const TOLD_SHARE: f32 = 0.6;
/// The share of a title's words in the purpose that makes it a repetition.
const REPEATED_SHARE: f32 = 0.8;
/// Files that are named as not committed.
const FILES_NAMED_MAX: usize = 5;
const FILE_CHARS_MAX: usize = 80;

/// One change: its title and the statements that explain it.
struct DoneChange {
    title: String,
    /// The statements of a list are parted by semicolons.
    statements: Vec<DoneStatement>,
    at: Millis,
    committed: bool,
}

struct DoneStatement {
    text: String,
    listed: bool,
}

/// The lines of what was done. `purpose` is what the session was for; it is not repeated.
pub(super) fn done_lines(
    episodes: &[&EpisodeClaims],
    frames: &[ClaimFrame<'_>],
    ended: &TurnOutcome,
    purpose: &str,
) -> Vec<String> {
    let mut changes = commits(episodes);
    let rest = uncommitted(episodes, frames, &mut changes);
    changes.extend(rest);
    if changes.is_empty() && episodes.iter().all(|episode| episode.edited.is_empty()) {
        changes.extend(reported(episodes));
    }
    if changes.len() > 1 {
        changes.retain(|change| !change.only_repeats(purpose));
    }
    changes.sort_by_key(|change| change.at);
    let excess = changes.len().saturating_sub(CHANGES_MAX);
    changes.drain(..excess);
    let room = (DONE_CHARS / changes.len().max(1)).min(CHANGE_CHARS_MAX);
    let mut lines: Vec<String> = Vec::new();
    let mut told: Vec<BTreeSet<String>> = Vec::new();
    for change in &changes {
        let Some(line) = change.told(purpose, room) else {
            continue;
        };
        let words = content_words(&line);
        if change.committed || !told.iter().any(|known| overlap(known, &words) >= REPEATED_SHARE) {
            told.push(words);
            lines.push(line);
        }
    }
    lines.extend(not_committed(ended));
    lines
}

/// The commits of the session, and the pull requests that no commit tells.
fn commits(episodes: &[&EpisodeClaims]) -> Vec<DoneChange> {
    let mut changes: Vec<DoneChange> = Vec::new();
    for claim in episodes.iter().flat_map(|episode| &episode.claims) {
        match claim.kind {
            // The amended commit is gone.
            ClaimKind::Commit if claim.amends && changes.iter().any(|known| known.committed) => {
                let last = changes.iter().rposition(|known| known.committed).unwrap_or_default();
                changes[last] = committed(claim);
            }
            ClaimKind::Commit if !changes.iter().any(|known| is_same_commit(&known.title, &claim.title)) => {
                changes.push(committed(claim));
            }
            ClaimKind::PullRequest => {
                let words = content_words(&format!("{} {}", claim.title, claim.text));
                let about = |known: &&mut DoneChange| overlap(&content_words(&known.title), &words) >= 0.4;
                let number = claim.title.rfind(" (PR #").map(|at| &claim.title[at..]);
                match (changes.iter_mut().rev().find(about), number) {
                    (Some(known), Some(number)) => known.title.push_str(number),
                    (Some(_), None) => {}
                    (None, _) => changes.push(committed(claim)),
                }
            }
            _ => {}
        }
    }
    changes
}

/// Whether two subjects are of one commit that was tried twice. The same change in two scopes is two commits.
fn is_same_commit(one: &str, other: &str) -> bool {
    let scope = |title: &str| title.rfind(" (").map_or(String::new(), |at| title[at..].to_owned());
    are_alike(one, other) && scope(one) == scope(other)
}

fn committed(claim: &Claim) -> DoneChange {
    DoneChange { title: claim.title.clone(), statements: body(claim), at: claim.at, committed: true }
}

/// The statements of a commit's body, those that say how it is now before those that say how it was.
fn body(commit: &Claim) -> Vec<DoneStatement> {
    let document = TextDocument::read(&commit.text);
    let tense = BodyTense::read(&commit.title, &document.sentences);
    let mut statements: Vec<DoneStatement> = Vec::new();
    let mut first_of = 0;
    for sentence in &document.sentences {
        if matches!(sentence.block, TextBlock::Heading | TextBlock::Row | TextBlock::Quote)
            || sentence.text.ends_with([':', '：'])
            || content_words(&sentence.text).len() < 3
        {
            continue;
        }
        let listed = sentence.block == TextBlock::Item && sentence.paragraph != first_of;
        first_of = sentence.paragraph;
        statements.push(DoneStatement { text: tense.told(sentence), listed });
    }
    statements
}

/// The work that no commit tells, turn by turn, in the words of the agent's report. The report of work that a commit
/// without a body holds explains that commit.
fn uncommitted(
    episodes: &[&EpisodeClaims],
    frames: &[ClaimFrame<'_>],
    commits: &mut [DoneChange],
) -> Vec<DoneChange> {
    let known: BTreeSet<String> = commits.iter().flat_map(DoneChange::words).collect();
    let is_new = |text: &str| {
        let words = content_words(text);
        (shared(&words, &known) as f32) < TOLD_SHARE * words.len() as f32
    };
    let mut changes = Vec::new();
    for (index, episode) in episodes.iter().enumerate() {
        let is_edit = !episode.edited.is_empty();
        if !is_edit && !episode.reports_operation() {
            continue;
        }
        // A commit holds no operation on a machine.
        let is_commit = |claim: &&Claim| is_edit && claim.kind == ClaimKind::Commit;
        let next = episodes[index..].iter().find_map(|later| later.claims.iter().find(is_commit));
        let explained = next.is_some_and(|commit| commit.text.chars().count() >= BODY_CHARS_MIN);
        let report: Vec<DoneStatement> = episode
            .outcome
            .report
            .iter()
            .filter(|text| !explained && is_new(text))
            .map(|text| DoneStatement { text: text.clone(), listed: false })
            .collect();
        let work = frames.iter().find(|frame| {
            frame.kind == FrameKind::Work && !frame.is_committed() && frame.turn == episode.turn
        });
        let report = match work {
            Some(work) if report.is_empty() && !explained => told_by_claims(work),
            _ => report,
        };
        if let Some(commit) = next.and_then(|next| commits.iter_mut().find(|known| known.at == next.at))
            && commit.statements.is_empty()
        {
            commit.statements = report;
            continue;
        }
        let title = work.and_then(titles::done_title).filter(|title| is_new(title));
        let title = title.map(|title| without_line_numbers(&title)).unwrap_or_default();
        if !title.is_empty() || !report.is_empty() {
            changes.push(DoneChange { title, statements: report, at: episode.at, committed: false });
        }
    }
    changes
}

/// Sentences of a turn's report that tell a change whose items the report does not list.
const CLAIMS_TOLD_MAX: usize = 2;
/// In a message of so few claims, plain statements say what was done.
const SHORT_CLAIMS_MAX: usize = 3;

fn told_by_claims(frame: &ClaimFrame<'_>) -> Vec<DoneStatement> {
    let said: Vec<&Claim> =
        frame.details.iter().copied().filter(|claim| claim.source == TextSource::FinalMessage).collect();
    let tells = |claim: &&&Claim| match claim.kind {
        ClaimKind::Done | ClaimKind::Cause => true,
        ClaimKind::Fact => said.len() <= SHORT_CLAIMS_MAX,
        _ => false,
    };
    let stands = |claim: &&&Claim| {
        stands_alone(&claim.text) && !gates::is_dangling(&claim.text) && !is_step(&claim.text)
    };
    let told = said.iter().filter(tells).filter(stands).take(CLAIMS_TOLD_MAX);
    told.map(|claim| DoneStatement { text: claim.text.clone(), listed: false }).collect()
}

/// Without a commit or an edit: what the reports and the finished tasks say was done.
fn reported(episodes: &[&EpisodeClaims]) -> Vec<DoneChange> {
    let mut changes = Vec::new();
    // What a conversation settled is told as decided.
    let talks = |claim: &Claim| claim.kind == ClaimKind::Settled;
    if episodes.iter().flat_map(|episode| &episode.claims).any(talks) {
        return changes;
    }
    for episode in episodes {
        let finished = episode.claims.iter().filter(|claim| {
            let done = claim.kind == ClaimKind::Done
                && claim.source == TextSource::FinalMessage
                && claim.worth >= 0.5;
            claim.kind == ClaimKind::Finished || done
        });
        let reported = episode.outcome.report.iter().filter(|item| opens_with_work(item)).cloned();
        let mut texts: Vec<String> = reported.collect();
        if texts.is_empty() {
            texts.extend(finished.map(|claim| claim.text.clone()));
        }
        if !texts.is_empty() {
            let statements = texts.into_iter().map(|text| DoneStatement { text, listed: false }).collect();
            changes.push(DoneChange { title: String::new(), statements, at: episode.at, committed: false });
        }
    }
    changes
}

/// The files that the session changed and did not commit.
fn not_committed(ended: &TurnOutcome) -> Option<String> {
    let mut names: Vec<&str> = Vec::new();
    for path in &ended.uncommitted {
        let name = path.rsplit('/').next().unwrap_or(path);
        // Two files of one name are told by their paths.
        let same = ended.uncommitted.iter().filter(|other| other.rsplit('/').next() == Some(name)).count();
        names.push(if same > 1 { path.as_str() } else { name });
    }
    let more = names.len().saturating_sub(FILES_NAMED_MAX);
    let named = names.iter().take(FILES_NAMED_MAX);
    let named: Vec<String> =
        named.map(|name| format!("`{}`", clip(&one_line(name), FILE_CHARS_MAX))).collect();
    let rest = match more {
        0 => String::new(),
        1 => " and 1 more file".to_owned(),
        more => format!(" and {more} more files"),
    };
    (!named.is_empty()).then(|| format!("Not committed in the session: {}{rest}.", named.join(", ")))
}

impl DoneChange {
    fn words(&self) -> BTreeSet<String> {
        let texts = self.statements.iter().map(|statement| statement.text.as_str());
        std::iter::once(self.title.as_str()).chain(texts).flat_map(content_words).collect()
    }

    /// A title that says what the session was for, and nothing else.
    fn only_repeats(&self, purpose: &str) -> bool {
        let repeats = overlap(&content_words(&self.title), &content_words(purpose)) >= REPEATED_SHARE;
        repeats && !self.committed && self.statements.is_empty()
    }

    /// The change as one line: its title and as many of its statements as fit. A title that only repeats the
    /// purpose is left out if something else is told.
    fn told(&self, purpose: &str, room: usize) -> Option<String> {
        let title = content_words(&self.title);
        let in_statement =
            |statement: &DoneStatement| overlap(&title, &content_words(&statement.text)) >= REPEATED_SHARE;
        let repeats = overlap(&title, &content_words(purpose)) >= REPEATED_SHARE
            || self.statements.iter().any(in_statement);
        let untitled = self.title.is_empty() || (repeats && !self.committed && !self.statements.is_empty());
        let heading = if untitled {
            String::new()
        } else {
            full_stop(&clip(&title_as_done(&self.title), TITLE_CHARS_MAX))
        };
        let title = if untitled { BTreeSet::new() } else { title };
        let told = self.explanation(room.saturating_sub(heading.chars().count() + 1), &title);
        match (heading.is_empty(), told.is_empty()) {
            (true, true) => whole_line(&self.statements.first()?.text, CHANGE_CHARS_MAX),
            (true, false) => Some(told),
            (false, true) => Some(heading),
            (false, false) => Some(format!("{heading} {told}")),
        }
    }

    /// The statements that fit, in their order. Those that say how it was are the first to be left out.
    fn explanation(&self, room: usize, title: &BTreeSet<String>) -> String {
        let mut order: Vec<usize> = (0..self.statements.len()).collect();
        order.sort_by_key(|index| (tells_past(&self.statements[*index].text), *index));
        let (mut chosen, mut used): (Vec<usize>, usize) = (Vec::new(), 0);
        for index in order {
            let statement = &self.statements[index];
            let chars = statement.text.chars().count() + 2;
            let words = content_words(&statement.text);
            let repeats = overlap(title, &words) >= REPEATED_SHARE && words.len() <= title.len() + 2;
            if used + chars <= room && !repeats {
                used += chars;
                chosen.push(index);
            }
        }
        chosen.sort_unstable();
        let mut told = String::new();
        for index in chosen {
            let statement = &self.statements[index];
            let text = statement.text.trim_end_matches(['.', ';']);
            if told.is_empty() {
                told = capitalised(text);
            } else if statement.listed && !told.ends_with(['.', '!']) {
                told = format!("{told}; {text}");
            } else {
                told = format!("{} {}", full_stop(&told), capitalised(text));
            }
        }
        if told.is_empty() { told } else { full_stop(&told) }
    }
}

/// "Previously the list was sorted twice": the state before the change.
fn tells_past(text: &str) -> bool {
    let lower = format!(" {} ", text.to_lowercase());
    let past =
        [" previously", " used to ", " before this", " was ", " were ", " had ", " didn't ", " did not "];
    let now = [" now ", " instead", " so that ", " only ", " no longer "];
    past.iter().any(|word| lower.contains(word)) && !now.iter().any(|word| lower.contains(word))
}
