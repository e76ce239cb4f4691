//! The one place that asks what time it is. Everything below the edges takes it as a value.

use serde::{Deserialize, Serialize};

/// Milliseconds since 1970, UTC. What every row's time is kept in.
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

/// Microseconds since 1970, UTC. Fine enough to keep the order of hooks that start together.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
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

macro_rules! sql_integer {
    ($name:ident) => {
        impl rusqlite::ToSql for $name {
            fn to_sql(&self) -> rusqlite::Result<rusqlite::types::ToSqlOutput<'_>> {
                self.0.to_sql()
            }
        }

        impl rusqlite::types::FromSql for $name {
            fn column_result(
                value: rusqlite::types::ValueRef<'_>,
            ) -> rusqlite::types::FromSqlResult<Self> {
                i64::column_result(value).map(Self)
            }
        }
    };
}
sql_integer!(Millis);
sql_integer!(Micros);

/// The time now. `CLAUDE_MEM_NOW` (milliseconds since 1970) stands in for it, so that a test of
/// the whole program can print the same bytes twice.
pub fn now() -> Micros {
    if let Some(fixed) = std::env::var("CLAUDE_MEM_NOW")
        .ok()
        .and_then(|text| text.parse().ok())
    {
        return Millis(fixed).micros();
    }
    #[allow(clippy::disallowed_methods, reason = "this is the clock")]
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    Micros(since.map_or(0, |d| i64::try_from(d.as_micros()).unwrap_or(i64::MAX)))
}

/// The person's day, which budgets are counted by: `2001-02-03` where they live.
pub fn local_day(at: Millis) -> String {
    zoned(at).strftime("%Y-%m-%d").to_string()
}

/// The person's time of day: `17:04`.
pub fn local_time(at: Millis) -> String {
    zoned(at).strftime("%H:%M").to_string()
}

fn zoned(at: Millis) -> jiff::Zoned {
    jiff::Timestamp::from_millisecond(at.0)
        .unwrap_or(jiff::Timestamp::UNIX_EPOCH)
        .to_zoned(jiff::tz::TimeZone::system())
}
