//! Figures for the dashboard.

use std::path::Path;

use jiff::civil::Date;
use jiff::{Timestamp, ToSpan as _};
use schemars::JsonSchema;
use serde::Serialize;

use super::api::Api;
use super::call::Params;
use super::problem::Problem;
use super::queue::Counts as Queue;
use super::route::Nothing;
use crate::clock::Millis;
use crate::serve::recover::NOTICE;
use crate::store::Reads;

/// Days that the charts go back.
const DAYS: i64 = 60;

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct Stats {
    counts: Counts,
    database: Database,
    vectors: Vectors,
    queue: Queue,
    today: Made,
    per_day: Vec<Day>,
    by_type: Vec<OfType>,
    by_project: Vec<OfProject>,
    tokens: Tokens,
    health: Vec<Trouble>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Counts {
    projects: u64,
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    messages: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Database {
    bytes: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Vectors {
    bytes: u64,
    /// Rows that have none yet.
    backlog: u64,
}

#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
struct Made {
    observations: u64,
    summaries: u64,
    prompts: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Day {
    day: String,
    #[serde(flatten)]
    made: Made,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OfType {
    r#type: String,
    count: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct OfProject {
    project: String,
    count: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Tokens {
    spent_today: u64,
    spent_total: u64,
    calls: u64,
    budget_per_day: u64,
    /// What finding out cost, of all that was told again.
    discovery: u64,
    /// What telling it again cost.
    read: u64,
    saved: u64,
    per_day: Vec<TokensOfDay>,
}

#[derive(Debug, Serialize, JsonSchema)]
struct TokensOfDay {
    day: String,
    spent: u64,
    injected: u64,
}

#[derive(Debug, Serialize, JsonSchema)]
struct Trouble {
    problem: String,
    fix: String,
}

pub(super) fn stats(api: &Api, _: &Params, _: Nothing) -> Result<Stats, Problem> {
    let days = days(api);
    let bounds: Vec<Millis> = days.iter().map(|(_, at)| *at).collect();
    let settings = api.settings();
    api.view(|reads| {
        let counts = reads.counts()?;
        let activity = reads.activity(&bounds)?;
        let per_day: Vec<Day> = days
            .iter()
            .zip(&activity)
            .map(|((day, _), made)| Day {
                day: day.to_string(),
                made: Made {
                    observations: made.observations,
                    summaries: made.summaries,
                    prompts: made.prompts,
                },
            })
            .collect();
        let injected: Vec<u64> = activity.iter().map(|made| made.injected_tokens).collect();
        let dir = api.dir();
        let mut health = troubles(api, reads, counts.queue.dead)?;
        if settings.file_unreadable {
            health.push(Trouble {
                problem: "settings.json cannot be read, so none of its settings hold".to_owned(),
                fix: format!("mend {}", dir.settings().display()),
            });
        }
        Ok(Stats {
            counts: Counts {
                projects: counts.projects,
                sessions: counts.sessions,
                prompts: counts.prompts,
                observations: counts.observations,
                summaries: counts.summaries,
                messages: counts.final_messages,
            },
            database: Database {
                bytes: size(&dir.db()),
            },
            vectors: Vectors {
                bytes: size(&dir.vectors_db()),
                backlog: counts.vector_backlog,
            },
            queue: counts.queue.into(),
            today: per_day.last().map_or_else(Made::default, |day| day.made),
            by_type: of_types(reads)?,
            by_project: of_projects(reads)?,
            tokens: tokens(
                reads,
                &days,
                &injected,
                settings.settings.budget_tokens_per_day,
            )?,
            per_day,
            health,
        })
    })
}

/// The days of the charts and when each begins, with the day after today as the last bound.
fn days(api: &Api) -> Vec<(Date, Millis)> {
    let now = Timestamp::from_millisecond(api.now().0).unwrap_or(Timestamp::UNIX_EPOCH);
    let today = now.to_zoned(api.zone.clone()).date();
    let begins = |day: Date| {
        let begins = day.to_zoned(api.zone.clone()).ok()?;
        Some((day, Millis(begins.timestamp().as_millisecond())))
    };
    (0..=DAYS)
        .filter_map(|at| today.checked_add((at - DAYS + 1).days()).ok())
        .filter_map(begins)
        .collect()
}

fn of_types(reads: &Reads<'_>) -> Result<Vec<OfType>, Problem> {
    let counted = reads.counts_by_type()?.into_iter();
    Ok(counted
        .map(|(name, count)| OfType {
            r#type: name,
            count,
        })
        .collect())
}

fn of_projects(reads: &Reads<'_>) -> Result<Vec<OfProject>, Problem> {
    let counts = reads.counts_by_project()?;
    let projects = reads.projects()?.into_iter();
    let mut found: Vec<OfProject> = projects
        .map(|project| OfProject {
            count: counts
                .get(&project.id)
                .map_or(0, |counts| counts.observations),
            project: project.name,
        })
        .filter(|project| project.count > 0)
        .collect();
    found.sort_by_key(|project| std::cmp::Reverse(project.count));
    Ok(found)
}

fn tokens(
    reads: &Reads<'_>,
    days: &[(Date, Millis)],
    injected: &[u64],
    budget_per_day: u64,
) -> Result<Tokens, Problem> {
    let first = days
        .first()
        .map(|(day, _)| day.to_string())
        .unwrap_or_default();
    let spent = reads.spend_by_day(&first)?;
    let spent_on = |day: &str| {
        let found = spent.iter().find(|(on, _)| on == day);
        found.map_or(0, |(_, tokens)| *tokens)
    };
    let per_day = days.iter().zip(injected).map(|((day, _), injected)| {
        let day = day.to_string();
        TokensOfDay {
            spent: spent_on(&day),
            injected: *injected,
            day,
        }
    });
    let per_day: Vec<TokensOfDay> = per_day.collect();
    let (all, economics) = (reads.spend_in_all()?, reads.economics()?);
    Ok(Tokens {
        spent_today: per_day.last().map_or(0, |day| day.spent),
        spent_total: all.tokens,
        calls: all.calls,
        budget_per_day,
        discovery: economics.discovery_tokens,
        read: economics.told_tokens,
        saved: economics
            .discovery_tokens
            .saturating_sub(economics.told_tokens),
        per_day,
    })
}

/// What needs the person.
fn troubles(api: &Api, reads: &Reads<'_>, dead: u64) -> Result<Vec<Trouble>, Problem> {
    let mut found = Vec::new();
    if let Some(trouble) = api.worker.report().trouble {
        let fix = "claude-mem worker logs".to_owned();
        found.push(Trouble {
            problem: trouble,
            fix,
        });
    }
    if dead > 0 {
        found.push(Trouble {
            problem: format!("events that could not be worked on: {dead}"),
            fix: "claude-mem queue list --state dead".to_owned(),
        });
    }
    if reads.meta(NOTICE)?.is_some() {
        found.push(Trouble {
            problem: "the database was damaged and has been recovered".to_owned(),
            fix: "claude-mem status".to_owned(),
        });
    }
    Ok(found)
}

/// With its write-ahead log. What is not there takes no room.
fn size(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let of = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    of(path) + of(Path::new(&log))
}
