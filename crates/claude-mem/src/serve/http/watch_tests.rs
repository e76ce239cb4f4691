use serde_json::{Value, json};

use super::*;
use crate::ids::ObservationId;
use crate::limits::HTTP_STREAM_ROWS_MAX;
use crate::remember::{self, Note};
use crate::serve::http::stream::marks;
use crate::serve::http::testing::Stage;
use crate::serve::testing as events;
use crate::store::ObservationEdit;

const NOW: Millis = Millis(1_769_853_600_000);

#[derive(Clone, Debug)]
struct Told {
    id: Option<String>,
    name: String,
    data: Value,
}

impl Told {
    fn of(text: &str) -> Self {
        let field = |name: &str| {
            let mut lines = text.lines();
            lines.find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
        };
        Self {
            id: field("id").map(str::to_owned),
            name: field("event").unwrap().to_owned(),
            data: serde_json::from_str(field("data").unwrap()).unwrap(),
        }
    }

    fn row(&self) -> (String, i64) {
        (self.name.clone(), self.data["id"].as_i64().unwrap())
    }
}

/// A database that changes, and what is told of it.
struct Scene {
    dir: tempfile::TempDir,
    store: Store,
}

impl Scene {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("claude-mem.db")).unwrap();
        Self { dir, store }
    }

    fn db(&self) -> PathBuf {
        self.dir.path().join("claude-mem.db")
    }

    fn save(&mut self, text: &str, at: Millis) -> i64 {
        let note = Note {
            text,
            global: true,
            ..Note::default()
        };
        remember::save(&mut self.store, &note, at).unwrap().0
    }

    fn edit(&mut self, id: i64, edit: &ObservationEdit, at: Millis) {
        self.store
            .write(|tx| tx.edit_observation(ObservationId(id), edit, at))
            .unwrap();
    }

    fn pin(&mut self, id: i64, at: Millis) {
        let pinned = ObservationEdit {
            pinned: Some(true),
            ..ObservationEdit::default()
        };
        self.edit(id, &pinned, at);
    }

    fn forget(&mut self, id: i64) {
        self.store
            .write(|tx| tx.forget(RowKind::Observation, id, NOW))
            .unwrap();
    }

    fn restore(&mut self, id: i64) {
        let undone = self
            .store
            .write(|tx| tx.undo_forget(RowKind::Observation, id));
        assert!(undone.unwrap());
    }

    fn page(&self) -> Watch {
        let mut page = Watch::open(&self.db(), None).unwrap();
        told(&mut page);
        page
    }

    /// A page that comes back with what it was told last.
    fn back(&self, last: &Told) -> Vec<Told> {
        back(&self.db(), last.id.as_deref())
    }
}

fn back(db: &Path, id: Option<&str>) -> Vec<Told> {
    told(&mut Watch::open(db, marks(id.unwrap())).unwrap())
}

/// Everything there is to tell now, but for the figures.
fn told(page: &mut Watch) -> Vec<Told> {
    let mut all = Vec::new();
    loop {
        let look = page.look_at(NOW).unwrap();
        all.extend(look.events.iter().map(|text| Told::of(text)));
        if !look.more {
            break;
        }
    }
    all.retain(|told| !matches!(told.name.as_str(), "queue" | "spend"));
    all
}

#[test]
fn whoever_drops_off_between_two_events_is_told_the_rest_and_nothing_else_of_it() {
    let stage = Stage::new();
    let db = stage.scratch.dir.db();
    let mut page = Watch::open(&db, None).unwrap();
    told(&mut page);
    // Rows of four kinds, and observations whose times run against their numbers.
    stage.turn("one", 1_000);
    stage.turn("two", 500);
    stage
        .worker
        .store
        .with(|store| {
            for at in 0..60 {
                let text = format!("Note {at}");
                let note = Note {
                    text: &text,
                    global: true,
                    ..Note::default()
                };
                remember::save(store, &note, Millis(1_000_000 - 1_000 * at)).unwrap();
            }
            Ok(())
        })
        .unwrap();
    let all: Vec<Told> = told(&mut page)
        .into_iter()
        .filter(|told| told.name != "session")
        .collect();
    assert!(all.len() > 65, "{}", all.len());
    for (at, last) in all.iter().enumerate() {
        let rest: Vec<_> = all[at + 1..].iter().map(Told::row).collect();
        let mut again: Vec<_> = back(&db, last.id.as_deref())
            .iter()
            .filter(|told| told.name != "session")
            .map(Told::row)
            .collect();
        again.sort();
        let mut rest_sorted = rest;
        rest_sorted.sort();
        assert_eq!(again, rest_sorted, "after event {at}: {last:?}");
    }
}

#[test]
fn a_correction_of_a_row_from_the_future_hides_no_other() {
    let mut scene = Scene::new();
    let ahead = scene.save("From a fast clock", Millis(NOW.0 * 2));
    let other = scene.save("Of today", NOW);
    let mut page = scene.page();
    scene.pin(ahead, NOW);
    assert_eq!(told(&mut page)[0].data["id"], ahead);
    scene.pin(other, NOW);
    assert_eq!(told(&mut page)[0].data["id"], other);
}

#[test]
fn two_corrections_of_one_moment_are_both_told() {
    let mut scene = Scene::new();
    let (first, second) = (scene.save("First", NOW), scene.save("Second", NOW));
    let mut page = scene.page();
    let later = NOW.plus_seconds(60);
    scene.pin(first, later);
    assert_eq!(told(&mut page)[0].data["id"], first);
    scene.pin(second, later);
    assert_eq!(told(&mut page)[0].data["id"], second);
}

#[test]
fn of_corrections_made_together_those_after_the_last_seen_are_told_again() {
    let mut scene = Scene::new();
    let ids: Vec<i64> = (0..3)
        .map(|at| scene.save(&format!("Note {at}"), NOW))
        .collect();
    let mut page = scene.page();
    for id in &ids {
        scene.pin(*id, NOW.plus_seconds(60));
    }
    let all = told(&mut page);
    assert_eq!(all.len(), 3);
    let rest: Vec<_> = scene.back(&all[0]).iter().map(Told::row).collect();
    assert_eq!(
        rest,
        ids[1..]
            .iter()
            .map(|id| ("observation".to_owned(), *id))
            .collect::<Vec<_>>()
    );
}

#[test]
fn a_forgetting_is_told_also_if_another_one_was_undone_meanwhile() {
    let mut scene = Scene::new();
    let (a, b) = (scene.save("A", NOW), scene.save("B", NOW));
    let mut page = scene.page();
    scene.forget(a);
    let last = told(&mut page).pop().unwrap();
    assert_eq!(last.row(), ("removed".to_owned(), a));
    scene.restore(a);
    scene.forget(b);
    let away: Vec<_> = scene.back(&last).iter().map(Told::row).collect();
    assert_eq!(
        away,
        [("observation".to_owned(), a), ("removed".to_owned(), b)]
    );
}

#[test]
fn more_forgotten_at_once_than_is_told_is_told_as_missed() {
    let mut scene = Scene::new();
    let ids: Vec<i64> = (0..HTTP_STREAM_ROWS_MAX + 50)
        .map(|at| scene.save(&format!("Note {at}"), NOW))
        .collect();
    let mut page = scene.page();
    scene
        .store
        .write(|tx| {
            ids.iter()
                .try_for_each(|id| tx.forget(RowKind::Observation, *id, NOW))
        })
        .unwrap();
    let all = told(&mut page);
    let missed = json!({ "kind": "observation" });
    assert!(
        all.iter()
            .any(|told| told.name == "missed" && told.data == missed)
    );
    assert!(all.iter().all(|told| told.name == "missed"), "{all:?}");
    assert_eq!(told(&mut page).len(), 0, "and nothing is left over");
}

#[test]
fn a_memory_that_a_newer_one_replaced_is_told() {
    let mut scene = Scene::new();
    let (older, newer) = (scene.save("Older", NOW), scene.save("Newer", NOW));
    let mut page = scene.page();
    scene
        .store
        .write(|tx| tx.replace_observation(ObservationId(older), ObservationId(newer)))
        .unwrap();
    let all = told(&mut page);
    assert_eq!(
        (
            all[0].data["id"].as_i64(),
            all[0].data["replacedBy"].as_i64()
        ),
        (Some(older), Some(newer))
    );
}

#[test]
fn what_was_brought_back_while_nobody_looked_is_told() {
    let mut scene = Scene::new();
    let id = scene.save("Forgotten in haste", NOW);
    let mut page = scene.page();
    scene.forget(id);
    let last = told(&mut page).pop().unwrap();
    scene.restore(id);
    let away: Vec<_> = scene.back(&last).iter().map(Told::row).collect();
    assert_eq!(away, [("observation".to_owned(), id)]);
}

#[test]
fn a_session_that_ended_and_prompts_that_were_swept_while_nobody_looked_are_told() {
    let stage = Stage::new();
    let db = stage.scratch.dir.db();
    stage.events(&[events::event(
        "one",
        1_000,
        events::prompt("Look at the till"),
    )]);
    let mut page = Watch::open(&db, None).unwrap();
    told(&mut page);
    let seen = crate::serve::http::stream::id(page.seen);
    stage.events(&[events::event("one", 2_000, events::end())]);
    let away = back(&db, Some(&seen));
    let session = away.iter().rfind(|told| told.name == "session").unwrap();
    assert_eq!(session.data["status"], "completed");
    stage
        .worker
        .store
        .with(|store| store.write(|tx| tx.delete_prompts_before(NOW, 10)))
        .unwrap();
    let away = back(&db, Some(&seen));
    assert!(
        away.iter()
            .any(|told| told.row() == ("removed".to_owned(), 1)),
        "{away:?}"
    );
}

#[test]
fn at_midnight_what_was_spent_today_is_nothing_again() {
    let mut scene = Scene::new();
    let day = clock::local_day(NOW);
    scene
        .store
        .write(|tx| {
            let call = tx.reserve_spend(&day, None, "p", "m", "compress", 70, NOW)?;
            tx.settle_spend(call, 60, 10, false, "done")
        })
        .unwrap();
    let spent = |look: Look| {
        let told: Vec<Told> = look.events.iter().map(|text| Told::of(text)).collect();
        let spent = told.iter().find(|told| told.name == "spend");
        spent.map(|told| told.data["today"].as_u64().unwrap())
    };
    let mut page = Watch::open(&scene.db(), None).unwrap();
    assert_eq!(spent(page.look_at(NOW).unwrap()), Some(70));
    assert_eq!(spent(page.look_at(NOW).unwrap()), None);
    let tomorrow = NOW.plus_seconds(86_400);
    assert_eq!(spent(page.look_at(tomorrow).unwrap()), Some(0));
}

#[test]
fn a_page_does_not_go_on_looking_at_a_database_that_was_replaced() {
    let mut scene = Scene::new();
    for at in 0..3 {
        scene.save(&format!("Note {at}"), NOW);
    }
    let mut page = scene.page();
    let seen = crate::serve::http::stream::id(page.seen);
    assert!(!page.look_at(NOW).unwrap().over);
    let other = Scene::new();
    std::fs::rename(other.db(), scene.db()).unwrap();
    assert!(page.look_at(NOW).unwrap().over);
    // What it knows is of another database, which was further: it is told to load anew.
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
fn changes_are_kept_for_a_while_and_whoever_was_away_longer_is_told_so() {
    let mut scene = Scene::new();
    let id = ObservationId(scene.save("Replaced again and again", NOW));
    let mut page = scene.page();
    let before = crate::serve::http::stream::id(page.seen);
    let mut change = |times: i64| {
        let changed = scene
            .store
            .write(|tx| (0..times).try_for_each(|_| tx.replace_observation(id, id)));
        changed.unwrap();
    };
    // One row is one change, however often it was changed.
    change(ROW_CHANGES_MAX / 2);
    assert_eq!(told(&mut page).len(), 1);
    change(ROW_CHANGES_MAX / 2 + 1);
    assert_eq!(told(&mut page).len(), 1);
    let away = back(&scene.db(), Some(&before));
    assert!(away.iter().all(|told| told.name == "missed"), "{away:?}");
    assert_eq!(away.len(), RowKind::ALL.len());
    let gone = scene
        .store
        .write(|tx| tx.drop_changes(ROW_CHANGES_MAX, 10))
        .unwrap();
    assert_eq!(gone, 0, "the last ones stay");
}
