//! Classifies HTTP responses with an error status.

use crate::limits::MODEL_WAIT_SECONDS_MAX;
use std::time::Duration;

use serde_json::Value;

use super::error::ModelError;
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::MODEL_WAIT_SHORT_SECONDS_MAX;

/// An error response.
#[derive(Debug)]
pub(super) struct HttpFault<'a> {
    pub(super) status: u16,
    pub(super) retry_after: Option<&'a str>,
    pub(super) body: &'a Value,
    pub(super) now: Millis,
}

impl HttpFault<'_> {
    /// The decision that the response means.
    pub(super) fn classify(&self) -> ModelError {
        let why = self.describe();
        let after = self.retry_delay();
        match self.status {
            300..=399 => ModelError::misconfigured(format!("the address redirects ({why})")),
            401 | 403 => ModelError::Auth { why },
            402 => ModelError::Quota { after, why },
            404 => ModelError::misconfigured(format!("no such model or address ({why})")),
            413 => ModelError::TooLong,
            429 if self.is_out_of_quota(after) => ModelError::Quota { after, why },
            408 | 409 | 425 | 429 | 500..=599 => ModelError::Retry { after, why },
            400 | 422 if self.mentions(TOO_LONG) => ModelError::TooLong,
            400 if self.mentions(OUT_OF_CREDIT) => ModelError::Quota { after, why },
            400 if self.mentions(BAD_KEY) => ModelError::Auth { why },
            400 | 422 => ModelError::Rejected { why },
            _ => ModelError::garbled(why),
        }
    }

    /// The status and the API's error code, never its message.
    fn describe(&self) -> String {
        let error = error_object(self.body);
        let named = ["code", "type", "status"].into_iter().filter_map(|field| error[field].as_str());
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        match named.filter(|name| name.len() <= 48).find(|name| name.chars().all(is_name)) {
            Some(name) => format!("HTTP {} {name}", self.status),
            None => format!("HTTP {}", self.status),
        }
    }

    fn retry_delay(&self) -> Option<Duration> {
        let header = self.retry_after.and_then(|value| parse_retry_after(value, self.now));
        header.or_else(|| retry_delay_in_body(self.body))
    }

    /// Distinguishes a quota from a rate limit: a rate limit lasts seconds, a quota hours.
    fn is_out_of_quota(&self, after: Option<Duration>) -> bool {
        let long = |after: Duration| after.as_secs() > MODEL_WAIT_SHORT_SECONDS_MAX;
        after.is_some_and(long) || self.mentions(OUT_OF_CREDIT)
    }

    fn mentions(&self, phrases: &[&str]) -> bool {
        let text = error_object(self.body).to_string().to_ascii_lowercase();
        phrases.iter().any(|phrase| text.contains(phrase))
    }
}

const TOO_LONG: &[&str] =
    &["context_length", "too long", "maximum context", "context window", "too many tokens"];
const OUT_OF_CREDIT: &[&str] =
    &["insufficient_quota", "credit balance", "insufficient credits", "billing", "perday"];
const BAD_KEY: &[&str] = &["api_key_invalid", "api key not valid", "invalid api key"];

/// The error object, wherever the API puts it.
fn error_object(body: &Value) -> &Value {
    let body = body.get(0).unwrap_or(body);
    body.get("error").unwrap_or(body)
}

/// Parses `Retry-After`: seconds or a date.
pub(super) fn parse_retry_after(value: &str, now: Millis) -> Option<Duration> {
    let value = value.trim();
    let seconds = value.parse::<u64>().ok().or_else(|| {
        let date = jiff::fmt::rfc2822::DateTimeParser::new().parse_timestamp(value).ok()?;
        let wait = (Millis(date.as_millisecond()) - now).max(0);
        Some(u64::try_from(wait).unwrap_or(0).div_ceil(1_000))
    })?;
    Some(Duration::from_secs(seconds.min(MODEL_WAIT_SECONDS_MAX)))
}

/// The delay in the body, as Gemini sends it: `"retryDelay": "34s"`.
fn retry_delay_in_body(body: &Value) -> Option<Duration> {
    let details = error_object(body).get("details")?.as_array()?;
    let delay = details.iter().find_map(|detail| detail["retryDelay"].as_str())?;
    let named: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let seconds = named.clamp(0.0, MODEL_WAIT_SECONDS_MAX as f64).ceil();
    Some(Duration::from_secs(seconds as u64))
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
