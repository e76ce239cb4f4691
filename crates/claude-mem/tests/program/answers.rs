//! What holds for every command: exit codes, JSON output, and no files left behind.

use insta::assert_snapshot;

use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::time::Duration;

use rig::{ProcessOutput, Sandbox};

use crate::common::{sandbox, shown};

fn mem_in(home: &Sandbox, directory: &Path, args: &[&str]) -> ProcessOutput {
    let mut command = home.mem_command(args);
    command.current_dir(directory);
    rig::process::run(command, b"", Duration::from_mins(1))
}

const NOT_UNDERSTOOD: Option<i32> = Some(64);
const NOT_THERE: Option<i32> = Some(1);

#[test]
fn missing_rows_exit_1_and_usage_errors_64() {
    let empty = sandbox();
    for args in [
        &["show", "1"][..],
        &["timeline", "1"],
        &["why", "1"],
        &["export"],
        &["edit", "1", "--title", "x"],
        &["pin", "1"],
        &["forget", "1"],
        &["mark", "useful", "1"],
    ] {
        let output = empty.mem(args);
        assert_eq!(output.code, NOT_THERE, "{args:?}: {output}");
        let told = &output.stderr;
        assert!(told.contains("no memories yet"), "{args:?}: {told}");
    }
    let home = sandbox();
    home.mem(&["save", "Money is in cents"]).ok();
    for (args, code) in [
        (&["show", "9"][..], NOT_THERE),
        (&["timeline", "9"], NOT_THERE),
        (&["why", "9"], NOT_THERE),
        (&["edit", "9", "--title", "x"], NOT_THERE),
        (&["preferences", "--confirm", "9"], NOT_THERE),
        (&["import", "json", "/nope"], NOT_THERE),
        (&["import", "claude-mem-db", "/nope"], NOT_THERE),
        (&["import", "transcripts", "/nope"], NOT_THERE),
        (&["import", "undo", "9"], NOT_THERE),
        (&["restore", "/nope"], NOT_THERE),
        (&["backup", "/nope/x.db"], NOT_THERE),
        (&["project", "merge", "99", "project"], NOT_THERE),
        (&["project", "alias", "website", "/tmp"], NOT_THERE),
        (&["project", "alias", "project", "/nope"], NOT_THERE),
        (&["queue", "drop", "9"], NOT_THERE),
        (&["show", "x9"], NOT_UNDERSTOOD),
        (&["recent", "--limit", "0"], NOT_UNDERSTOOD),
        (&["recent", "--limit", "-1"], NOT_UNDERSTOOD),
        (&["recent", "--since", "someday"], NOT_UNDERSTOOD),
        (&["stats", "--days", "x"], NOT_UNDERSTOOD),
        (&["import", "undo", "x"], NOT_UNDERSTOOD),
        (&["context", "--tokens", "5"], NOT_UNDERSTOOD),
        (&["context", "--tokens", "99999"], NOT_UNDERSTOOD),
        (&["pause", "99999999d"], NOT_UNDERSTOOD),
        (&["completions", "bash", "--json"], NOT_UNDERSTOOD),
    ] {
        let output = home.mem(args);
        assert_eq!(output.code, code, "{args:?}: {output}");
        let told = format!("{}{}", output.stdout, output.stderr);
        assert!(!told.contains("invalid digit"), "{args:?}: {output}");
        assert!(!told.contains("os error"), "{args:?}: {output}");
    }
}

#[test]
fn usage_errors_are_json_with_json_flag() {
    let home = sandbox();
    let output = home.mem(&["show", "--json"]);
    assert_eq!(output.code, NOT_UNDERSTOOD, "{output}");
    assert_eq!(output.stderr, "");
    let told: serde_json::Value = serde_json::from_str(&output.stdout).expect("JSON");
    let told = told["error"].as_str().expect("an error");
    assert!(told.contains("required arguments"), "{told}");
    assert!(!told.starts_with("error:"), "{told}");
}

#[test]
fn errors_name_the_argument() {
    let home = sandbox();
    home.mem(&["save", "Money is in cents"]).ok();
    let text = home.write(home.home().join("text.db"), "not a database at all");
    let ours = home.data_dir().join("claude-mem.db");
    let (text, ours) = (text.display().to_string(), ours.display().to_string());
    for (args, want) in [
        (&["restore", "/nope"][..], "no such file: /nope"),
        (&["restore", &text], "is not a claude-mem backup"),
        (&["backup", "/nope/x.db"], "no such directory: /nope"),
        (&["import", "claude-mem-db", &ours], "is a database of this claude-mem"),
        (&["project", "merge", "99", "project"], "see `claude-mem project list`"),
        (&["pause", "99999999d"], "is too long"),
        (&["context", "--tokens", "5"], "100 to 2400"),
    ] {
        let output = home.mem(args);
        assert!(output.stderr.contains(want), "{args:?}: {output}");
    }
}

#[test]
fn read_only_commands_leave_no_files() {
    let mut home = sandbox();
    let scratch = home.home().join("tmp");
    std::fs::create_dir(&scratch).expect("made");
    home.set_env("TMPDIR", scratch.display().to_string());
    // A client whose version is only known by running it.
    let client = home.write(home.home().join("bin/claude"), "#!/bin/sh\necho 2.1.325\n");
    let executable = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(client, executable).expect("changed");
    home.set_env("PATH", format!("{}:/usr/bin:/bin", home.home().join("bin").display()));
    for args in [&["doctor"][..], &["update-check"], &["install", "--dry-run"], &["import", "transcripts"]] {
        home.mem(args);
        let left: Vec<_> = std::fs::read_dir(&scratch).expect("read").collect();
        assert!(left.is_empty(), "{args:?} left {left:?}");
        assert!(!home.data_dir().exists(), "{args:?}");
    }
}

#[test]
fn row_of_another_project_shows_its_project() {
    let home = sandbox();
    home.mem(&["save", "Invoices are rounded up"]).ok();
    home.mem(&["save", "--global", "Invoices are sent on Mondays"]).ok();
    let here = home.mem(&["search", "invoices"]).ok().stdout;
    assert!(!here.contains("project: "), "{here}");
    let elsewhere = home.home().join("elsewhere");
    std::fs::create_dir(&elsewhere).expect("made");
    let found = mem_in(&home, &elsewhere, &["search", "rounded"]).ok().stdout;
    assert!(found.contains("project: Invoices are rounded up"), "{found}");
    let around = mem_in(&home, &elsewhere, &["timeline", "1"]).ok().stdout;
    assert!(around.contains("from another project: project"), "{around}");
}

#[test]
fn empty_results_say_why() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["search", "foo"])), @"
    no memories yet
    [exit 0]
    ");
    home.mem(&["save", "Invoices are rounded up"]).ok();
    let further = home.mem(&["recent", "--offset", "99"]).ok().stdout;
    assert!(further.starts_with("no more results"), "{further}");
    let latest = home.mem(&["search", ""]).ok().stdout;
    assert!(latest.contains("showing the latest"), "{latest}");
}

#[test]
fn missing_vocabulary_is_reported_at_once() {
    let home = sandbox();
    let set = home.mem(&["config", "set", "vocabulary", "/nope.json"]).ok();
    assert!(set.stderr.contains("/nope.json"), "{set}");
    for args in [&["config"][..], &["status"], &["doctor"]] {
        let output = home.mem(args);
        assert!(output.stdout.contains("vocabulary /nope.json"), "{output}");
    }
    let fix = home.mem(&["doctor"]).stdout;
    assert!(fix.contains("claude-mem config unset vocabulary"), "{fix}");
    let unset = home.mem(&["config", "unset", "vocabulary"]).ok().stdout;
    assert_eq!(unset, "vocabulary = (empty)\n");
}

#[test]
fn import_report_is_nested_json() {
    let home = sandbox();
    home.mem(&["save", "Invoices are rounded up"]).ok();
    let file = home.home().join("memory.json").display().to_string();
    home.mem(&["export", "--out", &file]).ok();
    let again = home.mem(&["export", "--out", &file]).ok().stdout;
    assert!(again.contains("replacing the old file"), "{again}");
    let other = home.home().join("other").display().to_string();
    home.mem(&["--data-dir", &other, "import", "json", &file]).ok();
    let runs = home.mem(&["--data-dir", &other, "import", "list", "--json"]);
    let runs = runs.ok().stdout;
    let runs: serde_json::Value = serde_json::from_str(&runs).expect("JSON");
    assert!(runs[0]["report"].is_object(), "{runs}");
}

#[test]
fn variable_that_disables_context_is_named() {
    let mut home = sandbox();
    home.set_env("CLAUDE_MEM_CONTEXT", "off");
    let told = home.mem(&["context"]).ok().stdout;
    assert!(told.contains("unset CLAUDE_MEM_CONTEXT"), "{told}");
}
