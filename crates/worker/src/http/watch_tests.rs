use serde_json::{Value, json};

use super::*;
use crate::http::stream_event::parse_event_id;
use crate::http::testing::TestServer;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::limits::HTTP_STREAM_ROWS_MAX;
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::ManualNote;
use claude_mem_store::ObservationEdit;
use claude_mem_store::testing as events;

const NOW: Millis = Millis(1_769_853_600_000);

#[derive(Clone, Debug)]
struct ParsedEvent {
    id: Option<String>,
    name: String,
    data: Value,
}

impl ParsedEvent {
    fn parse(event: StreamEvent) -> Self {
        let data = serde_json::from_str(&event.data).unwrap();
        Self { id: event.id, name: event.name.to_owned(), data }
    }

    fn row(&self) -> (String, i64) {
        (self.name.clone(), self.data["id"].as_i64().unwrap())
    }
}

/// A database under change, and watchers on it.
struct WatchFixture {
    dir: tempfile::TempDir,
    store: Store,
}

impl WatchFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
        Self { dir, store }
    }

    fn db(&self) -> PathBuf {
        self.dir.path().join("claude-mem.db")
    }

    fn save(&mut self, text: &str, at: Millis) -> i64 {
        let note = ManualNote { text, global: true, ..ManualNote::default() };
        manual_edits::save(&mut self.store, &note, at).unwrap().0
    }

    fn edit(&mut self, id: i64, edit: &ObservationEdit, at: Millis) {
        self.store.write(|tx| tx.edit_observation(ObservationId(id), edit, at)).unwrap();
    }

    fn pin(&mut self, id: i64, at: Millis) {
        let pinned = ObservationEdit { pinned: Some(true), ..ObservationEdit::default() };
        self.edit(id, &pinned, at);
    }

    fn forget(&mut self, id: i64) {
        self.store.write(|tx| tx.forget(RowId::new(RowKind::Observation, id), NOW)).unwrap();
    }

    fn restore(&mut self, id: i64) {
        let undone = self.store.write(|tx| tx.undo_forget(RowId::new(RowKind::Observation, id)));
        assert!(undone.unwrap());
    }

    fn page(&self) -> ChangeWatcher {
        let mut page = ChangeWatcher::open(&self.db(), None).unwrap();
        told(&mut page);
        page
    }

    /// The events of a page that resumes after this event.
    fn back(&self, last: &ParsedEvent) -> Vec<ParsedEvent> {
        back(&self.db(), last.id.as_deref())
    }
}

fn back(db: &Path, id: Option<&str>) -> Vec<ParsedEvent> {
    told(&mut ChangeWatcher::open(db, parse_event_id(id.unwrap())).unwrap())
}

/// All pending events except the figures.
fn told(page: &mut ChangeWatcher) -> Vec<ParsedEvent> {
    let mut all = Vec::new();
    loop {
        let look = page.poll_at(NOW).unwrap();
        all.extend(look.events.into_iter().map(ParsedEvent::parse));
        if !look.has_more {
            break;
        }
    }
    all.retain(|told| !matches!(told.name.as_str(), "queue" | "spend"));
    all
}

#[test]
fn resume_between_events_sends_exactly_the_rest() {
    let stage = TestServer::new();
    let db = stage.scratch.dir.db();
    let mut page = ChangeWatcher::open(&db, None).unwrap();
    told(&mut page);
    // Rows of four kinds, and observations whose times run against their ids.
    stage.turn("one", 1_000);
    stage.turn("two", 500);
    stage
        .worker
        .store
        .with(|store| {
            for at in 0..60 {
                let text = format!("Note {at}");
                let note = ManualNote { text: &text, global: true, ..ManualNote::default() };
                manual_edits::save(store, &note, Millis(1_000_000 - 1_000 * at)).unwrap();
            }
            Ok(())
        })
        .unwrap();
    let all: Vec<ParsedEvent> = told(&mut page).into_iter().filter(|told| told.name != "session").collect();
    assert!(all.len() > 65, "{}", all.len());
    for (at, last) in all.iter().enumerate() {
        let rest: Vec<_> = all[at + 1..].iter().map(ParsedEvent::row).collect();
        let mut again: Vec<_> = back(&db, last.id.as_deref())
            .iter()
            .filter(|told| told.name != "session")
            .map(ParsedEvent::row)
            .collect();
        again.sort();
        let mut rest_sorted = rest;
        rest_sorted.sort();
        assert_eq!(again, rest_sorted, "after event {at}: {last:?}");
    }
}

#[test]
fn edit_with_future_time_hides_no_other() {
    let mut scene = WatchFixture::new();
    let ahead = scene.save("From a fast clock", Millis(NOW.0 * 2));
    let other = scene.save("Of today", NOW);
    let mut page = scene.page();
    scene.pin(ahead, NOW);
    assert_eq!(told(&mut page)[0].data["id"], ahead);
    scene.pin(other, NOW);
    assert_eq!(told(&mut page)[0].data["id"], other);
}

#[test]
fn two_edits_in_one_millisecond_are_both_sent() {
    let mut scene = WatchFixture::new();
    let (first, second) = (scene.save("First", NOW), scene.save("Second", NOW));
    let mut page = scene.page();
    let later = NOW.plus_seconds(60);
    scene.pin(first, later);
    assert_eq!(told(&mut page)[0].data["id"], first);
    scene.pin(second, later);
    assert_eq!(told(&mut page)[0].data["id"], second);
}

#[test]
fn resume_inside_a_batch_of_edits_sends_the_rest() {
    let mut scene = WatchFixture::new();
    let ids: Vec<i64> = (0..3).map(|at| scene.save(&format!("Note {at}"), NOW)).collect();
    let mut page = scene.page();
    for id in &ids {
        scene.pin(*id, NOW.plus_seconds(60));
    }
    let all = told(&mut page);
    assert_eq!(all.len(), 3);
    let rest: Vec<_> = scene.back(&all[0]).iter().map(ParsedEvent::row).collect();
    assert_eq!(rest, ids[1..].iter().map(|id| ("observation".to_owned(), *id)).collect::<Vec<_>>());
}

#[test]
fn deletion_is_sent_although_another_was_undone() {
    let mut scene = WatchFixture::new();
    let (a, b) = (scene.save("A", NOW), scene.save("B", NOW));
    let mut page = scene.page();
    scene.forget(a);
    let last = told(&mut page).pop().unwrap();
    assert_eq!(last.row(), ("removed".to_owned(), a));
    scene.restore(a);
    scene.forget(b);
    let away: Vec<_> = scene.back(&last).iter().map(ParsedEvent::row).collect();
    assert_eq!(away, [("observation".to_owned(), a), ("removed".to_owned(), b)]);
}

#[test]
fn bulk_deletions_are_sent_as_missed() {
    let mut scene = WatchFixture::new();
    let ids: Vec<i64> =
        (0..HTTP_STREAM_ROWS_MAX + 50).map(|at| scene.save(&format!("Note {at}"), NOW)).collect();
    let mut page = scene.page();
    scene
        .store
        .write(|tx| ids.iter().try_for_each(|id| tx.forget(RowId::new(RowKind::Observation, *id), NOW)))
        .unwrap();
    let all = told(&mut page);
    let missed = json!({ "kind": "observation" });
    assert!(all.iter().any(|told| told.name == "missed" && told.data == missed));
    assert!(all.iter().all(|told| told.name == "missed"), "{all:?}");
    assert_eq!(told(&mut page).len(), 0, "and nothing is left over");
}

#[test]
fn superseded_row_is_sent() {
    let mut scene = WatchFixture::new();
    let (older, newer) = (scene.save("Older", NOW), scene.save("Newer", NOW));
    let mut page = scene.page();
    scene.store.write(|tx| tx.replace_observation(ObservationId(older), ObservationId(newer))).unwrap();
    let all = told(&mut page);
    assert_eq!((all[0].data["id"].as_i64(), all[0].data["replacedBy"].as_i64()), (Some(older), Some(newer)));
}

#[test]
fn row_restored_while_away_is_sent() {
    let mut scene = WatchFixture::new();
    let id = scene.save("Forgotten in haste", NOW);
    let mut page = scene.page();
    scene.forget(id);
    let last = told(&mut page).pop().unwrap();
    scene.restore(id);
    let away: Vec<_> = scene.back(&last).iter().map(ParsedEvent::row).collect();
    assert_eq!(away, [("observation".to_owned(), id)]);
}

#[test]
fn session_end_and_swept_prompts_are_sent_on_resume() {
    let stage = TestServer::new();
    let db = stage.scratch.dir.db();
    stage.events(&[events::event("one", 1_000, events::prompt("Look at the till"))]);
    let mut page = ChangeWatcher::open(&db, None).unwrap();
    told(&mut page);
    let seen = crate::http::stream_event::event_id(page.seen);
    stage.events(&[events::event("one", 2_000, events::end())]);
    let away = back(&db, Some(&seen));
    let session = away.iter().rfind(|told| told.name == "session").unwrap();
    assert_eq!(session.data["status"], "completed");
    stage.worker.store.with(|store| store.write(|tx| tx.delete_prompts_before(NOW, 10))).unwrap();
    let away = back(&db, Some(&seen));
    assert!(away.iter().any(|told| told.row() == ("removed".to_owned(), 1)), "{away:?}");
}

#[test]
fn spend_resets_at_midnight() {
    let mut scene = WatchFixture::new();
    let day = clock::local_day(NOW);
    scene
        .store
        .write(|tx| {
            let call = tx.reserve_spend(&day, None, "p", "m", "compress", 70, NOW)?;
            tx.settle_spend(call, 60, 10, false, "done")
        })
        .unwrap();
    let spent = |look: WatchBatch| {
        let told: Vec<ParsedEvent> = look.events.into_iter().map(ParsedEvent::parse).collect();
        let spent = told.iter().find(|told| told.name == "spend");
        spent.map(|told| told.data["today"].as_u64().unwrap())
    };
    let mut page = ChangeWatcher::open(&scene.db(), None).unwrap();
    assert_eq!(spent(page.poll_at(NOW).unwrap()), Some(70));
    assert_eq!(spent(page.poll_at(NOW).unwrap()), None);
    let tomorrow = NOW.plus_seconds(86_400);
    assert_eq!(spent(page.poll_at(tomorrow).unwrap()), Some(0));
}

#[test]
fn replaced_database_ends_the_watch() {
    let mut scene = WatchFixture::new();
    for at in 0..3 {
        scene.save(&format!("Note {at}"), NOW);
    }
    let mut page = scene.page();
    let seen = crate::http::stream_event::event_id(page.seen);
    assert!(!page.poll_at(NOW).unwrap().is_database_replaced);
    let other = WatchFixture::new();
    std::fs::rename(other.db(), scene.db()).unwrap();
    assert!(page.poll_at(NOW).unwrap().is_database_replaced);
    // Its cursor is beyond the new database, so it is told to reload.
    let mut scene = scene;
    scene.store = other.store;
    let away = back(&scene.db(), Some(&seen));
    assert_eq!(away.len(), RowKind::ALL.len());
    assert!(away.iter().all(|told| told.name == "missed"), "{away:?}");
    let id = scene.save("The first of the new one", NOW);
    let next = scene.back(&away[3]);
    assert_eq!(next[0].row(), ("observation".to_owned(), id));
}

#[test]
fn resume_beyond_the_kept_changes_is_missed() {
    let mut scene = WatchFixture::new();
    let id = ObservationId(scene.save("Replaced again and again", NOW));
    let mut page = scene.page();
    let before = crate::http::stream_event::event_id(page.seen);
    let mut change = |times: i64| {
        let changed = scene.store.write(|tx| (0..times).try_for_each(|_| tx.replace_observation(id, id)));
        changed.unwrap();
    };
    // A row counts as one change, however often it changed.
    change(ROW_CHANGES_MAX / 2);
    assert_eq!(told(&mut page).len(), 1);
    change(ROW_CHANGES_MAX / 2 + 1);
    assert_eq!(told(&mut page).len(), 1);
    let away = back(&scene.db(), Some(&before));
    assert!(away.iter().all(|told| told.name == "missed"), "{away:?}");
    assert_eq!(away.len(), RowKind::ALL.len());
    let gone = scene.store.write(|tx| tx.prune_changes(ROW_CHANGES_MAX, 10)).unwrap();
    assert_eq!(gone, 0, "the last ones stay");
}
