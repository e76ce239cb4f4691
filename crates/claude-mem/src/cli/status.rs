//! `claude-mem status`: is it working, what does it hold, what needs a hand.

mod sizes;

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::{BAD, GOOD, QUIET, Screen, TITLE, WARN};
use super::{words, worker};
use crate::clock::{self, Millis};
use crate::config::{Loaded, Provider, WorkerStart};
use crate::findings::{self, Finding};
use crate::pause::{self, Pause};
use crate::store::{Counts, MadeSince, SCHEMA_VERSION, SpendReport, Store, StoreError};
use sizes::Sizes;

/// Show whether it works, what it holds and what needs you
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem status
  claude-mem status --json | jq .queue.waiting")]
pub(super) struct Args {}

#[derive(Serialize)]
struct Status {
    version: &'static str,
    schema: u32,
    data_dir: String,
    state: State,
    paused: Option<Paused>,
    worker: worker::Report,
    /// Hooks leave starting the worker to the person.
    #[serde(skip)]
    by_hand: bool,
    queue: Queue,
    rows: Rows,
    today: MadeSince,
    bytes: Sizes,
    provider: &'static str,
    spend: Spend,
    warnings: Vec<String>,
    problems: Vec<Finding>,
}

/// The one word that answers "is it working".
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
enum State {
    /// Nothing was ever remembered here.
    New,
    Ok,
    Paused,
    /// Something needs the user; `problems` says what.
    Attention,
}

/// A pause as JSON shows it; `null` means none.
#[derive(Clone, Copy, Debug, Serialize)]
pub(super) struct Paused {
    since: Option<Millis>,
    until: Option<Millis>,
}

impl Paused {
    pub(super) fn of(pause: Option<Pause>) -> serde_json::Value {
        serde_json::json!({ "paused": pause.map(Self::from) })
    }
}

impl From<Pause> for Paused {
    fn from(pause: Pause) -> Self {
        let Pause { since, until } = pause;
        Self { since, until }
    }
}

#[derive(Default, Serialize)]
struct Queue {
    waiting: u64,
    /// Of sessions that were opened and not asked anything yet: nothing is late.
    waiting_for_prompt: u64,
    leased: u64,
    done: u64,
    dead: u64,
    /// Files that no database could take yet.
    spooled: u64,
}

#[derive(Default, Serialize)]
struct Rows {
    projects: u64,
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    final_messages: u64,
    vector_backlog: u64,
}

#[derive(Default, Serialize)]
struct Spend {
    today: SpendReport,
    in_all: SpendReport,
    budget_tokens_per_day: u64,
}

pub(super) fn run(_args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let status = look(app);
    screen.show(&status, |screen, status| print(screen, status, app.now))
}

/// Never fails: a store that cannot be opened is a problem to be shown, not a reason to show
/// nothing.
fn look(app: &App) -> Status {
    let taken_in = app.take_in_spool();
    let loaded = app.settings();
    let bytes = Sizes::of(&app.data);
    let paused = pause::in_force(&app.data.paused(), app.now);
    let mut problems = findings::of_directory(&app.data, &loaded);
    let (held, is_new) = match held(app, &loaded) {
        Ok(Some(held)) => (held, false),
        Ok(None) => (Held::default(), true),
        Err(error) => {
            problems.push(findings::of_store(&error, &app.data));
            (Held::default(), false)
        }
    };
    let Held {
        counts,
        waiting_for_prompt,
        today,
        in_all,
        made_today,
        findings,
    } = held;
    problems.extend(findings);
    let worker = worker::look(app).unwrap_or_else(|error| worker::Report::unknown(&error));
    if let Some(trouble) = &worker.trouble {
        problems.push(findings::of_worker(trouble));
    }
    problems.extend(
        taken_in
            .err()
            .map(|error| findings::of_unread_spool(&error)),
    );
    problems.extend(findings::of_spool(bytes.spooled_files));
    problems.extend(findings::of_set_aside(bytes.set_aside_files));
    problems.extend(findings::of_hooks(&app.data, &|name| {
        std::env::var_os(name)
    }));
    Status {
        version: env!("CARGO_PKG_VERSION"),
        schema: SCHEMA_VERSION,
        data_dir: app.data.root().display().to_string(),
        state: match (&problems[..], paused) {
            ([_, ..], _) => State::Attention,
            ([], Some(_)) => State::Paused,
            ([], None) if is_new => State::New,
            ([], None) => State::Ok,
        },
        paused: paused.map(Paused::from),
        worker,
        by_hand: loaded.settings.worker == WorkerStart::Manual,
        queue: queue(&counts, waiting_for_prompt, bytes.spooled_files),
        rows: rows(&counts),
        today: made_today,
        provider: loaded.settings.provider.as_str(),
        spend: Spend {
            today,
            in_all,
            budget_tokens_per_day: loaded.settings.budget_tokens_per_day,
        },
        warnings: warnings(&loaded),
        bytes,
        problems,
    }
}

#[derive(Default)]
struct Held {
    counts: Counts,
    waiting_for_prompt: u64,
    today: SpendReport,
    in_all: SpendReport,
    made_today: MadeSince,
    findings: Vec<Finding>,
}

fn held(app: &App, loaded: &Loaded) -> Result<Option<Held>, StoreError> {
    let Some(store) = app.store_if_any()? else {
        return Ok(None);
    };
    Held::of(&store, loaded, app.now).map(Some)
}

impl Held {
    fn of(store: &Store, loaded: &Loaded, now: Millis) -> Result<Self, StoreError> {
        let read = store.read();
        Ok(Self {
            counts: read.counts()?,
            waiting_for_prompt: read.waiting_for_prompt()?.len() as u64,
            today: read.spend_on(&clock::local_day(now))?,
            in_all: read.spend_in_all()?,
            made_today: read.made_since(words::local_midnight(now))?,
            findings: findings::of_memory(&read, &loaded.settings, now)?,
        })
    }
}

fn queue(counts: &Counts, waiting_for_prompt: u64, spooled: u64) -> Queue {
    Queue {
        waiting: counts.queue.waiting.saturating_sub(waiting_for_prompt),
        waiting_for_prompt,
        leased: counts.queue.leased,
        done: counts.queue.done,
        dead: counts.queue.dead,
        spooled,
    }
}

fn rows(counts: &Counts) -> Rows {
    Rows {
        projects: counts.projects,
        sessions: counts.sessions,
        prompts: counts.prompts,
        observations: counts.observations,
        summaries: counts.summaries,
        final_messages: counts.final_messages,
        vector_backlog: counts.vector_backlog,
    }
}

fn warnings(loaded: &Loaded) -> Vec<String> {
    loaded.warnings.iter().map(ToString::to_string).collect()
}

fn print(screen: &mut Screen, status: &Status, now: Millis) -> std::io::Result<()> {
    let (style, word) = match status.state {
        State::New => (QUIET, "nothing remembered yet"),
        State::Ok => (GOOD, "working"),
        State::Paused => (WARN, "paused"),
        State::Attention => (BAD, "needs you"),
    };
    writeln!(
        screen,
        "{TITLE}claude-mem {}{TITLE:#}  {style}{word}{style:#}",
        status.version
    )?;
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

fn facts(status: &Status, now: Millis) -> Vec<(&'static str, String)> {
    use words::{count, size};
    let Status { rows, queue, .. } = status;
    let mut facts = vec![(
        "memory",
        format!(
            "{}, {} and {} of {} in {}",
            count(rows.observations, "observation"),
            count(rows.summaries, "summary"),
            count(rows.prompts, "prompt"),
            count(rows.sessions, "session"),
            count(rows.projects, "project"),
        ),
    )];
    facts.push(("today", today_text(status.today)));
    facts.push(("worker", worker_text(status, now)));
    if let Some(address) = &status.worker.address {
        facts.push(("viewer", format!("{address}; `claude-mem open` opens it")));
    }
    let mut parts = vec![format!("{} waiting", words::grouped(queue.waiting))];
    match queue.waiting_for_prompt {
        0 => {}
        1 => parts.push("1 waits for its prompt".to_owned()),
        n => parts.push(format!("{} wait for their prompts", words::grouped(n))),
    }
    for (n, what) in [
        (queue.leased, "being worked on"),
        (queue.spooled, "spooled"),
        (queue.dead, "dead"),
    ] {
        if n > 0 {
            parts.push(format!("{} {what}", words::grouped(n)));
        }
    }
    facts.push(("queue", parts.join(", ")));
    if let Some(pause) = status.paused {
        facts.push(("paused", paused_text(pause, now)));
    }
    facts.push(("provider", provider_text(status)));
    facts.push((
        "disk",
        format!("{} in {}", size(status.bytes.total), status.data_dir),
    ));
    facts
}

fn today_text(today: MadeSince) -> String {
    if today == MadeSince::default() {
        return "nothing yet".to_owned();
    }
    format!(
        "{} and {} from {}",
        words::count(today.observations, "observation"),
        words::count(today.summaries, "summary"),
        words::count(today.sessions, "session"),
    )
}

fn worker_text(status: &Status, now: Millis) -> String {
    match status.worker.since {
        Some(since) => format!("running, started {}", words::ago(since, now)),
        None if status.worker.running => "starting".to_owned(),
        None if status.worker.trouble.is_some() => "not known".to_owned(),
        None if status.by_hand => "not running; `claude-mem worker start`".to_owned(),
        None => "not running; hooks start it when there is work".to_owned(),
    }
}

fn paused_text(pause: Paused, now: Millis) -> String {
    let since = pause
        .since
        .map_or_else(String::new, |since| format!("{}, ", words::ago(since, now)));
    match pause.until {
        Some(until) => format!("{since}until {}", words::local(until)),
        None => format!("{since}until `claude-mem resume`"),
    }
}

fn provider_text(status: &Status) -> String {
    let spent = status.spend.in_all.tokens;
    if status.provider == Provider::Local.as_str() || spent == 0 {
        return format!("{}; no tokens spent", status.provider);
    }
    format!(
        "{}; {} of {} tokens today, {} in all",
        status.provider,
        words::grouped(status.spend.today.tokens),
        words::grouped(status.spend.budget_tokens_per_day),
        words::grouped(spent),
    )
}
