//! `install`, `repair` and `uninstall` with the real executable on a client's files.

use std::fs::Permissions;
use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use insta::assert_snapshot;
use rig::Sandbox;
use rig::tui::TuiSession;
use serde_json::{Value, json};

use crate::common::{exe, sandbox, shown};

fn settings_path(home: &Sandbox) -> PathBuf {
    home.home().join(".claude/settings.json")
}

fn bytes(path: &Path) -> Option<Vec<u8>> {
    std::fs::read(path).ok()
}

/// A sandbox with a `claude` package of this version.
fn with_client(version: &str) -> Sandbox {
    let home = sandbox();
    let package = json!({ "name": "@anthropic-ai/claude-code", "version": version });
    home.write(home.home().join("npm/claude-code/package.json"), package.to_string());
    let script = home.write(home.home().join("npm/claude-code/cli.js"), "");
    home.put_on_path("claude", &script);
    home
}

/// Runs a command and replaces machine-specific paths in its output.
fn told(home: &Sandbox, args: &[&str]) -> String {
    let text = shown(home, &home.mem(args));
    let exe = exe().display().to_string();
    text.replace(&exe, "[EXE]")
}

#[test]
fn second_install_changes_nothing() {
    let home = with_client("2.1.325");
    home.write(settings_path(&home), "{\n  \"model\": \"opus\"\n}\n");
    assert_snapshot!(told(&home, &["install"]), @r"
    ok     client     Claude Code 2.1.325 ([HOME]/.local/bin/claude)
    ok     directory  [HOME]/.claude-mem
    ok     settings   all valid
    ok     database   [HOME]/.claude-mem/claude-mem.db, intact
    done   hooks      10 events, started directly, in [HOME]/.claude/settings.json
                      backup: [HOME]/.claude-mem/backups/clients/settings.json.20260131T100000Z
    done   tools      the agent's search tools in [HOME]/.claude.json
                      backup: [HOME]/.claude-mem/backups/clients/claude.json.20260131T100000Z
    done   provider   local: no model, no network, no tokens
    ok     worker     manual, as configured: `claude-mem worker start`
    ok     check      a made-up session through the hooks produced “Use 7 retry attempts, never 8, because the 8th trips the limiter”, “Set ATTEMPTS to 7 in src/retry.py: 7 retry attempts, because an 8th trips the limiter”, and the next session was given it; it ran in a temporary directory and was thrown away

    Start your agent as usual; its sessions are now recorded. `claude-mem status` shows the state.
    [exit 0]
    ");
    let before = (bytes(&settings_path(&home)), bytes(&home.home().join(".claude.json")));
    let again = told(&home, &["install"]);
    assert!(!again.contains("done "), "{again}");
    let after = (bytes(&settings_path(&home)), bytes(&home.home().join(".claude.json")));
    assert_eq!(before, after);
}

#[test]
fn dry_run_changes_nothing() {
    let home = with_client("2.0.77");
    let state = bytes(&home.home().join(".claude.json"));
    assert_snapshot!(told(&home, &["install", "--dry-run"]), @r"
    ok     client     Claude Code 2.0.77 ([HOME]/.local/bin/claude)
    would  directory  [HOME]/.claude-mem
    ok     settings   all valid
    would  database   [HOME]/.claude-mem/claude-mem.db
    would  hooks      9 events, through a shell, in [HOME]/.claude/settings.json
    would  tools      the agent's search tools in [HOME]/.claude.json
    would  provider   local: no model, no network, no tokens
    ok     worker     manual, as configured: `claude-mem worker start`
    would  check      run a made-up session through the hooks, in a temporary directory
    [exit 0]
    ");
    assert!(!home.data_dir().exists());
    assert!(!settings_path(&home).exists());
    assert_eq!(bytes(&home.home().join(".claude.json")), state);
}

/// Settings files as users have them. Uninstall must restore these bytes.
const SETTINGS: [(&str, Option<&str>); 16] = [
    ("missing", None),
    ("empty file", Some("")),
    ("empty object", Some("{}")),
    ("empty object and a line end", Some("{}\n")),
    ("only a comment", Some("// nothing yet\n")),
    ("plain", Some("{\n  \"model\": \"opus\",\n  \"includeCoAuthoredBy\": false\n}\n")),
    (
        "comments and trailing commas",
        Some(
            "// mine\n{\n\t/* why */ \"model\": \"opus\", // here\n\t\"hooks\": {\n\t\t\"Stop\": [\n\t\t\t{ \"hooks\": [{ \"type\": \"command\", \"command\": \"bell\" }] }, // ding\n\t\t],\n\t},\n}\n",
        ),
    ),
    (
        "other hooks",
        Some(
            "{\n    \"hooks\": {\n        \"PostToolUse\": [\n            {\n                \"matcher\": \"Edit|Write\",\n                \"hooks\": [{\"type\": \"command\", \"command\": \"cargo fmt\"}]\n            }\n        ],\n        \"Notification\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"bell\"}]}]\n    }\n}\n",
        ),
    ),
    (
        "the earlier program's hooks",
        Some(
            "{\"hooks\": {\"Stop\": [{\"hooks\": [{\"type\": \"command\", \"command\": \"node /h/.claude/plugins/marketplaces/thedotmack/plugin/scripts/summary-hook.js\"}]}]}, \"enabledPlugins\": {\"claude-mem@thedotmack\": true}}",
        ),
    ),
    (
        "minified",
        Some(
            "{\"model\":\"opus\",\"hooks\":{\"Stop\":[{\"hooks\":[{\"type\":\"command\",\"command\":\"say done\"}]}]},\"z\":[1,2]}",
        ),
    ),
    (
        "Windows line ends",
        Some("{\r\n  \"model\": \"opus\",\r\n  \"env\": {\r\n    \"A\": \"b\"\r\n  }\r\n}\r\n"),
    ),
    ("a byte order mark", Some("\u{feff}{\n  \"model\": \"opus\"\n}")),
    (
        "unknown keys",
        Some("{\n  \"fromTheFuture\": {\"deep\": [{\"er\": null}]},\n  \"numbers\": [1e9, -0.5]\n}"),
    ),
    ("empty hooks", Some("{\n  \"hooks\": {}\n}\n")),
    ("an empty list of hooks", Some("{\n  \"hooks\": {\n    \"Stop\": []\n  }\n}\n")),
    ("odd spacing", Some("{ \"model\" :\"opus\"\n\n\n ,\"hooks\":{\n\n} }\n\n")),
];

fn meaning(text: &str) -> Value {
    let lines = text.lines().map(|line| line.split("//").next().unwrap_or_default());
    serde_json::from_str(&lines.collect::<String>()).expect("JSON without comments")
}

#[test]
fn uninstall_restores_the_same_bytes() {
    for (name, settings) in SETTINGS {
        let home = with_client("2.1.325");
        let path = settings_path(&home);
        if let Some(text) = settings {
            home.write(&path, text);
        }
        let state = bytes(&home.home().join(".claude.json"));
        home.mem(&["install", "--no-check"]).ok();
        let installed = String::from_utf8(bytes(&path).expect("settings")).expect("text");
        assert_eq!(installed.matches("\"claude-code\"").count(), 10, "{name}: {installed}");
        home.mem(&["uninstall"]).ok();
        assert_eq!(bytes(&path).as_deref(), settings.map(str::as_bytes), "{name}");
        assert_eq!(bytes(&home.home().join(".claude.json")), state, "{name}");
        assert!(home.data_dir().join("claude-mem.db").exists(), "memories stay");
    }
}

#[test]
fn uninstall_keeps_later_changes() {
    let home = with_client("2.1.325");
    home.write(settings_path(&home), "{\n  \"model\": \"opus\"\n}\n");
    home.mem(&["install"]).ok();
    let edited = home.read(settings_path(&home)).replace("opus", "sonnet");
    home.write(settings_path(&home), edited);
    let state = home.home().join(".claude.json");
    let edited = home.read(&state).replace("\"numStartups\":10", "\"numStartups\":11");
    home.write(&state, edited);
    home.mem(&["uninstall"]).ok();
    assert_eq!(meaning(&home.read(settings_path(&home))), json!({ "model": "sonnet" }));
    let state = meaning(&home.read(&state));
    assert_eq!((&state["numStartups"], &state["mcpServers"]), (&json!(11), &json!({})));
}

#[test]
fn hooks_of_an_older_version_are_replaced() {
    let home = with_client("2.1.325");
    let hook = json!({ "type": "command", "command": "~/.local/bin/claude-mem hook claude-code Stop" });
    let other = json!({ "hooks": [{ "type": "command", "command": "bell" }] });
    home.write_settings(&json!({ "hooks": { "Stop": [{ "hooks": [hook] }, other] } }));
    home.mem(&["install"]).ok();
    let text = home.read(settings_path(&home));
    assert!(!text.contains("~/.local"), "{text}");
    home.mem(&["uninstall"]).ok();
    let left = meaning(&home.read(settings_path(&home)));
    assert_eq!(left, json!({ "hooks": { "Stop": [other] } }));
}

#[test]
fn project_install_leaves_user_settings_alone() {
    let home = with_client("2.1.325");
    home.write(settings_path(&home), "{}");
    let local = home.write(".claude/settings.local.json", "{\n  \"permissions\": {}\n}\n");
    let state = bytes(&home.home().join(".claude.json"));
    home.mem(&["install", "--project"]).ok();
    assert_eq!(home.read(settings_path(&home)), "{}");
    assert!(home.read(&local).contains("SessionStart"));
    let servers = meaning(&home.read(home.home().join(".claude.json")));
    let project = home.project().display().to_string();
    assert!(servers["projects"][&project]["mcpServers"]["claude-mem"].is_object(), "{servers}");
    assert_eq!(servers["mcpServers"], json!({}));
    home.mem(&["uninstall", "--project"]).ok();
    assert_eq!(home.read(&local), "{\n  \"permissions\": {}\n}\n");
    assert_eq!(bytes(&home.home().join(".claude.json")), state);
}

#[test]
fn repair_rewrites_project_registrations_only() {
    let home = with_client("2.1.325");
    home.write(settings_path(&home), "{}");
    let second = home.home().join("second");
    std::fs::create_dir(&second).expect("made");
    home.mem(&["install", "--project"]).ok();
    home.mem(&["install", "--project", &second.display().to_string()]).ok();
    let places = [home.project(), second.as_path()].map(|dir| dir.join(".claude/settings.local.json"));
    for place in &places {
        std::fs::write(place, "{}").expect("taken out");
    }
    home.mem(&["repair"]).ok();
    for place in &places {
        assert!(home.read(place).contains("SessionStart"), "{}", place.display());
    }
    assert_eq!(home.read(settings_path(&home)), "{}");
}

#[test]
fn invalid_client_files_are_left_alone() {
    type Spoil = fn(&Sandbox, &Path);
    let cases: [(&str, Spoil, &str); 8] = [
        ("broken", |home, path| drop(home.write(path, "{ \"model\": ")), "cannot be parsed"),
        ("a list", |home, path| drop(home.write(path, "[]")), "expected an object"),
        (
            "hooks of another shape",
            |home, path| drop(home.write(path, "{\"hooks\": []}")),
            "hooks is not an object",
        ),
        ("not text", |home, path| drop(home.write(path, b"\xff\xfe{}")), "is not UTF-8 text"),
        ("huge", |home, path| drop(home.write(path, vec![b' '; 5 << 20])), "larger than 4 MB"),
        (
            "read-only",
            |home, path| {
                home.write(path, "{}");
                std::fs::set_permissions(path, Permissions::from_mode(0o444)).expect("set");
            },
            "is read-only",
        ),
        (
            "a loop of links",
            |_, path| {
                let other = path.with_extension("loop");
                std::os::unix::fs::symlink(&other, path).expect("linked");
                std::os::unix::fs::symlink(path, &other).expect("linked");
            },
            "is a broken link",
        ),
        ("a directory", |_, path| std::fs::create_dir(path).expect("made"), "is not a file"),
    ];
    for (name, spoil, want) in cases {
        let home = with_client("2.1.325");
        let path = settings_path(&home);
        spoil(&home, &path);
        let (before, state) = (bytes(&path), bytes(&home.home().join(".claude.json")));
        let output = home.mem(&["install"]);
        assert_eq!(output.code, Some(1), "{name}: {output}");
        assert!(output.stderr.contains(want), "{name}: {output}");
        assert!(output.stderr.contains("nothing was changed"), "{name}: {output}");
        assert_eq!((bytes(&path), bytes(&home.home().join(".claude.json"))), (before, state), "{name}");
        assert!(!home.data_dir().exists(), "{name}: the data directory was created");
        let listed = std::fs::read_dir(path.parent().expect("a directory")).expect("listed");
        assert!(listed.count() <= 2, "{name}: files left behind");
    }
}

#[test]
fn symlink_stays_a_symlink() {
    let home = with_client("2.1.325");
    let real = home.write(home.home().join("dotfiles/claude.json"), "{}\n");
    std::os::unix::fs::symlink(&real, settings_path(&home)).expect("linked");
    home.mem(&["install"]).ok();
    assert!(settings_path(&home).is_symlink() && home.read(&real).contains("SessionStart"));
    home.mem(&["uninstall"]).ok();
    assert!(settings_path(&home).is_symlink());
    assert_eq!(home.read(&real), "{}\n");
}

#[test]
fn old_client_is_rejected() {
    let home = with_client("1.0.88");
    let output = home.mem(&["install"]);
    assert_eq!(output.code, Some(1));
    assert!(output.stderr.contains("older than 1.0.127"), "{output}");
    assert!(!settings_path(&home).exists());
}

#[test]
fn claude_config_dir_is_respected() {
    let mut home = with_client("2.1.325");
    let dir = home.home().join("elsewhere");
    home.set_env("CLAUDE_CONFIG_DIR", &dir);
    home.mem(&["install"]).ok();
    assert!(home.read(dir.join("settings.json")).contains("SessionStart"));
    assert!(home.read(dir.join(".claude.json")).contains("mcpServers"));
    assert!(!settings_path(&home).exists());
    home.mem(&["uninstall"]).ok();
    assert!(!dir.join("settings.json").exists() && !dir.join(".claude.json").exists());
}

#[test]
fn directory_that_only_an_alias_sets_is_told_until_it_is_registered() {
    let mut home = with_client("2.1.325");
    let dir = home.home().join(".claude-work");
    std::fs::create_dir(&dir).expect("created");
    home.write(home.home().join(".zshrc"), "alias work='CLAUDE_CONFIG_DIR=~/.claude-work claude'\n");
    let hint = format!("CLAUDE_CONFIG_DIR='{}' claude-mem install", dir.display());
    let installed = home.mem(&["install", "--no-check"]).ok();
    assert!(installed.stdout.contains(&hint), "{installed}");
    let fixes = |home: &Sandbox| {
        let report = home.mem(&["doctor", "--json"]).json();
        let findings = report["findings"].as_array().cloned().unwrap_or_default();
        findings.into_iter().filter(|finding| finding["fix"] == json!(hint)).count()
    };
    assert_eq!(fixes(&home), 1, "{}", home.mem(&["doctor"]));
    home.set_env("CLAUDE_CONFIG_DIR", &dir);
    home.mem(&["install", "--no-check"]).ok();
    home.unset_env("CLAUDE_CONFIG_DIR");
    assert_eq!(fixes(&home), 0, "{}", home.mem(&["doctor"]));
    let again = home.mem(&["install", "--no-check"]).ok();
    assert!(!again.stdout.contains(&hint), "{again}");
}

#[test]
fn custom_data_directory_is_passed_to_hooks() {
    let mut home = with_client("2.1.325");
    home.unset_env("CLAUDE_MEM_DATA_DIR");
    let data = home.home().join("elsewhere").display().to_string();
    home.mem(&["--data-dir", &data, "install"]).ok();
    let text = home.read(settings_path(&home));
    let hook = &meaning(&text)["hooks"]["UserPromptSubmit"][0]["hooks"][0];
    let args: Vec<&str> = hook["args"].as_array().expect("args").iter().filter_map(Value::as_str).collect();
    let prompt =
        json!({ "session_id": "s", "cwd": "/", "hook_event_name": "UserPromptSubmit", "prompt": "Hello" });
    home.mem_with(&args, prompt.to_string()).ok();
    let queued = home.mem(&["--data-dir", &data, "queue", "list", "--json"]).ok().json();
    assert_eq!(queued["items"].as_array().map(Vec::len), Some(1), "{queued}");
    assert!(!home.data_dir().exists());
}

#[test]
fn install_reports_json() {
    let home = with_client("2.1.325");
    let report = home.mem(&["install", "--json"]).ok().json();
    assert_eq!(report["ok"], true);
    assert_eq!(report["hook_form"], "exec");
    assert_eq!(report["events"].as_array().map(Vec::len), Some(10));
    assert_eq!(report["remembered"]["told"], true);
    let report = home.mem(&["uninstall", "--json"]).ok().json();
    assert_eq!((&report["ok"], &report["purged"]), (&json!(true), &json!(false)));
}

#[test]
fn install_keeps_the_configured_provider() {
    let home = with_client("2.1.325");
    home.mem(&["install"]).ok();
    assert_eq!(home.mem(&["config", "get", "provider"]).ok().stdout, "local\n");
    home.mem(&["install", "--provider", "claude"]).ok();
    home.mem(&["install"]).ok();
    assert_eq!(home.mem(&["config", "get", "provider"]).ok().stdout, "claude\n");
    assert_eq!(home.mem(&["install", "--provider", "hal"]).code, Some(64));
}

#[test]
fn purge_deletes_only_our_files() {
    let home = with_client("2.1.325");
    home.mem(&["install"]).ok();
    home.mem(&["uninstall", "--purge", "--yes"]).ok();
    assert!(!home.data_dir().exists());
    home.mem(&["install"]).ok();
    home.write(home.data_dir().join("notes.txt"), "mine");
    for left in ["claude-mem.before-migration-3.db", "claude-mem.db.swap", "recovering/claude-mem.db"] {
        home.write(home.data_dir().join(left), "memories");
    }
    let unasked = home.mem(&["uninstall", "--purge"]);
    assert_eq!(unasked.code, Some(64), "{unasked:?}");
    assert!(home.data_dir().join("claude-mem.db").exists());
    home.mem(&["uninstall", "--purge", "--yes"]).ok();
    let left: Vec<_> = std::fs::read_dir(home.data_dir()).expect("listed").flatten().collect();
    assert_eq!(left.len(), 1, "{left:?}");
}

#[test]
fn files_are_private_with_any_umask() {
    let home = sandbox();
    let install = format!("umask 000; exec '{}' install", exe().display());
    let mut command = home.command("/bin/sh");
    command.args(["-c", &install]);
    rig::process::run(command, b"", std::time::Duration::from_mins(1)).ok();
    let mut folders = vec![home.data_dir()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("listed") {
            let entry = entry.expect("entry");
            let meta = entry.metadata().expect("there");
            let want = if meta.is_dir() { 0o700 } else { 0o600 };
            let mode = meta.permissions().mode() & 0o777;
            assert_eq!(mode, want, "{}: {mode:o}", entry.path().display());
            folders.extend(meta.is_dir().then(|| entry.path()));
        }
    }
    let root = std::fs::metadata(home.data_dir()).expect("there");
    assert_eq!(root.permissions().mode() & 0o777, 0o700);
}

#[test]
fn foreign_database_is_left_alone() {
    let home = sandbox();
    // A SQLite header without an application id: the other program sets none.
    let mut foreign = b"SQLite format 3\0".to_vec();
    foreign.resize(4096, 0);
    let path = home.write(home.data_dir().join("claude-mem.db"), &foreign);
    let output = home.mem(&["install"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stderr.contains("belongs to another program"), "{output}");
    assert!(output.stderr.contains("install --adopt"), "{output}");
    // Hooks of a plugin may run there all the same.
    home.hook("Stop", json!({ "session_id": "s", "cwd": "/", "hook_event_name": "Stop" }).to_string()).ok();
    assert_eq!(std::fs::read(path).expect("read"), foreign);
    assert_eq!(std::fs::read_dir(home.data_dir().join("spool")).expect("spool").count(), 1);
    let elsewhere = home.home().join("elsewhere");
    let elsewhere = elsewhere.to_str().expect("utf-8");
    home.mem(&["--data-dir", elsewhere, "install"]).ok();
}

#[test]
fn legacy_program_is_noted_and_disabled_on_request() {
    let home = with_client("2.1.325");
    let path = settings_path(&home);
    home.write(&path, SETTINGS[8].1.expect("its settings"));
    let output = home.mem(&["install"]).ok().stdout;
    assert!(
        output.contains("still enabled (its plugin claude-mem@thedotmack, its hooks for Stop)"),
        "{output}"
    );
    home.mem(&["install", "--adopt"]).ok();
    let text = home.read(&path);
    assert!(!text.contains("summary-hook") && text.contains("\"claude-mem@thedotmack\": false"), "{text}");
}

#[test]
fn update_check_compares_versions() {
    let home = with_client("2.0.77");
    let before = home.mem(&["update-check", "--json"]).ok().json();
    assert_eq!(before["up_to_date"], false);
    home.mem(&["install"]).ok();
    assert_eq!(home.mem(&["update-check", "--json"]).ok().json()["up_to_date"], true);
    let package = json!({ "name": "@anthropic-ai/claude-code", "version": "2.1.325" });
    home.write(home.home().join("npm/claude-code/package.json"), package.to_string());
    let newer = home.mem(&["update-check"]).ok().stdout;
    assert!(newer.contains("claude-mem repair"), "{newer}");
    home.mem(&["repair"]).ok();
    assert_eq!(home.mem(&["update-check", "--json"]).ok().json()["up_to_date"], true);
    assert!(home.read(settings_path(&home)).contains("PostCompact"));
}

/// Creates the files of the earlier claude-mem: a database and vectors.
fn leave_earlier_program(home: &Sandbox) {
    let path = home.write(home.data_dir().join("chroma/index.bin"), "vectors");
    assert!(path.exists());
    #[allow(clippy::disallowed_methods, reason = "a database that is not ours")]
    let conn = rusqlite::Connection::open(home.data_dir().join("claude-mem.db")).expect("made");
    conn.execute_batch(
        "CREATE TABLE sdk_sessions (id INTEGER PRIMARY KEY, content_session_id TEXT, memory_session_id TEXT,
           project TEXT, user_prompt TEXT, started_at TEXT, started_at_epoch INTEGER, status TEXT);
         CREATE TABLE observations (id INTEGER PRIMARY KEY, memory_session_id TEXT, project TEXT, type TEXT,
           title TEXT, subtitle TEXT, facts TEXT, narrative TEXT, concepts TEXT, files_read TEXT,
           files_modified TEXT, prompt_number INTEGER, created_at TEXT, created_at_epoch INTEGER);
         INSERT INTO sdk_sessions VALUES (1, 'c1', 'm1', 'bakery', 'Bake', '2025-10-01T10:00:00Z', 1759312800000, 'completed');
         INSERT INTO observations VALUES (1, 'm1', 'bakery', 'decision', 'Sourdough rests for 18 hours', '',
           '[]', 'Longer made it sour.', '[]', '[]', '[]', 1, '2025-10-01T10:05:00Z', 1759313100000);",
    )
    .expect("filled");
}

#[test]
fn adopt_imports_the_legacy_database() {
    let home = with_client("2.1.325");
    leave_earlier_program(&home);
    let before = std::fs::read(home.data_dir().join("claude-mem.db")).expect("read");
    let dry = home.mem(&["install", "--adopt", "--dry-run"]).ok().stdout;
    assert!(dry.contains("would  earlier    move its files to"), "{dry}");
    home.mem(&["install", "--adopt"]).ok();
    let moved = home.data_dir().join("backups/earlier-program-20260131T100000Z");
    assert_eq!(std::fs::read(moved.join("claude-mem.db")).expect("kept"), before);
    assert!(moved.join("chroma/index.bin").exists());
    let found = home.mem(&["search", "--all-projects", "sourdough"]).ok().stdout;
    assert!(found.contains("Sourdough rests for 18 hours"), "{found}");
    let report = home.mem(&["install", "--json"]).ok().json();
    assert_eq!(report["ok"], true, "{report:#}");
}

#[test]
fn install_asks_for_provider_and_import() {
    let home = with_client("2.1.325");
    home.write(home.home().join(".claude/projects/-src-shop/s.jsonl"), "{}\n");
    let command = home.mem_command(&["install", "--no-check"]);
    let mut screen = match TuiSession::run(&home, &command) {
        Ok(screen) => screen,
        Err(missing) => return rig::skip(missing),
    };
    screen.wait_for("Which provider should write the memories?");
    screen.wait_for("at most 200,000 per session and 1,000,000 per day");
    screen.wait_for("Choose [1]");
    screen.press("2\r");
    screen.wait_for("Import past Claude Code sessions? [Y/n]");
    screen.press("n\r");
    let output = screen.wait_for_exit().ok();
    assert!(output.stdout.contains("its sessions are now recorded"), "{output}");
    assert_eq!(home.mem(&["config", "get", "provider"]).ok().stdout, "claude\n");
}

/// Without transcripts there is nothing to import, and nothing is said about it.
#[test]
fn import_is_offered_only_with_transcripts() {
    let home = with_client("2.1.325");
    let without = home.mem(&["install", "--no-check"]).ok().stdout;
    assert!(!without.contains("import"), "{without}");
    home.write(home.home().join(".claude/projects/-src-shop/s.jsonl"), "{}\n");
    let with = home.mem(&["install", "--no-check"]).ok().stdout;
    assert!(with.contains("Run `claude-mem import transcripts` to import past sessions."), "{with}");
}

/// An executable may have any name: what it has registered is recognised as ours.
#[test]
fn executable_of_another_name_recognises_its_entries() {
    let original = with_client("2.1.325");
    let renamed = original.home().join("bin/mem-next");
    std::fs::create_dir_all(renamed.parent().expect("a directory")).expect("made");
    std::fs::copy(exe(), &renamed).expect("copied");
    let home = original.with_exe(&renamed);
    home.mem(&["install", "--no-check"]).ok();
    let once = home.read(settings_path(&home));
    home.mem(&["install", "--no-check"]).ok();
    assert_eq!(home.read(settings_path(&home)), once, "a second installation adds nothing");
    let report = home.mem(&["doctor", "--json"]).json();
    let findings = report["findings"].as_array().expect("findings");
    for check in ["hooks", "tools"] {
        let found: Vec<_> = findings.iter().filter(|found| found["check"] == check).collect();
        assert!(!found.is_empty() && found.iter().all(|found| found["level"] == "ok"), "{found:#?}");
    }
    home.mem(&["uninstall"]).ok();
    let left = std::fs::read_to_string(settings_path(&home)).unwrap_or_default();
    assert!(!left.contains("mem-next"), "{left}");
}

#[test]
fn session_start_reports_an_updated_client() {
    let mut home = with_client("2.0.77");
    home.mem(&["install", "--no-check"]).ok();
    let start = json!({ "session_id": "s", "cwd": home.project(), "hook_event_name": "SessionStart", "source": "startup" });
    let told = |home: &Sandbox| home.hook("SessionStart", start.to_string()).ok().stdout;
    assert!(!told(&home).contains("claude-mem repair"));
    home.set_env("AI_AGENT", "claude-code_2-1-325_cli");
    let told = told(&home);
    assert!(told.contains("installed for Claude Code 2.0.77, this is 2.1.325 (claude-mem repair)"), "{told}");
}

/// Starts a process that looks like the worker of the earlier claude-mem: it has written a pid file.
fn start_earlier_worker(home: &Sandbox, script: &str) -> std::process::Child {
    let path = home.write(home.home().join("plugin/scripts/worker-service.cjs"), script);
    let child = home
        .command("/bin/sh")
        .arg(path)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("started");
    let note = json!({ "pid": child.id(), "port": 37777, "startedAt": "2026-01-31T09:00:00Z" });
    home.write(home.data_dir().join("worker.pid"), note.to_string());
    child
}

#[test]
fn running_legacy_worker_is_adopted() {
    // One that exits on SIGTERM, and one that ignores it.
    for manners in ["", "trap '' TERM; "] {
        let home = with_client("2.1.325");
        leave_earlier_program(&home);
        home.write(settings_path(&home), SETTINGS[8].1.expect("its settings"));
        // It keeps its database open and blocks on a pipe that is never closed.
        let script = format!(
            "{manners}exec 3<{}/claude-mem.db; echo ready; while :; do read -r line; done",
            home.data_dir().display()
        );
        let mut worker = start_earlier_worker(&home, &script);
        let mut ready = [0; 6];
        let out = worker.stdout.as_mut().expect("its output");
        out.read_exact(&mut ready).expect("it is up");
        // Before the adoption, events of our hooks wait in the spool.
        let prompt = json!({ "session_id": "s", "cwd": home.project(), "prompt": "Bake bread",
            "hook_event_name": "UserPromptSubmit", "prompt_id": "p" });
        home.hook("UserPromptSubmit", prompt.to_string()).ok();
        let adopted = home.mem(&["install", "--adopt", "--no-check"]).ok().stdout;
        worker.wait().expect("ended");
        assert!(adopted.contains("done   earlier    stopped its worker"), "{adopted}");
        assert!(adopted.contains("restart open Claude Code sessions"), "{adopted}");
        let settings = home.read(settings_path(&home));
        assert!(!settings.contains("summary-hook"), "{settings}");
        // Both its memories and the spooled events are imported.
        let found = home.mem(&["search", "--all-projects", "sourdough"]).ok();
        assert!(found.stdout.contains("rests for 18 hours"), "{found}");
        home.mem(&["worker", "run", "--until-drained"]).ok();
        let found = home.mem(&["search", "bread"]).ok().stdout;
        assert!(found.contains("Bake bread"), "{found}");
    }
}

#[test]
fn restarted_legacy_worker_is_found() {
    let home = with_client("2.1.325");
    home.put_on_path("claude-mem", &exe());
    home.mem(&["install", "--no-check"]).ok();
    let mut worker = start_earlier_worker(&home, "echo ready; read -r line");
    let told = home.mem(&["doctor", "--json"]).json();
    let findings = told["findings"].as_array().expect("findings").iter();
    let found = findings.clone().find(|finding| finding["check"] == "earlier");
    let fix = found.and_then(|finding| finding["fix"].as_str()).expect("a fix");
    assert!(fix.starts_with(&format!("kill {},", worker.id())), "{fix}");
    worker.kill().expect("ended");
    worker.wait().expect("gone");
    // The sandbox would treat it as our worker.
    std::fs::remove_file(home.data_dir().join("worker.pid")).expect("removed");
    let told = home.mem(&["doctor"]).stdout;
    assert!(!told.contains("earlier"), "{told}");
}

#[test]
fn purge_keeps_legacy_files() {
    let home = with_client("2.1.325");
    leave_earlier_program(&home);
    home.mem(&["install", "--adopt", "--no-check"]).ok();
    let purged = home.mem(&["uninstall", "--purge", "--yes"]).ok().stdout;
    assert!(purged.contains("other files in"), "{purged}");
    let left = std::fs::read_dir(home.data_dir()).expect("there").flatten();
    let left: Vec<_> = left.map(|entry| entry.file_name()).collect();
    assert_eq!(left, ["backups"]);
    let moved = home.data_dir().join("backups/earlier-program-20260131T100000Z/claude-mem.db");
    assert!(moved.exists());
}

/// All files of the data directory and the client, with modes and contents.
fn files_of(home: &Sandbox) -> Vec<(std::path::PathBuf, u32, Vec<u8>)> {
    let mut found = Vec::new();
    let mut open = vec![home.data_dir(), home.home().join(".claude")];
    while let Some(path) = open.pop() {
        let meta = std::fs::symlink_metadata(&path).expect("there");
        let bytes = if meta.is_file() { std::fs::read(&path).expect("read") } else { Vec::new() };
        if meta.is_dir() {
            open.extend(std::fs::read_dir(&path).expect("listed").flatten().map(|entry| entry.path()));
        }
        found.push((path, meta.permissions().mode() & 0o777, bytes));
    }
    found.sort();
    found
}

/// The earlier claude-mem with hooks, settings and an old log, in a directory that others can read.
fn leave_running_program(home: &Sandbox) {
    leave_earlier_program(home);
    home.write(settings_path(home), SETTINGS[8].1.expect("its settings"));
    home.write(home.data_dir().join("settings.json"), r#"{"CLAUDE_MEM_MODEL": "claude-sonnet-4-5"}"#);
    let log = home.write(home.data_dir().join("logs/worker-2025-01-01.log"), "its log");
    let file = std::fs::File::options().write(true).open(log).expect("opened");
    file.set_modified(std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_735_700_000)).expect("set");
    for dir in [home.data_dir(), home.data_dir().join("logs")] {
        std::fs::set_permissions(dir, std::fs::Permissions::from_mode(0o755)).expect("opened");
    }
}

#[test]
fn install_without_adopt_touches_nothing_of_the_earlier_program() {
    let home = with_client("2.1.325");
    leave_running_program(&home);
    let before = files_of(&home);
    for args in [&["install", "--yes"][..], &["install", "--yes", "--json"], &["repair"]] {
        let output = home.mem(args);
        assert_eq!(output.code, Some(1), "{args:?}: {output}");
        assert!(output.to_string().contains("nothing was changed"), "{args:?}: {output}");
        assert_eq!(files_of(&home), before, "{args:?}");
    }
}

#[test]
fn printed_hint_works_as_printed() {
    // The `claude-mem` that the PATH finds is the earlier program.
    let home = with_client("2.1.325");
    leave_running_program(&home);
    home.put_on_path("claude-mem", std::path::Path::new("/bin/false"));
    let told = home.mem(&["install", "--yes"]).stderr;
    let hints: Vec<&str> = told.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    let [adopt, elsewhere] = hints[..] else { panic!("{told}") };
    for hint in [elsewhere, adopt] {
        let mut shell = home.command("/bin/sh");
        let output = shell.args(["-c", &format!("{hint} --no-check")]).output().expect("it runs");
        assert!(output.status.success(), "{hint}: {output:?}");
    }
    let found = home.mem(&["search", "--all-projects", "sourdough"]).ok().stdout;
    assert!(found.contains("rests for 18 hours"), "{found}");
}

#[test]
fn adoption_keeps_logs_and_closes_the_directory() {
    let home = with_client("2.1.325");
    leave_running_program(&home);
    home.mem(&["install", "--adopt", "--no-check"]).ok();
    home.mem(&["worker", "run", "--until-drained"]).ok();
    let moved = home.data_dir().join("backups/earlier-program-20260131T100000Z");
    assert_eq!(home.read(moved.join("logs/worker-2025-01-01.log")), "its log");
    assert_eq!(home.read(moved.join("settings.json")), r#"{"CLAUDE_MEM_MODEL": "claude-sonnet-4-5"}"#);
    for (path, mode, _) in files_of(&home) {
        if path.starts_with(home.data_dir()) && !path.is_symlink() {
            assert_eq!(mode & 0o077, 0, "{} has mode {mode:o}", path.display());
        }
    }
}

#[test]
fn uninstall_after_adoption_gives_old_hooks_back() {
    let home = with_client("2.1.325");
    leave_running_program(&home);
    home.mem(&["install", "--adopt", "--no-check"]).ok();
    let path = settings_path(&home);
    // The client rewrites its settings.
    let changed = home.read(&path).replacen('{', "{\n  \"model\": \"opus\",", 1);
    home.write(&path, changed);
    home.mem(&["install", "--no-check"]).ok();
    let told = home.mem(&["uninstall"]).ok().stdout;
    assert!(told.contains("its hooks and plugin are enabled again"), "{told}");
    let text = home.read(&path);
    assert!(text.contains("summary-hook") && text.contains("\"claude-mem@thedotmack\": true"), "{text}");
    assert!(text.contains("opus") && !text.contains("hook claude-code"), "{text}");
}

#[test]
fn provider_without_its_key_is_not_done() {
    let home = with_client("2.1.325");
    let output = home.mem(&["install", "--yes", "--no-check", "--provider", "openai"]);
    assert_eq!(output.code, Some(1), "{output}");
    assert!(output.stdout.contains("todo   provider   openai: no API key is set"), "{output}");
    let fix = "claude-mem config set api_key_file FILE";
    assert!(output.stdout.split_whitespace().collect::<Vec<_>>().join(" ").contains(fix), "{output}");
    assert!(output.stderr.contains("the installation is incomplete"), "{output}");
    assert!(!output.stdout.contains("done   provider"), "{output}");
    let report = home.mem(&["install", "--no-check", "--provider", "openai", "--json"]);
    assert_eq!((report.code, &report.json()["ok"]), (Some(1), &json!(false)), "{report}");
    let key = home.write(home.home().join("key"), "sk-1\n");
    home.mem(&["config", "set", "api_key_file", key.to_str().expect("utf-8")]).ok();
    let output = home.mem(&["install", "--yes", "--no-check", "--provider", "openai"]).ok();
    assert!(output.stdout.contains("done   provider   openai"), "{output}");
}
