use super::*;
use crate::clock::Millis;
use crate::search::testing::{WordBag, furnished, project};
use crate::store::{ObservationEdit, RowKind};

struct Shop {
    _dir: tempfile::TempDir,
    store: Store,
    vectors: VectorStore,
    ids: Vec<crate::ids::ObservationId>,
}

fn shop(titles: &[&str]) -> Shop {
    let dir = tempfile::tempdir().unwrap();
    let (store, _, ids) = furnished(dir.path(), titles);
    let vectors = VectorStore::open(&dir.path().join("vectors.db"), WordBag.id()).unwrap();
    Shop {
        _dir: dir,
        store,
        vectors,
        ids,
    }
}

impl Shop {
    fn catch_up(&mut self) -> Progress {
        catch_up(&mut self.store, &mut self.vectors, &WordBag, |_| false).unwrap()
    }

    fn made(&self, at: usize) -> Option<MadeFrom> {
        let id = self.ids[at].0;
        self.vectors.made_from(RowKind::Observation, id).unwrap()
    }

    fn wanted(&self, at: usize) -> i64 {
        let id = self.ids[at].0;
        let text = self.store.read().owed_text(RowKind::Observation, id);
        text.unwrap().unwrap().text_hash
    }

    fn owed(&self) -> u64 {
        self.store.read().owed_vectors_count().unwrap()
    }
}

#[test]
fn the_backlog_is_worked_off_newest_first() {
    let titles: Vec<String> = (0..40).map(|n| format!("Title {n}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut shop = shop(&titles);
    let mut asked = 0;
    let first = catch_up(&mut shop.store, &mut shop.vectors, &WordBag, |_| {
        asked += 1;
        asked > 1
    });
    let first = first.unwrap();
    assert_eq!(first.embedded, INDEX_BATCH_ROWS as u64);
    assert_eq!(first.left, 40 - first.embedded);
    assert!(shop.made(39).is_some() && shop.made(0).is_none());
    assert_eq!(shop.catch_up().left, 0);
    assert_eq!(shop.vectors.count().unwrap(), 40);
    assert_eq!(
        shop.catch_up(),
        Progress::default(),
        "nothing is made twice"
    );
}

#[test]
fn an_edited_row_is_embedded_anew_and_a_forgotten_one_leaves_nothing() {
    let mut shop = shop(&["One", "Two"]);
    shop.catch_up();
    let edit = ObservationEdit {
        title: Some("Another".into()),
        ..ObservationEdit::default()
    };
    let (one, two) = (shop.ids[0], shop.ids[1]);
    shop.store
        .write(|tx| {
            tx.edit_observation(one, &edit, Millis(9))?;
            tx.forget(RowKind::Observation, two.0, Millis(9))
        })
        .unwrap();
    assert_ne!(shop.made(0).unwrap().text_hash, shop.wanted(0));
    assert_eq!(sweep(&mut shop.store, &mut shop.vectors).unwrap(), 1);
    assert_eq!(shop.made(1), None);
    shop.catch_up();
    assert_eq!(shop.made(0).unwrap().text_hash, shop.wanted(0));
    assert_eq!(shop.owed(), 0);
}

#[test]
fn a_text_that_changes_while_it_is_embedded_stays_owed() {
    let shop = &mut shop(&["One"]);
    let owed = shop.store.read().owed_vectors(9).unwrap();
    let edit = ObservationEdit {
        title: Some("Another".into()),
        ..ObservationEdit::default()
    };
    let one = shop.ids[0];
    shop.store
        .write(|tx| tx.edit_observation(one, &edit, Millis(9)))
        .unwrap();
    settle(&mut shop.store, &owed).unwrap();
    assert_eq!(shop.owed(), 1);
}

#[test]
fn vectors_that_arrive_after_their_row_went_are_taken_out_again() {
    let mut shop = shop(&["One"]);
    let owed = shop.store.read().owed_vectors(9).unwrap();
    let one = shop.ids[0].0;
    // Another process forgets the row and sweeps while this one is still encoding it.
    shop.store
        .write(|tx| tx.forget(RowKind::Observation, one, Millis(9)))
        .unwrap();
    sweep(&mut shop.store, &mut shop.vectors).unwrap();
    assert_eq!(shop.owed(), 0);
    let late = RowVectors {
        kind: RowKind::Observation,
        row_id: one,
        project: None,
        created_at: Millis(1),
        text_hash: 1,
        parts: vec![0; 8],
        bits: vec![0; 8],
    };
    shop.vectors.change(&[late], &[]).unwrap();
    settle(&mut shop.store, &owed).unwrap();
    assert_eq!(shop.catch_up().removed, 1);
    assert_eq!(shop.vectors.count().unwrap(), 0);
}

#[test]
fn a_lost_file_is_made_again() {
    let mut shop = shop(&["One", "Two"]);
    shop.catch_up();
    let path = shop.vectors.path().to_owned();
    std::fs::remove_file(&path).unwrap();
    shop.vectors = VectorStore::open(&path, WordBag.id()).unwrap();
    assert_eq!(shop.catch_up().embedded, 2);
}

#[test]
fn merged_projects_keep_their_vectors() {
    let mut shop = shop(&["One"]);
    shop.catch_up();
    let from = shop.made(0).unwrap().project.unwrap();
    let into = shop
        .store
        .write(|tx| {
            let into = project(tx, "other")?;
            tx.merge_projects(from, into)?;
            Ok(into)
        })
        .unwrap();
    let progress = shop.catch_up();
    assert_eq!(progress.embedded, 0);
    assert_eq!(shop.made(0).unwrap().project, Some(into));
}

#[test]
fn what_a_power_cut_or_a_restored_backup_left_apart_is_found() {
    let mut shop = shop(&["One", "Two", "Three"]);
    shop.catch_up();
    let (one, two) = (shop.ids[0].0, shop.ids[1].0);
    let stale = shop
        .vectors
        .entry(RowKind::Observation, one)
        .unwrap()
        .unwrap();
    let stale = RowVectors {
        text_hash: 1,
        ..stale
    };
    let orphan = RowVectors {
        row_id: 999,
        ..stale.clone()
    };
    let lost = (RowKind::Observation, two);
    shop.vectors.change(&[stale, orphan], &[lost]).unwrap();
    assert_eq!(reconcile(&mut shop.store, &shop.vectors).unwrap(), 3);
    let progress = shop.catch_up();
    assert_eq!((progress.embedded, progress.removed), (2, 1));
    assert_eq!(shop.made(0).unwrap().text_hash, shop.wanted(0));
    assert_eq!(shop.vectors.count().unwrap(), 3);
    assert_eq!(reconcile(&mut shop.store, &shop.vectors).unwrap(), 0);
}
