use super::*;
use claude_mem_core::config;

fn settings(json: &str) -> Settings {
    config::from_text(Some(json), |_| None).settings
}

fn environment_with_keys(name: &str) -> Option<String> {
    name.ends_with("_API_KEY").then(|| format!("from {name}"))
}

fn choice(json: &str) -> Option<ProviderConfig> {
    ProviderConfig::from_settings(&settings(json), false, &environment_with_keys)
}

#[test]
fn no_provider_without_a_setting() {
    assert_eq!(choice("{}"), None);
    assert_eq!(choice(r#"{"provider": "local"}"#), None);
    let auto = ProviderConfig::from_settings(&settings("{}"), true, &|_| None).unwrap();
    assert_eq!((auto.provider(), auto.model()), ("claude", "claude-haiku-4-5"));
}

#[test]
fn environment_key_goes_to_its_own_service_only() {
    for (json, key) in [
        (r#"{"provider": "anthropic"}"#, "from ANTHROPIC_API_KEY"),
        (r#"{"provider": "openai"}"#, "from OPENAI_API_KEY"),
        (r#"{"provider": "openai", "base_url": "https://api.openai.com/v1/"}"#, "from OPENAI_API_KEY"),
        (r#"{"provider": "gemini"}"#, "from GEMINI_API_KEY"),
        (r#"{"provider": "openai", "base_url": "https://openrouter.ai/api/v1"}"#, ""),
        (r#"{"provider": "openai", "base_url": "http://127.0.0.1:11434/v1"}"#, ""),
        (r#"{"provider": "openai", "base_url": "https://openrouter.ai/api/v1", "api_key": "mine"}"#, "mine"),
        (r#"{"provider": "anthropic", "api_key": " mine "}"#, "mine"),
        (r#"{"provider": "claude"}"#, ""),
    ] {
        assert_eq!(choice(json).unwrap().key.expose(), key, "{json}");
    }
}

#[test]
fn custom_service_needs_a_model_setting() {
    let named =
        choice(r#"{"provider": "openai", "base_url": "http://127.0.0.1:11434/v1", "model": "llama3"}"#);
    assert_eq!(named.unwrap().model(), "llama3");
    let unnamed = choice(r#"{"provider": "openai", "base_url": "http://127.0.0.1:11434/v1"}"#);
    assert_eq!(unnamed.unwrap().model(), "");
}

#[test]
fn debug_output_hides_the_key() {
    let shown = format!("{:?}", choice(r#"{"provider": "anthropic", "api_key": "sk-secret"}"#));
    assert!(!shown.contains("sk-secret"), "{shown}");
}

fn find(env: &[(&str, &str)], files: &[&str]) -> Result<ClaudeLaunch, ModelError> {
    let env = env.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect();
    ClaudeLaunch::find(env, "/data".into(), |path| files.iter().any(|file| path == Path::new(file)))
}

#[test]
fn client_is_found_in_usual_places() {
    let env = [("PATH", "/a:relative:/b"), ("HOME", "/home/user")];
    let program = |files: &[&str]| find(&env, files).map(|launch| launch.program);
    assert_eq!(program(&["/b/claude"]), Ok("/b/claude".into()));
    assert_eq!(program(&["/home/user/.claude/local/claude"]), Ok("/home/user/.claude/local/claude".into()));
    assert_eq!(program(&["relative/claude"]), Err(ModelError::misconfigured("claude was not found")));
}

#[test]
fn subscription_login_drops_the_api_key() {
    let has_key = |more: &[(&str, &str)], files: &[&str]| {
        let mut env = vec![("PATH", "/b"), ("HOME", "/h"), ("ANTHROPIC_API_KEY", "k")];
        env.extend(more);
        let files: Vec<&str> = files.iter().copied().chain(["/b/claude"]).collect();
        find(&env, &files).unwrap().env.iter().any(|(name, _)| name == "ANTHROPIC_API_KEY")
    };
    assert!(has_key(&[], &[]), "no login: the key is what they use");
    assert!(!has_key(&[], &["/h/.claude/.credentials.json"]));
    assert!(!has_key(&[("CLAUDE_CONFIG_DIR", "/c")], &["/c/.credentials.json"]));
    assert!(!has_key(&[("CLAUDE_CODE_OAUTH_TOKEN", "t")], &[]));
    let gateway = [("ANTHROPIC_BASE_URL", "https://gateway.example")];
    assert!(has_key(&gateway, &["/h/.claude/.credentials.json"]));
}
