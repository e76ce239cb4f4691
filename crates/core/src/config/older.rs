//! Settings of the legacy program of the same name, where they mean the same as ours.
//!
//! Its `settings.json` is in the same place, uses upper-case `CLAUDE_MEM_…` names and writes every
//! value as text. Settings without an equivalent are left alone without a warning: the file is the
//! user's, and the other program may still read it.

use super::keys::{KEYS, SettingKey};

const PREFIX: &str = "CLAUDE_MEM_";
const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";
/// The cost of one index line, to convert a number of observations into a token budget.
const TOKENS_PER_LINE: u64 = 30;

/// Legacy names without effect here. A name ending in `_` is a prefix.
const WITHOUT_EFFECT: &[&str] = &[
    "CHROMA_",
    "CLAUDE_AUTH_METHOD",
    "CLAUDE_CODE_PATH",
    "CONTEXT_FULL_COUNT",
    "CONTEXT_FULL_FIELD",
    "CONTEXT_OBSERVATION_CONCEPTS",
    "CONTEXT_OBSERVATION_TYPES",
    "CONTEXT_SESSION_COUNT",
    "CONTEXT_SHOW_",
    "DATA_DIR",
    "FOLDER_",
    "GEMINI_",
    "LOG_LEVEL",
    "MAX_CONCURRENT_AGENTS",
    "OPENROUTER_",
    "PYTHON_VERSION",
    "RUNTIME",
    "SEMANTIC_INJECT",
    "TELEGRAM_",
    "TIER_",
    "TRANSCRIPTS_",
    "WELCOME_",
    "WORKER_HOST",
];

/// The key for a `CLAUDE_MEM_…` variable, by its own name or a legacy one.
pub(super) fn find_key(variable: &str) -> Option<&'static SettingKey> {
    let name = variable.strip_prefix(PREFIX)?;
    KEYS.iter().find(|key| {
        key.name.eq_ignore_ascii_case(name) && name.chars().all(|c| !c.is_ascii_lowercase())
            || key.legacy_names.contains(&name)
    })
}

/// Whether the name belongs to the legacy program and is ignored without a warning.
pub(super) fn is_legacy_name(variable: &str) -> bool {
    // Two legacy names have no prefix.
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    matches!(name, "CONTEXT_OBSERVATIONS" | "MODE")
        || WITHOUT_EFFECT
            .iter()
            .any(|known| name == *known || (known.ends_with('_') && name.starts_with(known)))
}

/// Our values for the legacy settings that `find` looks up.
pub(super) fn translate(find: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
    let get = |name: &str| find(&format!("{PREFIX}{name}")).filter(|text| !text.is_empty());
    let mut ours = Vec::new();
    for key in KEYS {
        let by_any_name = get(&key.name.to_ascii_uppercase())
            .or_else(|| key.legacy_names.iter().find_map(|older| get(older)));
        if let Some(text) = by_any_name {
            ours.push((key.name, text));
        }
    }
    if let Some(count) = get("CONTEXT_OBSERVATIONS").and_then(|text| text.parse::<u64>().ok()) {
        let tokens = count.saturating_mul(TOKENS_PER_LINE).clamp(100, 2_400);
        ours.push(("context_tokens", tokens.to_string()));
    }
    // Its modes are named `code`, or `code--ja` for Japanese.
    if let Some((_, language)) = get("MODE").as_deref().and_then(|mode| mode.split_once("--")) {
        ours.push(("language", language.to_owned()));
    }
    // Each legacy provider has its own model and key; ours share one of each.
    let prefix = match get("PROVIDER").as_deref() {
        Some("gemini") => "GEMINI",
        Some("openrouter") => "OPENROUTER",
        _ => return ours,
    };
    ours.retain(|(key, _)| !matches!(*key, "provider" | "model"));
    if prefix == "GEMINI" {
        ours.push(("provider", "gemini".to_owned()));
    } else {
        ours.push(("provider", "openai".to_owned()));
        ours.push(("base_url", OPENROUTER_URL.to_owned()));
    }
    ours.extend(get(&format!("{prefix}_MODEL")).map(|model| ("model", model)));
    ours.extend(get(&format!("{prefix}_API_KEY")).map(|key| ("api_key", key)));
    ours
}

#[cfg(test)]
#[path = "older_tests.rs"]
mod tests;
