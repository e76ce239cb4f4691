//! What is known about working here: pitfalls with what helped, facts that the user stated, lines of memory files,
//! saved notes, and the checks that passed in several sessions.

use std::collections::HashMap;

use super::quote;
use super::start_details::telling_sentence;
use claude_mem_core::ids::ObservationId;
use claude_mem_core::memory::Origin;
use claude_mem_core::tokens;
use claude_mem_core::vocabulary::{GOTCHA, PATTERN};
use claude_mem_store::{AccountRow, IndexRow, RowId, RowKind, StoreError, StoreReader};

/// Rows told at most, and the characters of one line.
const KNOWN_MAX: usize = 8;
const LINE_CHARS_MAX: usize = 260;
/// Latest sessions whose checks are counted, and how many of them must have passed a check.
pub(super) const CHECKED_SESSIONS: u32 = 16;
const CHECKED_SESSIONS_MIN: usize = 2;
const CHECKS_MAX: usize = 5;
const CHECK_CHARS_MAX: usize = 80;
const HEADING: &str = "\n## Known about working here\n";

/// One thing that is known, as its row and its line.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct KnownLine {
    pub(super) row: IndexRow,
    pub(super) line: String,
}

/// Pitfalls, lines of memory files and saved notes among these rows, those that most sessions met first. Of two
/// about the same place the first is told.
pub(super) fn known_lines(reads: &StoreReader<'_>, rows: &[IndexRow]) -> Result<Vec<KnownLine>, StoreError> {
    let mut known: Vec<&IndexRow> = rows.iter().filter(|row| is_knowledge(row)).collect();
    known.sort_by(|a, b| {
        let useful = |row: &IndexRow| (row.used, row.sources);
        useful(b).cmp(&useful(a)).then(b.created_at.cmp(&a.created_at))
    });
    let mut lines: Vec<KnownLine> = Vec::new();
    let mut places: Vec<Vec<&str>> = Vec::new();
    for row in known {
        let own = code_places(&row.title);
        let is_repeated =
            places.iter().flatten().any(|told| own.iter().any(|place| is_same_place(told, place)));
        if is_repeated || lines.len() == KNOWN_MAX {
            continue;
        }
        places.push(own);
        let observation = reads.observation(ObservationId(row.row_id))?;
        let detail = telling_sentence(&observation).map(|text| format!(" — {text}"));
        let text = format!("{}{}", row.title.trim_end_matches('.'), detail.unwrap_or_default());
        let line = format!("- {} {}\n", RowId::new(row.kind, row.row_id), quote::line(&text, LINE_CHARS_MAX));
        lines.push(KnownLine { row: row.clone(), line });
    }
    Ok(lines)
}

/// Neither a change nor a choice for one change: something that the next session meets again.
fn is_knowledge(row: &IndexRow) -> bool {
    let has = |wanted: &str| row.concepts.iter().any(|concept| concept == wanted);
    let is_told = matches!(row.origin, Origin::Agent | Origin::Manual | Origin::User | Origin::Import);
    // A discovery of the user is a fact that the user stated.
    let is_note = matches!(row.origin, Origin::Manual | Origin::User) || has(GOTCHA) || has(PATTERN);
    // Pinned rows stand first in the index.
    row.kind == RowKind::Observation
        && !row.pinned
        && row.observation_type != "decision"
        && is_told
        && is_note
        && row.useless == 0
}

/// Directories and files that a title names as code.
fn code_places(title: &str) -> Vec<&str> {
    let spans = title.split('`').skip(1).step_by(2);
    spans
        .filter(|span| span.contains('/') && !span.contains(' '))
        .map(|span| span.trim_end_matches('/'))
        .collect()
}

/// Whether two paths are the same, or one is below the other.
fn is_same_place(one: &str, other: &str) -> bool {
    let (short, long) = if one.len() <= other.len() { (one, other) } else { (other, one) };
    long.strip_prefix(short).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The commands that passed at the end of several sessions, those of most sessions first.
pub(super) fn repeated_checks(accounts: &[AccountRow]) -> Vec<(String, usize)> {
    let mut sessions: HashMap<&str, (usize, usize)> = HashMap::new();
    for (age, account) in accounts.iter().enumerate() {
        let passed = account.text.checked.iter().filter_map(|line| passed_command(line));
        let mut own: Vec<&str> = passed.collect();
        own.sort_unstable();
        own.dedup();
        for command in own {
            sessions.entry(command).or_insert((0, age)).0 += 1;
        }
    }
    let mut checks: Vec<(&str, (usize, usize))> =
        sessions.into_iter().filter(|(_, (count, _))| *count >= CHECKED_SESSIONS_MIN).collect();
    checks.sort_by(|(a, (often, age)), (b, (other, other_age))| {
        other.cmp(often).then(age.cmp(other_age)).then(a.cmp(b))
    });
    checks.into_iter().take(CHECKS_MAX).map(|(command, (count, _))| (command.to_owned(), count)).collect()
}

/// "`npm test`: 12 passed" → `npm test`; nothing if it failed.
fn passed_command(line: &str) -> Option<&str> {
    let (command, result) = line.strip_prefix('`')?.split_once("`: ")?;
    let is_short = command.chars().count() <= CHECK_CHARS_MAX;
    (is_short && !result.contains("failed")).then_some(command)
}

/// The section within the budget, and how many of the lines stand in it.
pub(super) fn render_known(
    lines: &[KnownLine],
    checks: &[(String, usize)],
    budget_tokens: u32,
) -> (String, usize) {
    let mut left = budget_tokens.saturating_sub(tokens::estimate(HEADING));
    let (mut out, mut told) = (String::new(), 0);
    let checked = checks_line(checks);
    if !checked.is_empty() && tokens::estimate(&checked) <= left {
        left -= tokens::estimate(&checked);
        out.push_str(&checked);
    }
    for known in lines {
        let cost = tokens::estimate(&known.line);
        if cost > left {
            break;
        }
        left -= cost;
        out.push_str(&known.line);
        told += 1;
    }
    if out.is_empty() { (out, 0) } else { (format!("{HEADING}{out}"), told) }
}

fn checks_line(checks: &[(String, usize)]) -> String {
    if checks.is_empty() {
        return String::new();
    }
    let counted = |(command, count): &(String, usize)| format!("`{command}` ({count} sessions)");
    let counted: Vec<String> = checks.iter().map(counted).collect();
    format!("- Checks that passed: {}\n", quote::line(&counted.join(", "), LINE_CHARS_MAX * 2))
}

#[cfg(test)]
#[path = "start_known_tests.rs"]
mod tests;
