//! What a session is told when it starts.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::UNIX_EPOCH;

use jiff::tz::TimeZone;

use super::above::{Above, Tellable, above};
use super::choose::{self, Chosen, Item, Shelf};
pub use super::session_start_ask::{Ask, Parts};
use super::{current, quote, render};
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::CONTEXT_CHARS_MAX;
use claude_mem_core::tokens;
use claude_mem_store::{IndexRow, StoreError, StoreReader, SummaryRow};

/// Rows looked at; more would not change what fits.
const RECENT_ROWS: u32 = 240;
const LASTING_ROWS: u32 = 60;
const SESSIONS: u32 = 8;
const PREFERENCES: u32 = 12;
/// Files whose time on disk is looked at.
const STATS_MAX: usize = 200;

/// The text and what stands in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Block {
    /// Empty: there is nothing to say.
    pub text: String,
    pub tokens: u32,
    pub chosen: Chosen,
    /// Told in full above the index.
    pub summary: Option<SummaryRow>,
    pub summary_tokens: u32,
    pub preferences: Vec<IndexRow>,
}

pub fn session_start(reads: &StoreReader<'_>, ask: &Ask<'_>) -> Result<Block, StoreError> {
    let since = ask.resumed.map(|(_, since)| since);
    let (mut recent, mut sessions, mut lasting) = match ask.project {
        Some(project) => (
            reads.recent_index_rows(project, RECENT_ROWS)?,
            reads.session_index_rows(project, SESSIONS)?,
            reads.lasting_index_rows(project, LASTING_ROWS)?,
        ),
        None => (Vec::new(), Vec::new(), Vec::new()),
    };
    if let Some((own, since)) = ask.resumed {
        let is_new = |row: &IndexRow| row.created_at > since && row.session != Some(own);
        recent.retain(is_new);
        sessions.retain(is_new);
        lasting.clear();
    }
    let last = ask.current.or(sessions.first().and_then(|row| row.session));
    let summary = match last {
        Some(id) if ask.parts.summary => reads.newest_summary(id)?,
        _ => None,
    };
    let asked = match ask.current {
        Some(id) if ask.parts.summary => current::asked(reads, id)?,
        _ => Vec::new(),
    };
    let preferences = if ask.parts.preferences && since.is_none() {
        reads.user_level_index_rows(PREFERENCES)?
    } else {
        Vec::new()
    };
    let nothing = recent.is_empty() && summary.is_none() && preferences.is_empty();
    if nothing && asked.is_empty() && ask.notices.is_empty() {
        return Ok(Block::default());
    }
    let mut rows = recent;
    merge(&mut rows, lasting);
    // The last session's account stands in full above the index.
    let shown = summary.as_ref().map(|summary| summary.id.0);
    merge(
        &mut rows,
        sessions.into_iter().filter(|row| Some(row.row_id) != shown && !row.title.is_empty()).collect(),
    );
    if !ask.parts.index {
        rows.clear();
    }
    let above = above(ask, &Tellable { asked: &asked, summary: summary.as_ref(), preferences: &preferences });
    let summary = summary.filter(|_| above.has_account);
    Ok(assemble(ask, rows, above, summary))
}

fn merge(rows: &mut Vec<IndexRow>, more: Vec<IndexRow>) {
    let have: HashSet<_> = rows.iter().map(|row| (row.kind, row.row_id)).collect();
    rows.extend(more.into_iter().filter(|row| !have.contains(&(row.kind, row.row_id))));
}

fn assemble(ask: &Ask<'_>, rows: Vec<IndexRow>, above: Above, summary: Option<SummaryRow>) -> Block {
    // Room for the heading, the days, and the lines below the index.
    let frame = 110;
    let shelf = shelf(ask, &rows);
    let items = rows.into_iter().map(|row| item(row, &shelf, ask.zone)).collect();
    let room = ask.budget_tokens.saturating_sub(frame);
    let room = room.saturating_sub(tokens::estimate(&above.text));
    let mut chosen = choose::within(items, room);
    loop {
        let nothing = chosen.items.is_empty() && chosen.left_out == 0;
        if nothing && !above.says_something {
            return Block::default();
        }
        let text = [above.text.as_str(), &index_part(&chosen, ask), &closing(&chosen, ask)].concat();
        let tokens = tokens::estimate(&text);
        if tokens <= ask.budget_tokens && text.chars().count() <= CONTEXT_CHARS_MAX {
            return Block {
                text,
                tokens,
                chosen,
                summary,
                summary_tokens: above.account_tokens,
                preferences: above.preferences,
            };
        }
        if chosen.items.is_empty() {
            // Not even its heading fits.
            return Block::default();
        }
        // Days add lines that no single item accounts for: the least worthy give way.
        drop_least(&mut chosen);
    }
}

fn drop_least(chosen: &mut Chosen) {
    let least = chosen
        .items
        .iter()
        .enumerate()
        .min_by(|(_, a), (_, b)| {
            let pinned = a.row.pinned.cmp(&b.row.pinned);
            pinned.then(a.value.total_cmp(&b.value))
        })
        .map(|(at, _)| at);
    if let Some(at) = least {
        chosen.items.remove(at);
        chosen.left_out += 1;
    }
}

fn item(row: IndexRow, shelf: &Shelf, zone: &TimeZone) -> Item {
    let (value, reasons) = shelf.value(&row);
    let mut item = Item { row, tokens: 0, value, reasons };
    item.tokens = tokens::estimate(&render::line_of(&item, zone)) + 1;
    item
}

fn shelf(ask: &Ask<'_>, rows: &[IndexRow]) -> Shelf {
    let newest = rows.iter().map(|row| row.created_at).max().unwrap_or_default();
    Shelf {
        branch: ask.branch.map(str::to_owned),
        live_files: live_files(ask.root, rows),
        current: ask.current,
        newest,
    }
}

/// Files that were changed on disk after memory last spoke of them.
fn live_files(root: &Path, rows: &[IndexRow]) -> HashSet<String> {
    let mut last_seen: HashMap<&str, Millis> = HashMap::new();
    for row in rows {
        for file in &row.files {
            if last_seen.len() < STATS_MAX || last_seen.contains_key(file.as_str()) {
                let seen = last_seen.entry(file).or_insert(row.created_at);
                *seen = (*seen).max(row.created_at);
            }
        }
    }
    let changed_since = |(file, seen): (&str, Millis)| {
        let modified = std::fs::metadata(root.join(file)).and_then(|meta| meta.modified()).ok()?;
        let modified = modified.duration_since(UNIX_EPOCH).ok()?.as_millis();
        (i64::try_from(modified).ok()? > seen.0).then(|| file.to_owned())
    };
    last_seen.into_iter().filter_map(changed_since).collect()
}

fn index_part(chosen: &Chosen, ask: &Ask<'_>) -> String {
    if chosen.items.is_empty() {
        return String::new();
    }
    format!("\n## Index: id, time, type, title, tokens to read\n{}", render::index(&chosen.items, ask.zone))
}

fn closing(chosen: &Chosen, ask: &Ask<'_>) -> String {
    let mut out = String::new();
    if chosen.left_out > 0 {
        out.push_str(&format!("Left out: {} more; search finds them.\n", chosen.left_out));
    }
    let found: u64 = chosen.items.iter().map(|item| u64::from(item.row.discovery_tokens)).sum();
    let read: u64 = chosen.items.iter().map(|item| u64::from(item.row.read_tokens)).sum();
    if ask.parts.economics && read > 0 {
        let made = match found {
            0 => "made without a model".to_owned(),
            found => format!("made with {found} tokens"),
        };
        out.push_str(&format!("These were {made}; reading them all takes about {read} tokens.\n"));
    }
    out.push_str(&format!("</{}>\n", quote::TAG));
    out
}

#[cfg(test)]
#[path = "session_start_tests.rs"]
mod tests;
