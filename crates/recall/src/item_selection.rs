//! What is likely to matter, by value per token.

use std::collections::HashSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::SessionId;
use claude_mem_core::memory::ObservationType;
use claude_mem_store::{IndexRow, RowKind};

const DAY_MS: f64 = 86_400_000.0;

/// One candidate line of the index.
#[derive(Clone, Debug, PartialEq)]
pub struct IndexItem {
    pub row: IndexRow,
    /// Tokens of the line.
    pub tokens: u32,
    pub value: f64,
    /// Reasons for its value, most important first.
    pub reasons: Vec<&'static str>,
    /// A sentence of its text, shown below the line if the budget has room.
    pub detail: String,
}

/// What the value of an item depends on, besides its row.
#[derive(Clone, Debug, Default)]
pub struct ItemValuation {
    pub branch: Option<String>,
    /// Files touched lately, or changed on disk since memory last saw them.
    pub live_files: HashSet<String>,
    /// The session that is continued.
    pub current: Option<SessionId>,
    /// The time that ages are counted from: that of the newest row, so that the same state gives the same
    /// selection at any time.
    pub newest: Millis,
}

/// The items that fit into the budget, and the number of those that did not.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SelectedItems {
    pub items: Vec<IndexItem>,
    pub left_out: usize,
    /// The best of those left out, best first.
    pub omitted: Vec<IndexItem>,
}

/// Maximum items kept in [`SelectedItems::omitted`].
pub const OMITTED_MAX: usize = 30;

impl ItemValuation {
    /// How much one row is likely to matter now.
    pub fn value(&self, row: &IndexRow) -> (f64, Vec<&'static str>) {
        let mut worth: Vec<(f64, &'static str)> = vec![(kind_worth(row), kind_reason(row))];
        if row.pinned {
            worth.push((6.0, "pinned"));
        }
        if row.session.is_some() && row.session == self.current {
            worth.push((3.0, "the work under way"));
        }
        if row.concepts.iter().any(|concept| concept == "gotcha") {
            worth.push((1.0, "a gotcha"));
        }
        if row.branch.is_some() && row.branch == self.branch {
            worth.push((0.5, "same branch"));
        }
        if row.files.iter().any(|file| self.live_files.contains(file)) {
            worth.push((0.8, "files in use"));
        }
        if row.used > 0 {
            worth.push((0.4 * f64::from(row.used.min(4)), "was useful before"));
        }
        let days = (self.newest - row.created_at) as f64 / DAY_MS;
        let fresh = 2.0 * (-days / 10.0).exp();
        if fresh > 0.5 {
            worth.push((fresh, "recent"));
        }
        // Found useless is said by somebody who looked.
        let discount = 1.0 / (1.0 + f64::from(row.useless));
        worth.sort_by(|a, b| b.0.total_cmp(&a.0));
        let value = worth.iter().map(|(worth, _)| worth).sum::<f64>() * discount;
        (value, worth.into_iter().map(|(_, reason)| reason).collect())
    }
}

fn kind_worth(row: &IndexRow) -> f64 {
    match row.kind {
        RowKind::Summary | RowKind::Account => 1.2,
        RowKind::Prompt | RowKind::Message => 0.3,
        RowKind::Observation => match row.observation_type.as_str() {
            kind if kind == ObservationType::DECISION.as_str() => 3.0,
            kind if kind == ObservationType::BUGFIX.as_str() => 1.8,
            kind if kind == ObservationType::FEATURE.as_str() => 1.5,
            kind if kind == ObservationType::DISCOVERY.as_str() => 1.4,
            kind if kind == ObservationType::REFACTOR.as_str() => 1.0,
            _ => 0.8,
        },
    }
}

fn kind_reason(row: &IndexRow) -> &'static str {
    match row.kind {
        RowKind::Summary => "a turn's summary",
        RowKind::Account => "a session's account",
        RowKind::Prompt => "a request",
        RowKind::Message => "the agent's account",
        RowKind::Observation => match row.observation_type.as_str() {
            "decision" => "a decision",
            "bugfix" => "a fix",
            "discovery" => "a discovery",
            _ => "a change",
        },
    }
}

/// The best of `items` that fit into `budget` tokens: what is pinned, then greedily by value per
/// token, which is within one line of the best possible choice. What is pinned stands first, the
/// rest newest first.
pub fn within(mut items: Vec<IndexItem>, budget: u32) -> SelectedItems {
    items.sort_by(|a, b| {
        let ratio = |item: &IndexItem| item.value / f64::from(item.tokens.max(1));
        (b.row.pinned.cmp(&a.row.pinned))
            .then(ratio(b).total_cmp(&ratio(a)))
            .then(b.row.created_at.cmp(&a.row.created_at))
            .then(b.row.row_id.cmp(&a.row.row_id))
    });
    let all = items.len();
    let mut left = budget;
    let (mut chosen, mut omitted) = (Vec::with_capacity(all), Vec::new());
    for item in items {
        if item.tokens <= left {
            left -= item.tokens;
            chosen.push(item);
        } else if omitted.len() < OMITTED_MAX {
            omitted.push(item);
        }
    }
    let mut items = chosen;
    items.sort_by(|a, b| {
        (b.row.pinned.cmp(&a.row.pinned))
            .then(b.row.created_at.cmp(&a.row.created_at))
            .then(b.row.row_id.cmp(&a.row.row_id))
    });
    SelectedItems { left_out: all - items.len(), items, omitted }
}
