use std::panic::{AssertUnwindSafe, catch_unwind};

use insta::assert_snapshot;
use serde_json::{Value, json};

use super::*;
use crate::import::{NoProgress, undo_run};
use claude_mem_capture::settings::HookSettings;
use claude_mem_core::config::Settings;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_store::{ObservationEdit, PageRequest, RowFilter, RowId, RowKind};

/// Later than every fixture.
const NOW: Millis = Millis(1_900_000_000_000);

pub(super) struct TranscriptImportFixture {
    dir: tempfile::TempDir,
    settings: Settings,
    wanted_since: Option<Millis>,
    project: Option<ImportProjectFilter>,
}

impl TranscriptImportFixture {
    pub(super) fn new() -> Self {
        Self {
            dir: tempfile::tempdir().unwrap(),
            settings: Settings::default(),
            wanted_since: None,
            project: None,
        }
    }

    pub(super) fn data(&self, name: &str) -> DataDir {
        let data = DataDir::new(self.dir.path().join(name));
        data.create().unwrap();
        data
    }

    fn store(&self, name: &str) -> Store {
        Store::open(&self.data(name).db()).unwrap()
    }

    pub(super) fn folder(&self) -> PathBuf {
        self.dir.path().join("projects")
    }

    /// Copies every recorded transcript to where a client would write it.
    fn lay_fixtures(&self) {
        let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../claude-mem/tests/fixtures"));
        for client in
            ["claude-code-2.1.325", "claude-code-2.1.197", "claude-code-2.0.77", "claude-code-1.0.127"]
        {
            let from = fixtures.join(client).join("transcripts");
            let to = self.folder().join(client);
            std::fs::create_dir_all(&to).unwrap();
            for entry in std::fs::read_dir(&from).unwrap().flatten() {
                let path = entry.path();
                let stem = path.file_stem().unwrap().to_string_lossy().into_owned();
                if path.is_file() {
                    let session =
                        claude_mem_capture::transcript::read_header(&path).unwrap().unwrap().session.unwrap();
                    std::fs::copy(&path, to.join(format!("{session}.jsonl"))).unwrap();
                    let agents = path.with_extension("").join("subagents");
                    lay_agents(&agents, &to.join(&session).join("subagents"));
                    lay_agents(&from.join(format!("{stem}.beside")), &to);
                }
            }
        }
    }

    fn write(&self, name: &str, lines: &[Value]) {
        let path = self.folder().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        let text: Vec<String> = lines.iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(path, text.concat()).unwrap();
    }

    pub(super) fn run(&self, store: &mut Store, data: &DataDir) -> (ImportReport, ImportSummary) {
        self.run_watched(store, data, &mut NoProgress)
    }

    fn run_watched(
        &self,
        store: &mut Store,
        data: &DataDir,
        progress: &mut dyn ImportProgress,
    ) -> (ImportReport, ImportSummary) {
        let settings = HookSettings::from_settings(self.settings.clone(), false);
        let around = ImportContext {
            settings: &settings,
            home: "/home/user",
            client_dir: Path::new("/nowhere"),
            trust: crate::import::SourceTrust::Own,
        };
        let wanted = TranscriptImportRequest {
            agent: &claude_mem_core::agents::CLAUDE_CODE,
            path: self.folder(),
            since: self.wanted_since,
            project: self.project.clone(),
            data,
            vocabulary: &Vocabulary::default(),
            now: NOW,
        };
        let (report, learnt) = run(store, around, &wanted, progress).unwrap();
        assert!(report.adds_up(), "{report:#?}");
        (report, learnt)
    }
}

fn lay_agents(from: &Path, to: &Path) {
    let Ok(files) = std::fs::read_dir(from) else {
        return;
    };
    std::fs::create_dir_all(to).unwrap();
    for file in files.flatten() {
        std::fs::copy(file.path(), to.join(file.file_name())).unwrap();
    }
}

fn counts(report: &ImportReport) -> String {
    let tally = &report.kinds.iter().find(|(kind, _)| *kind == SESSIONS).unwrap().1;
    let why: Vec<_> = tally.skipped.iter().map(|(why, n)| format!("{n} {why:?}")).collect();
    format!("{} found, {} imported, [{}]", tally.found, tally.imported, why.join(", "))
}

/// The contents of a store without its random ids.
fn content(store: &Store) -> Vec<String> {
    let mut text = Vec::new();
    crate::export::json::write_document(&store.read(), crate::export::ExportScope::default(), NOW, &mut text)
        .unwrap();
    let document: Value = serde_json::from_slice(&text).unwrap();
    let mut names = std::collections::HashMap::new();
    let lists = [
        "projects",
        "sessions",
        "prompts",
        "messages",
        "observations",
        "summaries",
        "accounts",
        "open_items",
    ];
    let rows = |list: &str| document[list].as_array().unwrap().clone();
    for (list, field) in [("projects", "name"), ("sessions", "client_session"), ("observations", "title")] {
        for row in rows(list) {
            names.insert(row["uid"].clone(), row[field].clone());
        }
    }
    let mut lines = Vec::new();
    for list in lists {
        for mut row in rows(list) {
            row.as_object_mut().unwrap().remove("uid");
            for field in ["session", "project", "replaced_by", "closed_by_session"] {
                if let Some(name) = row.get(field).and_then(|uid| names.get(uid)).cloned() {
                    row[field] = name;
                }
            }
            for uid in row.get_mut("sessions").and_then(Value::as_array_mut).into_iter().flatten() {
                *uid = names[uid].clone();
            }
            lines.push(format!("{list} {row}"));
        }
    }
    lines.sort();
    lines
}

#[test]
fn every_recorded_transcript_is_imported() {
    let scratch = TranscriptImportFixture::new();
    scratch.lay_fixtures();
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    let (report, learnt) = scratch.run(&mut store, &data);
    assert_snapshot!(counts(&report), @"9 found, 8 imported, [1 OwnWork]");
    let counts = store.read().counts().unwrap();
    assert_eq!((counts.sessions, counts.prompts), (8, learnt.prompts));
    assert_eq!((counts.observations, counts.summaries), (learnt.observations, learnt.summaries));
    let told = content(&store);
    let of = |list: &str, field: &str| {
        let rows = told.iter().filter_map(|line| line.strip_prefix(list));
        let rows = rows.map(|row| serde_json::from_str::<Value>(row).unwrap());
        rows.map(|row| row[field].as_str().unwrap_or("-").to_owned()).collect::<Vec<_>>()
    };
    let messages = of("messages ", "text");
    for text in ["greet is called nowhere else.", "SUBAGENT-ANSWER", "SUMMARY-TEXT", "after"] {
        assert!(messages.iter().any(|message| message == text), "{text}: {messages:?}");
    }
    let prompts = of("prompts ", "text");
    for text in ["Tabs or spaces here?", "What files are there?", "PROMPT-B", "P"] {
        assert!(prompts.iter().any(|prompt| prompt == text), "{text}: {prompts:?}");
    }
    assert_eq!(of("projects ", "name"), ["project"]);
    assert!(of("sessions ", "status").iter().all(|status| status == "completed"));
}

#[test]
fn undone_run_can_be_repeated() {
    let scratch = TranscriptImportFixture::new();
    scratch.lay_fixtures();
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    let (first, _) = scratch.run(&mut store, &data);
    let before = content(&store);
    let (second, learnt) = scratch.run(&mut store, &data);
    assert_eq!((second.imported(), second.run, learnt.events), (0, None, 0));
    assert_eq!(content(&store), before);
    undo_run(&mut store, first.run.unwrap()).unwrap();
    assert_eq!(store.read().counts().unwrap().sessions, 0);
    scratch.run(&mut store, &data);
    assert_eq!(content(&store), before);
}

/// Interrupts the import with a panic after so many steps.
struct InterruptAfter(u32);

impl ImportProgress for InterruptAfter {
    fn total(&mut self, _amount: u64) {}
    fn advance(&mut self, _amount: u64) {
        assert!(self.0 > 0, "pulled");
        self.0 -= 1;
    }
}

#[test]
fn interrupted_import_resumes_to_the_same_result() {
    let scratch = TranscriptImportFixture::new();
    scratch.lay_fixtures();
    long_session(&scratch);
    let (data, mut whole) = (scratch.data("whole"), scratch.store("whole"));
    scratch.run(&mut whole, &data);
    let want = content(&whole);
    let mut interrupted = 0;
    for steps in 0.. {
        let name = format!("cut-{steps}");
        let (data, mut store) = (scratch.data(&name), scratch.store(&name));
        let cut = catch_unwind(AssertUnwindSafe(|| {
            scratch.run_watched(&mut store, &data, &mut InterruptAfter(steps));
        }));
        if cut.is_ok() {
            break;
        }
        interrupted += 1;
        let (report, _) = scratch.run(&mut store, &data);
        let got = content(&store);
        let (more, fewer): (Vec<_>, Vec<_>) = (
            got.iter().filter(|line| !want.contains(line)).collect(),
            want.iter().filter(|line| !got.contains(line)).collect(),
        );
        assert!(more.is_empty() && fewer.is_empty(), "after {steps} steps: {more:#?} for {fewer:#?}");
        assert_eq!(got.len(), want.len(), "after {steps} steps something is told twice");
        assert_eq!(store.read().import_runs().unwrap().len(), 1, "{report:?}");
    }
    assert!(interrupted > 20, "{interrupted}");
}

fn line(session: &str, second: u32, more: &Value) -> Value {
    let mut line = json!({
        "sessionId": session, "cwd": "/work/shop", "gitBranch": "main", "version": "2.1.325",
        "timestamp": format!("2026-01-31T10:{:02}:{:02}.000Z", second / 60, second % 60),
        "uuid": format!("{session}-{second}"),
    });
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

fn prompt(session: &str, second: u32, text: &str) -> Value {
    let id = format!("p{second}");
    line(
        session,
        second,
        &json!({"type": "user", "promptId": id, "message": {"role": "user", "content": text}}),
    )
}

fn answer(session: &str, second: u32, text: &str) -> Value {
    line(
        session,
        second,
        &json!({"type": "assistant", "message": {
            "id": format!("m{second}"), "stop_reason": "end_turn", "content": [{"type": "text", "text": text}]
        }}),
    )
}

fn edit(session: &str, second: u32, id: &str, done: &str) -> [Value; 2] {
    [
        line(
            session,
            second,
            &json!({"type": "assistant", "message": {
                "id": format!("m{second}"), "stop_reason": "tool_use", "content": [{"type": "tool_use", "id": id,
                "name": "Edit", "input": {"file_path": "/work/shop/src/cart.rs", "old_string": "f64", "new_string": done}}]
            }}),
        ),
        line(
            session,
            second + 1,
            &json!({"type": "user", "message": {"role": "user",
            "content": [{"type": "tool_result", "tool_use_id": id, "content": "ok"}]}}),
        ),
    ]
}

/// A turn that is longer than an episode, with overlapping calls, between other turns.
fn long_session(scratch: &TranscriptImportFixture) {
    let mut lines = vec![prompt("long", 0, "Count money in cents from now on, never in floats")];
    for step in 0..150 {
        let pair = edit("long", 2 * step + 1, &format!("t{step}"), &format!("i64 /* {step} */"));
        let [call, result] = pair;
        if step % 10 == 5 {
            // The next call starts before this one has ended.
            let at = lines.len();
            lines.extend([call, result]);
            lines.swap(at - 1, at);
        } else {
            lines.extend([call, result]);
        }
    }
    lines.push(answer("long", 310, "All amounts are cents now."));
    lines.push(prompt("long", 320, "Thanks. Use tabs, please."));
    lines.push(answer("long", 330, "Done."));
    scratch.write("shop/long.jsonl", &lines);
}

#[test]
fn appended_lines_are_read_by_the_next_run() {
    let scratch = TranscriptImportFixture::new();
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    let mut lines = vec![prompt("s", 0, "Count in cents")];
    lines.extend(edit("s", 1, "t1", "i64"));
    lines.push(answer("s", 10, "Counted."));
    scratch.write("shop/s.jsonl", &lines);
    scratch.run(&mut store, &data);
    lines.push(prompt("s", 20, "And in francs"));
    lines.push(answer("s", 30, "That too."));
    scratch.write("shop/s.jsonl", &lines);
    let (report, learnt) = scratch.run(&mut store, &data);
    assert_eq!((report.imported(), learnt.prompts), (1, 1));
    let (other, mut whole) = (scratch.data("b"), scratch.store("b"));
    scratch.run(&mut whole, &other);
    assert_eq!(content(&store), content(&whole));
}

#[test]
fn copied_history_is_imported_once() {
    let scratch = TranscriptImportFixture::new();
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    let told = |session: &str| vec![prompt(session, 0, "Count in cents"), answer(session, 10, "Counted.")];
    scratch.write("shop/first.jsonl", &told("first"));
    let mut second = told("second");
    second.push(prompt("second", 20, "And in francs"));
    second.push(answer("second", 30, "That too."));
    scratch.write("shop/second.jsonl", &second);
    scratch.run(&mut store, &data);
    let prompts = store
        .read()
        .prompts(&RowFilter { oldest_first: true, ..RowFilter::default() }, PageRequest::first(9))
        .unwrap();
    let prompts: Vec<_> = prompts.items.into_iter().map(|row| row.text).collect();
    assert_eq!(prompts, ["Count in cents", "And in francs"]);
}

#[test]
fn captured_and_ignored_sessions_are_skipped() {
    let mut scratch = TranscriptImportFixture::new();
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    for session in ["caught", "queued", "ignored", "told"] {
        let mut lines = vec![prompt(session, 0, &format!("{session} key is AKIAQ3EGRJ7HZ5XN2M4P"))];
        lines.push(answer(session, 10, "Noted."));
        lines.push(prompt(session, 20, "<private>my salary</private>"));
        lines.push(answer(session, 30, "It is high."));
        scratch.write(&format!("shop/{session}.jsonl"), &lines);
    }
    scratch.write(
        "own/o.jsonl",
        &[line(
            "o",
            0,
            &json!({"type": "user", "cwd": "/home/user/.claude-mem/observer-sessions",
        "message": {"role": "user", "content": "Observe"}}),
        )],
    );
    scratch.write(
        "secret/x.jsonl",
        &[line(
            "x",
            0,
            &json!({"type": "user", "cwd": "/work/secret",
        "message": {"role": "user", "content": "Hush"}}),
        )],
    );
    scratch.settings.ignore_projects = vec!["secret".to_owned()];
    std::fs::write(scratch.folder().join("shop/empty.jsonl"), "").unwrap();
    std::fs::write(scratch.folder().join("shop/broken.jsonl"), "{\"type\":\"user\"\nnothing\n\u{0}").unwrap();
    let id = |name: &str| claude_mem_core::ids::ClientSessionId(name.to_owned());
    store
        .write(|tx| {
            tx.ensure_session(&claude_mem_store::NewSession::new("claude-code", &id("caught"), NOW))?;
            tx.ignore_session("claude-code", &id("ignored"), NOW)
        })
        .unwrap();
    let event = claude_mem_core::event::Event::new(
        "claude-code",
        id("queued"),
        NOW.micros(),
        claude_mem_core::event::EventBody::SessionStart { source: "startup".to_owned() },
    );
    store.write(|tx| tx.accept(claude_mem_core::event_key::event_key(&event, None), &event, NOW)).unwrap();
    let (report, _) = scratch.run(&mut store, &data);
    assert_snapshot!(counts(&report), @"8 found, 1 imported, [2 Ignored, 2 Empty, 1 OwnWork, 2 Captured]");
    let told = content(&store).join("\n");
    assert!(told.contains("[redacted:") && !told.contains("AKIAQ3"), "{told}");
    assert!(!told.contains("salary") && !told.contains("It is high"), "{told}");
    assert!(!told.contains("Hush") && !told.contains("Observe"), "{told}");
}

#[test]
fn only_requested_sessions_are_read() {
    let mut scratch = TranscriptImportFixture::new();
    long_session(&scratch);
    scratch.write(
        "other/o.jsonl",
        &[line(
            "o",
            0,
            &json!({"type": "user", "cwd": "/work/other",
        "message": {"role": "user", "content": "Elsewhere"}}),
        )],
    );
    scratch.project = Some(ImportProjectFilter { name: "OTHER".to_owned(), keys: Vec::new() });
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    let (report, learnt) = scratch.run(&mut store, &data);
    assert_eq!(counts(&report), "2 found, 1 imported, [1 NotAskedFor]");
    assert_eq!(learnt.projects.keys().collect::<Vec<_>>(), ["other"]);
    scratch.project = None;
    scratch.wanted_since = Some(NOW);
    assert_eq!(counts(&scratch.run(&mut store, &data).0), "2 found, 0 imported, [2 NotAskedFor]");
}

/// The kind and id of every row of a store.
fn all_rows(store: &Store) -> Vec<RowId> {
    let (reads, filter, page) = (store.read(), RowFilter::default(), PageRequest::first(500));
    let of = |kind, ids: Vec<i64>| ids.into_iter().map(move |id| RowId::new(kind, id));
    let memories = reads.observations(&filter, page).unwrap().items;
    let summaries = reads.summaries(&filter, page).unwrap().items;
    let prompts = reads.prompts(&filter, page).unwrap().items;
    let messages = reads.final_messages(&filter, page).unwrap().items;
    of(RowKind::Observation, memories.iter().map(|row| row.id.0).collect())
        .chain(of(RowKind::Summary, summaries.iter().map(|row| row.id.0).collect()))
        .chain(of(RowKind::Prompt, prompts.iter().map(|row| row.id.0).collect()))
        .chain(of(RowKind::Message, messages.iter().map(|row| row.id.0).collect()))
        .collect()
}

#[test]
fn forgotten_rows_are_not_imported_again() {
    let scratch = TranscriptImportFixture::new();
    let mut lines = vec![prompt("s", 0, "Count money in cents from now on, never in floats")];
    lines.extend(edit("s", 1, "t1", "i64"));
    lines.push(answer("s", 10, "All amounts are cents now."));
    lines.push(prompt("s", 20, "Name the type Cents"));
    lines.extend(edit("s", 21, "t2", "Cents"));
    lines.push(answer("s", 30, "The type is called Cents."));
    scratch.write("shop/s.jsonl", &lines);
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    let (first, _) = scratch.run(&mut store, &data);
    let rows = all_rows(&store);
    for kind in [RowKind::Observation, RowKind::Summary, RowKind::Prompt, RowKind::Message] {
        assert!(rows.iter().any(|row| row.kind == kind), "{kind:?} {rows:?}");
    }
    for &row in &rows {
        store.write(|tx| tx.forget(row, NOW)).unwrap();
    }
    undo_run(&mut store, first.run.unwrap()).unwrap();
    scratch.run(&mut store, &data);
    assert_eq!(all_rows(&store), []);
    let id = ClientSessionId("s".into());
    let session = store.read().session_of_client("claude-code", &id).unwrap();
    let session = session.unwrap();
    assert_eq!((session.user_prompt, session.prompt_counter), (None, 2));
    assert_eq!(store.read().session_carry(session.id).unwrap(), None);
}

fn redo(scratch: &TranscriptImportFixture, store: &mut Store, data: &DataDir) -> (ImportReport, RedoSummary) {
    let settings = HookSettings::from_settings(scratch.settings.clone(), false);
    let around = ImportContext {
        settings: &settings,
        home: "/home/user",
        client_dir: Path::new("/nowhere"),
        trust: crate::import::SourceTrust::Own,
    };
    let wanted =
        RedoRequest { project: None, session: None, data, vocabulary: &Vocabulary::default(), now: NOW };
    redo_sessions(store, around, &wanted, &mut NoProgress).unwrap()
}

fn observations(store: &Store) -> Vec<claude_mem_store::Observation> {
    let filter = RowFilter { oldest_first: true, ..RowFilter::default() };
    store.read().observations(&filter, PageRequest::first(500)).unwrap().items
}

#[test]
fn redo_keeps_numbers_edits_and_forgotten_rows_and_can_be_undone() {
    let scratch = TranscriptImportFixture::new();
    let mut lines = vec![prompt("s", 0, "Count in cents")];
    lines.extend(edit("s", 1, "t1", "i64"));
    lines.push(answer(
        "s",
        10,
        "Changed the currency type of the cart to integers, because floats lose pennies.",
    ));
    lines.push(prompt("s", 20, "Name the type Cents, always use it for money"));
    lines.extend(edit("s", 21, "t2", "Cents"));
    lines.push(answer("s", 30, "The type is called Cents."));
    lines.push(prompt("s", 40, "Round up"));
    lines.extend(edit("s", 41, "t3", "u32"));
    lines.push(answer(
        "s",
        50,
        "Fixed `round_up`: totals now end on the next higher unit, as the tax office asks.",
    ));
    scratch.write("shop/s.jsonl", &lines);
    let (data, mut store) = (scratch.data("a"), scratch.store("a"));
    scratch.run(&mut store, &data);
    let rows = observations(&store);
    assert!(rows.len() >= 3, "{rows:#?}");
    let (edited, forgotten) = (rows[0].id, rows[1].id);
    let by_hand = ObservationEdit { title: Some("What I say".into()), ..ObservationEdit::default() };
    store
        .write(|tx| {
            tx.edit_observation(edited, &by_hand, NOW)?;
            tx.forget(RowId::new(RowKind::Observation, forgotten.0), NOW)
        })
        .unwrap();
    let before = content(&store);
    let numbers: Vec<_> = observations(&store).iter().map(|row| row.id).collect();
    let (report, summary) = redo(&scratch, &mut store, &data);
    assert_eq!((summary.sessions, summary.observations_before), (1, numbers.len() as u64));
    let after: Vec<_> = observations(&store).iter().map(|row| row.id).collect();
    assert_eq!(after, numbers, "the same rules give the same rows, under the same numbers");
    assert_eq!(store.read().observation(edited).unwrap().text.title, "What I say");
    assert_eq!(content(&store), before);
    // As an older version would have left it.
    let old = store.write(|tx| {
        let row = &observations_of(tx)[1];
        let mut new = claude_mem_core::memory::NewObservation::new(
            row.text.kind.clone(),
            "Worded by an older version",
            row.origin,
            row.created_at,
        );
        new.text.narrative.clone_from(&row.text.narrative);
        new.text.files_modified.clone_from(&row.text.files_modified);
        tx.update_observation(row.id, &new, row.level, row.read_tokens, NOW)?;
        Ok(row.id)
    });
    let old = old.unwrap();
    undo_run(&mut store, report.run.unwrap()).unwrap();
    assert_eq!(content(&store), before, "undone");
    assert_eq!(store.read().observation(old).unwrap().id, old);
    let (again, _) = redo(&scratch, &mut store, &data);
    assert!(again.run.is_some(), "{again:#?}");
}

fn observations_of(tx: &claude_mem_store::StoreWriter<'_>) -> Vec<claude_mem_store::Observation> {
    let filter = RowFilter { oldest_first: true, ..RowFilter::default() };
    tx.observations(&filter, PageRequest::first(500)).unwrap().items
}
