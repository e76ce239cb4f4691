//! [`StatusReport`]: the JSON output of `claude-mem status`.

use serde::Serialize;

use super::sizes::DiskUsage;
use crate::cli::worker;
use claude_mem_core::clock::Millis;
use claude_mem_core::pause::CapturePause;
use claude_mem_setup::notices::UserNotice;
use claude_mem_store::{RecentCounts, SpendReport};

/// The report of `claude-mem status`.
#[derive(Serialize)]
pub(super) struct StatusReport {
    pub(super) version: &'static str,
    pub(super) schema: u32,
    pub(super) data_dir: String,
    pub(super) state: OverallState,
    pub(super) paused: Option<PauseReport>,
    pub(super) worker: worker::WorkerStatusReport,
    /// Hooks do not start the worker: the `worker` setting is `manual`.
    #[serde(skip)]
    pub(super) manual_start: bool,
    /// The `vectors` setting.
    #[serde(skip)]
    pub(super) vectors: bool,
    pub(super) queue: QueueFigures,
    /// `null` if the database cannot be read.
    pub(super) rows: Option<RowCounts>,
    pub(super) today: RecentCounts,
    pub(super) bytes: DiskUsage,
    /// The provider of the settings; `worker.uses` is what a running worker really uses.
    pub(super) provider: &'static str,
    pub(super) spend: SpendSummary,
    /// The team that this machine belongs to.
    pub(super) team: Option<TeamMembership>,
    pub(super) warnings: Vec<String>,
    pub(super) problems: Vec<UserNotice>,
}

/// The overall state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OverallState {
    /// There is no store yet.
    New,
    Ok,
    Paused,
    /// There are `problems`.
    Attention,
}

/// A pause in the JSON output; `null` means none.
#[derive(Clone, Copy, Debug, Serialize)]
pub(in crate::cli) struct PauseReport {
    pub(super) since: Option<Millis>,
    pub(super) until: Option<Millis>,
}

impl PauseReport {
    /// The JSON output of `pause` and `resume`.
    pub(in crate::cli) fn to_json(pause: Option<CapturePause>) -> serde_json::Value {
        serde_json::json!({ "paused": pause.map(Self::from) })
    }
}

impl From<CapturePause> for PauseReport {
    fn from(pause: CapturePause) -> Self {
        let CapturePause { since, until } = pause;
        Self { since, until }
    }
}

#[derive(Serialize)]
pub(super) struct TeamMembership {
    pub(super) name: String,
    pub(super) handle: String,
    pub(super) address: String,
}

#[derive(Default, Serialize)]
pub(super) struct QueueFigures {
    pub(super) waiting: u64,
    /// Events of sessions without a prompt yet: they are not overdue.
    pub(super) waiting_for_prompt: u64,
    pub(super) leased: u64,
    pub(super) done: u64,
    pub(super) dead: u64,
    /// Files in the spool, not yet in the queue.
    pub(super) spooled: u64,
}

#[derive(Default, Serialize)]
pub(super) struct RowCounts {
    pub(super) projects: u64,
    pub(super) sessions: u64,
    pub(super) prompts: u64,
    pub(super) observations: u64,
    pub(super) summaries: u64,
    pub(super) final_messages: u64,
    /// Rows that can be searched by meaning, once the backlog is empty.
    pub(super) embeddable: u64,
    pub(super) vector_backlog: u64,
}

#[derive(Default, Serialize)]
pub(super) struct SpendSummary {
    pub(super) today: SpendReport,
    pub(super) in_all: SpendReport,
    pub(super) budget_tokens_per_day: u64,
}
