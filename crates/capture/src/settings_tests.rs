use super::*;

fn with(text: Option<&str>, vars: &[(&str, &str)]) -> HookSettings {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path());
    if let Some(text) = text {
        std::fs::write(dir.settings(), text).unwrap();
    }
    HookSettings::load(&dir, |name| {
        let found = vars.iter().find(|(known, _)| *known == name);
        found.map(|(_, value)| (*value).to_owned())
    })
}

#[test]
fn defaults_apply_without_a_file() {
    let settings = with(None, &[]);
    assert!(settings.skips_tool("TodoRead"));
    assert!(settings.skips_tool("Grep"));
    assert!(!settings.skips_tool("Bash"));
    assert!(!settings.skips_tool("AskUserQuestion"));
    assert!(!settings.ignores_project(&["app"], "/home/me/app", "/home/me"));
    assert!(settings.may_start_worker());
}

#[test]
fn file_or_variable_overrides_defaults() {
    for settings in [
        with(Some(r#"{"skip_tools": ["Bash", "mcp__x__*"]}"#), &[]),
        with(None, &[("CLAUDE_MEM_SKIP_TOOLS", "Bash,mcp__x__*")]),
    ] {
        assert!(settings.skips_tool("Bash"));
        assert!(settings.skips_tool("mcp__x__search"));
        assert!(!settings.skips_tool("TodoRead"));
    }
    assert!(!with(Some(r#"{"worker": "manual"}"#), &[]).may_start_worker());
}

#[test]
fn project_is_ignored_by_name_remote_or_path() {
    for pattern in ["app", "github.com/me/*", "~/work", "/home/me/**", "work/app"] {
        let settings = with(None, &[("CLAUDE_MEM_IGNORE_PROJECTS", pattern)]);
        let names = ["app", "github.com/me/app"];
        assert!(settings.ignores_project(&names, "/home/me/work/app", "/home/me"), "{pattern}");
        assert!(!settings.ignores_project(&["other"], "/srv/other", "/home/me"), "{pattern}");
    }
}

#[test]
fn path_is_ignored_in_any_directory() {
    let settings = with(Some(r#"{"ignore_paths": "*.pem,secrets"}"#), &[]);
    assert!(settings.ignores_path("/x/a.pem", ""));
    assert!(settings.ignores_path("/x/secrets/a", ""));
    assert!(settings.ignores_project(&["x"], "/x/secrets", ""));
    assert!(!settings.ignores_path("/x/a.rs", ""));
}

#[test]
fn malformed_file_with_ignore_rules_ignores_everything() {
    assert!(with(Some(r#"{"ignore_projects": ["x"#), &[]).ignore_everything);
    assert!(with(Some(r#"{"CLAUDE_MEM_EXCLUDED_PROJECTS": "x"#), &[]).ignore_everything);
    let broken = with(Some(r#"{"port": "#), &[]);
    assert!(!broken.ignore_everything);
    assert!(broken.skips_tool("TodoRead"));
}

#[test]
fn environment_rules_are_session_rules() {
    assert!(with(None, &[("CLAUDE_MEM_IGNORE_PATHS", "*.pem")]).has_session_rules);
    assert!(!with(Some(r#"{"ignore_paths": "*.pem"}"#), &[]).has_session_rules);
    let manual = with(None, &[("CLAUDE_MEM_WORKER", "manual")]);
    assert!(!manual.has_session_rules && !manual.may_start_worker());
}

#[test]
fn unreadable_rule_ignores_everything() {
    for text in [
        r#"{"ignore_projects": ["secret", {"path": "~/private"}]}"#,
        r#"{"ignore_paths": {"a": 1}}"#,
        r#"{"CLAUDE_MEM_EXCLUDED_PROJECTS": {"a": 1}}"#,
    ] {
        assert!(with(Some(text), &[]).ignore_everything, "{text}");
    }
    for text in [
        r#"{"ignore_projects": null}"#,
        r#"{"ignore_projects": ["secret"], "CLAUDE_MEM_EXCLUDED_PROJECTS": {}}"#,
        r#"{"skip_tools": {"a": 1}}"#,
    ] {
        assert!(!with(Some(text), &[]).ignore_everything, "{text}");
    }
}

#[test]
fn dangling_settings_link_ignores_everything() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path());
    let kept = temp.path().join("dotfiles.json");
    std::os::unix::fs::symlink(&kept, dir.settings()).unwrap();
    assert!(HookSettings::load(&dir, |_| None).ignore_everything);
    std::fs::write(&kept, r#"{"skip_tools": ["Bash"]}"#).unwrap();
    let settings = HookSettings::load(&dir, |_| None);
    assert!(!settings.ignore_everything && settings.skips_tool("Bash"));
}

#[test]
fn non_utf8_rule_ignores_everything() {
    use std::os::unix::ffi::OsStringExt as _;
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path());
    let with = |known: &'static str| {
        let garbled = move || OsString::from_vec(vec![b'a', 0xff]);
        HookSettings::load_os(&dir, move |name| (name == known).then(garbled))
    };
    assert!(with("CLAUDE_MEM_IGNORE_PATHS").ignore_everything);
    assert!(!with("CLAUDE_MEM_CONTEXT").ignore_everything);
}
