//! The account of one finished turn: what was asked, looked at, learnt, done, and what is left.

use super::account::{Account, Use, without_speaker};
use super::acts::{Act, Done};
use super::carry::Carry;
use super::sentences::{Block, Document};
use super::speech::{Speech, Statement};
use super::text::{capitalised, clip, one_line};
use super::work::Works;
use crate::episode::Episode;
use crate::limits::{OBSERVATION_FILES_MAX, SUMMARY_FIELD_CHARS_MAX};
use crate::memory::{NewObservation, NewSummary, ObservationType};

/// Things of one kind that are named in "investigated".
const NAMED_MAX: usize = 6;

/// Everything that a turn's summary is made of.
pub(super) struct Material<'a> {
    pub episode: &'a Episode,
    pub said: &'a Speech,
    pub account: &'a Account<'a>,
    pub done: &'a [Done],
    pub works: &'a Works,
    pub made: &'a [NewObservation],
    pub carry: &'a Carry,
}

/// The summary of a turn, or none where nothing happened: "ok", "thanks".
pub(super) fn of(turn: &Material<'_>) -> Option<NewSummary> {
    let mut summary = NewSummary {
        request: request(turn),
        investigated: investigated(turn.done),
        learned: learned(turn),
        completed: completed(turn),
        next_steps: next_steps(turn.account),
        notes: notes(turn),
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
    summary
        .files_read
        .retain(|path| !summary.files_edited.contains(path));
    if let Some(account) = turn.episode.compact_summary.as_deref() {
        fill_from_compact(&mut summary, account);
    }
    let told = [
        &summary.learned,
        &summary.completed,
        &summary.next_steps,
        &summary.notes,
    ];
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
    let prose: Vec<&str> = turn.said.own().map(|s| s.text.as_str()).collect();
    clip(&prose.join(" "), 400)
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
        let more = if rest > 0 {
            format!(" and {rest} more")
        } else {
            String::new()
        };
        let first: Vec<String> = names.into_iter().take(NAMED_MAX).collect();
        parts.push(format!("{verb} {}{more}", first.join(", ")));
    }
    clip(&capitalised(&parts.join("; ")), SUMMARY_FIELD_CHARS_MAX)
}

fn learned(turn: &Material<'_>) -> String {
    let mut lines: Vec<String> = turn
        .made
        .iter()
        .filter(|made| made.kind == ObservationType::DECISION)
        .map(|made| sentence(&made.title))
        .collect();
    let found = turn.account.best(&[Use::Found], &[], 420, 3);
    lines.extend(found.iter().map(|s| sentence(&s.text)));
    lines.dedup();
    clip(&lines.join(" "), SUMMARY_FIELD_CHARS_MAX)
}

fn completed(turn: &Material<'_>) -> String {
    let names: Vec<&str> = turn
        .works
        .pieces
        .iter()
        .flat_map(super::work::Work::names)
        .collect();
    let mut lines: Vec<String> = Vec::new();
    if !turn.done.is_empty() {
        let told = turn.account.best(&[Use::Done], &names, 400, 4);
        lines.extend(told.iter().map(|s| sentence(without_speaker(&s.text))));
    }
    let commits: Vec<&str> = turn
        .works
        .pieces
        .iter()
        .filter_map(|w| w.commit.as_ref())
        .map(|c| c.title.as_str())
        .collect();
    if !commits.is_empty() {
        lines.push(format!("Committed: {}.", commits.join("; ")));
    }
    if lines.is_empty() {
        let work = |made: &&NewObservation| !made.files_modified.is_empty();
        lines.extend(
            turn.made
                .iter()
                .filter(work)
                .map(|made| sentence(&made.title)),
        );
    }
    let checks = turn.works.pieces.last().and_then(|work| work.checks.last());
    if let Some(check) = checks.filter(|_| !lines.is_empty()) {
        lines.push(format!("Checked: {check}."));
    }
    clip(&lines.join(" "), SUMMARY_FIELD_CHARS_MAX)
}

fn next_steps(account: &Account<'_>) -> String {
    let worth = |s: &&Statement| s.words.len() >= 2;
    let lines: Vec<String> = account
        .of(Use::Next)
        .filter(worth)
        .take(6)
        .map(|s| sentence(&s.text))
        .collect();
    clip(&lines.join(" "), SUMMARY_FIELD_CHARS_MAX)
}

fn notes(turn: &Material<'_>) -> String {
    let mut lines: Vec<String> = Vec::new();
    if let Some(run) = &turn.works.still_failing {
        let error = run
            .errors
            .first()
            .map_or(String::new(), |error| format!(": “{}”", clip(error, 160)));
        lines.push(format!("`{}` still fails{error}.", run.command));
    }
    let told = turn.account.best(&[Use::Caveat, Use::DeadEnd], &[], 400, 3);
    lines.extend(told.iter().map(|s| sentence(&s.text)));
    clip(&lines.join(" "), SUMMARY_FIELD_CHARS_MAX)
}

fn sentence(text: &str) -> String {
    let text = capitalised(text.trim());
    match text.ends_with(['.', '!', '?', '…', '。', '！', '？', ':']) {
        true => text,
        false => format!("{text}."),
    }
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

/// Sections of a client's account of a compacted conversation, and where they belong.
const SECTIONS: &[(&[&str], fn(&mut NewSummary) -> &mut String)] = &[
    (
        &["primary request", "request", "intent", "goal", "task"],
        |s| &mut s.request,
    ),
    (
        &["pending", "next step", "todo", "remaining", "next"],
        |s| &mut s.next_steps,
    ),
    (
        &[
            "error", "problem", "fix", "learn", "finding", "concept", "decision",
        ],
        |s| &mut s.learned,
    ),
    (
        &[
            "current work",
            "completed",
            "done",
            "progress",
            "files and code",
            "changes",
        ],
        |s| &mut s.completed,
    ),
];

/// A compacted conversation's account fills what the turn itself leaves empty; its request is the
/// one that counts, for it speaks of all that came before.
fn fill_from_compact(summary: &mut NewSummary, account: &str) {
    let account = account
        .replace("<summary>", "\n")
        .replace("</summary>", "\n");
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    for sentence in Document::read(&account).sentences {
        let numbered = sentence.block == Block::Item && sentence.text.ends_with(':');
        if sentence.block == Block::Heading
            || numbered
            || (sentence.text.ends_with(':') && sentence.text.len() < 60)
        {
            sections.push((sentence.text.to_lowercase(), Vec::new()));
        } else if let Some((_, lines)) = sections.last_mut() {
            lines.push(sentence.text);
        }
    }
    for (names, field) in SECTIONS {
        let named = |title: &str| names.iter().any(|name| title.contains(name));
        let Some((_, lines)) = sections
            .iter()
            .find(|(title, lines)| named(title) && !lines.is_empty())
        else {
            continue;
        };
        let text = clip(&lines.join(" "), SUMMARY_FIELD_CHARS_MAX);
        let target = field(summary);
        if target.is_empty() || names.contains(&"intent") {
            *target = text;
        }
    }
    if sections.is_empty() && summary.notes.is_empty() {
        summary.notes = clip(&one_line(&account), SUMMARY_FIELD_CHARS_MAX);
    }
}
