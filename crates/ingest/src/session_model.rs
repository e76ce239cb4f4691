//! [`SessionModel`]: a model that writes the memories of recorded sessions anew, for `claude-mem redo`.
//!
//! It uses the `LlmCompressor` of live sessions: the same prompt, parser, budget and retries. Invariant: a
//! session is written completely or not at all; if the model cannot go on, nothing is returned. Trouble is told
//! to the caller and not recorded: the worker's model may be another one.

use std::sync::{Arc, Mutex};

use crate::compressor_config::ConfigSource;
use crate::compressor_parts::CompressorParts;
use crate::llm_compressor::{LlmCompressor, LlmOptions};
use crate::select_compressor::open_provider;
use crate::session_memory::MODEL_CLAIM;
use crate::session_redo::RedoneEpisode;
use crate::shared_store::SharedStore;
use crate::trouble_recorder::TroubleSink;
use claude_mem_core::child::{ChildRegistry, ChildSpawner};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Provider;
use claude_mem_core::episode::Episode;
use claude_mem_core::ids::SessionId;
use claude_mem_core::log::LogWriter;
use claude_mem_core::memory::{CompressionOutput, ConsolidatedObservation, NewSummary, is_same_title};
use claude_mem_core::sync::lock;
use claude_mem_distil::EpisodeClaims;
use claude_mem_models::budget::TokenEstimate;
use claude_mem_models::driver::ModelOutcome;
use claude_mem_models::rolling::RollingSummary;
use claude_mem_models::session_cost::estimate_session;
use claude_mem_store::{Store, StoreError};

pub use crate::compressor_config::ProviderChoice;
pub use claude_mem_models::budget::BudgetLimits;
pub use claude_mem_models::model::ModelError;
pub use claude_mem_models::trouble::{CallTrouble, TroubleKind};

/// An episode of a session as its transcript tells it.
#[derive(Clone, Debug, Default)]
pub struct RecordedEpisode {
    /// `None` if no model may or need be asked about it.
    pub episode: Option<Episode>,
    pub claims: EpisodeClaims,
}

/// What a model wrote of a session.
#[derive(Clone, Debug, Default)]
pub struct WrittenSession {
    /// The claims of all episodes; those that the model did not write of keep their local observations.
    pub episodes: Vec<RedoneEpisode>,
    /// Under [`MODEL_CLAIM`] keys.
    pub observations: Vec<ConsolidatedObservation>,
    pub summaries: Vec<NewSummary>,
}

/// Asks a model about recorded sessions.
#[derive(Debug)]
pub struct SessionModel {
    compressor: LlmCompressor,
    store: Arc<SharedStore>,
    trouble: Arc<LastTrouble>,
    has_conversation: bool,
}

impl SessionModel {
    /// Opens the provider of `source`. `store` records the cost of calls.
    pub fn open(store: Store, source: ConfigSource, log: LogWriter) -> Result<Self, ModelError> {
        let store = Arc::new(SharedStore::attach(source.dir(), store));
        let config = source.read();
        let has_conversation = config.settings.provider == Provider::Claude;
        let start_spawner = || {
            let register = ChildRegistry::open(&store.dir().children())?;
            ChildSpawner::start(source.process.executable.clone(), register)
        };
        let spawner = start_spawner().map_err(|error| error.to_string());
        let trouble = Arc::new(LastTrouble::default());
        let parts = CompressorParts {
            store: Arc::clone(&store),
            source: Arc::new(source),
            trouble: trouble.clone(),
            spawner,
            log,
        };
        let Some((provider, env)) = open_provider(&parts, &config)? else {
            return Err(ModelError::Misconfigured { why: "this provider has no model".to_owned() });
        };
        let vocabulary = config.vocabulary.clone().unwrap_or_default();
        let options = LlmOptions { provider, vocabulary, config, notice: None };
        let compressor = LlmCompressor::new(&parts, options, env);
        Ok(Self { compressor, store, trouble, has_conversation })
    }

    /// The provider's name.
    pub fn provider(&self) -> &str {
        self.compressor.options().provider.provider()
    }

    /// The model's name, the `made_by` of its observations.
    pub fn model(&self) -> &str {
        self.compressor.options().provider.model()
    }

    pub fn limits(&self) -> BudgetLimits {
        self.compressor.options().config.limits()
    }

    /// The tokens that the budget of today still allows.
    pub fn day_tokens_left(&self) -> Result<u64, StoreError> {
        let day = clock::local_day(clock::now().millis());
        let spent = self.store.with(|store| store.read().spend_on(&day))?;
        Ok(self.limits().day_tokens.saturating_sub(spent.tokens))
    }

    /// The tokens that the budget of a session still allows.
    pub fn session_tokens_left(&self, session: SessionId) -> Result<u64, StoreError> {
        let spent = self.store.with(|store| store.read().spend_of_session(session))?;
        Ok(self.limits().session_tokens.saturating_sub(spent.tokens))
    }

    /// The expected cost of [`SessionModel::write_session`].
    pub fn estimate(&self, episodes: &[RecordedEpisode]) -> TokenEstimate {
        let asked = episodes.iter().filter_map(|recorded| recorded.episode.as_ref());
        estimate_session(asked, self.compressor.rules(), self.has_conversation)
    }

    /// Asks about all episodes of a session, in order. Episodes that the model refuses, and those beyond the
    /// budget of the session, keep their local memories, as in a live session.
    pub fn write_session(
        &self,
        session: SessionId,
        episodes: Vec<RecordedEpisode>,
    ) -> Result<WrittenSession, CallTrouble> {
        let mut rolling = RollingSummary::default();
        let mut written = WrittenSession::default();
        let mut is_within_budget = true;
        for RecordedEpisode { episode, claims } in episodes {
            let mut by_model = false;
            if let Some(episode) = episode.filter(|_| is_within_budget) {
                self.trouble.clear(Millis::default());
                match self.compressor.ask_model(session, &episode, &rolling) {
                    ModelOutcome::Compressed(output) => {
                        by_model = true;
                        rolling.add_episode(&output);
                        written.add_answer(&episode, *output);
                    }
                    ModelOutcome::FallBack { .. } => match self.trouble.take() {
                        None => {}
                        Some(trouble) if trouble.kind == TroubleKind::InvalidAnswer => {}
                        // What was paid for is stored; the rest is made without the model.
                        Some(trouble) if trouble.kind.is_budget() && written.is_begun() => {
                            is_within_budget = false;
                        }
                        Some(trouble) => return Err(trouble),
                    },
                    ModelOutcome::Interrupted => {
                        let why = "the settings of the model have changed";
                        return Err(CallTrouble::new(TroubleKind::Misconfigured, why));
                    }
                }
            }
            written.episodes.push(RedoneEpisode { claims, by_model });
        }
        Ok(written)
    }
}

impl WrittenSession {
    /// Whether the model wrote of any episode.
    fn is_begun(&self) -> bool {
        self.episodes.iter().any(|episode| episode.by_model)
    }

    /// Adds an answer. An observation takes the claims of those that it absorbs, so that their rows become one.
    fn add_answer(&mut self, episode: &Episode, output: CompressionOutput) {
        let at = episode.ended_at().0;
        let CompressionOutput { observations, summary, absorbed } = output;
        let mut new: Vec<ConsolidatedObservation> = Vec::new();
        for (index, observation) in observations.into_iter().enumerate() {
            let mut claims = vec![format!("{MODEL_CLAIM}{at}:{index}")];
            for title in absorbed.iter().filter(|earlier| earlier.into == index).map(|earlier| &earlier.title)
            {
                let is_meant =
                    |made: &ConsolidatedObservation| is_same_title(&made.observation.text.title, title);
                if let Some(earlier) = self.observations.iter().position(is_meant) {
                    claims.extend(self.observations.remove(earlier).claims);
                }
            }
            new.push(ConsolidatedObservation { claims, observation });
        }
        self.observations.extend(new);
        self.summaries.extend(summary);
    }
}

/// The latest failure that concerns more than one episode.
#[derive(Debug, Default)]
struct LastTrouble(Mutex<Option<CallTrouble>>);

impl LastTrouble {
    fn take(&self) -> Option<CallTrouble> {
        lock(&self.0).take()
    }
}

impl TroubleSink for LastTrouble {
    fn record(&self, _provider: &str, trouble: &CallTrouble, _now: Millis) {
        *lock(&self.0) = Some(trouble.clone());
    }

    fn clear(&self, _now: Millis) {
        *lock(&self.0) = None;
    }
}

#[cfg(test)]
#[path = "session_model_tests.rs"]
mod tests;
