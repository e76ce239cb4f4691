//! `claude-mem why`: prints how often a memory was shown, fetched, cited and marked.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::terminal::sanitize;
use crate::cli::output::Screen;
use crate::cli::{format, query_args};
use claude_mem_core::clock::Millis;
use claude_mem_store::{FeedbackRow, FeedbackSignal, RowId};

/// Show how often a memory was shown, fetched or cited, and why
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem why '#12'")]
pub(super) struct Args {
    /// Id as `search` prints it: #12, S3, P7, M9, A4
    #[arg(value_name = "ID")]
    id: RowId,
}

#[derive(Serialize)]
struct FeedbackHistory {
    id: RowId,
    shown: usize,
    fetched: usize,
    cited: usize,
    useful: usize,
    useless: usize,
    wrong: usize,
    last_shown_at: Option<Millis>,
    entries: Vec<FeedbackRow>,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let store = app.store_if_any()?.ok_or_else(|| query_args::store_is_empty(app))?;
    let reads = store.read();
    let id = query_args::current_row(&reads, args.id)?;
    reads.document(id)?.ok_or_else(|| query_args::row_not_found(id))?;
    let entries = reads.feedback_for_row(id)?;
    let count = |signal| entries.iter().filter(|entry| entry.signal == signal).count();
    let story = FeedbackHistory {
        id,
        shown: count(FeedbackSignal::Injected),
        fetched: count(FeedbackSignal::Fetched),
        cited: count(FeedbackSignal::Cited),
        useful: count(FeedbackSignal::Useful),
        useless: count(FeedbackSignal::Useless),
        wrong: count(FeedbackSignal::Wrong),
        last_shown_at: entries
            .iter()
            .filter(|entry| entry.signal == FeedbackSignal::Injected)
            .map(|entry| entry.at)
            .max(),
        entries,
    };
    screen.show(&story, |screen, story| {
        writeln!(screen, "{} {}", story.id, describe(story))?;
        for entry in story.entries.iter().rev().take(20) {
            let because = match sanitize(&entry.reason) {
                reason if reason.is_empty() => String::new(),
                reason => format!(", because of {reason}"),
            };
            writeln!(
                screen,
                "{}  {} at {}{because}",
                format::local_time(entry.at),
                entry.signal.as_str(),
                entry.place
            )?;
        }
        Ok(())
    })
}

/// The counts in words, without zeros.
fn describe(story: &FeedbackHistory) -> String {
    let listed = |counts: &[(usize, &str)]| {
        let parts: Vec<String> =
            counts.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{what} {}", times(*n))).collect();
        parts.join(", ")
    };
    let used = listed(&[(story.shown, "shown"), (story.fetched, "fetched"), (story.cited, "cited")]);
    let judged = listed(&[(story.useful, "useful"), (story.useless, "useless"), (story.wrong, "wrong")]);
    match (used.is_empty(), judged.is_empty()) {
        (true, true) => "was never shown".to_owned(),
        (true, false) => format!("was never shown; marked {judged}"),
        (false, true) => format!("was {used}"),
        (false, false) => format!("was {used}; marked {judged}"),
    }
}

fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}
