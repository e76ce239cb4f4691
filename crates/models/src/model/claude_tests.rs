use super::*;

fn env_of(of: &[(&str, &str)], keep_api_key: bool) -> Vec<(String, String)> {
    let of = of.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
    let text = |text: OsString| text.into_string().unwrap();
    let env = compressor_environment(of, keep_api_key).unwrap();
    env.into_iter().map(|(name, value)| (text(name), text(value))).collect()
}

#[test]
fn client_variables_are_removed() {
    let env = env_of(
        &[
            ("PATH", "/bin"),
            ("HOME", "/home/user"),
            ("CLAUDECODE", "1"),
            ("CLAUDE_CODE_SESSION_ID", "x"),
            ("CLAUDE_CODE_ENTRYPOINT", "cli"),
            ("CLAUDE_CODE_MESSAGING_TOKEN", "x"),
            ("CLAUDE_PROJECT_DIR", "/p"),
            ("CLAUDE_PLUGIN_ROOT", "/p"),
            ("CLAUDE_ENV_FILE", "/p"),
            ("CLAUDE_CONFIG_DIR", "/home/user/.claude-work"),
            ("CLAUDE_CODE_OAUTH_TOKEN", "t"),
            ("CLAUDE_CODE_USE_BEDROCK", "1"),
            ("MAX_THINKING_TOKENS", "31999"),
            ("ANTHROPIC_API_KEY", "k"),
        ],
        false,
    );
    let names: Vec<&str> = env.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(
        names,
        [
            "PATH",
            "HOME",
            "CLAUDE_CONFIG_DIR",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            COMPRESSOR_MARKER,
            "MAX_THINKING_TOKENS",
            "CLAUDE_CODE_MAX_RETRIES",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC",
            "DISABLE_AUTOUPDATER",
            "DISABLE_TELEMETRY",
            "DISABLE_ERROR_REPORTING",
        ]
    );
    assert!(env.contains(&("MAX_THINKING_TOKENS".into(), "0".into())));
}

#[test]
fn api_key_is_kept_only_on_request() {
    let has_key =
        |keep| env_of(&[("ANTHROPIC_API_KEY", "k")], keep).iter().any(|(n, _)| n == "ANTHROPIC_API_KEY");
    assert!(has_key(true));
    assert!(!has_key(false));
}

#[test]
fn compressor_does_not_nest() {
    let env = [(OsString::from(COMPRESSOR_MARKER), OsString::from("1"))];
    assert!(matches!(compressor_environment(env, true), Err(ModelError::Misconfigured { .. })));
}

#[test]
fn side_requests_are_billed() {
    let result = json!({"modelUsage": {
        "claude-haiku-4-5": {"inputTokens": 100, "outputTokens": 7, "cacheReadInputTokens": 20, "costUSD": 0.1},
        "claude-sonnet-4-5": {"inputTokens": 3_000, "outputTokens": 1, "cacheCreationInputTokens": 5},
    }});
    assert_eq!(total_usage(&result), Some(TokenUsage { input: 3_125, output: 8 }));
    assert_eq!(total_usage(&json!({"modelUsage": {}})), None);
    assert_eq!(total_usage(&json!({})), None);
}
