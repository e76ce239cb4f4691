use super::*;
use crate::compressor_config::{ConfigSource, ProcessEnv};
use crate::live_compressor::LiveCompressor;
use crate::shared_store::SharedStore;
use claude_mem_core::live_settings::LiveSettings;
use claude_mem_models::model::ClaudeInstall;
use claude_mem_models::trouble::{MODEL_TROUBLE_KEY, ModelTrouble};
use claude_mem_store::testing::scratch;

/// The selected compressor, its notice, and the recorded trouble.
fn chosen(json: &str) -> (String, Option<String>, Option<String>) {
    let scratch = scratch();
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
    let vocabulary = r#"{"types": [{"name": "note", "meaning": "anything"}], "concepts": []}"#;
    std::fs::write(scratch.dir.root().join("words.json"), vocabulary).unwrap();
    std::fs::write(scratch.dir.settings(), json).unwrap();
    let process = ProcessEnv {
        env: vec![("HOME".into(), "/nowhere".into())],
        executable: "/proc/self/exe".into(),
        claude: |_| ClaudeInstall { home: "/nowhere".into(), ..ClaudeInstall::default() },
    };
    let live = Arc::new(LiveSettings::new(scratch.dir.root().to_owned(), |_| None));
    let source = ConfigSource::new(scratch.dir.clone(), live, process);
    let log = claude_mem_store::testing::log(&scratch);
    let compressor = LiveCompressor::start(Arc::clone(&store), source, log);
    let stored = store.with(|store| store.read().meta(MODEL_TROUBLE_KEY)).unwrap();
    let trouble = ModelTrouble::from_json(stored.as_deref()).map(|trouble| trouble.why);
    (format!("{compressor:?}"), compressor.status_warning(Millis(0)), trouble)
}

#[test]
fn heuristics_are_the_default() {
    for json in ["{}", r#"{"provider": "local"}"#, r#"{"provider": "auto", "api_key": "sk-secret"}"#] {
        let (compressor, notice, trouble) = chosen(json);
        assert!(compressor.contains("LocalCompressor"), "{compressor}");
        assert_eq!((notice, trouble), (None, None));
    }
}

#[test]
fn configured_model_is_used_and_hides_its_key() {
    let (compressor, notice, trouble) = chosen(r#"{"provider": "anthropic", "api_key": "sk-secret"}"#);
    assert!(compressor.contains("LlmCompressor"), "{compressor}");
    assert!(!compressor.contains("sk-secret"));
    assert_eq!((notice, trouble), (None, None));
}

#[test]
fn unusable_model_is_recorded() {
    for (json, want) in [
        (r#"{"provider": "anthropic"}"#, "no API key is set"),
        (r#"{"provider": "openai"}"#, "no API key is set"),
        (r#"{"provider": "openai", "api_key_file": "nowhere"}"#, "api_key_file"),
        (r#"{"provider": "claude", "claude_program": "/nowhere/claude"}"#, "claude_program"),
        (r#"{"provider": "openai", "base_url": "http://example.com/v1", "model": "m"}"#, "plain http"),
        (r#"{"provider": "openai", "base_url": "http://127.0.0.1:1/v1"}"#, "no model is set"),
    ] {
        let (compressor, _, trouble) = chosen(json);
        assert!(compressor.contains("LocalCompressor"), "{json}: {compressor}");
        let trouble = trouble.unwrap_or_default();
        assert!(trouble.contains(want), "{json}: {trouble}");
    }
}

#[test]
fn custom_vocabulary_is_loaded_from_data_directory() {
    let (compressor, notice, _) = chosen(r#"{"vocabulary": "words.json"}"#);
    assert!(compressor.contains("\"note\"") && !compressor.contains("bugfix"), "{compressor}");
    assert_eq!(notice, None);
    let (_, notice, _) = chosen(r#"{"vocabulary": "nowhere.json"}"#);
    assert!(notice.unwrap_or_default().contains("nowhere.json"));
}
