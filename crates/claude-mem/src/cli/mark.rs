//! `claude-mem mark`: what a memory was worth.

use std::io::Write as _;

use serde::Serialize;

use super::Usage;
use super::app::App;
use super::screen::Screen;
use crate::remember::{self, From, Judgement};
use crate::search::Handle;
use crate::store::StoreError;

/// Say that a memory was useful, useless or wrong
///
/// Useful and useless ones are told a little more or less often. A wrong one is never told again;
/// `claude-mem edit` mends it, `claude-mem forget` removes it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem mark useful '#12'
  claude-mem mark wrong 12 15")]
pub(super) struct Args {
    /// What it was worth: useful, useless or wrong
    #[arg(value_name = "WORTH", value_parser = worth)]
    worth: Judgement,
    /// Ids as `search` prints them: #12, S3
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Handle>,
}

#[derive(Serialize)]
struct Done {
    marked: &'static str,
    ids: Vec<Handle>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let from = From {
        place: "cli",
        ..From::default()
    };
    for handle in &args.ids {
        let (kind, id) = handle.key();
        match remember::mark(&mut store, kind, id, args.worth, &from, app.now) {
            Err(StoreError::NoSuchRow { .. }) => {
                return Err(Usage::error(format!("there is no {handle}")));
            }
            marked => marked?,
        }
    }
    let done = Done {
        marked: args.worth.signal().as_str(),
        ids: args.ids.clone(),
    };
    screen.show(&done, |screen, done| {
        let mut ids = done.ids.iter();
        ids.try_for_each(|id| writeln!(screen, "marked {id} as {}", done.marked))
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
