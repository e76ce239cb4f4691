//! The start context: what a session is told when it starts.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::time::UNIX_EPOCH;

use jiff::tz::TimeZone;

use super::item_selection::{self, IndexItem, ItemValuation, SelectedItems};
use super::start_account::LastSession;
pub use super::start_context_request::{StartContextParts, StartContextRequest};
use super::start_details::add_details;
use super::start_sections::{SectionInput, StartSections, fit_sections};
use super::start_team::{TeamSection, team_section};
use super::{current, quote, render, start_files, start_known, start_rules};
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::limits::CONTEXT_CHARS_MAX;
use claude_mem_core::memory::Origin;
use claude_mem_core::tokens;
use claude_mem_store::{
    AccountRow, IndexRow, OpenItemRow, PageRequest, RowFilter, RowId, RowKind, RowOwner, StoreError,
    StoreReader,
};

/// Rows looked at; more would not change what fits.
const RECENT_ROWS: u32 = 240;
const LASTING_ROWS: u32 = 60;
const SESSIONS: u32 = 8;
const PREFERENCES: u32 = 12;
const OPEN_ITEMS: u32 = 8;
/// Files whose time on disk is looked at.
const STATS_MAX: usize = 200;

/// The text and what stands in it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct StartContextText {
    /// Empty: there is nothing to say.
    pub text: String,
    pub tokens: u32,
    pub chosen: SelectedItems,
    /// Told in full above the index.
    pub last: Option<LastSession>,
    pub last_tokens: u32,
    pub preferences: Vec<IndexRow>,
    pub rules: Vec<IndexRow>,
    /// Told above the index as known about working here.
    pub known: Vec<IndexRow>,
    /// Rows of other members.
    pub team: Vec<IndexRow>,
}

/// Everything read from the store for one start context.
#[derive(Default)]
struct StartRows {
    recent: Vec<IndexRow>,
    sessions: Vec<IndexRow>,
    lasting: Vec<IndexRow>,
    open_items: Vec<OpenItemRow>,
    files: Vec<String>,
    /// Commands that passed at the end of several sessions, with the number of sessions.
    checks: Vec<(String, usize)>,
    preferences: Vec<IndexRow>,
    proposals: Vec<IndexRow>,
    last: Option<LastSession>,
    asked: Vec<String>,
}

pub fn session_start(
    reads: &StoreReader<'_>,
    ask: &StartContextRequest<'_>,
) -> Result<StartContextText, StoreError> {
    let team = team_section(reads, ask)?;
    // What others say has its own room; the rest is one's own.
    let own =
        StartContextRequest { budget_tokens: ask.budget_tokens.saturating_sub(team.tokens), ..ask.clone() };
    own_start(reads, &own, team)
}

fn own_start(
    reads: &StoreReader<'_>,
    ask: &StartContextRequest<'_>,
    team: TeamSection,
) -> Result<StartContextText, StoreError> {
    let mut rows = read_rows(reads, ask)?;
    let nothing = team.text.is_empty()
        && rows.recent.is_empty()
        && rows.last.is_none()
        && rows.preferences.is_empty()
        && rows.open_items.is_empty()
        && rows.files.is_empty();
    if nothing && rows.asked.is_empty() && ask.notices.is_empty() {
        return Ok(StartContextText::default());
    }
    let rules = start_rules::standing_rules(&rows.lasting);
    let known = if ask.resumed.is_none() && ask.parts.index {
        start_known::known_lines(reads, &rows.recent)?
    } else {
        Vec::new()
    };
    let is_later = |row: &IndexRow, last: &LastSession| {
        row.created_at > last.created_at()
            && row.branch.as_deref() != ask.branch
            && row.origin != Origin::Import
    };
    let has_later_session = rows
        .last
        .as_ref()
        .is_some_and(|last| ask.current.is_none() && rows.sessions.iter().any(|row| is_later(row, last)));
    let sections = fit_sections(
        ask,
        &SectionInput {
            asked: &rows.asked,
            last: rows.last.as_ref(),
            has_later_session,
            preferences: &rows.preferences,
            proposals: &rows.proposals,
            rules: &rules,
            open_items: &rows.open_items,
            files: &rows.files,
            known: &known,
            checks: &rows.checks,
        },
    );
    let told = sections.rules.iter().chain(&sections.known);
    let told: HashSet<(RowKind, i64)> = told.map(|row| (row.kind, row.row_id)).collect();
    let mut index = std::mem::take(&mut rows.recent);
    merge(&mut index, std::mem::take(&mut rows.lasting));
    merge(&mut index, std::mem::take(&mut rows.sessions));
    let last = rows.last.as_ref().map(LastSession::row_id);
    index.retain(|row| {
        let is_last = last.is_some_and(|last| (last.kind, last.row_id) == (row.kind, row.row_id));
        !is_last && !row.title.is_empty() && !told.contains(&(row.kind, row.row_id))
    });
    start_rules::drop_repeated(&mut index, start_rules::SAME_LINE_PERCENT);
    if !ask.parts.index {
        index.clear();
    }
    assemble(reads, ask, index, sections, rows.last, team)
}

fn read_rows(reads: &StoreReader<'_>, ask: &StartContextRequest<'_>) -> Result<StartRows, StoreError> {
    let mut rows = StartRows::default();
    if ask.parts.preferences && ask.resumed.is_none() {
        rows.preferences = reads.user_level_index_rows(PREFERENCES)?;
    }
    if let Some(id) = ask.current.filter(|_| ask.parts.summary) {
        rows.asked = current::asked(reads, id)?;
    }
    let Some(project) = ask.project else {
        return Ok(rows);
    };
    rows.recent = reads.recent_index_rows(project, RECENT_ROWS)?;
    let accounts = latest_accounts(reads, project)?;
    rows.checks = start_known::repeated_checks(&accounts);
    rows.sessions = session_rows(reads, project, accounts)?;
    rows.lasting = reads.lasting_index_rows(project, LASTING_ROWS)?;
    if let Some((own, since)) = ask.resumed {
        let is_new = |row: &IndexRow| row.created_at > since && row.session != Some(own);
        rows.recent.retain(is_new);
        rows.sessions.retain(is_new);
        rows.lasting.clear();
    } else {
        let files = reads.recent_session_files(project, start_files::SESSIONS, None)?;
        rows.files = start_files::rank_files(&files, ask.root);
        rows.open_items = reads.open_items(project, ask.branch, OPEN_ITEMS)?;
        if ask.parts.preferences {
            rows.proposals = reads.proposed_index_rows(project, PREFERENCES)?;
        }
    }
    if !ask.parts.index || ask.resumed.is_some() {
        rows.checks.clear();
    }
    if !ask.parts.index {
        rows.files.clear();
        rows.lasting.clear();
    }
    if ask.parts.summary {
        let newest = rows.sessions.iter().find(|row| row.origin != Origin::Import);
        // A foreign file may name a session of ours.
        rows.last = last_session(reads, ask, newest)?.filter(|last| last.origin() != Origin::Import);
    } else {
        rows.open_items.clear();
    }
    Ok(rows)
}

fn latest_accounts(reads: &StoreReader<'_>, project: ProjectId) -> Result<Vec<AccountRow>, StoreError> {
    let of_project = RowFilter { project: Some(project), who: Some(RowOwner::Own), ..RowFilter::default() };
    Ok(reads.accounts(&of_project, PageRequest::first(start_known::CHECKED_SESSIONS))?.items)
}

/// The latest sessions as lines of the index: their accounts, or in an older store the summaries of their
/// last turns.
fn session_rows(
    reads: &StoreReader<'_>,
    project: ProjectId,
    accounts: Vec<AccountRow>,
) -> Result<Vec<IndexRow>, StoreError> {
    if accounts.is_empty() {
        return reads.session_index_rows(project, SESSIONS);
    }
    Ok(accounts.into_iter().take(SESSIONS as usize).map(account_line).collect())
}

/// How the line of an account begins that lists uncommitted files; it does not say what was done.
const UNCOMMITTED: &str = "Not committed in the session: ";

fn account_line(row: AccountRow) -> IndexRow {
    let done = row.text.done.into_iter().find(|line| !line.starts_with(UNCOMMITTED));
    let title = done
        .filter(|_| !names_work(&row.text.purpose))
        .unwrap_or_else(|| if names_work(&row.text.purpose) { row.text.purpose } else { String::new() });
    IndexRow {
        kind: RowKind::Account,
        row_id: row.id.0,
        observation_type: String::new(),
        title,
        session: Some(row.session),
        branch: row.branch,
        concepts: Vec::new(),
        files: row.text.files_edited,
        pinned: false,
        read_tokens: row.read_tokens,
        discovery_tokens: 0,
        created_at: row.created_at,
        origin: row.origin,
        used: 0,
        useless: 0,
        sources: 1,
        member: row.member,
    }
}

/// Words that a purpose has at least if it says what the work was about.
const PURPOSE_WORDS_MIN: usize = 3;

/// Whether a purpose says what a session worked on; the user's first words ("resume please", a question) may not.
fn names_work(purpose: &str) -> bool {
    !purpose.trim_end().ends_with('?') && purpose.split_whitespace().count() >= PURPOSE_WORDS_MIN
}

/// The work that goes on after a compaction or `/clear`, else the last session of this branch, else of the
/// project.
fn last_session(
    reads: &StoreReader<'_>,
    ask: &StartContextRequest<'_>,
    newest: Option<&IndexRow>,
) -> Result<Option<LastSession>, StoreError> {
    let tells = |row: &AccountRow| {
        !(row.text.purpose.is_empty() && row.sections().iter().all(|(_, lines)| lines.is_empty()))
    };
    let account = |row: Option<AccountRow>| row.filter(tells).map(|row| LastSession::Account(Box::new(row)));
    if let Some(id) = ask.current {
        let found = account(reads.account_of_session(id)?);
        return match found {
            Some(found) => Ok(Some(found)),
            None => Ok(reads.newest_summary(id)?.map(|row| LastSession::Summary(Box::new(row)))),
        };
    }
    if let (Some(project), None) = (ask.project, ask.resumed) {
        if ask.branch.is_some()
            && let Some(found) = account(reads.latest_account(project, ask.branch)?)
            && is_latest(reads, project, found.row_id())?
        {
            return Ok(Some(found));
        }
        if let Some(found) = account(reads.latest_account(project, None)?) {
            return Ok(Some(found));
        }
    }
    let Some(session) = newest.and_then(|row| row.session) else { return Ok(None) };
    match account(reads.account_of_session(session)?) {
        Some(found) => Ok(Some(found)),
        None => Ok(reads.newest_summary(session)?.map(|row| LastSession::Summary(Box::new(row)))),
    }
}

/// Sessions after which the last one of a branch is no longer where the work was left.
const BRANCH_SESSIONS_MAX: u32 = 5;

/// Whether an account is of one of the latest sessions of the project.
fn is_latest(reads: &StoreReader<'_>, project: ProjectId, row: RowId) -> Result<bool, StoreError> {
    let of_project = RowFilter { project: Some(project), who: Some(RowOwner::Own), ..RowFilter::default() };
    let latest = reads.accounts(&of_project, PageRequest::first(BRANCH_SESSIONS_MAX))?.items;
    Ok(latest.iter().any(|account| account.id.0 == row.row_id))
}

fn merge(rows: &mut Vec<IndexRow>, more: Vec<IndexRow>) {
    let have: HashSet<_> = rows.iter().map(|row| (row.kind, row.row_id)).collect();
    rows.extend(more.into_iter().filter(|row| !have.contains(&(row.kind, row.row_id))));
}

fn assemble(
    reads: &StoreReader<'_>,
    ask: &StartContextRequest<'_>,
    rows: Vec<IndexRow>,
    above: StartSections,
    last: Option<LastSession>,
    team: TeamSection,
) -> Result<StartContextText, StoreError> {
    // Room for the heading, the days, and the lines below the index.
    let frame = 60;
    let shelf = shelf(ask, &rows);
    let items = rows.into_iter().map(|row| item(row, &shelf, ask.zone)).collect();
    let room = ask.budget_tokens.saturating_sub(frame);
    let room = room.saturating_sub(tokens::estimate(&above.text));
    let mut chosen = item_selection::within(items, room);
    loop {
        let nothing = chosen.items.is_empty() && chosen.left_out == 0;
        if nothing && !above.says_something && team.text.is_empty() {
            return Ok(StartContextText::default());
        }
        let text =
            [above.text.as_str(), &index_part(&chosen, ask), &team.text, &closing(&chosen, ask)].concat();
        let tokens = tokens::estimate(&text);
        if tokens <= ask.budget_tokens + team.tokens && text.chars().count() <= CONTEXT_CHARS_MAX {
            let chars_left = CONTEXT_CHARS_MAX - text.chars().count();
            // No token is shorter than a character.
            let left =
                (ask.budget_tokens + team.tokens - tokens).min(u32::try_from(chars_left / 4).unwrap_or(0));
            add_details(reads, &mut chosen, left)?;
            let text =
                [above.text.as_str(), &index_part(&chosen, ask), &team.text, &closing(&chosen, ask)].concat();
            return Ok(StartContextText {
                tokens: tokens::estimate(&text),
                text,
                chosen,
                last: last.filter(|_| above.has_account),
                last_tokens: above.account_tokens,
                preferences: above.preferences,
                rules: above.rules,
                known: above.known,
                team: team.rows,
            });
        }
        if chosen.items.is_empty() {
            // Not even its heading fits.
            return Ok(StartContextText::default());
        }
        // Days add lines that no single item accounts for: the least worthy give way.
        drop_least(&mut chosen);
    }
}

fn drop_least(chosen: &mut SelectedItems) {
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
        let dropped = chosen.items.remove(at);
        chosen.omitted.insert(0, dropped);
        chosen.omitted.truncate(item_selection::OMITTED_MAX);
        chosen.left_out += 1;
    }
}

fn item(row: IndexRow, shelf: &ItemValuation, zone: &TimeZone) -> IndexItem {
    let (value, reasons) = shelf.value(&row);
    let mut item = IndexItem { row, tokens: 0, value, reasons, detail: String::new() };
    item.tokens = tokens::estimate(&render::line_of(&item, zone)) + 1;
    item
}

fn shelf(ask: &StartContextRequest<'_>, rows: &[IndexRow]) -> ItemValuation {
    let newest = rows.iter().map(|row| row.created_at).max().unwrap_or_default();
    ItemValuation {
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

fn index_part(chosen: &SelectedItems, ask: &StartContextRequest<'_>) -> String {
    if chosen.items.is_empty() {
        return String::new();
    }
    let imported = chosen.items.iter().any(|item| item.row.origin == Origin::Import);
    let imported = if imported { "; [import]: from a file, nobody's word here" } else { "" };
    let lines = render::index(&chosen.items, ask.zone);
    format!("\n## Index: id, type, title, tokens to read{imported}\n{lines}")
}

fn closing(chosen: &SelectedItems, ask: &StartContextRequest<'_>) -> String {
    let mut out = String::new();
    if chosen.left_out > 0 {
        out.push_str(&format!("Left out: {} more; search finds them.\n", chosen.left_out));
    }
    let found: u64 = chosen.items.iter().map(|item| u64::from(item.row.discovery_tokens)).sum();
    let read: u64 = chosen.items.iter().map(|item| u64::from(item.row.read_tokens)).sum();
    if ask.parts.economics && read > 0 {
        let made = if found > 0 { format!(", and making them took {found}") } else { String::new() };
        out.push_str(&format!("Reading all of these takes about {read} tokens{made}.\n"));
    }
    out.push_str(&format!("</{}>\n", quote::TAG));
    out
}

#[cfg(test)]
#[path = "session_start_tests.rs"]
mod tests;
