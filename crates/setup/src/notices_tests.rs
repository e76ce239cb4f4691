use super::*;
use claude_mem_store::Store;

#[test]
fn recovery_without_usable_backup_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    let mut store = Store::open(&temp.path().join("claude-mem.db")).unwrap();
    let now = Millis(1_000_000);
    let notice = RecoveryNotice {
        at: now,
        damaged: "/backups/damaged.db".into(),
        backup_from: None,
        salvaged: 0,
        rows: 0,
        passed_over: vec!["/backups/b.db: not a database".into()],
        incomplete: vec!["sessions not to be remembered".into()],
    };
    let text = serde_json::to_string(&notice).unwrap();
    store.write(|tx| tx.set_meta(RECOVERY_NOTICE_KEY, &text)).unwrap();
    let found = store_notices(&store.read(), &Settings::default(), now).unwrap();
    let what = &found[0].what;
    assert!(what.contains("no backup could be used"), "{what}");
    assert!(what.contains("sessions not to be remembered"), "{what}");
}

#[test]
fn unreadable_spool_is_reported() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path().to_path_buf());
    assert_eq!(spool_notices(&dir), [], "no spool yet");
    std::fs::create_dir(dir.spool()).unwrap();
    std::fs::write(dir.spool().join("1.bad"), "").unwrap();
    assert_eq!(spool_notices(&dir).len(), 1, "an event was set aside");
    std::fs::remove_dir_all(dir.spool()).unwrap();
    std::fs::write(dir.spool(), "not a directory").unwrap();
    let [notice] = &spool_notices(&dir)[..] else { panic!("one notice") };
    assert!(notice.what.starts_with("the spool cannot be read"), "{}", notice.what);
}
