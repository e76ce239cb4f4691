//! What an answer with an error status means.

use std::time::Duration;

use serde_json::Value;

use super::ModelError;
use crate::clock::Millis;
use crate::limits::{MODEL_WAIT_SECONDS_MAX, MODEL_WAIT_SHORT_SECONDS_MAX};

/// An answer that carries no text of the model.
#[derive(Debug)]
pub(super) struct Fault<'a> {
    pub(super) status: u16,
    pub(super) retry_after: Option<&'a str>,
    pub(super) body: &'a Value,
    pub(super) now: Millis,
}

impl Fault<'_> {
    pub(super) fn decide(&self) -> ModelError {
        let why = self.why();
        let after = self.after();
        match self.status {
            300..=399 => ModelError::misconfigured(format!("the address redirects ({why})")),
            401 | 403 => ModelError::Auth { why },
            402 => ModelError::Quota { after, why },
            404 => ModelError::misconfigured(format!("no such model or address ({why})")),
            413 => ModelError::TooLong,
            429 if self.is_out_of_quota(after) => ModelError::Quota { after, why },
            408 | 409 | 425 | 429 | 500..=599 => ModelError::Retry { after, why },
            400 | 422 if self.says(TOO_LONG) => ModelError::TooLong,
            400 if self.says(OUT_OF_CREDIT) => ModelError::Quota { after, why },
            400 if self.says(BAD_KEY) => ModelError::Auth { why },
            400 | 422 => ModelError::Rejected { why },
            _ => ModelError::garbled(why),
        }
    }

    /// A status and the API's own name for the fault, never its sentence.
    fn why(&self) -> String {
        let error = error_of(self.body);
        let named = ["code", "type", "status"]
            .into_iter()
            .filter_map(|field| error[field].as_str());
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        match named
            .filter(|name| name.len() <= 48)
            .find(|name| name.chars().all(is_name))
        {
            Some(name) => format!("HTTP {} {name}", self.status),
            None => format!("HTTP {}", self.status),
        }
    }

    fn after(&self) -> Option<Duration> {
        let header = self
            .retry_after
            .and_then(|value| retry_after(value, self.now));
        header.or_else(|| delay_in_body(self.body))
    }

    /// A rate is exceeded for seconds, a quota for hours.
    fn is_out_of_quota(&self, after: Option<Duration>) -> bool {
        let long = |after: Duration| after.as_secs() > MODEL_WAIT_SHORT_SECONDS_MAX;
        after.is_some_and(long) || self.says(OUT_OF_CREDIT)
    }

    fn says(&self, phrases: &[&str]) -> bool {
        let text = error_of(self.body).to_string().to_ascii_lowercase();
        phrases.iter().any(|phrase| text.contains(phrase))
    }
}

const TOO_LONG: &[&str] = &[
    "context_length",
    "too long",
    "maximum context",
    "context window",
    "too many tokens",
];
const OUT_OF_CREDIT: &[&str] = &[
    "insufficient_quota",
    "credit balance",
    "insufficient credits",
    "billing",
    "perday",
];
const BAD_KEY: &[&str] = &["api_key_invalid", "api key not valid", "invalid api key"];

/// The error object, wherever this API puts it.
fn error_of(body: &Value) -> &Value {
    let body = body.get(0).unwrap_or(body);
    body.get("error").unwrap_or(body)
}

/// Reads `Retry-After`: seconds or a date.
pub(super) fn retry_after(value: &str, now: Millis) -> Option<Duration> {
    let value = value.trim();
    let seconds = value.parse::<u64>().ok().or_else(|| {
        let date = jiff::fmt::rfc2822::DateTimeParser::new()
            .parse_timestamp(value)
            .ok()?;
        let wait = (Millis(date.as_millisecond()) - now).max(0);
        Some(u64::try_from(wait).unwrap_or(0).div_ceil(1_000))
    })?;
    Some(Duration::from_secs(seconds.min(MODEL_WAIT_SECONDS_MAX)))
}

/// Gemini says it in the body: `"retryDelay": "34s"`.
fn delay_in_body(body: &Value) -> Option<Duration> {
    let details = error_of(body).get("details")?.as_array()?;
    let delay = details
        .iter()
        .find_map(|detail| detail["retryDelay"].as_str())?;
    let seconds: f64 = delay.strip_suffix('s')?.parse().ok()?;
    let seconds = seconds.clamp(0.0, MODEL_WAIT_SECONDS_MAX as f64).ceil();
    Some(Duration::from_secs(seconds as u64))
}

#[cfg(test)]
#[path = "fault_tests.rs"]
mod tests;
