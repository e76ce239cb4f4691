use super::*;

fn file(text: &str) -> LoadedSettings {
    from_text(Some(text), |_| None)
}

fn warnings(loaded: &LoadedSettings) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

#[test]
fn environment_wins_over_file_over_default() {
    let text = r#"{"context_tokens": 900, "recall_file": false}"#;
    let loaded =
        from_text(Some(text), |name| (name == "CLAUDE_MEM_CONTEXT_TOKENS").then(|| "700".to_owned()));
    assert_eq!(loaded.settings.context_tokens, 700);
    assert!(!loaded.settings.recall_file);
    assert!(loaded.settings.recall_prompt);
    let sources = ["context_tokens", "recall_file", "recall_prompt"]
        .map(|name| loaded.get(key(name).expect("a key")).1);
    assert_eq!(sources, [SettingSource::Environment, SettingSource::File, SettingSource::Default]);
    assert_eq!(warnings(&loaded), [] as [String; 0]);
}

#[test]
fn session_variable_does_not_configure_the_worker() {
    let text = r#"{"provider": "local", "budget_tokens_per_day": 5}"#;
    for (variable, value) in [
        ("CLAUDE_MEM_PROVIDER", "openai"),
        ("CLAUDE_MEM_BASE_URL", "http://127.0.0.1:1/v1"),
        ("CLAUDE_MEM_API_KEY", "k"),
        ("CLAUDE_MEM_MODEL", "m"),
        ("CLAUDE_MEM_VOCABULARY", "words.json"),
        ("CLAUDE_MEM_BUDGET_TOKENS_PER_DAY", "1000"),
        ("CLAUDE_MEM_CLAUDE_PROGRAM", "bin/claude"),
        ("CLAUDE_MEM_PROXY", "http://127.0.0.1:2"),
        ("CLAUDE_MEM_PORT", "4000"),
        ("CLAUDE_MEM_PROMPTS_DAYS_MAX", "1"),
    ] {
        let loaded = from_text(Some(text), |name| (name == variable).then(|| value.to_owned()));
        assert_eq!(loaded.settings, file(text).settings, "{variable}");
        let [warning] = &loaded.warnings[..] else { panic!("{variable}: {:?}", loaded.warnings) };
        assert!(warning.to_string().starts_with(&format!("{variable}: has no effect")), "{warning}");
    }
}

#[test]
fn missing_file_means_defaults() {
    let loaded = from_text(None, |_| None);
    assert_eq!(loaded.settings, Settings::default());
    assert_eq!(loaded.settings.provider, Provider::Auto);
    assert_eq!(loaded.settings.backups_bytes_max, 1 << 30);
}

#[test]
fn unknown_key_is_a_warning_with_suggestion() {
    let loaded = file(r#"{"contex_tokens": 900, "colour": "red", "CLAUDE_MEM_PROT": "1"}"#);
    assert_eq!(
        warnings(&loaded),
        [
            "settings.json: contex_tokens is not a setting; did you mean context_tokens?",
            "settings.json: colour is not a setting",
            "settings.json: CLAUDE_MEM_PROT is not a setting; did you mean port?",
        ]
    );
    assert_eq!(loaded.settings, Settings::default());
}

#[test]
fn bad_value_falls_back_to_next_source() {
    let loaded = from_text(Some(r#"{"context_tokens": 900, "worker": "never"}"#), |name| {
        (name == "CLAUDE_MEM_CONTEXT_TOKENS").then(|| "many".to_owned())
    });
    assert_eq!(loaded.settings.context_tokens, 900);
    assert_eq!(loaded.settings.worker, WorkerStart::Auto);
    assert_eq!(
        warnings(&loaded),
        [
            "settings.json: worker must be one of auto, manual",
            "CLAUDE_MEM_CONTEXT_TOKENS: context_tokens must be 100 to 2400 tokens",
        ]
    );
}

#[test]
fn invalid_json_is_reported_and_environment_counts() {
    for text in ["{", "[]", "\"text\"", "{\"port\": }", "\u{0}"] {
        let loaded =
            from_text(Some(text), |name| (name == "CLAUDE_MEM_CONTEXT_TOKENS").then(|| "700".to_owned()));
        assert!(loaded.file_unreadable, "{text:?}");
        assert_eq!(loaded.settings.context_tokens, 700, "{text:?}");
        assert_eq!(loaded.warnings.len(), 1, "{text:?}");
    }
}

#[test]
fn lenient_json_is_accepted() {
    for text in ["", "  \n", "{}", "\u{feff}{}", "// mine\n{\n  // why\n  \"vectors\": true,\n}\n"] {
        let loaded = file(text);
        assert!(!loaded.file_unreadable, "{text:?}");
        assert_eq!(warnings(&loaded), [] as [String; 0], "{text:?}");
    }
}

#[test]
fn own_name_wins_over_legacy_name() {
    for text in
        [r#"{"port": 1, "CLAUDE_MEM_WORKER_PORT": "2"}"#, r#"{"CLAUDE_MEM_WORKER_PORT": "2", "port": 1}"#]
    {
        assert_eq!(file(text).settings.port, 1, "{text}");
    }
    let older = file(r#"{"CLAUDE_MEM_WORKER_PORT": "37777", "CLAUDE_MEM_LOG_LEVEL": "INFO"}"#);
    assert_eq!(older.settings.port, 37777);
    assert_eq!(warnings(&older), [] as [String; 0]);
}

#[test]
fn direct_name_wins_over_translated_one() {
    let text = r#"{"CLAUDE_MEM_CONTEXT_OBSERVATIONS": "10", "CLAUDE_MEM_CONTEXT_TOKENS": "800"}"#;
    assert_eq!(file(text).settings.context_tokens, 800);
}

#[test]
fn data_dir_in_file_is_a_warning() {
    let loaded = file(r#"{"CLAUDE_MEM_DATA_DIR": "/elsewhere"}"#);
    assert_eq!(
        warnings(&loaded),
        ["settings.json: CLAUDE_MEM_DATA_DIR has no effect in this file; set it in the \
             environment"]
    );
}

#[test]
fn secrets_are_never_shown() {
    let loaded = file(r#"{"api_key": "canary-5521"}"#);
    assert_eq!(loaded.settings.api_key.expose(), "canary-5521");
    let (value, _) = loaded.get(key("api_key").expect("a key"));
    for shown in [format!("{loaded:?}"), value.to_string(), value.to_json().to_string()] {
        assert!(!shown.contains("canary"), "{shown}");
    }
}

#[test]
fn unknown_variable_is_reported() {
    let names =
        ["HOME", "CLAUDE_MEM_PORT", "CLAUDE_MEM_DATA_DIR", "CLAUDE_MEM_WORKER_HOST", "CLAUDE_MEM_VECTOR"];
    let found = unknown_variables(names.into_iter());
    assert_eq!(
        found.iter().map(ToString::to_string).collect::<Vec<_>>(),
        ["CLAUDE_MEM_VECTOR: is not a setting; did you mean vectors?"]
    );
}

#[test]
fn reference_page_is_up_to_date() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
    let page = std::fs::read_to_string(path).unwrap_or_default();
    assert!(
        page == reference_markdown(),
        "docs/configuration.md is out of date: cargo run --bin claude-mem config reference > docs/configuration.md"
    );
}

#[test]
fn unreadable_legacy_value_is_reported() {
    let loaded = file(r#"{"CLAUDE_MEM_EXCLUDED_PROJECTS": {"a": 1}}"#);
    assert!(loaded.has_unreadable_ignore_rules());
    let [warning] = &loaded.warnings[..] else { panic!("{:?}", loaded.warnings) };
    assert!(warning.message.starts_with("CLAUDE_MEM_EXCLUDED_PROJECTS must be"));
}
