//! What is known of a file, at the moment it is read or edited.

use std::collections::HashSet;

use jiff::tz::TimeZone;

use super::recall::{Brought, Recalled, frame, said};
use super::{quote, render};
use claude_mem_core::ids::{ObservationId, ProjectId, SessionId};
use claude_mem_core::tokens;
use claude_mem_store::{Observation, RowId, RowKind, StoreError, StoreReader};

/// Memories looked at. What was decided about a busy file long ago holds as well as what was done
/// to it today, so that they are many.
const LOOKED_AT: usize = 240;
/// Lines that one file may bring.
const LINES_MAX: usize = 5;
/// A smaller file is read sooner than what is known of it.
pub const FILE_BYTES_MIN: u64 = 512;

#[derive(Debug)]
pub struct Ask<'a> {
    pub project: ProjectId,
    pub own: Option<SessionId>,
    /// Relative to the project's root.
    pub path: &'a str,
    pub shown: &'a HashSet<RowId>,
    pub budget_tokens: u32,
    pub zone: &'a TimeZone,
}

/// Decisions, gotchas and fixes first, then the last changes; nothing for a file that memory
/// does not know.
pub fn file(reads: &StoreReader<'_>, ask: &Ask<'_>) -> Result<Recalled, StoreError> {
    let mut known = Vec::new();
    let mut refs = reads.refs_of_path(ask.project, ask.path)?;
    refs.retain(|found| {
        found.kind == RowKind::Observation && !ask.shown.contains(&RowId::new(found.kind, found.row_id))
    });
    for found in refs.into_iter().take(LOOKED_AT) {
        let row = reads.observation(ObservationId(found.row_id))?;
        let own = row.session.is_some() && row.session == ask.own;
        // That somebody read it once says nothing about it.
        if !own && !row.wrong && row.replaced_by.is_none() && (found.modified || speaks(&row)) {
            known.push(row);
        }
    }
    known.sort_by(|a, b| worth(b).cmp(&worth(a)).then(b.created_at.cmp(&a.created_at)));
    known.truncate(LINES_MAX);
    Ok(render_known(ask, known))
}

/// Worth saying of a file that was only read.
fn speaks(row: &Observation) -> bool {
    worth(row) > 0
}

fn worth(row: &Observation) -> u8 {
    let gotcha = row.concepts.iter().any(|concept| concept == "gotcha");
    match row.kind.as_str() {
        _ if row.pinned => 4,
        "decision" => 3,
        "bugfix" => 2,
        _ if gotcha => 2,
        "discovery" => 1,
        _ => 0,
    }
}

fn render_known(ask: &Ask<'_>, known: Vec<Observation>) -> Recalled {
    let head = format!("Known of {}:\n", quote::line(ask.path, 120));
    let mut left = ask.budget_tokens.saturating_sub(tokens::estimate(&frame(&head)));
    let (mut body, mut items) = (head, Vec::new());
    for row in known {
        let worth = worth(&row);
        let line = format!(
            "- {} {} {} {}\n",
            RowId::new(RowKind::Observation, row.id.0),
            render::day(row.created_at, ask.zone),
            render::mark(RowKind::Observation, row.kind.as_str(), row.origin),
            said(row.origin, &quote::line(&row.title, 160))
        );
        let cost = tokens::estimate(&line);
        if cost > left {
            break;
        }
        left -= cost;
        body.push_str(&line);
        items.push(Brought {
            kind: RowKind::Observation,
            row_id: row.id.0,
            title: row.title,
            score: f64::from(worth),
            tokens: cost,
            reason: ask.path.to_owned(),
        });
    }
    if items.is_empty() {
        return Recalled::default();
    }
    Recalled { text: frame(&body), items }
}
