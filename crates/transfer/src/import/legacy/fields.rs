//! Converts single fields of legacy rows.

use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::clock::Millis;
use claude_mem_core::event_key;
use claude_mem_core::ids::PublicId;
use claude_mem_core::memory::ObservationType;
use claude_mem_store::LegacyRow;

/// Our name for the client that the legacy program calls `claude`.
pub(super) const CLAUDE_CODE_NAME: &str = CLAUDE_CODE.name;

/// Merges the description: newer versions store it in `narrative`, the oldest in `text`, some in both.
pub(super) fn merge_narrative(narrative: String, text: &str) -> String {
    if narrative.is_empty() {
        text.to_owned()
    } else if text.is_empty() || narrative.contains(text) {
        narrative
    } else {
        format!("{narrative}\n\n{text}")
    }
}

pub(super) fn client_name(platform: Option<&str>) -> String {
    match platform {
        None | Some("claude") => CLAUDE_CODE_NAME.to_owned(),
        Some(other) => other.to_owned(),
    }
}

pub(super) fn observation_type(said: Option<String>) -> ObservationType {
    let said = said.map(|name| name.trim().to_lowercase());
    let is_name = |name: &String| {
        name.len() <= 32 && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    match said.filter(is_name) {
        Some(name) => ObservationType::named(name),
        None => ObservationType::DISCOVERY,
    }
}

/// Creation time of a row: the numeric field, else the text field, if either parses.
pub(super) fn created_at(row: &LegacyRow) -> Option<Millis> {
    let number = row.number("at").filter(|at| *at > 0).map(from_epoch);
    number.or_else(|| {
        let text = row.text("at_text").unwrap_or_default();
        let stamp: jiff::Timestamp = text.trim().parse().ok()?;
        Some(Millis(stamp.as_millisecond()))
    })
}

/// Interprets a number as milliseconds, or as seconds if it is too small for milliseconds.
pub(super) const fn from_epoch(epoch: i64) -> Millis {
    const YEAR_1973_MS: i64 = 100_000_000_000;
    Millis(if epoch < YEAR_1973_MS { epoch * 1_000 } else { epoch })
}

pub(super) fn count_field(row: &LegacyRow, field: &str) -> u32 {
    let number = row.number(field).unwrap_or(0).clamp(0, i64::from(u32::MAX));
    u32::try_from(number).unwrap_or(0)
}

pub(super) fn session_uid(client: &str, session: &str) -> PublicId {
    derived_id("session", &[client, session])
}

pub(super) fn derived_id(kind: &str, parts: &[&str]) -> PublicId {
    let mut all: Vec<&[u8]> = vec![b"claude-mem-db", kind.as_bytes()];
    all.extend(parts.iter().map(|part| part.as_bytes()));
    PublicId::derived(&event_key::digest(&all))
}
