//! `claude-mem timeline`: prints what happened before and after a memory.

use std::io::Write as _;

use serde::Serialize;

use super::UsageError;
use super::app::App;
use super::terminal::sanitize;
use crate::cli::format;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use crate::cli::query_args::QueryArgs;
use claude_mem_core::ids::ProjectId;
use claude_mem_search::timeline::{TimelineRequest, timeline};
use claude_mem_search::{MatchQuality, ProjectScope, SearchEngine, SearchItem};
use claude_mem_store::RowId;

/// Show what happened before and after a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem timeline '#12'
  claude-mem timeline 12 --before 3 --after 20
  claude-mem timeline login loops          around the best match of a search")]
pub(super) struct Args {
    /// Id, or a search query whose best match is used
    #[arg(value_name = "ID|TEXT", required = true)]
    text: Vec<String>,
    /// Number of memories before it
    #[arg(long, default_value_t = 10)]
    before: usize,
    /// Number of memories after it
    #[arg(long, default_value_t = 10)]
    after: usize,
    #[command(flatten)]
    which: QueryArgs,
}

#[derive(Serialize)]
struct TimelineOutput {
    anchor: RowId,
    results: Vec<SearchItem>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let Some(mut engine) = query_args::open_engine(app)? else {
        return Err(query_args::store_is_empty(app));
    };
    let anchor = find_anchor(args, app, &mut engine)?;
    let asked = args.which.to_request("", app, &engine.reads())?;
    let (before, after) = side_limits(args);
    let around = TimelineRequest {
        anchor,
        before,
        after,
        kinds: Vec::new(),
        types: asked.types,
        since: asked.since,
        until: asked.until,
        all_projects: asked.project_scope == ProjectScope::All,
        include_wrong: false,
    };
    let Some(results) = timeline(&engine.reads(), &around)? else {
        return Err(query_args::row_not_found(anchor));
    };
    let elsewhere = results
        .iter()
        .find(|item| item.id == anchor)
        .filter(|item| item.project_id.is_some() && !is_in_scope(asked.project_scope, item.project_id))
        .and_then(|item| item.project.clone());
    screen.show(&TimelineOutput { anchor, results }, |screen, answer| {
        if let Some(project) = &elsewhere {
            let project = sanitize(project);
            writeln!(screen, "{QUIET}from another project: {project}{QUIET:#}")?;
        }
        let rows: Vec<[String; 4]> = answer
            .results
            .iter()
            .map(|item| {
                let here = if item.id == answer.anchor { "> " } else { "  " };
                let title = match &item.who {
                    Some(who) => format!("{who}: {}", item.title),
                    None => item.title.clone(),
                };
                [
                    format!("{here}{}", item.id),
                    query_args::type_label(item),
                    format::local_time(item.created_at),
                    title,
                ]
            })
            .collect();
        screen.table(["  id", "type", "when", "title"], &rows)
    })
}

/// Whether the project is within the requested scope.
fn is_in_scope(whose: ProjectScope, project: Option<ProjectId>) -> bool {
    match whose {
        ProjectScope::ProjectFirst(own) | ProjectScope::ProjectOnly(own) => project == Some(own),
        ProjectScope::All => true,
        ProjectScope::UnknownProject => false,
    }
}

/// The number of rows before and after: as requested, together at most `--limit`.
fn side_limits(args: &Args) -> (usize, usize) {
    let (before, after) = (args.before.min(200), args.after.min(200));
    let Some(most) = args.which.limit.map(|limit| limit as usize) else {
        return (before, after);
    };
    let before = before.min(most.saturating_sub(after.min(most / 2)));
    (before, after.min(most - before))
}

fn find_anchor(args: &Args, app: &App, engine: &mut SearchEngine) -> anyhow::Result<RowId> {
    let text = args.text.join(" ");
    if let Ok(handle) = text.parse() {
        if args.which.offset > 0 {
            let why = "--offset applies to a search, not to an id";
            return Err(UsageError::error(why));
        }
        return query_args::current_row(&engine.reads(), handle);
    }
    let ask = args.which.to_request(&text, app, &engine.reads())?;
    let found = engine.search(&ask)?;
    match found.results.first() {
        Some(best) if found.scope.quality != MatchQuality::Near => Ok(best.id),
        _ => anyhow::bail!("nothing found for {text:?}"),
    }
}
