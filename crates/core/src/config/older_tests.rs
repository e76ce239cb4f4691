use super::*;

fn ours(file: &[(&str, &str)]) -> Vec<(&'static str, String)> {
    translate(|name| file.iter().find(|(known, _)| *known == name).map(|(_, text)| (*text).to_owned()))
}

#[test]
fn equivalent_legacy_settings_are_translated() {
    let found = ours(&[
        ("CLAUDE_MEM_MODEL", "claude-haiku-4-5"),
        ("CLAUDE_MEM_PROVIDER", "claude"),
        ("CLAUDE_MEM_CONTEXT_OBSERVATIONS", "50"),
        ("CLAUDE_MEM_WORKER_PORT", "37777"),
        ("CLAUDE_MEM_SKIP_TOOLS", "Skill,TodoWrite"),
        ("CLAUDE_MEM_EXCLUDED_PROJECTS", "secret,/tmp/**"),
        ("CLAUDE_MEM_MODE", "code--ja"),
        ("CLAUDE_MEM_LOG_LEVEL", "INFO"),
    ]);
    let found: Vec<_> = found.iter().map(|(k, v)| (*k, v.as_str())).collect();
    assert_eq!(
        found,
        [
            ("skip_tools", "Skill,TodoWrite"),
            ("ignore_projects", "secret,/tmp/**"),
            ("provider", "claude"),
            ("model", "claude-haiku-4-5"),
            ("port", "37777"),
            ("context_tokens", "1500"),
            ("language", "ja"),
        ]
    );
}

#[test]
fn legacy_provider_brings_its_model_and_key() {
    let found = ours(&[
        ("CLAUDE_MEM_MODEL", "claude-haiku-4-5"),
        ("CLAUDE_MEM_PROVIDER", "openrouter"),
        ("CLAUDE_MEM_OPENROUTER_MODEL", "some/model"),
        ("CLAUDE_MEM_OPENROUTER_API_KEY", "k"),
        ("CLAUDE_MEM_GEMINI_API_KEY", "of no use"),
    ]);
    let found: Vec<_> = found.iter().map(|(k, v)| (*k, v.as_str())).collect();
    assert_eq!(
        found,
        [("provider", "openai"), ("base_url", OPENROUTER_URL), ("model", "some/model"), ("api_key", "k"),]
    );
}

#[test]
fn legacy_observation_count_is_clamped() {
    for (count, want) in [("0", "100"), ("1", "100"), ("99999999999999999999", "")] {
        let found = ours(&[("CLAUDE_MEM_CONTEXT_OBSERVATIONS", count)]);
        let tokens = found.first().map_or("", |(_, v)| v.as_str());
        assert_eq!(tokens, want, "{count}");
    }
}

#[test]
fn legacy_names_without_effect_are_known() {
    for known in [
        "CLAUDE_MEM_CHROMA_HOST",
        "CLAUDE_MEM_CONTEXT_SHOW_READ_TOKENS",
        "CLAUDE_MEM_MODE",
        "CLAUDE_CODE_PATH",
    ] {
        assert!(is_legacy_name(known), "{known}");
    }
    for stranger in ["CLAUDE_MEM_CONTEXT_TOKNES", "context_tokens", "CHROMA"] {
        assert!(!is_legacy_name(stranger), "{stranger}");
    }
}

#[test]
fn variables_are_upper_case_only() {
    assert_eq!(find_key("CLAUDE_MEM_PORT").map(|k| k.name), Some("port"));
    assert_eq!(find_key("CLAUDE_MEM_WORKER_PORT").map(|k| k.name), Some("port"));
    assert!(find_key("CLAUDE_MEM_port").is_none());
    assert!(find_key("PORT").is_none());
}
