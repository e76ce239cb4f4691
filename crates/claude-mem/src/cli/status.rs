//! `claude-mem status`: prints health, counts and problems.
//!
//! It never fails: a store that cannot be opened is reported as a problem.

mod sizes;

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::worker;
use crate::cli::format;
use crate::cli::output::{BAD, GOOD, QUIET, Screen, TITLE, WARN};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::{LoadedSettings, Provider, WorkerStart};
use claude_mem_core::pause;
use claude_mem_core::pause::CapturePause;
use claude_mem_core::project;
use claude_mem_ingest::compressor::CompressorReport;
use claude_mem_setup::notices;
use claude_mem_setup::notices::UserNotice;
use claude_mem_store::{RecentCounts, SCHEMA_VERSION, SpendReport, Store, StoreCounts, StoreError};
use sizes::DiskUsage;

/// Show health, counts and problems
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem status
  claude-mem status --json | jq .queue.waiting")]
pub(super) struct Args {}

#[derive(Serialize)]
struct StatusReport {
    version: &'static str,
    schema: u32,
    data_dir: String,
    state: OverallState,
    paused: Option<PauseReport>,
    worker: worker::WorkerStatusReport,
    /// Hooks do not start the worker: the `worker` setting is `manual`.
    #[serde(skip)]
    manual_start: bool,
    /// The `vectors` setting.
    #[serde(skip)]
    vectors: bool,
    queue: QueueFigures,
    /// `null` if the database cannot be read.
    rows: Option<RowCounts>,
    today: RecentCounts,
    bytes: DiskUsage,
    /// The provider of the settings; `worker.uses` is what a running worker really uses.
    provider: &'static str,
    spend: SpendSummary,
    /// The team that this machine belongs to.
    team: Option<TeamMembership>,
    warnings: Vec<String>,
    problems: Vec<UserNotice>,
}

/// The overall state.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum OverallState {
    /// There is no store yet.
    New,
    Ok,
    Paused,
    /// There are `problems`.
    Attention,
}

/// A pause in the JSON output; `null` means none.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct PauseReport {
    since: Option<Millis>,
    until: Option<Millis>,
}

impl PauseReport {
    /// The JSON output of `pause` and `resume`.
    pub(super) fn to_json(pause: Option<CapturePause>) -> serde_json::Value {
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
struct TeamMembership {
    name: String,
    handle: String,
    address: String,
}

#[derive(Default, Serialize)]
struct QueueFigures {
    waiting: u64,
    /// Events of sessions without a prompt yet: they are not overdue.
    waiting_for_prompt: u64,
    leased: u64,
    done: u64,
    dead: u64,
    /// Files in the spool, not yet in the queue.
    spooled: u64,
}

#[derive(Default, Serialize)]
struct RowCounts {
    projects: u64,
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    final_messages: u64,
    /// Rows that can be searched by meaning, once the backlog is empty.
    embeddable: u64,
    vector_backlog: u64,
}

#[derive(Default, Serialize)]
struct SpendSummary {
    today: SpendReport,
    in_all: SpendReport,
    budget_tokens_per_day: u64,
}

pub(super) fn run(_args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let status = collect(app);
    screen.show(&status, |screen, status| print(screen, status, app.now))
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

fn print(screen: &mut Screen, status: &StatusReport, now: Millis) -> std::io::Result<()> {
    let (style, word) = match status.state {
        OverallState::New => (QUIET, "no memories yet"),
        OverallState::Ok => (GOOD, "working"),
        OverallState::Paused => (WARN, "paused"),
        OverallState::Attention => (BAD, "needs attention"),
    };
    writeln!(screen, "{TITLE}claude-mem {}{TITLE:#}  {style}{word}{style:#}", status.version)?;
    writeln!(screen)?;
    for (name, text) in facts(status, now) {
        screen.fact(QUIET, name, &text)?;
    }
    for problem in &status.problems {
        writeln!(screen)?;
        screen.fact(BAD, "problem", &problem.what)?;
        screen.fact(QUIET, "", &problem.fix)?;
    }
    for warning in &status.warnings {
        writeln!(screen)?;
        screen.fact(WARN, "warning", warning)?;
    }
    Ok(())
}

fn facts(status: &StatusReport, now: Millis) -> Vec<(&'static str, String)> {
    use format::{count, size};
    let StatusReport { rows, queue, .. } = status;
    let mut facts = match rows {
        Some(rows) => vec![
            (
                "memory",
                format!(
                    "{}, {} and {} from {} in {}",
                    count(rows.observations, "memory"),
                    count(rows.summaries, "summary"),
                    count(rows.prompts, "prompt"),
                    count(rows.sessions, "session"),
                    count(rows.projects, "project"),
                ),
            ),
            ("today", today_text(status.today)),
        ],
        // Zeros would read as if everything were lost.
        None => vec![("memory", "unknown: the database cannot be read".to_owned())],
    };
    facts.push(("worker", worker_text(status, now)));
    if let Some(address) = &status.worker.address {
        facts.push(("viewer", format!("{address}; `claude-mem open` opens it")));
    }
    let mut parts = vec![format!("{} waiting", format::grouped(queue.waiting))];
    match queue.waiting_for_prompt {
        0 => {}
        n => parts.push(format!("{} waiting for a prompt", format::grouped(n))),
    }
    for (n, what) in [(queue.leased, "in progress"), (queue.spooled, "spooled"), (queue.dead, "dead")] {
        if n > 0 {
            parts.push(format!("{} {what}", format::grouped(n)));
        }
    }
    facts.push(("queue", parts.join(", ")));
    if let Some(rows) = rows.as_ref().filter(|rows| status.vectors && rows.vector_backlog > 0) {
        facts.push(("index", index_text(rows)));
    }
    if let Some(pause) = status.paused {
        facts.push(("paused", paused_text(pause, now)));
    }
    facts.push(("provider", provider_text(status)));
    if let Some(TeamMembership { name, handle, address }) = &status.team {
        facts.push(("team", format!("{name} at {address}, as {handle}; `claude-mem team status` says more")));
    }
    facts.push(("disk", format!("{} in {}", size(status.bytes.total), status.data_dir)));
    facts
}

fn today_text(today: RecentCounts) -> String {
    if today == RecentCounts::default() {
        return "nothing yet".to_owned();
    }
    format!(
        "{} and {} from {}",
        format::count(today.observations, "memory"),
        format::count(today.summaries, "summary"),
        format::count(today.sessions, "session"),
    )
}

fn worker_text(status: &StatusReport, now: Millis) -> String {
    match status.worker.since {
        Some(since) => format!("running, started {}", format::ago(since, now)),
        None if status.worker.running => "starting".to_owned(),
        None if status.worker.trouble.is_some() => "unknown".to_owned(),
        None if status.manual_start => "not running; `claude-mem worker start`".to_owned(),
        None => "not running; hooks start it when there is work".to_owned(),
    }
}

/// The progress of the vector index.
fn index_text(rows: &RowCounts) -> String {
    let done = rows.embeddable.saturating_sub(rows.vector_backlog);
    format!(
        "{} of {} searchable by meaning, {} waiting",
        format::grouped(done),
        format::count(rows.embeddable, "row"),
        format::grouped(rows.vector_backlog),
    )
}

fn paused_text(pause: PauseReport, now: Millis) -> String {
    let since = pause.since.map_or_else(String::new, |since| format!("{}, ", format::ago(since, now)));
    match pause.until {
        Some(until) => format!("{since}until {}", format::local_time(until)),
        None => format!("{since}until `claude-mem resume`"),
    }
}

/// The provider as the worker reports it; without a worker, as the next one will use it.
fn provider_text(status: &StatusReport) -> String {
    let spent = status.spend.in_all.tokens;
    let provider = match &status.worker.uses {
        Some(uses) => used_provider(uses),
        None => status.provider.to_owned(),
    };
    if status.provider == Provider::Local.as_str() || spent == 0 {
        return format!("{provider}; no tokens spent");
    }
    format!(
        "{provider}; {} of {} tokens today, {} in total",
        format::grouped(status.spend.today.tokens),
        format::grouped(status.spend.budget_tokens_per_day),
        format::grouped(spent),
    )
}

fn used_provider(uses: &CompressorReport) -> String {
    let mut text = match uses.configured.as_str() {
        configured if configured == uses.provider || configured == Provider::Auto.as_str() => {
            uses.provider.clone()
        }
        configured => format!("{} instead of {configured}", uses.provider),
    };
    if !uses.model.is_empty() {
        text.push_str(&format!(", model {}", uses.model));
    }
    let place = if uses.program.is_empty() { &uses.address } else { &uses.program };
    if !place.is_empty() {
        text.push_str(&format!(" at {place}"));
    }
    if !uses.vocabulary.is_empty() {
        text.push_str(&format!(", vocabulary {}", uses.vocabulary));
    }
    text
}
