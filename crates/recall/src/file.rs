//! What matters about a file, at the moment it is read or edited.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::recall::{
    RecalledMemory, RecalledText, quote_by_origin, remedy_sentence, tells_failure, wrap_block,
};
use super::sentences::sentences;
use super::team_trust::{OfferLimit, OfferPlace, TeamMembers, voice_of};
use super::{quote, render};
use claude_mem_core::ids::{ObservationId, ProjectId, SessionId};
use claude_mem_core::tokens;
use claude_mem_store::{FileRef, Observation, RowId, RowKind, StoreError, StoreReader};

/// Memories looked at. What was decided about a busy file long ago holds as well as what was done
/// to it today, so that they are many.
const LOOKED_AT: usize = 240;
/// The same of other members, and references that are looked through for these two.
const OTHERS_LOOKED_AT: usize = 24;
const REFS_MAX: usize = 10_000;
/// Lines that one file may bring.
const LINES_MAX: usize = 5;
/// Lines of members who are not specially trusted, and what they must be worth.
const SPARING_LINES_MAX: usize = 1;
const SPARING_WORTH_MIN: u8 = 4;
/// Characters of the title, and of the sentence after it.
const TITLE_CHARS_MAX: usize = 160;
const SENTENCE_CHARS_MAX: usize = 200;
/// A smaller file is read sooner than what is known of it.
pub const FILE_BYTES_MIN: u64 = 512;

/// The agent that opens a file, and how much it may be told.
#[derive(Debug)]
pub struct FileRecallRequest<'a> {
    pub project: ProjectId,
    pub own: Option<SessionId>,
    /// Relative to the project's root.
    pub path: &'a str,
    pub shown: &'a HashSet<RowId>,
    pub budget_tokens: u32,
    pub zone: &'a TimeZone,
}

/// A memory of the file and the words that are told of it.
struct FileMemory {
    row: Observation,
    text: String,
    worth: u8,
    /// The name of the member who recorded it.
    who: Option<String>,
    limit: OfferLimit,
}

/// Decisions, gotchas and fixes first, then the last changes; nothing for a file that memory
/// does not know.
pub fn recall_file(
    reads: &StoreReader<'_>,
    request: &FileRecallRequest<'_>,
) -> Result<RecalledText, StoreError> {
    let members = TeamMembers::load(reads)?;
    let mut known = Vec::new();
    let mut refs = reads.refs_of_path(request.project, request.path)?;
    refs.retain(|found| {
        found.kind == RowKind::Observation && !request.shown.contains(&RowId::new(found.kind, found.row_id))
    });
    for found in first_refs(reads, refs, &members)? {
        let row = reads.observation(ObservationId(found.row_id))?;
        let own = row.session.is_some() && row.session == request.own;
        let worth = worth(&row, request.path);
        // That somebody read it once says nothing about it.
        if own || row.wrong || row.replaced_by.is_some() || !(found.modified || worth > 0) {
            continue;
        }
        let limit = members.limit_of(&row, OfferPlace::File);
        // Of another member only what somebody settled or fixed.
        if limit == OfferLimit::Never || (limit == OfferLimit::Sparing && worth < SPARING_WORTH_MIN) {
            continue;
        }
        let who = members.name(row.member);
        known.extend(told_text(&row, request.path).map(|text| FileMemory { row, text, worth, who, limit }));
    }
    known.sort_by(|a, b| b.worth.cmp(&a.worth).then(b.row.created_at.cmp(&a.row.created_at)));
    let mut said_before = HashSet::new();
    known.retain(|memory| said_before.insert(memory.text.to_lowercase()));
    let mut sparing = 0;
    known.retain(|memory| {
        sparing += usize::from(memory.limit == OfferLimit::Sparing);
        memory.limit != OfferLimit::Sparing || sparing <= SPARING_LINES_MAX
    });
    known.truncate(LINES_MAX);
    Ok(render_known(request, known))
}

/// The newest references, those of others beside one's own and not instead of them.
fn first_refs(
    reads: &StoreReader<'_>,
    refs: Vec<FileRef>,
    members: &TeamMembers,
) -> Result<Vec<FileRef>, StoreError> {
    if members.is_empty() {
        return Ok(refs.into_iter().take(LOOKED_AT).collect());
    }
    let (mut first, mut own, mut others) = (Vec::new(), 0, 0);
    for found in refs.into_iter().take(REFS_MAX) {
        let is_own = reads.member_of_row(RowId::new(found.kind, found.row_id))?.is_none();
        let (count, most) = if is_own { (&mut own, LOOKED_AT) } else { (&mut others, OTHERS_LOOKED_AT) };
        *count += 1;
        if *count <= most {
            first.push(found);
        }
        if own >= LOOKED_AT {
            break;
        }
    }
    Ok(first)
}

fn worth(row: &Observation, path: &str) -> u8 {
    let is_gotcha = row.text.concepts.iter().any(|concept| concept == "gotcha");
    let by_type = match row.text.kind.as_str() {
        _ if row.pinned => 8,
        "decision" => 6,
        "bugfix" => 4,
        _ if is_gotcha => 4,
        "discovery" => 2,
        _ => 0,
    };
    by_type + u8::from(sentence_about(row, path).is_some())
}

/// The title, and the sentence that says more of this file. An overcome failure is told as its remedy
/// only, or not at all.
fn told_text(row: &Observation, path: &str) -> Option<String> {
    if tells_failure(row) {
        return remedy_sentence(row).map(|remedy| quote::line(remedy, SENTENCE_CHARS_MAX));
    }
    let mut text = quote::line(&row.text.title, TITLE_CHARS_MAX);
    if let Some(sentence) = sentence_about(row, path) {
        if !text.ends_with(['.', '!', '?', '…']) {
            text.push('.');
        }
        text.push(' ');
        text.push_str(&quote::line(sentence, SENTENCE_CHARS_MAX));
    }
    Some(text)
}

/// The first sentence below the title that names the file.
fn sentence_about<'r>(row: &'r Observation, path: &str) -> Option<&'r str> {
    let name = path.rsplit('/').next().unwrap_or(path);
    let texts = row.text.facts.iter().chain([&row.text.narrative]);
    texts.flat_map(|text| sentences(text)).find(|sentence| sentence.contains(name))
}

fn render_known(request: &FileRecallRequest<'_>, known: Vec<FileMemory>) -> RecalledText {
    let head = format!("Known of {}:\n", quote::line(request.path, 120));
    let mut left = request.budget_tokens.saturating_sub(tokens::estimate(&wrap_block(&head)));
    let (mut body, mut items) = (head, Vec::new());
    for FileMemory { row, text, worth, who, .. } in known {
        let who = who.map(|name| format!(" ({})", voice_of(&name, row.origin))).unwrap_or_default();
        let line = format!(
            "- {} {} {}{who} {}\n",
            RowId::new(RowKind::Observation, row.id.0),
            render::day(row.created_at, request.zone),
            render::mark(RowKind::Observation, row.text.kind.as_str(), row.origin),
            quote_by_origin(row.origin, &text)
        );
        let cost = tokens::estimate(&line);
        if cost > left {
            break;
        }
        left -= cost;
        body.push_str(&line);
        items.push(RecalledMemory {
            kind: RowKind::Observation,
            row_id: row.id.0,
            title: row.text.title,
            score: f64::from(worth),
            tokens: cost,
            reason: request.path.to_owned(),
        });
    }
    if items.is_empty() {
        return RecalledText::default();
    }
    RecalledText { text: wrap_block(&body), items }
}

#[cfg(test)]
#[path = "file_tests.rs"]
mod tests;
