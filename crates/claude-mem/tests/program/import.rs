#![allow(
    clippy::disallowed_methods,
    reason = "the tests build the other program's database, and wait for what they start"
)]

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt as _;
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use insta::assert_snapshot;
use rig::{Output, Sandbox};

use crate::common::{past, sandbox, shown};

/// A database as the earlier program leaves it.
fn earlier(home: &Sandbox) -> PathBuf {
    let path = home.home().join("theirs.db");
    rusqlite::Connection::open(&path)
        .and_then(|db| {
            db.execute_batch(
                "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT,
                   project TEXT, started_at_epoch INTEGER, status TEXT);
                 CREATE TABLE user_prompts (id INTEGER PRIMARY KEY, session_db_id INTEGER, prompt_number INTEGER,
                   prompt_text TEXT, created_at_epoch INTEGER);
                 CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT,
                   title TEXT, narrative TEXT, prompt_number INTEGER, created_at_epoch INTEGER);
                 INSERT INTO sdk_sessions VALUES (1, 'c1', 'm1', 'project', 1760000000000, 'completed');
                 INSERT INTO user_prompts VALUES (1, 1, 1, 'Why does the cart expire?', 1760000001000);
                 INSERT INTO user_prompts VALUES (2, 1, 2, '<private>only mine</private>', 1760000002000);
                 INSERT INTO observations VALUES (1, 'm1', 'project', 'bugfix', 'Carts expire after a day',
                   'The TTL was in minutes.', 1, 1760000003000);
                 INSERT INTO observations VALUES (2, 'm1', 'project', 'bugfix', 'Carts expire after a day',
                   'The TTL was in minutes.', 1, 1760000004000);",
            )
        })
        .expect("a database");
    path
}

#[test]
fn the_earlier_programs_database_is_taken_in_once_and_given_back() {
    let home = sandbox();
    let path = earlier(&home);
    let path = path.to_str().expect("utf-8");
    assert_snapshot!(shown(&home, &home.mem(&["import", "claude-mem-db", path, "--dry-run"])), @"
                  found  to import  skipped  because
    sdk_sessions  1      1          0
    user_prompts  2      1          1        1 private
    observations  2      1          1        1 said twice

    nothing was changed
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "claude-mem-db", path])), @"
                  found  imported  skipped  because
    sdk_sessions  1      1         0
    user_prompts  2      1         1        1 private
    observations  2      1         1        1 said twice

    `claude-mem import undo 1` takes it back
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["search", "carts"])), @"
    id  type    when              title
    #1  bugfix  2025-10-09 08:53  Carts expire after a day
    P1  prompt  2025-10-09 08:53  Why does the cart expire?
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "claude-mem-db", path])), @"
                  found  imported  skipped  because
    sdk_sessions  1      0         1        1 here already
    user_prompts  2      0         2        1 here already, 1 private
    observations  2      0         2        2 here already

    nothing new
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "list"])), @"
    run  kind           when      rows  from
    1    claude-mem-db  just now  3     [HOME]/theirs.db
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "undo", "1"])), @"
    took back run 1: 3 rows of claude-mem-db from [HOME]/theirs.db
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "undo", "1"])), @"
    [stderr]
    error: there is no import 1; `claude-mem import list` lists them
    [exit 1]
    ");
}

#[test]
fn errors_say_what_to_do() {
    let home = sandbox();
    home.mem(&["install", "--yes"]);
    assert_snapshot!(shown(&home, &home.mem(&["import", "claude-mem-db"])), @"
    [stderr]
    error: [HOME]/.claude-mem/claude-mem.db is ours; say where the earlier program's database is: claude-mem import claude-mem-db PATH
    [exit 1]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "transcripts"])), @"
    [stderr]
    error: there are no transcripts in [HOME]/.claude/projects; say where they are: claude-mem import transcripts PATH
    [exit 1]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "transcripts", "--since", "soon"])), @r#"
    [stderr]
    error: "soon" is not a time; say 2026-01-31, yesterday, 2w or 3mo
    [exit 64]
    "#);
    assert_snapshot!(shown(&home, &home.mem(&["import", "json", "/nowhere.json"])), @"
    [stderr]
    error: there is no /nowhere.json
    [exit 1]
    ");
}

#[test]
fn past_sessions_are_learnt_from() {
    let home = sandbox();
    for name in [
        "claude-code-2.1.325/transcripts/with-subagent.jsonl",
        "claude-code-2.0.77/transcripts/session.jsonl",
    ] {
        home.lay_transcript(name);
    }
    let learnt = home.mem(&["import", "transcripts"]);
    assert_snapshot!(shown(&home, &learnt), @"
              found  imported  skipped  because
    sessions  2      2         0

    `claude-mem import undo 1` takes it back

    2 memories (2 feature), 2 accounts and 2 prompts from 1 project
      project: 2 memories from 2 sessions
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["search", "greet"])), @"
    id  type     when              title
    S2  summary  2026-11-15 21:45  Make greet say good morning.
    #2  feature  2026-11-15 21:45  Greet now says good morning; its test fails
    M4  answer   2026-11-15 21:45  greet is called nowhere else.
    P2  prompt   2026-11-15 21:45  Make greet say good morning.
    M3  answer   2026-11-15 21:45  greet now says good morning; its test fails.
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["import", "transcripts"])), @"
              found  imported  skipped  because
    sessions  2      0         2        2 read before

    nothing new
    [exit 0]
    ");
}

#[test]
fn killed_at_any_moment_it_ends_as_if_it_had_not_been() {
    let whole = past::furnished(40);
    whole.mem(&["import", "transcripts"]).ok();
    let want = past::told(&whole);
    assert!(want.len() > 200, "{}", want.len());
    let cut = past::furnished(40);
    let mut killed = 0;
    // Each attempt gets a little further: what was stored before is not read again.
    for attempt in 0..12 {
        let mut child = cut
            .mem_command(&["import", "transcripts"])
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("started");
        let database = cut.data_dir().join("claude-mem.db-wal");
        let size = || std::fs::metadata(&database).map_or(0, |meta| meta.len());
        let begin = size();
        // A moment that the import itself chooses: when so much more has been written.
        while size() < begin + 40_000 * (attempt + 1)
            && child.try_wait().expect("its state").is_none()
        {
            std::thread::yield_now();
        }
        killed += u32::from(child.try_wait().expect("its state").is_none());
        child.kill().expect("killed");
        child.wait().expect("gone");
    }
    assert!(killed > 0, "it was always faster");
    cut.mem(&["import", "transcripts"]).ok();
    assert_eq!(past::told(&cut), want);
    assert_eq!(
        cut.mem(&["import", "list", "--json"])
            .ok()
            .stdout
            .matches("\"kind\"")
            .count(),
        1
    );
}

#[test]
fn what_cannot_be_read_is_said_and_does_not_keep_the_rest_out() {
    let home = past::furnished(2);
    let projects = home.home().join(".claude/projects");
    let closed = projects.join("-work-closed");
    std::fs::create_dir(&closed).expect("made");
    // A link that leads to itself can be opened by nobody.
    std::os::unix::fs::symlink("loop.jsonl", projects.join("loop.jsonl")).expect("linked");
    std::fs::set_permissions(&closed, Permissions::from_mode(0o000)).expect("set");
    let Some(output) = as_anybody(&home, &["import", "transcripts"]) else {
        return;
    };
    let output = output.ok();
    assert!(
        home.tidy(&output.stderr).contains(
            "note: could not be read: [HOME]/.claude/projects/-work-closed: Permission denied"
        ),
        "{output}"
    );
    assert!(output.stderr.contains("loop.jsonl: "), "{output}");
    assert!(
        output
            .stdout
            .contains("sessions  3      2         1        1 not readable"),
        "{output}"
    );
    let Some(again) = as_anybody(&home, &["import", "transcripts", "--json"]) else {
        return;
    };
    assert_eq!(
        again.ok().json()["problems"].as_array().map(Vec::len),
        Some(2)
    );
}

/// Runs it without the power to read what the owner has closed. `None`: that cannot be done here.
fn as_anybody(home: &Sandbox, args: &[&str]) -> Option<Output> {
    let plain = home.mem_command(args);
    if !rustix::process::geteuid().is_root() {
        return Some(home.mem(args));
    }
    let setpriv = rig::client::on_path("setpriv").or_else(|| {
        println!("skipped: root can read everything, and there is no setpriv");
        None
    })?;
    let mut command = home.command(setpriv);
    command.arg("--bounding-set=-dac_override,-dac_read_search");
    command.arg(plain.get_program()).args(args);
    Some(rig::process::run(command, b"", Duration::from_mins(1)))
}
