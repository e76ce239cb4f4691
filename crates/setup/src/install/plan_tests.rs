use std::fs;

use super::*;
use crate::install::client::ClientCapabilities;
use claude_mem_core::client_version::ClientVersion;

struct TestMachine {
    dir: tempfile::TempDir,
    places: ClientPaths,
    manifest: InstallManifest,
}

impl TestMachine {
    fn new(settings: Option<&str>, state: Option<&str>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let places = ClientPaths {
            settings: dir.path().join(".claude/settings.json"),
            state: dir.path().join(".claude.json"),
            project: None,
        };
        fs::create_dir(dir.path().join(".claude")).unwrap();
        for (path, text) in [(&places.settings, settings), (&places.state, state)] {
            if let Some(text) = text {
                fs::write(path, text).unwrap();
            }
        }
        let manifest = InstallManifest::default();
        Self { dir, places, manifest }
    }

    fn launch(executable: &str) -> LaunchSpec {
        LaunchSpec {
            executable: executable.into(),
            data_dir: None,
            capabilities: ClientCapabilities::for_version(Some(ClientVersion(2, 1, 325))),
        }
    }

    fn install(&mut self, executable: &str, adopt: bool) -> Vec<ChangeReport> {
        let plan = plan_install(&self.places, &Self::launch(executable), &self.manifest, adopt).unwrap();
        let copies = self.dir.path().join("copies");
        let done = record_plan(&plan, &mut self.manifest, &copies, "stamp").unwrap();
        apply_all(&plan.changes).unwrap();
        done
    }

    fn uninstall(&mut self) {
        let files = std::mem::take(&mut self.manifest.files);
        let changes: Vec<_> = files.iter().map(|left| plan_uninstall(left).unwrap()).collect();
        apply_all(&changes).unwrap();
    }

    fn settings(&self) -> Option<String> {
        fs::read_to_string(&self.places.settings).ok()
    }

    fn state(&self) -> Option<String> {
        fs::read_to_string(&self.places.state).ok()
    }
}

const ODD: &str = "{\r\n  // mine\r\n  \"model\" : \"opus\",\r\n\r\n\r\n  \"x\": [1,2 ,3]}";

#[test]
fn untouched_files_are_restored_byte_for_byte() {
    let settings = [
        "",
        "{}",
        "{}\n",
        "{\"a\":1}",
        "{\n\t\"model\": \"opus\"\n}\n",
        "{\r\n  \"env\": {}\r\n}\r\n",
        "// mine\n{ \"permissions\": { \"allow\": [\"Bash(ls)\",] }, }",
        "{\n  \"hooks\": { \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }] }\n}\n",
        "{ \"hooks\": {}, \"mcpServers\": {} }",
        ODD,
    ];
    for settings in std::iter::once(None).chain(settings.map(Some)) {
        let mut machine = TestMachine::new(settings, Some("{\"numStartups\":1}"));
        machine.install("/a/claude-mem", false);
        machine.install("/b/claude-mem", false);
        assert!(machine.settings().unwrap().contains("/b/claude-mem"));
        machine.uninstall();
        assert_eq!(machine.settings().as_deref(), settings);
        assert_eq!(machine.state().as_deref(), Some("{\"numStartups\":1}"));
    }
}

#[test]
fn second_install_changes_nothing() {
    let mut machine = TestMachine::new(Some(ODD), None);
    let first = machine.install("/a/claude-mem", false);
    assert!(first.iter().all(|done| done.changed));
    let (settings, manifest) = (machine.settings(), machine.manifest.clone());
    let second = machine.install("/a/claude-mem", false);
    assert!(second.iter().all(|done| !done.changed));
    assert_eq!((machine.settings(), machine.manifest.clone()), (settings, manifest));
    assert_eq!(fs::read_dir(machine.dir.path().join("copies")).unwrap().count(), 1);
}

#[test]
fn later_user_changes_are_kept() {
    let mut machine = TestMachine::new(None, Some("{}"));
    machine.install("/a/claude-mem", false);
    let edited = machine.settings().unwrap().replacen('{', "{\n  \"theme\": \"dark\",", 1);
    fs::write(&machine.places.settings, edited).unwrap();
    machine.install("/b/claude-mem", false);
    machine.uninstall();
    let left: serde_json::Value = serde_json::from_str(&machine.settings().unwrap()).unwrap();
    assert_eq!(left, serde_json::json!({ "theme": "dark" }));
    assert_eq!(machine.state().as_deref(), Some("{}"));
}

#[test]
fn uninstall_works_without_the_backup() {
    let mut machine = TestMachine::new(Some(ODD), Some("{}"));
    machine.install("/a/claude-mem", false);
    fs::remove_dir_all(machine.dir.path().join("copies")).unwrap();
    let lost = plan_uninstall(&machine.manifest.files[0]).unwrap().unreadable_backup;
    assert!(lost.is_some_and(|lost| lost.contains("copies")));
    machine.uninstall();
    let left = machine.settings().unwrap();
    assert!(left.contains("// mine") && !left.contains("claude-mem"), "{left}");
}

#[test]
fn unparsable_file_prevents_all_changes() {
    for broken in ["{ not json", "[]", "{\"mcpServers\": 3}"] {
        let machine = TestMachine::new(Some("{}"), Some(broken));
        let launch = TestMachine::launch("/a/claude-mem");
        let error = plan_install(&machine.places, &launch, &machine.manifest, false).unwrap_err();
        assert!(error.to_string().contains(".claude.json"), "{error}");
        assert_eq!(machine.settings().as_deref(), Some("{}"));
        assert_eq!(machine.state().as_deref(), Some(broken));
    }
}

#[test]
fn write_failure_rolls_back_other_files() {
    let machine = TestMachine::new(Some(ODD), Some("{}"));
    let launch = TestMachine::launch("/a/claude-mem");
    let plan = plan_install(&machine.places, &launch, &machine.manifest, false).unwrap();
    fs::write(&machine.places.state, "{\"changed\": \"meanwhile\"}").unwrap();
    let error = apply_all(&plan.changes).unwrap_err();
    assert!(matches!(error, ClientFileError::ChangedMeanwhile(_)));
    assert_eq!(machine.settings().as_deref(), Some(ODD));
}

#[test]
fn adopted_program_is_disabled_and_restored() {
    let settings = r#"{"enabledPlugins":{"claude-mem@thedotmack":true}}"#;
    let mut machine = TestMachine::new(Some(settings), None);
    machine.install("/a/claude-mem", false);
    assert!(machine.settings().unwrap().contains(r#""claude-mem@thedotmack":true"#));
    machine.install("/a/claude-mem", true);
    assert!(machine.settings().unwrap().contains(r#""claude-mem@thedotmack":false"#));
    machine.uninstall();
    assert_eq!(machine.settings().as_deref(), Some(settings));
    assert_eq!(machine.state(), None);
}

#[test]
fn adopted_hooks_come_back_although_the_file_has_changed() {
    let settings = r#"{
  "enabledPlugins": { "claude-mem@thedotmack": true },
  "hooks": { "Stop": [{ "hooks": [{ "type": "command", "command": "node /x/claude-mem/scripts/summary-hook.js" }] }] }
}"#;
    let mut machine = TestMachine::new(Some(settings), None);
    machine.install("/a/claude-mem", true);
    // The client rewrites its settings, and a later install finds the changed file.
    let changed = machine.settings().unwrap().replacen('{', "{\n  \"model\": \"opus\",", 1);
    fs::write(&machine.places.settings, changed).unwrap();
    machine.install("/b/claude-mem", false);
    machine.uninstall();
    let left = machine.settings().unwrap();
    let legacy = crate::install::legacy::find_legacy(&left).unwrap();
    assert_eq!(
        (legacy.events, legacy.plugins),
        (vec!["Stop".to_owned()], vec!["claude-mem@thedotmack".to_owned()])
    );
    assert!(left.contains("opus") && !left.contains("/b/claude-mem"), "{left}");
}

/// Hooks of the earlier program in several events, alone and in a group with a hook of the user's.
const MANY_LEGACY_HOOKS: &str = r#"{
  "enabledPlugins": { "claude-mem@thedotmack": true, "other@market": false },
  "hooks": {
    "SessionStart": [
      { "matcher": "startup|clear", "hooks": [
        { "type": "command", "command": "node /x/claude-mem/scripts/context-hook.js", "timeout": 300 },
        { "type": "command", "command": "echo mine" }
      ] },
      { "matcher": "compact", "hooks": [
        { "type": "command", "command": "node /x/claude-mem/scripts/context-hook.js" }
      ] }
    ],
    "PostToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "lint" }] },
      { "matcher": "*", "hooks": [
        { "type": "command", "command": "node /x/claude-mem/scripts/save-hook.js", "timeout": 120 }
      ] }
    ],
    "UserPromptSubmit": [{ "hooks": [{ "type": "command", "command": "node /x/claude-mem/scripts/new-hook.js" }] }],
    "Stop": [{ "hooks": [{ "type": "command", "command": "node /x/claude-mem/scripts/summary-hook.js" }] }]
  }
}"#;

/// The commands of all hooks with their event, matcher and timeout, sorted.
fn all_hooks(settings: &str) -> Vec<String> {
    let settings: serde_json::Value = serde_json::from_str(settings).unwrap();
    let mut found = Vec::new();
    for (event, groups) in settings["hooks"].as_object().unwrap() {
        for group in groups.as_array().unwrap() {
            for hook in group["hooks"].as_array().unwrap() {
                found.push(format!("{event} {} {} {}", group["matcher"], hook["command"], hook["timeout"]));
            }
        }
    }
    found.sort();
    found
}

#[test]
fn every_adopted_hook_comes_back() {
    // As it was, and after the client has rewritten its settings.
    for rewritten in [false, true] {
        let mut machine = TestMachine::new(Some(MANY_LEGACY_HOOKS), None);
        machine.install("/a/claude-mem", true);
        let adopted = machine.settings().unwrap();
        assert!(!adopted.contains("/x/claude-mem/scripts"), "{adopted}");
        assert!(adopted.contains("echo mine") && adopted.contains("lint"), "{adopted}");
        if rewritten {
            let value: serde_json::Value = serde_json::from_str(&adopted).unwrap();
            fs::write(&machine.places.settings, serde_json::to_string(&value).unwrap()).unwrap();
        }
        machine.uninstall();
        let left = machine.settings().unwrap();
        assert_eq!(all_hooks(&left), all_hooks(MANY_LEGACY_HOOKS), "rewritten: {rewritten}");
        let plugins =
            |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap()["enabledPlugins"].clone();
        assert_eq!(plugins(&left), plugins(MANY_LEGACY_HOOKS));
    }
}

#[test]
fn config_dir_variable_is_respected() {
    let env = |name: &str| match name {
        "HOME" => Some("/h".into()),
        "CLAUDE_CONFIG_DIR" => Some("/c".into()),
        _ => None,
    };
    let user = ClientPaths::find(env, None).unwrap();
    assert_eq!(user.settings, Path::new("/c/settings.json"));
    assert_eq!(user.state, Path::new("/c/.claude.json"));
    let project = ClientPaths::find(env, Some("/p".into())).unwrap();
    assert_eq!(project.settings, Path::new("/p/.claude/settings.local.json"));
    assert_eq!(project.state, Path::new("/c/.claude.json"));
}

#[test]
fn failed_rollback_is_reported() {
    let dir = tempfile::tempdir().unwrap();
    let (first, second) = (dir.path().join("first"), dir.path().join("second"));
    fs::write(&first, "0").unwrap();
    fs::write(&second, "somebody else's by now").unwrap();
    let read = |path: &Path| ClientFile::read(path, 100).unwrap();
    let change = |file: ClientFile, after: &str| FileChange {
        part: InstallPart::Hooks,
        file,
        project: None,
        after: Some(after.to_owned()),
        before: None,
        existing_backup: None,
        unreadable_backup: None,
        adopted: LegacyEntries::default(),
    };
    let changes = [
        change(read(&first), "1"),
        // Another program changes the file before it can be rolled back.
        change(read(&first).with_text(Some("1".to_owned())), "2"),
        change(read(&second).with_text(Some("as it was".to_owned())), "ours"),
    ];
    let error = apply_all(&changes).unwrap_err();
    let ClientFileError::PartlyApplied { changed: left, .. } = &error else { panic!("{error}") };
    assert_eq!(left, &[first]);
    assert!(!error.to_string().contains("nothing was changed"), "{error}");
    let error = apply_all(&changes[2..]).unwrap_err();
    assert!(error.to_string().contains("nothing was changed"), "{error}");
}
