use super::*;
use crate::config;
use crate::serve::testing::scratch;

fn chosen(json: &str, env: &[(&str, &str)]) -> (String, Option<String>) {
    let scratch = scratch();
    let store = Arc::new(SharedStore::open(&scratch.dir, Millis(0)).unwrap());
    let vocabulary = r#"{"types": [{"name": "note", "meaning": "anything"}], "concepts": []}"#;
    std::fs::write(scratch.dir.root().join("words.json"), vocabulary).unwrap();
    let settings = config::from_text(Some(json), |_| None).settings;
    let around = Surroundings {
        env: env
            .iter()
            .map(|(name, value)| (name.into(), value.into()))
            .collect(),
        executable: "/proc/self/exe".into(),
    };
    let compressor = choose(
        &store,
        &settings,
        &around,
        &crate::serve::testing::log(&scratch),
    );
    (format!("{compressor:?}"), compressor.trouble(Millis(0)))
}

#[test]
fn nothing_but_the_distiller_without_a_word_from_the_user() {
    for json in ["{}", r#"{"provider": "local"}"#, r#"{"provider": "auto"}"#] {
        let (compressor, trouble) = chosen(json, &[("ANTHROPIC_API_KEY", "sk-secret")]);
        assert!(compressor.starts_with("Distiller"), "{compressor}");
        assert_eq!(trouble, None);
    }
}

#[test]
fn a_model_that_was_asked_for_is_used_and_shows_no_key() {
    let (compressor, trouble) = chosen(
        r#"{"provider": "anthropic"}"#,
        &[("ANTHROPIC_API_KEY", "sk-secret")],
    );
    assert!(compressor.starts_with("Modelled"), "{compressor}");
    assert!(!compressor.contains("sk-secret"));
    assert_eq!(trouble, None);
}

#[test]
fn what_cannot_be_had_is_said() {
    for (json, want) in [
        (r#"{"provider": "anthropic"}"#, "no key is set"),
        (r#"{"provider": "claude"}"#, "claude was not found"),
        (
            r#"{"provider": "openai", "base_url": "http://example.com/v1", "model": "m"}"#,
            "plain http",
        ),
        (
            r#"{"provider": "openai", "base_url": "http://127.0.0.1:1/v1"}"#,
            "no model is named",
        ),
        (r#"{"vocabulary": "nowhere.json"}"#, "nowhere.json"),
    ] {
        let (compressor, trouble) = chosen(json, &[("PATH", "/nowhere")]);
        assert!(compressor.starts_with("Distiller"), "{json}: {compressor}");
        let trouble = trouble.unwrap_or_default();
        assert!(trouble.contains(want), "{json}: {trouble}");
    }
}

#[test]
fn words_of_ones_own_are_read_from_the_data_directory() {
    let (compressor, trouble) = chosen(r#"{"vocabulary": "words.json"}"#, &[]);
    assert!(
        compressor.contains("\"note\"") && !compressor.contains("bugfix"),
        "{compressor}"
    );
    assert_eq!(trouble, None);
}
