use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::common::{sandbox, shown};

#[test]
fn it_can_be_run_again_and_again() {
    let home = sandbox();
    let first = shown(&home, &home.mem(&["install"]));
    assert_snapshot!(first, @"
    ok     directory  [HOME]/.claude-mem
    ok     settings   all readable
    ok     database   [HOME]/.claude-mem/claude-mem.db
    ok     check      the database is sound
    [exit 0]
    ");
    assert_eq!(shown(&home, &home.mem(&["install"])), first);
}

#[test]
fn everything_is_private_whatever_the_umask() {
    let home = sandbox();
    let install = format!(
        "umask 000; exec '{}' install",
        crate::common::exe().display()
    );
    let mut command = home.command("/bin/sh");
    command.args(["-c", &install]);
    rig::process::run(command, b"", std::time::Duration::from_mins(1)).ok();
    for entry in std::fs::read_dir(home.data_dir()).expect("listed") {
        let entry = entry.expect("entry");
        let meta = entry.metadata().expect("there");
        let want = if meta.is_dir() { 0o700 } else { 0o600 };
        let mode = meta.permissions().mode() & 0o777;
        assert_eq!(mode, want, "{}: {mode:o}", entry.path().display());
    }
    let root = std::fs::metadata(home.data_dir()).expect("there");
    assert_eq!(root.permissions().mode() & 0o777, 0o700);
}

#[test]
fn another_programs_database_is_left_alone() {
    let home = sandbox();
    // What SQLite writes first, with no application id: the other program sets none.
    let mut foreign = b"SQLite format 3\0".to_vec();
    foreign.resize(4096, 0);
    let path = home.write(home.data_dir().join("claude-mem.db"), &foreign);
    assert_snapshot!(shown(&home, &home.mem(&["install"])), @"
    ok     directory  [HOME]/.claude-mem
    ok     settings   all readable
    failed database   [HOME]/.claude-mem/claude-mem.db belongs to another program and was left alone; use --data-dir or CLAUDE_MEM_DATA_DIR to keep ours elsewhere
    [stderr]
    error: claude-mem is not set up
    [exit 1]
    ");
    assert_eq!(std::fs::read(path).expect("read"), foreign);
    let elsewhere = home.home().join("elsewhere");
    let elsewhere = elsewhere.to_str().expect("utf-8");
    home.mem(&["--data-dir", elsewhere, "install"]).ok();
}
