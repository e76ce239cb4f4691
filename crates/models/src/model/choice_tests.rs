use super::*;
use claude_mem_core::config;

fn settings(json: &str) -> Settings {
    config::from_text(Some(json), |_| None).settings
}

fn choice(json: &str) -> Option<ProviderConfig> {
    let settings = settings(json);
    let key = settings.api_key.clone();
    ProviderConfig::from_settings(&settings, key)
}

#[test]
fn no_provider_without_a_setting() {
    assert_eq!(choice("{}"), None);
    assert_eq!(choice(r#"{"provider": "local"}"#), None);
    assert_eq!(choice(r#"{"provider": "auto", "api_key": "k"}"#), None);
    let claude = choice(r#"{"provider": "claude"}"#).unwrap();
    assert_eq!((claude.provider(), claude.model()), ("claude", "claude-haiku-4-5"));
}

#[test]
fn missing_part_is_named() {
    for (json, missing) in [
        (r#"{"provider": "openai"}"#, Some("no API key is set")),
        (r#"{"provider": "anthropic"}"#, Some("no API key is set")),
        (r#"{"provider": "gemini", "api_key": "k"}"#, None),
        (r#"{"provider": "openai", "base_url": "http://127.0.0.1:11434/v1"}"#, Some("no model is set")),
        (r#"{"provider": "openai", "base_url": "http://127.0.0.1:11434/v1", "model": "m"}"#, None),
        (r#"{"provider": "claude"}"#, None),
    ] {
        let found = choice(json).unwrap().missing_part().map(|part| part.what);
        assert_eq!(found, missing, "{json}");
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
