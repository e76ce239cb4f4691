//! Classifies errors of the Claude Code client. Most of them are prose for people, so phrases are
//! matched; the client's text is never passed on.

use crate::limits::MODEL_WAIT_SECONDS_MAX;
use std::time::Duration;

use serde_json::{Value, json};

use super::conversation::{ChildConversation, ConversationEnd};
use super::error::ModelError;
use super::fault::HttpFault;
use claude_mem_core::clock::Millis;

/// Classifies a turn that ended with `is_error`.
pub(super) fn classify_result(result: &Value, now: Millis) -> ModelError {
    let text = result["result"].as_str().unwrap_or_default();
    let errors = result["errors"].to_string();
    let words = format!("{text} {errors}").to_ascii_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| words.contains(phrase));
    let status = result["api_error_status"].as_u64().and_then(|status| u16::try_from(status).ok());
    if says(&["/login", "invalid api key", "oauth token", "not logged in"]) {
        return ModelError::Auth { why: "claude is not logged in".into() };
    }
    if says(&["usage limit", "limit reached", "hit your limit", "credit balance"]) {
        let why = "claude's usage limit is reached".into();
        return ModelError::Quota { after: time_until_reset(text, now), why };
    }
    if says(&["prompt is too long"]) {
        return ModelError::TooLong;
    }
    match status {
        Some(status) => {
            let body = &json!({"error": {"type": result["api_error_type"], "message": text}});
            HttpFault { status, retry_after: None, body, now }.classify()
        }
        None if says(&["connection", "fetch failed", "enotfound", "econnrefused"]) => {
            ModelError::unreachable("claude cannot reach its service")
        }
        None => ModelError::Retry { after: None, why: "claude reports an error".into() },
    }
}

/// Time until the limit resets: `…limit reached|1760000000` names the Unix second.
fn time_until_reset(text: &str, now: Millis) -> Option<Duration> {
    let (_, at) = text.split_once('|')?;
    let digits = at.trim().split(|c: char| !c.is_ascii_digit()).next()?;
    let remaining = digits.parse::<i64>().ok()? - now.0 / 1_000;
    let seconds = u64::try_from(remaining).ok()?.min(MODEL_WAIT_SECONDS_MAX);
    Some(Duration::from_secs(seconds))
}

/// Classifies a turn without a result.
pub(super) fn classify_conversation_end(
    ended: ConversationEnd,
    conversation: ChildConversation,
) -> ModelError {
    match ended {
        ConversationEnd::TimedOut => ModelError::TimedOut,
        ConversationEnd::TooLong => ModelError::garbled("claude's output exceeds the size limit"),
        ConversationEnd::Garbled => ModelError::garbled("claude's output is not stream-json"),
        ConversationEnd::Closed => {
            let in_the_middle = conversation.has_spoken;
            let (status, complaint) = conversation.post_mortem();
            let code = status.and_then(|status| status.code());
            classify_exit(code, &complaint.to_ascii_lowercase(), in_the_middle)
        }
    }
}

fn classify_exit(code: Option<i32>, complaint: &str, in_the_middle: bool) -> ModelError {
    let how = code.map_or_else(|| "by a signal".to_owned(), |code| format!("with code {code}"));
    match code {
        Some(127) => ModelError::misconfigured("claude was not found"),
        Some(126) => ModelError::misconfigured("claude cannot be executed"),
        _ if complaint.contains("unknown option") || complaint.contains("unknown argument") => {
            ModelError::misconfigured("this version of claude is too old to compress")
        }
        _ if complaint.contains("/login") || complaint.contains("invalid api key") => {
            ModelError::Auth { why: "claude is not logged in".into() }
        }
        _ if in_the_middle => ModelError::garbled(format!("claude exited {how} before its answer")),
        _ => ModelError::unreachable(format!("claude exited {how}")),
    }
}

#[cfg(test)]
#[path = "claude_faults_tests.rs"]
mod tests;
