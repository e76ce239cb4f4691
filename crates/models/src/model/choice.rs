//! Selects the provider and model that the settings name, and opens it.

use super::anthropic::AnthropicClient;
use super::claude::{ClaudeCodeClient, ClaudeLaunch};
use super::endpoint::ModelEndpoint;
use super::error::ModelError;
use super::gemini::GeminiClient;
use super::http::NetworkConfig;
use super::language_model::LanguageModel;
use super::openai::OpenAiClient;
use claude_mem_core::child::ChildSpawner;
use claude_mem_core::config::{Provider, SecretString, Settings};

/// A provider with its model, URL and key. `Debug` shows no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProviderConfig {
    provider: Provider,
    model: String,
    address: String,
    key: SecretString,
}

/// A setting that a provider needs and does not have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MissingPart {
    pub what: &'static str,
    /// The command that sets it.
    pub fix: &'static str,
}

/// The parts of the process environment that a model needs.
#[derive(Clone, Debug)]
pub struct ProviderEnv {
    pub network: NetworkConfig,
    pub spawner: ChildSpawner,
    /// How to start the user's Claude Code. Its `model` is set when the model is opened.
    pub launch: ClaudeLaunch,
}

impl ProviderConfig {
    /// The provider that the settings name, with its key. `None` means the heuristic compressor. `auto`
    /// never selects a model: enabling one at install sets the provider by name.
    pub fn from_settings(settings: &Settings, key: SecretString) -> Option<Self> {
        let provider = match settings.provider {
            Provider::Auto | Provider::Local => return None,
            named => named,
        };
        let given = |text: &str, otherwise: &str| {
            let text = text.trim();
            if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
        };
        let public = default_base_url(provider);
        let address = given(&settings.base_url, public);
        let has_default_model = provider == Provider::Claude || same_host(&address, public);
        let model = if has_default_model { default_model(provider) } else { "" };
        Some(Self { provider, model: given(&settings.model, model), address, key })
    }

    /// The setting that the provider lacks, and the command that adds it.
    pub fn missing_part(&self) -> Option<MissingPart> {
        if self.model.is_empty() {
            return Some(MissingPart { what: "no model is set", fix: "claude-mem config set model NAME" });
        }
        // Other servers with the API of OpenAI often need no key.
        let needs_key = match self.provider {
            Provider::Anthropic | Provider::Gemini => true,
            Provider::OpenAi => same_host(&self.address, OpenAiClient::BASE_URL),
            Provider::Auto | Provider::Local | Provider::Claude => false,
        };
        (needs_key && !self.has_key()).then_some(MissingPart {
            what: "no API key is set",
            fix: "claude-mem config set api_key_file FILE, or claude-mem config set api_key KEY",
        })
    }

    /// The provider's name in `spend` rows.
    pub const fn provider(&self) -> &'static str {
        self.provider.as_str()
    }

    /// The base URL.
    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// The model's name, the `made_by` of its observations.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Opens the model. Makes no request yet.
    pub fn open_client(&self, edge: &ProviderEnv) -> Result<Box<dyn LanguageModel>, ModelError> {
        match self.missing_part() {
            Some(missing) if self.model.is_empty() => return Err(ModelError::misconfigured(missing.what)),
            Some(missing) => return Err(ModelError::Auth { why: missing.what.into() }),
            None => {}
        }
        if self.provider == Provider::Claude {
            let launch = ClaudeLaunch { model: self.model.clone(), ..edge.launch.clone() };
            return Ok(Box::new(ClaudeCodeClient::new(edge.spawner.clone(), launch)));
        }
        let endpoint = ModelEndpoint::new(&self.address, false)?;
        let (model, key, network) = (&self.model, self.key.clone(), &edge.network);
        Ok(match self.provider {
            Provider::Anthropic => Box::new(AnthropicClient::new(&endpoint, model, key, network)?),
            Provider::Gemini => Box::new(GeminiClient::new(&endpoint, model, key, network)?),
            _ => Box::new(OpenAiClient::new(&endpoint, model, key, network)?),
        })
    }
}

const fn default_base_url(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => AnthropicClient::BASE_URL,
        Provider::OpenAi => OpenAiClient::BASE_URL,
        Provider::Gemini => GeminiClient::BASE_URL,
        Provider::Auto | Provider::Local | Provider::Claude => "",
    }
}

/// The default model: small, cheap and able to answer without reasoning first.
const fn default_model(provider: Provider) -> &'static str {
    match provider {
        Provider::Claude | Provider::Anthropic => "claude-haiku-4-5",
        Provider::OpenAi => "gpt-4.1-mini",
        Provider::Gemini => "gemini-2.5-flash",
        Provider::Auto | Provider::Local => "",
    }
}

fn same_host(a: &str, b: &str) -> bool {
    let host = |url| ModelEndpoint::new(url, true).map(|endpoint| endpoint.host().to_owned());
    a == b || matches!((host(a), host(b)), (Ok(a), Ok(b)) if a == b)
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
