//! Google's Gemini API.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::HeaderName;

use super::http::{Http, secret};
use super::{Answer, Ask, Endpoint, Model, ModelError, Network, Usage};
use crate::config::Secret;

#[derive(Debug)]
pub struct Gemini {
    http: Http,
    url: String,
    key: Secret,
    /// Thinking counts as output, and these models can be told not to.
    thinking_can_be_off: bool,
}

impl Gemini {
    pub const BASE: &'static str = "https://generativelanguage.googleapis.com";

    pub fn new(
        endpoint: &Endpoint,
        model: &str,
        key: Secret,
        network: &Network,
    ) -> Result<Self, ModelError> {
        if key.is_empty() && !endpoint.is_loopback() {
            return Err(ModelError::Auth {
                why: "no key is set".into(),
            });
        }
        let model = model.strip_prefix("models/").unwrap_or(model);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if model.is_empty() || !model.chars().all(is_name) {
            return Err(ModelError::misconfigured("the model's name is not one"));
        }
        Ok(Self {
            http: Http::new(endpoint, network)?,
            url: endpoint.join(&format!("/v1beta/models/{model}:generateContent")),
            key,
            thinking_can_be_off: model.starts_with("gemini-2.5-flash"),
        })
    }
}

impl Model for Gemini {
    fn answer(&mut self, ask: &Ask<'_>, deadline: Duration) -> Result<Answer, ModelError> {
        let mut headers = Vec::new();
        // In a header, not in the address: addresses end up in logs.
        if !self.key.is_empty() {
            headers.push((
                HeaderName::from_static("x-goog-api-key"),
                secret(self.key.expose())?,
            ));
        }
        let mut body = json!({
            "systemInstruction": {"parts": [{"text": ask.system}]},
            "contents": [{"role": "user", "parts": [{"text": ask.whole_message()}]}],
            "generationConfig": {"maxOutputTokens": ask.answer_tokens_max},
        });
        if self.thinking_can_be_off {
            body["generationConfig"]["thinkingConfig"] = json!({"thinkingBudget": 0});
        }
        read(&self.http.post(&self.url, &headers, &body, ask, deadline)?)
    }
}

fn read(body: &Value) -> Result<Answer, ModelError> {
    let usage = usage(&body["usageMetadata"]);
    let candidate = &body["candidates"][0];
    let blocked = body["promptFeedback"]["blockReason"].is_string();
    let stopped = candidate["finishReason"].as_str().unwrap_or_default();
    let refusals = [
        "SAFETY",
        "RECITATION",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "LANGUAGE",
    ];
    if blocked || refusals.contains(&stopped) {
        return Err(ModelError::Refused { usage });
    }
    if !candidate.is_object() {
        return Err(ModelError::garbled("the answer has no candidate"));
    }
    let parts = candidate["content"]["parts"].as_array();
    let spoken = parts
        .into_iter()
        .flatten()
        .filter(|part| part["thought"] != true);
    let text = spoken.filter_map(|part| part["text"].as_str()).collect();
    Ok(Answer { text, usage })
}

fn usage(usage: &Value) -> Option<Usage> {
    let count = |field: &str| usage[field].as_u64();
    Some(Usage {
        input: count("promptTokenCount")?,
        output: count("candidatesTokenCount")
            .unwrap_or(0)
            .saturating_add(count("thoughtsTokenCount").unwrap_or(0)),
    })
}
