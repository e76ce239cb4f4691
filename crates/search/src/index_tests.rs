use super::*;
use crate::testing::{BagOfWordsEncoder, project, store_with_titles};
use claude_mem_core::clock::Millis;
use claude_mem_store::{IndexCoverage, ObservationEdit, RowKind};

struct IndexFixture {
    _dir: tempfile::TempDir,
    store: Store,
    vectors: VectorStore,
    ids: Vec<claude_mem_core::ids::ObservationId>,
}

fn shop(titles: &[&str]) -> IndexFixture {
    let dir = tempfile::tempdir().unwrap();
    let (store, _, ids) = store_with_titles(dir.path(), titles);
    let vectors = VectorStore::open(&dir.path().join("vectors.db"), BagOfWordsEncoder.id()).unwrap();
    IndexFixture { _dir: dir, store, vectors, ids }
}

impl IndexFixture {
    fn catch_up(&mut self) -> IndexProgress {
        catch_up(&mut self.store, &mut self.vectors, &BagOfWordsEncoder, |_| false).unwrap()
    }

    fn made(&self, at: usize) -> Option<VectorSource> {
        let id = self.ids[at].0;
        self.vectors.vector_source(RowId::new(RowKind::Observation, id)).unwrap()
    }

    fn wanted(&self, at: usize) -> i64 {
        let id = self.ids[at].0;
        let text = self.store.read().embeddable_text(RowId::new(RowKind::Observation, id));
        text.unwrap().unwrap().text_hash
    }

    fn owed(&self) -> u64 {
        self.store.read().pending_embeddings_count().unwrap()
    }
}

#[test]
fn backlog_is_processed_newest_first() {
    let titles: Vec<String> = (0..40).map(|n| format!("Title {n}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let mut shop = shop(&titles);
    let mut asked = 0;
    let first = catch_up(&mut shop.store, &mut shop.vectors, &BagOfWordsEncoder, |_| {
        asked += 1;
        asked > 1
    });
    let first = first.unwrap();
    assert_eq!(first.embedded, INDEX_BATCH_ROWS as u64);
    assert_eq!(first.remaining, 40 - first.embedded);
    assert!(shop.made(39).is_some() && shop.made(0).is_none());
    assert_eq!(shop.catch_up().remaining, 0);
    assert_eq!(shop.vectors.row_count().unwrap(), 40);
    assert_eq!(shop.catch_up(), IndexProgress::default(), "nothing is made twice");
}

#[test]
fn pinned_rows_come_before_newer_ones() {
    let titles: Vec<String> = (0..40).map(|n| format!("Title {n}")).collect();
    let titles: Vec<&str> = titles.iter().map(String::as_str).collect();
    let pin = ObservationEdit { pinned: Some(true), ..ObservationEdit::default() };
    let mut shop = shop(&titles);
    let oldest = shop.ids[0];
    shop.store.write(|tx| tx.edit_observation(oldest, &pin, Millis(9))).unwrap();
    let first_rows = |shop: &IndexFixture| {
        let next = shop.store.read().pending_embeddings(2).unwrap();
        next.iter().map(|row| row.row_id).collect::<Vec<_>>()
    };
    assert_eq!(first_rows(&shop), [oldest.0, shop.ids[39].0]);
    shop.catch_up();
    rebuild(&mut shop.store, &mut shop.vectors).unwrap();
    assert_eq!(first_rows(&shop), [oldest.0, shop.ids[39].0], "also if everything is queued again");
    let newest = RowId::new(RowKind::Observation, shop.ids[39].0);
    shop.store.write(|tx| tx.forget(newest, Millis(9))).unwrap();
    assert_eq!(first_rows(&shop), [newest.row_id, oldest.0], "removals come before pinned rows");
}

#[test]
fn coverage_counts_rows_and_backlog() {
    let mut shop = shop(&["One", "Two", "Three"]);
    let coverage = |shop: &IndexFixture| shop.store.read().index_coverage().unwrap();
    assert_eq!(coverage(&shop), IndexCoverage { rows: 3, waiting: 3 });
    shop.catch_up();
    assert_eq!(coverage(&shop), IndexCoverage { rows: 3, waiting: 0 });
    let two = RowId::new(RowKind::Observation, shop.ids[1].0);
    shop.store.write(|tx| tx.forget(two, Millis(9))).unwrap();
    assert_eq!(coverage(&shop), IndexCoverage { rows: 2, waiting: 0 }, "a removal is no row that waits");
    for (rows, waiting, want) in [(5_000, 300, true), (5_000, 200, false), (50, 50, false), (0, 0, false)] {
        let coverage = IndexCoverage { rows, waiting };
        assert_eq!(coverage.is_noticeably_incomplete(), want, "{coverage:?}");
    }
}

#[test]
fn edits_are_reembedded_and_deletions_removed() {
    let mut shop = shop(&["One", "Two"]);
    shop.catch_up();
    let edit = ObservationEdit { title: Some("Another".into()), ..ObservationEdit::default() };
    let (one, two) = (shop.ids[0], shop.ids[1]);
    shop.store
        .write(|tx| {
            tx.edit_observation(one, &edit, Millis(9))?;
            tx.forget(RowId::new(RowKind::Observation, two.0), Millis(9))
        })
        .unwrap();
    assert_ne!(shop.made(0).unwrap().text_hash, shop.wanted(0));
    assert_eq!(remove_orphan_vectors(&mut shop.store, &mut shop.vectors).unwrap(), 1);
    assert_eq!(shop.made(1), None);
    shop.catch_up();
    assert_eq!(shop.made(0).unwrap().text_hash, shop.wanted(0));
    assert_eq!(shop.owed(), 0);
}

#[test]
fn text_changed_while_embedding_stays_queued() {
    let shop = &mut shop(&["One"]);
    let owed = shop.store.read().pending_embeddings(9).unwrap();
    let edit = ObservationEdit { title: Some("Another".into()), ..ObservationEdit::default() };
    let one = shop.ids[0];
    shop.store.write(|tx| tx.edit_observation(one, &edit, Millis(9))).unwrap();
    ack_batch(&mut shop.store, &owed).unwrap();
    assert_eq!(shop.owed(), 1);
}

#[test]
fn vectors_of_deleted_rows_are_removed() {
    let mut shop = shop(&["One"]);
    let owed = shop.store.read().pending_embeddings(9).unwrap();
    let one = shop.ids[0].0;
    // Another process deletes the row and its vectors while this one is still encoding it.
    shop.store.write(|tx| tx.forget(RowId::new(RowKind::Observation, one), Millis(9))).unwrap();
    remove_orphan_vectors(&mut shop.store, &mut shop.vectors).unwrap();
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
    shop.vectors.apply_changes(&[late], &[]).unwrap();
    ack_batch(&mut shop.store, &owed).unwrap();
    assert_eq!(shop.catch_up().removed, 1);
    assert_eq!(shop.vectors.row_count().unwrap(), 0);
}

#[test]
fn lost_file_is_rebuilt() {
    let mut shop = shop(&["One", "Two"]);
    shop.catch_up();
    let path = shop.vectors.path().to_owned();
    std::fs::remove_file(&path).unwrap();
    shop.vectors = VectorStore::open(&path, BagOfWordsEncoder.id()).unwrap();
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
fn reconcile_finds_every_difference() {
    let mut shop = shop(&["One", "Two", "Three"]);
    shop.catch_up();
    let (one, two) = (shop.ids[0].0, shop.ids[1].0);
    let stale = shop.vectors.entry(RowId::new(RowKind::Observation, one)).unwrap().unwrap();
    let stale = RowVectors { text_hash: 1, ..stale };
    let orphan = RowVectors { row_id: 999, ..stale.clone() };
    let lost = RowId::new(RowKind::Observation, two);
    shop.vectors.apply_changes(&[stale, orphan], &[lost]).unwrap();
    assert_eq!(reconcile(&mut shop.store, &shop.vectors).unwrap(), 3);
    let progress = shop.catch_up();
    assert_eq!((progress.embedded, progress.removed), (2, 1));
    assert_eq!(shop.made(0).unwrap().text_hash, shop.wanted(0));
    assert_eq!(shop.vectors.row_count().unwrap(), 3);
    assert_eq!(reconcile(&mut shop.store, &shop.vectors).unwrap(), 0);
}
