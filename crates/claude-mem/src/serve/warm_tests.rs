use super::*;
use crate::clock::Millis;
use crate::hook::event::ProjectHint;
use crate::serve::testing::scratch;

/// A store of these projects, put where the old one was.
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
        store
            .write(|tx| tx.ensure_project(&hint, Millis(1)))
            .unwrap();
    }
    store.checkpoint().unwrap();
    drop(store);
    std::fs::rename(path, dir.db()).unwrap();
}

fn projects(warm: &Warm) -> usize {
    warm.with(|engine| Ok(engine.reads().projects()?.len()))
        .unwrap()
}

#[test]
fn a_store_that_was_replaced_is_opened_anew() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    let warm = Warm::new(scratch.dir.clone(), true);
    replace_store(&scratch.dir, &["shop"]);
    assert_eq!(projects(&warm), 1);
    replace_store(&scratch.dir, &["shop", "bank"]);
    assert_eq!(projects(&warm), 2);
}

#[test]
fn it_rests_when_nobody_has_asked_for_a_while() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    replace_store(&scratch.dir, &["shop"]);
    let warm = Warm::new(scratch.dir.clone(), true);
    assert_eq!(projects(&warm), 1);
    let is_open = || !warm.idle.lock().unwrap().engines.is_empty();
    warm.rest(Instant::now());
    assert!(is_open());
    warm.rest(Instant::now() + Duration::from_secs(WARM_SECONDS));
    assert!(!is_open());
    assert_eq!(projects(&warm), 1);
}

#[test]
fn who_asks_while_another_does_waits_for_nobody() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    replace_store(&scratch.dir, &["shop"]);
    let warm = Warm::new(scratch.dir.clone(), true);
    // One inside the other: with a single engine this would never end.
    let inner = warm.with(|_| Ok(projects(&warm))).unwrap();
    assert_eq!(inner, 1);
    assert_eq!(warm.idle.lock().unwrap().engines.len(), 2);
    assert_eq!(projects(&warm), 1);
    assert_eq!(warm.idle.lock().unwrap().engines.len(), 2);
}

#[test]
fn that_meaning_has_no_say_is_logged_when_the_engine_is_opened() {
    let scratch = scratch();
    scratch.dir.create().unwrap();
    replace_store(&scratch.dir, &["shop"]);
    std::fs::write(scratch.dir.vectors_db(), "no database").unwrap();
    let warm = Warm::new(scratch.dir.clone(), true);
    assert_eq!(projects(&warm), 1);
    assert_eq!(projects(&warm), 1);
    let log = std::fs::read_dir(scratch.dir.logs()).unwrap().flatten();
    let log: String = log
        .map(|file| std::fs::read_to_string(file.path()).unwrap())
        .collect();
    assert_eq!(log.matches("searched by words alone").count(), 1, "{log}");
}
