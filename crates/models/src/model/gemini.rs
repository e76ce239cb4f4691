//! Client of Google's Gemini API.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::HeaderName;

use super::endpoint::ModelEndpoint;
use super::error::ModelError;
use super::http::{HttpClient, NetworkConfig, require_key, secret_header};
use super::language_model::{LanguageModel, ModelReply, ModelRequest};
use super::token_usage::TokenUsage;
use claude_mem_core::config::SecretString;

/// A [`LanguageModel`] behind the Gemini API.
#[derive(Debug)]
pub struct GeminiClient {
    http: HttpClient,
    url: String,
    key: SecretString,
    /// Thinking tokens are billed as output; some models allow switching them off.
    thinking_can_be_off: bool,
}

impl GeminiClient {
    pub const BASE_URL: &'static str = "https://generativelanguage.googleapis.com";

    /// Fails without a key, except on this machine, or if the model name is invalid.
    pub fn new(
        endpoint: &ModelEndpoint,
        model: &str,
        key: SecretString,
        network: &NetworkConfig,
    ) -> Result<Self, ModelError> {
        require_key(&key, endpoint)?;
        let model = model.strip_prefix("models/").unwrap_or(model);
        let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_');
        if model.is_empty() || !model.chars().all(is_name) {
            return Err(ModelError::misconfigured("the model name is invalid"));
        }
        Ok(Self {
            http: HttpClient::new(endpoint, network)?,
            url: endpoint.join(&format!("/v1beta/models/{model}:generateContent")),
            key,
            thinking_can_be_off: model.starts_with("gemini-2.5-flash"),
        })
    }
}

impl LanguageModel for GeminiClient {
    fn answer(&mut self, ask: &ModelRequest<'_>, deadline: Duration) -> Result<ModelReply, ModelError> {
        let mut headers = Vec::new();
        // In a header, not in the URL: URLs end up in logs.
        if !self.key.is_empty() {
            headers.push((HeaderName::from_static("x-goog-api-key"), secret_header(self.key.expose())?));
        }
        let mut body = json!({
            "systemInstruction": {"parts": [{"text": ask.system}]},
            "contents": [{"role": "user", "parts": [{"text": ask.standalone_message()}]}],
            "generationConfig": {"maxOutputTokens": ask.answer_tokens_max},
        });
        if self.thinking_can_be_off {
            body["generationConfig"]["thinkingConfig"] = json!({"thinkingBudget": 0});
        }
        parse_reply(&self.http.post(&self.url, &headers, &body, ask, deadline)?)
    }
}

fn parse_reply(body: &Value) -> Result<ModelReply, ModelError> {
    let usage = parse_usage(&body["usageMetadata"]);
    let candidate = &body["candidates"][0];
    let blocked = body["promptFeedback"]["blockReason"].is_string();
    let stopped = candidate["finishReason"].as_str().unwrap_or_default();
    let refusals = ["SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "LANGUAGE"];
    if blocked || refusals.contains(&stopped) {
        return Err(ModelError::Refused { usage });
    }
    if !candidate.is_object() {
        return Err(ModelError::garbled("the response has no candidate"));
    }
    let parts = candidate["content"]["parts"].as_array();
    let spoken = parts.into_iter().flatten().filter(|part| part["thought"] != true);
    let text = spoken.filter_map(|part| part["text"].as_str()).collect();
    Ok(ModelReply { text, usage })
}

fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    let count = |field: &str| usage[field].as_u64();
    Some(TokenUsage {
        input: count("promptTokenCount")?,
        output: count("candidatesTokenCount")
            .unwrap_or(0)
            .saturating_add(count("thoughtsTokenCount").unwrap_or(0)),
    })
}
