//! `claude-mem index`: the vectors beside the database.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::{self, Screen};
use super::words;
use crate::search::index::{self, Progress};
use crate::store::{Store, StoreError, VectorStore};

/// See how far the vectors are, and make them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Memories are found by words at once, and by meaning once the worker has made their vectors. They
are in a file of their own that can be deleted at any time.

Examples:
  claude-mem index status
  claude-mem index build      make what is missing now, without the worker
  claude-mem index rebuild    make all of them again")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Action,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// How many memories have their vectors
    Status,
    /// Make what is missing
    Build,
    /// Make all of them again
    Rebuild,
}

#[derive(Serialize)]
struct Status {
    /// Rows that have vectors.
    indexed: u64,
    /// Rows that wait for theirs.
    waiting: u64,
    model: String,
    bytes: u64,
    enabled: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    match args.action {
        Action::Status => status(app, screen),
        Action::Build => build(app, screen, false),
        Action::Rebuild => build(app, screen, true),
    }
}

fn status(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let model = embed::Model::built_in().id();
    let path = app.data.vectors_db();
    let indexed = match VectorStore::open_read_only(&path, model) {
        Ok(vectors) => vectors.count()?,
        Err(StoreError::Missing) => 0,
        Err(e) => return Err(e.into()),
    };
    let waiting = match app.store_if_any()? {
        Some(store) => store.read().owed_vectors_count()?,
        None => 0,
    };
    let status = Status {
        indexed,
        waiting,
        model: model.to_owned(),
        bytes: std::fs::metadata(&path).map_or(0, |meta| meta.len()),
        enabled: app.settings().settings.vectors,
    };
    screen.show(&status, |screen, status| {
        writeln!(
            screen,
            "{} indexed, {} waiting, {} by {}",
            words::count(status.indexed, "memory"),
            words::grouped(status.waiting),
            words::size(status.bytes),
            status.model
        )?;
        if !status.enabled {
            writeln!(screen, "switched off: `claude-mem config set vectors on`")?;
        }
        Ok(())
    })
}

fn build(app: &App, screen: &mut Screen, anew: bool) -> anyhow::Result<()> {
    let mut store: Store = app.store_to_change()?;
    let model = embed::Model::built_in();
    let mut vectors = VectorStore::open(&app.data.vectors_db(), model.id())?;
    if anew {
        index::rebuild(&mut store, &mut vectors)?;
    } else {
        index::reconcile(&mut store, &vectors)?;
    }
    let mut said = 0;
    let done = index::catch_up(&mut store, &mut vectors, model, |progress: &Progress| {
        if progress.embedded >= said + 500 {
            said = progress.embedded;
            // Whether anybody reads it makes no difference to the work.
            let _ = screen::remark(format!("{} to go", words::count(progress.left, "memory")));
        }
        false
    })?;
    vectors.checkpoint()?;
    screen.show(&done, |screen, done| {
        writeln!(screen, "{} indexed", words::count(done.embedded, "memory"))
    })
}
