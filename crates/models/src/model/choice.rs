//! Selects the provider and model that the settings name, and opens it.

use std::path::{Path, PathBuf};

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

/// What a model needs from the process.
#[derive(Clone, Debug)]
pub struct ProviderEnv {
    pub network: NetworkConfig,
    pub spawner: ChildSpawner,
    /// How to start the user's Claude Code. Its `model` is set when the model is opened.
    pub launch: ClaudeLaunch,
}

impl ProviderConfig {
    /// `None` means the heuristic compressor. `claude_enabled` decides about `auto`: the user allowed
    /// Claude Code to be used at install.
    pub fn from_settings(
        settings: &Settings,
        claude_enabled: bool,
        env: &dyn Fn(&str) -> Option<String>,
    ) -> Option<Self> {
        let provider = match settings.provider {
            Provider::Auto if claude_enabled => Provider::Claude,
            Provider::Auto | Provider::Local => return None,
            named => named,
        };
        let given = |text: &str, otherwise: &str| {
            let text = text.trim();
            if text.is_empty() { otherwise.to_owned() } else { text.to_owned() }
        };
        let public = default_base_url(provider);
        let address = given(&settings.base_url, public);
        // A key from the environment is sent only to the service it belongs to.
        let own_key = || {
            if same_host(&address, public) { key_from_env(provider, env) } else { None }
        };
        let configured = Some(settings.api_key.expose().trim()).filter(|key| !key.is_empty());
        let key = configured.map(str::to_owned).or_else(own_key).unwrap_or_default();
        let model = if same_host(&address, public) { default_model(provider) } else { "" };
        Some(Self { provider, model: given(&settings.model, model), address, key: SecretString::new(key) })
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
        if self.model.is_empty() {
            return Err(ModelError::misconfigured("no model is set"));
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

fn key_from_env(provider: Provider, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let names: &[&str] = match provider {
        Provider::Anthropic => &["ANTHROPIC_API_KEY"],
        Provider::OpenAi => &["OPENAI_API_KEY"],
        Provider::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        Provider::Auto | Provider::Local | Provider::Claude => &[],
    };
    names.iter().find_map(|name| env(name).filter(|key| !key.trim().is_empty()))
}

fn same_host(a: &str, b: &str) -> bool {
    let host = |url| ModelEndpoint::new(url, true).map(|endpoint| endpoint.host().to_owned());
    a == b || matches!((host(a), host(b)), (Ok(a), Ok(b)) if a == b)
}

impl ClaudeLaunch {
    /// An empty value, for providers other than Claude Code.
    pub const fn none() -> Self {
        Self {
            program: std::ffi::OsString::new(),
            model: String::new(),
            env: Vec::new(),
            directory: PathBuf::new(),
        }
    }

    /// Finds the user's `claude` and how it logs in. `env` is the whole environment; `is_file` checks
    /// the disk.
    pub fn find(
        env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
        directory: PathBuf,
        is_file: impl Fn(&Path) -> bool,
    ) -> Result<Self, ModelError> {
        let value = |name: &str| {
            let found = env.iter().find(|(known, _)| known == name);
            found.map(|(_, value)| value.clone()).filter(|value| !value.is_empty())
        };
        let home = PathBuf::from(value("HOME").unwrap_or_default());
        let path = value("PATH").unwrap_or_default();
        let usual = [home.join(".claude/local"), home.join(".local/bin")];
        let mut places = std::env::split_paths(&path).chain(usual).map(|dir| dir.join("claude"));
        let program = places.find(|program| program.is_absolute() && is_file(program));
        let program = program.ok_or_else(|| ModelError::misconfigured("claude was not found"))?;
        let config = value("CLAUDE_CONFIG_DIR").map_or_else(|| home.join(".claude"), PathBuf::from);
        // A key in the environment would take precedence over the subscription and be billed per
        // token.
        let has_login =
            is_file(&config.join(".credentials.json")) || value("CLAUDE_CODE_OAUTH_TOKEN").is_some();
        let keep_api_key = !has_login || value("ANTHROPIC_BASE_URL").is_some();
        let env = super::claude::compressor_environment(env, keep_api_key)?;
        Ok(Self { program: program.into(), model: String::new(), env, directory })
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
