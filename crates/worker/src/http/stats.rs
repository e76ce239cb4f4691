//! Statistics for the dashboard.

use std::path::Path;

use schemars::JsonSchema;
use serde::Serialize;

use super::agent_stats::agent_stats;
use super::agent_stats_view::AgentStatsView;
use super::api::ApiState;
use super::handler_request::PathParams;
use super::health_findings::{HealthNoticeView, health_notices};
use super::problem::Problem;
use super::queue::QueueCountsView as Queue;
use super::route::NoParams;
use super::stats_cache::StatsSnapshot;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::paths::with_suffix;
use claude_mem_store::{ActivityBucket, StoreReader};

/// All statistics of the dashboard.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Stats")]
pub(super) struct StatsView {
    counts: TotalsView,
    database: DatabaseSizeView,
    vectors: VectorIndexView,
    queue: Queue,
    today: CreatedCounts,
    per_day: Vec<DailyCountsView>,
    by_type: Vec<TypeCountView>,
    by_project: Vec<ProjectCountView>,
    tokens: TokenStatsView,
    health: Vec<HealthNoticeView>,
    agents: Vec<AgentStatsView>,
}

/// Number of rows of each kind.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Counts")]
struct TotalsView {
    projects: u64,
    sessions: u64,
    prompts: u64,
    observations: u64,
    summaries: u64,
    messages: u64,
}

/// Size of the database.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Database")]
struct DatabaseSizeView {
    bytes: u64,
}

/// Size of the vector index, and what it lacks.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Vectors")]
struct VectorIndexView {
    bytes: u64,
    /// Rows that can have vectors.
    rows: u64,
    /// Rows without a vector yet.
    backlog: u64,
}

/// Rows created in a period.
#[derive(Clone, Copy, Debug, Default, Serialize, JsonSchema)]
#[schemars(rename = "Made")]
struct CreatedCounts {
    observations: u64,
    summaries: u64,
    prompts: u64,
}

/// Rows created on one day.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Day")]
struct DailyCountsView {
    day: String,
    #[serde(flatten)]
    made: CreatedCounts,
}

/// Number of observations of one type.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OfType")]
struct TypeCountView {
    r#type: String,
    count: u64,
}

/// Number of observations of one project.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "OfProject")]
struct ProjectCountView {
    id: ProjectId,
    project: String,
    count: u64,
}

/// Tokens spent on models, and saved by injected memories.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(rename = "Tokens")]
struct TokenStatsView {
    spent_today: u64,
    spent_total: u64,
    calls: u64,
    budget_per_day: u64,
    /// Tokens spent discovering the memories that were injected.
    discovery: u64,
    /// Tokens spent injecting them.
    read: u64,
    saved: u64,
    per_day: Vec<DailyTokensView>,
}

/// Tokens of one day.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "TokensOfDay")]
struct DailyTokensView {
    day: String,
    spent: u64,
    injected: u64,
}

impl From<ActivityBucket> for CreatedCounts {
    fn from(activity: ActivityBucket) -> Self {
        Self { observations: activity.observations, summaries: activity.summaries, prompts: activity.prompts }
    }
}

/// Handles `GET /api/stats`.
pub(super) fn stats(api: &ApiState, _: &PathParams, _: NoParams) -> Result<StatsView, Problem> {
    let (settings, figures) = (api.settings(), api.stats_snapshot()?);
    let days = figures.days.iter();
    let per_day: Vec<DailyCountsView> = days
        .map(|(day, activity)| DailyCountsView { day: day.to_string(), made: CreatedCounts::from(*activity) })
        .collect();
    let by_type =
        figures.by_type.iter().map(|(name, count)| TypeCountView { r#type: name.clone(), count: *count });
    let (counts, dir) = (&figures.counts, api.dir());
    let agents = agent_stats(api)?;
    api.view(|reads| {
        Ok(StatsView {
            counts: TotalsView {
                projects: counts.projects,
                sessions: counts.sessions,
                prompts: counts.prompts,
                observations: counts.observations,
                summaries: counts.summaries,
                messages: counts.final_messages,
            },
            database: DatabaseSizeView { bytes: file_bytes(&dir.db()) },
            vectors: VectorIndexView {
                bytes: file_bytes(&dir.vectors_db()),
                rows: counts.embeddable,
                backlog: if settings.settings.vectors { counts.vector_backlog } else { 0 },
            },
            queue: reads.queue_counts()?.into(),
            today: per_day.last().map_or_else(CreatedCounts::default, |day| day.made),
            by_type: by_type.collect(),
            by_project: project_counts(reads, &figures)?,
            tokens: token_stats(reads, &figures, settings.settings.budget_tokens_per_day)?,
            per_day,
            health: health_notices(api, reads, &settings)?,
            agents,
        })
    })
}

fn project_counts(
    reads: &StoreReader<'_>,
    figures: &StatsSnapshot,
) -> Result<Vec<ProjectCountView>, Problem> {
    let projects = reads.projects()?.into_iter();
    let mut found: Vec<ProjectCountView> = projects
        .map(|project| ProjectCountView {
            count: figures.by_project.get(&project.id).map_or(0, |counts| counts.observations),
            id: project.id,
            project: project.name,
        })
        .filter(|project| project.count > 0)
        .collect();
    found.sort_by_key(|project| std::cmp::Reverse(project.count));
    Ok(found)
}

fn token_stats(
    reads: &StoreReader<'_>,
    figures: &StatsSnapshot,
    budget_per_day: u64,
) -> Result<TokenStatsView, Problem> {
    let first = figures.days.first().map(|(day, _)| day.to_string());
    let spent = reads.spend_by_day(&first.unwrap_or_default())?;
    let spent_on = |day: &str| {
        let found = spent.iter().find(|(on, _)| on == day);
        found.map_or(0, |(_, tokens)| *tokens)
    };
    let per_day = figures.days.iter().map(|(day, activity)| {
        let day = day.to_string();
        DailyTokensView { spent: spent_on(&day), injected: activity.injected_tokens, day }
    });
    let per_day: Vec<DailyTokensView> = per_day.collect();
    let (all, economics) = (reads.total_spend()?, figures.economics);
    Ok(TokenStatsView {
        spent_today: per_day.last().map_or(0, |day| day.spent),
        spent_total: all.tokens,
        calls: all.calls,
        budget_per_day,
        discovery: economics.discovery_tokens,
        read: economics.told_tokens,
        saved: economics.discovery_tokens.saturating_sub(economics.told_tokens),
        per_day,
    })
}

/// Size of a database with its write-ahead log; 0 if it does not exist.
fn file_bytes(path: &Path) -> u64 {
    let size = |path: &Path| std::fs::metadata(path).map_or(0, |meta| meta.len());
    size(path) + size(&with_suffix(path, "-wal"))
}
