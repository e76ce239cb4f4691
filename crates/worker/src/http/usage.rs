//! How often sessions received memories and used them, from the feedback ledger alone.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::api::ApiState;
use super::handler_request::PathParams;
use super::lookup;
use super::problem::Problem;
use super::rows::handle;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, ProjectId};
use claude_mem_core::limits::TITLE_CHARS_MAX;
use claude_mem_recall::quote;
use claude_mem_store::{FeedbackSignal, RowId, RowKind, StoreReader};

/// Rows listed as most used, and as never used.
const LISTED_ROWS_MAX: usize = 20;
/// Rows listed of one bar.
const SELECTED_ROWS_MAX: usize = 200;
const DAY_SECONDS: i64 = 86_400;

/// Period and project of the figures.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub(super) struct UsageParams {
    /// Days up to now; all if omitted.
    days: Option<u32>,
    /// Project id or name.
    project: Option<String>,
    /// Also lists the memories that were received, fetched, cited or used.
    list: Option<UsageSelection>,
}

/// Memories of one bar.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum UsageSelection {
    Received,
    Fetched,
    Cited,
    /// Fetched or cited.
    Used,
}

impl UsageSelection {
    const fn count(self, row: &RowTotals) -> u64 {
        match self {
            Self::Received => row.received,
            Self::Fetched => row.fetched,
            Self::Cited => row.cited,
            Self::Used => row.fetched + row.cited,
        }
    }
}

/// Memories that sessions received, and those that they used.
#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(super) struct UsageView {
    sessions: usize,
    /// How often sessions received a memory.
    received: u64,
    tokens: u64,
    /// Different memories that were received, fetched in full, cited, and either of the last two.
    memories: usize,
    fetched: usize,
    cited: usize,
    used: usize,
    most_used: Vec<UsageRow>,
    /// Received and never fetched or cited, most tokens first.
    never_used: Vec<UsageRow>,
    by_project: Vec<ProjectUsage>,
    /// The memories that `list` names, most often first.
    #[serde(skip_serializing_if = "Option::is_none")]
    listed: Option<Vec<UsageRow>>,
}

/// One memory's figures.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct UsageRow {
    kind: RowKind,
    id: i64,
    handle: String,
    title: String,
    r#type: String,
    received: u64,
    fetched: u64,
    cited: u64,
    tokens: u64,
    last_at: Millis,
}

/// One project's figures.
#[derive(Debug, Default, Serialize, JsonSchema)]
struct ProjectUsage {
    id: Option<ProjectId>,
    project: String,
    received: u64,
    tokens: u64,
    used: u64,
}

#[derive(Clone, Copy, Default)]
struct RowTotals {
    received: u64,
    fetched: u64,
    cited: u64,
    tokens: u64,
    last_at: Millis,
}

/// The place of a row's figures in `by_project`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum UsageOwner {
    Project(ProjectId),
    /// A memory that applies to all projects.
    AllProjects,
    /// A row that is no longer there.
    Forgotten,
}

impl UsageOwner {
    fn read(reads: &StoreReader<'_>, row: RowId) -> Result<Self, Problem> {
        Ok(match reads.project_and_time_of(row)? {
            Some((Some(project), _)) => Self::Project(project),
            Some((None, _)) => Self::AllProjects,
            None => Self::Forgotten,
        })
    }
}

/// Handles `GET /api/usage`.
pub(super) fn usage(api: &ApiState, _: &PathParams, asked: UsageParams) -> Result<UsageView, Problem> {
    let since = asked.days.map_or(Millis(0), |days| api.now().plus_seconds(-i64::from(days) * DAY_SECONDS));
    api.view(|reads| {
        let wanted = lookup::resolve_project(reads, asked.project.as_deref())?;
        let mut totals: BTreeMap<RowId, RowTotals> = BTreeMap::new();
        let mut owners: HashMap<RowId, UsageOwner> = HashMap::new();
        let (mut sessions, mut received, mut tokens) = (BTreeSet::new(), 0, 0);
        for entry in reads.usage_since(since)? {
            let owner = match owners.get(&entry.row) {
                Some(owner) => *owner,
                None => UsageOwner::read(reads, entry.row)?,
            };
            owners.insert(entry.row, owner);
            if wanted.is_some_and(|wanted| owner != UsageOwner::Project(wanted)) {
                continue;
            }
            let row = totals.entry(entry.row).or_default();
            row.last_at = row.last_at.max(entry.last_at);
            match entry.signal {
                FeedbackSignal::Injected => {
                    received += entry.count;
                    tokens += entry.tokens;
                    row.received += entry.count;
                    row.tokens += entry.tokens;
                    sessions.insert(entry.session);
                }
                FeedbackSignal::Fetched => row.fetched += entry.count,
                FeedbackSignal::Cited => row.cited += entry.count,
                FeedbackSignal::Useful | FeedbackSignal::Useless | FeedbackSignal::Wrong => {}
            }
        }
        let count = |is_one: fn(&RowTotals) -> bool| totals.values().filter(|row| is_one(row)).count();
        Ok(UsageView {
            sessions: sessions.len(),
            received,
            tokens,
            memories: count(|row| row.received > 0),
            fetched: count(|row| row.fetched > 0),
            cited: count(|row| row.cited > 0),
            used: count(|row| row.fetched + row.cited > 0),
            most_used: most_used(reads, &totals)?,
            never_used: never_used(reads, &totals)?,
            by_project: by_project(reads, &totals, &owners)?,
            listed: asked.list.map(|list| selected(reads, &totals, list)).transpose()?,
        })
    })
}

fn most_used(reads: &StoreReader<'_>, totals: &BTreeMap<RowId, RowTotals>) -> Result<Vec<UsageRow>, Problem> {
    let mut used: Vec<_> = totals.iter().filter(|(_, row)| row.fetched + row.cited > 0).collect();
    used.sort_by_key(|(_, row)| std::cmp::Reverse((row.fetched + row.cited, row.last_at)));
    usage_rows(reads, used.into_iter(), LISTED_ROWS_MAX)
}

/// The memories of one bar.
fn selected(
    reads: &StoreReader<'_>,
    totals: &BTreeMap<RowId, RowTotals>,
    list: UsageSelection,
) -> Result<Vec<UsageRow>, Problem> {
    let mut rows: Vec<_> = totals.iter().filter(|(_, row)| list.count(row) > 0).collect();
    rows.sort_by_key(|(_, row)| std::cmp::Reverse((list.count(row), row.last_at)));
    usage_rows(reads, rows.into_iter(), SELECTED_ROWS_MAX)
}

fn never_used(
    reads: &StoreReader<'_>,
    totals: &BTreeMap<RowId, RowTotals>,
) -> Result<Vec<UsageRow>, Problem> {
    let is_unused = |row: &RowTotals| row.received > 0 && row.fetched + row.cited == 0;
    let mut unused: Vec<_> =
        totals.iter().filter(|(id, row)| id.kind == RowKind::Observation && is_unused(row)).collect();
    unused.sort_by_key(|(_, row)| std::cmp::Reverse((row.received, row.tokens)));
    usage_rows(reads, unused.into_iter(), LISTED_ROWS_MAX)
}

/// The first rows that still exist, with their titles.
fn usage_rows<'t>(
    reads: &StoreReader<'_>,
    rows: impl Iterator<Item = (&'t RowId, &'t RowTotals)>,
    rows_max: usize,
) -> Result<Vec<UsageRow>, Problem> {
    let mut found = Vec::new();
    for (id, totals) in rows {
        if found.len() == rows_max {
            break;
        }
        let Some(document) = reads.document(*id)? else { continue };
        let text = if document.title.is_empty() { &document.body } else { &document.title };
        let r#type = match id.kind {
            RowKind::Observation => {
                reads.observation(ObservationId(id.row_id))?.text.kind.as_str().to_owned()
            }
            kind => kind.as_str().to_owned(),
        };
        found.push(UsageRow {
            kind: id.kind,
            id: id.row_id,
            handle: handle(id.kind, id.row_id),
            title: quote::line(text, TITLE_CHARS_MAX),
            r#type,
            received: totals.received,
            fetched: totals.fetched,
            cited: totals.cited,
            tokens: totals.tokens,
            last_at: totals.last_at,
        });
    }
    Ok(found)
}

fn by_project(
    reads: &StoreReader<'_>,
    totals: &BTreeMap<RowId, RowTotals>,
    owners: &HashMap<RowId, UsageOwner>,
) -> Result<Vec<ProjectUsage>, Problem> {
    let mut sums: BTreeMap<UsageOwner, ProjectUsage> = BTreeMap::new();
    for (row, total) in totals {
        let sum = sums.entry(owners.get(row).copied().unwrap_or(UsageOwner::Forgotten)).or_default();
        sum.received += total.received;
        sum.tokens += total.tokens;
        sum.used += u64::from(total.fetched + total.cited > 0);
    }
    let mut found = Vec::new();
    for (owner, mut sum) in sums {
        sum.project = match owner {
            UsageOwner::Project(id) => {
                sum.id = Some(id);
                reads.project_name(id)?.unwrap_or_default()
            }
            UsageOwner::AllProjects => "All projects".to_owned(),
            UsageOwner::Forgotten => "Forgotten memories".to_owned(),
        };
        found.push(sum);
    }
    found.sort_by_key(|sum| std::cmp::Reverse(sum.received));
    Ok(found)
}
