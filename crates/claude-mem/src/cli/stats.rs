//! `claude-mem stats`: prints counts, activity per day and token use.

use std::io::Write as _;

use jiff::civil::Date;
use serde::Serialize;

use super::app::App;
use crate::cli::format::{count, grouped};
use crate::cli::output::{QUIET, Screen, TITLE};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_search::date_arg;
use claude_mem_store::{StoreError, StoreReader};

/// Show counts, activity per day and token use
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem stats
  claude-mem stats --days 7 --json")]
pub(super) struct Args {
    /// Number of days to show
    #[arg(long, default_value_t = 14, value_parser = parse_days)]
    days: u16,
}

#[derive(Serialize)]
struct StatsReport {
    observations: u64,
    summaries: u64,
    prompts: u64,
    sessions: u64,
    per_day: Vec<DayStats>,
    by_type: Vec<ObservationCount>,
    by_project: Vec<ObservationCount>,
    tokens: TokenTotals,
}

#[derive(Serialize)]
struct DayStats {
    #[serde(rename = "day")]
    date: String,
    observations: u64,
    /// Tokens of context given to sessions.
    injected_tokens: u64,
}

#[derive(Serialize)]
struct ObservationCount {
    name: String,
    observations: u64,
}

#[derive(Serialize)]
struct TokenTotals {
    /// Tokens spent on model calls.
    spent: u64,
    calls: u64,
    /// Tokens of memories given to sessions.
    told: u64,
    /// Tokens that it cost to find out the memories that sessions used, each once a session. Measured only for
    /// memories that a model made.
    discovered: u64,
}

fn parse_days(text: &str) -> Result<u16, String> {
    let days = text.parse().ok().filter(|days| (1..=366).contains(days));
    days.ok_or_else(|| "expected 1 to 366 days".to_owned())
}

/// Number of types and projects in the text output.
const GROUPS_SHOWN: usize = 12;
/// Width of the longest bar.
const BAR_COLUMNS: u64 = 24;

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let days = date_arg::last_days(i64::from(args.days), app.now, &claude_mem_core::clock::zone());
    let stats = match app.store_if_any()? {
        Some(store) => gather(&store.read(), &days)?,
        None => StatsReport::empty(),
    };
    screen.show(&stats, print)
}

impl StatsReport {
    const fn empty() -> Self {
        Self {
            observations: 0,
            summaries: 0,
            prompts: 0,
            sessions: 0,
            per_day: Vec::new(),
            by_type: Vec::new(),
            by_project: Vec::new(),
            tokens: TokenTotals { spent: 0, calls: 0, told: 0, discovered: 0 },
        }
    }
}

fn gather(reads: &StoreReader<'_>, days: &[(Date, Millis)]) -> Result<StatsReport, StoreError> {
    let counts = reads.counts()?;
    let bounds: Vec<Millis> = days.iter().map(|(_, at)| *at).collect();
    let activity = reads.activity(&bounds)?;
    let (spent, economics) = (reads.total_spend()?, reads.economics()?);
    Ok(StatsReport {
        observations: counts.observations,
        summaries: counts.summaries,
        prompts: counts.prompts,
        sessions: counts.sessions,
        per_day: days
            .iter()
            .zip(&activity)
            .map(|((day, _), made)| DayStats {
                date: day.to_string(),
                observations: made.observations,
                injected_tokens: made.injected_tokens,
            })
            .collect(),
        by_type: sort_by_count(reads.counts_by_type()?),
        by_project: by_project(reads)?,
        tokens: TokenTotals {
            spent: spent.tokens,
            calls: spent.calls,
            told: economics.told_tokens,
            discovered: economics.discovery_tokens,
        },
    })
}

fn by_project(reads: &StoreReader<'_>) -> Result<Vec<ObservationCount>, StoreError> {
    let counts = reads.counts_by_project()?;
    let of = |id: ProjectId| counts.get(&id).map_or(0, |counts| counts.observations);
    let projects: Vec<_> =
        reads.projects()?.into_iter().map(|project| (project.name.clone(), of(project.id))).collect();
    // Observations without a project make up the rest, so that the sum equals the total.
    let in_projects: u64 = projects.iter().map(|(_, count)| count).sum();
    let rest = reads.counts()?.observations.saturating_sub(in_projects);
    let everywhere = ("(every project)".to_owned(), rest);
    Ok(sort_by_count(projects.into_iter().chain([everywhere])))
}

/// Drops zero counts and sorts by count, largest first.
fn sort_by_count(counted: impl IntoIterator<Item = (String, u64)>) -> Vec<ObservationCount> {
    let mut counted: Vec<ObservationCount> = counted
        .into_iter()
        .filter(|(_, count)| *count > 0)
        .map(|(name, observations)| ObservationCount { name, observations })
        .collect();
    counted.sort_by_key(|counted| std::cmp::Reverse(counted.observations));
    counted
}

fn print(screen: &mut Screen, stats: &StatsReport) -> std::io::Result<()> {
    let held = [
        count(stats.observations, "memory"),
        format!("{} summaries", grouped(stats.summaries)),
        count(stats.prompts, "prompt"),
        count(stats.sessions, "session"),
    ];
    writeln!(screen, "{TITLE}{}{TITLE:#}", held.join(", "))?;
    if stats.observations == 0 {
        return Ok(());
    }
    let days: Vec<_> = stats.per_day.iter().map(|day| (day.date.as_str(), day.observations)).collect();
    let days: Vec<_> = days.into_iter().filter(|(_, observations)| *observations > 0).collect();
    if days.is_empty() {
        let length = stats.per_day.len() as u64;
        writeln!(screen, "\n{QUIET}no memories in the last {}{QUIET:#}", count(length, "day"))?;
    } else {
        bars(screen, "memories by day", days)?;
    }
    let named = |counted: &'_ [ObservationCount]| -> Vec<(String, u64)> {
        let shown = counted.iter().take(GROUPS_SHOWN);
        shown.map(|counted| (counted.name.clone(), counted.observations)).collect()
    };
    for (heading, counted) in [("by type", &stats.by_type), ("by project", &stats.by_project)] {
        let named = named(counted);
        let rows = named.iter().map(|(name, count)| (name.as_str(), *count)).collect();
        bars(screen, heading, rows)?;
        if counted.len() > GROUPS_SHOWN {
            writeln!(screen, "{QUIET}and {} more{QUIET:#}", counted.len() - GROUPS_SHOWN)?;
        }
    }
    let tokens = &stats.tokens;
    writeln!(screen)?;
    screen.fact(
        QUIET,
        "context",
        &match tokens.discovered {
            0 => format!(
                "{} tokens of memories given to sessions; what they save is not measured without a model",
                grouped(tokens.told)
            ),
            took => format!(
                "{} tokens of memories given to sessions; those that were used had cost {} tokens to find out",
                grouped(tokens.told),
                grouped(took)
            ),
        },
    )?;
    screen.fact(
        QUIET,
        "spent",
        &format!("{} tokens in {}", grouped(tokens.spent), count(tokens.calls, "model call")),
    )
}

fn bars(screen: &mut Screen, heading: &str, rows: Vec<(&str, u64)>) -> std::io::Result<()> {
    let longest = rows.iter().map(|(_, count)| *count).max().unwrap_or(0).max(1);
    let rows: Vec<[String; 3]> = rows
        .into_iter()
        .map(|(name, count)| {
            let columns = (count * BAR_COLUMNS).div_ceil(longest) as usize;
            [name.to_owned(), grouped(count), "▇".repeat(columns)]
        })
        .collect();
    writeln!(screen)?;
    screen.table([heading, "", ""], &rows)
}
