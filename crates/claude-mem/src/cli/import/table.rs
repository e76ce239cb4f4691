//! What an import did, as a table that adds up.

use std::io::Write as _;

use crate::cli::screen::Screen;
use crate::cli::words;
use crate::import::{Report, Tally};

pub(super) fn show(screen: &mut Screen, report: &Report, dry_run: bool) -> anyhow::Result<()> {
    let answer = serde_json::json!({
        "run": report.run,
        "dry_run": dry_run,
        "source": report.source,
        "kinds": report.kinds.iter().map(|(kind, tally)| (*kind, tally)).collect::<std::collections::BTreeMap<_, _>>(),
    });
    screen.show(&answer, |screen, _| {
        let found: Vec<_> = report.kinds.iter().filter(|(_, tally)| tally.found > 0).collect();
        if found.is_empty() {
            return writeln!(screen, "nothing was found in {}", report.source);
        }
        let rows: Vec<_> = found.iter().map(|(kind, tally)| row(kind, tally)).collect();
        let imported = if dry_run { "to import" } else { "imported" };
        screen.table(["", "found", imported, "skipped", "because"], &rows)?;
        match report.run {
            Some(run) => writeln!(screen, "\n`claude-mem import undo {run}` takes it back"),
            None if dry_run => writeln!(screen, "\nnothing was changed"),
            None => writeln!(screen, "\nnothing new"),
        }
    })
}

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
