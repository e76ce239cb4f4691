//! `claude-mem show`: memories in full.

use std::io::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::app::App;
use super::screen::{QUIET, Screen, TITLE};
use super::terminal::plain;
use super::{looking, words};
use crate::ids::{FinalMessageId, ObservationId, PromptId, SummaryId};
use crate::search::{Handle, Item, items};
use crate::store::{Level, Observation, Reads, RowKind, StoreError, Summary};

/// Show memories in full, by id
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem show 12 '#13' S3
  claude-mem show P7 --json")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12, S3, P7, M9
    #[arg(value_name = "ID", required = true)]
    ids: Vec<Handle>,
}

/// A row as it is stored, under the name that people call it by.
#[derive(Serialize)]
struct Shown {
    #[serde(flatten)]
    item: Item,
    row: Value,
    /// What holds of it beside what it says: wrong, pinned, in every project.
    #[serde(skip)]
    state: Vec<&'static str>,
    #[serde(skip)]
    text: Vec<(&'static str, String)>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let Some(engine) = looking::engine(app)? else {
        return Err(looking::nothing_yet(app));
    };
    let reads = engine.reads();
    let mut shown = Vec::new();
    for handle in &args.ids {
        match items(&reads, &[*handle])?.pop() {
            Some(item) => shown.push(whole(&reads, item)?),
            None => return Err(looking::no_such(*handle)),
        }
    }
    screen.show(&shown, |screen, shown| {
        for (at, one) in shown.iter().enumerate() {
            if at > 0 {
                writeln!(screen)?;
            }
            say(screen, one)?;
        }
        Ok(())
    })
}

fn say(screen: &mut Screen, shown: &Shown) -> std::io::Result<()> {
    let item = &shown.item;
    let title = plain(&item.title);
    writeln!(screen, "{TITLE}{} {title}{TITLE:#}", item.id)?;
    let mut facts = vec![looking::type_of(item), words::local(item.created_at)];
    facts.extend(item.project.as_deref().map(plain));
    facts.extend(
        item.session
            .as_ref()
            .map(|session| format!("session {}", session.0)),
    );
    facts.extend(shown.state.iter().map(|&state| state.to_owned()));
    facts.extend(item.replaced_by.map(|newer| format!("replaced by {newer}")));
    write!(screen, "{QUIET}")?;
    screen.paragraph("", &facts.join(" · "))?;
    write!(screen, "{QUIET:#}")?;
    for (name, text) in &shown.text {
        if text.trim().is_empty() {
            continue;
        }
        writeln!(screen)?;
        if !name.is_empty() {
            writeln!(screen, "{QUIET}{name}{QUIET:#}")?;
        }
        for line in text.lines() {
            screen.paragraph("  ", line)?;
        }
    }
    Ok(())
}

fn whole(reads: &Reads<'_>, item: Item) -> Result<Shown, StoreError> {
    let id = item.id.row_id;
    let mut state = Vec::new();
    let (row, text) = match item.kind {
        RowKind::Observation => {
            let row = reads.observation(ObservationId(id))?;
            state = state_of(&row);
            (serde_json::to_value(&row)?, of_observation(&row))
        }
        RowKind::Summary => {
            let row = reads.summary(SummaryId(id))?;
            (serde_json::to_value(&row)?, of_summary(&row))
        }
        RowKind::Prompt => {
            let row = reads.prompt(PromptId(id))?;
            (serde_json::to_value(&row)?, vec![("", row.text)])
        }
        RowKind::Message => {
            let row = reads.final_message(FinalMessageId(id))?;
            (serde_json::to_value(&row)?, vec![("", row.text)])
        }
    };
    Ok(Shown {
        item,
        row,
        state,
        text,
    })
}

fn state_of(row: &Observation) -> Vec<&'static str> {
    let states = [
        (row.wrong, "marked as wrong: never told"),
        (row.pinned, "pinned"),
        (row.level == Level::User, "in every project"),
    ];
    let hold = states.into_iter().filter(|(holds, _)| *holds);
    hold.map(|(_, state)| state).collect()
}

fn of_observation(row: &Observation) -> Vec<(&'static str, String)> {
    let facts: Vec<String> = row.facts.iter().map(|fact| format!("- {fact}")).collect();
    vec![
        ("", row.subtitle.clone()),
        ("", row.narrative.clone()),
        ("facts", facts.join("\n")),
        ("concepts", row.concepts.join(", ")),
        ("changed", row.files_modified.join("\n")),
        ("read", row.files_read.join("\n")),
    ]
}

fn of_summary(row: &Summary) -> Vec<(&'static str, String)> {
    vec![
        ("asked", row.request.clone()),
        ("investigated", row.investigated.clone()),
        ("learned", row.learned.clone()),
        ("completed", row.completed.clone()),
        ("next", row.next_steps.clone()),
        ("notes", row.notes.clone()),
        ("changed", row.files_edited.join("\n")),
    ]
}
