use super::*;
use claude_mem_core::config;

fn install(program: Option<&str>, config_dir: Option<&str>) -> ClaudeInstall {
    ClaudeInstall {
        home: "/h".into(),
        program: program.map(PathBuf::from),
        config_dir: config_dir.map(PathBuf::from),
    }
}

fn prepare(install: &ClaudeInstall, json: &str, files: &[&str]) -> Result<ClaudeLaunch, ModelError> {
    let settings = config::from_text(Some(json), |_| None).settings;
    let key = settings.api_key.clone();
    let worker = [("HOME".into(), "/session/home".into()), ("LANG".into(), "C".into())];
    let is_file = |path: &Path| files.iter().any(|file| path == Path::new(file));
    ClaudeLaunch::prepare(install, &settings, &key, &worker, "/data".into(), is_file)
}

fn variable(launch: &ClaudeLaunch, name: &str) -> Option<String> {
    let found = launch.env.iter().find(|(known, _)| known == name);
    found.map(|(_, value)| value.to_string_lossy().into_owned())
}

#[test]
fn program_comes_from_setting_manifest_or_usual_place() {
    let program = |json: &str, recorded: Option<&str>, files: &[&str]| {
        prepare(&install(recorded, None), json, files).map(|launch| launch.program)
    };
    let all = ["/s/claude", "/r/claude", "/h/.local/bin/claude"];
    assert_eq!(
        program(r#"{"claude_program": "/s/claude"}"#, Some("/r/claude"), &all),
        Ok("/s/claude".into())
    );
    assert_eq!(program("{}", Some("/r/claude"), &all), Ok("/r/claude".into()));
    assert_eq!(program("{}", None, &all), Ok("/h/.local/bin/claude".into()));
    for (json, recorded) in [
        (r#"{"claude_program": "s/claude"}"#, Some("/r/claude")),
        (r#"{"claude_program": "/gone/claude"}"#, Some("/r/claude")),
    ] {
        assert!(program(json, recorded, &all).is_err(), "{json}");
    }
    let relative = program("{}", Some("bin/claude"), &["bin/claude"]);
    assert_eq!(relative, Err(ModelError::misconfigured("claude was not found")));
}

#[test]
fn environment_is_made_from_settings_and_manifest() {
    let json = r#"{"base_url": "https://gateway.example", "api_key": "k", "proxy": "http://p:1",
        "claude_variables": ["CLAUDE_CODE_USE_BEDROCK=1", "AWS_PROFILE=a=b"]}"#;
    let launch = prepare(&install(Some("/r/claude"), Some("/c")), json, &["/r/claude"]).unwrap();
    let mut names: Vec<_> = launch.env.iter().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    names.retain(|name| !name.starts_with("DISABLE_") && !name.starts_with("CLAUDE_MEM_"));
    names.sort();
    assert_eq!(
        names,
        [
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "AWS_PROFILE",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "CLAUDE_CODE_MAX_RETRIES",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CONFIG_DIR",
            "HOME",
            "HTTPS_PROXY",
            "LANG",
            "MAX_THINKING_TOKENS",
            "PATH",
        ]
    );
    assert_eq!(variable(&launch, "HOME").unwrap(), "/h");
    assert_eq!(variable(&launch, "AWS_PROFILE").unwrap(), "a=b");
    assert!(variable(&launch, "PATH").unwrap().starts_with("/r:/usr/local/bin:"));
}

#[test]
fn subscription_login_drops_the_api_key() {
    let has_key = |json: &str, config_dir: Option<&str>, login: &[&str]| {
        let files: Vec<&str> = login.iter().copied().chain(["/r/claude"]).collect();
        let launch = prepare(&install(Some("/r/claude"), config_dir), json, &files).unwrap();
        variable(&launch, "ANTHROPIC_API_KEY").is_some()
    };
    let key = r#"{"api_key": "k"}"#;
    assert!(has_key(key, None, &[]), "no login: the key is what they use");
    assert!(!has_key(key, None, &["/h/.claude/.credentials.json"]));
    assert!(!has_key(key, Some("/c"), &["/c/.credentials.json"]));
    let token = r#"{"api_key": "k", "claude_variables": ["CLAUDE_CODE_OAUTH_TOKEN=t"]}"#;
    assert!(!has_key(token, None, &[]));
    let gateway = r#"{"api_key": "k", "base_url": "https://gateway.example"}"#;
    assert!(has_key(gateway, None, &["/h/.claude/.credentials.json"]));
}

#[test]
fn login_does_not_go_to_another_address() {
    let login = ["/r/claude", "/h/.claude/.credentials.json"];
    let json = r#"{"base_url": "https://left-over.example/v1"}"#;
    let launch = prepare(&install(Some("/r/claude"), None), json, &login).unwrap();
    assert_eq!(variable(&launch, "ANTHROPIC_BASE_URL"), None);
}
