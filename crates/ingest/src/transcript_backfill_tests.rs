use super::*;
use claude_mem_capture::transcript::testing::TranscriptScript;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock::Micros;
use claude_mem_core::event::{Event, EventBody};
use claude_mem_core::event_key;
use claude_mem_store::testing::{WorkerScratch, accept, end, event, prompt, scratch};
use claude_mem_store::{PageRequest, SessionStatus};

/// 2026-01-31 10:00:00 UTC, where the scripted transcripts begin.
const START: i64 = 1_769_853_600;

struct BackfillFixture {
    scratch: WorkerScratch,
    store: Arc<SharedStore>,
    witness: TranscriptBackfill,
    script: TranscriptScript,
}

impl BackfillFixture {
    fn new() -> Self {
        let scratch = scratch();
        let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
        let witness = TranscriptBackfill::new(Arc::clone(&store), "/home/user".into());
        Self { scratch, store, witness, script: TranscriptScript::new() }
    }

    /// An event as a hook of session `s` would deliver it.
    fn event(&self, seconds: i64, body: EventBody) -> Event {
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

    /// Backfills session `s`, whose queued events are of these kinds. Returns the number of new events.
    fn hear(&self, kinds: &[&str]) -> usize {
        let heads: Vec<QueuedEventHead> = kinds
            .iter()
            .map(|kind| QueuedEventHead {
                kind: claude_mem_core::event::EventKind::from_name(kind),
                at: Micros(0),
                bytes: 0,
                not_before: Millis(0),
            })
            .collect();
        let ready = self.store.with(|store| store.read().sessions_with_work()).unwrap();
        let ready = ready.iter().find(|ready| ready.session.0 == "s").unwrap();
        self.witness.backfill_before_lease(ready, &heads).unwrap().new_events
    }

    /// The kinds of all queued events, oldest first.
    fn queued(&self) -> Vec<String> {
        let pending = self.store.with(|store| store.read().pending(None, PageRequest::first(500))).unwrap();
        let mut kinds: Vec<String> = pending.items.into_iter().map(|row| row.kind).collect();
        kinds.reverse();
        kinds
    }

    fn settings(&self, json: &str) {
        std::fs::write(self.scratch.dir.settings(), json).unwrap();
    }
}

fn start() -> EventBody {
    EventBody::SessionStart { source: "startup".into() }
}

/// A turn that no hook delivered: a prompt, a tool call and a final message.
fn whole_turn(script: &mut TranscriptScript) {
    script
        .user("mend the price")
        .calls("t1", "Bash", serde_json::json!({"command": "make"}))
        .result("t1", "ok")
        .says("Fixed the price of the cart in src/price.rs.", Some("end_turn"));
}

#[test]
fn undelivered_events_are_backfilled_once() {
    let mut stage = BackfillFixture::new();
    whole_turn(&mut stage.script);
    stage.queue(&[stage.event(0, start())]);
    assert_eq!(stage.hear(&["session_start"]), 3);
    let want = ["session_start", "prompt", "tool_use", "stop"];
    assert_eq!(stage.queued(), want);
    assert_eq!(stage.hear(&["stop"]), 0, "nothing new");
    // Start over, as after a restored backup.
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
fn delivered_events_are_not_backfilled() {
    let mut stage = BackfillFixture::new();
    whole_turn(&mut stage.script);
    let mut told = [
        stage.event(1, prompt("mend the price")),
        stage.event(
            3,
            EventBody::ToolUse {
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
            EventBody::Stop { last_message: Some("Fixed the price of the cart in src/price.rs.".into()) },
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
fn many_events_are_queued_in_order() {
    let mut stage = BackfillFixture::new();
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
fn private_turns_and_excluded_tools_stay_out() {
    let mut stage = BackfillFixture::new();
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
fn muted_turn_is_queued_without_content() {
    let mut stage = BackfillFixture::new();
    whole_turn(&mut stage.script);
    let marks = PrivacyMarks::for_session(&stage.scratch.dir, CLAUDE_CODE.name, "s");
    marks.mute_turn(Some("p0")).unwrap();
    stage.queue(&[stage.event(0, start())]);
    stage.hear(&["session_start"]);
    assert_eq!(stage.queued(), ["session_start", "prompt"], "its place alone");
}

#[test]
fn forbidden_transcript_is_not_read() {
    type ForbidReading = fn(&BackfillFixture);
    let reasons: [(&str, ForbidReading); 6] = [
        ("closed", |stage| {
            let marks = PrivacyMarks::for_session(&stage.scratch.dir, CLAUDE_CODE.name, "s");
            marks.close_transcript().unwrap();
        }),
        ("disabled", |stage| {
            let marks = PrivacyMarks::for_session(&stage.scratch.dir, CLAUDE_CODE.name, "s");
            marks.mark_ignored().unwrap();
        }),
        ("ignored", |stage| {
            let session = ClientSessionId("s".into());
            let ignore = |tx: &claude_mem_store::StoreWriter<'_>| {
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
            let pause = pause::CapturePause { since: None, until: None };
            pause::begin(&stage.scratch.dir.paused(), pause).unwrap();
        }),
    ];
    for (why, forbid) in reasons {
        let mut stage = BackfillFixture::new();
        whole_turn(&mut stage.script);
        stage.queue(&[stage.event(0, start())]);
        forbid(&stage);
        assert_eq!(stage.hear(&["session_start"]), 0, "{why}");
        assert_eq!(stage.queued(), ["session_start"], "{why}");
    }
}

/// Drains the queue and returns the status and counts of session `s`.
fn drained(stage: &BackfillFixture) -> (SessionStatus, u64, u64) {
    #[derive(Debug)]
    struct BackfillTestObserver;
    impl crate::pipeline_observer::PipelineObserver for BackfillTestObserver {}
    let pipeline = crate::pipeline::EpisodePipeline {
        store: Arc::clone(&stage.store),
        backfill: None,
        compressor: Arc::new(crate::heuristic_compressor::HeuristicCompressor::default()),
        observer: Arc::new(BackfillTestObserver),
    };
    let drain = crate::scheduler::Scheduler::start(pipeline, 1).unwrap();
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
fn next_session_backfills_a_killed_one() {
    let mut stage = BackfillFixture::new();
    stage.queue(&[stage.event(0, start())]);
    assert_eq!(drained(&stage), (SessionStatus::Active, 0, 0));
    // The client continues without hooks, then it is killed.
    whole_turn(&mut stage.script);
    let mut next = stage.event(50, start());
    next.session = ClientSessionId("next".into());
    next.transcript_path = None;
    stage.queue(&[next]);
    let ready = stage.store.with(|store| store.read().sessions_with_work()).unwrap();
    let heads =
        stage.store.with(|store| store.read().queued_heads(CLAUDE_CODE.name, &ready[0].session, 9)).unwrap();
    assert_eq!(stage.witness.backfill_before_lease(&ready[0], &heads).unwrap().new_events, 3);
    assert_eq!(drained(&stage), (SessionStatus::Active, 1, 1));
}

#[test]
fn idle_session_is_backfilled_and_interrupted() {
    let mut stage = BackfillFixture::new();
    stage.queue(&[stage.event(0, start())]);
    drained(&stage);
    // No stop reason: an old client that was killed.
    stage.script.user("mend the price").says("It is mended, perhaps.", None);
    let day_after = Millis((START + 90_000) * 1_000);
    let hear = |before| stage.witness.backfill_idle_sessions(before).unwrap().new_events;
    assert_eq!(hear(Millis(0)), 0, "not yet");
    assert_eq!(hear(day_after), 2);
    // It ends only after these events are settled and nothing new is found.
    assert_eq!(drained(&stage), (SessionStatus::Active, 1, 0));
    assert_eq!(hear(day_after), 0);
    assert_eq!(drained(&stage).0, SessionStatus::Interrupted);
}

/// Sessions of which only the start is known, each with its own transcript.
fn fell_silent(stage: &BackfillFixture, sessions: usize) -> Vec<PathBuf> {
    let paths: Vec<PathBuf> =
        (0..sessions).map(|n| stage.scratch.dir.root().join(format!("{n}.jsonl"))).collect();
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
                tx.ensure_session(&claude_mem_store::NewSession {
                    client: CLAUDE_CODE.name,
                    client_session: &began.session,
                    project: None,
                    branch: None,
                    transcript_path: began.transcript_path.as_deref(),
                    origin: claude_mem_core::memory::Origin::Agent,
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
fn all_idle_sessions_are_backfilled() {
    let stage = BackfillFixture::new();
    let sessions = WITNESS_SESSIONS_MAX + 4;
    let paths = fell_silent(&stage, sessions);
    // An unreadable transcript, which does not block the others.
    std::fs::remove_file(&paths[7]).unwrap();
    std::os::unix::fs::symlink(&paths[7], &paths[7]).unwrap();
    let day_after = Millis((START + 90_000) * 1_000);
    let silent = stage.witness.backfill_idle_sessions(day_after).unwrap();
    assert_eq!(silent.new_events, sessions - 1);
    assert_eq!(silent.errors.len(), 1);
    assert_eq!(stage.queued().len(), sessions - 1);
    // The backfilled events are settled; only the unreadable session remains.
    stage
        .store
        .with(|store| {
            store.write(|tx| {
                for session in tx.sessions_with_work()? {
                    let lease = claude_mem_core::queue::LeaseId(1);
                    let leased = tx.lease_session(&session.client, &session.session, 9, lease, day_after)?;
                    let ids: Vec<_> = leased.unwrap().events.iter().map(|e| e.id).collect();
                    tx.settle(lease, &ids)?;
                }
                Ok(())
            })
        })
        .unwrap();
    assert_eq!(stage.witness.backfill_idle_sessions(day_after).unwrap().new_events, 0);
    let left = stage.store.with(|store| store.read().idle_sessions(day_after, None)).unwrap();
    let left: Vec<&str> = left.iter().map(|s| s.client_session.0.as_str()).collect();
    assert_eq!(left, ["silent-7"]);
    // After `UNHEARD_SECONDS_MAX` it is given up.
    let later = day_after.plus_seconds(UNHEARD_SECONDS_MAX);
    stage.witness.backfill_idle_sessions(later).unwrap();
    let left = stage.store.with(|store| store.read().idle_sessions(later, None)).unwrap();
    assert_eq!(left, []);
}

#[test]
fn session_end_closes_last_turn() {
    let mut stage = BackfillFixture::new();
    stage.script.user("old client").says("Done.", None);
    stage.queue(&[stage.event(0, start()), stage.event(9, end())]);
    assert_eq!(stage.hear(&["session_end"]), 2);
    assert!(stage.queued().contains(&"stop".to_owned()));
}

#[test]
fn position_is_not_saved_after_a_failed_batch() {
    let mut stage = BackfillFixture::new();
    whole_turn(&mut stage.script);
    let settings = HookSettings::load(&stage.scratch.dir, |_| None);
    let rules = ReadRules {
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
        translate: None,
    };
    let path = stage.script.path();
    let mut testimony = BackfillSink::new(&stage.store, &path, &rules);
    stage.store.close().unwrap();
    let position =
        transcript::read_transcript(&path, ReadPosition::default(), &rules, &mut testimony).unwrap();
    assert!(testimony.finish(&position).is_err());
    let store = SharedStore::open(&stage.scratch.dir, Millis(0)).unwrap();
    let name = path.to_string_lossy().into_owned();
    let saved = store.with(|store| store.read().transcript_position(&name));
    assert_eq!(saved.unwrap(), None);
}

#[test]
fn subagent_transcripts_are_backfilled() {
    let fixtures = concat!(env!("CARGO_MANIFEST_DIR"), "/../claude-mem/tests/fixtures");
    let path = Path::new(fixtures).join("claude-code-2.1.325/transcripts/with-subagent.jsonl");
    let session = transcript::read_header(&path).unwrap().unwrap().session.unwrap();
    let stage = BackfillFixture::new();
    let mut began = stage.event(0, start());
    began.session = ClientSessionId(session.clone());
    began.transcript_path = Some(path.to_string_lossy().into_owned());
    began.at = Micros(0);
    stage.queue(&[began.clone()]);
    let ready = stage.store.with(|store| store.read().sessions_with_work()).unwrap();
    assert!(stage.witness.backfill_before_lease(&ready[0], &[]).unwrap().new_events > 2);
    assert!(stage.queued().contains(&"subagent_stop".to_owned()));
    assert_ne!(event_key::event_key(&began, None), event_key::event_key(&stage.event(1, start()), None));
}

#[test]
fn transcript_has_one_reader_at_a_time() {
    let busy = Mutex::default();
    let path = Path::new("/t.jsonl");
    let reading = TranscriptReadGuard::try_begin(&busy, path);
    assert!(reading.is_some());
    assert!(TranscriptReadGuard::try_begin(&busy, path).is_none());
    assert!(TranscriptReadGuard::try_begin(&busy, path).is_none(), "the refused one changed nothing");
    assert!(TranscriptReadGuard::try_begin(&busy, Path::new("/other.jsonl")).is_some());
    drop(reading);
    assert!(TranscriptReadGuard::try_begin(&busy, path).is_some());
}
