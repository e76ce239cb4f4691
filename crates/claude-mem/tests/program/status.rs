use std::os::unix::fs::PermissionsExt as _;

use insta::assert_snapshot;

use crate::common::{sandbox, shown};

#[test]
fn status_creates_nothing() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["status"])), @"
    claude-mem 0.1.0  needs attention

    memory   0 memories, 0 summaries and 0 prompts from 0 sessions in 0 projects
    today    nothing yet
    worker   not running; `claude-mem worker start`
    queue    0 waiting
    provider auto; no tokens spent
    disk     [SIZE] in [HOME]/.claude-mem

    problem  no hooks in [HOME]/.claude/settings.json, so nothing new is remembered
             claude-mem install
    [exit 0]
    ");
    assert!(!home.data_dir().exists());
}

#[test]
fn json_has_the_same_facts() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["status", "--json"])), @r#"
    {
      "version": "0.1.0",
      "schema": 9,
      "data_dir": "[HOME]/.claude-mem",
      "state": "attention",
      "paused": null,
      "worker": {
        "running": false
      },
      "queue": {
        "waiting": 0,
        "waiting_for_prompt": 0,
        "leased": 0,
        "done": 0,
        "dead": 0,
        "spooled": 0
      },
      "rows": {
        "projects": 0,
        "sessions": 0,
        "prompts": 0,
        "observations": 0,
        "summaries": 0,
        "final_messages": 0,
        "embeddable": 0,
        "vector_backlog": 0
      },
      "today": {
        "sessions": 0,
        "observations": 0,
        "summaries": 0
      },
      "bytes": {
        "database": 0,
        "log_ahead": 0,
        "vectors": 0,
        "spool": 0,
        "backups": 0,
        "logs": 0,
        "total": 0
      },
      "provider": "auto",
      "spend": {
        "today": {
          "tokens": 0,
          "calls": 0
        },
        "in_all": {
          "tokens": 0,
          "calls": 0
        },
        "budget_tokens_per_day": 1000000
      },
      "team": null,
      "warnings": [],
      "problems": [
        {
          "what": "no hooks in [HOME]/.claude/settings.json, so nothing new is remembered",
          "fix": "claude-mem install"
        }
      ]
    }
    [exit 0]
    "#);
}

#[test]
fn each_problem_has_a_fix() {
    let home = sandbox();
    home.mem(&["install", "--no-check"]).ok();
    home.write(home.data_dir().join("settings.json"), "{");
    home.write(home.data_dir().join("claude-mem.db"), "not a database at all");
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(home.data_dir(), open).expect("changed");
    assert_snapshot!(shown(&home, &home.mem(&["status"])), @"
    claude-mem 0.1.0  needs attention

    memory   unknown: the database cannot be read
    worker   not running; `claude-mem worker start`
    queue    0 waiting
    provider auto; no tokens spent
    disk     [SIZE] in [HOME]/.claude-mem

    problem  [HOME]/.claude-mem can be read by others (mode 755)
             chmod 700 [HOME]/.claude-mem

    problem  settings.json cannot be read, so its settings are ignored
             fix [HOME]/.claude-mem/settings.json

    problem  the database file is corrupt
             claude-mem restore; new events wait meanwhile

    warning  settings.json: is not valid JSON (Unterminated object on line 1 column 1); the defaults apply
    [exit 0]
    ");
}

#[test]
fn unreadable_events_are_reported() {
    let home = sandbox();
    let spool = home.data_dir().join("spool");
    home.write(spool.join("00000000000000000001-x.json"), "{");
    let status = home.mem(&["status"]);
    assert!(status.stdout.contains("1 event could not be read"), "{status}");
}

#[test]
fn unreadable_spool_is_a_problem() {
    let home = sandbox();
    home.mem(&["install", "--no-check"]).ok();
    let spool = home.data_dir().join("spool");
    std::fs::remove_dir_all(&spool).expect("removed");
    home.write(&spool, "");
    let status = home.mem(&["status"]);
    assert!(status.stdout.contains("needs attention"), "{status}");
    assert!(status.stdout.contains("the spool cannot be read"), "{status}");
    let queue = home.mem(&["queue", "list"]);
    assert_eq!(queue.code, Some(1), "{queue}");
}

#[test]
fn missing_hooks_need_attention() {
    let home = sandbox();
    home.mem(&["install", "--no-check"]).ok();
    home.mem(&["save", "Money is in cents"]).ok();
    let working = home.mem(&["status"]).ok().stdout;
    assert!(working.starts_with("claude-mem 0.1.0  working"), "{working}");
    home.mem(&["uninstall"]).ok();
    let status = home.mem(&["status"]).ok().stdout;
    assert!(status.starts_with("claude-mem 0.1.0  needs attention"), "{status}");
    assert!(status.contains("no hooks in "), "{status}");
    assert!(status.contains("claude-mem install"), "{status}");
    let check = home.mem(&["update-check"]).ok().stdout;
    assert!(check.contains("hooks    none"), "{check}");
}

#[test]
fn damaged_store_is_not_counted_as_empty() {
    let home = sandbox();
    home.mem(&["save", "Money is counted in cents."]).ok();
    home.write(home.data_dir().join("claude-mem.db"), "not a database at all");
    let status = home.mem(&["status"]).ok().stdout;
    assert!(!status.contains("0 memories"), "{status}");
    assert!(status.contains("memory   unknown: the database cannot be read"), "{status}");
    assert!(home.mem(&["status", "--json"]).ok().json()["rows"].is_null());
}

#[test]
fn save_says_what_it_masked() {
    let home = sandbox();
    let secret = "ghp_9fQ2mVx7Lk4TzR1bYc8WnE5sJd3HaP6uGi0o";
    let saved = home.mem(&["save", &format!("The deploy token is {secret} for now.")]).ok().stdout;
    assert!(saved.contains("1 passage masked"), "{saved}");
    let saved = home.mem(&["save", &format!("Deploy with {secret}. Nights are for batch jobs.")]).ok().stdout;
    assert!(saved.contains("1 passage masked"), "the title repeats the text: {saved}");
    let (text, title) = (format!("Deploy with {secret} only."), format!("Token {secret}"));
    let saved = home.mem(&["save", &text, "--title", &title]).ok().stdout;
    assert!(saved.contains("2 passages masked"), "{saved}");
    let saved = home.mem(&["save", "Masks look like [redacted:x] here."]).ok().stdout;
    assert!(!saved.contains("masked"), "{saved}");
}

#[test]
fn data_directory_may_be_any_path() {
    use std::os::unix::ffi::OsStrExt as _;
    let mut home = sandbox();
    home.unset_env("CLAUDE_MEM_NOW");
    let deep = home.home().join("deep/".repeat(30));
    let foreign = home.home().join(std::ffi::OsStr::from_bytes(b"not-\xff-text"));
    for dir in [deep, foreign] {
        home.set_env("CLAUDE_MEM_DATA_DIR", &dir);
        home.mem(&["save", "Money is counted in cents."]).ok();
        home.mem(&["worker", "start"]).ok();
        let status = home.mem(&["worker", "status"]);
        home.mem(&["worker", "stop"]).ok();
        assert!(status.stdout.contains("running"), "{status}");
        let status = home.mem(&["status", "--json"]).ok().json();
        assert_eq!(status["warnings"], serde_json::json!([]), "the directory is used: {status:#}");
    }
}

#[test]
fn save_says_that_it_removed_a_private_block() {
    let home = sandbox();
    let saved = home.mem(&["save", "Log in with <private>canary7351</private> at the console."]).ok().stdout;
    assert!(saved.contains("a private block was removed"), "{saved}");
    let saved = home.mem(&["save", "Nothing of it is private.", "--json"]).ok().json();
    assert!(saved.get("private").is_none(), "{saved}");
}
