//! Client of Anthropic's Messages API.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::{HeaderName, HeaderValue};

use super::endpoint::ModelEndpoint;
use super::error::ModelError;
use super::http::{HttpClient, NetworkConfig, require_key, secret_header};
use super::language_model::{LanguageModel, ModelReply, ModelRequest};
use super::token_usage::TokenUsage;
use claude_mem_core::config::SecretString;

/// A [`LanguageModel`] behind the Messages API.
#[derive(Debug)]
pub struct AnthropicClient {
    http: HttpClient,
    url: String,
    model: String,
    key: SecretString,
}

impl AnthropicClient {
    pub const BASE_URL: &'static str = "https://api.anthropic.com";

    /// Fails without a key, except on this machine.
    pub fn new(
        endpoint: &ModelEndpoint,
        model: &str,
        key: SecretString,
        network: &NetworkConfig,
    ) -> Result<Self, ModelError> {
        require_key(&key, endpoint)?;
        Ok(Self {
            http: HttpClient::new(endpoint, network)?,
            url: endpoint.join("/v1/messages"),
            model: model.to_owned(),
            key,
        })
    }
}

impl LanguageModel for AnthropicClient {
    fn answer(&mut self, ask: &ModelRequest<'_>, deadline: Duration) -> Result<ModelReply, ModelError> {
        let version = HeaderValue::from_static("2023-06-01");
        let mut headers = vec![(HeaderName::from_static("anthropic-version"), version)];
        if !self.key.is_empty() {
            headers.push((HeaderName::from_static("x-api-key"), secret_header(self.key.expose())?));
        }
        let body = json!({
            "model": self.model,
            "max_tokens": ask.answer_tokens_max,
            "system": ask.system,
            "messages": [{"role": "user", "content": ask.standalone_message()}],
        });
        parse_reply(&self.http.post(&self.url, &headers, &body, ask, deadline)?)
    }
}

fn parse_reply(body: &Value) -> Result<ModelReply, ModelError> {
    let usage = parse_usage(&body["usage"]);
    if body["stop_reason"] == "refusal" {
        return Err(ModelError::Refused { usage });
    }
    let Some(blocks) = body["content"].as_array() else {
        return Err(ModelError::garbled("the response has no content"));
    };
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let text = texts.filter_map(|block| block["text"].as_str()).collect();
    Ok(ModelReply { text, usage })
}

/// Usage including cached tokens, which the API reports beside the input tokens.
pub(super) fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    let count = |field: &str| usage[field].as_u64();
    let cache_fields = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached: u64 = cache_fields.into_iter().filter_map(count).sum();
    Some(TokenUsage { input: count("input_tokens")?.saturating_add(cached), output: count("output_tokens")? })
}
