//! The settings of the earlier program of this name, where they mean the same as ours.
//!
//! Its `settings.json` stands in the same place, holds upper-case `CLAUDE_MEM_…` names and writes
//! every value as text. What means nothing here is left alone and not complained about: the file
//! is the user's, and the other program may still read it.

use super::keys::{KEYS, Key};

const PREFIX: &str = "CLAUDE_MEM_";
const OPENROUTER_URL: &str = "https://openrouter.ai/api/v1";
/// What one line of our index costs, so that a count of observations becomes a size.
const TOKENS_PER_LINE: u64 = 30;

/// Names that are understood to belong to the other program and change nothing in ours. A name
/// ending in `_` covers all that begin with it.
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

/// The key that `CLAUDE_MEM_…` names, by its own name or by an older one.
pub(super) fn key_of(variable: &str) -> Option<&'static Key> {
    let name = variable.strip_prefix(PREFIX)?;
    KEYS.iter().find(|key| {
        key.name.eq_ignore_ascii_case(name) && name.chars().all(|c| !c.is_ascii_lowercase())
            || key.older.contains(&name)
    })
}

/// Whether the name is one of the other program's that we neither need nor mind.
pub(super) fn is_known(variable: &str) -> bool {
    // Two of its names go without the prefix.
    let name = variable.strip_prefix(PREFIX).unwrap_or(variable);
    matches!(name, "CONTEXT_OBSERVATIONS" | "MODE")
        || WITHOUT_EFFECT
            .iter()
            .any(|known| name == *known || (known.ends_with('_') && name.starts_with(known)))
}

/// Our values for what the other program's file says. `find` looks a name up in it.
pub(super) fn translate(find: impl Fn(&str) -> Option<String>) -> Vec<(&'static str, String)> {
    let get = |name: &str| find(&format!("{PREFIX}{name}")).filter(|text| !text.is_empty());
    let mut ours = Vec::new();
    for key in KEYS {
        let by_any_name = get(&key.name.to_ascii_uppercase())
            .or_else(|| key.older.iter().find_map(|older| get(older)));
        if let Some(text) = by_any_name {
            ours.push((key.name, text));
        }
    }
    if let Some(count) = get("CONTEXT_OBSERVATIONS").and_then(|text| text.parse::<u64>().ok()) {
        let tokens = count.saturating_mul(TOKENS_PER_LINE).clamp(100, 2_400);
        ours.push(("context_tokens", tokens.to_string()));
    }
    // Its modes are named `code`, or `code--ja` for Japanese.
    if let Some((_, language)) = get("MODE")
        .as_deref()
        .and_then(|mode| mode.split_once("--"))
    {
        ours.push(("language", language.to_owned()));
    }
    // Each of its providers has a model and a key of its own; ours has one of each.
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
