//! `claude-mem show`: prints memories in full.

use std::io::Write as _;

use serde::Serialize;
use serde_json::Value;

use super::app::App;
use super::terminal::sanitize;
use crate::cli::output;
use crate::cli::output::{QUIET, Screen, TITLE};
use crate::cli::{format, query_args};
use claude_mem_core::ids::{AccountId, FinalMessageId, ObservationId, PromptId, SummaryId};
use claude_mem_search::{SearchItem, load_items};
use claude_mem_store::{
    AccountRow, MemoryLevel, Observation, RowId, RowKind, StoreError, StoreReader, SummaryRow,
};

/// Show memories in full, by id
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem show 12 '#13' S3
  claude-mem show P7 --json")]
pub(super) struct Args {
    /// Ids as `search` prints them: #12, S3, P7, M9, A4
    #[arg(value_name = "ID", required = true)]
    ids: Vec<RowId>,
}

/// One memory: the search item, the stored row for JSON, and its text for people.
#[derive(Serialize)]
struct ShownMemory {
    #[serde(flatten)]
    item: SearchItem,
    row: Value,
    /// State labels: wrong, pinned, in every project.
    #[serde(skip)]
    state: Vec<&'static str>,
    /// Sections of text, each with a heading or an empty one.
    #[serde(skip)]
    text: Vec<(&'static str, String)>,
}

/// Some of the memories do not exist.
#[derive(Serialize)]
struct PartlyShown {
    error: String,
    missing: Vec<RowId>,
    rows: Vec<ShownMemory>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let Some(engine) = query_args::open_engine(app)? else {
        return Err(query_args::store_is_empty(app));
    };
    let reads = engine.reads();
    let (mut shown, mut missing) = (Vec::new(), Vec::new());
    for &handle in &args.ids {
        match load_by_id(&reads, handle) {
            Ok(memory) => shown.push(memory),
            Err(error) if args.ids.len() == 1 => return Err(error),
            Err(error) => missing.push((handle, error.to_string())),
        }
    }
    if missing.is_empty() {
        return screen.show(&shown, |screen, shown| print_memories(screen, shown));
    }
    let reasons: Vec<&str> = missing.iter().map(|(_, reason)| reason.as_str()).collect();
    let partial = PartlyShown {
        error: reasons.join("; "),
        missing: missing.iter().map(|(handle, _)| *handle).collect(),
        rows: shown,
    };
    screen.show(&partial, |screen, partial| {
        reasons.iter().try_for_each(output::print_note)?;
        print_memories(screen, &partial.rows)
    })?;
    // The others were shown; the exit code still says that not all exist.
    if screen.json {
        return Err(super::AlreadyReported.into());
    }
    Err(anyhow::anyhow!("not all of these memories exist"))
}

fn print_memories(screen: &mut Screen, shown: &[ShownMemory]) -> std::io::Result<()> {
    for (at, one) in shown.iter().enumerate() {
        if at > 0 {
            writeln!(screen)?;
        }
        print_memory(screen, one)?;
    }
    Ok(())
}

fn load_by_id(reads: &StoreReader<'_>, handle: RowId) -> anyhow::Result<ShownMemory> {
    let handle = query_args::current_row(reads, handle)?;
    match load_items(reads, &[handle])?.pop() {
        Some(item) => Ok(load_memory(reads, item)?),
        None => Err(query_args::row_not_found(handle)),
    }
}

fn print_memory(screen: &mut Screen, shown: &ShownMemory) -> std::io::Result<()> {
    let item = &shown.item;
    let title = sanitize(&item.title);
    writeln!(screen, "{TITLE}{} {title}{TITLE:#}", item.id)?;
    let mut facts = vec![query_args::type_label(item), format::local_time(item.created_at)];
    facts.extend(item.project.as_deref().map(sanitize));
    facts.extend(item.session.as_ref().map(|session| format!("session {}", session.0)));
    facts.extend(item.who.as_deref().map(|who| format!("recorded by {}", sanitize(who))));
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

fn load_memory(reads: &StoreReader<'_>, item: SearchItem) -> Result<ShownMemory, StoreError> {
    let id = item.id.row_id;
    let mut state = Vec::new();
    let (row, text) = match item.kind {
        RowKind::Observation => {
            let row = reads.observation(ObservationId(id))?;
            state = state_labels(&row);
            (serde_json::to_value(&row)?, observation_sections(&row))
        }
        RowKind::Summary => {
            let row = reads.summary(SummaryId(id))?;
            (serde_json::to_value(&row)?, summary_sections(&row))
        }
        RowKind::Account => {
            let row = reads.account(AccountId(id))?;
            (serde_json::to_value(&row)?, account_sections(&row))
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
    Ok(ShownMemory { item, row, state, text })
}

fn state_labels(row: &Observation) -> Vec<&'static str> {
    let states = [
        (row.wrong, "marked as wrong, never shown"),
        (row.pinned, "pinned"),
        (row.level == MemoryLevel::User, "in every project"),
        (row.held_back, "reads like an instruction, never offered unasked"),
    ];
    let hold = states.into_iter().filter(|(holds, _)| *holds);
    hold.map(|(_, state)| state).collect()
}

fn observation_sections(row: &Observation) -> Vec<(&'static str, String)> {
    let facts: Vec<String> = row.text.facts.iter().map(|fact| format!("- {fact}")).collect();
    vec![
        ("", row.text.subtitle.clone()),
        ("", row.text.narrative.clone()),
        ("facts", facts.join("\n")),
        ("concepts", row.text.concepts.join(", ")),
        ("changed", row.text.files_modified.join("\n")),
        ("read", row.text.files_read.join("\n")),
    ]
}

fn account_sections(row: &AccountRow) -> Vec<(&'static str, String)> {
    let list = |lines: &[String]| lines.iter().map(|line| format!("- {line}")).collect::<Vec<_>>().join("\n");
    let mut sections = vec![("for", row.text.purpose.clone())];
    sections.extend(row.sections().map(|(name, lines)| (name, list(lines))));
    sections.push(("changed", row.text.files_edited.join("\n")));
    sections
}

fn summary_sections(row: &SummaryRow) -> Vec<(&'static str, String)> {
    vec![
        ("asked", row.text.request.clone()),
        ("investigated", row.text.investigated.clone()),
        ("learned", row.text.learned.clone()),
        ("completed", row.text.completed.clone()),
        ("next", row.text.next_steps.clone()),
        ("notes", row.text.notes.clone()),
        ("changed", row.text.files_edited.join("\n")),
    ]
}
