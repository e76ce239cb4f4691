//! What single fields of its rows say, in our terms.

use crate::clock::Millis;
use crate::hook::key;
use crate::ids::PublicId;
use crate::memory::ObservationType;
use crate::store::EarlierRow;

/// Our name for the client that it calls `claude`.
pub(super) const CLAUDE: &str = "claude-code";

/// Its newer versions tell what happened in `narrative`, its oldest in `text`; some in both.
pub(super) fn told(narrative: String, text: &str) -> String {
    if narrative.is_empty() {
        text.to_owned()
    } else if text.is_empty() || narrative.contains(text) {
        narrative
    } else {
        format!("{narrative}\n\n{text}")
    }
}

pub(super) fn client(platform: Option<&str>) -> String {
    match platform {
        None | Some("claude" | "claude-code") => CLAUDE.to_owned(),
        Some(other) => other.to_owned(),
    }
}

pub(super) fn type_of(said: Option<String>) -> ObservationType {
    let said = said.map(|name| name.trim().to_lowercase());
    let is_name = |name: &String| {
        name.len() <= 32
            && name
                .bytes()
                .all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    match said.filter(is_name) {
        Some(name) => ObservationType::named(name),
        None => ObservationType::DISCOVERY,
    }
}

/// When the row was made: the number, or what the text says, if either reads.
pub(super) fn at(row: &EarlierRow) -> Option<Millis> {
    let number = row.number("at").filter(|at| *at > 0).map(moment);
    number.or_else(|| {
        let text = row.text("at_text").unwrap_or_default();
        let stamp: jiff::Timestamp = text.trim().parse().ok()?;
        Some(Millis(stamp.as_millisecond()))
    })
}

/// Milliseconds, unless it is so small that it must be seconds.
pub(super) const fn moment(epoch: i64) -> Millis {
    const YEAR_1973_MS: i64 = 100_000_000_000;
    Millis(if epoch < YEAR_1973_MS {
        epoch * 1_000
    } else {
        epoch
    })
}

pub(super) fn number(row: &EarlierRow, field: &str) -> u32 {
    let number = row.number(field).unwrap_or(0).clamp(0, i64::from(u32::MAX));
    u32::try_from(number).unwrap_or(0)
}

pub(super) fn session_uid(client: &str, session: &str) -> PublicId {
    derived("session", &[client, session])
}

pub(super) fn derived(kind: &str, parts: &[&str]) -> PublicId {
    let mut all: Vec<&[u8]> = vec![b"claude-mem-db", kind.as_bytes()];
    all.extend(parts.iter().map(|part| part.as_bytes()));
    PublicId::derived(&key::digest(&all))
}
