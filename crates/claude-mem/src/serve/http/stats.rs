//! Figures for the dashboard.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::api::Api;
use super::call::Params;
use super::figures::Figures;
use super::problem::Problem;
use super::queue::Counts as Queue;
use super::route::Nothing;
use crate::config::Loaded;
use crate::findings::{self, Finding};
use crate::ids::ProjectId;
use crate::store::{Activity, Reads};

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
    id: ProjectId,
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

impl From<Activity> for Made {
    fn from(activity: Activity) -> Self {
        Self {
            observations: activity.observations,
            summaries: activity.summaries,
            prompts: activity.prompts,
        }
    }
}

impl From<Finding> for Trouble {
    fn from(Finding { what, fix }: Finding) -> Self {
        Self { problem: what, fix }
    }
}

pub(super) fn stats(api: &Api, _: &Params, _: Nothing) -> Result<Stats, Problem> {
    let (settings, figures) = (api.settings(), api.figures()?);
    let days = figures.days.iter();
    let per_day = days.map(|(day, activity)| Day {
        day: day.to_string(),
        made: Made::from(*activity),
    });
    let per_day: Vec<Day> = per_day.collect();
    let by_type = figures.by_type.iter().map(|(name, count)| OfType {
        r#type: name.clone(),
        count: *count,
    });
    let (counts, dir) = (&figures.counts, api.dir());
    api.view(|reads| {
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
            queue: reads.queue_counts()?.into(),
            today: per_day.last().map_or_else(Made::default, |day| day.made),
            by_type: by_type.collect(),
            by_project: of_projects(reads, &figures)?,
            tokens: tokens(reads, &figures, settings.settings.budget_tokens_per_day)?,
            per_day,
            health: health(api, reads, &settings)?,
        })
    })
}

fn of_projects(reads: &Reads<'_>, figures: &Figures) -> Result<Vec<OfProject>, Problem> {
    let projects = reads.projects()?.into_iter();
    let mut found: Vec<OfProject> = projects
        .map(|project| OfProject {
            count: figures
                .by_project
                .get(&project.id)
                .map_or(0, |counts| counts.observations),
            id: project.id,
            project: project.name,
        })
        .filter(|project| project.count > 0)
        .collect();
    found.sort_by_key(|project| std::cmp::Reverse(project.count));
    Ok(found)
}

fn tokens(reads: &Reads<'_>, figures: &Figures, budget_per_day: u64) -> Result<Tokens, Problem> {
    let first = figures.days.first().map(|(day, _)| day.to_string());
    let spent = reads.spend_by_day(&first.unwrap_or_default())?;
    let spent_on = |day: &str| {
        let found = spent.iter().find(|(on, _)| on == day);
        found.map_or(0, |(_, tokens)| *tokens)
    };
    let per_day = figures.days.iter().map(|(day, activity)| {
        let day = day.to_string();
        TokensOfDay {
            spent: spent_on(&day),
            injected: activity.injected_tokens,
            day,
        }
    });
    let per_day: Vec<TokensOfDay> = per_day.collect();
    let (all, economics) = (reads.spend_in_all()?, figures.economics);
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

/// What needs the person, as `status` tells it.
fn health(api: &Api, reads: &Reads<'_>, settings: &Loaded) -> Result<Vec<Trouble>, Problem> {
    let mut found = findings::of_directory(api.dir(), settings);
    found.extend(findings::of_memory(reads, &settings.settings, api.now())?);
    let trouble = api.worker.report().trouble;
    found.extend(trouble.as_deref().map(findings::of_worker));
    Ok(found.into_iter().map(Trouble::from).collect())
}

/// With its write-ahead log. What is not there takes no room.
fn size(path: &Path) -> u64 {
    let mut log = path.as_os_str().to_owned();
    log.push("-wal");
    let of = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    of(path) + of(Path::new(&log))
}
