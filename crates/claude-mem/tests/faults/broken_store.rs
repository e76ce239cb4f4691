//! Hooks with a locked, corrupt, foreign or newer database, and with a full or read-only disk.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use claude_mem_store::Store;
use rig::{ProcessOutput, Sandbox};
use serde_json::json;

use crate::common::hooks::{
    self as common, NEUTRAL, captured_events, data, event_lines, payload, queued_events,
    sandbox_with_real_clock,
};
use crate::common::turns::{counts, turn};

/// A generous limit that only detects a hook that never ends; not a measurement.
const LIMIT: Duration = Duration::from_secs(30);

fn prompt(text: &str) -> String {
    payload("UserPromptSubmit", &json!({"prompt": text, "prompt_id": text}))
}

fn assert_valid_answer(output: ProcessOutput) {
    let output = output.ok();
    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (NEUTRAL, ""));
}

fn spooled(home: &Sandbox) -> usize {
    let files = fs::read_dir(data(home).spool()).expect("a spool");
    let names = files.flatten().map(|file| file.path());
    names.filter(|name| name.extension().is_some_and(|kind| kind == "json")).count()
}

#[test]
fn hook_does_not_wait_long_for_a_locked_database() {
    let home = sandbox_with_real_clock();
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("one")));
    let mut store = Store::open(&data(&home).db()).expect("a database");
    store
        .write(|_held| {
            assert_valid_answer(home.hook("UserPromptSubmit", prompt("two")));
            assert_eq!(spooled(&home), 1);
            Ok(())
        })
        .expect("a transaction");
    drop(store);
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("three")));
    assert_eq!(spooled(&home), 0);
    assert_eq!(event_lines(&queued_events(&home)), "prompt: one\nprompt: two\nprompt: three");
}

#[test]
fn corrupt_database_is_untouched_and_its_successor_gets_all_events() {
    for damage in [&b""[..], b"short", &[0xAA; 8192]] {
        let home = sandbox_with_real_clock();
        assert_valid_answer(home.hook("UserPromptSubmit", prompt("before")));
        let db = data(&home).db();
        let sound = fs::read(&db).expect("a database");
        for ending in ["-wal", "-shm"] {
            // The file may not exist.
            let _ = fs::remove_file(db.with_extension(format!("db{ending}")));
        }
        fs::write(&db, damage).expect("the damage");
        assert_valid_answer(home.hook("UserPromptSubmit", prompt("during")));
        assert_eq!(fs::read(&db).expect("the damaged database"), damage);
        assert_eq!(spooled(&home), 1);
        assert!(common::log(&home).contains("corrupt"), "{}", common::log(&home));
        fs::write(&db, sound).expect("the repair");
        assert_valid_answer(home.hook("UserPromptSubmit", prompt("after")));
        let queue = event_lines(&queued_events(&home));
        assert!(queue.ends_with("prompt: during\nprompt: after"), "{queue}");
    }
}

#[test]
fn corrupt_page_loses_no_event() {
    let home = sandbox_with_real_clock();
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("before")));
    // Closing the store checkpoints the log, so the pages of the queue are in the file.
    assert_eq!(captured_events(&home).len(), 1);
    let db = data(&home).db();
    let mut bytes = fs::read(&db).expect("a database");
    let sound = bytes.clone();
    for page in bytes.chunks_mut(4096).skip(1) {
        page.fill(0xAA);
    }
    fs::write(&db, bytes).expect("the damage");
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("during")));
    assert_eq!(spooled(&home), 1);
    fs::write(&db, sound).expect("the repair");
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("after")));
    assert_eq!(event_lines(&queued_events(&home)), "prompt: before\nprompt: during\nprompt: after");
}

#[test]
fn foreign_database_is_not_touched() {
    let home = sandbox_with_real_clock();
    fs::create_dir_all(home.data_dir()).expect("a data directory");
    // An SQLite database that is not ours: the application id at byte 68 is missing.
    let mut foreign = vec![0; 4096];
    foreign[..16].copy_from_slice(b"SQLite format 3\0");
    fs::write(data(&home).db(), &foreign).expect("the foreign database");
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("hello")));
    assert_eq!(fs::read(data(&home).db()).expect("still there"), foreign);
    assert_eq!(spooled(&home), 1);
}

/// Runs the hook with a limit on file sizes, as on a disk that is nearly full.
fn hook_with_files_up_to(home: &Sandbox, blocks: u64, input: &str) -> ProcessOutput {
    let script = format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" hook claude-code UserPromptSubmit");
    let mut command = home.command("/bin/sh");
    command.arg("-c").arg(script).arg(crate::common::exe());
    rig::process::run(command, input.as_bytes(), LIMIT)
}

#[test]
fn event_is_spooled_when_only_the_database_does_not_fit() {
    let home = sandbox_with_real_clock();
    // 8 KB is less than a new database needs and more than an event.
    assert_valid_answer(hook_with_files_up_to(&home, 16, &prompt("one")));
    assert_eq!(spooled(&home), 1);
    assert!(!data(&home).db().exists());
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("two")));
    assert_eq!(event_lines(&queued_events(&home)), "prompt: one\nprompt: two");
}

#[test]
fn event_stays_in_the_spool_when_the_log_cannot_grow() {
    let home = sandbox_with_real_clock();
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("one")));
    assert_valid_answer(hook_with_files_up_to(&home, 16, &prompt("two")));
    assert_eq!(spooled(&home), 1);
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("three")));
    assert_eq!(event_lines(&queued_events(&home)), "prompt: one\nprompt: two\nprompt: three");
}

#[test]
fn hook_answers_neutrally_on_a_full_disk() {
    let home = sandbox_with_real_clock();
    assert_valid_answer(hook_with_files_up_to(&home, 0, &prompt("one")));
    assert_eq!(captured_events(&home), []);
    let strict = home.with_env("CLAUDE_MEM_STRICT", "1");
    let output = hook_with_files_up_to(&strict, 0, &prompt("two"));
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), NEUTRAL));
    assert!(output.stderr.contains("event lost"), "{output}");
}

/// Gives the path to an unprivileged user, because root ignores permissions.
const NOBODY: u32 = 65_534;

fn chown_to_nobody(path: &Path) {
    std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a directory").flatten() {
            chown_to_nobody(&entry.path());
        }
    }
}

#[test]
fn event_is_spooled_when_the_directory_is_read_only() {
    let home = sandbox_with_real_clock();
    let as_root = rustix::process::geteuid().is_root();
    let root = home.home().parent().expect("the sandbox").to_owned();
    let exe = root.join("claude-mem");
    fs::copy(crate::common::exe(), &exe).expect("a copy that anybody may run");
    if as_root {
        chown_to_nobody(&root);
    }
    let hook = |input: &str| {
        let mut command = home.command(&exe);
        command.args(["hook", "claude-code", "UserPromptSubmit"]);
        if as_root {
            command.uid(NOBODY).gid(NOBODY);
        }
        rig::process::run(command, input.as_bytes(), LIMIT)
    };
    let set_mode = |mode| {
        let permissions = fs::Permissions::from_mode(mode);
        fs::set_permissions(home.data_dir(), permissions).expect("we may");
    };
    assert_valid_answer(hook(&prompt("one")));
    assert_eq!(captured_events(&home).len(), 1);
    if as_root {
        chown_to_nobody(&root);
    }
    set_mode(0o500);
    assert_valid_answer(hook(&prompt("two")));
    assert_eq!(spooled(&home), 1);
    set_mode(0o700);
    assert_valid_answer(hook(&prompt("three")));
    assert_eq!(event_lines(&queued_events(&home)), "prompt: one\nprompt: two\nprompt: three");
}

#[test]
fn hook_answers_neutrally_when_data_dir_is_a_file() {
    let home = sandbox_with_real_clock();
    fs::write(home.data_dir(), "not a directory").expect("a file");
    assert_valid_answer(home.hook("UserPromptSubmit", prompt("one")));
    assert_eq!(home.read(home.data_dir()), "not a directory");
}

#[test]
fn killed_recovery_loses_nothing() {
    for part in [8, 2] {
        let home = crate::common::sandbox();
        turn(&home, "one", 1);
        home.mem(&["worker", "run", "--until-drained"]).ok();
        let db = data(&home).db();
        let length = fs::metadata(&db).expect("a database").len();
        let mut bytes = fs::read(&db).expect("a database");
        bytes[100..].fill(0x5a);
        fs::write(&db, &bytes).expect("the damage");
        // The kernel kills it once it has written part of the replacement.
        let blocks = length / 512 / part;
        let script = format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" worker run --until-drained");
        let mut command = home.command("/bin/sh");
        command.arg("-c").arg(script).arg(crate::common::exe());
        rig::process::run(command, b"", LIMIT);
        assert_eq!(fs::read(&db).expect("still there"), bytes);
        home.mem(&["worker", "run", "--until-drained"]).ok();
        let counts = counts(&home);
        assert_eq!((counts.prompts, counts.final_messages), (1, 1));
        let status = home.mem(&["status"]).ok();
        assert!(status.stdout.contains("damaged"), "{status}");
        assert!(!data(&home).recovering().exists());
    }
}
