//! `install`, `repair`, `doctor` and `uninstall` with several agents on the machine; none of them is run.

use std::fs::File;
use std::path::Path;
use std::time::{Duration, SystemTime};

use rig::Sandbox;
use rig::tui::TuiSession;
use serde_json::{Value, json};

use crate::common::sandbox;

const CODEX_SETTINGS: &str = "model = \"gpt-5.5\" # mine\n\n[features]\nhooks = true\n";
const GEMINI_SETTINGS: &str = "{\n  // mine\n  \"theme\": \"dark\"\n}\n";

/// A machine on which Codex and Gemini CLI were used.
fn machine() -> Sandbox {
    let home = sandbox().with_env("CLAUDE_MEM_WORKER", "manual");
    home.write(home.home().join(".codex/config.toml"), CODEX_SETTINGS);
    home.write(home.home().join(".gemini/settings.json"), GEMINI_SETTINGS);
    home
}

fn read(home: &Sandbox, path: &str) -> Option<String> {
    std::fs::read_to_string(home.home().join(path)).ok()
}

fn install(home: &Sandbox, more: &[&str]) -> Value {
    home.mem(&[&["install", "--no-check", "--json"], more].concat()).ok().json()
}

fn steps<'r>(report: &'r Value, name: &str) -> Vec<&'r Value> {
    let steps = report["steps"].as_array().into_iter().flatten();
    steps.filter(|step| step["name"] == name).collect()
}

fn assert_untouched(home: &Sandbox) {
    assert_eq!(read(home, ".codex/config.toml").as_deref(), Some(CODEX_SETTINGS));
    assert_eq!(read(home, ".gemini/settings.json").as_deref(), Some(GEMINI_SETTINGS));
    for ours in [".codex/hooks.json", ".config/opencode", ".config/opencode/plugin/claude-mem.js"] {
        assert!(!home.home().join(ours).exists(), "{ours}");
    }
}

#[test]
fn other_agents_are_mentioned_and_left_alone() {
    let home = machine();
    let report = install(&home, &[]);
    assert_untouched(&home);
    let note = steps(&report, "agents");
    assert!(note[0]["detail"].as_str().unwrap().contains("Codex, Gemini CLI"), "{report:#}");
}

/// Agents that are registered already are not asked about again.
#[test]
fn the_question_is_asked_only_about_new_agents() {
    let home = machine();
    let run = |asks: bool| {
        let mut screen = match TuiSession::run(&home, &home.mem_command(&["install", "--no-check"])) {
            Ok(screen) => screen,
            Err(missing) => {
                rig::skip(missing);
                return None;
            }
        };
        if asks {
            screen.wait_for("These agents are on this machine. Hooks and search tools would be written to:");
            screen.wait_for("~/.gemini/settings.json");
            screen.wait_for("Register with all of them? [Y/n]");
            screen.press("\r");
            screen.wait_for("Choose [1]");
            screen.press("\r");
        }
        Some(screen.wait_for_exit().ok().stdout)
    };
    if run(true).is_none() {
        return;
    }
    let again = run(false).expect("a terminal");
    assert!(!again.contains("Register with all"), "{again}");
    assert!(again.contains("its sessions are now recorded"), "{again}");
}

#[test]
fn dry_run_shows_every_agent_and_changes_nothing() {
    let home = machine();
    let report = install(&home, &["--yes", "--dry-run"]);
    for agent in ["codex", "gemini-cli"] {
        assert_eq!(steps(&report, agent)[0]["state"], "would", "{report:#}");
    }
    assert!(steps(&report, "opencode").is_empty(), "it is not here");
    assert_untouched(&home);
}

#[test]
fn all_agents_are_registered_and_restored() {
    let home = machine();
    install(&home, &["--yes"]);
    assert!(read(&home, ".codex/hooks.json").unwrap().contains("hook codex PostToolUse"));
    assert!(read(&home, ".codex/config.toml").unwrap().starts_with(CODEX_SETTINGS));
    assert!(read(&home, ".gemini/settings.json").unwrap().contains("hook gemini-cli BeforeAgent"));
    assert!(!home.home().join(".config/opencode").exists(), "OpenCode is not here");
    let again = install(&home, &["--yes"]);
    for agent in ["codex", "gemini-cli"] {
        assert_eq!(steps(&again, agent)[0]["state"], "ok", "{again:#}");
    }
    let listed = home.mem(&["agents", "--json"]).ok().json();
    let state = |name: &str| {
        let agent = listed.as_array().unwrap().iter().find(|agent| agent["name"] == name).unwrap();
        (agent["found"].as_bool().unwrap(), agent["registered"].as_bool().unwrap())
    };
    assert_eq!((state("codex"), state("opencode")), ((true, true), (false, false)));
    home.mem(&["uninstall", "--json"]).ok();
    assert_untouched(&home);
}

/// Instructions are the user's, and agents that are not here stay away.
#[test]
fn instructions_and_absent_agents_are_left_alone() {
    let home = machine();
    let project = home.project();
    let instructions = [
        home.home().join(".codex/AGENTS.md"),
        home.home().join(".gemini/GEMINI.md"),
        home.home().join(".claude/CLAUDE.md"),
        project.join("AGENTS.md"),
    ];
    for path in &instructions {
        home.write(path, "Be brief.\n");
    }
    install(&home, &["--yes"]);
    install(&home, &["--project", &project.display().to_string()]);
    for path in &instructions {
        assert_eq!(home.read(path), "Be brief.\n", "{}", path.display());
    }
    for absent in [".config/opencode", ".qwen", ".copilot"] {
        assert!(!home.home().join(absent).exists(), "{absent}");
    }
    for made in [project.join("CLAUDE.md"), project.join("GEMINI.md"), home.home().join("AGENTS.md")] {
        assert!(!made.exists(), "{}", made.display());
    }
}

/// At a terminal one question covers all agents, and shows the files first.
#[test]
fn install_asks_once_for_all_agents() {
    for (key, registers) in [("n\r", false), ("y\r", true)] {
        let home = machine();
        home.write(home.home().join(".copilot/config.json"), "{}");
        let command = home.mem_command(&["install", "--no-check"]);
        let mut screen = match TuiSession::run(&home, &command) {
            Ok(screen) => screen,
            Err(missing) => return rig::skip(missing),
        };
        screen.wait_for("Register with all of them?");
        let shown = screen.screen().split_whitespace().collect::<String>();
        for file in [".codex/hooks.json", ".gemini/settings.json", ".copilot/hooks/claude-mem.json"] {
            assert!(shown.contains(file), "{file}: {}", screen.screen());
        }
        assert!(!shown.contains("opencode"), "it is not here: {}", screen.screen());
        assert_untouched(&home);
        screen.press(key);
        if registers {
            screen.wait_for("Choose [1]");
            screen.press("\r");
        }
        let output = screen.wait_for_exit();
        assert_eq!(output.stdout.matches("Register with").count(), 1, "{output}");
        let copilot = read(&home, ".copilot/hooks/claude-mem.json").unwrap_or_default();
        assert_eq!(copilot.contains("hook copilot-cli PostToolUse"), registers, "{output}");
        if registers {
            assert!(read(&home, ".gemini/settings.json").unwrap().contains("hook gemini-cli"), "{output}");
        } else {
            assert_untouched(&home);
        }
    }
}

#[test]
fn one_agent_is_chosen_by_name() {
    let home = machine();
    install(&home, &["--agent", "codex"]);
    assert!(home.home().join(".codex/hooks.json").exists());
    assert_eq!(read(&home, ".gemini/settings.json").as_deref(), Some(GEMINI_SETTINGS));
    let settings = read(&home, ".claude/settings.json").unwrap_or_default();
    assert!(!settings.contains("claude-mem"), "{settings}");
    // Nor does a repair add another one.
    home.mem(&["repair", "--json"]).ok();
    let settings = read(&home, ".claude/settings.json").unwrap_or_default();
    assert!(!settings.contains("claude-mem"), "{settings}");
    let missing = home.mem(&["install", "--agent", "opencode", "--json"]);
    assert!(missing.json()["error"].as_str().unwrap().contains("OpenCode was not found"), "{missing}");
    let unknown = home.mem(&["install", "--agent", "cursor"]);
    assert!(unknown.stderr.contains("claude-code, codex, gemini-cli, opencode"), "{unknown}");
}

#[test]
fn one_agent_is_removed_by_name() {
    let home = machine();
    install(&home, &["--yes"]);
    home.mem(&["uninstall", "--agent", "codex", "--json"]).ok();
    assert!(!home.home().join(".codex/hooks.json").exists());
    assert_eq!(read(&home, ".codex/config.toml").as_deref(), Some(CODEX_SETTINGS));
    assert!(read(&home, ".gemini/settings.json").unwrap().contains("claude-mem"));
    assert!(read(&home, ".claude/settings.json").unwrap().contains("claude-mem"));
}

fn findings_about_codex(home: &Sandbox) -> Vec<Value> {
    let report = home.mem(&["doctor", "--json"]).json();
    let all = report["findings"].as_array().cloned().unwrap_or_default();
    all.into_iter().filter(|finding| finding["check"] == "codex").collect()
}

/// Events of another agent, later than the last use of Codex, do not hide that its own hooks never ran.
#[test]
fn silence_of_one_agent_is_found_beside_events_of_another() {
    let home = machine();
    install(&home, &["--agent", "codex"]);
    let rollout = home.write(home.home().join(".codex/sessions/rollout-1.jsonl"), "{}\n");
    let tool = |session: &str| {
        let payload = json!({ "session_id": session, "cwd": "/", "tool_name": "Bash", "tool_response": "a" });
        payload.to_string()
    };
    home.mem_with(&["hook", "claude-code", "PostToolUse"], tool("other")).ok();
    let set_time = |path: &Path, seconds: u64| {
        let file = File::options().write(true).open(path).unwrap();
        file.set_modified(SystemTime::UNIX_EPOCH + Duration::from_secs(seconds)).unwrap();
    };
    set_time(&rollout, 4_000_000_000);
    for entry in std::fs::read_dir(home.data_dir().join("spool")).unwrap() {
        set_time(&entry.unwrap().path(), 4_000_001_000);
    }
    let silent = findings_about_codex(&home).into_iter().find(|finding| finding["level"] == "problem");
    assert_eq!(silent.unwrap()["what"], "Codex was used, but no hook of it ever ran");
    home.mem_with(&["hook", "codex", "PostToolUse"], tool("own")).ok();
    let silent = findings_about_codex(&home).into_iter().find(|finding| finding["level"] == "problem");
    assert_eq!(silent.unwrap()["what"], "Codex was used, but no hook of it ran since");
}

#[test]
fn doctor_finds_and_repairs_lost_entries() {
    let home = machine();
    install(&home, &["--agent", "codex"]);
    let findings = findings_about_codex;
    assert_eq!(findings(&home)[0]["level"], "ok");
    std::fs::remove_file(home.home().join(".codex/hooks.json")).unwrap();
    let lost = findings(&home);
    assert_eq!(
        (&lost[0]["level"], &lost[0]["fix"]),
        (&json!("problem"), &json!("claude-mem repair")),
        "{lost:#?}"
    );
    // Other problems of this machine may remain; this one is repaired.
    let _ = home.mem(&["doctor", "--fix", "--json"]);
    assert_eq!(findings(&home)[0]["level"], "ok");
    assert!(home.home().join(".codex/hooks.json").exists());
}

#[test]
fn unreadable_settings_of_an_agent_stop_the_installation() {
    let home = machine();
    home.write(home.home().join(".gemini/settings.json"), "{ \"hooks\": [");
    let failed = home.mem(&["install", "--yes", "--no-check", "--json"]);
    assert!(failed.json()["error"].as_str().unwrap().contains("nothing was changed"), "{failed}");
    assert_eq!(read(&home, ".codex/config.toml").as_deref(), Some(CODEX_SETTINGS));
    assert!(!read(&home, ".claude/settings.json").unwrap_or_default().contains("claude-mem"));
}
