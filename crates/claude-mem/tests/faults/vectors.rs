//! Whoever makes vectors is killed at any moment, while rows are edited, forgotten and brought
//! back: a vector is never read for a text it was not made from, and never outlives its row.

use std::collections::HashMap;
use std::process::{Child, Stdio};

use claude_mem::clock::Millis;
use claude_mem::hook::event::ProjectHint;
use claude_mem::ids::ObservationId;
use claude_mem::memory::{NewObservation, ObservationType, Origin};
use claude_mem::remember;
use claude_mem::search::packed::pack;
use claude_mem::search::subdocuments::subdocuments;
use claude_mem::store::{
    ObservationEdit, RowKind, RowVectors, Store, StoreError, Stored, VectorStore,
};
use embed::Model;
use rig::Sandbox;

use crate::common::hooks::{data, home_in_time};
use crate::short_or_long;

const ROWS: usize = 48;
/// Rows that change while one indexer runs: with no end to it there would be none to its work.
const CHANGES: usize = 6;

struct Home {
    sandbox: Sandbox,
    store: Store,
    ids: Vec<ObservationId>,
    /// What texts encode to, so that each is encoded once.
    encoded: HashMap<Vec<String>, Vec<u8>>,
    edits: usize,
}

impl Home {
    fn new() -> Self {
        let sandbox = home_in_time();
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
                let place = Stored {
                    project: Some(tx.ensure_project(&hint, Millis(1))?),
                    made_by: "test",
                    ..Stored::default()
                };
                (0..ROWS)
                    .map(|at| tx.create_observation(&observation(at), &place))
                    .collect::<Result<Vec<_>, StoreError>>()
            })
            .unwrap();
        Self {
            sandbox,
            store,
            ids,
            encoded: HashMap::new(),
            edits: 0,
        }
    }

    /// Begins to make vectors in a process of its own.
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
        VectorStore::open_read_only(&data(&self.sandbox).vectors_db(), Model::built_in().id()).ok()
    }

    /// Lets it go on until so many rows have vectors, changing rows meanwhile, and kills it.
    fn kill_after(&mut self, mut child: Child, rows: u64) -> bool {
        let most = self.edits + CHANGES;
        loop {
            if self
                .vectors()
                .is_some_and(|made| made.count().unwrap_or(0) >= rows)
            {
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
        // Too late to kill is as good a moment as any.
        let _ = child.kill();
        child.wait().unwrap();
        true
    }

    /// Edits, forgets and brings back, one after the other.
    fn change_something(&mut self) {
        self.edits += 1;
        let id = self.ids[self.edits * 7 % ROWS];
        let now = Millis(1_000 + self.edits as i64);
        let title = format!("Told anew for the {}th time", self.edits);
        let edit = ObservationEdit {
            title: Some(title),
            ..ObservationEdit::default()
        };
        let vectors = data(&self.sandbox).vectors_db();
        let gone = self.store.read().observation(id).is_err();
        if gone {
            let undone = self
                .store
                .write(|tx| tx.undo_forget(RowKind::Observation, id.0));
            assert!(undone.unwrap());
        } else if self.edits.is_multiple_of(3) {
            remember::forget(
                &mut self.store,
                &vectors,
                &[(RowKind::Observation, id.0)],
                now,
            )
            .unwrap();
        } else {
            self.store
                .write(|tx| tx.edit_observation(id, &edit, now))
                .unwrap();
        }
    }

    fn entries(&self) -> Vec<RowVectors> {
        let Some(vectors) = self.vectors() else {
            return Vec::new();
        };
        let mut keys = Vec::new();
        vectors
            .each(|kind, row_id, _| keys.push((kind, row_id)))
            .unwrap();
        let entry = |(kind, row_id)| vectors.entry(kind, row_id).unwrap();
        keys.into_iter().filter_map(entry).collect()
    }

    /// Where search would read an entry, its numbers are those of the text that stands there.
    fn is_true(&mut self) {
        for entry in self.entries() {
            let text = self
                .store
                .read()
                .owed_text(entry.kind, entry.row_id)
                .unwrap();
            if text.is_none_or(|text| text.text_hash != entry.text_hash) {
                continue;
            }
            let texts = subdocuments(&self.store.read(), entry.kind, entry.row_id).unwrap();
            let wanted = self.encoded.entry(texts.clone()).or_insert_with(|| {
                let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
                let mut packed = Vec::new();
                for vector in Model::built_in().encode_batch(&texts) {
                    pack(&vector, &mut packed);
                }
                packed
            });
            assert_eq!(&entry.parts, wanted, "#{}: {texts:?}", entry.row_id);
        }
    }

    fn is_whole(&mut self) {
        let status = self.index("build").wait().unwrap();
        assert!(status.success());
        self.is_true();
        let mut made: Vec<i64> = self.entries().iter().map(|entry| entry.row_id).collect();
        made.sort_unstable();
        let reads = self.store.read();
        let rows = self.ids.iter().filter(|id| reads.observation(**id).is_ok());
        let rows: Vec<i64> = rows.map(|id| id.0).collect();
        assert_eq!(made, rows, "each row has vectors, and nothing else has");
        assert_eq!(reads.owed_vectors_count().unwrap(), 0);
    }
}

fn observation(at: usize) -> NewObservation {
    NewObservation {
        kind: ObservationType::BUGFIX,
        title: format!("Fixed case {at}"),
        subtitle: String::new(),
        narrative: format!("The {at}th order was lost."),
        facts: Vec::new(),
        concepts: Vec::new(),
        files_read: Vec::new(),
        files_modified: Vec::new(),
        origin: Origin::Agent,
        created_at: Millis(at as i64),
        discovery_tokens: 0,
    }
}

#[test]
fn a_killed_indexer_leaves_no_vector_of_another_text_and_none_without_a_row() {
    let mut home = Home::new();
    let mut killed = 0;
    for round in 0..short_or_long(5, 200) {
        let how = if round % 2 == 0 { "rebuild" } else { "build" };
        let child = home.index(how);
        // Steps that share no factor with the number of rows fall on every batch.
        let rows = (round as u64 * 17 + 5) % ROWS as u64;
        killed += usize::from(home.kill_after(child, rows));
        home.is_true();
        home.change_something();
        home.is_true();
    }
    assert!(killed > 0);
    home.is_whole();
}

#[test]
fn a_file_that_is_deleted_under_its_makers_is_made_again() {
    let mut home = Home::new();
    let child = home.index("build");
    home.kill_after(child, 16);
    for end in ["", "-wal", "-shm"] {
        let mut file = data(&home.sandbox).vectors_db().into_os_string();
        file.push(end);
        // The log is there only while somebody writes.
        let _ = std::fs::remove_file(file);
    }
    home.is_whole();
}
