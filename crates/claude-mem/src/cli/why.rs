//! `claude-mem why`: what became of a memory.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::terminal::plain;
use super::{looking, words};
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
    let store = app
        .store_if_any()?
        .ok_or_else(|| looking::nothing_yet(app))?;
    let reads = store.read();
    reads
        .document(args.id.kind, args.id.row_id)?
        .ok_or_else(|| looking::no_such(args.id))?;
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
        writeln!(screen, "{} {}", story.id, said(story))?;
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

/// Only of what happened: `was never shown` is all there is to say of most.
fn said(story: &Story) -> String {
    let told = |all: &[(usize, &str)]| {
        let told = all.iter().filter(|(n, _)| *n > 0);
        let told: Vec<String> = told
            .map(|(n, what)| format!("{what} {}", times(*n)))
            .collect();
        told.join(", ")
    };
    let used = told(&[
        (story.shown, "shown"),
        (story.fetched, "fetched"),
        (story.cited, "cited"),
    ]);
    let judged = told(&[
        (story.useful, "useful"),
        (story.useless, "useless"),
        (story.wrong, "wrong"),
    ]);
    match (used.is_empty(), judged.is_empty()) {
        (true, true) => "was never shown".to_owned(),
        (true, false) => format!("was never shown; called {judged}"),
        (false, true) => format!("was {used}"),
        (false, false) => format!("was {used}; called {judged}"),
    }
}

fn times(n: usize) -> String {
    match n {
        1 => "once".to_owned(),
        2 => "twice".to_owned(),
        n => format!("{n} times"),
    }
}
