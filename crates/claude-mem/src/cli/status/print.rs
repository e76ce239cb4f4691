//! Prints a [`StatusReport`] for people.

use std::io::Write as _;

use super::report::{OverallState, PauseReport, RowCounts, StatusReport, TeamMembership};
use crate::cli::format;
use crate::cli::output::{BAD, GOOD, QUIET, Screen, TITLE, WARN};
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Provider;
use claude_mem_ingest::compressor::CompressorReport;
use claude_mem_store::RecentCounts;

pub(super) fn print_status(screen: &mut Screen, status: &StatusReport, now: Millis) -> std::io::Result<()> {
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
