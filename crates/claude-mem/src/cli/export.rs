//! `claude-mem export`: memory as files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::{looking, project, words};
use crate::export::json::Written;
use crate::export::markdown::{By, Done};
use crate::export::{json, markdown};
use crate::ids::ProjectId;
use crate::store::Store;

/// Write memory to files: all of it as JSON, or Markdown to read
///
/// JSON holds everything that cannot be made again; `claude-mem import json` reads it back without
/// loss. Markdown is for people and for git: only what changed is written anew.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem export --out memory.json                        everything, for another machine
  claude-mem export --project website | jq .observations     one project, to a pipe
  claude-mem export --format markdown --out notes/           a file per session
  claude-mem export --format markdown --by project --out notes/")]
pub(super) struct Args {
    #[arg(long, value_enum, default_value_t = Format::Json)]
    format: Format,
    /// Only this project: a name, an id or a directory
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// The file, or the folder for Markdown (default: stdout)
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// What one Markdown file holds
    #[arg(long, value_enum, default_value_t = By::Session)]
    by: By,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum Format {
    Json,
    Markdown,
}

#[derive(Serialize)]
struct InFile {
    path: PathBuf,
    /// Another file was there.
    replaced: bool,
    #[serde(flatten)]
    rows: Written,
}

#[derive(Serialize)]
struct InFolder {
    path: PathBuf,
    #[serde(flatten)]
    files: Done,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let Some(store) = app.store_if_any()? else {
        return Err(looking::nothing_yet(app));
    };
    let named = args.project.as_deref();
    let only = named
        .map(|named| project::find(&store.read(), named))
        .transpose()?;
    let only = only.map(|project| project.id);
    match (args.format, &args.out) {
        (Format::Json, None) => view(&store, |reads| {
            json::write(reads, only, app.now, screen).map(drop)
        }),
        (Format::Json, Some(out)) => into_file(&store, only, app, out, screen),
        (Format::Markdown, None) => view(&store, |reads| markdown::into_text(reads, only, screen)),
        (Format::Markdown, Some(out)) => {
            let files = view(&store, |reads| {
                markdown::into_folder(reads, only, args.by, out)
            })?;
            let done = InFolder {
                path: out.clone(),
                files,
            };
            screen.show(&done, |screen, done| {
                let Done {
                    written,
                    unchanged,
                    removed,
                } = done.files;
                writeln!(
                    screen,
                    "{} written, {unchanged} unchanged, {removed} removed in {}",
                    words::count(written, "file"),
                    done.path.display()
                )
            })
        }
    }
}

/// Everything that is written is of one moment.
fn view<T, E: Into<anyhow::Error>>(
    store: &Store,
    act: impl FnOnce(&crate::store::Reads<'_>) -> Result<T, E>,
) -> anyhow::Result<T> {
    store.view(|reads| Ok(act(reads)))?.map_err(Into::into)
}

/// Under another name first: a file that is there is whole.
fn into_file(
    store: &Store,
    only: Option<ProjectId>,
    app: &App,
    path: &Path,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(".new-{}", std::process::id()));
    let unfinished = PathBuf::from(unfinished);
    let unwritable = || format!("cannot write {}", path.display());
    let file = crate::paths::create_file(&unfinished).with_context(unwritable)?;
    let mut file = std::io::BufWriter::new(file);
    let replaced = path.exists();
    let rows = view(store, |reads| json::write(reads, only, app.now, &mut file));
    let rows = rows.and_then(|rows| {
        std::fs::rename(&unfinished, path).with_context(unwritable)?;
        Ok(rows)
    });
    if rows.is_err() {
        // What is half written helps nobody.
        let _ = std::fs::remove_file(&unfinished);
    }
    let done = InFile {
        path: path.to_owned(),
        replaced,
        rows: rows?,
    };
    screen.show(&done, |screen, done| {
        let rows = done.rows;
        let instead = if done.replaced {
            ", in place of what was there"
        } else {
            ""
        };
        writeln!(
            screen,
            "{} of {} in {}{instead}",
            words::count(rows.observations, "memory"),
            words::count(rows.sessions, "session"),
            done.path.display()
        )
    })
}
