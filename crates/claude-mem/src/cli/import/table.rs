//! What an import did, as a table that adds up.

use std::io::Write as _;

use crate::cli::screen::{Screen, remark};
use crate::cli::words;
use crate::import::transcripts::Learnt;
use crate::import::{Report, Tally};

pub(super) fn show(screen: &mut Screen, report: &Report, dry_run: bool) -> anyhow::Result<()> {
    screen.show(&answer(report, dry_run), |screen, _| {
        let found: Vec<_> = report
            .kinds
            .iter()
            .filter(|(_, tally)| tally.found > 0)
            .collect();
        if found.is_empty() {
            return writeln!(screen, "nothing was found in {}", report.source);
        }
        let rows: Vec<_> = found.iter().map(|(kind, tally)| row(kind, tally)).collect();
        let imported = if dry_run { "to import" } else { "imported" };
        screen.table_of_reasons(["", "found", imported, "skipped", "because"], &rows)?;
        match report.run {
            Some(run) => writeln!(screen, "\n`claude-mem import undo {run}` takes it back"),
            None if dry_run => writeln!(screen, "\nnothing was changed"),
            None => writeln!(screen, "\nnothing new"),
        }
    })
}

/// The same for a program.
fn answer(report: &Report, dry_run: bool) -> serde_json::Value {
    let kinds = report.kinds.iter().map(|(kind, tally)| (*kind, tally));
    serde_json::json!({
        "run": report.run,
        "dry_run": dry_run,
        "source": report.source,
        "kinds": kinds.collect::<std::collections::BTreeMap<_, _>>(),
        "problems": report.problems,
    })
}

/// What could not be read, where a person sees it.
fn say_problems(problems: &[String]) -> std::io::Result<()> {
    for problem in problems.iter().take(PROBLEMS_SHOWN) {
        remark(format_args!("could not be read: {problem}"))?;
    }
    match problems.len().saturating_sub(PROBLEMS_SHOWN) {
        0 => Ok(()),
        more => remark(format_args!("and {more} more; --json lists them all")),
    }
}

/// What was learnt besides, project by project.
pub(super) fn show_learnt(
    screen: &mut Screen,
    report: &Report,
    learnt: &Learnt,
    dry_run: bool,
) -> anyhow::Result<()> {
    if screen.json {
        let mut answer = answer(report, dry_run);
        answer["learnt"] = serde_json::to_value(learnt)?;
        return screen.json(&answer);
    }
    say_problems(&report.problems)?;
    show(screen, report, dry_run)?;
    if learnt.prompts + learnt.observations + learnt.summaries + learnt.messages == 0 {
        return Ok(());
    }
    writeln!(screen)?;
    let mut types: Vec<(&String, &u64)> = learnt.types.iter().collect();
    types.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), *name));
    let types: Vec<String> = types
        .iter()
        .map(|(name, count)| format!("{} {name}", words::grouped(**count)))
        .collect();
    let types = if types.is_empty() {
        String::new()
    } else {
        format!(" ({})", types.join(", "))
    };
    let text = format!(
        "{}{types}, {} and {} from {}",
        words::count(learnt.observations, "memory"),
        words::count(learnt.summaries, "account"),
        words::count(learnt.prompts, "prompt"),
        words::count(learnt.projects.len() as u64, "project"),
    );
    screen.paragraph("", &text)?;
    let mut projects: Vec<_> = learnt.projects.iter().collect();
    projects.sort_by_key(|(name, of)| (std::cmp::Reverse(of.observations), *name));
    for (name, of) in projects.iter().take(PROJECTS_SHOWN) {
        let sessions = words::count(of.sessions, "session");
        writeln!(
            screen,
            "  {name}: {} from {sessions}",
            words::count(of.observations, "memory")
        )?;
    }
    if projects.len() > PROJECTS_SHOWN {
        writeln!(screen, "  and {} more", projects.len() - PROJECTS_SHOWN)?;
    }
    Ok(())
}

const PROJECTS_SHOWN: usize = 8;
const PROBLEMS_SHOWN: usize = 8;

fn row(kind: &str, tally: &Tally) -> [String; 5] {
    let reasons: Vec<String> = tally
        .skipped
        .iter()
        .map(|(why, rows)| format!("{} {}", words::grouped(*rows), why.reason()))
        .collect();
    [
        kind.to_owned(),
        words::grouped(tally.found),
        words::grouped(tally.imported),
        words::grouped(tally.skipped_in_all()),
        reasons.join(", "),
    ]
}
