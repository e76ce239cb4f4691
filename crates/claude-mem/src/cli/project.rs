//! `claude-mem project`: what counts as one project.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::app::App;
use super::screen::{self, Screen};
use super::{Usage, install, words};
use crate::ids::ProjectId;
use crate::project;
use crate::store::{Project, Reads, StoreError};

/// See what counts as one project, and mend it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A project is known by its git remote, else its git directory, else its path; worktrees share it.

Examples:
  claude-mem project list
  claude-mem project alias website ~/work/website-old    that directory is this project too
  claude-mem project merge 7 website                     all of project 7 becomes website's
  claude-mem project rename 7 website

PROJECT is a name, an id from the list, or a directory.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Every project, the most recent first
    List,
    /// Let a directory count as this project
    Alias {
        project: String,
        directory: PathBuf,
        /// Say what would be done and do nothing
        #[arg(long)]
        dry_run: bool,
    },
    /// Give everything of one project to another; this cannot be undone
    Merge {
        from: String,
        into: String,
        /// Say what would be done and do nothing
        #[arg(long)]
        dry_run: bool,
        /// Do not ask
        #[arg(long)]
        yes: bool,
    },
    /// Call it something else
    Rename { project: String, name: String },
}

#[derive(Serialize)]
struct Listed {
    #[serde(flatten)]
    project: Project,
    sessions: u64,
    observations: u64,
    /// Every name it is known by: `remote:…`, `git:…`, `path:…`.
    keys: Vec<String>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match &args.action {
        Action::List => list(app, screen),
        Action::Alias {
            project,
            directory,
            dry_run,
        } => alias(app, screen, project, directory, *dry_run),
        Action::Merge {
            from,
            into,
            dry_run,
            yes,
        } => merge(app, screen, (from, into), *dry_run, *yes),
        Action::Rename { project, name } => rename(app, screen, project, name),
    }
}

fn list(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let listed = match app.store_if_any()? {
        Some(store) => listed(&store.read())?,
        None => Vec::new(),
    };
    screen.show(&listed, |screen, listed| {
        if listed.is_empty() {
            return writeln!(screen, "no project yet");
        }
        let rows: Vec<_> = listed.iter().map(|project| row(project, app)).collect();
        screen.table(
            ["id", "name", "sessions", "memories", "active", "directory"],
            &rows,
        )
    })
}

fn listed(read: &Reads<'_>) -> anyhow::Result<Vec<Listed>> {
    let counts = read.counts_by_project()?;
    let projects = read.projects()?.into_iter().map(|project| {
        let counted = counts.get(&project.id).copied().unwrap_or_default();
        Ok(Listed {
            keys: read.project_keys(project.id)?,
            sessions: counted.sessions,
            observations: counted.observations,
            project,
        })
    });
    projects.collect()
}

fn row(listed: &Listed, app: &App) -> [String; 6] {
    let Project {
        id,
        name,
        root,
        last_active,
    } = &listed.project;
    [
        id.to_string(),
        name.clone(),
        words::grouped(listed.sessions),
        words::grouped(listed.observations),
        words::ago(*last_active, app.now),
        root.clone(),
    ]
}

fn alias(
    app: &App,
    screen: &mut Screen,
    named: &str,
    directory: &Path,
    dry_run: bool,
) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let project = find(&store.read(), named)?;
    anyhow::ensure!(
        directory.is_dir(),
        "there is no directory {}",
        directory.display()
    );
    let keys = project::identify(&std::path::absolute(directory)?).keys;
    if let Some(other) = store.read().project_by_keys(&keys)?
        && other != project.id
    {
        let other = store.read().project(other)?;
        anyhow::bail!(
            "{} is already project {} ({}); `claude-mem project merge {} {}` makes them one",
            directory.display(),
            other.id,
            other.name,
            other.id,
            project.id,
        );
    }
    if !dry_run {
        store.write(|writes| {
            keys.iter()
                .try_for_each(|key| writes.alias_project(key, project.id))
        })?;
    }
    let answer = serde_json::json!({ "project": project, "keys": keys, "dry_run": dry_run });
    screen.show(&answer, |screen, _| {
        let verb = if dry_run {
            "would count as"
        } else {
            "counts as"
        };
        writeln!(screen, "{} {verb} {}", directory.display(), project.name)
    })
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
        return Err(Usage::error("these are the same project"));
    }
    let counts = store.read().counts_by_project()?;
    let moved = counts.get(&from.id).copied().unwrap_or_default();
    if !dry_run && !yes && install::can_ask(screen.json) {
        let question = format!("Give all of {} to {}, for good?", from.name, into.name);
        anyhow::ensure!(ask(&question)?, "nothing was changed");
    }
    if !dry_run {
        store.write(|writes| writes.merge_projects(from.id, into.id))?;
    }
    let answer = serde_json::json!({
        "from": from, "into": into, "dry_run": dry_run,
        "sessions": moved.sessions, "observations": moved.observations,
    });
    screen.show(&answer, |screen, _| {
        let verb = if dry_run { "would be" } else { "is now" };
        writeln!(
            screen,
            "{} ({}, {}) {verb} part of {}",
            from.name,
            words::count(moved.sessions, "session"),
            words::count(moved.observations, "observation"),
            into.name
        )
    })
}

/// Enter means no: it cannot be undone.
fn ask(question: &str) -> std::io::Result<bool> {
    let mut out = anstream::stderr();
    write!(out, "{question} [y/N] ")?;
    out.flush()?;
    let mut answer = String::new();
    std::io::stdin().read_line(&mut answer)?;
    Ok(matches!(answer.trim().to_lowercase().as_str(), "y" | "yes"))
}

fn rename(app: &App, screen: &mut Screen, named: &str, name: &str) -> anyhow::Result<()> {
    if name.trim().is_empty() {
        return Err(Usage::error("a project needs a name"));
    }
    let mut store = app.store_to_change()?;
    let project = find(&store.read(), named)?;
    let same = store.read().projects_named(name.trim())?;
    let same: Vec<_> = same.iter().filter(|same| same.id != project.id).collect();
    if let Some(same) = same.first() {
        screen::remark(format!(
            "project {} is called {} already; from now on say which by its id, or make them one: \
             `claude-mem project merge {} {}`",
            same.id, same.name, project.id, same.id
        ))?;
    }
    store.write(|writes| writes.rename_project(project.id, name.trim()))?;
    let renamed = store.read().project(project.id)?;
    screen.show(&renamed, |screen, renamed| {
        writeln!(screen, "{} is now called {}", project.name, renamed.name)
    })
}

/// Finds a project by its id, its name or a directory of it.
pub(super) fn find(read: &Reads<'_>, named: &str) -> anyhow::Result<Project> {
    if let Ok(id) = named.parse() {
        return match read.project(ProjectId(id)) {
            Err(StoreError::NoSuchRow { .. }) => Err(no_such(named)),
            project => Ok(project?),
        };
    }
    match &read.projects_named(named)?[..] {
        [one] => return Ok(one.clone()),
        [] => {}
        several => {
            let ids: Vec<_> = several.iter().map(|one| one.id.to_string()).collect();
            anyhow::bail!(
                "several projects are called {named}; say which by its id: {}",
                ids.join(", ")
            );
        }
    }
    let directory = std::path::absolute(named)?;
    if directory.is_dir()
        && let Some(id) = read.project_by_keys(&project::identify(&directory).keys)?
    {
        return Ok(read.project(id)?);
    }
    Err(no_such(named))
}

fn no_such(named: &str) -> anyhow::Error {
    anyhow::anyhow!("there is no project {named}; `claude-mem project list` lists them")
}
