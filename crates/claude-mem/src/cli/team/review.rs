//! `claude-mem team review`: what waits for the user's word before it leaves.

use std::io::Write as _;

use serde::Serialize;

use super::super::app::App;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use claude_mem_recall::quote;
use claude_mem_sharing::KEEP_BACK;
use claude_mem_store::{RowId, ShareState, SharedRow, Store, StoreReader};

/// Rows that are listed at once.
const LISTED_MAX: u32 = 200;

/// List what waits for your word, and share or keep it
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem team review
  claude-mem team review --share '#12' A4
  claude-mem team review --keep '#13'       it never leaves; also for what was shared before

`claude-mem edit ID` changes a memory before it is shared.")]
pub(in crate::cli) struct ReviewArgs {
    /// Share these
    #[arg(long, value_name = "ID", num_args = 1..)]
    share: Vec<RowId>,
    /// Keep these here for ever; what was shared is taken back
    #[arg(long, value_name = "ID", num_args = 1.., conflicts_with = "all")]
    keep: Vec<RowId>,
    /// Share everything that waits
    #[arg(long, conflicts_with = "share")]
    all: bool,
}

#[derive(Serialize)]
struct ReviewList {
    waiting: Vec<ReviewRow>,
    shared: usize,
    kept: usize,
}

#[derive(Serialize)]
struct ReviewRow {
    id: RowId,
    title: String,
    project: String,
}

pub(super) fn run(args: &ReviewArgs, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let mut shared = args.share.clone();
    if args.all {
        shared.extend(waiting_rows(&store.read())?.iter().filter_map(SharedRow::row));
    }
    for id in &shared {
        set_state(&mut store, *id, ShareState::Unsent, app)?;
    }
    for id in &args.keep {
        keep(&mut store, *id, app)?;
    }
    let mut list = ReviewList { waiting: Vec::new(), shared: shared.len(), kept: args.keep.len() };
    let reads = store.read();
    for share in waiting_rows(&reads)? {
        let Some(id) = share.row() else { continue };
        let Some(document) = reads.document(id)? else { continue };
        let title = if document.title.is_empty() { &document.body } else { &document.title };
        let project = match document.project {
            Some(project) => reads.project_name(project)?.unwrap_or_default(),
            None => String::new(),
        };
        list.waiting.push(ReviewRow { id, title: quote::line(title, 100), project });
    }
    screen.show(&list, |screen, list| {
        if list.shared + list.kept > 0 {
            writeln!(screen, "{} will be shared, {} stay here", list.shared, list.kept)?;
        }
        if list.waiting.is_empty() {
            return writeln!(screen, "nothing waits for your word");
        }
        for row in &list.waiting {
            writeln!(screen, "{:>7}  {}  {QUIET}{}{QUIET:#}", row.id.to_string(), row.title, row.project)?;
        }
        writeln!(screen, "{QUIET}`claude-mem team review --share ID`, `--keep ID` or `--all`{QUIET:#}")
    })
}

fn waiting_rows(reads: &StoreReader<'_>) -> Result<Vec<SharedRow>, claude_mem_store::StoreError> {
    let mut found = Vec::new();
    for space in reads.spaces()? {
        found.extend(reads.shared_rows_in(space.id, ShareState::Held, None, LISTED_MAX)?);
    }
    Ok(found)
}

fn set_state(store: &mut Store, asked: RowId, state: ShareState, app: &App) -> anyhow::Result<()> {
    let id = query_args::current_row(&store.read(), asked)?;
    let share = store.read().share_of_row(id)?.filter(|share| share.member.is_none());
    let Some(share) = share.filter(|share| matches!(share.state, ShareState::Held | ShareState::Kept)) else {
        anyhow::bail!("{id} does not wait for your word");
    };
    anyhow::ensure!(!share.gone, "{id} was taken back for ever; `claude-mem save` records it anew");
    store.write(|tx| tx.put_shared_row(&SharedRow { state, at: app.now, ..share }))?;
    Ok(())
}

/// Keeps a row here. One that was shared is taken back with the next round.
fn keep(store: &mut Store, asked: RowId, app: &App) -> anyhow::Result<()> {
    let id = query_args::current_row(&store.read(), asked)?;
    anyhow::ensure!(
        store.read().member_of_row(id)?.is_none(),
        "{id} is another member's; `claude-mem forget` hides it"
    );
    let known = store.read().share_of_row(id)?;
    let space = match &known {
        Some(known) => known.space,
        None => {
            let project = store.read().document(id)?.and_then(|document| document.project);
            let space = project.map(|project| store.read().space_of_project(project)).transpose()?.flatten();
            space.ok_or_else(|| anyhow::anyhow!("the project of {id} is not shared"))?.id
        }
    };
    store.write(|tx| {
        let share = match known {
            Some(known) => known,
            None => {
                let uid = tx.public_id_of(id)?;
                SharedRow::own(space, uid, id, ShareState::Kept, app.now)
            }
        };
        let state = if share.rev > 0 && !share.gone { ShareState::Unsent } else { ShareState::Kept };
        let why = if state == ShareState::Unsent { KEEP_BACK } else { "" };
        tx.put_shared_row(&SharedRow { state, why: why.to_owned(), at: app.now, ..share })
    })?;
    Ok(())
}
