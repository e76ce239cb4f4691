//! Anthropic's Messages API.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::{HeaderName, HeaderValue};

use super::http::{Http, secret};
use super::{Answer, Ask, Endpoint, Model, ModelError, Network, Usage};
use crate::config::Secret;

#[derive(Debug)]
pub struct Anthropic {
    http: Http,
    url: String,
    model: String,
    key: Secret,
}

impl Anthropic {
    pub const BASE: &'static str = "https://api.anthropic.com";

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
        Ok(Self {
            http: Http::new(endpoint, network)?,
            url: endpoint.join("/v1/messages"),
            model: model.to_owned(),
            key,
        })
    }
}

impl Model for Anthropic {
    fn answer(&mut self, ask: &Ask<'_>, deadline: Duration) -> Result<Answer, ModelError> {
        let version = HeaderValue::from_static("2023-06-01");
        let mut headers = vec![(HeaderName::from_static("anthropic-version"), version)];
        if !self.key.is_empty() {
            headers.push((
                HeaderName::from_static("x-api-key"),
                secret(self.key.expose())?,
            ));
        }
        let body = json!({
            "model": self.model,
            "max_tokens": ask.answer_tokens_max,
            "system": ask.system,
            "messages": [{"role": "user", "content": ask.whole_message()}],
        });
        read(&self.http.post(&self.url, &headers, &body, ask, deadline)?)
    }
}

fn read(body: &Value) -> Result<Answer, ModelError> {
    let usage = usage(&body["usage"]);
    if body["stop_reason"] == "refusal" {
        return Err(ModelError::Refused { usage });
    }
    let Some(blocks) = body["content"].as_array() else {
        return Err(ModelError::garbled("the answer has no content"));
    };
    let texts = blocks.iter().filter(|block| block["type"] == "text");
    let text = texts.filter_map(|block| block["text"].as_str()).collect();
    Ok(Answer { text, usage })
}

/// Tokens written to or read from the cache are billed beside the input's.
pub(super) fn usage(usage: &Value) -> Option<Usage> {
    let count = |field: &str| usage[field].as_u64();
    let cached = ["cache_creation_input_tokens", "cache_read_input_tokens"];
    let cached: u64 = cached.into_iter().filter_map(count).sum();
    Some(Usage {
        input: count("input_tokens")?.saturating_add(cached),
        output: count("output_tokens")?,
    })
}
