//! Formats counts, sizes and times, and parses durations.

use claude_mem_core::clock::{Millis, zoned};

/// `1 event`, `1,204 events`.
pub(super) fn count(n: u64, noun: &str) -> String {
    let plural = match noun {
        _ if n == 1 => noun.to_owned(),
        _ if noun.ends_with("ry") => format!("{}ies", &noun[..noun.len() - 1]),
        _ => format!("{noun}s"),
    };
    format!("{} {plural}", grouped(n))
}

/// `1 person`, `7 people`.
pub(super) fn people(n: u64) -> String {
    if n == 1 { "1 person".to_owned() } else { format!("{} people", grouped(n)) }
}

/// `1,204,000`.
pub(super) fn grouped(n: u64) -> String {
    let digits = n.to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.char_indices() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `512 B`, `3.2 MB`: decimal units.
pub(super) fn size(bytes: u64) -> String {
    let mut amount = bytes as f64;
    let mut unit = "B";
    for larger in ["kB", "MB", "GB", "TB"] {
        if amount < 1_000.0 {
            break;
        }
        amount /= 1_000.0;
        unit = larger;
    }
    if unit == "B" { format!("{bytes} B") } else { format!("{amount:.1} {unit}") }
}

/// `just now`, `3 min ago`, `2 h ago`, `5 days ago`.
pub(super) fn ago(then: Millis, now: Millis) -> String {
    let seconds = (now - then) / 1_000;
    match seconds {
        ..60 => "just now".to_owned(),
        60..3_600 => format!("{} min ago", seconds / 60),
        3_600..172_800 => format!("{} h ago", seconds / 3_600),
        _ => format!("{} days ago", seconds / 86_400),
    }
}

/// Local time, to the minute: `2026-01-31 10:00`.
pub(super) fn local_time(at: Millis) -> String {
    zoned(at).strftime("%Y-%m-%d %H:%M").to_string()
}

/// Local midnight at the start of that day.
pub(super) fn local_midnight(at: Millis) -> Millis {
    let midnight = zoned(at).start_of_day();
    midnight.map_or(at, |midnight| Millis(midnight.timestamp().as_millisecond()))
}

/// A hundred years. A longer pause is meant to be permanent.
const DURATION_SECONDS_MAX: i64 = 100 * 366 * 86_400;

/// Parses `90s`, `30m`, `2h`, `1d` or a combination such as `1h30m`, into seconds.
pub(super) fn duration_seconds(text: &str) -> Result<i64, String> {
    let wrong = || format!("{text:?} is not a duration; use 30m, 2h or 1d");
    let mut total: i64 = 0;
    let mut rest = text.trim();
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let amount: i64 = rest[..digits].parse().map_err(|_| wrong())?;
        let unit = match rest[digits..].chars().next() {
            Some('s') => 1,
            Some('m') => 60,
            Some('h') => 3_600,
            Some('d') => 86_400,
            _ => return Err(wrong()),
        };
        total = amount.checked_mul(unit).and_then(|seconds| total.checked_add(seconds)).ok_or_else(wrong)?;
        rest = &rest[digits + 1..];
    }
    match total {
        ..=0 => Err(wrong()),
        DURATION_SECONDS_MAX.. => {
            Err(format!("{text} is too long; omit the duration to pause until `claude-mem resume`"))
        }
        _ => Ok(total),
    }
}

#[cfg(test)]
#[path = "format_tests.rs"]
mod tests;
