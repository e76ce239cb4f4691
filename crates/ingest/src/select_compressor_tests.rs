use super::*;
use claude_mem_core::config;
use claude_mem_store::testing::scratch;

fn chosen(json: &str, env: &[(&str, &str)]) -> (String, Option<String>) {
    let scratch = scratch();
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
    let vocabulary = r#"{"types": [{"name": "note", "meaning": "anything"}], "concepts": []}"#;
    std::fs::write(scratch.dir.root().join("words.json"), vocabulary).unwrap();
    let settings = config::from_text(Some(json), |_| None).settings;
    let around = ProcessEnv {
        env: env.iter().map(|(name, value)| (name.into(), value.into())).collect(),
        executable: "/proc/self/exe".into(),
    };
    let compressor = select_compressor(&store, &settings, &around, &claude_mem_store::testing::log(&scratch));
    (format!("{compressor:?}"), compressor.status_warning(Millis(0)))
}

#[test]
fn heuristics_are_the_default() {
    for json in ["{}", r#"{"provider": "local"}"#, r#"{"provider": "auto"}"#] {
        let (compressor, trouble) = chosen(json, &[("ANTHROPIC_API_KEY", "sk-secret")]);
        assert!(!compressor.starts_with("LlmCompressor"), "{compressor}");
        assert_eq!(trouble, None);
    }
}

#[test]
fn configured_model_is_used_and_hides_its_key() {
    let (compressor, trouble) = chosen(r#"{"provider": "anthropic"}"#, &[("ANTHROPIC_API_KEY", "sk-secret")]);
    assert!(compressor.starts_with("LlmCompressor"), "{compressor}");
    assert!(!compressor.contains("sk-secret"));
    assert_eq!(trouble, None);
}

#[test]
fn unusable_model_is_reported() {
    for (json, want) in [
        (r#"{"provider": "anthropic"}"#, "no key is set"),
        (r#"{"provider": "claude"}"#, "claude was not found"),
        (r#"{"provider": "openai", "base_url": "http://example.com/v1", "model": "m"}"#, "plain http"),
        (r#"{"provider": "openai", "base_url": "http://127.0.0.1:1/v1"}"#, "no model is set"),
        (r#"{"vocabulary": "nowhere.json"}"#, "nowhere.json"),
    ] {
        let (compressor, trouble) = chosen(json, &[("PATH", "/nowhere")]);
        assert!(!compressor.starts_with("LlmCompressor"), "{json}: {compressor}");
        let trouble = trouble.unwrap_or_default();
        assert!(trouble.contains(want), "{json}: {trouble}");
    }
}

#[test]
fn custom_vocabulary_is_loaded_from_data_directory() {
    let (compressor, trouble) = chosen(r#"{"vocabulary": "words.json"}"#, &[]);
    assert!(compressor.contains("\"note\"") && !compressor.contains("bugfix"), "{compressor}");
    assert_eq!(trouble, None);
}
