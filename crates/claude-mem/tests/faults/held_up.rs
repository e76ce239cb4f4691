//! Hooks that something tries to hold up or to kill: pipes in place of files, signals, size limits, and
//! directories that other users can enter.

use std::fs;
use std::io::{Read as _, Write as _};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use claude_mem_capture::{enqueue, spool};
use claude_mem_core::clock::Millis;
use claude_mem_store::Store;
use rig::Sandbox;
use serde_json::json;

use crate::common::exe;
use crate::common::hooks::{
    self as common, NEUTRAL, captured_events, data, event_lines, payload, sandbox_with_real_clock,
};
use crate::support::LONG;

/// Less than the deadline of a hook: a hook that takes longer was held up.
const HELD_UP: Duration = Duration::from_secs(7);

fn make_pipe(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}

fn prompt(text: &str) -> String {
    payload("UserPromptSubmit", &json!({"prompt": text, "prompt_id": text}))
}

#[test]
fn pipe_in_place_of_a_file_does_not_hold_up_hooks() {
    for name in [
        "spool/00000000000000000001-ab.json",
        "claude-mem.db",
        "claude-mem.db.gate",
        "worker.pid",
        "settings.json",
        "paused",
    ] {
        let mut home = sandbox_with_real_clock();
        home.set_env("CLAUDE_MEM_WORKER", "manual");
        make_pipe(&home.data_dir().join(name));
        for (event, more) in [
            ("SessionStart", json!({"source": "startup"})),
            ("UserPromptSubmit", json!({"prompt": "hello", "prompt_id": "p"})),
            ("Stop", json!({"prompt_id": "p", "last_assistant_message": "done"})),
        ] {
            let output = home.hook(event, payload(event, &more)).ok();
            assert!(serde_json::from_str::<serde_json::Value>(&output.stdout).is_ok(), "{name}: {output}");
            assert!(output.wall < HELD_UP, "{name}: {event} was held up");
        }
    }
}

/// All files of a data directory, as paths below it, and those that SQLite makes now and then.
fn files_below(root: &Path) -> Vec<PathBuf> {
    let mut found =
        vec!["claude-mem.db-journal", "claude-mem.db-wal", "claude-mem.db-shm", "vectors.db-journal"]
            .into_iter()
            .chain([
                "team.json",
                "worker.pid",
                "worker.port",
                "worker.started",
                "installed.json",
                "page-tokens",
            ])
            .map(PathBuf::from)
            .collect::<Vec<_>>();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.is_file() {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    found.sort();
    found.dedup();
    found
}

/// A data directory in which everything happened: private words, a worker, a backup, a saved memory.
fn used_home() -> Sandbox {
    let mut home = sandbox_with_real_clock();
    home.set_env("CLAUDE_MEM_WORKER", "manual");
    let prompt = json!({"prompt": "use <private>canary7351</private> now", "prompt_id": "p"});
    home.hook("UserPromptSubmit", payload("UserPromptSubmit", &prompt)).ok();
    home.hook("Stop", payload("Stop", &json!({"prompt_id": "p", "last_assistant_message": "done"}))).ok();
    home.mem(&["save", "Money is counted in cents."]).ok();
    home.mem(&["config", "set", "vectors", "false"]).ok();
    home.mem(&["token", "path"]).ok();
    home.mem(&["worker", "run", "--until-drained"]).ok();
    home.mem(&["pause"]).ok();
    home.mem(&["resume"]).ok();
    home.hook("PostToolUse", payload("PostToolUse", &json!({"prompt_id": "p", "tool_name": "Bash"}))).ok();
    home
}

#[test]
fn pipe_in_place_of_any_file_holds_up_nothing() {
    let home = used_home();
    let files = files_below(&home.data_dir());
    assert!(files.iter().any(|file| file.extension().is_some_and(|kind| kind == "words")), "{files:?}");
    for file in files {
        let (path, aside) = (home.data_dir().join(&file), home.home().join("aside"));
        let was_there = path.exists();
        if was_there {
            fs::rename(&path, &aside).unwrap();
        }
        make_pipe(&path);
        for (event, more) in [
            ("SessionStart", json!({"source": "startup"})),
            ("UserPromptSubmit", json!({"prompt": "hello", "prompt_id": "q"})),
            ("PostToolUse", json!({"prompt_id": "q", "tool_name": "Bash"})),
            ("Stop", json!({"prompt_id": "q", "last_assistant_message": "done"})),
        ] {
            let output = home.hook(event, payload(event, &more)).ok();
            assert!(output.wall < HELD_UP, "{}: {event} was held up", file.display());
        }
        for args in
            [&["status"][..], &["doctor"], &["search", "cents"], &["worker", "run", "--until-drained"]]
        {
            let output = rig::process::run(home.mem_command(args), b"", LONG);
            assert!(output.code.is_some(), "{}: {args:?} was held up", file.display());
        }
        // The program may have removed or replaced it.
        claude_mem_core::paths::remove_if_exists(&path).unwrap();
        if was_there {
            fs::rename(&aside, &path).unwrap();
        }
    }
}

#[test]
fn pipe_in_the_spool_does_not_hold_up_the_other_events() {
    let home = sandbox_with_real_clock();
    home.hook("UserPromptSubmit", prompt("one")).ok();
    make_pipe(&home.data_dir().join("spool/00000000000000000001-ab.json"));
    home.hook("UserPromptSubmit", prompt("two")).ok();
    assert_eq!(event_lines(&captured_events(&home)), "prompt: one\nprompt: two");
}

/// Whether the process has a handler for this signal.
fn catches(pid: u32, signal: i32) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or("0");
    u64::from_str_radix(caught.trim(), 16).unwrap() & (1 << (signal - 1)) != 0
}

#[test]
fn hook_answers_at_its_deadline_and_after_a_signal() {
    // The timer's own signal, a lost page of a mapped file, and an exceeded CPU limit.
    for signal in
        [rustix::process::Signal::ALARM, rustix::process::Signal::BUS, rustix::process::Signal::XCPU]
    {
        let home = sandbox_with_real_clock();
        let mut command = home.mem_command(&["hook", "claude-code", "UserPromptSubmit"]);
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(b"{\"session_id\":").unwrap();
        let until = Instant::now() + LONG;
        while !catches(child.id(), signal.as_raw()) && Instant::now() < until {
            std::thread::yield_now();
        }
        let pid = rustix::process::Pid::from_child(&child);
        rustix::process::kill_process(pid, signal).unwrap();
        let status = child.wait().unwrap();
        let mut said = String::new();
        child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
        assert_eq!((status.code(), status.signal(), said.as_str()), (Some(0), None, NEUTRAL), "{signal:?}");
    }
}

#[test]
fn hook_survives_a_file_size_limit() {
    let home = sandbox_with_real_clock();
    let mut command = home.command("/bin/sh");
    command.args(["-c", "ulimit -f 0; exec \"$0\" hook claude-code UserPromptSubmit"]).arg(exe());
    let output = rig::process::run(command, prompt("hello").as_bytes(), LONG).ok();
    assert_eq!(output.stdout, NEUTRAL);
}

#[test]
fn hook_closes_an_open_data_directory() {
    let mut home = sandbox_with_real_clock();
    home.set_env("CLAUDE_MEM_WORKER", "manual");
    let dir = data(&home);
    dir.create().unwrap();
    let places = [dir.root().to_owned(), dir.spool(), dir.muted(), dir.logs()];
    for place in &places {
        fs::set_permissions(place, fs::Permissions::from_mode(0o777)).unwrap();
    }
    home.hook("PostToolUse", payload("PostToolUse", &json!({"tool_name": "Bash", "tool_response": "x"})))
        .ok();
    for place in &places {
        let mode = fs::metadata(place).unwrap().permissions().mode() & 0o777;
        assert_eq!(mode, 0o700, "{}", place.display());
    }
}

#[test]
fn spool_file_of_another_user_is_not_taken() {
    if !rustix::process::geteuid().is_root() {
        rig::skip("only root can give a file to another user");
        return;
    }
    let mut home = sandbox_with_real_clock();
    home.set_env("CLAUDE_MEM_WORKER", "manual");
    let dir = data(&home);
    // The only hook that does not drain the spool itself.
    let tool = json!({"tool_name": "Bash", "tool_response": "forged"});
    home.hook("PostToolUse", payload("PostToolUse", &tool)).ok();
    for file in fs::read_dir(dir.spool()).unwrap().flatten() {
        std::os::unix::fs::chown(file.path(), Some(4_242), None).unwrap();
    }
    let mut store = Store::open(&dir.db()).unwrap();
    enqueue::drain_spool(&dir, &mut store, Millis(1)).unwrap();
    drop(store);
    assert_eq!(event_lines(&captured_events(&home)), "");
    assert!(spool::is_empty(&dir).unwrap(), "it is set aside");
    assert!(common::log(&home).contains("belongs to another user"), "{}", common::log(&home));
}

fn tool_of(prompt: &str) -> String {
    let fields = json!({"prompt_id": prompt, "tool_name": "Bash", "tool_use_id": prompt,
        "tool_input": {"command": WORD}, "tool_response": WORD});
    payload("PostToolUse", &fields)
}

const WORD: &str = "canary7351";

/// Makes the data directory unusable while `during` runs: a file stands in its place.
fn while_unwritable(home: &Sandbox, during: impl FnOnce()) {
    let (dir, away) = (home.data_dir(), home.home().join("away"));
    fs::rename(&dir, &away).unwrap();
    fs::write(&dir, "in the way").unwrap();
    during();
    fs::remove_file(&dir).unwrap();
    fs::rename(&away, &dir).unwrap();
}

#[test]
fn private_turn_stays_private_if_its_mark_could_not_be_written() {
    let mut home = sandbox_with_real_clock();
    home.set_env("CLAUDE_MEM_WORKER", "manual");
    home.hook("UserPromptSubmit", prompt("before")).ok();
    while_unwritable(&home, || {
        let private = json!({"prompt": format!("<private>{WORD}</private>"), "prompt_id": "secret"});
        home.hook("UserPromptSubmit", payload("UserPromptSubmit", &private)).ok();
    });
    home.hook("PostToolUse", tool_of("secret")).ok();
    let stop = json!({"prompt_id": "secret", "last_assistant_message": WORD});
    home.hook("Stop", payload("Stop", &stop)).ok();
    assert_eq!(common::files_containing(&home, WORD), [] as [&str; 0]);
    // Work of the prompt before goes on being captured.
    home.hook("PostToolUse", tool_of("before")).ok();
    assert!(!common::files_containing(&home, WORD).is_empty());
    assert_eq!(event_lines(&captured_events(&home)), "prompt: before\nstop: -\ntool_use: Bash");
}

#[test]
fn private_turn_is_marked_without_room_for_a_file() {
    let home = sandbox_with_real_clock();
    home.hook("SessionStart", payload("SessionStart", &json!({"source": "startup"}))).ok();
    let story = r#"
mount -t tmpfs -o size=8m,mode=700 tmpfs "$CLAUDE_MEM_DATA_DIR" || exit 77
mem() { "$EXE" hook claude-code "$1" || exit 1; echo; }
inodes() { mount -o "remount,nr_inodes=$1" "$CLAUDE_MEM_DATA_DIR" || exit 4; }
echo '{"session_id":"s","cwd":"/","hook_event_name":"SessionStart","source":"startup"}' | mem SessionStart
# Without quotes: the number has blanks before it.
inodes $(df --output=iused "$CLAUDE_MEM_DATA_DIR" | tail -1)
touch "$CLAUDE_MEM_DATA_DIR/room" 2> /dev/null && exit 5
echo '{"session_id":"s","cwd":"/","hook_event_name":"UserPromptSubmit","prompt":"<private>canary7351</private>"}' | mem UserPromptSubmit
inodes 10000
echo '{"session_id":"s","cwd":"/","hook_event_name":"PostToolUse","tool_name":"Bash","tool_response":"canary7351"}' | mem PostToolUse
grep -rl canary7351 "$CLAUDE_MEM_DATA_DIR" && exit 3
echo unwritten
"#;
    let Some(unshare) = rig::client::find_on_path("unshare") else {
        rig::skip("there is no unshare");
        return;
    };
    let mut command = home.command(unshare);
    command.args(["--map-root-user", "--mount", "sh", "-c", story]);
    command.env("EXE", exe()).env("CLAUDE_MEM_WORKER", "manual").env("CLAUDE_MEM_DATA_DIR", home.data_dir());
    let output = rig::process::run(command, b"", LONG);
    if output.code == Some(77) || output.stderr.contains("unshare") {
        rig::skip(&output);
        return;
    }
    assert!(output.clone().ok().stdout.ends_with("unwritten\n"), "{output}");
}
