//! The account of one finished turn: what was asked, looked at, learnt, done, and what is left.

use super::account::{Account, Use, without_speaker};
use super::acts::{Act, Done};
use super::carry::Carry;
use super::cues::{self, Cue, Language};
use super::sentences::{Document, split};
use super::speech::Speech;
use super::text::{capitalised, clip, content_words, full_stop, head, one_line, overlap, run_on};
use super::titles::without_lead_in;
use super::work::Works;
use crate::limits::DISTIL_TEXT_BYTES_MAX;
use crate::limits::OBSERVATION_FILES_MAX;
use claude_mem_core::episode::Episode;
use claude_mem_core::memory::{NewObservation, NewSummary, ObservationType};

/// Maximum characters of each field of a summary.
pub(crate) const SUMMARY_FIELD_CHARS_MAX: usize = 700;

/// Things of one kind that are named in "investigated".
const NAMED_MAX: usize = 6;
const REQUEST_CHARS_MAX: usize = 400;
const SHORT_ANSWER_CHARS: usize = 80;

/// Everything that a turn's summary is made of.
pub(super) struct Material<'a> {
    pub episode: &'a Episode,
    pub said: &'a Speech,
    /// The agent's.
    pub language: Language,
    pub account: &'a Account<'a>,
    pub done: &'a [Done],
    pub works: &'a Works,
    pub made: &'a [NewObservation],
    /// What the agent had asked at the end of its last turn.
    pub asked: &'a str,
    pub carry: &'a Carry,
}

/// The summary of a turn, or none where nothing happened: "ok", "thanks".
pub(super) fn summarize_turn(turn: &Material<'_>) -> Option<NewSummary> {
    let completed = completed(turn);
    let learned = learned(turn, &completed);
    let mut summary = NewSummary {
        request: request(turn),
        investigated: investigated(turn.done),
        next_steps: next_steps(turn),
        notes: notes(turn, &[&completed, &learned]),
        learned,
        completed,
        files_read: files(turn.done, |act| match act {
            Act::Read(path) => Some(path),
            _ => None,
        }),
        files_edited: files(turn.done, |act| match act {
            Act::Changed(change) => Some(&change.path),
            _ => None,
        }),
        created_at: turn.episode.ended_at(),
        discovery_tokens: 0,
    };
    summary.files_read.retain(|path| !summary.files_edited.contains(path));
    if let Some(account) = turn.episode.compact_summary.as_deref() {
        fill_from_compact(&mut summary, account);
    }
    let told = [&summary.learned, &summary.completed, &summary.next_steps, &summary.notes];
    let nothing = told.iter().all(|field| field.is_empty()) && summary.files_edited.is_empty();
    let looked_only = turn.made.is_empty()
        && turn.said.is_bare()
        && summary.completed.is_empty()
        && summary.learned.is_empty();
    (!nothing && !looked_only).then_some(summary)
}

fn request(turn: &Material<'_>) -> String {
    if turn.said.is_bare() {
        return clip(&turn.carry.request, SUMMARY_FIELD_CHARS_MAX);
    }
    let words = clip(&run_on(turn.said.own().map(|s| s.text.as_str())), REQUEST_CHARS_MAX);
    let short = words.chars().count() < SHORT_ANSWER_CHARS;
    if !short || turn.asked.is_empty() {
        return words;
    }
    // "Four." says nothing without what it answers.
    format!("{words} (asked: “{}”)", clip(turn.asked, 200))
}

fn investigated(done: &[Done]) -> String {
    let mut parts = Vec::new();
    let named = |of: &dyn Fn(&Act) -> Option<String>| {
        let mut names: Vec<String> = Vec::new();
        for name in done.iter().filter_map(|d| of(&d.act)) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    };
    for (verb, names) in [
        (
            "Read",
            named(&|act| match act {
                Act::Read(path) => Some(path.clone()),
                _ => None,
            }),
        ),
        (
            "searched for",
            named(&|act| match act {
                Act::Searched(what) => Some(format!("`{}`", clip(&one_line(what), 40))),
                _ => None,
            }),
        ),
        (
            "looked up",
            named(&|act| match act {
                Act::Fetched(what) => Some(clip(&one_line(what), 80)),
                _ => None,
            }),
        ),
        (
            "delegated",
            named(&|act| match act {
                Act::Delegated(what) => Some(format!("“{}”", clip(&one_line(what), 80))),
                _ => None,
            }),
        ),
    ] {
        if names.is_empty() {
            continue;
        }
        let rest = names.len().saturating_sub(NAMED_MAX);
        let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
        let first: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
        parts.push(format!("{verb} {}{more}", first.join(", ")));
    }
    clip(&capitalised(&parts.join("; ")), SUMMARY_FIELD_CHARS_MAX)
}

fn learned(turn: &Material<'_>, completed: &str) -> String {
    let known = [ObservationType::DECISION, ObservationType::DISCOVERY];
    let titles = turn.made.iter().filter(|made| known.contains(&made.kind)).map(|made| made.title.clone());
    let found = turn.account.best(&[Use::Found], &[], 420, 3);
    let found = found.iter().map(|s| without_lead_in(&s.text, turn.language).to_owned());
    distinct(titles.chain(found), &[completed])
}

/// Lines that say something new beside what is told already, as running text.
fn distinct(lines: impl Iterator<Item = String>, told: &[&str]) -> String {
    let mut known: Vec<String> = told.iter().flat_map(|text| split(text)).map(str::to_owned).collect();
    let mut kept = Vec::new();
    for line in lines {
        let words = content_words(&line);
        let said = known.iter().any(|known| overlap(&content_words(known), &words) >= 0.7);
        if !said {
            known.push(line.clone());
            kept.push(full_stop(&line));
        }
    }
    clip(&run_on(kept.iter().map(String::as_str)), SUMMARY_FIELD_CHARS_MAX)
}

fn completed(turn: &Material<'_>) -> String {
    let pieces = &turn.works.pieces;
    let names: Vec<&str> = pieces.iter().flat_map(super::work::Work::names).collect();
    let mut lines: Vec<String> = Vec::new();
    if !turn.done.is_empty() {
        let told = turn.account.best(&[Use::Done], &names, 400, 4);
        lines
            .extend(told.iter().map(|s| without_lead_in(without_speaker(&s.text), turn.language).to_owned()));
    }
    let commits: Vec<&str> =
        pieces.iter().filter_map(|w| w.commit.as_ref()).map(|c| c.title.as_str()).collect();
    if !commits.is_empty() {
        lines.push(format!("Committed: {}", commits.join("; ")));
    }
    if lines.is_empty() {
        let work = |made: &&NewObservation| {
            !made.files_modified.is_empty() && made.kind != ObservationType::DECISION
        };
        lines.extend(turn.made.iter().filter(work).map(|made| made.title.clone()));
    }
    if let Some(check) = &turn.works.checked {
        lines.push(format!("Checked: {check}"));
    }
    distinct(lines.into_iter(), &[])
}

const COLONS: [char; 2] = [':', '：'];

fn next_steps(turn: &Material<'_>) -> String {
    let worth = turn.account.statements_for(Use::Next).filter(|s| s.words.len() >= 2);
    let bare = worth.take(6).map(|s| {
        // "Next step: change the field" → "change the field".
        let after = cues::after_opening(&s.text, turn.language, &[Cue::Next]);
        let after = after.or_else(|| s.text.strip_prefix("Next"));
        let is_label = |rest: &&str| {
            let label = &s.text[..s.text.len() - rest.len()];
            label.ends_with(COLONS) || rest.starts_with(COLONS)
        };
        let after = after.filter(is_label).unwrap_or(&s.text);
        after.trim_start_matches(COLONS).trim().to_owned()
    });
    distinct(bare, &[])
}

fn notes(turn: &Material<'_>, told_already: &[&str]) -> String {
    let failing = turn.works.still_failing.as_ref().map(|run| {
        let error = run.errors.first().map_or(String::new(), |error| format!(": “{}”", clip(error, 160)));
        format!("`{}` still fails{error}", run.command)
    });
    let told = turn.account.best(&[Use::Caveat, Use::DeadEnd], &[], 400, 3);
    distinct(failing.into_iter().chain(told.iter().map(|s| s.text.clone())), told_already)
}

fn files<'a>(done: &'a [Done], of: impl Fn(&'a Act) -> Option<&'a String>) -> Vec<String> {
    let mut files: Vec<String> = Vec::new();
    for path in done.iter().filter_map(|d| of(&d.act)) {
        if !files.contains(path) && files.len() < OBSERVATION_FILES_MAX {
            files.push(path.clone());
        }
    }
    files
}

/// The field of a summary that a section of a compacted conversation's account belongs to.
fn field_of<'a>(summary: &'a mut NewSummary, title: &str) -> Option<&'a mut String> {
    let named = |names: &[&str]| names.iter().any(|name| title.contains(name));
    if named(&["pending", "next step", "todo", "remaining"]) {
        Some(&mut summary.next_steps)
    } else if named(&["request", "intent", "goal"]) {
        Some(&mut summary.request)
    } else if named(&["error", "problem", "learn", "finding", "concept", "decision"]) {
        Some(&mut summary.learned)
    } else if named(&["current work", "completed", "progress", "changes"]) {
        Some(&mut summary.completed)
    } else {
        None
    }
}

/// The title of a section: `## Pending tasks`, `7. Pending Tasks:`, `**Pending**`.
fn section_title(line: &str) -> Option<(String, &str)> {
    let text = line.trim().trim_start_matches(['#', '*', ' ']);
    let digits = text.len() - text.trim_start_matches(|c: char| c.is_ascii_digit()).len();
    let numbered = text[digits..].strip_prefix(". ").filter(|_| digits > 0);
    let marked = numbered.is_some() || line.trim().starts_with(['#', '*']);
    let text = numbered.unwrap_or(text);
    let (title, rest) = text.split_once(':').unwrap_or((text, ""));
    let fits = marked && !line.starts_with([' ', '\t']) && title.chars().count() <= 50;
    fits.then(|| (title.trim_matches('*').to_lowercase(), rest.trim_matches(['*', ' '])))
}

/// A compacted conversation's account fills what the turn itself leaves empty.
fn fill_from_compact(summary: &mut NewSummary, account: &str) {
    let account = head(account, DISTIL_TEXT_BYTES_MAX).replace("<summary>", "\n").replace("</summary>", "\n");
    let mut sections: Vec<(String, String)> = Vec::new();
    for line in account.lines() {
        match section_title(line) {
            Some((title, rest)) => sections.push((title, rest.to_owned())),
            None => {
                if let Some((_, body)) = sections.last_mut() {
                    body.push('\n');
                    body.push_str(line);
                }
            }
        }
    }
    let whole = |body: &str| {
        let document = Document::read(body);
        clip(&run_on(document.sentences.iter().map(|s| s.text.as_str())), SUMMARY_FIELD_CHARS_MAX)
    };
    for (title, body) in &sections {
        if let Some(field) = field_of(summary, title).filter(|field| field.is_empty()) {
            *field = whole(body);
        }
    }
    if sections.is_empty() && summary.notes.is_empty() {
        summary.notes = whole(&account);
    }
}
