//! Injected faults: `doctor` finds each one and names a fix that works.

use std::fs::{File, Permissions};
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::time::{Duration, SystemTime};

use claude_mem_capture::ipc::lock;
use claude_mem_core::paths::DataDir;
use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::{exe, sandbox};

/// A sandbox without problems: installed, with one indexed observation.
pub(crate) fn healthy() -> Sandbox {
    let home = sandbox();
    let package = json!({ "name": "@anthropic-ai/claude-code", "version": "2.1.325" });
    home.write(home.home().join("npm/claude-code/package.json"), package.to_string());
    let script = home.write(home.home().join("npm/claude-code/cli.js"), "");
    home.put_on_path("claude", &script);
    home.put_on_path("claude-mem", &exe());
    home.mem(&["install", "--no-check"]).ok();
    home.mem(&["save", "Money is counted in cents."]).ok();
    home.mem(&["index", "build"]).ok();
    home
}

fn data(home: &Sandbox) -> DataDir {
    DataDir::new(home.data_dir())
}

/// The findings with a level other than "ok".
pub(crate) fn wrong(home: &Sandbox, args: &[&str]) -> Vec<Value> {
    let mut all = vec!["doctor", "--json"];
    all.extend(args);
    let output = home.mem(&all);
    let report = output.json();
    let problem = |finding: &&Value| finding["level"] == "problem";
    let findings = report["findings"].as_array().expect("findings");
    let problems = findings.iter().filter(problem).count();
    assert_eq!(report["ok"], problems == 0, "{output}");
    assert_eq!(output.code, Some(i32::from(problems > 0)), "{output}");
    let is_wrong = |finding: &&Value| finding["level"] != "ok";
    findings.iter().filter(is_wrong).cloned().collect()
}

/// Asserts that `doctor` reports the fault and this fix.
#[track_caller]
fn finds(home: &Sandbox, check: &str, what: &str, fix: &str) {
    let found = wrong(home, &[]);
    let is_it = |finding: &Value| {
        let says = |field: &str, text: &str| finding[field].as_str().is_some_and(|said| said.contains(text));
        finding["check"] == check && says("what", what) && says("fix", fix)
    };
    assert!(found.iter().any(is_it), "{check}: {what}: {fix}: {found:#?}");
}

/// Asserts that `doctor` reports the fault with this command as the fix, and that running it works.
#[track_caller]
fn cures(home: &Sandbox, check: &str, what: &str, command: &str) {
    finds(home, check, what, command);
    let mut shell = home.command("/bin/sh");
    shell.args(["-c", command]);
    let output = rig::process::run(shell, b"", Duration::from_mins(1)).ok();
    let left = wrong(home, &[]);
    let is_it = |finding: &Value| {
        finding["check"] == check && finding["what"].as_str().is_some_and(|it| it.contains(what))
    };
    assert!(!left.iter().any(is_it), "{command}: {output}{left:#?}");
}

/// Asserts that `--fix` leaves no finding of this check.
#[track_caller]
fn mends(home: &Sandbox, check: &str) {
    let left = wrong(home, &["--fix"]);
    assert!(left.iter().all(|finding| finding["check"] != check), "{left:#?}");
    let left = wrong(home, &[]);
    assert!(left.iter().all(|finding| finding["check"] != check), "{left:#?}");
}

#[test]
fn healthy_installation_has_no_problems() {
    let home = healthy();
    // The worker is manual in tests, which `doctor` notes.
    let found = wrong(&home, &[]);
    let checks: Vec<_> = found.iter().map(|finding| &finding["check"]).collect();
    assert_eq!(checks, ["worker"], "{found:#?}");
    let text = home.mem(&["doctor"]).ok().stdout;
    assert!(text.contains("ok      hooks      10 events in"), "{text}");
}

#[test]
fn missing_installation_is_found_and_nothing_is_created() {
    let home = sandbox();
    finds(&home, "directory", "does not exist", "claude-mem install");
    finds(&home, "database", "does not exist", "claude-mem install");
    finds(&home, "hooks", "no claude-mem hooks", "claude-mem install");
    finds(&home, "client", "was not found", "install it");
    assert!(!home.data_dir().exists());
    home.put_on_path("claude-mem", &exe());
    cures(&home, "database", "does not exist", "claude-mem install");
    let left = wrong(&home, &[]);
    let checks: Vec<_> = left.iter().map(|finding| &finding["check"]).collect();
    assert_eq!(checks, ["worker", "client"], "{left:#?}");
}

#[test]
fn open_permissions_are_fixed() {
    let home = healthy();
    for (path, fix) in [(home.data_dir(), "chmod 700"), (data(&home).db(), "chmod 600")] {
        let open = || std::fs::set_permissions(&path, Permissions::from_mode(0o755)).expect("set");
        open();
        let fix = format!("{fix} {}", path.display());
        cures(&home, "privacy", "can be read by others (mode 755)", &fix);
        open();
        mends(&home, "privacy");
    }
}

#[test]
fn missing_or_unwritable_directories_are_fixed() {
    let home = healthy();
    std::fs::remove_dir_all(data(&home).spool()).expect("removed");
    cures(&home, "directory", "spool does not exist", "claude-mem doctor --fix");
    let logs = data(&home).logs();
    std::fs::set_permissions(&logs, Permissions::from_mode(0o500)).expect("set");
    let fix = format!("chmod u+rwx {}", logs.display());
    cures(&home, "directory", "logs is not writable", &fix);
}

#[test]
fn invalid_settings_are_found() {
    let home = healthy();
    home.write(data(&home).settings(), "{ \"provider\": ");
    finds(&home, "settings", "cannot be read", "settings.json");
    home.write(data(&home).settings(), "{ \"contxt_tokens\": 3 }");
    cures(&home, "settings", "did you mean context_tokens", "claude-mem config unset contxt_tokens");
}

#[test]
fn damaged_foreign_or_newer_database_is_found() {
    let home = healthy();
    home.mem(&["backup"]).ok();
    let path = data(&home).db();
    let sound = std::fs::read(&path).expect("read");
    let version = |n: u8| {
        let mut bytes = sound.clone();
        bytes[63] = n;
        bytes
    };
    let mut foreign = sound.clone();
    foreign[68..72].fill(0);
    let mut torn = sound.clone();
    let at = torn.len() / 2;
    torn[at..].fill(0x5a);
    let write = |bytes: &[u8]| std::fs::write(&path, bytes).expect("written");
    write(&torn);
    cures(&home, "database", "claude-mem.db", "claude-mem restore");
    write(b"not a database at all");
    cures(&home, "database", "corrupt", "claude-mem restore");
    let kept = home.mem(&["search", "cents"]).ok().stdout;
    assert!(kept.contains("Money is counted in cents."), "{kept}");
    write(&foreign);
    finds(&home, "database", "belongs to another program", "claude-mem install --adopt");
    write(&version(99));
    finds(&home, "database", "has schema 99, newer", "update claude-mem");
    std::fs::remove_file(&path).expect("removed");
    cures(&home, "database", "does not exist", "claude-mem install");
}

#[test]
fn inconsistent_word_index_is_rebuilt() {
    let home = healthy();
    let path = data(&home).db();
    plant(&path, "INSERT INTO texts_fts(texts_fts) VALUES('delete-all')");
    cures(&home, "words", "does not match the rows", "claude-mem doctor --fix");
    assert!(home.mem(&["search", "cents"]).ok().stdout.contains("cents"));
}

#[test]
fn missing_vectors_are_rebuilt() {
    let home = healthy();
    std::fs::remove_file(data(&home).vectors_db()).expect("removed");
    cures(&home, "vectors", "cannot be found by meaning", "claude-mem index build");
    std::fs::remove_file(data(&home).vectors_db()).expect("removed");
    mends(&home, "vectors");
    home.mem(&["config", "set", "vectors", "off"]).ok();
    cures(&home, "vectors", "switched off", "claude-mem config set vectors on");
}

#[test]
fn unresponsive_or_outdated_worker_is_found() {
    let home = healthy();
    let held = lock::acquire(&data(&home).worker_lock()).expect("a lock").expect("ours");
    finds(&home, "worker", "does not respond", "claude-mem worker restart");
    let file = json!({
        "pid": std::process::id(), "started_ticks": claude_mem_capture::ipc::pidfile::started_ticks(std::process::id()),
        "since": 0, "version": "0.0.1", "socket": "/nowhere",
    });
    home.write(data(&home).worker_pid(), file.to_string());
    finds(&home, "version", "the worker runs version 0.0.1", "claude-mem worker restart");
    // The sandbox would take this process for its worker.
    std::fs::remove_file(data(&home).worker_pid()).expect("removed");
    drop(held);
}

#[test]
fn taken_port_is_found() {
    let home = healthy();
    let taken = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = taken.local_addr().expect("its number").port().to_string();
    home.mem(&["config", "set", "port", &port]).ok();
    cures(&home, "port", "is taken by another program", "claude-mem config set port 0");
}

#[test]
fn missing_stale_or_disabled_hooks_are_found() {
    let home = healthy();
    let path = home.home().join(".claude/settings.json");
    let good = home.read(&path);
    home.write(&path, good.replace("\"SessionEnd\"", "\"Notification\""));
    cures(&home, "hooks", "no hook for SessionEnd", "claude-mem repair");
    home.write(&path, home.read(&path).replace(&exe().display().to_string(), "/gone/claude-mem"));
    cures(&home, "hooks", "/gone/claude-mem, which does not exist", "claude-mem repair");
    home.write(&path, "{}");
    finds(&home, "hooks", "no claude-mem hooks", "claude-mem repair");
    mends(&home, "hooks");
    home.write(&path, "{ broken");
    finds(&home, "hooks", "Expected colon", "fix");
    finds(&home, "earlier", "could not be checked", "claude-mem doctor, once that is fixed");
    home.write(&path, good.replacen('{', "{ \"disableAllHooks\": true,", 1));
    finds(&home, "hooks", "disableAllHooks in", "remove disableAllHooks from");
}

#[test]
fn missing_or_foreign_tools_are_found() {
    let home = healthy();
    let path = home.home().join(".claude.json");
    home.write(&path, "{}");
    cures(&home, "tools", "are not in", "claude-mem repair");
    home.write(&path, "{}");
    mends(&home, "tools");
    home.write(&path, json!({ "mcpServers": { "claude-mem": { "command": "python" } } }).to_string());
    finds(&home, "tools", "another MCP server is named claude-mem", "claude mcp remove");
}

#[test]
fn changed_client_version_is_found() {
    let home = healthy();
    let version = |version: &str| {
        let package = json!({ "name": "@anthropic-ai/claude-code", "version": version });
        home.write(home.home().join("npm/claude-code/package.json"), package.to_string());
    };
    version("2.0.77");
    cures(&home, "hooks", "are outdated for this version", "claude-mem repair");
    version("1.0.20");
    finds(&home, "client", "older than 1.0.127", "update Claude Code");
}

#[test]
fn enabled_legacy_plugin_is_found() {
    let home = healthy();
    let path = home.home().join(".claude/settings.json");
    let text = home.read(&path);
    let on = "{ \"enabledPlugins\": { \"claude-mem@thedotmack\": true },";
    home.write(&path, text.replacen('{', on, 1));
    cures(&home, "earlier", "claude-mem@thedotmack", "claude-mem install --adopt");
}

#[test]
fn client_use_without_events_is_found() {
    let home = healthy();
    let transcript = home.write(home.home().join(".claude/projects/-p/s.jsonl"), "{}\n");
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    let file = File::options().write(true).open(transcript).expect("opened");
    file.set_modified(later).expect("set");
    finds(&home, "events", "no hook ran", "reads hooks at startup");
    home.mem(&["pause"]).ok();
    cures(&home, "paused", "capture is paused", "claude-mem resume");
}

#[test]
fn stuck_unreadable_or_dead_events_are_found() {
    let home = healthy();
    let prompt = json!({ "session_id": "s", "cwd": "/", "hook_event_name": "PostToolUse", "tool_name": "Bash", "tool_input": { "command": "ls" }, "tool_response": "a" });
    home.hook("PostToolUse", prompt.to_string()).ok();
    for entry in std::fs::read_dir(data(&home).spool()).expect("spool").flatten() {
        let long_ago = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000);
        let file = File::options().write(true).open(entry.path()).expect("opened");
        file.set_modified(long_ago).expect("set");
    }
    cures(&home, "spool", "1 event has waited too long", "claude-mem worker run --until-drained");
    home.write(data(&home).spool().join("1.json.bad"), "{");
    let fix = format!("rm {}/*.bad", data(&home).spool().display());
    cures(&home, "spool", "1 event was rejected or unreadable and is set aside", &fix);
    plant(&data(&home).db(), "UPDATE pending_messages SET state = 'dead', error = 'planted'");
    cures(&home, "queue", "1 event could not be processed", "claude-mem queue retry --all");
}

#[test]
fn unreachable_provider_is_found() {
    let home = healthy();
    let closed = TcpListener::bind(("127.0.0.1", 0)).expect("a port");
    let port = closed.local_addr().expect("its number").port();
    drop(closed);
    let set = |key: &str, value: &str| drop(home.mem(&["config", "set", key, value]).ok());
    set("provider", "openai");
    set("model", "llama3");
    set("base_url", &format!("http://127.0.0.1:{port}/v1"));
    cures(&home, "provider", "cannot be reached", "claude-mem config set provider local");
    set("provider", "anthropic");
    set("base_url", "");
    // The sandbox has ANTHROPIC_API_KEY in its environment, which the worker does not get.
    finds(&home, "provider", "no API key is set", "claude-mem config set api_key_file");
    set("provider", "claude");
    std::fs::remove_file(home.home().join(".local/bin/claude")).expect("removed");
    finds(&home, "provider", "claude", "claude-mem config set claude_program");
}

#[test]
fn unreadable_manifest_is_found_and_not_overwritten() {
    let home = healthy();
    let installed = home.write(data(&home).installed(), "{\"version\": \"0.");
    finds(&home, "version", "installed.json", "ls -l");
    for args in [&["uninstall"][..], &["repair"], &["install", "--no-check"]] {
        let output = home.mem(args);
        assert_eq!(output.code, Some(1), "{output}");
        assert!(output.stderr.contains("the install manifest cannot be read"), "{output}");
    }
    assert_eq!(home.read(&installed), "{\"version\": \"0.");
    let settings = home.read(home.home().join(".claude/settings.json"));
    assert!(settings.contains("SessionStart"), "{settings}");
}

#[test]
fn unopenable_database_is_not_treated_as_missing() {
    let home = healthy();
    let used = home.write(home.home().join(".claude/projects/-p/s.jsonl"), "{}\n");
    let later = SystemTime::UNIX_EPOCH + Duration::from_secs(4_000_000_000);
    let used = File::options().write(true).open(used).expect("opened");
    used.set_modified(later).expect("set");
    // A directory in place of the write-ahead log: the database cannot be opened.
    let log = home.data_dir().join("claude-mem.db-wal");
    let _ = std::fs::remove_file(&log);
    std::fs::create_dir(&log).expect("made");
    finds(&home, "database", "not a regular file", "mv ");
    let found = wrong(&home, &[]);
    let events = found.iter().find(|finding| finding["check"] == "events");
    assert_eq!(events.expect("told")["level"], "note", "{found:?}");
    let status = home.mem(&["status"]);
    assert!(status.stdout.contains("needs attention"), "{status}");
    assert!(status.stdout.contains("not a regular file"), "{status}");
    let search = home.mem(&["search", "cents"]);
    assert_eq!(search.code, Some(1), "{search}");
    let purge = home.mem(&["uninstall", "--purge", "--yes"]);
    assert_eq!(purge.code, Some(1), "{purge}");
    assert!(purge.stderr.contains("nothing was deleted"), "{purge}");
    assert!(data(&home).db().exists() && data(&home).settings().exists());
}

#[test]
fn unknown_worker_state_is_reported() {
    let home = healthy();
    let lock = data(&home).worker_lock();
    let _ = std::fs::remove_file(&lock);
    std::fs::create_dir(&lock).expect("made");
    finds(&home, "worker", "cannot tell whether it is running", "worker.lock");
    let status = home.mem(&["status"]);
    assert!(status.stdout.contains("cannot tell whether it is running"), "{status}");
    let check = home.mem(&["update-check"]);
    assert!(check.stdout.contains("cannot tell whether it is running"), "{check}");
}

/// Runs SQL that none of our commands would.
pub(crate) fn plant(path: &std::path::Path, sql: &str) {
    #[allow(clippy::disallowed_methods, reason = "the store would not do this")]
    let conn = rusqlite::Connection::open(path).expect("opened");
    conn.execute_batch(sql).expect("planted");
}
