use super::*;

fn row(kind: RowKind, row_id: i64, project: i64, text_hash: i64) -> RowVectors {
    RowVectors {
        kind,
        row_id,
        project: Some(ProjectId(project)),
        created_at: Millis(row_id),
        text_hash,
        parts: vec![1, 2, 3],
        bits: vec![7, 8],
    }
}

fn signed(store: &VectorStore, project: Option<i64>, after: i64) -> Vec<i64> {
    let mut found = Vec::new();
    store.scan_signatures(project.map(ProjectId), after, |s| found.push(s.row_id)).unwrap();
    found
}

#[test]
fn signature_follows_its_row() {
    let dir = tempfile::tempdir().unwrap();
    let mut store = VectorStore::open(&dir.path().join("vectors.db"), "m").unwrap();
    let (one, two) = (row(RowKind::Observation, 1, 5, 10), row(RowKind::Prompt, 2, 6, 20));
    store.apply_changes(&[one.clone(), two], &[]).unwrap();
    assert_eq!(signed(&store, None, 0), [1, 2]);
    assert_eq!(signed(&store, Some(5), 0), [1]);
    assert_eq!(store.entry(RowId::new(RowKind::Observation, 1)).unwrap(), Some(one.clone()));

    let before = store.newest_id().unwrap();
    let moved = RowVectors { project: Some(ProjectId(6)), ..one };
    store.apply_changes(&[moved], &[RowId::new(RowKind::Prompt, 2)]).unwrap();
    assert_eq!(signed(&store, None, before), [1], "what is new, and only that");
    assert_eq!(signed(&store, Some(5), 0), Vec::<i64>::new());
    assert_eq!(signed(&store, Some(6), 0), [1]);
    assert_eq!(store.vector_source(RowId::new(RowKind::Prompt, 2)).unwrap(), None);
    assert_eq!(store.row_count().unwrap(), 1);
}

#[test]
fn other_models_are_ignored() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vectors.db");
    let mut old = VectorStore::open(&path, "old").unwrap();
    old.apply_changes(&[row(RowKind::Observation, 1, 5, 10)], &[]).unwrap();
    let new = VectorStore::open(&path, "new").unwrap();
    assert_eq!(signed(&new, None, 0), Vec::<i64>::new());
    assert_eq!(new.vector_source(RowId::new(RowKind::Observation, 1)).unwrap(), None);
    assert_eq!(signed(&old, None, 0), [1]);
}

#[test]
fn corrupt_file_is_rebuilt_and_foreign_one_kept() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("vectors.db");
    std::fs::write(&path, b"not a database at all").unwrap();
    assert!(matches!(VectorStore::open_read_only(&path, "m"), Err(StoreError::Corrupt)));
    let first = VectorStore::open(&path, "m").unwrap().uid().unwrap();
    assert_eq!(VectorStore::open(&path, "m").unwrap().uid().unwrap(), first);
    std::fs::remove_file(&path).unwrap();
    assert!(matches!(VectorStore::open_read_only(&path, "m"), Err(StoreError::Missing)));
    assert_ne!(VectorStore::open(&path, "m").unwrap().uid().unwrap(), first);

    let other = dir.path().join("other.db");
    super::super::Store::open(&other).unwrap();
    assert!(matches!(VectorStore::open(&other, "m"), Err(StoreError::Foreign)));
}
