//! Times as people type them: a day, a moment, or so long ago.

use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _, Zoned};

use crate::clock::Millis;

/// How a time is read that somebody typed: `moment` or `end`.
pub type Read = fn(&str, Millis, &TimeZone) -> Option<Millis>;

/// `2026-01-31` (its beginning, where the person lives), `2026-01-31T09:25` there, RFC 3339, `today`, `yesterday`, or `3d`,
/// `30m`, `12h`, `2w`, `6mo`, `1y` before `now`; `2026-01` is a month. `None` if it is none of these.
pub fn moment(text: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let text = text.trim();
    ago(text, now)
        .or_else(|| named_day(text, now, zone))
        .or_else(|| start_of(month(text)?, zone))
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

/// The end of what is named: someone who says "until Sunday" means all of Sunday.
pub fn end(text: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let text = text.trim();
    if let Some(first) = month(text) {
        return start_of(first.checked_add(1.month()).ok()?, zone);
    }
    let day = match named_day(text, now, zone) {
        Some(start) => Some(zoned(start, zone)?.date()),
        // A moment is no day, though one can be read from it.
        None if text.len() == DAY_LENGTH => text.parse().ok(),
        None => None,
    };
    match day {
        Some(day) => start_of(Date::tomorrow(day).ok()?, zone),
        None => moment(text, now, zone),
    }
}

/// Of `2026-01-31`.
const DAY_LENGTH: usize = 10;

/// The last days, today included, and when each begins; the day after today is the last bound.
pub fn last_days(count: i64, now: Millis, zone: &TimeZone) -> Vec<(Date, Millis)> {
    let Some(today) = zoned(now, zone).map(|now| now.date()) else {
        return Vec::new();
    };
    (0..=count)
        .filter_map(|at| today.checked_add((at - count + 1).days()).ok())
        .filter_map(|day| Some((day, start_of(day, zone)?)))
        .collect()
}

fn ago(text: &str, now: Millis) -> Option<Millis> {
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

/// The first day of `2026-01`.
fn month(text: &str) -> Option<Date> {
    let (year, month) = text.split_once('-')?;
    let is_month = year.len() == 4 && month.len() == 2;
    is_month.then(|| format!("{text}-01").parse().ok())?
}

fn named_day(text: &str, now: Millis, zone: &TimeZone) -> Option<Millis> {
    let today = zoned(now, zone)?.date();
    match text.to_ascii_lowercase().as_str() {
        "today" => start_of(today, zone),
        "yesterday" => start_of(today.yesterday().ok()?, zone),
        _ => None,
    }
}

pub(super) fn start_of(day: Date, zone: &TimeZone) -> Option<Millis> {
    let start = day.to_zoned(zone.clone()).ok()?;
    Some(Millis(start.timestamp().as_millisecond()))
}

fn zoned(at: Millis, zone: &TimeZone) -> Option<Zoned> {
    let stamp = Timestamp::from_millisecond(at.0).ok()?;
    Some(stamp.to_zoned(zone.clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn until_a_day_is_until_its_end() {
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
            assert_eq!(
                end(typed, now, &TimeZone::UTC),
                Some(Millis(want)),
                "typed {typed}"
            );
        }
        assert_eq!(end("soon", now, &TimeZone::UTC), None);
    }

    #[test]
    fn days_moments_and_spans_are_understood() {
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
            assert_eq!(
                moment(typed, now, &TimeZone::UTC),
                Some(Millis(want)),
                "typed {typed}"
            );
        }
        for typed in [
            "",
            "3",
            "d",
            "soon",
            "2026-13-01",
            "99999999999999999999d",
            "-3d",
            "3dd",
            "日",
        ] {
            assert_eq!(moment(typed, now, &TimeZone::UTC), None, "typed {typed:?}");
        }
        assert!(moment("9000000000000000h", now, &TimeZone::UTC).is_none());
    }
}
