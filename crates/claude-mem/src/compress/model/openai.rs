//! Chat completions, as OpenAI defined them and OpenRouter, Ollama, LM Studio, vLLM and many
//! others speak them.

use std::time::Duration;

use serde_json::{Value, json};
use ureq::http::HeaderName;

use super::fault::Fault;
use super::http::{Http, secret};
use super::{Answer, Ask, Endpoint, Model, ModelError, Network, Usage};
use crate::config::Secret;

#[derive(Debug)]
pub struct OpenAi {
    http: Http,
    url: String,
    model: String,
    key: Secret,
    /// OpenAI renamed the field that bounds an answer and refuses the old name for new models;
    /// most others know only the old one.
    limit_field: &'static str,
}

const OLD_LIMIT: &str = "max_tokens";
const NEW_LIMIT: &str = "max_completion_tokens";

impl OpenAi {
    pub const BASE: &'static str = "https://api.openai.com/v1";

    /// A key is optional: servers on this machine or behind a gateway often want none.
    pub fn new(
        endpoint: &Endpoint,
        model: &str,
        key: Secret,
        network: &Network,
    ) -> Result<Self, ModelError> {
        let new = endpoint.host().ends_with("api.openai.com");
        Ok(Self {
            http: Http::new(endpoint, network)?,
            url: endpoint.join("/chat/completions"),
            model: model.to_owned(),
            key,
            limit_field: if new { NEW_LIMIT } else { OLD_LIMIT },
        })
    }

    fn post(&self, ask: &Ask<'_>, deadline: Duration) -> Result<Value, ModelError> {
        let mut headers = Vec::new();
        if !self.key.is_empty() {
            let value = secret(&format!("Bearer {}", self.key.expose()))?;
            headers.push((HeaderName::from_static("authorization"), value));
        }
        let mut body = json!({
            "model": self.model,
            "messages": [
                {"role": "system", "content": ask.system},
                {"role": "user", "content": ask.whole_message()},
            ],
        });
        body[self.limit_field] = ask.answer_tokens_max.into();
        self.http.post(&self.url, &headers, &body, ask, deadline)
    }
}

impl Model for OpenAi {
    fn answer(&mut self, ask: &Ask<'_>, deadline: Duration) -> Result<Answer, ModelError> {
        let started = std::time::Instant::now();
        let body = match self.post(ask, deadline) {
            // A rejection costs nothing, so the other name of the limit may be tried at once.
            Err(ModelError::Rejected { why }) if why.ends_with("unsupported_parameter") => {
                let other = if self.limit_field == OLD_LIMIT {
                    NEW_LIMIT
                } else {
                    OLD_LIMIT
                };
                self.limit_field = other;
                self.post(ask, deadline.saturating_sub(started.elapsed()))?
            }
            result => result?,
        };
        read(&body, ask)
    }
}

fn read(body: &Value, ask: &Ask<'_>) -> Result<Answer, ModelError> {
    // OpenRouter answers 200 and puts the upstream's error into the body.
    let choice = &body["choices"][0];
    for error in [body, choice] {
        if let Some(code) = error["error"]["code"].as_u64().filter(|code| *code >= 400) {
            let status = u16::try_from(code).unwrap_or(500);
            return Err(Fault {
                status,
                retry_after: None,
                body: error,
                now: ask.now,
            }
            .decide());
        }
    }
    let usage = usage(&body["usage"]);
    let message = &choice["message"];
    if choice["finish_reason"] == "content_filter" || message["refusal"].is_string() {
        return Err(ModelError::Refused { usage });
    }
    let text = match &message["content"] {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts
            .iter()
            .filter_map(|part| part["text"].as_str())
            .collect(),
        Value::Null if message.is_object() => String::new(),
        _ => return Err(ModelError::garbled("the answer has no message")),
    };
    Ok(Answer { text, usage })
}

fn usage(usage: &Value) -> Option<Usage> {
    Some(Usage {
        input: usage["prompt_tokens"].as_u64()?,
        output: usage["completion_tokens"].as_u64()?,
    })
}
