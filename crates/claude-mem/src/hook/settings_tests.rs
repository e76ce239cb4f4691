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
fn the_defaults_hold_without_a_file() {
    let settings = with(None, &[]);
    assert!(settings.skips("TodoWrite"));
    assert!(settings.skips("Grep"));
    assert!(!settings.skips("Bash"));
    assert!(!settings.skips("AskUserQuestion"));
    assert!(!settings.ignores_project(&["app"], "/home/me/app", "/home/me"));
    assert!(settings.starts_worker());
}

#[test]
fn a_file_or_a_variable_changes_them() {
    for settings in [
        with(Some(r#"{"skip_tools": ["Bash", "mcp__x__*"]}"#), &[]),
        with(None, &[("CLAUDE_MEM_SKIP_TOOLS", "Bash,mcp__x__*")]),
    ] {
        assert!(settings.skips("Bash"));
        assert!(settings.skips("mcp__x__search"));
        assert!(!settings.skips("TodoWrite"));
    }
    assert!(!with(Some(r#"{"worker": "manual"}"#), &[]).starts_worker());
}

#[test]
fn a_project_is_ignored_by_name_by_remote_or_by_place() {
    for pattern in [
        "app",
        "github.com/me/*",
        "~/work",
        "/home/me/**",
        "work/app",
    ] {
        let settings = with(None, &[("CLAUDE_MEM_IGNORE_PROJECTS", pattern)]);
        let names = ["app", "github.com/me/app"];
        assert!(
            settings.ignores_project(&names, "/home/me/work/app", "/home/me"),
            "{pattern}"
        );
        assert!(
            !settings.ignores_project(&["other"], "/srv/other", "/home/me"),
            "{pattern}"
        );
    }
}

#[test]
fn a_path_is_ignored_wherever_it_lies() {
    let settings = with(Some(r#"{"ignore_paths": "*.pem,secrets"}"#), &[]);
    assert!(settings.ignores_path("/x/a.pem", ""));
    assert!(settings.ignores_path("/x/secrets/a", ""));
    assert!(settings.ignores_project(&["x"], "/x/secrets", ""));
    assert!(!settings.ignores_path("/x/a.rs", ""));
}

#[test]
fn a_broken_file_ignores_everything_only_if_it_meant_to_ignore_something() {
    assert!(with(Some(r#"{"ignore_projects": ["x"#), &[]).ignore_everything);
    assert!(with(Some(r#"{"CLAUDE_MEM_EXCLUDED_PROJECTS": "x"#), &[]).ignore_everything);
    let broken = with(Some(r#"{"port": "#), &[]);
    assert!(!broken.ignore_everything);
    assert!(broken.skips("TodoWrite"));
}

#[test]
fn rules_in_the_environment_are_known_to_this_session_alone() {
    assert!(with(None, &[("CLAUDE_MEM_IGNORE_PATHS", "*.pem")]).own_rules);
    assert!(!with(Some(r#"{"ignore_paths": "*.pem"}"#), &[]).own_rules);
    let manual = with(None, &[("CLAUDE_MEM_WORKER", "manual")]);
    assert!(!manual.own_rules && !manual.starts_worker());
}

#[test]
fn a_rule_that_cannot_be_read_ignores_everything() {
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
fn a_settings_file_that_is_a_link_to_nowhere_ignores_everything() {
    let temp = tempfile::tempdir().unwrap();
    let dir = DataDir::new(temp.path());
    let kept = temp.path().join("dotfiles.json");
    std::os::unix::fs::symlink(&kept, dir.settings()).unwrap();
    assert!(HookSettings::load(&dir, |_| None).ignore_everything);
    std::fs::write(&kept, r#"{"skip_tools": ["Bash"]}"#).unwrap();
    let settings = HookSettings::load(&dir, |_| None);
    assert!(!settings.ignore_everything && settings.skips("Bash"));
}

#[test]
fn a_rule_of_the_environment_that_is_no_text_ignores_everything() {
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
