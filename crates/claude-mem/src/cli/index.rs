//! `claude-mem index`: shows and builds the vector index.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use crate::cli::format;
use crate::cli::output;
use crate::cli::output::Screen;
use claude_mem_core::platform;
use claude_mem_search::index::IndexProgress;
use claude_mem_search::{ParallelEncoder, index};
use claude_mem_store::{Store, StoreError, VectorStore};

/// Show or build the vector index
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are searchable by words at once, and by meaning once the worker has indexed them. The
index is a separate file that can be deleted at any time.

Examples:
  claude-mem index status
  claude-mem index build      index what is missing now, without the worker
  claude-mem index rebuild    index everything again")]
pub(super) struct Args {
    #[command(subcommand)]
    action: IndexAction,
}

#[derive(Debug, clap::Subcommand)]
enum IndexAction {
    /// Show how many memories are indexed
    Status,
    /// Index what is missing
    Build,
    /// Index everything again
    Rebuild,
}

#[derive(Serialize)]
struct IndexStatus {
    /// Rows with a vector.
    indexed: u64,
    /// Rows without one.
    waiting: u64,
    model: String,
    bytes: u64,
    enabled: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match args.action {
        IndexAction::Status => status(app, screen),
        IndexAction::Build => build(app, screen, false),
        IndexAction::Rebuild => build(app, screen, true),
    }
}

fn status(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let model = embed::EmbeddingModel::built_in().id();
    let path = app.data.vectors_db();
    let indexed = match VectorStore::open_read_only(&path, model) {
        Ok(vectors) => vectors.row_count()?,
        Err(StoreError::Missing) => 0,
        Err(e) => return Err(e.into()),
    };
    let waiting = match app.store_if_any()? {
        Some(store) => store.read().unindexed_count()?,
        None => 0,
    };
    let status = IndexStatus {
        indexed,
        waiting,
        model: model.to_owned(),
        bytes: std::fs::metadata(&path).map_or(0, |meta| meta.len()),
        enabled: app.settings().settings.vectors,
    };
    screen.show(&status, |screen, status| {
        writeln!(
            screen,
            "{} indexed, {} waiting, {}, model {}",
            format::count(status.indexed, "memory"),
            format::grouped(status.waiting),
            format::size(status.bytes),
            status.model
        )?;
        if !status.enabled {
            writeln!(screen, "vectors are off; `claude-mem config set vectors on` turns them on")?;
        }
        Ok(())
    })
}

fn build(app: &App, screen: &mut Screen, anew: bool) -> anyhow::Result<()> {
    let mut store: Store = app.store_to_change()?;
    let model = embed::EmbeddingModel::built_in();
    let mut vectors = VectorStore::open(&app.data.vectors_db(), model.id())?;
    if anew {
        index::rebuild(&mut store, &mut vectors)?;
    } else {
        index::reconcile(&mut store, &vectors)?;
    }
    let mut said = 0;
    let encoder = ParallelEncoder::new(model, &platform::idle_cores);
    let done = index::catch_up(&mut store, &mut vectors, &encoder, |progress: &IndexProgress| {
        if progress.embedded >= said + 500 {
            said = progress.embedded;
            // A failed progress message does not stop the work.
            let _ = output::print_note(format!("{} left", format::count(progress.remaining, "memory")));
        }
        false
    })?;
    vectors.checkpoint()?;
    screen.show(&done, |screen, done| writeln!(screen, "{} indexed", format::count(done.embedded, "memory")))
}
