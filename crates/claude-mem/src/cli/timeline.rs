//! `claude-mem timeline`: what happened around a memory.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::looking::{self, Which};
use super::screen::{QUIET, Screen};
use super::terminal::plain;
use super::{Usage, words};
use crate::ids::ProjectId;
use crate::search::timeline::{Around, timeline};
use crate::search::{Engine, Fit, Handle, Item, Whose};

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
        return Err(looking::nothing_yet(app));
    };
    let anchor = anchor(args, app, &mut engine)?;
    let asked = args.which.ask("", app, &engine.reads())?;
    let (before, after) = sides(args);
    let around = Around {
        anchor,
        before,
        after,
        kinds: Vec::new(),
        types: asked.types,
        since: asked.since,
        until: asked.until,
        all_projects: asked.whose == Whose::All,
        with_wrong: false,
    };
    let Some(results) = timeline(&engine.reads(), &around)? else {
        return Err(looking::no_such(anchor));
    };
    let elsewhere = results
        .iter()
        .find(|item| item.id == anchor)
        .filter(|item| item.project_id.is_some() && !is_of(asked.whose, item.project_id))
        .and_then(|item| item.project.clone());
    screen.show(&Answer { anchor, results }, |screen, answer| {
        if let Some(project) = &elsewhere {
            let project = plain(project);
            writeln!(
                screen,
                "{QUIET}this is of another project: {project}{QUIET:#}"
            )?;
        }
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

/// Whether that project is the one that was asked for.
fn is_of(whose: Whose, project: Option<ProjectId>) -> bool {
    match whose {
        Whose::ProjectFirst(own) | Whose::ProjectOnly(own) => project == Some(own),
        Whose::All => true,
        Whose::Nobody => false,
    }
}

/// How many on each side: those asked for, and together no more than the limit.
fn sides(args: &Args) -> (usize, usize) {
    let (before, after) = (args.before.min(200), args.after.min(200));
    let Some(most) = args.which.limit.map(|limit| limit as usize) else {
        return (before, after);
    };
    let before = before.min(most.saturating_sub(after.min(most / 2)));
    (before, after.min(most - before))
}

fn anchor(args: &Args, app: &App, engine: &mut Engine) -> anyhow::Result<Handle> {
    let text = args.text.join(" ");
    if let Ok(handle) = text.parse() {
        if args.which.offset > 0 {
            let why = "--offset passes over answers to words; an id is one already";
            return Err(Usage::error(why));
        }
        return Ok(handle);
    }
    let mut ask = args.which.ask(&text, app, &engine.reads())?;
    ask.fall_back = false;
    let found = engine.search(&ask)?;
    match found.results.first() {
        Some(best) if found.scope.fit != Fit::Recent => Ok(best.id),
        _ => anyhow::bail!("nothing is found for {text:?}"),
    }
}
