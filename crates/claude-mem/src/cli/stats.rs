//! `claude-mem stats`: how much is remembered, of what, and what it costs and saves.

use std::io::Write as _;

use jiff::civil::Date;
use serde::Serialize;

use super::app::App;
use super::screen::{QUIET, Screen, TITLE};
use super::words::{count, grouped};
use crate::clock::Millis;
use crate::ids::ProjectId;
use crate::search::dates;
use crate::store::{Reads, StoreError};

/// Show how much is remembered, of what, and what it costs and saves
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem stats
  claude-mem stats --days 7 --json")]
pub(super) struct Args {
    /// Days that are shown one by one
    #[arg(long, default_value_t = 14, value_parser = days)]
    days: u16,
}

#[derive(Serialize)]
struct Stats {
    observations: u64,
    summaries: u64,
    prompts: u64,
    sessions: u64,
    per_day: Vec<Day>,
    by_type: Vec<Counted>,
    by_project: Vec<Counted>,
    tokens: Tokens,
}

#[derive(Serialize)]
struct Day {
    #[serde(rename = "day")]
    date: String,
    observations: u64,
    /// What sessions were told.
    injected_tokens: u64,
}

#[derive(Serialize)]
struct Counted {
    name: String,
    observations: u64,
}

#[derive(Serialize)]
struct Tokens {
    /// Paid to a model for distilling.
    spent: u64,
    calls: u64,
    /// What telling memories again cost.
    told: u64,
    /// What finding them out had cost.
    discovered: u64,
}

fn days(text: &str) -> Result<u16, String> {
    let days = text.parse().ok().filter(|days| (1..=366).contains(days));
    days.ok_or_else(|| "a number of days, 1 to 366".to_owned())
}

/// Types and projects that are shown to a person.
const SHOWN: usize = 12;
/// Of the longest bar.
const BAR_COLUMNS: u64 = 24;

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let days = dates::last_days(i64::from(args.days), app.now, &crate::clock::zone());
    let stats = match app.store_if_any()? {
        Some(store) => gather(&store.read(), &days)?,
        None => Stats::nothing(),
    };
    screen.show(&stats, say)
}

impl Stats {
    const fn nothing() -> Self {
        Self {
            observations: 0,
            summaries: 0,
            prompts: 0,
            sessions: 0,
            per_day: Vec::new(),
            by_type: Vec::new(),
            by_project: Vec::new(),
            tokens: Tokens {
                spent: 0,
                calls: 0,
                told: 0,
                discovered: 0,
            },
        }
    }
}

fn gather(reads: &Reads<'_>, days: &[(Date, Millis)]) -> Result<Stats, StoreError> {
    let counts = reads.counts()?;
    let bounds: Vec<Millis> = days.iter().map(|(_, at)| *at).collect();
    let activity = reads.activity(&bounds)?;
    let (spent, economics) = (reads.spend_in_all()?, reads.economics()?);
    Ok(Stats {
        observations: counts.observations,
        summaries: counts.summaries,
        prompts: counts.prompts,
        sessions: counts.sessions,
        per_day: days
            .iter()
            .zip(&activity)
            .map(|((day, _), made)| Day {
                date: day.to_string(),
                observations: made.observations,
                injected_tokens: made.injected_tokens,
            })
            .collect(),
        by_type: most(reads.counts_by_type()?),
        by_project: by_project(reads)?,
        tokens: Tokens {
            spent: spent.tokens,
            calls: spent.calls,
            told: economics.told_tokens,
            discovered: economics.discovery_tokens,
        },
    })
}

fn by_project(reads: &Reads<'_>) -> Result<Vec<Counted>, StoreError> {
    let counts = reads.counts_by_project()?;
    let of = |id: ProjectId| counts.get(&id).map_or(0, |counts| counts.observations);
    let projects = reads.projects()?.into_iter();
    let projects: Vec<_> = projects
        .map(|project| (project.name.clone(), of(project.id)))
        .collect();
    // What belongs to no project is the rest, so that the sum is the number at the top.
    let in_projects: u64 = projects.iter().map(|(_, count)| count).sum();
    let everywhere = reads.counts()?.observations.saturating_sub(in_projects);
    let everywhere = ("(every project)".to_owned(), everywhere);
    Ok(most(projects.into_iter().chain([everywhere])))
}

/// Those that have any, most first.
fn most(counted: impl IntoIterator<Item = (String, u64)>) -> Vec<Counted> {
    let counted = counted.into_iter().filter(|(_, count)| *count > 0);
    let mut counted: Vec<Counted> = counted
        .map(|(name, observations)| Counted { name, observations })
        .collect();
    counted.sort_by_key(|counted| std::cmp::Reverse(counted.observations));
    counted
}

fn say(screen: &mut Screen, stats: &Stats) -> std::io::Result<()> {
    let held = [
        count(stats.observations, "observation"),
        format!("{} summaries", grouped(stats.summaries)),
        count(stats.prompts, "prompt"),
        count(stats.sessions, "session"),
    ];
    writeln!(screen, "{TITLE}{}{TITLE:#}", held.join(", "))?;
    if stats.observations == 0 {
        return Ok(());
    }
    let days = stats.per_day.iter();
    let days = days
        .map(|day| (day.date.as_str(), day.observations))
        .collect();
    bars(screen, "observations by day", days)?;
    let named = |counted: &'_ [Counted]| -> Vec<(String, u64)> {
        let shown = counted.iter().take(SHOWN);
        shown
            .map(|counted| (counted.name.clone(), counted.observations))
            .collect()
    };
    for (heading, counted) in [
        ("by type", &stats.by_type),
        ("by project", &stats.by_project),
    ] {
        let named = named(counted);
        let rows = named
            .iter()
            .map(|(name, count)| (name.as_str(), *count))
            .collect();
        bars(screen, heading, rows)?;
        if counted.len() > SHOWN {
            writeln!(screen, "{QUIET}and {} more{QUIET:#}", counted.len() - SHOWN)?;
        }
    }
    let tokens = &stats.tokens;
    writeln!(screen)?;
    screen.fact(
        QUIET,
        "told",
        &match tokens.discovered {
            // Without a model nobody counted what it took.
            0 => format!("{} tokens of memories", grouped(tokens.told)),
            took => format!(
                "{} tokens of memories, which took {} to find out",
                grouped(tokens.told),
                grouped(took)
            ),
        },
    )?;
    screen.fact(
        QUIET,
        "spent",
        &format!(
            "{} tokens in {} of a model",
            grouped(tokens.spent),
            count(tokens.calls, "call")
        ),
    )
}

fn bars(screen: &mut Screen, heading: &str, rows: Vec<(&str, u64)>) -> std::io::Result<()> {
    let longest = rows
        .iter()
        .map(|(_, count)| *count)
        .max()
        .unwrap_or(0)
        .max(1);
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
