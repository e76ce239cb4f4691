//! The LLM compressor: asks a model within the token budget and falls back to heuristics.
//!
//! [`LlmCompressor`] combines the provider, the [`Backoff`] that acts as a circuit breaker, the pool
//! of open models and the ledger of spent tokens.
//!
//! Invariant: every episode yields memories, from the model or from the heuristic compressor, unless
//! the shutdown or a change of the settings interrupts it; a model's failure never reaches the queue.
//! Every call has a row in the ledger, and none is made once the settings have changed.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::compressor::{CompressionOutcome, Compressor, CompressorReport};
use crate::compressor_config::{CompressorConfig, ConfigSource};
use crate::compressor_parts::CompressorParts;
use crate::heuristic_compressor;
use crate::job::{CompressedEpisode, EpisodeJob};
use crate::shared_store::SharedStore;
use crate::trouble_recorder::TroubleSink;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::Episode;
use claude_mem_core::ids::SessionId;
use claude_mem_core::log::{LogLevel, LogWriter};
use claude_mem_core::memory::CompressionOutput;
use claude_mem_core::sync::lock;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_models::backoff::Backoff;
use claude_mem_models::batch::{CompressionRequest, CompressionRules};
use claude_mem_models::budget;
use claude_mem_models::budget::{BudgetUsage, TokenSpend};
use claude_mem_models::driver::{CallEnv, ModelOutcome, ReservationDenied, TokenBudget, compress_with_model};
use claude_mem_models::model::{ModelPool, ProviderConfig, ProviderEnv};
use claude_mem_models::rolling::RollingSummary;
use claude_mem_models::trouble::CallTrouble;
use claude_mem_store::{SpendReport, StoreError};

/// Maximum tokens that a model may generate in one answer: observations and a summary, with room to
/// spare.
const ANSWER_TOKENS_MAX: u32 = 4_096;

/// The purpose recorded in a spend row.
const PURPOSE: &str = "compress";

/// Settings of the LLM compressor.
pub(crate) struct LlmOptions {
    pub(crate) provider: ProviderConfig,
    pub(crate) vocabulary: Vocabulary,
    /// The configuration that selected this compressor.
    pub(crate) config: CompressorConfig,
    /// A setting that has no effect, for `status`.
    pub(crate) notice: Option<String>,
}

/// A [`Compressor`] that asks a model.
pub(crate) struct LlmCompressor {
    store: Arc<SharedStore>,
    source: Arc<ConfigSource>,
    trouble: Arc<dyn TroubleSink>,
    options: LlmOptions,
    env: ProviderEnv,
    log: LogWriter,
    backoff: Mutex<Backoff>,
    pool: Mutex<ModelPool>,
    stopping: Mutex<bool>,
    stopped: Condvar,
}

impl std::fmt::Debug for LlmCompressor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("LlmCompressor").field("choice", &self.options.provider).finish_non_exhaustive()
    }
}

impl LlmCompressor {
    pub(crate) fn new(parts: &CompressorParts, options: LlmOptions, env: ProviderEnv) -> Self {
        Self {
            store: Arc::clone(&parts.store),
            source: Arc::clone(&parts.source),
            trouble: parts.trouble.clone(),
            log: parts.log.clone(),
            options,
            env,
            backoff: Mutex::default(),
            pool: Mutex::default(),
            stopping: Mutex::new(false),
            stopped: Condvar::new(),
        }
    }

    fn warn(&self, what: &'static str, why: &dyn std::fmt::Display) {
        self.log.line(self.now(), LogLevel::Warn, what, &[("why", why)]);
    }

    /// Asks the session's model about one episode.
    pub(crate) fn ask_model(
        &self,
        session: SessionId,
        episode: &Episode,
        rolling: &RollingSummary,
    ) -> ModelOutcome {
        let so_far = rolling.to_prompt_text();
        let batch = CompressionRequest::new(episode, &so_far, self.rules());
        let warm = lock(&self.pool).take(session);
        let mut model = match warm.map_or_else(|| self.options.provider.open_client(&self.env), Ok) {
            Ok(model) => model,
            Err(error) => {
                lock(&self.backoff).record_error(&error, self.now(), self.random_byte());
                if let Some(trouble) = CallTrouble::from_error(&error) {
                    self.call_failed(&trouble);
                }
                return ModelOutcome::FallBack { why: error.to_string() };
            }
        };
        let books = SpendLedger { compressor: self, session };
        let driven = compress_with_model(&batch, &mut *model, &self.backoff, &books, self);
        lock(&self.pool).give_back(session, model, self.now());
        driven
    }

    /// Settings that apply to every episode.
    pub(crate) fn rules(&self) -> CompressionRules<'_> {
        let language = self.options.config.settings.language.trim();
        CompressionRules {
            vocabulary: &self.options.vocabulary,
            language: Some(language).filter(|language| !language.is_empty()),
            answer_tokens_max: ANSWER_TOKENS_MAX,
        }
    }

    pub(crate) const fn options(&self) -> &LlmOptions {
        &self.options
    }
}

impl Compressor for LlmCompressor {
    /// Always runs the heuristic compressor as well: it costs no tokens, its carried state must see
    /// every episode, and its summary is used if the model returns none.
    fn compress(&self, work: &EpisodeJob) -> CompressionOutcome {
        let mut made = heuristic_compressor::compress_locally(work, &self.options.vocabulary);
        let mut rolling = RollingSummary::from_json(work.rolling_summary.as_deref());
        match self.ask_model(work.session, &work.episode, &rolling) {
            ModelOutcome::Interrupted => return CompressionOutcome::Released,
            ModelOutcome::FallBack { why } => {
                self.warn("episode compressed without the model", &why);
            }
            ModelOutcome::Compressed(mut distilled) => {
                if distilled.summary.is_none() && work.episode.finished {
                    distilled.summary = made.distilled.summary.take();
                }
                let by = self.options.provider.model().to_owned();
                made = CompressedEpisode { distilled: *distilled, made_by: by, ..made };
            }
        }
        rolling
            .add_episode(&CompressionOutput { observations: made.observations(), ..made.distilled.clone() });
        made.rolling_summary = rolling.to_json();
        CompressionOutcome::Compressed(Box::new(made))
    }

    /// Ends child processes that have been idle for too long.
    fn release_idle(&self, now: Millis) {
        let swept = lock(&self.pool).take_expired(now);
        // Dropped after the pool's lock is released: ending a child takes a moment.
        drop(swept);
    }

    fn stop(&self) {
        *lock(&self.stopping) = true;
        self.stopped.notify_all();
    }

    fn status_warning(&self, _now: Millis) -> Option<String> {
        self.options.notice.clone()
    }

    fn report(&self) -> CompressorReport {
        let LlmOptions { provider, config, .. } = &self.options;
        let limits = config.limits();
        CompressorReport {
            configured: provider.provider().to_owned(),
            provider: provider.provider().to_owned(),
            model: provider.model().to_owned(),
            address: provider.address().to_owned(),
            program: self.env.launch.program.to_string_lossy().into_owned(),
            vocabulary: config.settings.vocabulary.clone(),
            budget_tokens_per_day: limits.day_tokens,
            budget_tokens_per_session: limits.session_tokens,
        }
    }
}

impl CallEnv for LlmCompressor {
    fn now(&self) -> Millis {
        clock::now().millis()
    }

    fn random_byte(&self) -> u8 {
        let mut byte = [0];
        // Without randomness the backoff merely has no jitter.
        getrandom::fill(&mut byte).map_or(0, |()| byte[0])
    }

    fn call_max(&self) -> Duration {
        Duration::from_secs(self.options.config.settings.model_seconds.into())
    }

    fn call_failed(&self, trouble: &CallTrouble) {
        self.trouble.record(self.options.provider.provider(), trouble, self.now());
    }

    fn call_succeeded(&self) {
        self.trouble.clear(self.now());
    }

    fn wait(&self, pause: Duration) -> bool {
        let stopping = lock(&self.stopping);
        let goes_on = |stopping: &mut bool| !*stopping;
        let waited = self.stopped.wait_timeout_while(stopping, pause, goes_on);
        !*waited.unwrap_or_else(PoisonError::into_inner).0
    }
}

/// The [`TokenBudget`] of one session, kept in the store.
struct SpendLedger<'a> {
    compressor: &'a LlmCompressor,
    session: SessionId,
}

impl TokenBudget for SpendLedger<'_> {
    fn reserve(&self, tokens: u64) -> Result<i64, ReservationDenied> {
        let plan = &self.compressor.options;
        // The last moment before a call: nothing goes to an address or beyond a budget that is no
        // longer configured.
        if self.compressor.source.read() != plan.config {
            return Err(ReservationDenied::Reconfigured);
        }
        let now = self.compressor.now();
        let day = clock::local_day(now);
        let reserved = self.compressor.store.with(|store| {
            store.write(|tx| {
                let today = budget_usage(tx.spend_on(&day)?);
                let session = budget_usage(tx.spend_of_session(self.session)?);
                if let Err(not_now) = budget::admit(plan.config.limits(), today, session, tokens) {
                    return Ok(Err(ReservationDenied::Budget(not_now)));
                }
                let (provider, model) = (plan.provider.provider(), plan.provider.model());
                let session = Some(self.session);
                tx.reserve_spend(&day, session, provider, model, PURPOSE, tokens, now).map(Ok)
            })
        });
        reserved.unwrap_or_else(|error: StoreError| Err(ReservationDenied::Ledger(error.to_string())))
    }

    fn settle(&self, reservation: i64, spend: TokenSpend, word: &'static str) {
        let settled = self.compressor.store.with(|store| {
            store.write(|tx| tx.settle_spend(reservation, spend.input, spend.output, spend.estimated, word))
        });
        // A row that stays reserved counts as spent, so the budget errs on the safe side.
        if let Err(error) = settled {
            self.compressor.warn("failed to record the cost of a call", &error);
        }
    }
}

const fn budget_usage(report: SpendReport) -> BudgetUsage {
    BudgetUsage { tokens: report.tokens, open_tokens: report.open_tokens }
}

#[cfg(test)]
#[path = "llm_compressor_tests.rs"]
mod tests;
