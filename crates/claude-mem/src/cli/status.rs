//! `claude-mem status`: prints health, counts and problems.
//!
//! It never fails: a store that cannot be opened is reported as a problem.

mod print;
mod report;
mod sizes;

use super::app::App;
use super::worker;
use crate::cli::format;
use crate::cli::output::Screen;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::{LoadedSettings, WorkerStart};
use claude_mem_core::pause;
use claude_mem_core::project;
use claude_mem_setup::notices;
use claude_mem_setup::notices::UserNotice;
use claude_mem_store::{RecentCounts, SCHEMA_VERSION, SpendReport, Store, StoreCounts, StoreError};
use print::print_status;
pub(super) use report::PauseReport;
use report::{OverallState, QueueFigures, RowCounts, SpendSummary, StatusReport, TeamMembership};
use sizes::DiskUsage;

/// Show health, counts and problems
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem status
  claude-mem status --json | jq .queue.waiting")]
pub(super) struct Args {}

pub(super) fn run(_args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let status = collect(app);
    screen.show(&status, |screen, status| print_status(screen, status, app.now))
}

/// Collects the report. Errors become `problems`.
fn collect(app: &App) -> StatusReport {
    let taken_in = app.ingest_spool();
    let loaded = app.settings();
    let bytes = DiskUsage::measure(&app.data);
    let paused = pause::active_pause(&app.data.paused(), app.now);
    let mut problems = notices::directory_notices(&app.data, &loaded);
    let (held, is_new, is_readable) = match read_store(app, &loaded) {
        Ok(Some(held)) => (held, false, true),
        Ok(None) => (StoreFigures::default(), true, true),
        Err(error) => {
            problems.push(notices::store_error_notice(&error, &app.data));
            (StoreFigures::default(), false, false)
        }
    };
    let StoreFigures { counts, waiting_for_prompt, today, in_all, made_today, findings } = held;
    problems.extend(findings);
    let worker = worker::probe(app).unwrap_or_else(|error| worker::WorkerStatusReport::unknown(&error));
    if let Some(trouble) = &worker.trouble {
        problems.push(notices::worker_notice(trouble));
    }
    let team = claude_mem_sharing::load_team(&app.data).unwrap_or_else(|error| {
        problems.push(UserNotice { what: error.to_string(), fix: "claude-mem team join LINK".to_owned() });
        None
    });
    let spool = notices::spool_notices(&app.data);
    let unread = taken_in.err().map(|error| notices::unread_spool_notice(&error));
    problems.extend(unread.filter(|notice| !spool.contains(notice)));
    problems.extend(spool);
    problems.extend(notices::missing_hooks_notice(&app.data, &|name| std::env::var_os(name)));
    StatusReport {
        version: env!("CARGO_PKG_VERSION"),
        schema: SCHEMA_VERSION,
        data_dir: app.data.root().display().to_string(),
        state: match (&problems[..], paused) {
            ([_, ..], _) => OverallState::Attention,
            ([], Some(_)) => OverallState::Paused,
            ([], None) if is_new => OverallState::New,
            ([], None) => OverallState::Ok,
        },
        paused: paused.map(PauseReport::from),
        worker,
        vectors: loaded.settings.vectors,
        manual_start: loaded.settings.worker == WorkerStart::Manual,
        queue: queue(&counts, waiting_for_prompt, bytes.spooled_files),
        rows: is_readable.then(|| rows(&counts)),
        today: made_today,
        provider: loaded.settings.provider.as_str(),
        spend: SpendSummary { today, in_all, budget_tokens_per_day: loaded.settings.budget_tokens_per_day },
        team: team.map(|team| TeamMembership { name: team.team, handle: team.handle, address: team.base }),
        warnings: warnings(&loaded),
        bytes,
        problems,
    }
}

/// The values that `status` reads from the store.
#[derive(Default)]
struct StoreFigures {
    counts: StoreCounts,
    waiting_for_prompt: u64,
    today: SpendReport,
    in_all: SpendReport,
    made_today: RecentCounts,
    findings: Vec<UserNotice>,
}

fn read_store(app: &App, loaded: &LoadedSettings) -> Result<Option<StoreFigures>, StoreError> {
    let Some(store) = app.store_if_any()? else {
        return Ok(None);
    };
    StoreFigures::read(&store, loaded, app.now).map(Some)
}

impl StoreFigures {
    fn read(store: &Store, loaded: &LoadedSettings, now: Millis) -> Result<Self, StoreError> {
        let read = store.read();
        Ok(Self {
            counts: read.counts()?,
            waiting_for_prompt: read.waiting_for_prompt()?.len() as u64,
            today: read.spend_on(&clock::local_day(now))?,
            in_all: read.total_spend()?,
            made_today: read.counts_since(format::local_midnight(now))?,
            findings: {
                let mut found = notices::store_notices(&read, &loaded.settings, now)?;
                found.extend(notices::shared_row_notices(&read)?);
                if let Ok(here) = std::env::current_dir() {
                    found.extend(notices::project_notice(&read, &project::identify(&here).keys)?);
                }
                found
            },
        })
    }
}

fn queue(counts: &StoreCounts, waiting_for_prompt: u64, spooled: u64) -> QueueFigures {
    QueueFigures {
        waiting: counts.queue.waiting.saturating_sub(waiting_for_prompt),
        waiting_for_prompt,
        leased: counts.queue.leased,
        done: counts.queue.done,
        dead: counts.queue.dead,
        spooled,
    }
}

fn rows(counts: &StoreCounts) -> RowCounts {
    RowCounts {
        projects: counts.projects,
        sessions: counts.sessions,
        prompts: counts.prompts,
        observations: counts.observations,
        summaries: counts.summaries,
        final_messages: counts.final_messages,
        embeddable: counts.embeddable,
        vector_backlog: counts.vector_backlog,
    }
}

fn warnings(loaded: &LoadedSettings) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}
