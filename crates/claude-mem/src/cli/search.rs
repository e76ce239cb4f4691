//! `claude-mem search`: what was remembered, best first.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use super::looking::{self, Which};
use super::screen::{self, QUIET, Screen};
use crate::search::{Item, Scope};
use crate::store::RowKind;

/// Find memories by words and by meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Plain words are enough. \"exact words\", AND, OR, NOT, title:word and pre* are understood, and so are
the filters type: concept: file: project: before: after:

Examples:
  claude-mem search login loops after refresh
  claude-mem search type:bugfix file:session.rs after:2w cookie
  claude-mem search --all-projects --explain \"rate limit\"

`claude-mem show ID` shows one in full, `claude-mem timeline ID` what happened around it.")]
pub(super) struct Args {
    /// What to look for
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    #[command(flatten)]
    which: Which,
    /// Only these: observation, summary, prompt, message
    #[arg(long, value_name = "KIND", value_parser = kind)]
    kind: Vec<RowKind>,
    /// Also what was marked as wrong
    #[arg(long)]
    wrong: bool,
    /// Show each part of every score
    #[arg(long)]
    explain: bool,
}

#[derive(Serialize)]
struct Answer<'a> {
    query: &'a str,
    scope: Option<Scope>,
    results: Vec<Item>,
    #[serde(rename = "hasMore")]
    has_more: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let text = args.text.join(" ");
    let mut answer = Answer {
        query: &text,
        scope: None,
        results: Vec::new(),
        has_more: false,
    };
    let mut types = Vec::new();
    if let Some(mut engine) = looking::engine(app)? {
        let mut ask = args.which.ask(&text, app, &engine.reads())?;
        ask.kinds.clone_from(&args.kind);
        ask.with_wrong = args.wrong;
        let found = engine.search(&ask)?;
        if let Some(why) = found.without_vectors {
            screen::remark(format!("searched by words alone: {why}"))?;
        }
        answer.scope = Some(found.scope);
        answer.results = found.results;
        answer.has_more = found.has_more;
        types = engine
            .reads()
            .counts_by_type()?
            .into_iter()
            .map(|(name, _)| name)
            .collect();
    }
    screen.show(&answer, |screen, answer| {
        if let Some(scope) = &answer.scope {
            looking::say_scope(screen, scope, !answer.results.is_empty())?;
        }
        if answer.scope.is_none() {
            return writeln!(screen, "nothing is remembered yet");
        }
        if answer.results.is_empty() {
            writeln!(screen, "nothing found")?;
            say_types(screen, &args.which, &types)?;
            return args.which.say_what_to_try(screen);
        }
        if answer.query.trim().is_empty() {
            writeln!(
                screen,
                "{QUIET}no words to look for; these are the latest{QUIET:#}"
            )?;
        }
        let scope = answer.scope.as_ref();
        let here = scope.and_then(|scope| scope.project.as_deref());
        looking::say_items(screen, &answer.results, here)?;
        if args.explain {
            explain(screen, &answer.results)?;
        }
        if answer.has_more {
            writeln!(screen, "{QUIET}there is more: --limit, --offset{QUIET:#}")?;
        }
        Ok(())
    })
}

/// A type that nothing is of is most often a slip.
fn say_types(screen: &mut Screen, which: &looking::Which, known: &[String]) -> std::io::Result<()> {
    match which
        .types
        .iter()
        .find(|named| !known.contains(&named.to_lowercase()))
    {
        Some(unknown) if !known.is_empty() => {
            let known = known.join(", ");
            writeln!(
                screen,
                "{QUIET}no memory is of the type {unknown:?}; there are {known}{QUIET:#}"
            )
        }
        _ => Ok(()),
    }
}

fn explain(screen: &mut Screen, items: &[Item]) -> std::io::Result<()> {
    writeln!(screen)?;
    for item in items {
        let why = &item.why;
        let cosine = why
            .cosine
            .map(|cosine| format!(" (cosine {cosine:.2})"))
            .unwrap_or_default();
        let mut parts = format!(
            "words {:.3} + vectors {:.3}{cosine} + coverage {:.3}",
            why.words, why.vectors, why.coverage
        );
        for (name, part) in [
            ("names", why.names),
            ("company", why.neighbours),
            ("date", why.time),
            ("recency", why.recency),
            ("replaced or told above", why.judged),
        ] {
            // What was neither gained nor lost needs no words.
            if part.abs() >= 0.0005 {
                let sign = if part < 0.0 { '-' } else { '+' };
                parts.push_str(&format!(" {sign} {name} {:.3}", part.abs()));
            }
        }
        let found = match &why.matched[..] {
            [] => "no word".to_owned(),
            words => format!("has {}", words.join(", ")),
        };
        writeln!(
            screen,
            "{:>6}  {:.3} = {parts}; {found}",
            item.id, item.score
        )?;
    }
    writeln!(screen, "{QUIET}{PARTS}{QUIET:#}")
}

/// What the names of the parts mean.
const PARTS: &str = "\
words: how much it is about them; vectors: how near in meaning; coverage: how many of the words, and how
close together; names: identifiers and paths as typed; company: what stands beside it; date: made when asked for";

fn kind(name: &str) -> Result<RowKind, String> {
    RowKind::from_name(name).ok_or_else(|| "observation, summary, prompt or message".to_owned())
}
