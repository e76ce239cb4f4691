//! `claude-mem export`: writes memories to JSON or Markdown files.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::project;
use crate::cli::output::Screen;
use crate::cli::{format, query_args};
use claude_mem_core::paths::replace_file_with;
use claude_mem_store::Store;
use claude_mem_transfer::export::json::ExportCounts;
use claude_mem_transfer::export::markdown::{MarkdownExportReport, MarkdownGrouping};
use claude_mem_transfer::export::{ExportScope, json, markdown};

/// Export memories as JSON or Markdown
///
/// JSON is lossless: `claude-mem import json --trust` reads it back. Markdown is for reading and for git:
/// only changed files are rewritten.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem export --out memory.json                        everything, e.g. for another machine
  claude-mem export --project website | jq .observations     one project, to a pipe
  claude-mem export --format markdown --out notes/           a file per session
  claude-mem export --format markdown --by project --out notes/")]
pub(super) struct Args {
    /// Output format
    #[arg(long, value_enum, default_value_t = ExportFormat::Json)]
    format: ExportFormat,
    /// Only this project: a name, an id or a directory
    #[arg(long, value_name = "PROJECT")]
    project: Option<String>,
    /// Output file, or directory for Markdown (default: stdout)
    #[arg(long, value_name = "PATH")]
    out: Option<PathBuf>,
    /// What each Markdown file covers
    #[arg(long, value_enum, default_value_t = GroupingArg::Session)]
    by: GroupingArg,
    /// Also export what other members of your team shared, under their names
    #[arg(long)]
    with_team: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum ExportFormat {
    Json,
    Markdown,
}

/// [`MarkdownGrouping`] on the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
enum GroupingArg {
    Session,
    Project,
}

impl From<GroupingArg> for MarkdownGrouping {
    fn from(by: GroupingArg) -> Self {
        match by {
            GroupingArg::Session => Self::Session,
            GroupingArg::Project => Self::Project,
        }
    }
}

#[derive(Serialize)]
struct FileExportReport {
    path: PathBuf,
    /// An existing file was replaced.
    replaced: bool,
    #[serde(flatten)]
    rows: ExportCounts,
}

#[derive(Serialize)]
struct FolderExportReport {
    path: PathBuf,
    #[serde(flatten)]
    files: MarkdownExportReport,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let Some(store) = app.store_if_any()? else {
        return Err(query_args::store_is_empty(app));
    };
    let named = args.project.as_deref();
    let project = named.map(|named| project::find(&store.read(), named)).transpose()?;
    let scope = ExportScope { project: project.map(|project| project.id), with_team: args.with_team };
    match (args.format, &args.out) {
        (ExportFormat::Json, None) => {
            with_snapshot(&store, |reads| json::write_document(reads, scope, app.now, screen).map(drop))
        }
        (ExportFormat::Json, Some(out)) => export_to_file(&store, scope, app, out, screen),
        (ExportFormat::Markdown, None) => {
            with_snapshot(&store, |reads| markdown::write_text(reads, scope, screen))
        }
        (ExportFormat::Markdown, Some(out)) => {
            let files =
                with_snapshot(&store, |reads| markdown::write_folder(reads, scope, args.by.into(), out))?;
            let done = FolderExportReport { path: out.clone(), files };
            screen.show(&done, |screen, done| {
                let MarkdownExportReport { written, unchanged, removed } = done.files;
                writeln!(
                    screen,
                    "{} written, {unchanged} unchanged, {removed} removed in {}",
                    format::count(written, "file"),
                    done.path.display()
                )
            })
        }
    }
}

/// Runs `act` in one read transaction, so that the export is a consistent snapshot.
fn with_snapshot<T, E: Into<anyhow::Error>>(
    store: &Store,
    act: impl FnOnce(&claude_mem_store::StoreReader<'_>) -> Result<T, E>,
) -> anyhow::Result<T> {
    store.read_snapshot(|reads| Ok(act(reads)))?.map_err(Into::into)
}

/// Exports to a file, which is always complete: the old one or the new one.
fn export_to_file(
    store: &Store,
    scope: ExportScope,
    app: &App,
    path: &Path,
    screen: &mut Screen,
) -> anyhow::Result<()> {
    let replaced = path.exists();
    let rows = replace_file_with(path, |file| {
        let mut file = std::io::BufWriter::new(file);
        with_snapshot(store, |reads| json::write_document(reads, scope, app.now, &mut file))
    });
    let rows = rows.with_context(|| format!("cannot write {}", path.display()))??;
    let done = FileExportReport { path: path.to_owned(), replaced, rows };
    screen.show(&done, |screen, done| {
        let rows = done.rows;
        let instead = if done.replaced { ", replacing the old file" } else { "" };
        let others = match rows.of_others {
            0 => String::new(),
            others => format!(" and {others} of other members"),
        };
        writeln!(
            screen,
            "exported {}{others} from {} to {}{instead}",
            format::count(rows.observations, "memory"),
            format::count(rows.sessions, "session"),
            done.path.display()
        )
    })
}
