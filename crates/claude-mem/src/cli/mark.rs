//! `claude-mem mark`: what a memory was worth.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::{Usage, looking};
use crate::remember::{self, From, Judgement};
use crate::search::Handle;

/// Say that a memory was useful, useless or wrong
///
/// Useful and useless ones are told a little more or less often. A wrong one is never told again,
/// until `claude-mem edit` mends it or it is marked as useful; `claude-mem forget` removes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem mark useful '#12'
  claude-mem mark wrong 12 15")]
pub(super) struct Args {
    /// What it was worth: useful, useless or wrong
    #[arg(value_name = "WORTH", value_parser = worth)]
    worth: Judgement,
    /// Ids as `search` prints them: #12, S3; only memories like #12 can be wrong
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Handle>,
}

#[derive(Serialize)]
struct Done {
    marked: &'static str,
    ids: Vec<Handle>,
    no_longer_wrong: Vec<Handle>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let from = From {
        place: "cli",
        ..From::default()
    };
    // All of them are looked up before the first is marked: it is all or none.
    for handle in &args.ids {
        let (kind, id) = handle.key();
        if !args.worth.fits(kind) {
            return Err(Usage::error(format!(
                "{handle} is a {}, which cannot be marked as wrong; `claude-mem forget '{handle}'` removes it",
                kind.as_str()
            )));
        }
        let row = store.read().document(kind, id)?;
        row.ok_or_else(|| looking::no_such(*handle))?;
    }
    let rows: Vec<_> = args.ids.iter().map(|id| id.key()).collect();
    let back = remember::mark_all(&mut store, &rows, args.worth, &from, app.now)?;
    let done = Done {
        marked: args.worth.signal().as_str(),
        ids: args.ids.clone(),
        no_longer_wrong: back.into_iter().map(Handle::from).collect(),
    };
    screen.show(&done, |screen, done| {
        let mut ids = done.ids.iter();
        ids.try_for_each(|id| {
            let told = if done.no_longer_wrong.contains(id) {
                ", and it is no longer wrong"
            } else {
                ""
            };
            writeln!(screen, "marked {id} as {}{told}", done.marked)
        })
    })
}

fn worth(name: &str) -> Result<Judgement, String> {
    match name {
        "useful" => Ok(Judgement::Useful),
        "useless" => Ok(Judgement::Useless),
        "wrong" => Ok(Judgement::Wrong),
        _ => Err("useful, useless or wrong".to_owned()),
    }
}
