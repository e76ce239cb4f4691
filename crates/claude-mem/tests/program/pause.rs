use insta::assert_snapshot;

use crate::common::{NOW, sandbox, shown};

#[test]
fn pause_is_shown_and_resumed() {
    let home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["resume"])), @"
    not paused
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["pause", "1h30m"])), @"
    paused until 2026-01-31 11:30
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["status"])), @"
    claude-mem 0.1.0  needs attention

    memory   0 memories, 0 summaries and 0 prompts from 0 sessions in 0 projects
    today    nothing yet
    worker   not running; `claude-mem worker start`
    queue    0 waiting
    paused   just now, until 2026-01-31 11:30
    provider auto; no tokens spent
    disk     [SIZE] in [HOME]/.claude-mem

    problem  no hooks in [HOME]/.claude/settings.json, so nothing new is remembered
             claude-mem install
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["resume"])), @"
    resumed
    [exit 0]
    ");
    let status = home.mem(&["status", "--json"]).ok().json();
    assert_eq!(status["paused"], serde_json::Value::Null);
}

#[test]
fn pause_without_duration_does_not_expire() {
    let mut home = sandbox();
    assert_snapshot!(shown(&home, &home.mem(&["pause", "--json"])), @r#"
    {
      "paused": {
        "since": 1769853600000,
        "until": null
      }
    }
    [exit 0]
    "#);
    let next_year = NOW + 365 * 86_400_000;
    home.set_env("CLAUDE_MEM_NOW", next_year.to_string());
    let still = home.mem(&["status", "--json"]).ok().json();
    assert!(still["paused"].is_object(), "{still}");
}

#[test]
fn pause_expires() {
    let mut home = sandbox();
    home.mem(&["pause", "1h"]).ok();
    home.set_env("CLAUDE_MEM_NOW", (NOW + 3_600_000).to_string());
    assert_eq!(home.mem(&["status", "--json"]).ok().json()["paused"], serde_json::Value::Null);
}
