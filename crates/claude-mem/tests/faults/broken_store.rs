//! A database that is locked, damaged, foreign, newer; a disk that is full or read-only.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::time::Duration;

use claude_mem::store::Store;
use rig::{Output, Sandbox};
use serde_json::json;

use crate::common::hooks::{
    self as common, NEUTRAL, data, home_in_time, in_queue, kept, lines, payload,
};
use crate::common::turns::{counts, turn};

/// The longest that any hook may take here. Not a measurement: a hook without an end.
const LIMIT: Duration = Duration::from_secs(30);

fn prompt(text: &str) -> String {
    payload(
        "UserPromptSubmit",
        &json!({"prompt": text, "prompt_id": text}),
    )
}

fn says_nothing_wrong(output: Output) {
    let output = output.ok();
    assert_eq!(
        (output.stdout.as_str(), output.stderr.as_str()),
        (NEUTRAL, "")
    );
}

fn spooled(home: &Sandbox) -> usize {
    let files = fs::read_dir(data(home).spool()).expect("a spool");
    let names = files.flatten().map(|file| file.path());
    names
        .filter(|name| name.extension().is_some_and(|kind| kind == "json"))
        .count()
}

#[test]
fn a_locked_database_is_waited_for_a_little_and_then_left_alone() {
    let home = home_in_time();
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("one")));
    let mut store = Store::open(&data(&home).db()).expect("a database");
    store
        .write(|_held| {
            says_nothing_wrong(home.hook("UserPromptSubmit", prompt("two")));
            assert_eq!(spooled(&home), 1);
            Ok(())
        })
        .expect("a transaction");
    drop(store);
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("three")));
    assert_eq!(spooled(&home), 0);
    assert_eq!(
        lines(&in_queue(&home)),
        "prompt: one\nprompt: two\nprompt: three"
    );
}

#[test]
fn a_damaged_database_is_left_as_it_is_and_the_next_sound_one_gets_everything() {
    for damage in [&b""[..], b"short", &[0xAA; 8192]] {
        let home = home_in_time();
        says_nothing_wrong(home.hook("UserPromptSubmit", prompt("before")));
        let db = data(&home).db();
        let sound = fs::read(&db).expect("a database");
        for ending in ["-wal", "-shm"] {
            // There may be none.
            let _ = fs::remove_file(db.with_extension(format!("db{ending}")));
        }
        fs::write(&db, damage).expect("the damage");
        says_nothing_wrong(home.hook("UserPromptSubmit", prompt("during")));
        assert_eq!(fs::read(&db).expect("the damaged database"), damage);
        assert_eq!(spooled(&home), 1);
        assert!(
            common::log(&home).contains("damaged"),
            "{}",
            common::log(&home)
        );
        fs::write(&db, sound).expect("the repair");
        says_nothing_wrong(home.hook("UserPromptSubmit", prompt("after")));
        let queue = lines(&in_queue(&home));
        assert!(queue.ends_with("prompt: during\nprompt: after"), "{queue}");
    }
}

#[test]
fn a_page_that_is_damaged_in_the_middle_costs_no_event() {
    let home = home_in_time();
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("before")));
    // Taken in by the store's close: the pages of the queue now lie in the file.
    assert_eq!(kept(&home).len(), 1);
    let db = data(&home).db();
    let mut bytes = fs::read(&db).expect("a database");
    let sound = bytes.clone();
    for page in bytes.chunks_mut(4096).skip(1) {
        page.fill(0xAA);
    }
    fs::write(&db, bytes).expect("the damage");
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("during")));
    assert_eq!(spooled(&home), 1);
    fs::write(&db, sound).expect("the repair");
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("after")));
    assert_eq!(
        lines(&in_queue(&home)),
        "prompt: before\nprompt: during\nprompt: after"
    );
}

#[test]
fn a_foreign_database_is_not_touched() {
    let home = home_in_time();
    fs::create_dir_all(home.data_dir()).expect("a data directory");
    // A database of SQLite's, and not of ours: the mark at byte 68 is missing.
    let mut foreign = vec![0; 4096];
    foreign[..16].copy_from_slice(b"SQLite format 3\0");
    fs::write(data(&home).db(), &foreign).expect("the foreign database");
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("hello")));
    assert_eq!(fs::read(data(&home).db()).expect("still there"), foreign);
    assert_eq!(spooled(&home), 1);
}

/// Runs the hook under a limit on the size of any file, as on a disk that is about to be full.
fn hook_with_files_up_to(home: &Sandbox, blocks: u64, input: &str) -> Output {
    let script =
        format!("trap '' XFSZ; ulimit -f {blocks}; exec \"$0\" hook claude-code UserPromptSubmit");
    let mut command = home.command("/bin/sh");
    command.arg("-c").arg(script).arg(crate::common::exe());
    rig::process::run(command, input.as_bytes(), LIMIT)
}

#[test]
fn a_disk_with_room_for_a_letter_but_not_for_the_database_keeps_the_letter() {
    let home = home_in_time();
    // 8 KB are less than a new database needs, and more than an event.
    says_nothing_wrong(hook_with_files_up_to(&home, 16, &prompt("one")));
    assert_eq!(spooled(&home), 1);
    assert!(!data(&home).db().exists());
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("two")));
    assert_eq!(lines(&in_queue(&home)), "prompt: one\nprompt: two");
}

#[test]
fn a_log_that_cannot_grow_leaves_the_letter_where_it_is() {
    let home = home_in_time();
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("one")));
    says_nothing_wrong(hook_with_files_up_to(&home, 16, &prompt("two")));
    assert_eq!(spooled(&home), 1);
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("three")));
    assert_eq!(
        lines(&in_queue(&home)),
        "prompt: one\nprompt: two\nprompt: three"
    );
}

#[test]
fn a_full_disk_is_answered_like_anything_else() {
    let home = home_in_time();
    says_nothing_wrong(hook_with_files_up_to(&home, 0, &prompt("one")));
    assert_eq!(kept(&home), []);
    let strict = home.with_env("CLAUDE_MEM_STRICT", "1");
    let output = hook_with_files_up_to(&strict, 0, &prompt("two"));
    assert_eq!((output.code, output.stdout.as_str()), (Some(2), NEUTRAL));
    assert!(output.stderr.contains("an event is lost"), "{output}");
}

/// Somebody who is not allowed everything. As root, permissions mean nothing.
const NOBODY: u32 = 65_534;

fn give_to_nobody(path: &Path) {
    std::os::unix::fs::chown(path, Some(NOBODY), Some(NOBODY)).expect("root may");
    if path.is_dir() {
        for entry in fs::read_dir(path).expect("a directory").flatten() {
            give_to_nobody(&entry.path());
        }
    }
}

#[test]
fn a_directory_that_became_read_only_still_takes_letters() {
    let home = home_in_time();
    let as_root = rustix::process::geteuid().is_root();
    let root = home.home().parent().expect("the sandbox").to_owned();
    let exe = root.join("claude-mem");
    fs::copy(crate::common::exe(), &exe).expect("a copy that anybody may run");
    if as_root {
        give_to_nobody(&root);
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
    says_nothing_wrong(hook(&prompt("one")));
    assert_eq!(kept(&home).len(), 1);
    if as_root {
        give_to_nobody(&root);
    }
    set_mode(0o500);
    says_nothing_wrong(hook(&prompt("two")));
    assert_eq!(spooled(&home), 1);
    set_mode(0o700);
    says_nothing_wrong(hook(&prompt("three")));
    assert_eq!(
        lines(&in_queue(&home)),
        "prompt: one\nprompt: two\nprompt: three"
    );
}

#[test]
fn a_file_in_the_place_of_the_directory_is_answered_like_anything_else() {
    let home = home_in_time();
    fs::write(home.data_dir(), "not a directory").expect("a file");
    says_nothing_wrong(home.hook("UserPromptSubmit", prompt("one")));
    assert_eq!(home.read(home.data_dir()), "not a directory");
}

#[test]
fn a_recovery_that_is_killed_loses_nothing() {
    for part in [8, 2] {
        let home = crate::common::sandbox();
        turn(&home, "one", 1);
        home.mem(&["worker", "run", "--until-drained"]).ok();
        let db = data(&home).db();
        let length = fs::metadata(&db).expect("a database").len();
        let mut bytes = fs::read(&db).expect("a database");
        bytes[100..].fill(0x5a);
        fs::write(&db, &bytes).expect("the damage");
        // Killed by the kernel as soon as it has written a part of what is to take the place.
        let blocks = length / 512 / part;
        let script =
            format!("ulimit -c 0; ulimit -f {blocks}; exec \"$0\" worker run --until-drained");
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
