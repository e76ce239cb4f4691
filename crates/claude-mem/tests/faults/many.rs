//! Many parallel hooks, and hooks that are killed.

use std::collections::BTreeMap;
use std::io::Write;
use std::process::Stdio;
use std::time::Duration;

use claude_mem_core::event::{Event, EventBody};
use claude_mem_store::Store;
use rig::Sandbox;
use serde_json::json;

use crate::common::hooks::{NEUTRAL, captured_events, data, sandbox_with_real_clock};
use crate::short_or_long;

fn tool_use(session: usize, n: usize) -> String {
    let input = json!({"session_id": format!("s{session}"), "hook_event_name": "PostToolUse",
        "tool_name": "Bash", "tool_use_id": format!("t-{session}-{n}"),
        "tool_input": {"command": "make"}, "tool_response": {"stdout": format!("{n}")}});
    input.to_string()
}

fn stop(session: usize, n: usize) -> String {
    let input = json!({"session_id": format!("s{session}"), "hook_event_name": "Stop",
        "last_assistant_message": format!("{n}")});
    input.to_string()
}

fn numbers_by_session(events: &[Event]) -> BTreeMap<&str, Vec<usize>> {
    let mut sessions: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for event in events {
        let number = match &event.body {
            EventBody::ToolUse { output, .. } => output["stdout"].as_str().and_then(|n| n.parse().ok()),
            EventBody::Stop { last_message } => last_message.as_ref().and_then(|n| n.parse().ok()),
            _ => None,
        };
        let numbers = sessions.entry(&event.session.0).or_default();
        numbers.push(number.expect("a number"));
    }
    sessions
}

fn assert_database_intact(home: &Sandbox) {
    let store = Store::open(&data(home).db()).expect("it opens");
    assert_eq!(store.integrity_problems().expect("it can be checked"), [] as [String; 0]);
}

#[test]
fn parallel_hooks_are_all_stored_in_session_order() {
    let home = sandbox_with_real_clock();
    let (at_once, each) = (short_or_long(16, 32), short_or_long(12, 50));
    std::thread::scope(|scope| {
        for session in 0..at_once {
            let home = &home;
            scope.spawn(move || {
                for n in 0..each {
                    // Every few calls a turn ends, and its hook ingests the spool.
                    let (event, input) = if n % 6 == 5 {
                        ("Stop", stop(session, n))
                    } else {
                        ("PostToolUse", tool_use(session, n))
                    };
                    let output = home.hook(event, input).ok();
                    assert_eq!((output.stdout.as_str(), output.stderr.as_str()), (NEUTRAL, ""));
                }
            });
        }
    });
    let events = captured_events(&home);
    let sessions = numbers_by_session(&events);
    assert_eq!(sessions.len(), at_once);
    for (session, numbers) in sessions {
        assert_eq!(numbers, (0..each).collect::<Vec<_>>(), "{session}");
    }
    assert_database_intact(&home);
}

/// Kills a hook after `after`. True if it had exited by then, so its event must be stored.
fn run_and_kill(home: &Sandbox, event: &str, input: &str, after: Duration) -> bool {
    let mut child = home
        .mem_command(&["hook", "claude-code", event])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .expect("the hook starts");
    let mut stdin = child.stdin.take().expect("its stdin");
    // It may have exited before reading its input.
    let _ = stdin.write_all(input.as_bytes());
    drop(stdin);
    std::thread::sleep(after);
    // A failed kill means that it has exited.
    let _ = child.kill();
    child.wait().expect("it ended").success()
}

#[test]
fn completed_hook_is_stored_exactly_once_despite_kills() {
    let home = sandbox_with_real_clock();
    let hooks = short_or_long(60, 500);
    // The duration of a complete hook of the same kind bounds the moments to kill at.
    let began = std::time::Instant::now();
    home.hook("Stop", stop(0, 0)).ok();
    let whole = began.elapsed();
    let mut promised = vec![0];
    let mut killed = 0;
    for n in 1..hooks {
        // A step that is coprime to the count covers every moment.
        let moment = whole.mul_f64((n * 37 % 101) as f64 / 80.0);
        let (event, input) = if n % 2 == 0 { ("Stop", stop(0, n)) } else { ("PostToolUse", tool_use(0, n)) };
        if run_and_kill(&home, event, &input, moment) {
            promised.push(n);
        } else {
            killed += 1;
        }
    }
    let events = captured_events(&home);
    let numbers = numbers_by_session(&events);
    let numbers = numbers.get("s0").cloned().unwrap_or_default();
    let mut distinct = numbers.clone();
    distinct.sort_unstable();
    distinct.dedup();
    assert_eq!(distinct.len(), numbers.len(), "one was kept twice: {numbers:?}");
    let lost: Vec<_> = promised.iter().filter(|n| !numbers.contains(n)).collect();
    assert!(lost.is_empty(), "lost: {lost:?}");
    assert!(killed > 0 && promised.len() > 1, "{killed} killed, {} ended", promised.len());
    assert_database_intact(&home);
}
