use std::os::unix::fs::FileExt as _;

use super::*;
use crate::NewRowContext;
use crate::testing::{WorkerScratch, observation, scratch};
use claude_mem_core::clock::Millis;

const PAGE_BYTES: u64 = 4_096;

fn furnished() -> (WorkerScratch, Store) {
    let scratch = scratch();
    let mut store = Store::open(&scratch.dir.db()).unwrap();
    store
        .write(|tx| {
            for n in 0..40 {
                tx.create_observation(
                    &observation(&format!("memory {n}"), Millis(n)),
                    &NewRowContext::default(),
                )?;
            }
            Ok(())
        })
        .unwrap();
    store.checkpoint().unwrap();
    (scratch, store)
}

fn root_page(store: &Store, name: &str) -> u64 {
    let sql = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    store.conn.query_row(sql, [name], |row| row.get::<_, i64>(0)).unwrap() as u64
}

/// Overwrites bytes at the end of a page of the closed database.
fn overwrite(scratch: &WorkerScratch, page: u64, bytes: u64) {
    let file = std::fs::File::options().write(true).open(scratch.dir.db()).unwrap();
    file.write_all_at(&vec![0x5a; bytes as usize], page * PAGE_BYTES - bytes).unwrap();
}

#[test]
fn sound_store_is_left_alone() {
    let (_scratch, mut store) = furnished();
    assert!(!store.rebuild_damaged_indexes().unwrap());
}

#[test]
fn index_that_disagrees_with_its_table_is_rebuilt() {
    let (scratch, store) = furnished();
    let page = root_page(&store, "sqlite_autoindex_observations_1");
    store.close().unwrap();
    overwrite(&scratch, page, 1);
    let mut store = Store::open(&scratch.dir.db()).unwrap();
    assert!(!store.integrity_problems().unwrap().is_empty());
    assert!(store.rebuild_damaged_indexes().unwrap());
    assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
    assert_eq!(store.read().counts().unwrap().observations, 40);
}

#[test]
fn damaged_table_is_left_to_recovery() {
    let (scratch, store) = furnished();
    let page = root_page(&store, "observations");
    store.close().unwrap();
    overwrite(&scratch, page, PAGE_BYTES - 8);
    let mut store = Store::open(&scratch.dir.db()).unwrap();
    assert!(matches!(store.rebuild_damaged_indexes(), Err(StoreError::Corrupt)));
}
