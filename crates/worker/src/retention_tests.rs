use super::*;
use claude_mem_capture::privacy_marks::PrivacyMarks;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_store::testing::{WorkerScratch, scratch};
use claude_mem_store::{FeedbackSignal, NewFeedback, NewSession, RowId, RowKind, TranscriptPosition};

const NOW: Millis = Millis(1_769_853_600_000);
const CLIENT: &str = "claude-code";

struct RetentionFixture {
    scratch: WorkerScratch,
    store: SharedStore,
}

impl RetentionFixture {
    fn new() -> Self {
        let scratch = scratch();
        scratch.dir.create().unwrap();
        let store = SharedStore::open(&scratch.dir, NOW).unwrap();
        Self { scratch, store }
    }

    fn session(&self, name: &str, transcript: Option<&Path>, at: Millis) {
        let client_session = ClientSessionId(name.into());
        let new = NewSession {
            transcript_path: transcript.and_then(Path::to_str),
            ..NewSession::new(CLIENT, &client_session, at)
        };
        let made = self.store.with(|store| store.write(|tx| tx.ensure_session(&new)));
        made.unwrap();
    }

    fn marks<'a>(&'a self, session: &'a str) -> PrivacyMarks<'a> {
        PrivacyMarks::for_session(&self.scratch.dir, CLIENT, session)
    }
}

fn age(file: &Path, at: Millis) {
    let at = UNIX_EPOCH + Duration::from_millis(at.0 as u64);
    std::fs::File::options().write(true).open(file).unwrap().set_modified(at).unwrap();
}

fn long_ago() -> Millis {
    NOW.plus_seconds(-(MARK_DAYS_MAX + 1) * DAY_SECONDS)
}

#[test]
fn privacy_marks_outlive_their_sources() {
    let stage = RetentionFixture::new();
    let transcript = stage.scratch.dir.root().join("t.jsonl");
    std::fs::write(&transcript, "").unwrap();
    let missing = stage.scratch.dir.root().join("missing.jsonl");
    stage.session("over", Some(&missing), long_ago());
    stage.session("readable", Some(&transcript), long_ago());
    stage.session("going on", Some(&missing), NOW);
    let closed = ClientSessionId("closed".into());
    let close = |tx: &StoreWriter<'_>| tx.ignore_session(CLIENT, &closed, long_ago());
    stage.store.with(|store| store.write(close)).unwrap();
    for session in ["over", "readable", "going on"] {
        stage.marks(session).mute_turn(None).unwrap();
    }
    for session in ["closed", "unknown"] {
        stage.marks(session).mark_ignored().unwrap();
    }
    let count = || files_older_than(&stage.scratch.dir.muted(), Millis(i64::MAX)).unwrap().len();
    assert_eq!(count(), 8);
    delete_old_privacy_marks(&stage.store, NOW).unwrap();
    assert_eq!(count(), 8, "all of them are young");
    for mark in files_older_than(&stage.scratch.dir.muted(), Millis(i64::MAX)).unwrap() {
        age(&mark, long_ago());
    }
    delete_old_privacy_marks(&stage.store, NOW).unwrap();
    assert!(!stage.marks("over").had_private());
    for session in ["readable", "going on"] {
        assert!(stage.marks(session).is_muted(None), "{session}");
        assert!(stage.marks(session).had_private(), "{session}");
    }
    assert!(!stage.marks("closed").is_ignored(), "the store says it");
    assert!(stage.marks("unknown").is_ignored());
}

#[test]
fn unfinished_files_of_dead_processes_are_deleted() {
    let stage = RetentionFixture::new();
    let dir = &stage.scratch.dir;
    claude_mem_core::paths::create_dir(&dir.backups()).unwrap();
    // No process has a pid this high.
    let dead = i32::MAX;
    let ours = std::process::id();
    let left = [
        dir.root().join(format!("claude-mem.db.new-{dead}")),
        dir.backups().join(format!("claude-mem-x.unfinished-{dead}")),
        dir.backups().join(format!("claude-mem-x.unfinished-{dead}-journal")),
    ];
    let stay = [
        dir.backups().join(format!("claude-mem-x.unfinished-{ours}")),
        dir.backups().join("mine.db"),
        dir.db(),
    ];
    for file in left.iter().chain(&stay[..2]) {
        std::fs::write(file, "").unwrap();
    }
    delete_leftover_files(dir, Millis(0)).unwrap();
    assert!(left.iter().all(|file| file.exists()), "they are young");
    for file in left.iter().chain(&stay) {
        age(file, long_ago());
    }
    delete_leftover_files(dir, NOW).unwrap();
    assert!(left.iter().all(|file| !file.exists()));
    assert!(stay.iter().all(|file| file.exists()));
}

#[test]
fn set_aside_databases_are_limited_by_age_and_count() {
    let stage = RetentionFixture::new();
    let dir = stage.scratch.dir.backups();
    claude_mem_core::paths::create_dir(&dir).unwrap();
    let name = |word: &str, days: i64, more: &str| {
        let stamp = backups::format_stamp(NOW.plus_seconds(-days * DAY_SECONDS));
        dir.join(format!("{word}-{stamp}{more}.db"))
    };
    let backup = name("claude-mem", 400, "");
    let old = name("damaged", SET_ASIDE_DAYS_MAX + 1, "");
    let young: Vec<PathBuf> =
        (1..=6).map(|day| name(if day % 2 == 0 { "damaged" } else { "replaced" }, day, "-1")).collect();
    for file in young.iter().chain([&backup, &old]) {
        std::fs::write(file, "").unwrap();
        std::fs::write(format!("{}-wal", file.display()), "").unwrap();
    }
    delete_leftover_files(&stage.scratch.dir, NOW).unwrap();
    let stands = |file: &PathBuf| {
        let log = PathBuf::from(format!("{}-wal", file.display()));
        assert_eq!(file.exists(), log.exists());
        file.exists()
    };
    let kept: Vec<bool> = young.iter().map(stands).collect();
    assert_eq!(kept, [true, true, true, true, false, false]);
    assert!(stands(&backup) && !stands(&old));
}

#[test]
fn old_rows_are_deleted_and_user_feedback_stays() {
    let stage = RetentionFixture::new();
    let here = stage.scratch.dir.db().to_string_lossy().into_owned();
    let filled = stage.store.with(|store| {
        store.write(|tx| {
            for (days, signal) in [
                (LEDGER_DAYS_MAX + 1, FeedbackSignal::Injected),
                (LEDGER_DAYS_MAX + 1, FeedbackSignal::Wrong),
                (1, FeedbackSignal::Injected),
            ] {
                tx.record_feedback(&NewFeedback {
                    kind: RowKind::Observation,
                    row_id: 1,
                    client: CLIENT,
                    session: "s",
                    agent_id: "",
                    signal,
                    place: "cli",
                    score: None,
                    rank: None,
                    tokens: 0,
                    reason: "",
                    at: NOW.plus_seconds(-days * DAY_SECONDS),
                })?;
            }
            for days in [1, SPEND_DAYS_MAX + 1] {
                let at = NOW.plus_seconds(-days * DAY_SECONDS);
                tx.reserve_spend("2026-01-01", None, "p", "m", "x", 5, at)?;
            }
            for path in [&here, "/no/such/transcript.jsonl"] {
                let at = TranscriptPosition {
                    path: path.to_owned(),
                    client: CLIENT.into(),
                    session: "s".into(),
                    offset_bytes: 1,
                    state: "{}".into(),
                };
                tx.set_transcript_position(&at, long_ago())?;
            }
            tx.set_meta("compacted:claude-code:old", &long_ago().0.to_string())?;
            tx.set_meta("compacted:claude-code:new", &NOW.0.to_string())?;
            tx.set_meta("notice", "1")
        })
    });
    filled.unwrap();
    delete_old_rows(&stage.store, NOW).unwrap();
    let left = stage.store.with(|store| {
        let reads = store.read();
        let shown = reads.feedback_for_row(RowId::new(RowKind::Observation, 1))?;
        let shown: Vec<FeedbackSignal> = shown.into_iter().map(|entry| entry.signal).collect();
        Ok((
            shown,
            reads.total_spend()?.calls,
            reads.transcript_paths(CLIENT, "s")?,
            reads.last_compaction(CLIENT, "old")?,
            reads.last_compaction(CLIENT, "new")?,
            reads.meta("notice")?,
        ))
    });
    let want = (
        vec![FeedbackSignal::Wrong, FeedbackSignal::Injected],
        1,
        vec![here],
        Millis(0),
        NOW,
        Some("1".to_owned()),
    );
    assert_eq!(left.unwrap(), want);
}

#[test]
fn many_rows_are_deleted_in_batches() {
    let stage = RetentionFixture::new();
    let rows_in_all = SWEEP_ROWS as usize * 2 + 1;
    let filled = stage.store.with(|store| {
        store.write(|tx| {
            (0..rows_in_all).try_for_each(|n| {
                let old = tx.set_meta(&format!("compacted:claude-code:{n}"), "1");
                old.map(drop)
            })
        })
    });
    filled.unwrap();
    let calls = std::cell::Cell::new(0);
    let gone = delete_in_batches(&stage.store, |tx, max| {
        calls.set(calls.get() + 1);
        let gone = tx.drop_compactions_before(NOW, max)?;
        assert!(gone <= max as usize);
        Ok(gone)
    });
    assert_eq!((gone.unwrap(), calls.get()), (rows_in_all, 3));
}

#[test]
fn expired_link_page_is_deleted() {
    let stage = RetentionFixture::new();
    let dir = &stage.scratch.dir;
    let (fresh, old) = (dir.open_page("fresh"), dir.open_page("old"));
    let other = dir.root().join("open-minded.txt");
    for file in [&fresh, &old, &other] {
        std::fs::write(file, "").unwrap();
        age(file, NOW.plus_seconds(-601));
    }
    age(&fresh, NOW.plus_seconds(-599));
    delete_expired_link_pages(dir, NOW).unwrap();
    assert_eq!([fresh.exists(), old.exists(), other.exists()], [true, false, true]);
}
