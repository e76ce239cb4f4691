//! Standing rules: what the user stated as holding from now on, each of them once.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use super::{quote, render};
use claude_mem_core::memory::Origin;
use claude_mem_core::tokens;
use claude_mem_core::vocabulary::{PREFERENCE, TRADE_OFF};
use claude_mem_search::subject::content_words;
use claude_mem_store::{IndexRow, RowId, RowKind};

/// Rules told at most; more would not be read.
const RULES_MAX: usize = 12;
/// Characters of one rule: half a rule may say the contrary.
const RULE_CHARS_MAX: usize = 240;
/// Share of the shorter rule's words that makes two rules the same, in percent.
const SAME_RULE_PERCENT: usize = 75;
/// The same for two lines of the index.
pub(super) const SAME_LINE_PERCENT: usize = 90;

/// Words by which a sentence says what always or never holds.
#[rustfmt::skip]
const RULE_CUES: &[&str] = &[
    "always", "never", "must", "only", "don't", "do not", "not", "no", "prefer", "avoid", "should", "shall", "every", "each",
    "from now on", "instead", "unless", "before", "without", "use", "keep", "ask", "want", "needs", "required",
    "nie", "immer", "nur", "muss", "nicht", "kein", "keine", "jamais", "toujours", "siempre", "nunca",
];

/// The rules among these rows, pinned ones first, then newest first; of two that say the same the first.
pub(super) fn standing_rules(rows: &[IndexRow]) -> Vec<IndexRow> {
    let mut rules: Vec<IndexRow> = rows.iter().filter(|row| is_rule(row)).cloned().collect();
    rules.sort_by(|a, b| {
        b.pinned.cmp(&a.pinned).then(b.sources.cmp(&a.sources)).then(b.created_at.cmp(&a.created_at))
    });
    drop_repeated(&mut rules, SAME_RULE_PERCENT);
    rules.truncate(RULES_MAX);
    rules
}

/// Only what the user said can be the user's rule.
fn is_rule(row: &IndexRow) -> bool {
    let is_stated = matches!(row.origin, Origin::User | Origin::Manual);
    let is_decision = row.kind == RowKind::Observation && row.observation_type == "decision";
    let has = |wanted: &str| row.concepts.iter().any(|concept| concept == wanted);
    // What was picked among options holds for the change that it was picked for.
    let is_rule = is_decision && has_rule_cue(&row.title) && !has(TRADE_OFF);
    is_stated && (has(PREFERENCE) || is_rule)
}

fn has_rule_cue(title: &str) -> bool {
    let lower = title.to_lowercase().replace('’', "'");
    let words: Vec<&str> = lower.split(|c: char| !(c.is_alphanumeric() || c == '\'')).collect();
    RULE_CUES.iter().any(|cue| if cue.contains(' ') { lower.contains(cue) } else { words.contains(cue) })
}

/// What a title says: its words, and its numbers, which make "5 retries" another thing than "7 retries". Words are
/// kept as sorted hashes, because a start context compares hundreds of titles with each other.
struct TitleWords {
    words: Vec<u64>,
    numbers: Vec<u64>,
}

impl TitleWords {
    fn new(title: &str) -> Self {
        let is_number = |token: &&str| token.contains(|c: char| c.is_ascii_digit());
        let tokens = title.split(|c: char| !c.is_alphanumeric());
        Self {
            words: sorted_hashes(content_words(std::iter::once(title)).into_iter()),
            numbers: sorted_hashes(tokens.filter(is_number).map(str::to_lowercase)),
        }
    }

    fn says_same(&self, other: &Self, percent: usize) -> bool {
        let (shorter, longer) =
            (self.words.len().min(other.words.len()), self.words.len().max(other.words.len()));
        shorter > 1
            && longer <= shorter * 2
            && self.numbers == other.numbers
            && shared_count(&self.words, &other.words) * 100 >= shorter * percent
    }
}

fn sorted_hashes(words: impl Iterator<Item = String>) -> Vec<u64> {
    let hash = |word: String| {
        let mut hasher = DefaultHasher::new();
        word.hash(&mut hasher);
        hasher.finish()
    };
    let mut hashes: Vec<u64> = words.map(hash).collect();
    hashes.sort_unstable();
    hashes.dedup();
    hashes
}

/// How many values two sorted lists share.
fn shared_count(one: &[u64], other: &[u64]) -> usize {
    let (mut at, mut shared) = (0, 0);
    for value in one {
        while at < other.len() && other[at] < *value {
            at += 1;
        }
        shared += usize::from(other.get(at) == Some(value));
    }
    shared
}

/// Words that a short item must have before it is looked for in a longer one.
const CONTAINED_WORDS_MIN: usize = 3;

/// Whether one of two sentences says all that the other says, whatever it adds.
pub(super) fn contains_same(one: &str, other: &str) -> bool {
    let (one, other) = (TitleWords::new(one), TitleWords::new(other));
    let shorter = one.words.len().min(other.words.len());
    shorter >= CONTAINED_WORDS_MIN
        && shared_count(&one.words, &other.words) * 100 >= shorter * SAME_RULE_PERCENT
}

/// Whether two sentences state the same rule.
pub(super) fn says_same_rule(one: &str, other: &str) -> bool {
    TitleWords::new(one).says_same(&TitleWords::new(other), SAME_RULE_PERCENT)
}

/// Drops rows whose title says what an earlier row says, pinned ones excepted.
pub(super) fn drop_repeated(rows: &mut Vec<IndexRow>, percent: usize) {
    let mut told: Vec<TitleWords> = Vec::new();
    rows.retain(|row| {
        let title = TitleWords::new(&row.title);
        let is_repeated = told.iter().any(|earlier| earlier.says_same(&title, percent));
        told.push(title);
        row.pinned || !is_repeated
    });
}

/// One line per rule, within the budget; also how many were told.
pub(super) fn render_rules(heading: &str, rows: &[IndexRow], budget_tokens: u32) -> (String, usize) {
    let (mut out, mut told) = (String::new(), 0);
    for row in rows {
        let source = render::source(row.origin);
        let line = format!(
            "- {}{}{source} {}\n",
            RowId::new(row.kind, row.row_id),
            if source.is_empty() { "" } else { " " },
            quote::clause(&row.title, RULE_CHARS_MAX)
        );
        if tokens::estimate(heading) + tokens::estimate(&out) + tokens::estimate(&line) > budget_tokens {
            break;
        }
        out.push_str(&line);
        told += 1;
    }
    if told == 0 {
        return (String::new(), 0);
    }
    (format!("\n## {heading}\n{out}"), told)
}

#[cfg(test)]
mod tests {
    use super::contains_same;

    #[test]
    fn item_that_a_longer_one_contains_is_the_same() {
        let short = "Retry of the nightly export";
        assert!(contains_same(
            short,
            "Investigate a retry for the nightly export in `src/export.py`, with a limit"
        ));
        assert!(!contains_same(short, "Write a test for the nightly report of the warehouse"));
        assert!(!contains_same("Add tests", "Add tests for the nightly export"), "too short to tell");
    }
}
