//! The only module that reads the system clock. Code below the edges takes the time as a parameter.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::TimeZone;
use serde::{Deserialize, Serialize};

/// Milliseconds since 1970, UTC. All times of rows use it.
#[derive(
    Clone,
    Copy,
    Debug,
    Default,
    PartialEq,
    Eq,
    Hash,
    PartialOrd,
    Ord,
    Serialize,
    Deserialize,
    schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Millis(pub i64);

/// Microseconds since 1970, UTC. Fine enough to order hooks that start together.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Micros(pub i64);

impl Micros {
    pub const fn millis(self) -> Millis {
        Millis(self.0.div_euclid(1_000))
    }
}

impl Millis {
    pub const fn micros(self) -> Micros {
        Micros(self.0.saturating_mul(1_000))
    }

    #[must_use]
    pub const fn plus_seconds(self, seconds: i64) -> Self {
        Self(self.0.saturating_add(seconds.saturating_mul(1_000)))
    }
}

impl std::ops::Sub for Millis {
    type Output = i64;

    fn sub(self, earlier: Self) -> i64 {
        self.0.saturating_sub(earlier.0)
    }
}

/// The current time. `CLAUDE_MEM_NOW` (milliseconds since 1970) overrides it, so that a test of the
/// whole program is reproducible; with a sign it is a clock that runs and is wrong by so much.
pub fn now() -> Micros {
    #[allow(clippy::disallowed_methods, reason = "this is the clock")]
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now = Micros(since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX)));
    std::env::var("CLAUDE_MEM_NOW").map_or(now, |text| overridden(now, &text))
}

/// The time that `CLAUDE_MEM_NOW` says; one that cannot be read says nothing.
fn overridden(now: Micros, text: &str) -> Micros {
    let Ok(millis) = text.parse::<i64>() else { return now };
    if text.starts_with(['+', '-']) {
        return Micros(now.0.saturating_add(millis.saturating_mul(1_000)));
    }
    Millis(millis).micros()
}

/// The user's local day, which budgets are counted by: `2001-02-03`.
pub fn local_day(at: Millis) -> String {
    zoned(at).strftime("%Y-%m-%d").to_string()
}

/// The user's local time of day: `17:04`.
pub fn local_time(at: Millis) -> String {
    zoned(at).strftime("%H:%M").to_string()
}

/// A time in the user's zone. Times that no calendar can represent come from a broken clock and
/// become 1970.
pub fn zoned(at: Millis) -> jiff::Zoned {
    jiff::Timestamp::from_millisecond(at.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH).to_zoned(zone())
}

/// The user's time zone: from `TZ`, else the system's.
pub fn zone() -> TimeZone {
    static NAMED: OnceLock<Option<TimeZone>> = OnceLock::new();
    let named = NAMED.get_or_init(|| named_zone(Path::new(ZONES), &std::env::var("TZ").ok()?));
    named.clone().unwrap_or_else(TimeZone::system)
}

/// Loads a zone such as `Europe/Berlin` from its file. The library would read the whole zone
/// directory, which takes longer than a hook may. `None` if there is no such file, as for
/// `CET-1CEST`.
fn named_zone(zones: &Path, name: &str) -> Option<TimeZone> {
    let name = name.strip_prefix(':').unwrap_or(name);
    TimeZone::tzif(name, &std::fs::read(zones.join(name)).ok()?).ok()
}

const ZONES: &str = "/usr/share/zoneinfo";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variable_sets_the_time_or_moves_it() {
        let now = Millis(1_000_000).micros();
        for (text, want) in
            [("5", 5), ("+5", 1_000_005), ("-5", 999_995), ("soon", 1_000_000), ("", 1_000_000)]
        {
            assert_eq!(overridden(now, text).millis(), Millis(want), "{text:?}");
        }
    }

    /// A zone file with a single rule.
    fn zone_file(rule: &str) -> Vec<u8> {
        let counts: Vec<u8> = [0_u32, 0, 0, 0, 1, 4].iter().flat_map(|n| n.to_be_bytes()).collect();
        let part = [&b"TZif2"[..], &[0; 15], &counts, &[0; 6], b"LMT\0"].concat();
        [&part, &part, format!("\n{rule}\n").as_bytes()].concat()
    }

    #[test]
    fn zone_is_loaded_by_file_name() {
        let zones = tempfile::tempdir().unwrap();
        std::fs::create_dir(zones.path().join("America")).unwrap();
        let file = zones.path().join("America/New_York");
        std::fs::write(file, zone_file("EST5EDT,M3.2.0,M11.1.0")).unwrap();
        let noon = jiff::Timestamp::from_millisecond(981_201_600_000).unwrap();
        for name in ["America/New_York", ":America/New_York"] {
            let zone = named_zone(zones.path(), name).unwrap();
            let there = noon.to_zoned(zone);
            assert_eq!(there.strftime("%H:%M").to_string(), "07:00");
        }
        for none in ["", "America", "Atlantis/Capital", "EST5"] {
            assert!(named_zone(zones.path(), none).is_none(), "{none}");
        }
    }
}
