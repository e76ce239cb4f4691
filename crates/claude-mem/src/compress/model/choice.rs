//! Which model the settings mean, and how to open it.

use std::path::{Path, PathBuf};

use super::{Anthropic, Claude, Endpoint, Gemini, Launch, Model, ModelError, Network, OpenAi};
use crate::child::Spawner;
use crate::config::{Provider, Secret, Settings};

/// A provider with everything it needs from the settings. Its `Debug` shows no key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Choice {
    provider: Provider,
    model: String,
    address: String,
    key: Secret,
}

/// What the edge of the program lends to models.
#[derive(Clone, Debug)]
pub struct Edge {
    pub network: Network,
    pub spawner: Spawner,
    /// How to start the user's own client; its `model` is filled in here.
    pub launch: Launch,
}

impl Choice {
    /// `None` is the local distiller. `claude_enabled` is what `auto` asks for: the user has said
    /// at install that their own client may be used.
    pub fn of(
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
            if text.is_empty() {
                otherwise.to_owned()
            } else {
                text.to_owned()
            }
        };
        let public = base(provider);
        let address = given(&settings.base_url, public);
        // A key that the environment holds for one service is not shown to another.
        let own_key = || {
            if same_host(&address, public) {
                key_of(provider, env)
            } else {
                None
            }
        };
        let key = Some(settings.api_key.expose().trim()).filter(|key| !key.is_empty());
        let key = key.map(str::to_owned).or_else(own_key).unwrap_or_default();
        let model = if same_host(&address, public) {
            small_model(provider)
        } else {
            ""
        };
        Some(Self {
            provider,
            model: given(&settings.model, model),
            address,
            key: Secret::new(key),
        })
    }

    /// As `spend` rows name it.
    pub const fn provider(&self) -> &'static str {
        self.provider.as_str()
    }

    pub fn address(&self) -> &str {
        &self.address
    }

    pub fn has_key(&self) -> bool {
        !self.key.is_empty()
    }

    /// As observations name who made them.
    pub fn model(&self) -> &str {
        &self.model
    }

    pub fn open(&self, edge: &Edge) -> Result<Box<dyn Model>, ModelError> {
        if self.model.is_empty() {
            return Err(ModelError::misconfigured("no model is named"));
        }
        if self.provider == Provider::Claude {
            let launch = Launch {
                model: self.model.clone(),
                ..edge.launch.clone()
            };
            return Ok(Box::new(Claude::new(edge.spawner.clone(), launch)));
        }
        let endpoint = Endpoint::new(&self.address, false)?;
        let (model, key, network) = (&self.model, self.key.clone(), &edge.network);
        Ok(match self.provider {
            Provider::Anthropic => Box::new(Anthropic::new(&endpoint, model, key, network)?),
            Provider::Gemini => Box::new(Gemini::new(&endpoint, model, key, network)?),
            _ => Box::new(OpenAi::new(&endpoint, model, key, network)?),
        })
    }
}

const fn base(provider: Provider) -> &'static str {
    match provider {
        Provider::Anthropic => Anthropic::BASE,
        Provider::OpenAi => OpenAi::BASE,
        Provider::Gemini => Gemini::BASE,
        Provider::Auto | Provider::Local | Provider::Claude => "",
    }
}

/// Small, cheap and able to answer without thinking aloud first.
const fn small_model(provider: Provider) -> &'static str {
    match provider {
        Provider::Claude | Provider::Anthropic => "claude-haiku-4-5",
        Provider::OpenAi => "gpt-4.1-mini",
        Provider::Gemini => "gemini-2.5-flash",
        Provider::Auto | Provider::Local => "",
    }
}

fn key_of(provider: Provider, env: &dyn Fn(&str) -> Option<String>) -> Option<String> {
    let names: &[&str] = match provider {
        Provider::Anthropic => &["ANTHROPIC_API_KEY"],
        Provider::OpenAi => &["OPENAI_API_KEY"],
        Provider::Gemini => &["GEMINI_API_KEY", "GOOGLE_API_KEY"],
        Provider::Auto | Provider::Local | Provider::Claude => &[],
    };
    names
        .iter()
        .find_map(|name| env(name).filter(|key| !key.trim().is_empty()))
}

fn same_host(a: &str, b: &str) -> bool {
    let host = |url| Endpoint::new(url, true).map(|endpoint| endpoint.host().to_owned());
    a == b || matches!((host(a), host(b)), (Ok(a), Ok(b)) if a == b)
}

impl Launch {
    /// For providers that start no client.
    pub const fn none() -> Self {
        Self {
            program: std::ffi::OsString::new(),
            model: String::new(),
            env: Vec::new(),
            directory: PathBuf::new(),
        }
    }

    /// Finds the user's client and the way it logs in. `env` is the whole environment, `is_file`
    /// looks at the disk.
    pub fn find(
        env: Vec<(std::ffi::OsString, std::ffi::OsString)>,
        directory: PathBuf,
        is_file: impl Fn(&Path) -> bool,
    ) -> Result<Self, ModelError> {
        let value = |name: &str| {
            let found = env.iter().find(|(known, _)| known == name);
            found
                .map(|(_, value)| value.clone())
                .filter(|value| !value.is_empty())
        };
        let home = PathBuf::from(value("HOME").unwrap_or_default());
        let path = value("PATH").unwrap_or_default();
        let usual = [home.join(".claude/local"), home.join(".local/bin")];
        let mut places = std::env::split_paths(&path)
            .chain(usual)
            .map(|dir| dir.join("claude"));
        let program = places.find(|program| program.is_absolute() && is_file(program));
        let program = program.ok_or_else(|| ModelError::misconfigured("claude was not found"))?;
        let config = value("CLAUDE_CONFIG_DIR").map_or_else(|| home.join(".claude"), PathBuf::from);
        // A key in the environment would win over the subscription and be billed by the token.
        let has_login = is_file(&config.join(".credentials.json"))
            || value("CLAUDE_CODE_OAUTH_TOKEN").is_some();
        let keep_api_key = !has_login || value("ANTHROPIC_BASE_URL").is_some();
        let env = super::environment(env, keep_api_key)?;
        Ok(Self {
            program: program.into(),
            model: String::new(),
            env,
            directory,
        })
    }
}

#[cfg(test)]
#[path = "choice_tests.rs"]
mod tests;
