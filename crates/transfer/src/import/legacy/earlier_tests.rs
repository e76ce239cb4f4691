#![allow(clippy::disallowed_methods, reason = "the tests build the other program's databases themselves")]

use std::path::PathBuf;

use insta::assert_snapshot;

use super::*;
use crate::import::{NoProgress, undo_run};
use claude_mem_capture::settings::HookSettings;
use claude_mem_core::config::Settings;
use claude_mem_store::{PageRequest, RowFilter, RowId, RowKind};

const AT: i64 = 1_700_000_000_000;

struct LegacyImportFixture {
    dir: tempfile::TempDir,
    store: Store,
    settings: HookSettings,
}

impl LegacyImportFixture {
    fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(&dir.path().join("ours.db")).unwrap();
        Self { dir, store, settings: HookSettings::from_settings(Settings::default(), false) }
    }

    /// Creates a legacy database with these statements.
    fn theirs(&self, sql: &str) -> PathBuf {
        let path = self.dir.path().join("their db?.db");
        rusqlite::Connection::open(&path).unwrap().execute_batch(sql).unwrap();
        path
    }

    fn run(&mut self, path: &Path) -> Result<ImportReport, ImportError> {
        let client_dir = self.dir.path().join("client");
        let trust = crate::import::SourceTrust::Own;
        let around =
            ImportContext { settings: &self.settings, home: "/home/user", client_dir: &client_dir, trust };
        let scratch = self.dir.path().join("importing");
        let report = run(&mut self.store, around, path, &scratch, Millis(AT + 9), &mut NoProgress)?;
        assert!(report.adds_up(), "{report:#?}");
        Ok(report)
    }

    /// All rows of the store, one line each.
    fn told(&self) -> String {
        let reads = self.store.read();
        let (all, page) = (RowFilter { oldest_first: true, ..RowFilter::default() }, PageRequest::first(100));
        let name = |id: Option<claude_mem_core::ids::ProjectId>| {
            id.map_or_else(|| "-".to_owned(), |id| reads.project(id).unwrap().name)
        };
        let mut lines = Vec::new();
        for row in reads.sessions(&all, page).unwrap().items {
            let status = row.status.as_str();
            lines.push(format!("session {} in {} {status}", row.client_session, name(row.project)));
        }
        for row in reads.prompts(&all, page).unwrap().items {
            lines.push(format!("prompt {} {:?}", row.number, row.text));
        }
        for row in reads.observations(&all, page).unwrap().items {
            lines.push(format!(
                "{} {:?} in {} at {}: {:?} {:?} {:?} {:?} {:?}",
                row.text.kind,
                row.text.title,
                name(row.project),
                row.created_at.0 - AT,
                row.text.narrative,
                row.text.facts,
                row.text.concepts,
                row.text.files_read,
                row.text.files_modified
            ));
        }
        for row in reads.summaries(&all, page).unwrap().items {
            lines.push(format!(
                "summary {:?} {:?} {:?}",
                row.text.request, row.text.completed, row.text.files_edited
            ));
        }
        lines.join("\n")
    }
}

fn counts(report: &ImportReport) -> String {
    let line = |(kind, tally): &(&str, crate::import::ImportTally)| {
        let why: Vec<_> = tally.skipped.iter().map(|(why, n)| format!("{n} {why:?}")).collect();
        format!("{kind}: {} found, {} imported, [{}]", tally.found, tally.imported, why.join(", "))
    };
    report.kinds.iter().map(line).collect::<Vec<_>>().join("\n")
}

const THIRD: &str = "
    CREATE TABLE sessions (id INTEGER PRIMARY KEY, session_id TEXT, project TEXT, created_at TEXT, created_at_epoch INTEGER,
      source TEXT, metadata_json TEXT);
    CREATE TABLE memories (id INTEGER PRIMARY KEY, session_id TEXT, text TEXT, document_id TEXT, keywords TEXT,
      created_at TEXT, created_at_epoch INTEGER, project TEXT, origin TEXT, title TEXT, subtitle TEXT, facts TEXT,
      concepts TEXT, files_touched TEXT);
    CREATE TABLE overviews (id INTEGER PRIMARY KEY, session_id TEXT, content TEXT, created_at TEXT,
      created_at_epoch INTEGER, project TEXT, origin TEXT);
    INSERT INTO sessions VALUES (1, 's1', 'shop', '2023-11-14T22:13:20Z', 1700000000000, 'compress', NULL);
    INSERT INTO memories VALUES (1, 's1', 'The cart keeps prices in cents. Floats lost a cent.', 'd1', 'cart, price',
      '2023-11-14T22:13:21Z', 1700000001000, 'shop', 'transcript', NULL, NULL, NULL, NULL, NULL);
    INSERT INTO memories VALUES (2, 's1', 'text', 'd2', NULL, '2023-11-14T22:13:22Z', 1700000002000, 'shop', 'transcript',
      'A title', 'and more', '[\"one\"]', '[\"gotcha\"]', 'src/a.rs, src/b.rs');
    INSERT INTO overviews VALUES (1, 's1', 'We rebuilt the cart.', '2023-11-14T22:13:23Z', 1700000003000, 'shop', 'claude');";

#[test]
fn version_3_is_imported() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(THIRD);
    let report = scratch.run(&path).unwrap();
    assert_snapshot!(counts(&report), @"
    sessions: 1 found, 1 imported, []
    memories: 2 found, 2 imported, []
    overviews: 1 found, 1 imported, []
    ");
    assert_snapshot!(scratch.told(), @r#"
    session s1 in shop interrupted
    discovery "The cart keeps prices in cents." in shop at 1000: "The cart keeps prices in cents. Floats lost a cent." [] ["cart", "price"] [] []
    discovery "A title" in shop at 2000: "text" ["one"] ["gotcha"] ["src/a.rs", "src/b.rs"] []
    summary "" "We rebuilt the cart." []
    "#);
}

const FOURTH: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, claude_session_id TEXT, sdk_session_id TEXT, project TEXT,
      user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, completed_at TEXT, completed_at_epoch INTEGER,
      status TEXT);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, text TEXT NOT NULL, type TEXT,
      created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, sdk_session_id TEXT, project TEXT, request TEXT,
      investigated TEXT, learned TEXT, completed TEXT, next_steps TEXT, files_read TEXT, files_edited TEXT, notes TEXT,
      created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE observation_queue (id INTEGER PRIMARY KEY, tool_output TEXT);
    INSERT INTO observation_queue VALUES (1, 'raw');
    INSERT INTO sdk_sessions VALUES (1, 'c1', 'm1', 'shop', 'Fix the cart <private>my salary</private>', '', 1700000000000,
      NULL, 1700000009000, 'completed');
    INSERT INTO sdk_sessions VALUES (2, 'c2', NULL, 'observer-sessions', 'You are a compressor', '', 1700000000000, NULL,
      NULL, 'active');
    INSERT INTO observations VALUES (1, 'm1', 'shop', 'Cents, not floats', 'decision', '2023-11-14T22:13:21Z', NULL);
    INSERT INTO observations VALUES (2, 'm1', 'shop', 'Cents, not floats', 'decision', '', 1700000002000);
    INSERT INTO observations VALUES (3, 'gone', 'shop', 'An orphan', 'made up!', '', 1700000003);
    INSERT INTO session_summaries VALUES (1, 'm1', 'shop', 'Fix the cart', NULL, NULL, 'Fixed', NULL, NULL,
      'a.rs|b.rs', NULL, '', 1700000004000);";

#[test]
fn version_4_is_imported() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(FOURTH);
    let report = scratch.run(&path).unwrap();
    assert_snapshot!(counts(&report), @"
    sdk_sessions: 2 found, 1 imported, [1 OwnWork]
    user_prompts: 1 found, 1 imported, []
    observations: 3 found, 2 imported, [1 Duplicate]
    session_summaries: 1 found, 1 imported, []
    observation_queue: 1 found, 0 imported, [1 Raw]
    ");
    assert_snapshot!(scratch.told(), @r#"
    session c1 in shop completed
    session gone in shop interrupted
    prompt 1 "Fix the cart "
    decision "Cents, not floats" in shop at 1000: "Cents, not floats" [] [] [] []
    discovery "An orphan" in shop at 3000: "An orphan" [] [] [] []
    summary "Fix the cart" "Fixed" ["a.rs", "b.rs"]
    "#);
}

const NEWEST: &str = "
    CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT, project TEXT,
      platform_source TEXT, user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, completed_at_epoch INTEGER,
      status TEXT, prompt_counter INTEGER, custom_title TEXT);
    CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_db_id INTEGER, content_session_id TEXT,
      prompt_number INTEGER, prompt_text TEXT, created_at TEXT, created_at_epoch INTEGER);
    CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, text TEXT, type TEXT,
      title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT, files_modified TEXT,
      prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER, discovery_tokens INTEGER,
      merged_into_project TEXT, generated_by_model TEXT, agent_type TEXT, agent_id TEXT);
    CREATE TABLE session_summaries (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, request TEXT,
      learned TEXT, completed TEXT, prompt_number INTEGER, created_at_epoch INTEGER);
    CREATE TABLE tool_uses (id INTEGER PRIMARY KEY, tool_input TEXT);
    INSERT INTO tool_uses VALUES (1, 'raw');
    INSERT INTO sdk_sessions VALUES (1, 'c1', 'm1', 'shop/worktree', 'claude', NULL, '', 1700000000000, NULL, 'active', 2,
      NULL);
    INSERT INTO user_prompts VALUES (1, 1, 'c1', 1, 'Use the key AKIAQ3EGRJ7HZ5XN2M4P for now', '', 1700000001000);
    INSERT INTO user_prompts VALUES (2, 1, 'c1', 2, '<PRIVATE>call my doctor', '', 1700000002000);
    INSERT INTO observations VALUES (1, 'm1', 'shop/worktree', NULL, 'bugfix', 'Carts expire', 'after a day',
      '[\"TTL is 24 h\"]', 'The cart expired too soon.', '[\"gotcha\"]', NULL, '[\"src/cart.rs\"]', 1, '', 1700000001500,
      77, NULL, 'a-model', NULL, NULL);
    INSERT INTO observations VALUES (2, 'm1', 'shop', NULL, 'discovery', 'The doctor', NULL, NULL, 'At nine.', NULL, NULL,
      NULL, 2, '', 1700000002500, 0, NULL, NULL, NULL, NULL);
    INSERT INTO observations VALUES (3, 'manual-shop', 'shop', NULL, 'decision', 'By hand', NULL, NULL, 'A note.', NULL,
      NULL, NULL, NULL, '', 1700000003000, 0, NULL, NULL, NULL, NULL);
    INSERT INTO observations VALUES (4, 'm1', 'shop', NULL, 'change', NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1, '',
      1700000003500, 0, NULL, NULL, NULL, NULL);
    INSERT INTO observations VALUES (5, 'm1', 'shop', NULL, 'change', 'Merged', NULL, NULL, 'Elsewhere.', NULL, NULL, NULL,
      1, '', 1700000003600, 0, 'warehouse', NULL, NULL, NULL);
    INSERT INTO session_summaries VALUES (1, 'm1', 'shop', 'Fix the cart', 'TTL', 'Done', 1, 1700000004000);";

#[test]
fn newest_version_is_imported() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(NEWEST);
    let report = scratch.run(&path).unwrap();
    assert_snapshot!(counts(&report), @"
    sdk_sessions: 1 found, 1 imported, []
    user_prompts: 2 found, 1 imported, [1 Private]
    observations: 5 found, 3 imported, [1 Private, 1 Empty]
    session_summaries: 1 found, 1 imported, []
    tool_uses: 1 found, 0 imported, [1 Raw]
    ");
    assert_snapshot!(scratch.told(), @r#"
    session c1 in shop interrupted
    prompt 1 "Use the key [redacted:aws-access-key-id] for now"
    bugfix "Carts expire" in shop at 1500: "The cart expired too soon." ["TTL is 24 h"] ["gotcha"] [] ["src/cart.rs"]
    decision "By hand" in shop at 3000: "A note." [] [] [] []
    change "Merged" in warehouse at 3600: "Elsewhere." [] [] [] []
    summary "Fix the cart" "Done" []
    "#);
}

#[test]
fn second_run_imports_nothing() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(NEWEST);
    let first = scratch.run(&path).unwrap();
    let before = scratch.told();
    let second = scratch.run(&path).unwrap();
    assert_eq!((second.imported(), second.run), (0, None));
    assert_eq!(scratch.told(), before);
    assert_eq!(scratch.store.read().import_runs().unwrap().len(), 1);
    undo_run(&mut scratch.store, first.run.unwrap()).unwrap();
    assert_eq!(scratch.told(), "");
    assert_eq!(scratch.run(&path).unwrap().kinds, first.kinds);
    assert_eq!(scratch.told(), before);
}

#[test]
fn forgotten_rows_stay_forgotten() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(NEWEST);
    let run = scratch.run(&path).unwrap().run.unwrap();
    let all = scratch.store.read().observations(&RowFilter::default(), PageRequest::first(9)).unwrap();
    let fix = all.items.iter().find(|row| row.text.title == "Carts expire").unwrap().id;
    let summaries = scratch.store.read().summaries(&RowFilter::default(), PageRequest::first(9)).unwrap();
    let summary = summaries.items[0].id;
    scratch
        .store
        .write(|tx| {
            tx.forget(RowId::new(RowKind::Observation, fix.0), Millis(AT))?;
            tx.forget(RowId::new(RowKind::Summary, summary.0), Millis(AT))
        })
        .unwrap();
    undo_run(&mut scratch.store, run).unwrap();
    let again = scratch.run(&path).unwrap();
    assert_snapshot!(counts(&again), @"
    sdk_sessions: 1 found, 1 imported, []
    user_prompts: 2 found, 1 imported, [1 Private]
    observations: 5 found, 2 imported, [1 Forgotten, 1 Private, 1 Empty]
    session_summaries: 1 found, 0 imported, [1 Forgotten]
    tool_uses: 1 found, 0 imported, [1 Raw]
    ");
}

#[test]
fn ignored_projects_are_skipped() {
    let mut scratch = LegacyImportFixture::new();
    let settings = Settings { ignore_projects: vec!["sho*".to_owned()], ..Settings::default() };
    scratch.settings = HookSettings::from_settings(settings, false);
    let path = scratch.theirs(NEWEST);
    let report = scratch.run(&path).unwrap();
    assert_snapshot!(scratch.told(), @"");
    assert_snapshot!(counts(&report), @"
    sdk_sessions: 1 found, 0 imported, [1 Ignored]
    user_prompts: 2 found, 0 imported, [1 Ignored, 1 Private]
    observations: 5 found, 0 imported, [3 Ignored, 1 Private, 1 Empty]
    session_summaries: 1 found, 0 imported, [1 Ignored]
    tool_uses: 1 found, 0 imported, [1 Raw]
    ");
}

#[test]
fn transcript_locates_the_project() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(NEWEST);
    let folder = scratch.dir.path().join("client/projects/-work-shop");
    std::fs::create_dir_all(&folder).unwrap();
    let line =
        r#"{"type":"user","sessionId":"c1","cwd":"/nowhere/work/shop","timestamp":"2023-11-14T22:13:20Z"}"#;
    std::fs::write(folder.join("c1.jsonl"), format!("{line}\n")).unwrap();
    scratch.run(&path).unwrap();
    let reads = scratch.store.read();
    let shop = reads.projects_named("shop").unwrap();
    assert_eq!(reads.project_keys(shop[0].id).unwrap(), ["path:/nowhere/work/shop"]);
}

#[test]
fn project_known_by_name_adopts_first_directory() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(NEWEST);
    scratch.run(&path).unwrap();
    let keys = |dir: &str| vec![format!("git:{dir}/.git"), format!("path:{dir}")];
    let hint = |dir: &str| claude_mem_core::event::ProjectHint {
        name: "shop".to_owned(),
        keys: keys(dir),
        root: dir.to_owned(),
        branch: None,
    };
    let found = scratch.store.read().project_by_keys(&keys("/a/Shop")).unwrap();
    assert!(found.is_some(), "looking finds it before anything is captured there");
    let mut ensure = |dir: &str| scratch.store.write(|tx| tx.ensure_project(&hint(dir), Millis(1))).unwrap();
    let (first, second) = (ensure("/a/shop"), ensure("/b/shop"));
    assert_eq!(Some(first), found);
    assert_ne!(first, second, "two directories of one name do not mix");
    assert_eq!(ensure("/a/shop"), first);
}

#[test]
fn rows_in_the_wal_are_read_without_writing() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(NEWEST);
    let theirs = rusqlite::Connection::open(&path).unwrap();
    theirs.query_row("PRAGMA journal_mode = WAL", [], |_| Ok(())).unwrap();
    theirs
        .execute("INSERT INTO user_prompts VALUES (9, 1, 'c1', 3, 'In the log', '', 1700000009000)", [])
        .unwrap();
    let before = std::fs::read(&path).unwrap();
    scratch.run(&path).unwrap();
    assert!(scratch.told().contains("In the log"));
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert!(!scratch.dir.path().join("importing").exists());
    drop(theirs);
}

#[test]
fn other_files_are_rejected() {
    let mut scratch = LegacyImportFixture::new();
    let other = scratch.theirs("CREATE TABLE songs (id INTEGER)");
    let text = scratch.dir.path().join("text");
    std::fs::write(
        &text,
        "not a database, but long enough to have a header of a hundred bytes, which this text is by now.",
    )
    .unwrap();
    let ours = scratch.dir.path().join("ours.db");
    let missing = scratch.dir.path().join("missing.db");
    let dir = scratch.dir.path().to_owned();
    for (path, want) in [
        (other, "not a legacy claude-mem database"),
        (text, "not a database, or corrupt"),
        (ours, "not a legacy claude-mem database"),
        (missing, "is missing"),
        (dir, "not a legacy claude-mem database"),
    ] {
        let error = scratch.run(&path).unwrap_err().to_string();
        assert!(error.contains(want), "{}: {error}", path.display());
    }
}

#[test]
fn undated_row_is_not_from_1970() {
    let mut scratch = LegacyImportFixture::new();
    let undated =
        "INSERT INTO memories VALUES (3, 's1', 'Undated.', 'd3', NULL, 'soon', NULL, 'shop', 'transcript',
      NULL, NULL, NULL, NULL, NULL);";
    let path = scratch.theirs(&format!("{THIRD}{undated}"));
    let report = scratch.run(&path).unwrap();
    let told = scratch.told();
    assert!(told.contains("\"Undated.\" in shop at 2000"), "{told}");
    assert_eq!(report.problems.len(), 1, "{report:#?}");
}

#[test]
fn unreadable_folders_are_reported() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(THIRD);
    let projects = scratch.dir.path().join("client/projects");
    std::fs::create_dir_all(projects.parent().unwrap()).unwrap();
    std::os::unix::fs::symlink(&projects, &projects).unwrap();
    let report = scratch.run(&path).unwrap();
    assert_eq!(report.problems.len(), 1, "{report:#?}");
}

#[test]
fn unreadable_wal_is_an_error() {
    let mut scratch = LegacyImportFixture::new();
    let path = scratch.theirs(THIRD);
    let mut log = path.clone().into_os_string();
    log.push("-wal");
    let log = std::path::PathBuf::from(log);
    let _ = std::fs::remove_file(&log);
    std::os::unix::fs::symlink(&log, &log).unwrap();
    assert!(scratch.run(&path).is_err());
}
