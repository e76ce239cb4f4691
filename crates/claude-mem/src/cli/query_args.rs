//! Shared by `search`, `recent`, `timeline` and `show`: the filter options, opening the search engine,
//! and printing results.

use std::io::Write as _;

use anyhow::Context as _;

use super::app::App;
use super::{UsageError, project};
use crate::cli::format;
use crate::cli::output::{QUIET, Screen, WARN};
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::memory::ObservationType;
use claude_mem_core::suggest::did_you_mean;
use claude_mem_recall::render::source;
use claude_mem_search::request::AnswerScope;
use claude_mem_search::{
    MatchQuality, ProjectScope, ResponseScope, SearchEngine, SearchItem, SearchRequest, date_arg,
};
use claude_mem_store::{PageRequest, RowId, RowKind, StoreReader};

/// The filter and paging options.
#[derive(Debug, clap::Args)]
pub(super) struct QueryArgs {
    /// Project name, id or directory (default: the current project)
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    project: Option<String>,
    /// All projects
    #[arg(long)]
    all_projects: bool,
    /// Only memories of this type; repeatable
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) types: Vec<String>,
    /// From this time on: 2026-01-31, yesterday, 3d, 2w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Up to this time; a date includes the whole day
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// Maximum number of results, 1 or more [default: 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(super) limit: Option<u32>,
    /// Skip this many results
    #[arg(long, default_value_t = 0)]
    pub(super) offset: u32,
}

/// The default of `--limit`.
const DEFAULT_LIMIT: u32 = 20;

impl QueryArgs {
    /// Rejects filters that make no sense, also while there are no memories. Returns the limits of the time.
    pub(super) fn check(
        &self,
        app: &App,
        reads: Option<&StoreReader<'_>>,
    ) -> anyhow::Result<(Option<Millis>, Option<Millis>)> {
        check_types(&self.types, app, reads)?;
        let zone = claude_mem_core::clock::zone();
        let read = |text: &Option<String>, as_person: date_arg::TimeParser| match text {
            None => Ok(None),
            Some(text) => as_person(text, app.now, &zone).map(Some).ok_or_else(|| {
                UsageError::error(format!("{text:?} is not a time; use 2026-01-31, yesterday, 3d or 2w"))
            }),
        };
        Ok((read(&self.since, date_arg::parse_time)?, read(&self.until, date_arg::parse_time_end)?))
    }

    /// Builds the search request for `text` with these filters.
    pub(super) fn to_request(
        &self,
        text: &str,
        app: &App,
        reads: &StoreReader<'_>,
    ) -> anyhow::Result<SearchRequest> {
        let (since, until) = self.check(app, Some(reads))?;
        let named = |name: &String| ObservationType::named(name.to_lowercase());
        Ok(SearchRequest {
            project_scope: self.project_scope(reads)?,
            types: self.types.iter().map(named).collect(),
            since,
            until,
            page: PageRequest { offset: self.offset, limit: self.limit.unwrap_or(DEFAULT_LIMIT) },
            zone: claude_mem_core::clock::zone(),
            ..SearchRequest::new(text, app.now)
        })
    }

    /// Suggests which options to relax after an empty result.
    pub(super) fn print_hints(&self, screen: &mut Screen) -> std::io::Result<()> {
        let mut hints = Vec::new();
        if self.offset > 0 {
            hints.push("a smaller --offset");
        }
        if !self.types.is_empty() || self.since.is_some() || self.until.is_some() {
            hints.push("fewer filters (--type, --since, --until)");
        }
        if !self.all_projects {
            hints.push("--all-projects");
        }
        if hints.is_empty() {
            return Ok(());
        }
        writeln!(screen, "{QUIET}try {}{QUIET:#}", hints.join(", or "))
    }

    /// The project scope: the given project, all of them, or the current project first.
    fn project_scope(&self, reads: &StoreReader<'_>) -> anyhow::Result<ProjectScope> {
        if self.all_projects {
            return Ok(ProjectScope::All);
        }
        if let Some(named) = &self.project {
            return Ok(ProjectScope::ProjectOnly(project::find(reads, named)?.id));
        }
        let here = current_directory()?;
        let keys = claude_mem_core::project::identify(&here).keys;
        Ok(reads.project_by_keys(&keys)?.map_or(ProjectScope::UnknownProject, ProjectScope::ProjectFirst))
    }
}

/// Rejects a `--type` that neither the vocabulary nor any observation has: most often a typo.
fn check_types(named: &[String], app: &App, reads: Option<&StoreReader<'_>>) -> anyhow::Result<()> {
    if named.is_empty() {
        return Ok(());
    }
    let vocabulary = app.vocabulary();
    let mut known: Vec<String> = vocabulary.types.iter().map(|term| term.name.clone()).collect();
    if let Some(reads) = reads {
        known.extend(reads.counts_by_type()?.into_iter().map(|(name, _)| name));
    }
    known.sort();
    known.dedup();
    for name in named {
        let name = name.to_lowercase();
        if !known.contains(&name) {
            let hint = did_you_mean(&name, known.iter().map(String::as_str));
            let known = known.join(", ");
            return Err(UsageError::error(format!("unknown type {name:?}{hint}\nknown types: {known}")));
        }
    }
    Ok(())
}

/// Selects one project: the current one by default.
#[derive(Debug, clap::Args)]
pub(super) struct ProjectArgs {
    /// Project: name, id or directory (default: the current one)
    #[arg(long)]
    project: Option<String>,
    /// All projects
    #[arg(long, conflicts_with = "project")]
    all_projects: bool,
}

impl ProjectArgs {
    /// The project; `None` means all. A directory without memories is an error.
    pub(super) fn resolve(&self, reads: &StoreReader<'_>) -> anyhow::Result<Option<ProjectId>> {
        if self.all_projects {
            return Ok(None);
        }
        if let Some(named) = &self.project {
            return Ok(Some(project::find(reads, named)?.id));
        }
        let keys = claude_mem_core::project::identify(&current_directory()?).keys;
        let found = reads.project_by_keys(&keys)?;
        found.map(Some).context("this directory has no memories; use --project or --all-projects")
    }
}

impl ProjectArgs {
    /// Like [`Self::resolve`]; of a directory without memories, how its project is recognised.
    pub(super) fn resolve_or_identify(
        &self,
        reads: &StoreReader<'_>,
    ) -> anyhow::Result<(Option<ProjectId>, Option<ProjectHint>)> {
        if self.all_projects || self.project.is_some() {
            return Ok((self.resolve(reads)?, None));
        }
        let hint = claude_mem_core::project::identify(&current_directory()?);
        let known = reads.project_by_keys(&hint.keys)?;
        Ok((known, known.is_none().then_some(hint)))
    }
}

/// The client's project directory, or the current one.
fn current_directory() -> anyhow::Result<std::path::PathBuf> {
    match std::env::var_os(CLAUDE_CODE.project_variable).filter(|dir| !dir.is_empty()) {
        Some(dir) => Ok(dir.into()),
        None => std::env::current_dir().context("cannot determine the current directory"),
    }
}

/// A stored text on one line, without control characters.
pub(super) fn sanitized(text: &str) -> String {
    super::terminal::sanitize(&claude_mem_recall::quote::line(text, 200))
}

/// Opens the search engine, with vectors unless they are off. `None` if there is no store yet.
pub(super) fn open_engine(app: &App) -> anyhow::Result<Option<SearchEngine>> {
    let Some(store) = app.store_if_any()? else {
        return Ok(None);
    };
    let model = embed::EmbeddingModel::built_in();
    Ok(Some(if app.settings().settings.vectors {
        SearchEngine::open(store, &app.data.vectors_db(), model)
    } else {
        SearchEngine::lexical_only(store, model)
    }))
}

/// The row to act on for an id that may be an old number, with a note if the row has moved.
pub(super) fn current_row(reads: &StoreReader<'_>, asked: RowId) -> anyhow::Result<RowId> {
    let resolution = reads.resolve_row(asked)?;
    match (resolution.current(asked), resolution.notice(asked)) {
        (None, notice) => Err(anyhow::anyhow!(notice.unwrap_or_else(|| format!("no memory {asked}")))),
        (Some(row), Some(notice)) => {
            crate::cli::output::print_note(notice)?;
            Ok(row)
        }
        (Some(row), None) => Ok(row),
    }
}

/// Like [`current_row`], for several ids.
pub(super) fn current_rows(reads: &StoreReader<'_>, asked: &[RowId]) -> anyhow::Result<Vec<RowId>> {
    asked.iter().map(|row| current_row(reads, *row)).collect()
}

/// The error for an id without a row, which may have been forgotten.
pub(super) fn row_not_found(handle: RowId) -> anyhow::Error {
    anyhow::anyhow!(
        "no memory {handle}; if it was forgotten, `claude-mem forget --undo '{handle}'` may restore it"
    )
}

/// The error for a data directory without a store.
pub(super) fn store_is_empty(app: &App) -> anyhow::Error {
    anyhow::anyhow!("no memories yet in {}", app.data.root().display())
}

/// Prints a note if the results are from other projects or do not match the whole query.
pub(super) fn print_scope(screen: &mut Screen, scope: &ResponseScope, any: bool) -> std::io::Result<()> {
    for note in &scope.notes {
        writeln!(screen, "{WARN}{note}{WARN:#}")?;
    }
    if !any {
        return Ok(());
    }
    let here = scope.project.as_deref().unwrap_or("this project");
    let said = match (scope.from, scope.quality) {
        (_, MatchQuality::Near) => "nothing matches; nearest in meaning:".to_owned(),
        (AnswerScope::OtherProjects, MatchQuality::Broader) => {
            format!("no match in {here}; partial matches from other projects:")
        }
        (AnswerScope::OtherProjects, _) => format!("no match in {here}; from other projects:"),
        (_, MatchQuality::Broader) => "no full match; partial matches:".to_owned(),
        _ => return Ok(()),
    };
    writeln!(screen, "{QUIET}{said}{QUIET:#}")
}

/// Prints one line per result: id, type, time, title. A row of another project is prefixed with its
/// project.
pub(super) fn print_items(
    screen: &mut Screen,
    items: &[SearchItem],
    here: Option<&str>,
) -> std::io::Result<()> {
    let rows: Vec<[String; 4]> = items
        .iter()
        .map(|item| {
            let mut title = item.title.clone();
            let project = item.project.as_deref();
            if let Some(project) = project.filter(|_| project != here) {
                title = format!("{project}: {title}");
            }
            if let Some(who) = &item.who {
                title = format!("{who}: {title}");
            }
            if let Some(newer) = item.replaced_by {
                title = format!("{title} (replaced by {newer})");
            }
            if item.near {
                title.push_str(" (near)");
            }
            [item.id.to_string(), type_label(item), format::local_time(item.created_at), title]
        })
        .collect();
    screen.table(["id", "type", "when", "title"], &rows)
}

/// The type of an observation, or the kind of another row, with the source of an imported one.
pub(super) fn type_label(item: &SearchItem) -> String {
    let name = match (&item.observation_type, item.kind) {
        (Some(named), _) => named.as_str(),
        (None, RowKind::Message) => "reply",
        (None, kind) => kind.as_str(),
    };
    format!("{name}{}", source(item.origin))
}
