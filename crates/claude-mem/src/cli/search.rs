//! `claude-mem search`: prints the memories that match a query, best match first.

use std::io::Write as _;

use serde::Serialize;

use super::app::App;
use crate::cli::format;
use crate::cli::output;
use crate::cli::output::{QUIET, Screen};
use crate::cli::query_args;
use crate::cli::query_args::QueryArgs;
use claude_mem_search::{ResponseScope, SearchItem};
use claude_mem_store::RowKind;

/// Search memories by words and by meaning
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Plain words are enough. The query may also use \"exact phrase\", AND, OR, NOT, title:word, prefix* and
the filters type: concept: file: project: agent: who: before: after:

Examples:
  claude-mem search login loops after refresh
  claude-mem search type:bugfix file:session.rs after:2w cookie
  claude-mem search --all-projects --explain \"rate limit\"

`claude-mem show ID` shows a memory in full, `claude-mem timeline ID` what happened around it.")]
pub(super) struct Args {
    /// Search query
    #[arg(value_name = "TEXT", required = true)]
    text: Vec<String>,
    #[command(flatten)]
    which: QueryArgs,
    /// Only this kind: memory, summary, prompt, reply or account; repeatable
    #[arg(long, value_name = "KIND", value_parser = parse_kind)]
    kind: Vec<RowKind>,
    /// Include memories marked as wrong
    #[arg(long)]
    wrong: bool,
    /// Show how each score is computed
    #[arg(long)]
    explain: bool,
}

#[derive(Serialize)]
struct SearchOutput<'a> {
    query: &'a str,
    scope: Option<ResponseScope>,
    results: Vec<SearchItem>,
    has_more: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let text = args.text.join(" ");
    let mut answer = SearchOutput { query: &text, scope: None, results: Vec::new(), has_more: false };
    if let Some(mut engine) = query_args::open_engine(app)? {
        let mut ask = args.which.to_request(&text, app, &engine.reads())?;
        ask.kinds.clone_from(&args.kind);
        ask.include_wrong = args.wrong;
        let found = engine.search(&ask)?;
        if let Some(why) = found.vectors_unavailable {
            output::print_note(format!("searched by words only: {why}"))?;
        }
        let gap = engine.reads().noticeable_index_gap()?;
        if let Some(coverage) = gap.filter(|_| app.settings().settings.vectors) {
            let (waiting, rows) = (format::grouped(coverage.waiting), format::count(coverage.rows, "row"));
            output::print_note(format!("{waiting} of {rows} are not indexed yet: found by words only"))?;
        }
        answer.scope = Some(found.scope);
        answer.results = found.results;
        answer.has_more = found.has_more;
    } else {
        args.which.check(app, None)?;
    }
    screen.show(&answer, |screen, answer| {
        if let Some(scope) = &answer.scope {
            query_args::print_scope(screen, scope, !answer.results.is_empty())?;
        }
        if answer.scope.is_none() {
            return writeln!(screen, "no memories yet");
        }
        if answer.results.is_empty() {
            writeln!(screen, "nothing found")?;
            return args.which.print_hints(screen);
        }
        if answer.query.trim().is_empty() {
            writeln!(screen, "{QUIET}empty query; showing the latest{QUIET:#}")?;
        }
        let scope = answer.scope.as_ref();
        let here = scope.and_then(|scope| scope.project.as_deref());
        query_args::print_items(screen, &answer.results, here)?;
        if args.explain {
            explain(screen, &answer.results)?;
        }
        if answer.has_more {
            writeln!(screen, "{QUIET}more results: use --limit or --offset{QUIET:#}")?;
        }
        Ok(())
    })
}

fn explain(screen: &mut Screen, items: &[SearchItem]) -> std::io::Result<()> {
    writeln!(screen)?;
    for item in items {
        let why = &item.why;
        let cosine = why.cosine.map(|cosine| format!(" (cosine {cosine:.2})")).unwrap_or_default();
        let mut parts = format!(
            "words {:.3} + vectors {:.3}{cosine} + coverage {:.3}",
            why.words, why.vectors, why.coverage
        );
        for (name, part) in [
            ("names", why.names),
            ("neighbours", why.neighbours),
            ("date", why.time),
            ("recency", why.recency),
            ("superseded or duplicate", why.rerank_delta),
        ] {
            // Omit parts that round to zero.
            if part.abs() >= 0.0005 {
                let sign = if part < 0.0 { '-' } else { '+' };
                parts.push_str(&format!(" {sign} {name} {:.3}", part.abs()));
            }
        }
        let found = match &why.matched[..] {
            [] => "matches no word".to_owned(),
            words => format!("matches {}", words.join(", ")),
        };
        writeln!(screen, "{:>6}  {:.3} = {parts}; {found}", item.id, item.score)?;
    }
    writeln!(screen, "{QUIET}{SCORE_LEGEND}{QUIET:#}")
}

/// Explains the names of the score parts.
const SCORE_LEGEND: &str = "\
words: relevance of the query words; vectors: similarity in meaning; coverage: share of the query
words and how close together; names: identifiers and paths as typed; neighbours: adjacent memories;
date: the time in the query";

fn parse_kind(name: &str) -> Result<RowKind, String> {
    // The names in the JSON output are accepted, too.
    let stored = match name {
        "memory" => "observation",
        "reply" => "message",
        name => name,
    };
    RowKind::from_name(stored).ok_or_else(|| "expected memory, summary, prompt, reply or account".to_owned())
}
