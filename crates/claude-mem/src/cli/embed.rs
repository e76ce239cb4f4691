//! `claude-mem embed`: turns texts into vectors, line by line, for other programs.

use std::io::{BufRead as _, Write as _};

use anyhow::Context as _;
use serde::Deserialize;

use super::app::App;
use crate::cli::output::Screen;

/// Embed texts: reads lines of {"text": …}, writes lines of {"vector": […]}
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Example:
  echo '{\"text\": \"login loops\"}' | claude-mem embed")]
pub(super) struct Args {}

#[derive(Deserialize)]
struct EmbedRequest {
    text: String,
}

pub(super) fn run(_: &Args, _: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let model = embed::EmbeddingModel::built_in();
    for (at, line) in std::io::stdin().lock().lines().enumerate() {
        let line = line?;
        if line.trim().is_empty() {
            continue;
        }
        let read: EmbedRequest = serde_json::from_str(&line)
            .with_context(|| format!("line {}: expected {{\"text\": …}}", at + 1))?;
        let answer = serde_json::json!({ "vector": model.encode(&read.text) });
        writeln!(screen, "{answer}")?;
        screen.flush()?;
    }
    Ok(())
}
