use super::*;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_store::testing::scratch;

/// Replaces the store with one that has these projects.
fn replace_store(dir: &DataDir, names: &[&str]) {
    let beside = tempfile::tempdir_in(dir.root()).unwrap();
    let path = beside.path().join("new.db");
    let mut store = Store::open(&path).unwrap();
    for name in names {
        let hint = ProjectHint {
            name: (*name).to_owned(),
            keys: vec![format!("path:/src/{name}")],
            ..ProjectHint::default()
        };
        store.write(|tx| tx.ensure_project(&hint, Millis(1))).unwrap();
    }
    store.checkpoint().unwrap();
    drop(store);
    std::fs::rename(path, dir.db()).unwrap();
}

fn projects(warm: &EnginePool) -> usize {
    warm.with_engine(|engine| Ok(engine.reads().projects()?.len())).unwrap()
}

#[test]
fn replaced_store_is_reopened() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    let warm = EnginePool::new(scratch.dir.clone(), true);
    replace_store(&scratch.dir, &["shop"]);
    assert_eq!(projects(&warm), 1);
    replace_store(&scratch.dir, &["shop", "bank"]);
    assert_eq!(projects(&warm), 2);
}

#[test]
fn idle_engines_are_closed() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    replace_store(&scratch.dir, &["shop"]);
    let warm = EnginePool::new(scratch.dir.clone(), true);
    assert_eq!(projects(&warm), 1);
    let is_open = || !warm.idle.lock().unwrap().engines.is_empty();
    warm.close_idle(Instant::now());
    assert!(is_open());
    warm.close_idle(Instant::now() + Duration::from_secs(WARM_SECONDS));
    assert!(!is_open());
    assert_eq!(projects(&warm), 1);
}

#[test]
fn concurrent_queries_do_not_block() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    replace_store(&scratch.dir, &["shop"]);
    let warm = EnginePool::new(scratch.dir.clone(), true);
    // Nested calls: with a single engine this would deadlock.
    let inner = warm.with_engine(|_| Ok(projects(&warm))).unwrap();
    assert_eq!(inner, 1);
    assert_eq!(warm.idle.lock().unwrap().engines.len(), 2);
    assert_eq!(projects(&warm), 1);
    assert_eq!(warm.idle.lock().unwrap().engines.len(), 2);
}

#[test]
fn missing_vectors_are_logged_once() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    replace_store(&scratch.dir, &["shop"]);
    std::fs::write(scratch.dir.vectors_db(), "no database").unwrap();
    let warm = EnginePool::new(scratch.dir.clone(), true);
    assert_eq!(projects(&warm), 1);
    assert_eq!(projects(&warm), 1);
    let log = std::fs::read_dir(scratch.dir.logs()).unwrap().flatten();
    let log: String = log.map(|file| std::fs::read_to_string(file.path()).unwrap()).collect();
    assert_eq!(log.matches("vectors unavailable; searching by words only").count(), 1, "{log}");
}
