//! What has happened since a page last looked, read from the database alone: so it does not matter
//! which process did it.
//!
//! Invariant: an event's id says exactly what has been told with it and before it, so whoever drops
//! off between two events is told the second when it comes back. What cannot be told one by one is
//! told as `missed`.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::problem::Problem;
use super::queue::Counts;
use super::readers::{FileId, file_id};
use super::rows::{Row, Views};
use super::stream::event;
use crate::clock::{self, Millis};
use crate::ids::SessionId;
use crate::limits::{HTTP_STREAM_BATCH_ROWS, HTTP_STREAM_ROWS_MAX, ROW_CHANGES_MAX};
use crate::store::{Changed, Marks, QueueCounts, Reads, RowKind, Store, StoreError};

/// One page's view of the database.
pub(super) struct Watch {
    store: Store,
    db: PathBuf,
    file: FileId,
    /// What the page has been told.
    pub(super) seen: Marks,
    /// The page knows of a database that was further than this one.
    went_back: bool,
    /// The database and the day as they were when there was nothing more to tell.
    at: Option<(i64, String)>,
    known: Known,
}

/// What has no number that only grows: it is held against what was there at the last look.
#[derive(Default)]
struct Known {
    queue: Option<QueueCounts>,
    spent: Option<u64>,
}

/// What a look found.
#[derive(Debug, Default)]
pub(super) struct Look {
    pub(super) events: Vec<String>,
    /// There is more to tell: to be looked again once this is sent.
    pub(super) more: bool,
    /// Another database has taken the place of this one. Nothing more happens here.
    pub(super) over: bool,
}

/// A row is no longer there.
#[derive(Serialize, JsonSchema)]
pub(super) struct Removed {
    kind: RowKind,
    id: i64,
}

/// More happened to rows of this kind than is told one by one: load them again.
#[derive(Serialize, JsonSchema)]
pub(super) struct Missed {
    kind: RowKind,
}

/// Tokens spent on models since midnight.
#[derive(Serialize, JsonSchema)]
pub(super) struct Spent {
    today: u64,
}

impl Watch {
    pub(super) fn open(db: &Path, seen: Option<Marks>) -> Result<Self, Problem> {
        let file = file_id(db).ok_or(StoreError::Missing)?;
        let store = Store::open_read_only(db)?;
        let there = store.read().marks()?;
        let went_back = seen.is_some_and(|seen| seen.is_beyond(there));
        Ok(Self {
            store,
            db: db.to_owned(),
            file,
            seen: seen.filter(|_| !went_back).unwrap_or(there),
            went_back,
            at: None,
            known: Known::default(),
        })
    }

    /// The next events, as many as are made in one go.
    pub(super) fn look(&mut self) -> Result<Look, Problem> {
        self.look_at(clock::now().millis())
    }

    pub(super) fn look_at(&mut self, now: Millis) -> Result<Look, Problem> {
        if file_id(&self.db) != Some(self.file) {
            return Ok(Look {
                over: true,
                ..Look::default()
            });
        }
        let at = (self.store.read().data_version()?, clock::local_day(now));
        if self.at.as_ref() == Some(&at) {
            return Ok(Look::default());
        }
        let mut found = Look::default();
        if std::mem::take(&mut self.went_back) {
            found.events.extend(missed(RowKind::ALL, self.seen));
        }
        let (store, seen, known) = (&self.store, &mut self.seen, &mut self.known);
        store.view(|reads| Ok(look(reads, seen, known, &at.1, &mut found)))??;
        // What came since the version was asked for is found by the next look.
        self.at = (!found.more).then_some(at);
        Ok(found)
    }
}

fn look(
    reads: &Reads<'_>,
    seen: &mut Marks,
    known: &mut Known,
    day: &str,
    found: &mut Look,
) -> Result<(), Problem> {
    let mut views = Views::new(reads);
    let told_before = *seen;
    let mut sessions = BTreeSet::new();
    let mut events = Vec::new();
    for row in rows(reads, &mut views, seen, found)? {
        sessions.extend(row.session());
        *seen.of(row.kind()) = row.id();
        events.push(event(row.kind().as_str(), Some(*seen), &row));
    }
    for session in sessions {
        found
            .events
            .extend(session_event(reads, &mut views, session, None)?);
    }
    found.events.append(&mut events);
    changes(reads, &mut views, seen, told_before, found)?;
    figures(reads, known, day, &mut found.events)
}

/// Rows that are new to the page, of each kind in the order of their numbers: the marks of an event
/// then speak for all that was told before it. The kinds are mixed as the rows came about.
fn rows(
    reads: &Reads<'_>,
    views: &mut Views<'_>,
    seen: &mut Marks,
    found: &mut Look,
) -> Result<Vec<Row>, Problem> {
    let mut there = reads.marks()?;
    let mut lines: Vec<Vec<Row>> = Vec::new();
    for kind in RowKind::ALL {
        // An import, or a page that was away for long.
        let told_from = *there.of(kind) - HTTP_STREAM_ROWS_MAX as i64;
        if *seen.of(kind) < told_from {
            *seen.of(kind) = told_from;
            found.events.extend(missed([kind], *seen));
        }
        let ids = reads.rows_after(kind, *seen.of(kind), HTTP_STREAM_BATCH_ROWS)?;
        found.more |= ids.len() == HTTP_STREAM_BATCH_ROWS;
        let mut line = Vec::with_capacity(ids.len());
        for id in ids {
            line.extend(views.row(kind, id)?);
        }
        // The next one stands at the end.
        line.reverse();
        lines.push(line);
    }
    let mut mixed = Vec::new();
    let head = |line: &Vec<Row>| line.last().map(|row| Reverse(row.created_at()));
    while let Some(row) = lines
        .iter_mut()
        .max_by_key(|line| head(line))
        .and_then(Vec::pop)
    {
        mixed.push(row);
    }
    Ok(mixed)
}

/// What became of rows and sessions that the page has.
fn changes(
    reads: &Reads<'_>,
    views: &mut Views<'_>,
    seen: &mut Marks,
    mut told_before: Marks,
    found: &mut Look,
) -> Result<(), Problem> {
    let there = reads.marks()?.changed;
    let is_known = seen.changed >= there - ROW_CHANGES_MAX;
    let count = reads.changes_after(seen.changed, HTTP_STREAM_ROWS_MAX + 1)?;
    if count > HTTP_STREAM_ROWS_MAX || !is_known {
        let sessions = reads.sessions_changed_after(seen.changed, HTTP_STREAM_ROWS_MAX)?;
        seen.changed = there;
        found.events.extend(missed(RowKind::ALL, *seen));
        for session in sessions {
            found
                .events
                .extend(session_event(reads, views, session, None)?);
        }
        return Ok(());
    }
    let some = reads.changed_after(seen.changed, HTTP_STREAM_BATCH_ROWS)?;
    found.more |= some.len() == HTTP_STREAM_BATCH_ROWS;
    for (number, changed) in some {
        seen.changed = number;
        let told = match changed {
            Changed::Session(id) => session_event(reads, views, id, Some(*seen))?,
            Changed::Row(kind, id) => match views.row(kind, id)? {
                // New ones are told as they are.
                Some(_) if id > *told_before.of(kind) => None,
                Some(row) => Some(event(kind.as_str(), Some(*seen), &row)),
                None => Some(event("removed", Some(*seen), &Removed { kind, id })),
            },
        };
        found.events.extend(told);
    }
    Ok(())
}

fn missed(kinds: impl IntoIterator<Item = RowKind>, seen: Marks) -> impl Iterator<Item = String> {
    let kinds = kinds.into_iter();
    kinds.map(move |kind| event("missed", Some(seen), &Missed { kind }))
}

/// Nothing of a session that is not there: an import that was undone takes its sessions along.
fn session_event(
    reads: &Reads<'_>,
    views: &mut Views<'_>,
    id: SessionId,
    seen: Option<Marks>,
) -> Result<Option<String>, Problem> {
    match reads.session(id) {
        Err(StoreError::NoSuchRow { .. }) => Ok(None),
        found => Ok(Some(event("session", seen, &views.session_view(found?)?))),
    }
}

fn figures(
    reads: &Reads<'_>,
    known: &mut Known,
    day: &str,
    events: &mut Vec<String>,
) -> Result<(), Problem> {
    let counts = reads.queue_counts()?;
    if known.queue.replace(counts) != Some(counts) {
        events.push(event("queue", None, &Counts::from(counts)));
    }
    let today = reads.spend_on(day)?.tokens;
    if known.spent.replace(today) != Some(today) {
        events.push(event("spend", None, &Spent { today }));
    }
    Ok(())
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
