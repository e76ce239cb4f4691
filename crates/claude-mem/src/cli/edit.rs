//! `claude-mem edit`: corrects an observation, from options or in the user's editor.

mod sheet;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::{UsageError, pin};
use crate::cli::output::Screen;
use crate::cli::query_args;
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::{ObservationCorrection, SaveError};
use claude_mem_store::{Observation, RowId};

/// Edit a memory: its title, text, type or facts
///
/// Without options, opens it in $VISUAL or $EDITOR. The new text is searchable at once, and imports
/// do not overwrite it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem edit '#12'                                     in your editor
  claude-mem edit 12 --title 'Retries stop at 7'
  claude-mem edit 12 --type decision --text 'The 8th trips the limiter.'
  claude-mem edit 12 --text - < note.txt")]
pub(super) struct Args {
    /// Id as `search` prints it: #12
    id: RowId,
    /// New title
    #[arg(long)]
    title: Option<String>,
    /// New text; `-` reads stdin
    #[arg(long)]
    text: Option<String>,
    /// New type: decision, bugfix, feature, refactor, discovery or change
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// New fact, replacing all old ones; repeatable
    #[arg(long = "fact", value_name = "FACT")]
    facts: Vec<String>,
}

#[derive(Serialize)]
struct EditReport {
    id: RowId,
    title: String,
    changed: bool,
    wrong: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let id = query_args::current_row(&store.read(), args.id)?;
    let row = pin::load_observation(&store, id)?;
    let was_wrong = row.wrong;
    let correction = match correction_from_args(args)? {
        Some(correction) => Some(correction),
        None => correction_from_editor(&row, app)?,
    };
    let changed = correction.is_some();
    if let Some(correction) = correction {
        let words = app.vocabulary();
        manual_edits::edit(&mut store, row.id, &correction, &words, app.now).map_err(|e| match e {
            SaveError::Store(e) => e.into(),
            SaveError::Empty => UsageError::error("a memory needs a title"),
            refused @ (SaveError::Private | SaveError::UnknownType { .. }) => {
                UsageError::error(refused.to_string())
            }
        })?;
    }
    let now = pin::load_observation(&store, id)?;
    let edited = EditReport { id, title: now.text.title, changed, wrong: now.wrong };
    screen.show(&edited, |screen, edited| {
        let verb = if edited.changed { "edited" } else { "unchanged:" };
        writeln!(screen, "{verb} {}  {}", edited.id, edited.title)?;
        match (was_wrong, edited.wrong) {
            (true, false) => writeln!(screen, "no longer marked as wrong"),
            (true, true) => writeln!(
                screen,
                "still marked as wrong; a new title, text or fact clears the mark, and so does \
                 `claude-mem mark useful '{}'`",
                edited.id
            ),
            (false, _) => Ok(()),
        }
    })
}

/// The correction given by the options, or `None` if there are none.
fn correction_from_args(args: &Args) -> anyhow::Result<Option<ObservationCorrection>> {
    let text = match args.text.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("failed to read stdin")?;
            Some(text)
        }
        text => text.map(str::to_owned),
    };
    let correction = ObservationCorrection {
        title: args.title.clone(),
        text,
        kind: args.kind.clone(),
        facts: (!args.facts.is_empty()).then(|| args.facts.clone()),
    };
    Ok(Some(correction).filter(|correction| *correction != ObservationCorrection::default()))
}

/// Opens the observation in the user's editor. `None` if nothing was changed.
fn correction_from_editor(row: &Observation, app: &App) -> anyhow::Result<Option<ObservationCorrection>> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(UsageError::error(
            "nothing to change: use --title, --text, --type or --fact, or run it in a terminal",
        ));
    }
    let path = app.data.root().join(format!("edit-{}.md", std::process::id()));
    let before = sheet::render(row);
    let mut file = claude_mem_core::paths::create_file(&path).with_context(|| path.display().to_string())?;
    file.write_all(before.as_bytes())?;
    drop(file);
    let correction = edit_until_valid(&path, &before);
    // The file holds private text.
    std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    correction
}

/// Runs the editor until the text parses, so that a missing line does not lose what was typed.
fn edit_until_valid(path: &Path, before: &str) -> anyhow::Result<Option<ObservationCorrection>> {
    loop {
        let after = run_editor(path)?;
        // Emptying the file cancels the edit.
        if after == before || after.trim().is_empty() {
            return Ok(None);
        }
        match sheet::parse(&after) {
            Ok(correction) => return Ok(Some(correction)),
            Err(wrong) if !confirm_edit_again(&wrong)? => {
                return Err(UsageError::error(format!("{wrong}; nothing was changed")));
            }
            Err(_) => {}
        }
    }
}

/// Asks whether to edit again. Enter means yes, end of input means no.
fn confirm_edit_again(wrong: &str) -> std::io::Result<bool> {
    let mut out = anstream::stderr();
    write!(out, "{wrong}. Edit again? [Y/n] ")?;
    out.flush()?;
    let mut answer = String::new();
    let is_there = std::io::stdin().read_line(&mut answer)? > 0;
    Ok(is_there && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

#[allow(clippy::disallowed_methods, reason = "we wait for the user's editor to exit")]
fn run_editor(path: &Path) -> anyhow::Result<String> {
    let given = |name| std::env::var(name).ok().filter(|text| !text.trim().is_empty());
    let editor = given("VISUAL").or_else(|| given("EDITOR")).unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = std::process::Command::new(program)
        .args(words)
        .arg(path)
        .status()
        .with_context(|| format!("failed to start {program}; set EDITOR"))?;
    anyhow::ensure!(status.success(), "{program} failed with {status}; nothing was changed");
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}
