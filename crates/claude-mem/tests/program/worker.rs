use claude_mem_store::APPLICATION_ID;
use insta::assert_snapshot;

use crate::common::hooks::data;
use crate::common::turns::{counts, eventually, pid, turn};
use crate::common::{sandbox, shown};

#[test]
fn drained_queue_becomes_memories() {
    let home = sandbox();
    turn(&home, "one", 1);
    turn(&home, "two", 1);
    // The first command takes the events in.
    let queued = home.mem(&["queue", "list", "--json"]).ok().json();
    assert_eq!(queued["items"].as_array().map(Vec::len), Some(6), "{queued:#}");
    assert_eq!(counts(&home).queue.waiting, 6);
    assert_snapshot!(shown(&home, &home.mem(&["worker", "run", "--until-drained"])), @"
    the queue is empty
    [exit 0]
    ");
    let counts = counts(&home);
    assert_eq!((counts.prompts, counts.final_messages), (2, 2));
    assert_eq!((counts.queue.waiting, counts.queue.done), (0, 6));
    home.assert_no_processes();
}

#[test]
fn an_empty_queue_is_drained_at_once() {
    let home = sandbox();
    let drained = home.mem(&["worker", "run", "--until-drained", "--json"]).ok();
    assert_eq!(drained.stdout, "{\n  \"drained\": true\n}\n");
}

#[test]
fn worker_starts_restarts_and_stops() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["worker", "status"])), @"
    worker is not running
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["worker", "stop"])), @"
    worker was not running
    [exit 0]
    ");
    home.mem(&["worker", "start"]).ok();
    let first = pid(&home).expect("it runs");
    let again = home.mem(&["worker", "start"]).ok();
    assert_eq!(again.stdout, format!("worker already running (pid {first})\n"));
    home.mem(&["worker", "restart"]).ok();
    let second = pid(&home).expect("it runs again");
    assert_ne!(first, second);
    assert_snapshot!(shown(&home, &home.mem(&["worker", "stop"])), @"
    worker stopped
    [exit 0]
    ");
    home.assert_no_processes();
    let log = home.mem(&["worker", "logs"]).ok();
    assert_eq!(log.stdout.matches("worker started").count(), 2);
    assert_eq!(log.stdout.matches("worker ended why=asked").count(), 2);
}

#[test]
fn until_drained_waits_for_a_running_worker() {
    let home = sandbox();
    home.mem(&["worker", "start"]).ok();
    let before = pid(&home);
    turn(&home, "one", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(counts(&home).final_messages, 1);
    assert_eq!(pid(&home), before);
}

#[test]
fn many_hooks_start_one_worker() {
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_WORKER");
    let sessions = ["one", "two", "three", "four"];
    for session in sessions {
        turn(&home, session, 1);
    }
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(counts(&home).final_messages, sessions.len() as u64);
    eventually("a worker", || pid(&home).is_some());
    assert_eq!(home.leftovers().len(), 1, "{:?}", home.leftovers());
    home.mem(&["worker", "stop"]).ok();
    home.assert_no_processes();
}

#[test]
fn manual_worker_is_not_started_by_hooks() {
    let home = sandbox();
    turn(&home, "one", 1);
    assert!(!home.data_dir().join("worker.started").exists());
    assert_eq!(pid(&home), None);
    home.assert_no_processes();
}

#[test]
fn killed_worker_does_not_block_the_next() {
    let home = sandbox();
    home.mem(&["worker", "start"]).ok();
    let killed = pid(&home).expect("it runs");
    let process = rustix::process::Pid::from_raw(killed as i32).expect("a pid");
    rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
    home.assert_no_processes();
    assert!(home.data_dir().join("worker.pid").exists());
    // A killed process holds its lock until the kernel has cleaned it up.
    eventually("its end", || pid(&home).is_none());
    turn(&home, "one", 1);
    home.mem(&["worker", "start"]).ok();
    assert!(pid(&home).is_some_and(|pid| pid != killed));
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(counts(&home).final_messages, 1);
}

#[test]
fn deep_data_directory_uses_a_short_socket_path() {
    let mut home = sandbox();
    let deep = home.home().join("d".repeat(120));
    home.set_env("CLAUDE_MEM_DATA_DIR", &deep);
    home.mem(&["worker", "start"]).ok();
    let running = pid(&home).expect("it can be reached");
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(pid(&home), Some(running));
    home.mem(&["worker", "stop"]).ok();
    home.assert_no_processes();
}

#[test]
fn replaced_executable_takes_over() {
    let home = sandbox();
    let exe = home.home().join("claude-mem");
    std::fs::copy(crate::common::exe(), &exe).expect("copied");
    let home = home.with_exe(&exe);
    home.mem(&["worker", "start"]).ok();
    let old = pid(&home).expect("it runs");
    let newer = home.home().join("claude-mem.new");
    std::fs::copy(&exe, &newer).expect("copied");
    std::fs::rename(&newer, &exe).expect("replaced");
    eventually("the newer worker", || pid(&home).is_some_and(|pid| pid != old));
    home.mem(&["worker", "stop"]).ok();
    home.assert_no_processes();
}

#[test]
fn damaged_database_is_recovered_and_reported() {
    let home = sandbox();
    turn(&home, "one", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let backups = home.data_dir().join("backups");
    assert_eq!(std::fs::read_dir(&backups).expect("backups").count(), 1);
    let database = home.data_dir().join("claude-mem.db");
    let length = std::fs::metadata(&database).expect("a store").len();
    let mut bytes = std::fs::read(&database).expect("read");
    bytes[100..].fill(0x5a);
    std::fs::write(&database, &bytes).expect("damaged");
    // A hook cannot store its event now, but does not lose it.
    turn(&home, "two", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let counts = counts(&home);
    assert_eq!((counts.prompts, counts.final_messages, counts.queue.waiting), (2, 2, 0));
    let damaged = std::fs::read_dir(&backups).expect("backups").flatten();
    let damaged: Vec<_> = damaged
        .filter(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            let is_database = entry.path().extension().is_some_and(|kind| kind == "db");
            name.starts_with("damaged-") && is_database
        })
        .collect();
    assert_eq!(damaged.len(), 1);
    assert_eq!(damaged[0].metadata().expect("kept").len(), length);
    let status = home.mem(&["status"]).ok();
    assert!(status.stdout.contains("damaged"), "{status}");
}

#[test]
fn backup_is_restored() {
    let home = sandbox();
    turn(&home, "one", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let file = home.home().join("mine.db");
    let path = file.to_str().expect("a path");
    home.mem(&["backup", path]).ok();
    turn(&home, "two", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(counts(&home).prompts, 2);
    home.mem(&["restore", path, "--dry-run"]).ok();
    assert_eq!(counts(&home).prompts, 2);
    home.mem(&["restore", path]).ok();
    assert_eq!(counts(&home).prompts, 1);
    // The replaced database can be restored too.
    let backups = std::fs::read_dir(home.data_dir().join("backups")).expect("backups");
    let replaced = backups
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.to_string_lossy().contains("/replaced-") && path.extension() == Some("db".as_ref()))
        .expect("set aside");
    home.mem(&["restore", replaced.to_str().expect("a path")]).ok();
    assert_eq!(counts(&home).prompts, 2);
}

#[test]
fn restore_refuses_while_the_worker_runs() {
    let home = sandbox();
    home.mem(&["worker", "start"]).ok();
    home.mem(&["backup"]).ok();
    let refused = home.mem(&["restore"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("worker stop"), "{refused}");
}

#[test]
fn pending_migration_is_announced() {
    for waits in [&["worker", "start"][..], &["worker", "run", "--until-drained"]] {
        let home = sandbox();
        let db = data(&home).db();
        std::fs::create_dir_all(db.parent().unwrap()).unwrap();
        first_schema(&db);
        let ran = home.mem(waits).ok();
        assert!(ran.stderr.contains("is migrated first"), "{}", ran.stderr);
        home.mem(&["worker", "stop"]).ok();
        let ran = home.mem(waits).ok();
        assert_eq!(ran.stderr, "");
        home.mem(&["worker", "stop"]).ok();
    }
}

/// Creates a database with the first schema.
#[allow(clippy::disallowed_methods, reason = "creates a database with an old schema")]
fn first_schema(path: &std::path::Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch(include_str!("../../../store/src/migrations/0001_foundation.sql")).unwrap();
    conn.pragma_update(None, "application_id", APPLICATION_ID).unwrap();
    conn.pragma_update(None, "user_version", 1).unwrap();
}

#[test]
fn failed_start_is_logged() {
    let home = sandbox();
    home.mem(&["save", "Money is counted in cents."]).ok();
    let lock = home.data_dir().join("worker.lock");
    let _ = std::fs::remove_file(&lock);
    std::fs::create_dir(&lock).expect("made");
    // As a hook starts it, without reading its output.
    home.mem(&["worker", "run", "--detached"]).ok();
    let logs = home.mem(&["worker", "logs"]).ok();
    assert!(logs.stdout.contains("failed to start the worker"), "{logs}");
}
