//! What has happened since a page last looked, read from the database alone: so it does not matter
//! which process did it.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use serde_json::json;

use super::api::Api;
use super::problem::Problem;
use super::rows::{Row, Views};
use super::stream::event;
use crate::clock;
use crate::ids::SessionId;
use crate::limits::HTTP_STREAM_ROWS_MAX;
use crate::store::{Marks, QueueCounts, Reads, RowKind, Store, StoreError};

/// One page's view of the database.
pub(super) struct Watch {
    store: Store,
    /// What the page has been told.
    pub(super) seen: Marks,
    version: Option<i64>,
    known: Known,
}

/// What has no number that only grows: it is held against what was there at the last look.
#[derive(Default)]
struct Known {
    /// Sessions under way.
    active: BTreeSet<SessionId>,
    /// What can still be brought back, by the number of its forgetting.
    forgotten: BTreeMap<i64, (RowKind, i64)>,
    queue: Option<QueueCounts>,
    spent: Option<u64>,
}

#[derive(Serialize)]
struct Removed {
    kind: RowKind,
    id: i64,
}

/// More rows of this kind came than are told one by one.
#[derive(Serialize)]
struct Missed {
    kind: RowKind,
}

impl Watch {
    pub(super) fn open(api: &Api, seen: Option<Marks>) -> Result<Self, Problem> {
        let store = Store::open_read_only(&api.dir().db())?;
        let (there, known) = store.view(|reads| {
            let known = Known {
                active: active(reads)?,
                forgotten: forgotten(reads)?,
                ..Known::default()
            };
            Ok((reads.marks()?, known))
        })?;
        Ok(Self {
            seen: seen.map_or(there, |seen| earlier(seen, there)),
            store,
            version: None,
            known,
        })
    }

    /// The events that tell it.
    pub(super) fn look(&mut self) -> Result<Vec<String>, Problem> {
        let version = self.store.read().data_version()?;
        if self.version == Some(version) {
            return Ok(Vec::new());
        }
        let mut events = Vec::new();
        let Self {
            store, seen, known, ..
        } = self;
        store.view(|reads| Ok(look(reads, seen, known, &mut events)))??;
        // What came since the version was asked for is found by the next look.
        self.version = Some(version);
        Ok(events)
    }
}

fn look(
    reads: &Reads<'_>,
    seen: &mut Marks,
    known: &mut Known,
    events: &mut Vec<String>,
) -> Result<(), Problem> {
    let mut views = Views::new(reads);
    removed(reads, seen, events)?;
    let told_before = seen.observation;
    let back = brought_back(reads, *seen, known)?;
    let mut found = rows(reads, &mut views, seen, events)?;
    for (kind, id) in back {
        found.extend(views.row(kind, id)?.map(|row| (id, row)));
    }
    found.sort_by_key(|(id, row)| (row.created_at(), row.kind() as u8, *id));
    let mut sessions = begun_or_ended(reads, known)?;
    sessions.extend(found.iter().filter_map(|(_, row)| row.session()));
    for session in sessions {
        let session = match reads.session(session) {
            // An import that was undone takes its sessions along.
            Err(StoreError::NoSuchRow { .. }) => continue,
            found => found?,
        };
        events.push(event("session", None, &views.session_view(session)?));
    }
    for (id, row) in found {
        // Rows of one kind need not be in the order of their numbers: the highest counts.
        let mark = seen.of(row.kind());
        *mark = (*mark).max(id);
        events.push(event(row.kind().as_str(), Some(*seen), &row));
    }
    edited(reads, &mut views, seen, told_before, events)?;
    figures(reads, known, events)
}

/// Rows that the page has, and that have become others.
fn edited(
    reads: &Reads<'_>,
    views: &mut Views<'_>,
    seen: &mut Marks,
    told_before: i64,
    events: &mut Vec<String>,
) -> Result<(), Problem> {
    let last = reads.edited_after(seen.edited, HTTP_STREAM_ROWS_MAX)?;
    if last.len() == HTTP_STREAM_ROWS_MAX {
        let kind = RowKind::Observation;
        events.push(event("missed", None, &Missed { kind }));
    }
    for (at, id) in last {
        seen.edited = at;
        // Those that are new have just been told as they are.
        if id.0 <= told_before
            && let Some(row) = views.row(RowKind::Observation, id.0)?
        {
            events.push(event(row.kind().as_str(), Some(*seen), &row));
        }
    }
    Ok(())
}

/// A forgetting that was undone gives its number back, and a restored backup all of them: whoever
/// was past them steps back.
fn earlier(seen: Marks, there: Marks) -> Marks {
    Marks {
        observation: seen.observation.min(there.observation),
        summary: seen.summary.min(there.summary),
        prompt: seen.prompt.min(there.prompt),
        message: seen.message.min(there.message),
        forgotten: seen.forgotten.min(there.forgotten),
        edited: seen.edited.min(there.edited),
    }
}

fn removed(reads: &Reads<'_>, seen: &mut Marks, events: &mut Vec<String>) -> Result<(), Problem> {
    for (number, kind, row_id) in reads.forgotten_after(seen.forgotten, HTTP_STREAM_ROWS_MAX)? {
        seen.forgotten = number;
        let gone = Removed { kind, id: row_id };
        events.push(event("removed", Some(*seen), &gone));
    }
    *seen = earlier(*seen, reads.marks()?);
    Ok(())
}

/// Rows whose forgetting is no longer noted. Those that were purged are not there either; those
/// above the mark are told as new ones are.
fn brought_back(
    reads: &Reads<'_>,
    mut seen: Marks,
    known: &mut Known,
) -> Result<Vec<(RowKind, i64)>, Problem> {
    let there = forgotten(reads)?;
    let was = std::mem::replace(&mut known.forgotten, there);
    let mut back: Vec<(RowKind, i64)> = was
        .into_iter()
        .filter(|(number, row)| known.forgotten.get(number) != Some(row))
        .map(|(_, row)| row)
        .filter(|(kind, id)| *id <= *seen.of(*kind))
        .collect();
    back.sort_unstable();
    back.dedup();
    Ok(back)
}

fn forgotten(reads: &Reads<'_>) -> Result<BTreeMap<i64, (RowKind, i64)>, StoreError> {
    let newest = reads.forgotten_last(HTTP_STREAM_ROWS_MAX)?.into_iter();
    Ok(newest
        .map(|(number, kind, row_id)| (number, (kind, row_id)))
        .collect())
}

/// Sessions that were not under way at the last look and are, or the other way round. Of very many
/// that nobody ended, one may be told again that merely was heard of longest ago.
fn begun_or_ended(reads: &Reads<'_>, known: &mut Known) -> Result<BTreeSet<SessionId>, Problem> {
    let there = active(reads)?;
    let was = std::mem::replace(&mut known.active, there);
    Ok(was.symmetric_difference(&known.active).copied().collect())
}

fn active(reads: &Reads<'_>) -> Result<BTreeSet<SessionId>, StoreError> {
    let last = reads.active_sessions(HTTP_STREAM_ROWS_MAX)?;
    Ok(last.into_iter().collect())
}

fn rows(
    reads: &Reads<'_>,
    views: &mut Views<'_>,
    seen: &mut Marks,
    events: &mut Vec<String>,
) -> Result<Vec<(i64, Row)>, Problem> {
    let mut found: Vec<(i64, Row)> = Vec::new();
    let mut there = reads.marks()?;
    for kind in RowKind::ALL {
        let (mark, newest) = (seen.of(kind), *there.of(kind));
        // An import, or a page that was away for long.
        let told_from = newest - HTTP_STREAM_ROWS_MAX as i64;
        if *mark < told_from {
            *mark = told_from;
            events.push(event("missed", None, &Missed { kind }));
        }
        for id in reads.rows_after(kind, *mark, HTTP_STREAM_ROWS_MAX)? {
            found.extend(views.row(kind, id)?.map(|row| (id, row)));
        }
    }
    Ok(found)
}

fn figures(reads: &Reads<'_>, known: &mut Known, events: &mut Vec<String>) -> Result<(), Problem> {
    let counts = reads.queue_counts()?;
    if known.queue.replace(counts) != Some(counts) {
        events.push(event("queue", None, &counts));
    }
    let today = reads
        .spend_on(&clock::local_day(clock::now().millis()))?
        .tokens;
    if known.spent.replace(today) != Some(today) {
        events.push(event("spend", None, &json!({ "today": today })));
    }
    Ok(())
}
