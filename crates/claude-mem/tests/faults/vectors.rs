//! Indexers that are killed at any moment, while rows are edited, forgotten and restored: a vector is never
//! used for a text that it was not computed from, and never outlives its row.

use std::collections::HashMap;
use std::process::{Child, Stdio};

use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};
use claude_mem_recall::manual_edits;
use claude_mem_search::passages::{subdocuments, with_whole};
use claude_mem_search::quantize::pack_vector;
use claude_mem_store::{
    NewRowContext, ObservationEdit, RowId, RowKind, RowVectors, Store, StoreError, VectorStore,
};
use embed::EmbeddingModel;
use rig::Sandbox;

use crate::common::hooks::{data, sandbox_with_real_clock};
use crate::short_or_long;

const ROWS: usize = 48;
/// Rows that change while one indexer runs; bounded, because otherwise the indexer would never finish.
const CHANGES: usize = 6;

struct VectorFixture {
    sandbox: Sandbox,
    store: Store,
    ids: Vec<ObservationId>,
    /// Cached encodings, so that each text is encoded once.
    encoded: HashMap<Vec<String>, Vec<u8>>,
    edits: usize,
}

impl VectorFixture {
    fn new() -> Self {
        let sandbox = sandbox_with_real_clock();
        std::fs::create_dir_all(data(&sandbox).root()).unwrap();
        let mut store = Store::open(&data(&sandbox).db()).unwrap();
        let ids = store
            .write(|tx| {
                let hint = ProjectHint {
                    name: "shop".into(),
                    keys: vec!["path:/src/shop".into()],
                    root: "/src/shop".into(),
                    branch: None,
                };
                let place = NewRowContext {
                    project: Some(tx.ensure_project(&hint, Millis(1))?),
                    made_by: "test",
                    ..NewRowContext::default()
                };
                (0..ROWS)
                    .map(|at| tx.create_observation(&observation(at), &place))
                    .collect::<Result<Vec<_>, StoreError>>()
            })
            .unwrap();
        Self { sandbox, store, ids, encoded: HashMap::new(), edits: 0 }
    }

    /// Starts an indexer in a separate process.
    fn index(&self, how: &str) -> Child {
        self.sandbox
            .mem_command(&["index", how])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap()
    }

    fn vectors(&self) -> Option<VectorStore> {
        VectorStore::open_read_only(&data(&self.sandbox).vectors_db(), EmbeddingModel::built_in().id()).ok()
    }

    /// Changes rows until this many have vectors, then kills the indexer.
    fn kill_after(&mut self, mut child: Child, rows: u64) -> bool {
        let most = self.edits + CHANGES;
        loop {
            if self.vectors().is_some_and(|made| made.row_count().unwrap_or(0) >= rows) {
                break;
            }
            if child.try_wait().unwrap().is_some() {
                return false;
            }
            if self.edits < most {
                self.change_something();
            }
            std::thread::yield_now();
        }
        // It may have exited already, which is fine.
        let _ = child.kill();
        child.wait().unwrap();
        true
    }

    /// Edits, forgets and restores rows in turn.
    fn change_something(&mut self) {
        self.edits += 1;
        let id = self.ids[self.edits * 7 % ROWS];
        let now = Millis(1_000 + self.edits as i64);
        let title = format!("Told anew for the {}th time", self.edits);
        let edit = ObservationEdit { title: Some(title), ..ObservationEdit::default() };
        let vectors = data(&self.sandbox).vectors_db();
        let gone = self.store.read().observation(id).is_err();
        if gone {
            let undone = self.store.write(|tx| tx.undo_forget(RowId::new(RowKind::Observation, id.0)));
            assert!(undone.unwrap());
        } else if self.edits.is_multiple_of(3) {
            manual_edits::forget(&mut self.store, &vectors, &[RowId::new(RowKind::Observation, id.0)], now)
                .unwrap();
        } else {
            self.store.write(|tx| tx.edit_observation(id, &edit, now)).unwrap();
        }
    }

    fn entries(&self) -> Vec<RowVectors> {
        let Some(vectors) = self.vectors() else {
            return Vec::new();
        };
        let mut keys = Vec::new();
        vectors.for_each_entry(|row, _| keys.push(row)).unwrap();
        let entry = |row| vectors.entry(row).unwrap();
        keys.into_iter().filter_map(entry).collect()
    }

    /// Checks that every vector that search would use belongs to the current text of its row.
    fn assert_vectors_match(&mut self) {
        for entry in self.entries() {
            let text = self.store.read().embeddable_text(RowId::new(entry.kind, entry.row_id)).unwrap();
            if text.is_none_or(|text| text.text_hash != entry.text_hash) {
                continue;
            }
            let texts = subdocuments(&self.store.read(), RowId::new(entry.kind, entry.row_id)).unwrap();
            let wanted = self.encoded.entry(texts.clone()).or_insert_with(|| {
                let parts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let vectors = EmbeddingModel::built_in().encode_batch(&parts);
                let mut packed = Vec::new();
                for vector in with_whole(&texts, vectors) {
                    pack_vector(&vector, &mut packed);
                }
                packed
            });
            assert_eq!(&entry.parts, wanted, "#{}: {texts:?}", entry.row_id);
        }
    }

    fn assert_index_complete(&mut self) {
        let status = self.index("build").wait().unwrap();
        assert!(status.success());
        self.assert_vectors_match();
        let mut made: Vec<i64> = self.entries().iter().map(|entry| entry.row_id).collect();
        made.sort_unstable();
        let reads = self.store.read();
        let rows = self.ids.iter().filter(|id| reads.observation(**id).is_ok());
        let rows: Vec<i64> = rows.map(|id| id.0).collect();
        assert_eq!(made, rows, "each row has vectors, and nothing else has");
        assert_eq!(reads.pending_embeddings_count().unwrap(), 0);
    }
}

fn observation(at: usize) -> NewObservation {
    NewObservation::from_text(
        ObservationText {
            narrative: format!("The {at}th order was lost."),
            ..ObservationText::new(ObservationType::BUGFIX, format!("Fixed case {at}"))
        },
        Origin::Agent,
        Millis(at as i64),
    )
}

#[test]
fn killed_indexer_leaves_no_stale_or_orphaned_vector() {
    let mut home = VectorFixture::new();
    let mut killed = 0;
    for round in 0..short_or_long(5, 200) {
        let how = if round % 2 == 0 { "rebuild" } else { "build" };
        let child = home.index(how);
        // A step that is coprime to the number of rows covers every batch.
        let rows = (round as u64 * 17 + 5) % ROWS as u64;
        killed += usize::from(home.kill_after(child, rows));
        home.assert_vectors_match();
        home.change_something();
        home.assert_vectors_match();
    }
    assert!(killed > 0);
    home.assert_index_complete();
}

#[test]
fn deleted_vectors_file_is_rebuilt() {
    let mut home = VectorFixture::new();
    let child = home.index("build");
    home.kill_after(child, 16);
    for end in ["", "-wal", "-shm"] {
        let mut file = data(&home.sandbox).vectors_db().into_os_string();
        file.push(end);
        // The log exists only while a writer is open.
        let _ = std::fs::remove_file(file);
    }
    home.assert_index_complete();
}
