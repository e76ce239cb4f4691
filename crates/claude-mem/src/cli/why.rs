//! `claude-mem why`: what became of a memory.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::terminal::plain;
use super::{Usage, words};
use crate::clock::Millis;
use crate::search::Handle;
use crate::store::{FeedbackRow, Signal};

/// Say how often a memory was shown, fetched or cited, and because of what
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem why '#12'")]
pub(super) struct Args {
    /// An id as `search` prints it: #12, S3, P7, M9
    #[arg(value_name = "ID")]
    id: Handle,
}

#[derive(Serialize)]
struct Story {
    id: Handle,
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
    let nothing = || Usage::error(format!("there is no {}", args.id));
    let store = app.store_if_any()?.ok_or_else(nothing)?;
    let reads = store.read();
    reads
        .document(args.id.kind, args.id.row_id)?
        .ok_or_else(nothing)?;
    let entries = reads.feedback_of(args.id.kind, args.id.row_id)?;
    let count = |signal| {
        entries
            .iter()
            .filter(|entry| entry.signal == signal)
            .count()
    };
    let story = Story {
        id: args.id,
        shown: count(Signal::Injected),
        fetched: count(Signal::Fetched),
        cited: count(Signal::Cited),
        useful: count(Signal::Useful),
        useless: count(Signal::Useless),
        wrong: count(Signal::Wrong),
        last_shown_at: entries
            .iter()
            .filter(|entry| entry.signal == Signal::Injected)
            .map(|entry| entry.at)
            .max(),
        entries,
    };
    screen.show(&story, |screen, story| {
        writeln!(
            screen,
            "{} was shown {}, fetched {}, cited {}; called useful {}, useless {}, wrong {}",
            story.id,
            times(story.shown),
            times(story.fetched),
            times(story.cited),
            times(story.useful),
            times(story.useless),
            times(story.wrong)
        )?;
        for entry in story.entries.iter().rev().take(20) {
            let because = match plain(&entry.reason) {
                reason if reason.is_empty() => String::new(),
                reason => format!(", because of {reason}"),
            };
            writeln!(
                screen,
                "{}  {} at {}{because}",
                words::local(entry.at),
                entry.signal.as_str(),
                entry.place
            )?;
        }
        Ok(())
    })
}

fn times(n: usize) -> String {
    match n {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}
