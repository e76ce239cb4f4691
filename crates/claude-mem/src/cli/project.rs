//! `claude-mem project`: lists, aliases, merges and renames projects. `find` resolves a project named
//! on the command line for all commands.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::app::App;
use super::{UsageError, install};
use crate::cli::format;
use crate::cli::output;
use crate::cli::output::Screen;
use claude_mem_core::project;
use claude_mem_search::project_lookup::{ProjectLookup, find_project};
use claude_mem_store::{ProjectRow, StoreReader};

/// List, alias, merge or rename projects
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A project is identified by its git remote, else its git directory, else its path. Worktrees share one
project.

Examples:
  claude-mem project list
  claude-mem project alias website ~/work/website-old    add a directory to website
  claude-mem project join                                confirm the project of this directory's remote
  claude-mem project merge 7 website                     move everything from project 7 to website
  claude-mem project rename 7 website

PROJECT is a name, an id from the list, or a directory.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: ProjectAction,
}

#[derive(Debug, clap::Subcommand)]
enum ProjectAction {
    /// List projects, most recently active first
    List,
    /// Add a directory to a project
    Alias {
        project: String,
        directory: PathBuf,
        /// Show what would be done and change nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Confirm that a directory is the project that its git remote names
    #[command(after_help = "\
A directory whose git remote is that of a known project, but which shares no commit with it, keeps its
memories to itself: anyone can write a remote into a file. This command makes the directory a part of the
project and moves the memories made there.")]
    Join {
        #[arg(default_value = ".")]
        directory: PathBuf,
        /// Show what would be done and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Move everything from one project to another; this cannot be undone
    Merge {
        from: String,
        into: String,
        /// Show what would be done and change nothing
        #[arg(long)]
        dry_run: bool,
        /// Do not ask for confirmation
        #[arg(long)]
        yes: bool,
    },
    /// Rename a project
    Rename { project: String, name: String },
}

#[derive(Serialize)]
struct ProjectListing {
    #[serde(flatten)]
    project: ProjectRow,
    sessions: u64,
    observations: u64,
    /// Its identity keys: `remote:…`, `git:…`, `path:…`.
    keys: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        ProjectAction::List => list(app, screen),
        ProjectAction::Alias { project, directory, dry_run } => {
            alias(app, screen, project, directory, *dry_run)
        }
        ProjectAction::Join { directory, dry_run, yes } => join(app, screen, directory, *dry_run, *yes),
        ProjectAction::Merge { from, into, dry_run, yes } => merge(app, screen, (from, into), *dry_run, *yes),
        ProjectAction::Rename { project, name } => rename(app, screen, project, name),
    }
}

fn list(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let listed = match app.store_if_any()? {
        Some(store) => load_listings(&store.read())?,
        None => Vec::new(),
    };
    screen.show(&listed, |screen, listed| {
        if listed.is_empty() {
            return writeln!(screen, "no projects yet");
        }
        let rows: Vec<_> = listed.iter().map(|project| row(project, app)).collect();
        screen.table(["id", "name", "sessions", "memories", "active", "directory"], &rows)
    })
}

fn load_listings(read: &StoreReader<'_>) -> anyhow::Result<Vec<ProjectListing>> {
    let counts = read.counts_by_project()?;
    let projects = read.projects()?.into_iter().map(|project| {
        let counted = counts.get(&project.id).copied().unwrap_or_default();
        Ok(ProjectListing {
            keys: read.project_keys(project.id)?,
            sessions: counted.sessions,
            observations: counted.observations,
            project,
        })
    });
    projects.collect()
}

fn row(listed: &ProjectListing, app: &App) -> [String; 6] {
    let ProjectRow { id, name, root, last_active } = &listed.project;
    [
        id.to_string(),
        name.clone(),
        format::grouped(listed.sessions),
        format::grouped(listed.observations),
        format::ago(*last_active, app.now),
        root.clone(),
    ]
}

fn alias(app: &App, screen: &mut Screen, named: &str, directory: &Path, dry_run: bool) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let project = find(&store.read(), named)?;
    anyhow::ensure!(directory.is_dir(), "no such directory: {}", directory.display());
    let keys = project::identify(&std::path::absolute(directory)?).keys;
    if let Some(other) = store.read().project_by_keys(&keys)?
        && other != project.id
    {
        let other = store.read().project(other)?;
        anyhow::bail!(
            "{} already belongs to project {} ({}); `claude-mem project merge {} {}` merges them",
            directory.display(),
            other.id,
            other.name,
            other.id,
            project.id,
        );
    }
    if !dry_run {
        store.write(|writes| keys.iter().try_for_each(|key| writes.alias_project(key, project.id)))?;
    }
    let answer = serde_json::json!({ "project": project, "keys": keys, "dry_run": dry_run });
    screen.show(&answer, |screen, _| {
        let verb = if dry_run { "would belong to" } else { "now belongs to" };
        writeln!(screen, "{} {verb} {}", directory.display(), project.name)
    })
}

fn join(app: &App, screen: &mut Screen, directory: &Path, dry_run: bool, yes: bool) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    anyhow::ensure!(directory.is_dir(), "no such directory: {}", directory.display());
    let directory = std::path::absolute(directory)?;
    let hint = project::identify_with_commit(&directory).0;
    let Some(claimed) = store.read().unconfirmed_project(&hint.keys)? else {
        anyhow::bail!("{} has no remote of another known project: nothing to join", hint.root);
    };
    if !dry_run && !yes {
        // An agent must not confirm what only the person can know.
        anyhow::ensure!(install::can_ask(screen.json), "confirm with --yes that this is {}", claimed.name);
        let question = format!("Is {} the project {}? Its memories will be shared.", hint.root, claimed.name);
        anyhow::ensure!(confirm(&question)?, "nothing was changed");
    }
    let own = own_project(&store.read(), &hint.keys)?;
    if !dry_run {
        store.write(|writes| {
            own.map_or(Ok(()), |own| writes.merge_projects(own, claimed.id))?;
            writes.join_project(&hint, claimed.id, app.now)
        })?;
    }
    let answer = serde_json::json!({ "project": claimed, "directory": hint.root, "dry_run": dry_run });
    screen.show(&answer, |screen, _| {
        let verb = if dry_run { "would belong to" } else { "now belongs to" };
        writeln!(screen, "{} {verb} {}", hint.root, claimed.name)
    })
}

/// The project of this directory, if it has no other directories.
fn own_project(
    read: &StoreReader<'_>,
    keys: &[String],
) -> Result<Option<claude_mem_core::ids::ProjectId>, claude_mem_store::StoreError> {
    let Some(own) = read.project_by_keys(keys)? else {
        return Ok(None);
    };
    let is_alone = read.project_keys(own)?.iter().all(|key| keys.contains(key));
    Ok(is_alone.then_some(own))
}

fn merge(
    app: &App,
    screen: &mut Screen,
    (from, into): (&str, &str),
    dry_run: bool,
    yes: bool,
) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let (from, into) = (find(&store.read(), from)?, find(&store.read(), into)?);
    if from.id == into.id {
        return Err(UsageError::error("both are the same project"));
    }
    let counts = store.read().counts_by_project()?;
    let moved = counts.get(&from.id).copied().unwrap_or_default();
    if !dry_run && !yes && install::can_ask(screen.json) {
        let question = format!("Move everything from {} to {}? This cannot be undone.", from.name, into.name);
        anyhow::ensure!(confirm(&question)?, "nothing was changed");
    }
    if !dry_run {
        store.write(|writes| writes.merge_projects(from.id, into.id))?;
    }
    let answer = serde_json::json!({
        "from": from, "into": into, "dry_run": dry_run,
        "sessions": moved.sessions, "observations": moved.observations,
    });
    screen.show(&answer, |screen, _| {
        let verb = if dry_run { "would be merged" } else { "merged" };
        writeln!(
            screen,
            "{} ({}, {}) {verb} into {}",
            from.name,
            format::count(moved.sessions, "session"),
            format::count(moved.observations, "memory"),
            into.name
        )
    })
}

/// Asks for confirmation. Enter means no, because a merge cannot be undone.
fn confirm(question: &str) -> std::io::Result<bool> {
    let mut out = anstream::stderr();
    write!(out, "{} ", output::question_text(question, "[y/N]"))?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn rename(app: &App, screen: &mut Screen, named: &str, name: &str) -> anyhow::Result<()> {
    if name.trim().is_empty() {
        return Err(UsageError::error("the project name is empty"));
    }
    let mut store = app.store_to_change()?;
    let project = find(&store.read(), named)?;
    let same_name = store.read().projects_named(name.trim())?;
    if let Some(same) = same_name.iter().find(|same| same.id != project.id) {
        output::print_note(format!(
            "project {} is also named {}; refer to them by id, or merge them: \
             `claude-mem project merge {} {}`",
            same.id, same.name, project.id, same.id
        ))?;
    }
    store.write(|writes| writes.rename_project(project.id, name.trim()))?;
    let renamed = store.read().project(project.id)?;
    screen.show(&renamed, |screen, renamed| writeln!(screen, "renamed {} to {}", project.name, renamed.name))
}

/// Finds a project by name, id or directory. A directory that is gone is found by the path that
/// `project list` prints.
pub(super) fn find(read: &StoreReader<'_>, named: &str) -> anyhow::Result<ProjectRow> {
    match find_project(read, named)? {
        ProjectLookup::One(id) => return Ok(read.project(id)?),
        ProjectLookup::Ambiguous(several) => {
            let ids: Vec<_> = several.iter().map(|one| one.id.to_string()).collect();
            anyhow::bail!("several projects are named {named}; use an id: {}", ids.join(", "));
        }
        ProjectLookup::NotFound => {}
    }
    let directory = std::path::absolute(named)?;
    let is_path = named.contains('/') || directory.is_dir();
    if is_path && let Some(id) = read.project_by_keys(&project::identify(&directory).keys)? {
        return Ok(read.project(id)?);
    }
    Err(project_not_found(named))
}

fn project_not_found(named: &str) -> anyhow::Error {
    anyhow::anyhow!("no project {named}; see `claude-mem project list`")
}
