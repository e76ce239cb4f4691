use super::*;
use crate::clock::Micros;
use crate::hook::event::{Body, Event};
use crate::hook::key;
use crate::serve::testing::{Scratch, accept, end, event, prompt, scratch};
use crate::store::{Page, SessionStatus};
use crate::transcript::testing::Script;

/// 2026-01-31 10:00:00 UTC, where the scripts begin.
const START: i64 = 1_769_853_600;

struct Stage {
    scratch: Scratch,
    store: Arc<SharedStore>,
    witness: Witness,
    script: Script,
}

impl Stage {
    fn new() -> Self {
        let scratch = scratch();
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let witness = Witness::new(Arc::clone(&store), "/home/user".into());
        Self {
            scratch,
            store,
            witness,
            script: Script::new(),
        }
    }

    /// As a hook of session `s` would have put it.
    fn event(&self, seconds: i64, body: Body) -> Event {
        Event {
            transcript_path: Some(self.script.path().to_string_lossy().into_owned()),
            ..event("s", START + seconds, body)
        }
    }

    fn queue(&self, events: &[Event]) {
        let queued = self.store.with(|store| {
            accept(store, events);
            Ok(())
        });
        queued.unwrap();
    }

    /// Hears session `s` with these kinds of events before it.
    fn hear(&self, kinds: &[&str]) -> usize {
        let heads: Vec<Head> = kinds
            .iter()
            .map(|kind| Head {
                kind: (*kind).to_owned(),
                at: Micros(0),
                bytes: 0,
                not_before: Millis(0),
            })
            .collect();
        let ready = self
            .store
            .with(|store| store.read().sessions_with_work())
            .unwrap();
        let ready = ready.iter().find(|ready| ready.session.0 == "s").unwrap();
        self.witness.hear(ready, &heads).unwrap().told
    }

    /// The kinds of all queued events, oldest first.
    fn queued(&self) -> Vec<String> {
        let pending = self
            .store
            .with(|store| store.read().pending(None, Page::first(500)))
            .unwrap();
        let mut kinds: Vec<String> = pending.items.into_iter().map(|row| row.kind).collect();
        kinds.reverse();
        kinds
    }

    fn settings(&self, json: &str) {
        std::fs::write(self.scratch.dir.settings(), json).unwrap();
    }
}

fn start() -> Body {
    Body::SessionStart {
        source: "startup".into(),
    }
}

/// A turn of which no hook has told: a prompt, a call and the last words.
fn whole_turn(script: &mut Script) {
    script
        .user("mend the price")
        .calls("t1", "Bash", serde_json::json!({"command": "make"}))
        .result("t1", "ok")
        .says("It is mended.", Some("end_turn"));
}

#[test]
fn what_no_hook_delivered_comes_from_the_transcript_and_only_once() {
    let mut stage = Stage::new();
    whole_turn(&mut stage.script);
    stage.queue(&[stage.event(0, start())]);
    assert_eq!(stage.hear(&["session_start"]), 3);
    let want = ["session_start", "prompt", "tool_use", "stop"];
    assert_eq!(stage.queued(), want);
    assert_eq!(stage.hear(&["stop"]), 0, "nothing new");
    // From the beginning again, as after a restored backup.
    let forgotten = stage.store.with(|store| {
        store.write(|tx| {
            let path = stage.script.path().to_string_lossy().into_owned();
            let mut at = tx.transcript_position(&path)?.unwrap();
            at.offset_bytes = 0;
            tx.set_transcript_position(&at, Millis(0))
        })
    });
    forgotten.unwrap();
    assert_eq!(stage.hear(&["stop"]), 0, "all of it is known");
    assert_eq!(stage.queued(), want);
}

#[test]
fn what_hooks_delivered_is_not_told_again() {
    let mut stage = Stage::new();
    whole_turn(&mut stage.script);
    let mut told = [
        stage.event(1, prompt("mend the price")),
        stage.event(
            3,
            Body::ToolUse {
                tool: "Bash".into(),
                tool_use_id: Some("t1".into()),
                input: serde_json::json!({"command": "make"}),
                output: serde_json::json!({"stdout": "ok"}),
                failed: false,
                duration_ms: Some(3),
            },
        ),
        stage.event(
            4,
            Body::Stop {
                last_message: Some("It is mended.".into()),
            },
        ),
    ];
    for event in &mut told {
        event.prompt_id = Some("p0".into());
    }
    stage.queue(&told);
    assert_eq!(stage.hear(&["stop"]), 0);
    assert_eq!(stage.queued().len(), 3);
}

#[test]
fn many_events_come_in_several_batches_and_in_order() {
    let mut stage = Stage::new();
    stage.script.user("go");
    let calls = WITNESS_BATCH * 3 + 1;
    for n in 0..calls {
        let id = format!("t{n}");
        let input = serde_json::json!({"command": n.to_string()});
        stage.script.calls(&id, "Bash", input).result(&id, "ok");
    }
    stage.queue(&[stage.event(0, start())]);
    assert_eq!(stage.hear(&["session_start"]), calls + 1);
    assert_eq!(stage.queued().len(), calls + 2);
}
const WITNESS_BATCH: usize = 4;
const _: () = assert!(WITNESS_BATCH * 3 + 1 < 30, "the script counts seconds");

#[test]
fn a_private_turn_and_what_settings_leave_out_stay_out() {
    let mut stage = Stage::new();
    stage.settings(r#"{"skip_tools": ["Bash"], "ignore_paths": ["secrets"]}"#);
    let read = |path: &str| serde_json::json!({ "file_path": path });
    stage
        .script
        .user("<private>my salary</private>")
        .calls("t1", "Read", read("/x/private"))
        .result("t1", "100")
        .says("It is 100.", Some("end_turn"))
        .user("in public")
        .calls("t2", "Bash", serde_json::json!({"command": "make"}))
        .result("t2", "ok")
        .calls("t3", "Read", read("/x/secrets/a"))
        .result("t3", "ok")
        .calls("t4", "Read", read("/x/open"))
        .result("t4", "ok")
        .says("Done.", Some("end_turn"));
    stage.queue(&[stage.event(0, start())]);
    stage.hear(&["session_start"]);
    let want = ["session_start", "prompt", "prompt", "tool_use", "stop"];
    assert_eq!(stage.queued(), want);
}

#[test]
fn a_turn_that_its_hook_muted_is_muted_here() {
    let mut stage = Stage::new();
    whole_turn(&mut stage.script);
    let marks = Marks::of(&stage.scratch.dir, CLAUDE_CODE.name, "s");
    marks.mute_turn(Some("p0")).unwrap();
    stage.queue(&[stage.event(0, start())]);
    stage.hear(&["session_start"]);
    assert_eq!(
        stage.queued(),
        ["session_start", "prompt"],
        "its place alone"
    );
}

#[test]
fn a_transcript_that_must_not_be_read_is_not() {
    type Forbid = fn(&Stage);
    let reasons: [(&str, Forbid); 6] = [
        ("closed", |stage| {
            let marks = Marks::of(&stage.scratch.dir, CLAUDE_CODE.name, "s");
            marks.close_transcript().unwrap();
        }),
        ("disabled", |stage| {
            let marks = Marks::of(&stage.scratch.dir, CLAUDE_CODE.name, "s");
            marks.ignore().unwrap();
        }),
        ("ignored", |stage| {
            let session = ClientSessionId("s".into());
            let ignore = |tx: &crate::store::Writes<'_>| {
                tx.ignore_session(CLAUDE_CODE.name, &session, Millis(0))
            };
            stage.store.with(|store| store.write(ignore)).unwrap();
        }),
        ("an ignored project", |stage| {
            stage.settings(r#"{"ignore_projects": ["shop"]}"#);
        }),
        ("settings that cannot be read", |stage| {
            stage.settings(r#"{"ignore_projects": ["#);
        }),
        ("a pause", |stage| {
            let pause = pause::Pause {
                since: None,
                until: None,
            };
            pause::begin(&stage.scratch.dir.paused(), pause).unwrap();
        }),
    ];
    for (why, forbid) in reasons {
        let mut stage = Stage::new();
        whole_turn(&mut stage.script);
        stage.queue(&[stage.event(0, start())]);
        forbid(&stage);
        assert_eq!(stage.hear(&["session_start"]), 0, "{why}");
        assert_eq!(stage.queued(), ["session_start"], "{why}");
    }
}

/// Works off what is queued, and says what is known of session `s` then.
fn drained(stage: &Stage) -> (SessionStatus, u64, u64) {
    #[derive(Debug)]
    struct Quiet;
    impl crate::serve::drain::Watcher for Quiet {}
    let local = Arc::new(crate::serve::local::Local::default());
    let store = Arc::clone(&stage.store);
    let drain = crate::serve::drain::Drain::start(store, local, Arc::new(Quiet), 1).unwrap();
    assert!(drain.flush(|| false).unwrap());
    drain.stop(Duration::from_secs(9));
    let known = stage.store.with(|store| {
        let reads = store.read();
        let session = ClientSessionId("s".into());
        let session = reads.session_of_client(CLAUDE_CODE.name, &session)?;
        Ok((session.unwrap().status, reads.counts()?))
    });
    let (status, counts) = known.unwrap();
    (status, counts.final_messages, counts.summaries)
}

#[test]
fn a_session_whose_client_was_killed_is_told_to_its_end_when_the_next_one_begins() {
    let mut stage = Stage::new();
    stage.queue(&[stage.event(0, start())]);
    assert_eq!(drained(&stage), (SessionStatus::Active, 0, 0));
    // The client goes on, its hooks do not; then it is killed.
    whole_turn(&mut stage.script);
    let mut next = stage.event(50, start());
    next.session = ClientSessionId("next".into());
    next.transcript_path = None;
    stage.queue(&[next]);
    let ready = stage
        .store
        .with(|store| store.read().sessions_with_work())
        .unwrap();
    let heads = stage
        .store
        .with(|store| store.read().heads(CLAUDE_CODE.name, &ready[0].session, 9))
        .unwrap();
    assert_eq!(stage.witness.hear(&ready[0], &heads).unwrap().told, 3);
    assert_eq!(drained(&stage), (SessionStatus::Active, 1, 1));
}

#[test]
fn a_session_that_fell_silent_has_said_its_last_words() {
    let mut stage = Stage::new();
    stage.queue(&[stage.event(0, start())]);
    drained(&stage);
    // No word of the model that this is its last: an old client, killed.
    stage
        .script
        .user("mend the price")
        .says("It is mended, perhaps.", None);
    let day_after = Millis((START + 90_000) * 1_000);
    let hear = |before| stage.witness.hear_silent(before).unwrap().told;
    assert_eq!(hear(Millis(0)), 0, "not yet");
    assert_eq!(hear(day_after), 2);
    // It is not over before all of that is worked off, and nothing more is told.
    assert_eq!(drained(&stage), (SessionStatus::Active, 1, 0));
    assert_eq!(hear(day_after), 0);
    assert_eq!(drained(&stage).0, SessionStatus::Interrupted);
}

/// Sessions of which only the beginning is known, each with a transcript of its own.
fn fell_silent(stage: &Stage, sessions: usize) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> = (0..sessions)
        .map(|n| stage.scratch.dir.root().join(format!("{n}.jsonl")))
        .collect();
    for (n, path) in paths.iter().enumerate() {
        let session = format!("silent-{n}");
        let line = serde_json::json!({
            "type": "user", "promptId": "p", "sessionId": session, "uuid": "u",
            "timestamp": "2026-01-31T10:00:01.000Z",
            "message": {"role": "user", "content": format!("do {n}")},
        });
        std::fs::write(path, format!("{line}\n")).unwrap();
        let mut began = stage.event(0, start());
        began.session = ClientSessionId(session);
        began.transcript_path = Some(path.to_string_lossy().into_owned());
        let known = stage.store.with(|store| {
            store.write(|tx| {
                tx.ensure_session(&crate::store::NewSession {
                    client: CLAUDE_CODE.name,
                    client_session: &began.session,
                    project: None,
                    branch: None,
                    transcript_path: began.transcript_path.as_deref(),
                    origin: crate::memory::Origin::Agent,
                    import_run: None,
                    at: began.at.millis(),
                })
            })
        });
        known.unwrap();
    }
    paths
}

#[test]
fn however_many_fell_silent_all_are_heard_before_they_are_over() {
    let stage = Stage::new();
    let sessions = WITNESS_SESSIONS_MAX + 4;
    let paths = fell_silent(&stage, sessions);
    // One that cannot be read, and is in nobody's way.
    std::fs::remove_file(&paths[7]).unwrap();
    std::os::unix::fs::symlink(&paths[7], &paths[7]).unwrap();
    let day_after = Millis((START + 90_000) * 1_000);
    let silent = stage.witness.hear_silent(day_after).unwrap();
    assert_eq!(silent.told, sessions - 1);
    assert_eq!(silent.unheard.len(), 1);
    assert_eq!(stage.queued().len(), sessions - 1);
    // What was told is worked off; only what could not be heard is left for another time.
    stage
        .store
        .with(|store| {
            store.write(|tx| {
                for session in tx.sessions_with_work()? {
                    let lease = crate::queue::LeaseId(1);
                    let leased =
                        tx.lease_session(&session.client, &session.session, 9, lease, day_after)?;
                    let ids: Vec<_> = leased.unwrap().events.iter().map(|e| e.id).collect();
                    tx.settle(lease, &ids)?;
                }
                Ok(())
            })
        })
        .unwrap();
    assert_eq!(stage.witness.hear_silent(day_after).unwrap().told, 0);
    let left = stage
        .store
        .with(|store| store.read().silent_sessions(day_after, None))
        .unwrap();
    let left: Vec<&str> = left.iter().map(|s| s.client_session.0.as_str()).collect();
    assert_eq!(left, ["silent-7"]);
    // In the end it is given up.
    let later = day_after.plus_seconds(UNHEARD_SECONDS_MAX);
    stage.witness.hear_silent(later).unwrap();
    let left = stage
        .store
        .with(|store| store.read().silent_sessions(later, None))
        .unwrap();
    assert_eq!(left, []);
}

#[test]
fn a_worker_that_is_to_drain_leaves_no_work_behind() {
    let stage = Stage::new();
    fell_silent(&stage, WITNESS_SESSIONS_MAX + 4);
    let settings = crate::config::Settings::default();
    let worker = crate::serve::worker::Worker::start(
        Arc::clone(&stage.store),
        Arc::new(crate::serve::local::Local::default()),
        settings,
        crate::serve::pidfile::WorkerFile::of_self("sock".into(), Millis(0)),
        String::new(),
        crate::serve::testing::log(&stage.scratch),
    );
    let worker = worker.unwrap();
    assert!(crate::serve::upkeep::to_the_end(&worker).unwrap());
    let known = stage.store.with(|store| {
        Ok((
            store.read().queue_counts()?.waiting,
            store.read().counts()?.prompts,
        ))
    });
    assert_eq!(known.unwrap(), (0, (WITNESS_SESSIONS_MAX + 4) as u64));
    worker.drain.stop(Duration::from_secs(9));
}

#[test]
fn the_end_of_a_session_ends_its_last_turn() {
    let mut stage = Stage::new();
    stage.script.user("old client").says("Done.", None);
    stage.queue(&[stage.event(0, start()), stage.event(9, end())]);
    assert_eq!(stage.hear(&["session_end"]), 2);
    assert!(stage.queued().contains(&"stop".to_owned()));
}

#[test]
fn a_place_is_not_saved_when_something_before_it_was_refused() {
    let mut stage = Stage::new();
    whole_turn(&mut stage.script);
    let settings = HookSettings::load(&stage.scratch.dir, |_| None);
    let rules = Rules {
        client: CLAUDE_CODE.name,
        session: "s",
        settings: &settings,
        home: "",
        project: None,
        path: "",
        agent: None,
        since: None,
        is_muted: &|_| false,
        ended: false,
    };
    let path = stage.script.path();
    let mut testimony = Testimony::new(&stage.store, &path, &rules);
    stage.store.close().unwrap();
    let position = transcript::read(&path, Position::default(), &rules, &mut testimony).unwrap();
    assert!(testimony.finish(&position).is_err());
    let store = SharedStore::open(&stage.scratch.dir, Millis(0)).unwrap();
    let name = path.to_string_lossy().into_owned();
    let saved = store.with(|store| store.read().transcript_position(&name));
    assert_eq!(saved.unwrap(), None);
}

#[test]
fn agents_are_heard_with_the_session_that_sent_them() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fixtures");
    let path = Path::new(fixtures).join("claude-code-2.1.325/transcripts/with-subagent.jsonl");
    let session = transcript::head(&path).unwrap().unwrap().session.unwrap();
    let stage = Stage::new();
    let mut began = stage.event(0, start());
    began.session = ClientSessionId(session.clone());
    began.transcript_path = Some(path.to_string_lossy().into_owned());
    began.at = Micros(0);
    stage.queue(&[began.clone()]);
    let ready = stage
        .store
        .with(|store| store.read().sessions_with_work())
        .unwrap();
    assert!(stage.witness.hear(&ready[0], &[]).unwrap().told > 2);
    assert!(stage.queued().contains(&"subagent_stop".to_owned()));
    assert_ne!(
        key::of(&began, None),
        key::of(&stage.event(1, start()), None)
    );
}

#[test]
fn a_transcript_has_one_reader_at_a_time() {
    let busy = Mutex::default();
    let path = Path::new("/t.jsonl");
    let reading = Reading::begin(&busy, path);
    assert!(reading.is_some());
    assert!(Reading::begin(&busy, path).is_none());
    assert!(
        Reading::begin(&busy, path).is_none(),
        "the refused one changed nothing"
    );
    assert!(Reading::begin(&busy, Path::new("/other.jsonl")).is_some());
    drop(reading);
    assert!(Reading::begin(&busy, path).is_some());
}
