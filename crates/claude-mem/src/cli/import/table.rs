//! The report of an import: per kind, rows found = imported + skipped, with the reasons.

use std::io::Write as _;

use crate::cli::format;
use crate::cli::output::{Screen, print_note};
use claude_mem_transfer::import::transcripts::ImportSummary;
use claude_mem_transfer::import::{ImportReport, ImportTally};

/// Prints the report as a table, or as JSON.
pub(super) fn show(screen: &mut Screen, report: &ImportReport, dry_run: bool) -> anyhow::Result<()> {
    screen.show(&to_json(report, dry_run), |screen, _| {
        let found: Vec<_> = report.kinds.iter().filter(|(_, tally)| tally.found > 0).collect();
        if found.is_empty() {
            return writeln!(screen, "nothing found in {}", report.source);
        }
        let rows: Vec<_> = found.iter().map(|(kind, tally)| row(kind, tally)).collect();
        let imported = if dry_run { "to import" } else { "imported" };
        screen.wrapped_table(["", "found", imported, "skipped", "because"], &rows)?;
        match report.run {
            Some(run) => writeln!(screen, "\nundo: `claude-mem import undo {run}`"),
            None if dry_run => writeln!(screen, "\nnothing was changed"),
            None => writeln!(screen, "\nnothing new"),
        }
    })
}

/// The JSON form of the report.
fn to_json(report: &ImportReport, dry_run: bool) -> serde_json::Value {
    let kinds = report.kinds.iter().map(|(kind, tally)| (*kind, tally));
    serde_json::json!({
        "run": report.run,
        "dry_run": dry_run,
        "source": report.source,
        "kinds": kinds.collect::<std::collections::BTreeMap<_, _>>(),
        "problems": report.problems,
    })
}

/// Prints the files that could not be read to stderr, the first few in full.
fn print_problems(problems: &[String]) -> std::io::Result<()> {
    for problem in problems.iter().take(PROBLEMS_SHOWN) {
        print_note(format_args!("failed to read {problem}"))?;
    }
    match problems.len().saturating_sub(PROBLEMS_SHOWN) {
        0 => Ok(()),
        more => print_note(format_args!("and {more} more; --json lists them all")),
    }
}

/// Prints the report of a transcript import, with the memories it produced per project.
pub(super) fn show_transcripts(
    screen: &mut Screen,
    report: &ImportReport,
    learnt: &ImportSummary,
    dry_run: bool,
) -> anyhow::Result<()> {
    if screen.json {
        let mut answer = to_json(report, dry_run);
        answer["learnt"] = serde_json::to_value(learnt)?;
        return screen.json(&answer);
    }
    print_problems(&report.problems)?;
    show(screen, report, dry_run)?;
    if learnt.prompts + learnt.observations + learnt.summaries + learnt.messages == 0 {
        return Ok(());
    }
    writeln!(screen)?;
    let mut types: Vec<(&String, &u64)> = learnt.types.iter().collect();
    types.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let types: Vec<String> =
        types.iter().map(|(name, count)| format!("{} {name}", format::grouped(**count))).collect();
    let types = if types.is_empty() { String::new() } else { format!(" ({})", types.join(", ")) };
    let text = format!(
        "{}{types}, {} and {} from {}",
        format::count(learnt.observations, "memory"),
        format::count(learnt.summaries, "summary"),
        format::count(learnt.prompts, "prompt"),
        format::count(learnt.projects.len() as u64, "project"),
    );
    screen.paragraph("", &text)?;
    let mut projects: Vec<_> = learnt.projects.iter().collect();
    projects.sort_by_key(|(name, of)| (std::cmp::Reverse(of.observations), *name));
    for (name, of) in projects.iter().take(PROJECTS_SHOWN) {
        let sessions = format::count(of.sessions, "session");
        writeln!(screen, "  {name}: {} from {sessions}", format::count(of.observations, "memory"))?;
    }
    if projects.len() > PROJECTS_SHOWN {
        writeln!(screen, "  and {} more", projects.len() - PROJECTS_SHOWN)?;
    }
    Ok(())
}

const PROJECTS_SHOWN: usize = 8;
const PROBLEMS_SHOWN: usize = 8;

fn row(kind: &str, tally: &ImportTally) -> [String; 5] {
    let reasons: Vec<String> = tally
        .skipped
        .iter()
        .map(|(why, rows)| format!("{} {}", format::grouped(*rows), why.description()))
        .collect();
    [
        kind.to_owned(),
        format::grouped(tally.found),
        format::grouped(tally.imported),
        format::grouped(tally.skipped_total()),
        reasons.join(", "),
    ]
}
