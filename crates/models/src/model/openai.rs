//! Client of the chat completions API of OpenAI, which OpenRouter, Ollama, LM Studio, vLLM and many
//! others implement.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::HeaderName;

use super::endpoint::ModelEndpoint;
use super::error::ModelError;
use super::fault::HttpFault;
use super::http::{HttpClient, NetworkConfig, secret_header};
use super::language_model::{LanguageModel, ModelReply, ModelRequest};
use super::token_usage::TokenUsage;
use claude_mem_core::config::SecretString;

/// A [`LanguageModel`] behind a chat completions API.
#[derive(Debug)]
pub struct OpenAiClient {
    http: HttpClient,
    url: String,
    model: String,
    key: SecretString,
    /// Name of the field that limits the answer. OpenAI renamed it and rejects the old name for new
    /// models; most other servers know only the old name.
    limit_field: &'static str,
}

const OLD_LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";

impl OpenAiClient {
    pub const BASE_URL: &'static str = "https://api.openai.com/v1";

    /// A key is optional: local servers and gateways often need none.
    pub fn new(
        endpoint: &ModelEndpoint,
        model: &str,
        key: SecretString,
        network: &NetworkConfig,
    ) -> Result<Self, ModelError> {
        let new = endpoint.host().ends_with("api.openai.com");
        Ok(Self {
            http: HttpClient::new(endpoint, network)?,
            url: endpoint.join("/chat/completions"),
            model: model.to_owned(),
            key,
            limit_field: if new { NEW_LIMIT } else { OLD_LIMIT },
        })
    }

    fn post(&self, ask: &ModelRequest<'_>, deadline: Duration) -> Result<Value, ModelError> {
        let mut headers = Vec::new();
        if !self.key.is_empty() {
            let value = secret_header(&format!("Bearer {}", self.key.expose()))?;
            headers.push((HeaderName::from_static("authorization"), value));
        }
        let mut body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": ask.system},
                {"role": "user", "content": ask.standalone_message()},
            ],
        });
        body[self.limit_field] = ask.answer_tokens_max.into();
        self.http.post(&self.url, &headers, &body, ask, deadline)
    }
}

impl LanguageModel for OpenAiClient {
    fn answer(&mut self, ask: &ModelRequest<'_>, deadline: Duration) -> Result<ModelReply, ModelError> {
        let started = std::time::Instant::now();
        let body = match self.post(ask, deadline) {
            // A rejection costs nothing, so the other field name is tried at once.
            Err(ModelError::Rejected { why }) if why.ends_with("unsupported_parameter") => {
                let other = if self.limit_field == OLD_LIMIT { NEW_LIMIT } else { OLD_LIMIT };
                self.limit_field = other;
                self.post(ask, deadline.saturating_sub(started.elapsed()))?
            }
            result => result?,
        };
        parse_reply(&body, ask)
    }
}

fn parse_reply(body: &Value, ask: &ModelRequest<'_>) -> Result<ModelReply, ModelError> {
    // OpenRouter returns 200 with the upstream error in the body.
    let choice = &body["choices"][0];
    for error in [body, choice] {
        if let Some(code) = error["error"]["code"].as_u64().filter(|code| *code >= 400) {
            let status = u16::try_from(code).unwrap_or(500);
            return Err(HttpFault { status, retry_after: None, body: error, now: ask.now }.classify());
        }
    }
    let usage = parse_usage(&body["usage"]);
    let message = &choice["message"];
    if choice["finish_reason"] == "content_filter" || message["refusal"].is_string() {
        return Err(ModelError::Refused { usage });
    }
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        Value::Null if message.is_object() => String::new(),
        _ => return Err(ModelError::garbled("the response has no message")),
    };
    Ok(ModelReply { text, usage })
}

fn parse_usage(usage: &Value) -> Option<TokenUsage> {
    Some(TokenUsage { input: usage["prompt_tokens"].as_u64()?, output: usage["completion_tokens"].as_u64()? })
}
