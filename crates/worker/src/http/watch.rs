//! [`ChangeWatcher`]: what changed in the database since a page last polled it.
//!
//! It reads the database alone, so changes by any process are found.
//!
//! Invariant: the id of an event covers exactly that event and all before it, so a page that
//! disconnects between two events receives the second one when it resumes. When there are too many
//! changes to send one by one, a [`MissedEvent`] asks the page to reload.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use serde::Serialize;

use super::problem::Problem;
use super::queue::QueueCountsView;
use super::reader_pool::{FileId, file_id};
use super::rows::RowView;
use super::stream_event::StreamEvent;
use super::view_builder::ViewBuilder;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;
use claude_mem_core::limits::{HTTP_STREAM_BATCH_ROWS, HTTP_STREAM_ROWS_MAX, ROW_CHANGES_MAX};
use claude_mem_store::{
    ChangeCursor, QueueCounts, RowChange, RowId, RowKind, Store, StoreError, StoreReader,
};

/// One page's connection to the database and its cursor.
pub(super) struct ChangeWatcher {
    store: Store,
    db: PathBuf,
    file: FileId,
    /// The cursor: everything up to it was sent to the page.
    pub(super) seen: ChangeCursor,
    /// The page resumed with a cursor beyond the end of this database, which was replaced.
    is_cursor_ahead: bool,
    /// Data version and day of the last poll that left nothing to send.
    caught_up_at: Option<(i64, String)>,
    known: KnownFigures,
}

/// Values without a change number: each is compared with the one of the last poll.
#[derive(Default)]
struct KnownFigures {
    queue: Option<QueueCounts>,
    spent: Option<u64>,
}

/// The result of one poll.
#[derive(Debug, Default)]
pub(super) struct WatchBatch {
    pub(super) events: Vec<StreamEvent>,
    /// There are more changes: poll again once these events are sent.
    pub(super) has_more: bool,
    /// The database file was replaced by another one, so this watcher will find nothing more.
    pub(super) is_database_replaced: bool,
}

/// A row was deleted.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Removed")]
pub(super) struct RemovedEvent {
    kind: RowKind,
    id: i64,
}

/// Too many rows of this kind changed to be sent one by one: reload them.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Missed")]
pub(super) struct MissedEvent {
    kind: RowKind,
}

/// Tokens spent on models since midnight.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Spent")]
pub(super) struct SpendEvent {
    today: u64,
}

impl ChangeWatcher {
    /// Opens the database. Without a cursor, only changes from now on are found.
    pub(super) fn open(db: &Path, seen: Option<ChangeCursor>) -> Result<Self, Problem> {
        let file = file_id(db).ok_or(StoreError::Missing)?;
        let store = Store::open_read_only(db)?;
        let there = store.read().change_cursor()?;
        let went_back = seen.is_some_and(|seen| seen.is_ahead_of(there));
        Ok(Self {
            store,
            db: db.to_owned(),
            file,
            seen: seen.filter(|_| !went_back).unwrap_or(there),
            is_cursor_ahead: went_back,
            caught_up_at: None,
            known: KnownFigures::default(),
        })
    }

    /// The next batch of events.
    pub(super) fn poll(&mut self) -> Result<WatchBatch, Problem> {
        self.poll_at(clock::now().millis())
    }

    /// The next batch of events; `now` decides what counts as today.
    pub(super) fn poll_at(&mut self, now: Millis) -> Result<WatchBatch, Problem> {
        if file_id(&self.db) != Some(self.file) {
            return Ok(WatchBatch { is_database_replaced: true, ..WatchBatch::default() });
        }
        let at = (self.store.read().data_version()?, clock::local_day(now));
        if self.caught_up_at.as_ref() == Some(&at) {
            return Ok(WatchBatch::default());
        }
        let mut found = WatchBatch::default();
        if std::mem::take(&mut self.is_cursor_ahead) {
            found.events.extend(missed_events(RowKind::ALL, self.seen));
        }
        let (store, seen, known) = (&self.store, &mut self.seen, &mut self.known);
        store.read_snapshot(|reads| Ok(collect_events(reads, seen, known, &at.1, &mut found)))??;
        // The version was read first, so the next poll finds changes made since then.
        self.caught_up_at = (!found.has_more).then_some(at);
        Ok(found)
    }
}

/// Appends new rows with their sessions, changes and figures to the batch.
fn collect_events(
    reads: &StoreReader<'_>,
    seen: &mut ChangeCursor,
    known: &mut KnownFigures,
    day: &str,
    found: &mut WatchBatch,
) -> Result<(), Problem> {
    let mut views = ViewBuilder::new(reads);
    let told_before = *seen;
    let mut sessions = BTreeSet::new();
    let mut events = Vec::new();
    for row in new_rows(reads, &mut views, seen, found)? {
        sessions.extend(row.session());
        *seen.last_seen_mut(row.kind()) = row.id();
        events.push(StreamEvent::new(row.kind().as_str(), Some(*seen), &row));
    }
    for session in sessions {
        found.events.extend(session_event(reads, &mut views, session, None)?);
    }
    found.events.append(&mut events);
    push_changes(reads, &mut views, seen, told_before, found)?;
    push_figures(reads, known, day, &mut found.events)
}

/// Rows that are new to the page. Within a kind they are in the order of their ids, so that the
/// cursor of an event covers all events before it; the kinds are merged by creation time.
fn new_rows(
    reads: &StoreReader<'_>,
    views: &mut ViewBuilder<'_>,
    seen: &mut ChangeCursor,
    found: &mut WatchBatch,
) -> Result<Vec<RowView>, Problem> {
    let mut there = reads.change_cursor()?;
    let mut lines: Vec<Vec<RowView>> = Vec::new();
    for kind in RowKind::ALL {
        // Too far behind: an import, or a page that was away for long.
        let told_from = *there.last_seen_mut(kind) - HTTP_STREAM_ROWS_MAX as i64;
        if *seen.last_seen_mut(kind) < told_from {
            *seen.last_seen_mut(kind) = told_from;
            found.events.extend(missed_events([kind], *seen));
        }
        let ids = reads.row_ids_after(kind, *seen.last_seen_mut(kind), HTTP_STREAM_BATCH_ROWS)?;
        found.has_more |= ids.len() == HTTP_STREAM_BATCH_ROWS;
        let mut line = Vec::with_capacity(ids.len());
        for id in ids {
            line.extend(views.row(kind, id)?);
        }
        // Reversed, so that `pop` yields the next one.
        line.reverse();
        lines.push(line);
    }
    let mut mixed = Vec::new();
    let head = |line: &Vec<RowView>| line.last().map(|row| Reverse(row.created_at()));
    while let Some(row) = lines.iter_mut().max_by_key(|line| head(line)).and_then(Vec::pop) {
        mixed.push(row);
    }
    Ok(mixed)
}

/// Appends updates and deletions of rows and sessions that the page has.
fn push_changes(
    reads: &StoreReader<'_>,
    views: &mut ViewBuilder<'_>,
    seen: &mut ChangeCursor,
    mut told_before: ChangeCursor,
    found: &mut WatchBatch,
) -> Result<(), Problem> {
    let there = reads.change_cursor()?.changed;
    let is_known = seen.changed >= there - ROW_CHANGES_MAX;
    let count = reads.count_changes_after(seen.changed, HTTP_STREAM_ROWS_MAX + 1)?;
    if count > HTTP_STREAM_ROWS_MAX || !is_known {
        let sessions = reads.sessions_changed_after(seen.changed, HTTP_STREAM_ROWS_MAX)?;
        seen.changed = there;
        found.events.extend(missed_events(RowKind::ALL, *seen));
        for session in sessions {
            found.events.extend(session_event(reads, views, session, None)?);
        }
        return Ok(());
    }
    let some = reads.list_changes_after(seen.changed, HTTP_STREAM_BATCH_ROWS)?;
    found.has_more |= some.len() == HTTP_STREAM_BATCH_ROWS;
    for (number, changed) in some {
        seen.changed = number;
        let told = match changed {
            RowChange::Session(id) => session_event(reads, views, id, Some(*seen))?,
            RowChange::Row(RowId { kind, row_id: id }) => match views.row(kind, id)? {
                // New rows were sent already, in their current state.
                Some(_) if id > *told_before.last_seen_mut(kind) => None,
                Some(row) => Some(StreamEvent::new(kind.as_str(), Some(*seen), &row)),
                None => Some(StreamEvent::new("removed", Some(*seen), &RemovedEvent { kind, id })),
            },
        };
        found.events.extend(told);
    }
    Ok(())
}

/// One [`MissedEvent`] per kind.
fn missed_events(
    kinds: impl IntoIterator<Item = RowKind>,
    seen: ChangeCursor,
) -> impl Iterator<Item = StreamEvent> {
    let kinds = kinds.into_iter();
    kinds.map(move |kind| StreamEvent::new("missed", Some(seen), &MissedEvent { kind }))
}

/// The event of a session. `None` if it is gone: undoing an import deletes its sessions.
fn session_event(
    reads: &StoreReader<'_>,
    views: &mut ViewBuilder<'_>,
    id: SessionId,
    seen: Option<ChangeCursor>,
) -> Result<Option<StreamEvent>, Problem> {
    match reads.session(id) {
        Err(StoreError::NoSuchRow { .. }) => Ok(None),
        found => Ok(Some(StreamEvent::new("session", seen, &views.session_view(found?)?))),
    }
}

/// Appends queue counts and today's spend if they differ from the last poll.
fn push_figures(
    reads: &StoreReader<'_>,
    known: &mut KnownFigures,
    day: &str,
    events: &mut Vec<StreamEvent>,
) -> Result<(), Problem> {
    let counts = reads.queue_counts()?;
    if known.queue.replace(counts) != Some(counts) {
        events.push(StreamEvent::new("queue", None, &QueueCountsView::from(counts)));
    }
    let today = reads.spend_on(day)?.tokens;
    if known.spent.replace(today) != Some(today) {
        events.push(StreamEvent::new("spend", None, &SpendEvent { today }));
    }
    Ok(())
}

#[cfg(test)]
#[path = "watch_tests.rs"]
mod tests;
