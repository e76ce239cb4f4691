//! Parses times as users type them: a date, a timestamp, or an age such as `3d`.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

use claude_mem_core::clock::Millis;

/// A time parser: `parse_time` or `parse_time_end`.
pub type TimeParser = fn(&str, Millis, &TimeZone) -> Option<Millis>;

/// Parses a time: `2026-01-31` (its start in `zone`), `2026-01-31T09:25`, RFC 3339, `today`,
/// `yesterday`, the month `2026-01`, or an age before `now` (`30m`, `12h`, `3d`, `2w`, `6mo`,
/// `1y`). `None` for anything else.
pub fn parse_time(text: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let text = text.trim();
    parse_ago(text, now)
        .or_else(|| named_day(text, now, zone))
        .or_else(|| start_of_day(parse_month(text)?, zone))
        .or_else(|| {
            let stamp: Timestamp = text.parse().ok()?;
            Some(Millis(stamp.as_millisecond()))
        })
        .or_else(|| {
            let local: DateTime = text.parse().ok()?;
            let local = local.to_zoned(zone.clone()).ok()?;
            Some(Millis(local.timestamp().as_millisecond()))
        })
}

/// Parses the end of the named time: "until Sunday" includes all of Sunday.
pub fn parse_time_end(text: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let text = text.trim();
    if let Some(first) = parse_month(text) {
        return start_of_day(first.checked_add(1.month()).ok()?, zone);
    }
    let day = match named_day(text, now, zone) {
        Some(start) => Some(to_zoned(start, zone)?.date()),
        // A longer text is a timestamp, although a date could be parsed from it.
        None if text.len() == DAY_LENGTH => text.parse().ok(),
        None => None,
    };
    match day {
        Some(day) => start_of_day(Date::tomorrow(day).ok()?, zone),
        None => parse_time(text, now, zone),
    }
}

/// Length of `2026-01-31`.
const DAY_LENGTH: usize = 10;

/// The last `count` days including today, each with its start; the final entry is tomorrow, as the
/// bound.
pub fn last_days(count: i64, now: Millis, zone: &TimeZone) -> Vec<(Date, Millis)> {
    let Some(today) = to_zoned(now, zone).map(|now| now.date()) else {
        return Vec::new();
    };
    (0..=count)
        .filter_map(|at| today.checked_add((at - count + 1).days()).ok())
        .filter_map(|day| Some((day, start_of_day(day, zone)?)))
        .collect()
}

/// Parses an age such as `3d` before `now`.
fn parse_ago(text: &str, now: Millis) -> Option<Millis> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let amount: i64 = text[..digits].parse().ok()?;
    let minutes = match text[digits..].to_ascii_lowercase().as_str() {
        "m" | "min" => 1,
        "h" => 60,
        "d" => 60 * 24,
        "w" => 60 * 24 * 7,
        "mo" => 60 * 24 * 30,
        "y" => 60 * 24 * 365,
        _ => return None,
    };
    let span = amount.checked_mul(minutes)?.checked_mul(60_000)?;
    Some(Millis(now.0.saturating_sub(span)))
}

/// Parses `2026-01` as the first day of that month.
fn parse_month(text: &str) -> Option<Date> {
    let (year, month) = text.split_once('-')?;
    let is_month = year.len() == 4 && month.len() == 2;
    is_month.then(|| format!("{text}-01").parse().ok())?
}

fn named_day(text: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let today = to_zoned(now, zone)?.date();
    match text.to_ascii_lowercase().as_str() {
        "today" => start_of_day(today, zone),
        "yesterday" => start_of_day(today.yesterday().ok()?, zone),
        _ => None,
    }
}

pub(super) fn start_of_day(day: Date, zone: &TimeZone) -> Option<Millis> {
    let start = day.to_zoned(zone.clone()).ok()?;
    Some(Millis(start.timestamp().as_millisecond()))
}

fn to_zoned(at: Millis, zone: &TimeZone) -> Option<Zoned> {
    let stamp = Timestamp::from_millisecond(at.0).ok()?;
    Some(stamp.to_zoned(zone.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn end_of_a_day_is_inclusive() {
        let now = Millis(1_769_860_800_000);
        let day = 86_400_000;
        for (typed, want) in [
            ("2026-01-31", now.0 + day / 2),
            ("today", now.0 + day / 2),
            ("yesterday", now.0 - day / 2),
            ("2026-01-31T12:00:00Z", now.0),
            ("3d", now.0 - 3 * day),
            ("2026-01", now.0 + day / 2),
            ("2025-12", now.0 - 61 * day / 2),
        ] {
            assert_eq!(parse_time_end(typed, now, &TimeZone::UTC), Some(Millis(want)), "typed {typed}");
        }
        assert_eq!(parse_time_end("soon", now, &TimeZone::UTC), None);
    }

    #[test]
    fn dates_timestamps_and_ages_are_parsed() {
        // 2026-01-31T12:00:00Z
        let now = Millis(1_769_860_800_000);
        let day = 86_400_000;
        for (typed, want) in [
            ("2026-01-31", now.0 - day / 2),
            ("2026-01-31T06:00", now.0 - day / 4),
            ("2026-01-30T00:00:00Z", now.0 - 3 * day / 2),
            ("2026-01-31T13:00:00+01:00", now.0),
            ("today", now.0 - day / 2),
            ("Yesterday", now.0 - 3 * day / 2),
            ("3d", now.0 - 3 * day),
            ("2w", now.0 - 14 * day),
            ("12h", now.0 - day / 2),
            ("30m", now.0 - 30 * 60_000),
            ("2026-01", now.0 - 61 * day / 2),
        ] {
            assert_eq!(parse_time(typed, now, &TimeZone::UTC), Some(Millis(want)), "typed {typed}");
        }
        for typed in ["", "3", "d", "soon", "2026-13-01", "99999999999999999999d", "-3d", "3dd", "日"] {
            assert_eq!(parse_time(typed, now, &TimeZone::UTC), None, "typed {typed:?}");
        }
        assert!(parse_time("9000000000000000h", now, &TimeZone::UTC).is_none());
    }
}
