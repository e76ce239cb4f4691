//! `claude-mem save`: keep something by hand.

use std::io::{Read as _, Write as _};

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::{Usage, project};
use crate::remember::{self, Note};
use crate::search::Handle;
use crate::store::{RowKind, Store};

/// Keep something by hand; it can be found at once
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem save 'Money is counted in cents, never in floats'
  claude-mem save --type decision --title 'Retries stop at 7' 'The 8th trips the limiter.'
  claude-mem save --global 'Run the formatter before every commit'
  git log -1 --format=%B | claude-mem save -")]
pub(super) struct Args {
    /// What to keep; `-` reads it from stdin
    text: String,
    /// A title; without one, the first sentence is it
    #[arg(long)]
    title: Option<String>,
    /// decision, bugfix, feature, refactor, discovery or change
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// For this project: a name, an id or a directory (default: the one we are in)
    #[arg(long, value_name = "PROJECT", conflicts_with = "global")]
    project: Option<String>,
    /// For every project
    #[arg(long)]
    global: bool,
}

#[derive(Serialize)]
struct Saved {
    id: Handle,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut text = args.text.clone();
    if text == "-" {
        text.clear();
        std::io::stdin()
            .read_to_string(&mut text)
            .context("cannot read stdin")?;
    }
    app.data
        .create()
        .with_context(|| format!("cannot make {}", app.data.root().display()))?;
    let mut store = Store::open(&app.data.db())?;
    let project = match &args.project {
        Some(named) => project::find(&store.read(), named)?.id,
        None => {
            let here = std::env::current_dir().context("there is no current directory")?;
            store.write(|tx| tx.ensure_project(&crate::project::identify(&here), app.now))?
        }
    };
    let vocabulary = app.vocabulary();
    let note = Note {
        text: &text,
        title: args.title.as_deref(),
        kind: args.kind.as_deref(),
        project: Some(project),
        global: args.global,
        by_agent: false,
        session: None,
        vocabulary: Some(&vocabulary),
    };
    let id = remember::save(&mut store, &note, app.now).map_err(|e| match e {
        remember::CannotSave::Store(e) => e.into(),
        refused => Usage::error(refused.to_string()),
    })?;
    let saved = Saved {
        id: Handle {
            kind: RowKind::Observation,
            row_id: id.0,
        },
    };
    screen.show(&saved, |screen, saved| {
        writeln!(screen, "saved as {}", saved.id)
    })
}
