use insta::assert_snapshot;

use crate::common::{sandbox, shown};

#[test]
fn without_arguments_it_says_what_it_can_do() {
    let home = sandbox();
    let help = home.mem(&[]).ok();
    assert_eq!(help.stderr, "");
    assert_eq!(help.stdout, home.mem(&["--help"]).ok().stdout);
    assert!(help.stdout.contains("\n  status "), "{help}");
}

#[test]
fn help_teaches_by_example() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["pause", "--help"])), @"
    Keep nothing until `resume`, or for a while

    Usage: claude-mem pause [OPTIONS] [DURATION]

    Arguments:
      [DURATION]  How long, as 30m, 2h or 1d; without it, until `claude-mem resume`

    Options:
          --json            Print JSON, for programs
          --data-dir <DIR>  Where everything is kept, instead of ~/.claude-mem
      -h, --help            Print help

    Examples:
      claude-mem pause          until `claude-mem resume`
      claude-mem pause 30m      for half an hour

    For one session only, start it with CLAUDE_MEM_DISABLED=1; for one project for good, see
    `claude-mem config set ignore_projects`. Memory is still given to sessions while it is paused.
    [exit 0]
    ");
}

#[test]
fn wrong_usage_exits_64_and_never_2() {
    let home = sandbox();
    for args in [
        &["no-such-verb"][..],
        &["--no-such-flag"],
        &["status", "extra"],
        &["config", "set", "port"],
        &["config", "set", "port", "-1"],
        &["config", "get", "no_such_key"],
        &["pause", "soon"],
        &["queue", "retry"],
        &["queue", "list", "--state", "lost"],
    ] {
        let output = home.mem(args);
        assert_eq!(output.code, Some(64), "{args:?}: {output}");
        assert_eq!(output.stdout, "", "{args:?}: an answer where there is none");
    }
}

#[test]
fn a_reader_that_stops_listening_is_no_failure() {
    use std::process::Stdio;
    let home = sandbox();
    let mut child = home
        .mem_command(&["config"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("started");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("ended");
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn colours_go_where_they_are_wanted() {
    let mut home = sandbox();
    let plain = home.mem(&["status"]).ok().stdout;
    assert!(!plain.contains('\u{1b}'), "a pipe got colours: {plain:?}");
    home.set_env("CLICOLOR_FORCE", "1");
    let coloured = home.mem(&["status"]).ok().stdout;
    assert!(coloured.contains('\u{1b}'), "{coloured:?}");
    home.set_env("NO_COLOR", "1");
    home.unset_env("CLICOLOR_FORCE");
    assert_eq!(home.mem(&["status"]).ok().stdout, plain);
}

#[test]
fn every_shell_gets_completions() {
    let home = sandbox();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = home.mem(&["completions", shell]).ok().stdout;
        assert!(
            script.contains("claude-mem") && script.contains("status"),
            "{shell}: {script}"
        );
    }
}
