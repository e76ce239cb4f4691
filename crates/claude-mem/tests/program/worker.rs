use claude_mem::store::APPLICATION_ID;
use insta::assert_snapshot;

use crate::common::hooks::data;
use crate::common::turns::{counts, eventually, pid, turn};
use crate::common::{sandbox, shown};

#[test]
fn what_hooks_delivered_is_memory_once_the_queue_is_drained() {
    let home = sandbox();
    turn(&home, "one", 1);
    turn(&home, "two", 1);
    assert_eq!(counts(&home).queue.waiting, 6);
    assert_snapshot!(shown(&home, &home.mem(&["worker", "run", "--until-drained"])), @"
    the queue is empty
    [exit 0]
    ");
    let counts = counts(&home);
    assert_eq!((counts.prompts, counts.final_messages), (2, 2));
    assert_eq!((counts.queue.waiting, counts.queue.done), (0, 6));
    home.assert_alone();
}

#[test]
fn an_empty_queue_is_drained_at_once() {
    let home = sandbox();
    let drained = home
        .mem(&["worker", "run", "--until-drained", "--json"])
        .ok();
    assert_eq!(drained.stdout, "{\n  \"drained\": true\n}\n");
}

#[test]
fn it_starts_says_how_it_is_and_stops() {
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
    assert_eq!(
        again.stdout,
        format!("worker running already (pid {first})\n")
    );
    home.mem(&["worker", "restart"]).ok();
    let second = pid(&home).expect("it runs again");
    assert_ne!(first, second);
    assert_snapshot!(shown(&home, &home.mem(&["worker", "stop"])), @"
    worker stopped
    [exit 0]
    ");
    home.assert_alone();
    let log = home.mem(&["worker", "logs"]).ok();
    assert_eq!(log.stdout.matches("worker started").count(), 2);
    assert_eq!(log.stdout.matches("worker ended why=asked").count(), 2);
}

#[test]
fn whoever_waits_for_the_queue_waits_for_the_worker_that_runs() {
    let home = sandbox();
    home.mem(&["worker", "start"]).ok();
    let before = pid(&home);
    turn(&home, "one", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(counts(&home).final_messages, 1);
    assert_eq!(pid(&home), before);
}

#[test]
fn a_hook_starts_it_when_there_is_work_and_many_hooks_start_one() {
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
    home.assert_alone();
}

#[test]
fn a_worker_that_is_left_to_the_person_is_not_started_by_hooks() {
    let home = sandbox();
    turn(&home, "one", 1);
    assert!(!home.data_dir().join("worker.started").exists());
    assert_eq!(pid(&home), None);
    home.assert_alone();
}

#[test]
fn a_killed_worker_leaves_nothing_that_stands_in_the_next_ones_way() {
    let home = sandbox();
    home.mem(&["worker", "start"]).ok();
    let killed = pid(&home).expect("it runs");
    let process = rustix::process::Pid::from_raw(killed as i32).expect("a pid");
    rustix::process::kill_process(process, rustix::process::Signal::KILL).expect("killed");
    home.assert_alone();
    assert!(home.data_dir().join("worker.pid").exists());
    // A process that is killed holds its lock for as long as the kernel takes it apart.
    eventually("its end", || pid(&home).is_none());
    turn(&home, "one", 1);
    home.mem(&["worker", "start"]).ok();
    assert!(pid(&home).is_some_and(|pid| pid != killed));
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(counts(&home).final_messages, 1);
}

#[test]
fn a_deep_data_directory_has_its_socket_elsewhere() {
    let mut home = sandbox();
    let deep = home.home().join("d".repeat(120));
    home.set_env("CLAUDE_MEM_DATA_DIR", &deep);
    home.mem(&["worker", "start"]).ok();
    let running = pid(&home).expect("it can be reached");
    home.mem(&["worker", "run", "--until-drained"]).ok();
    assert_eq!(pid(&home), Some(running));
    home.mem(&["worker", "stop"]).ok();
    home.assert_alone();
}

#[test]
fn a_newer_executable_takes_over() {
    let home = sandbox();
    let exe = home.home().join("claude-mem");
    std::fs::copy(crate::common::exe(), &exe).expect("copied");
    let home = home.with_exe(&exe);
    home.mem(&["worker", "start"]).ok();
    let old = pid(&home).expect("it runs");
    let newer = home.home().join("claude-mem.new");
    std::fs::copy(&exe, &newer).expect("copied");
    std::fs::rename(&newer, &exe).expect("replaced");
    eventually("the newer worker", || {
        pid(&home).is_some_and(|pid| pid != old)
    });
    home.mem(&["worker", "stop"]).ok();
    home.assert_alone();
}

#[test]
fn a_damaged_database_is_recovered_and_the_person_is_told() {
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
    // A hook cannot store its event now, and does not lose it.
    turn(&home, "two", 1);
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let counts = counts(&home);
    assert_eq!(
        (counts.prompts, counts.final_messages, counts.queue.waiting),
        (2, 2, 0)
    );
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
fn a_backup_can_be_taken_and_put_back() {
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
    // What was there before can be put back too.
    let backups = std::fs::read_dir(home.data_dir().join("backups")).expect("backups");
    let replaced = backups
        .flatten()
        .map(|entry| entry.path())
        .find(|path| {
            path.to_string_lossy().contains("/replaced-") && path.extension() == Some("db".as_ref())
        })
        .expect("set aside");
    home.mem(&["restore", replaced.to_str().expect("a path")])
        .ok();
    assert_eq!(counts(&home).prompts, 2);
}

#[test]
fn a_running_worker_is_not_restored_over() {
    let home = sandbox();
    home.mem(&["worker", "start"]).ok();
    home.mem(&["backup"]).ok();
    let refused = home.mem(&["restore"]);
    assert_eq!(refused.code, Some(1));
    assert!(refused.stderr.contains("worker stop"), "{refused}");
}

#[test]
fn whoever_has_to_wait_for_a_database_to_be_rewritten_is_told() {
    for waits in [
        &["worker", "start"][..],
        &["worker", "run", "--until-drained"],
    ] {
        let home = sandbox();
        let db = data(&home).db();
        std::fs::create_dir_all(db.parent().unwrap()).unwrap();
        first_schema(&db);
        let ran = home.mem(waits).ok();
        assert!(
            ran.stderr.contains("it is rewritten first"),
            "{}",
            ran.stderr
        );
        home.mem(&["worker", "stop"]).ok();
        let ran = home.mem(waits).ok();
        assert_eq!(ran.stderr, "");
        home.mem(&["worker", "stop"]).ok();
    }
}

/// A database as the first version of this program left it.
#[allow(
    clippy::disallowed_methods,
    reason = "makes a database of an earlier program"
)]
fn first_schema(path: &std::path::Path) {
    let conn = rusqlite::Connection::open(path).unwrap();
    conn.execute_batch(include_str!(
        "../../src/store/migrations/0001_foundation.sql"
    ))
    .unwrap();
    conn.pragma_update(None, "application_id", APPLICATION_ID)
        .unwrap();
    conn.pragma_update(None, "user_version", 1).unwrap();
}

#[test]
fn a_worker_that_does_not_start_says_why_in_its_log() {
    let home = sandbox();
    home.mem(&["save", "Money is counted in cents."]).ok();
    let lock = home.data_dir().join("worker.lock");
    let _ = std::fs::remove_file(&lock);
    std::fs::create_dir(&lock).expect("made");
    // As a hook starts it, which hears nothing of it.
    home.mem(&["worker", "run", "--detached"]).ok();
    let logs = home.mem(&["worker", "logs"]).ok();
    assert!(logs.stdout.contains("the worker did not start"), "{logs}");
}
