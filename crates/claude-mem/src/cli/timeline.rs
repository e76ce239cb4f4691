//! `claude-mem timeline`: what happened around a memory.

use serde::Serialize;

use super::app::App;
use super::looking::{self, Which};
use super::screen::Screen;
use super::{Usage, words};
use crate::search::timeline::{Around, timeline};
use crate::search::{Engine, Fit, Handle, Item};

/// Show what happened before and after a memory
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem timeline '#12'
  claude-mem timeline 12 --before 3 --after 20
  claude-mem timeline login loops          around the best answer to a search")]
pub(super) struct Args {
    /// An id, or words to find one by
    #[arg(value_name = "ID|TEXT", required = true)]
    text: Vec<String>,
    /// So many before it
    #[arg(long, default_value_t = 10)]
    before: usize,
    /// So many after it
    #[arg(long, default_value_t = 10)]
    after: usize,
    #[command(flatten)]
    which: Which,
}

#[derive(Serialize)]
struct Answer {
    anchor: Handle,
    results: Vec<Item>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let Some(mut engine) = looking::engine(app)? else {
        return Err(Usage::error("nothing is remembered yet"));
    };
    let anchor = anchor(args, app, &mut engine)?;
    let around = Around {
        anchor,
        before: args.before.min(200),
        after: args.after.min(200),
        kinds: Vec::new(),
        with_wrong: false,
    };
    let Some(results) = timeline(&engine.reads(), &around)? else {
        return Err(Usage::error(format!("there is no {anchor}")));
    };
    screen.show(&Answer { anchor, results }, |screen, answer| {
        let rows: Vec<[String; 4]> = answer
            .results
            .iter()
            .map(|item| {
                let here = if item.id == answer.anchor { "> " } else { "  " };
                [
                    format!("{here}{}", item.id),
                    looking::type_of(item),
                    words::local(item.created_at),
                    item.title.clone(),
                ]
            })
            .collect();
        screen.table(["  id", "type", "when", "title"], &rows)
    })
}

fn anchor(args: &Args, app: &App, engine: &mut Engine) -> anyhow::Result<Handle> {
    let text = args.text.join(" ");
    if let Ok(handle) = text.parse() {
        return Ok(handle);
    }
    let mut ask = args.which.ask(&text, app, &engine.reads())?;
    ask.fall_back = false;
    let found = engine.search(&ask)?;
    match found.results.first() {
        Some(best) if found.scope.fit != Fit::Recent => Ok(best.id),
        _ => Err(Usage::error(format!("nothing is found for {text:?}"))),
    }
}
