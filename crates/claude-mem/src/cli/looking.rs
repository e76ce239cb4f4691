//! What the verbs that look have in common: whose rows, which of them, and how they are shown.

use std::io::Write as _;

use anyhow::Context as _;

use super::app::App;
use super::screen::{QUIET, Screen, WARN};
use super::{Usage, project, words};
use crate::memory::ObservationType;
use crate::search::ask::From;
use crate::search::{Ask, Engine, Fit, Handle, Item, Scope, Whose, dates};
use crate::store::{Page, Reads, RowKind};

/// Which rows.
#[derive(Debug, clap::Args)]
pub(super) struct Which {
    /// Of this project: a name, an id or a directory (default: the one we are in)
    #[arg(long, value_name = "PROJECT", conflicts_with = "all_projects")]
    project: Option<String>,
    /// Of every project
    #[arg(long)]
    all_projects: bool,
    /// Only observations of this type; may be given more than once
    #[arg(long = "type", value_name = "TYPE")]
    pub(super) types: Vec<String>,
    /// Not before: 2026-01-31, yesterday, 3d, 2w
    #[arg(long, value_name = "WHEN")]
    since: Option<String>,
    /// Not after: the same, and all of a day that is named
    #[arg(long, value_name = "WHEN")]
    until: Option<String>,
    /// At most so many, 1 or more [default: 20]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..), allow_negative_numbers = true)]
    pub(super) limit: Option<u32>,
    /// Leave out so many first
    #[arg(long, default_value_t = 0)]
    pub(super) offset: u32,
}

/// Shown unless more are asked for.
const ROWS: u32 = 20;

impl Which {
    pub(super) fn ask(&self, text: &str, app: &App, reads: &Reads<'_>) -> anyhow::Result<Ask> {
        let zone = crate::clock::zone();
        let read = |text: &Option<String>, as_person: dates::Read| match text {
            None => Ok(None),
            Some(text) => as_person(text, app.now, &zone).map(Some).ok_or_else(|| {
                Usage::error(format!(
                    "{text:?} is not a time; say 2026-01-31, yesterday, 3d or 2w"
                ))
            }),
        };
        let named = |name: &String| ObservationType::named(name.to_lowercase());
        Ok(Ask {
            whose: self.whose(reads)?,
            types: self.types.iter().map(named).collect(),
            since: read(&self.since, dates::moment)?,
            until: read(&self.until, dates::end)?,
            page: Page {
                offset: self.offset,
                limit: self.limit.unwrap_or(ROWS),
            },
            zone: zone.clone(),
            ..Ask::new(text, app.now)
        })
    }

    /// What else to try when nothing came.
    pub(super) fn say_what_to_try(&self, screen: &mut Screen) -> std::io::Result<()> {
        let mut hints = Vec::new();
        if self.offset > 0 {
            hints.push("a smaller --offset");
        }
        if !self.types.is_empty() || self.since.is_some() || self.until.is_some() {
            hints.push("fewer of --type, --since, --until");
        }
        if !self.all_projects {
            hints.push("--all-projects");
        }
        if hints.is_empty() {
            return Ok(());
        }
        writeln!(screen, "{QUIET}try {}{QUIET:#}", hints.join(", or "))
    }

    fn whose(&self, reads: &Reads<'_>) -> anyhow::Result<Whose> {
        if self.all_projects {
            return Ok(Whose::All);
        }
        if let Some(named) = &self.project {
            return Ok(Whose::ProjectOnly(project::find(reads, named)?.id));
        }
        let here = match std::env::var_os("CLAUDE_PROJECT_DIR").filter(|dir| !dir.is_empty()) {
            Some(dir) => dir.into(),
            None => std::env::current_dir().context("there is no current directory")?,
        };
        let keys = crate::project::identify(&here).keys;
        Ok(reads
            .project_by_keys(&keys)?
            .map_or(Whose::Nobody, Whose::ProjectFirst))
    }
}

/// The store and its vectors, for looking; `None` before anything was ever remembered.
pub(super) fn engine(app: &App) -> anyhow::Result<Option<Engine>> {
    let Some(store) = app.store_if_any()? else {
        return Ok(None);
    };
    let model = embed::Model::built_in();
    Ok(Some(if app.settings().settings.vectors {
        Engine::open(store, &app.data.vectors_db(), model)
    } else {
        Engine::of_words(store, model)
    }))
}

/// Nothing has this id. What was forgotten may come back.
pub(super) fn no_such(handle: Handle) -> anyhow::Error {
    anyhow::anyhow!(
        "there is no {handle}; if it was forgotten, `claude-mem forget --undo '{handle}'` may bring it back"
    )
}

/// Nothing was ever remembered, so that nothing can be looked at.
pub(super) fn nothing_yet(app: &App) -> anyhow::Error {
    anyhow::anyhow!("nothing is remembered yet in {}", app.data.root().display())
}

/// Says where an answer is from, if it is not quite what was asked for.
pub(super) fn say_scope(screen: &mut Screen, scope: &Scope, any: bool) -> std::io::Result<()> {
    for note in &scope.notes {
        writeln!(screen, "{WARN}{note}{WARN:#}")?;
    }
    if !any {
        return Ok(());
    }
    let here = scope.project.as_deref().unwrap_or("this project");
    let said = match (scope.from, scope.fit) {
        (_, Fit::Recent) => "nothing matches; these are the latest".to_owned(),
        (From::OtherProjects, Fit::Broader) => {
            format!("nothing in {here}, and nothing elsewhere has all of it; these come close")
        }
        (From::OtherProjects, _) => format!("nothing in {here}; from other projects:"),
        (_, Fit::Broader) => "nothing has all of it; these come close".to_owned(),
        _ => return Ok(()),
    };
    writeln!(screen, "{QUIET}{said}{QUIET:#}")
}

/// One line each: id, type, day, title. A row of another project than the one asked for names it.
pub(super) fn say_items(
    screen: &mut Screen,
    items: &[Item],
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
            if let Some(newer) = item.replaced_by {
                title = format!("{title} (replaced by {newer})");
            }
            [
                item.id.to_string(),
                type_of(item),
                words::local(item.created_at),
                title,
            ]
        })
        .collect();
    screen.table(["id", "type", "when", "title"], &rows)
}

pub(super) fn type_of(item: &Item) -> String {
    match (&item.observation_type, item.kind) {
        (Some(named), _) => named.to_string(),
        (None, RowKind::Message) => "answer".to_owned(),
        (None, kind) => kind.as_str().to_owned(),
    }
}
