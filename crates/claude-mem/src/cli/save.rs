//! `claude-mem save`: saves an observation by hand.

use std::io::{Read as _, Write as _};

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::{UsageError, project};
use crate::cli::format;
use crate::cli::output::Screen;
use claude_mem_capture::saved_text::{SavedTextMask, has_private_block};
use claude_mem_recall::manual_edits;
use claude_mem_recall::manual_edits::ManualNote;
use claude_mem_store::{RowId, RowKind, Store};

/// Save a memory by hand
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem save 'Money is counted in cents, never in floats'
  claude-mem save --type decision --title 'Retries stop at 7' 'The 8th trips the limiter.'
  claude-mem save --global 'Run the formatter before every commit'
  git log -1 --format=%B | claude-mem save -")]
pub(super) struct Args {
    /// Text to save; `-` reads stdin
    text: String,
    /// Title (default: the first sentence)
    #[arg(long)]
    title: Option<String>,
    /// Type: decision, bugfix, feature, refactor, discovery or change
    #[arg(long = "type", value_name = "TYPE")]
    kind: Option<String>,
    /// Project name, id or directory (default: the current project)
    #[arg(long, value_name = "PROJECT", conflicts_with = "global")]
    project: Option<String>,
    /// Save it for every project
    #[arg(long)]
    global: bool,
}

#[derive(Serialize)]
struct SaveReport {
    id: RowId,
    /// Passages that looked like secrets and were not stored.
    #[serde(skip_serializing_if = "is_zero")]
    masked: usize,
    /// A private block was removed.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    private: bool,
}

/// Prefix of the placeholder that redaction inserts for a secret.
const MASK: &str = "[redacted:";

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
const fn is_zero(count: &usize) -> bool {
    *count == 0
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut text = args.text.clone();
    if text == "-" {
        text.clear();
        std::io::stdin().read_to_string(&mut text).context("failed to read stdin")?;
    }
    app.data.create().with_context(|| format!("cannot create {}", app.data.root().display()))?;
    let words =
        SavedTextMask::load(&app.data).context("cannot read which words are private; nothing was saved")?;
    let (masked_text, masked_title) =
        (words.mask(&text), args.title.as_deref().map(|title| words.mask(title)));
    let mut store = Store::open(&app.data.db())?;
    let project = match &args.project {
        Some(named) => project::find(&store.read(), named)?.id,
        None => {
            let here = std::env::current_dir().context("cannot determine the current directory")?;
            store.write(|tx| tx.ensure_project(&claude_mem_core::project::identify(&here), app.now))?
        }
    };
    let vocabulary = app.vocabulary();
    let note = ManualNote {
        text: &masked_text,
        title: masked_title.as_deref(),
        kind: args.kind.as_deref(),
        project: Some(project),
        global: args.global,
        by_agent: false,
        session: None,
        vocabulary: Some(&vocabulary),
    };
    let id = manual_edits::save(&mut store, &note, app.now).map_err(|e| match e {
        manual_edits::SaveError::Store(e) => e.into(),
        refused => UsageError::error(refused.to_string()),
    })?;
    let stored = store.read().observation(id)?;
    let masks = |text: &str| text.matches(MASK).count();
    let given = masks(&text) + args.title.as_deref().map_or(0, masks);
    // A title of its own is part of the text, so its masks are counted there.
    let title =
        if args.title.is_some() || stored.text.narrative.is_empty() { &stored.text.title } else { "" };
    let masked = (masks(title) + masks(&stored.text.narrative)).saturating_sub(given);
    let private = has_private_block(&text) || args.title.as_deref().is_some_and(has_private_block);
    let saved = SaveReport { id: RowId::new(RowKind::Observation, id.0), masked, private };
    screen.show(&saved, |screen, saved| {
        writeln!(screen, "saved as {}", saved.id)?;
        if saved.private {
            writeln!(screen, "a private block was removed")?;
        }
        match saved.masked {
            0 => Ok(()),
            n => writeln!(
                screen,
                "{} masked: what looks like a secret or was private is not stored",
                format::count(n as u64, "passage")
            ),
        }
    })
}
