use insta::assert_snapshot;

use crate::common::{sandbox, shown};

#[test]
fn no_arguments_print_help() {
    let home = sandbox();
    let help = home.mem(&[]).ok();
    assert_eq!(help.stderr, "");
    assert_eq!(help.stdout, home.mem(&["--help"]).ok().stdout);
    assert!(help.stdout.contains("\n  status "), "{help}");
}

#[test]
fn help_has_examples() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["pause", "--help"])), @"
    Stop recording, for a while or until `resume`

    Usage: claude-mem pause [OPTIONS] [DURATION]

    Arguments:
      [DURATION]  Duration such as 30m, 2h or 1d (default: until `claude-mem resume`)

    Options:
          --json            Print JSON
          --data-dir <DIR>  Data directory (default: ~/.claude-mem)
      -h, --help            Print help

    Examples:
      claude-mem pause          until `claude-mem resume`
      claude-mem pause 30m      for half an hour

    To skip one session, start it with CLAUDE_MEM_DISABLED=1. To ignore a project, use
    `claude-mem config set ignore_projects`. Sessions still get context while recording is paused.
    [exit 0]
    ");
}

#[test]
fn usage_errors_exit_64() {
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
        assert_eq!(output.stdout, "", "{args:?}: unexpected output");
    }
}

#[test]
fn closed_pipe_is_not_a_failure() {
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
fn colours_respect_pipes_and_variables() {
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
        assert!(script.contains("claude-mem") && script.contains("status"), "{shell}: {script}");
    }
}
