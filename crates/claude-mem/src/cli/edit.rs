//! `claude-mem edit`: put a memory right.

mod sheet;

use std::io::{IsTerminal as _, Read as _, Write as _};
use std::path::Path;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::{Usage, pin};
use crate::remember::{self, CannotSave, Correction};
use crate::search::Handle;
use crate::store::Observation;

/// Correct a memory: its title, text, type or facts
///
/// Without options, at a terminal, it opens in $VISUAL or $EDITOR. What was corrected is found by
/// its new words at once, and no import brings the old ones back over it.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem edit '#12'                                     in your editor
  claude-mem edit 12 --title 'Retries stop at 7'
  claude-mem edit 12 --type decision --text 'The 8th trips the limiter.'
  claude-mem edit 12 --text - < note.txt")]
pub(super) struct Args {
    /// Its id as `search` prints it: #12
    id: Handle,
    /// What it is called
    #[arg(long)]
    title: Option<String>,
    /// What happened; `-` reads it from stdin
    #[arg(long)]
    text: Option<String>,
    /// decision, bugfix, feature, refactor, discovery or change
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// In the place of its facts; may be given more than once
    #[arg(long = "fact", value_name = "FACT")]
    facts: Vec<String>,
}

#[derive(Serialize)]
struct Edited {
    id: Handle,
    title: String,
    changed: bool,
    wrong: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut store = app.store_to_change()?;
    let row = pin::row(&store, args.id)?;
    let was_wrong = row.wrong;
    let correction = match typed(args)? {
        Some(correction) => Some(correction),
        None => in_editor(&row, app)?,
    };
    let changed = correction.is_some();
    if let Some(correction) = correction {
        let words = app.vocabulary();
        remember::edit(&mut store, row.id, &correction, &words, app.now).map_err(|e| match e {
            CannotSave::Store(e) => e.into(),
            CannotSave::Empty => Usage::error("a memory needs a title"),
            refused @ (CannotSave::Private | CannotSave::NoType { .. }) => {
                Usage::error(refused.to_string())
            }
        })?;
    }
    let now = pin::row(&store, args.id)?;
    let edited = Edited {
        id: args.id,
        title: now.title,
        changed,
        wrong: now.wrong,
    };
    screen.show(&edited, |screen, edited| {
        let verb = if edited.changed {
            "edited"
        } else {
            "left as it was:"
        };
        writeln!(screen, "{verb} {}  {}", edited.id, edited.title)?;
        match (was_wrong, edited.wrong) {
            (true, false) => writeln!(screen, "it is no longer marked as wrong"),
            (true, true) => writeln!(
                screen,
                "it is still marked as wrong; another title, text or fact mends it, and so does \
                 `claude-mem mark useful '{}'`",
                edited.id
            ),
            (false, _) => Ok(()),
        }
    })
}

/// What the options say. `None`: they say nothing.
fn typed(args: &Args) -> anyhow::Result<Option<Correction>> {
    let text = match args.text.as_deref() {
        Some("-") => {
            let mut text = String::new();
            std::io::stdin()
                .read_to_string(&mut text)
                .context("cannot read stdin")?;
            Some(text)
        }
        text => text.map(str::to_owned),
    };
    let correction = Correction {
        title: args.title.clone(),
        text,
        kind: args.kind.clone(),
        facts: (!args.facts.is_empty()).then(|| args.facts.clone()),
    };
    Ok(Some(correction).filter(|correction| *correction != Correction::default()))
}

/// Opens it in the person's editor. `None`: nothing was changed.
fn in_editor(row: &Observation, app: &App) -> anyhow::Result<Option<Correction>> {
    if !std::io::stdin().is_terminal() || !std::io::stderr().is_terminal() {
        return Err(Usage::error(
            "say what to change (--title, --text, --type, --fact), or run it at a terminal",
        ));
    }
    let path = app
        .data
        .root()
        .join(format!("edit-{}.md", std::process::id()));
    let before = sheet::write(row);
    let mut file = crate::paths::create_file(&path).with_context(|| path.display().to_string())?;
    file.write_all(before.as_bytes())?;
    drop(file);
    let correction = until_it_reads(&path, &before);
    // The sheet holds a memory: it does not stay.
    std::fs::remove_file(&path).with_context(|| path.display().to_string())?;
    correction
}

/// What a person has typed is not thrown away over a missing line: the editor opens again.
fn until_it_reads(path: &Path, before: &str) -> anyhow::Result<Option<Correction>> {
    loop {
        let after = edited(path)?;
        // An emptied sheet is how one leaves without a change.
        if after == before || after.trim().is_empty() {
            return Ok(None);
        }
        match sheet::read(&after) {
            Ok(correction) => return Ok(Some(correction)),
            Err(wrong) if !again(&wrong)? => {
                return Err(Usage::error(format!("{wrong}; nothing was changed")));
            }
            Err(_) => {}
        }
    }
}

/// Enter means yes; whoever has gone away does not.
fn again(wrong: &str) -> std::io::Result<bool> {
    let mut out = anstream::stderr();
    write!(out, "{wrong}. Edit it again? [Y/n] ")?;
    out.flush()?;
    let mut answer = String::new();
    let is_there = std::io::stdin().read_line(&mut answer)? > 0;
    Ok(is_there && matches!(answer.trim().to_lowercase().as_str(), "" | "y" | "yes"))
}

#[allow(
    clippy::disallowed_methods,
    reason = "the editor is the person's own, and we wait for it"
)]
fn edited(path: &Path) -> anyhow::Result<String> {
    let given = |name| {
        std::env::var(name)
            .ok()
            .filter(|text| !text.trim().is_empty())
    };
    let editor = given("VISUAL")
        .or_else(|| given("EDITOR"))
        .unwrap_or_else(|| "vi".to_owned());
    let mut words = editor.split_whitespace();
    let program = words.next().unwrap_or("vi");
    let status = std::process::Command::new(program)
        .args(words)
        .arg(path)
        .status()
        .with_context(|| format!("cannot start {program}; set EDITOR"))?;
    anyhow::ensure!(
        status.success(),
        "{program} ended with {status}; nothing was changed"
    );
    std::fs::read_to_string(path).with_context(|| path.display().to_string())
}
