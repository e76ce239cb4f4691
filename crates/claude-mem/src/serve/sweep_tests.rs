use super::*;
use crate::hook::mute::Marks;
use crate::ids::ClientSessionId;
use crate::memory::Origin;
use crate::serve::testing::{Scratch, scratch};
use crate::store::{Feedback, NewSession, RowKind, Signal, TranscriptPosition};

const NOW: Millis = Millis(1_769_853_600_000);
const CLIENT: &str = "claude-code";

struct Stage {
    scratch: Scratch,
    store: SharedStore,
}

impl Stage {
    fn new() -> Self {
        let scratch = scratch();
        scratch.dir.create().unwrap();
        let store = SharedStore::open(&scratch.dir, NOW).unwrap();
        Self { scratch, store }
    }

    fn session(&self, name: &str, transcript: Option<&Path>, at: Millis) {
        let new = NewSession {
            client: CLIENT,
            client_session: &ClientSessionId(name.into()),
            project: None,
            branch: None,
            transcript_path: transcript.and_then(Path::to_str),
            origin: Origin::Agent,
            import_run: None,
            at,
        };
        let made = self
            .store
            .with(|store| store.write(|tx| tx.ensure_session(&new)));
        made.unwrap();
    }

    fn marks<'a>(&'a self, session: &'a str) -> Marks<'a> {
        Marks::of(&self.scratch.dir, CLIENT, session)
    }
}

fn age(file: &Path, at: Millis) {
    let at = UNIX_EPOCH + Duration::from_millis(at.0 as u64);
    std::fs::File::options()
        .write(true)
        .open(file)
        .unwrap()
        .set_modified(at)
        .unwrap();
}

fn long_ago() -> Millis {
    NOW.plus_seconds(-(MARK_DAYS_MAX + 1) * DAY_SECONDS)
}

#[test]
fn marks_outlive_everything_that_could_bring_back_what_they_speak_of() {
    let stage = Stage::new();
    let transcript = stage.scratch.dir.root().join("t.jsonl");
    std::fs::write(&transcript, "").unwrap();
    let missing = stage.scratch.dir.root().join("missing.jsonl");
    stage.session("over", Some(&missing), long_ago());
    stage.session("readable", Some(&transcript), long_ago());
    stage.session("going on", Some(&missing), NOW);
    let closed = ClientSessionId("closed".into());
    let close = |tx: &Writes<'_>| tx.ignore_session(CLIENT, &closed, long_ago());
    stage.store.with(|store| store.write(close)).unwrap();
    for session in ["over", "readable", "going on"] {
        stage.marks(session).mute_turn(None).unwrap();
    }
    for session in ["closed", "unknown"] {
        stage.marks(session).ignore().unwrap();
    }
    let count = || {
        files(&stage.scratch.dir.muted(), Millis(i64::MAX))
            .unwrap()
            .len()
    };
    assert_eq!(count(), 8);
    old_marks(&stage.store, NOW).unwrap();
    assert_eq!(count(), 8, "all of them are young");
    for mark in files(&stage.scratch.dir.muted(), Millis(i64::MAX)).unwrap() {
        age(&mark, long_ago());
    }
    old_marks(&stage.store, NOW).unwrap();
    assert!(!stage.marks("over").had_private());
    for session in ["readable", "going on"] {
        assert!(stage.marks(session).is_muted(None), "{session}");
        assert!(stage.marks(session).had_private(), "{session}");
    }
    assert!(!stage.marks("closed").is_ignored(), "the store says it");
    assert!(stage.marks("unknown").is_ignored());
}

#[test]
fn what_killed_processes_were_making_goes_and_what_living_ones_make_stays() {
    let stage = Stage::new();
    let dir = &stage.scratch.dir;
    crate::paths::create_dir(&dir.backups()).unwrap();
    // No process has a number as high as this.
    let dead = i32::MAX;
    let ours = std::process::id();
    let left = [
        dir.root().join(format!("claude-mem.db.new-{dead}")),
        dir.backups()
            .join(format!("claude-mem-x.unfinished-{dead}")),
        dir.backups()
            .join(format!("claude-mem-x.unfinished-{dead}-journal")),
    ];
    let stay = [
        dir.backups()
            .join(format!("claude-mem-x.unfinished-{ours}")),
        dir.backups().join("mine.db"),
        dir.db(),
    ];
    for file in left.iter().chain(&stay[..2]) {
        std::fs::write(file, "").unwrap();
    }
    leftovers(dir, Millis(0)).unwrap();
    assert!(left.iter().all(|file| file.exists()), "they are young");
    for file in left.iter().chain(&stay) {
        age(file, long_ago());
    }
    leftovers(dir, NOW).unwrap();
    assert!(left.iter().all(|file| !file.exists()));
    assert!(stay.iter().all(|file| file.exists()));
}

#[test]
fn databases_that_made_room_are_kept_for_a_while_and_not_too_many() {
    let stage = Stage::new();
    let dir = stage.scratch.dir.backups();
    crate::paths::create_dir(&dir).unwrap();
    let name = |word: &str, days: i64, more: &str| {
        let stamp = backups::stamp(NOW.plus_seconds(-days * DAY_SECONDS));
        dir.join(format!("{word}-{stamp}{more}.db"))
    };
    let backup = name("claude-mem", 400, "");
    let old = name("damaged", SET_ASIDE_DAYS_MAX + 1, "");
    let young: Vec<PathBuf> = (1..=6)
        .map(|day| name(if day % 2 == 0 { "damaged" } else { "replaced" }, day, "-1"))
        .collect();
    for file in young.iter().chain([&backup, &old]) {
        std::fs::write(file, "").unwrap();
        std::fs::write(format!("{}-wal", file.display()), "").unwrap();
    }
    leftovers(&stage.scratch.dir, NOW).unwrap();
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
fn old_rows_go_and_judgements_stay() {
    let stage = Stage::new();
    let here = stage.scratch.dir.db().to_string_lossy().into_owned();
    let filled = stage.store.with(|store| {
        store.write(|tx| {
            for (days, signal) in [
                (LEDGER_DAYS_MAX + 1, Signal::Injected),
                (LEDGER_DAYS_MAX + 1, Signal::Wrong),
                (1, Signal::Injected),
            ] {
                tx.record_feedback(&Feedback {
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
    old_rows(&stage.store, NOW).unwrap();
    let left = stage.store.with(|store| {
        let reads = store.read();
        let shown = reads.feedback_of(RowKind::Observation, 1)?;
        let shown: Vec<Signal> = shown.into_iter().map(|entry| entry.signal).collect();
        Ok((
            shown,
            reads.spend_in_all()?.calls,
            reads.transcripts_read(CLIENT, "s")?,
            reads.last_compaction(CLIENT, "old")?,
            reads.last_compaction(CLIENT, "new")?,
            reads.meta("notice")?,
        ))
    });
    let want = (
        vec![Signal::Wrong, Signal::Injected],
        1,
        vec![here],
        Millis(0),
        NOW,
        Some("1".to_owned()),
    );
    assert_eq!(left.unwrap(), want);
}

#[test]
fn many_rows_go_in_several_transactions() {
    let stage = Stage::new();
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
    let gone = rows(&stage.store, |tx, max| {
        calls.set(calls.get() + 1);
        let gone = tx.drop_compactions_before(NOW, max)?;
        assert!(gone <= max as usize);
        Ok(gone)
    });
    assert_eq!((gone.unwrap(), calls.get()), (rows_in_all, 3));
}

#[test]
fn a_page_that_leads_to_a_link_goes_when_the_link_is_void() {
    let stage = Stage::new();
    let dir = &stage.scratch.dir;
    let (fresh, old) = (dir.opening("fresh"), dir.opening("old"));
    let other = dir.root().join("open-minded.txt");
    for file in [&fresh, &old, &other] {
        std::fs::write(file, "").unwrap();
        age(file, NOW.plus_seconds(-601));
    }
    age(&fresh, NOW.plus_seconds(-599));
    opened(dir, NOW).unwrap();
    assert_eq!(
        [fresh.exists(), old.exists(), other.exists()],
        [true, false, true]
    );
}
