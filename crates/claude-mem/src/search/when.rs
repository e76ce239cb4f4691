//! Times that a question names: "in March", "on May 3", "2026-03", "last week".
//!
//! A memory has a date even where its text has none, so what was written about then is a little
//! more likely to be meant. Never a filter: a date may be what the text is about.

use jiff::Span;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use super::dates::start_of;
use crate::clock::Millis;

/// Times of one question at most.
const PERIODS_MAX: usize = 4;
/// Words that are looked at: a pasted text has dates enough.
const WORDS_MAX: usize = 64;
/// What is told of a day is often told later, hardly ever before.
const AFTER_DAYS: f64 = 14.0;
const BEFORE_DAYS: f64 = 2.0;
const DAY_MILLIS: f64 = 86_400_000.0;

/// From its first moment to the first one after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Period {
    pub from: Millis,
    pub until: Millis,
}

impl Period {
    /// 1 inside, fading to 0 outside.
    pub fn closeness(&self, at: Millis) -> f64 {
        let days = |from: Millis, to: Millis| (to.0 - from.0) as f64 / DAY_MILLIS;
        let off = if at < self.from {
            days(at, self.from) / BEFORE_DAYS
        } else if at >= self.until {
            days(self.until, at) / AFTER_DAYS
        } else {
            0.0
        };
        (1.0 - off).max(0.0)
    }
}

/// What a question says about when, as seen at `now`.
pub fn periods(text: &str, now: Millis, zone: &TimeZone) -> Vec<Period> {
    let Ok(stamp) = Timestamp::from_millisecond(now.0) else {
        return Vec::new();
    };
    let words: Vec<String> = text.split_whitespace().take(WORDS_MAX).map(bare).collect();
    let reading = Reading {
        words: words.iter().map(String::as_str).collect(),
        today: stamp.to_zoned(zone.clone()).date(),
    };
    let named = (0..words.len()).filter_map(|at| reading.days_at(at));
    let periods = named.filter_map(|Days { first, behind }| {
        Some(Period {
            from: start_of(first, zone)?,
            until: start_of(behind, zone)?,
        })
    });
    periods.take(PERIODS_MAX).collect()
}

/// Without the punctuation around it and the ending of an ordinal.
fn bare(word: &str) -> String {
    let word = word.trim_matches(|c: char| !c.is_alphanumeric());
    let word = word.to_ascii_lowercase();
    let word = word.strip_suffix("'s").unwrap_or(&word);
    let ordinal = ["st", "nd", "rd", "th"].iter();
    let mut numbers = ordinal.filter_map(|ending| word.strip_suffix(ending));
    match numbers.find(|number| number.parse::<u8>().is_ok()) {
        Some(number) => number.to_owned(),
        None => word.to_owned(),
    }
}

/// From a day to the one behind the last.
struct Days {
    first: Date,
    behind: Date,
}

impl Days {
    fn lasting(first: Date, span: Span) -> Option<Self> {
        let behind = first.checked_add(span).ok()?;
        Some(Self { first, behind })
    }

    fn month(year: i16, month: i8) -> Option<Self> {
        Self::lasting(Date::new(year, month, 1).ok()?, 1.month())
    }

    fn day(year: i16, month: i8, day: i8) -> Option<Self> {
        Self::lasting(Date::new(year, month, day).ok()?, 1.day())
    }
}

struct Reading<'a> {
    words: Vec<&'a str>,
    today: Date,
}

impl Reading<'_> {
    fn word(&self, at: usize) -> &str {
        self.words.get(at).copied().unwrap_or_default()
    }

    fn before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    /// The time that is named at this word, if one is.
    fn days_at(&self, at: usize) -> Option<Days> {
        self.numeric(at)
            .or_else(|| self.month(at))
            .or_else(|| self.relative(at))
    }

    /// `2026-03-05`, also at the beginning of a moment, and `2026-03`.
    fn numeric(&self, at: usize) -> Option<Days> {
        let word = self.word(at);
        let day = word.split(['t', ' ']).next()?;
        let mut numbers = day.split(['-', '/']);
        let year = numbers.next().filter(|year| year.len() == 4)?;
        let year: i16 = year.parse().ok()?;
        let month: i8 = numbers.next()?.parse().ok()?;
        match numbers.next() {
            Some(day) => Days::day(year, month, day.parse().ok()?),
            None => Days::month(year, month),
        }
    }

    /// `May 3, 2026`, `3 May`, `May 2026`, `in May`. Alone, "may" and "march" are verbs and April
    /// is somebody.
    fn month(&self, at: usize) -> Option<Days> {
        let (month, is_short) = month_named(self.word(at))?;
        let day_behind = day_number(self.word(at + 1));
        let day = day_behind
            .or_else(|| day_number(self.before(at, 1)))
            .or_else(|| day_number(self.before(at, 2)).filter(|_| self.before(at, 1) == "of"));
        let year_at = at + 1 + usize::from(day_behind.is_some());
        let year = year_number(self.word(year_at))
            .or_else(|| year_number(self.word(year_at + 1)).filter(|_| self.word(year_at) == "of"));
        let is_led = LEADING.contains(&self.before(at, 1)) && !is_short;
        if day.is_none() && year.is_none() && !is_led {
            return None;
        }
        let of = |year: i16| match day {
            Some(day) => Days::day(year, month, day),
            None => Days::month(year, month),
        };
        match year {
            Some(year) => of(year),
            // The last one that has begun.
            None => (0..5)
                .filter_map(|back| of(self.today.year() - back))
                .find(|days| days.first <= self.today),
        }
    }

    /// `yesterday`, `last week`, `3 days ago`, `on Monday`.
    fn relative(&self, at: usize) -> Option<Days> {
        let today = self.today;
        let days = |back: i64| today.checked_sub(Span::new().try_days(back).ok()?).ok();
        let monday = days(i64::from(today.weekday().to_monday_zero_offset()))?;
        let month = today.first_of_month();
        match (self.before(at, 1), self.word(at)) {
            (_, "today") => Days::lasting(today, 1.day()),
            (_, "yesterday") => Days::lasting(days(1)?, 1.day()),
            ("this", "week") => Days::lasting(monday, 1.week()),
            ("last", "week") => Days::lasting(monday.checked_sub(1.week()).ok()?, 1.week()),
            ("this", "month") => Days::lasting(month, 1.month()),
            ("last", "month") => Days::lasting(month.checked_sub(1.month()).ok()?, 1.month()),
            (unit, "ago") => {
                let count = self.before(at, 2);
                let count: i64 = count.parse().ok().or_else(|| count_named(count))?;
                let each: i32 = match unit {
                    "day" | "days" => 1,
                    "week" | "weeks" => 7,
                    "month" | "months" => 30,
                    "year" | "years" => 365,
                    _ => return None,
                };
                let first = days(count.checked_mul(i64::from(each))?)?;
                Days::lasting(first, each.days())
            }
            ("last" | "on", name) => {
                let named = weekday_named(name)?;
                let back = i64::from(today.weekday().since(named));
                Days::lasting(days(if back == 0 { 7 } else { back })?, 1.day())
            }
            _ => None,
        }
    }
}

/// Words before the name of a month that make it a time.
const LEADING: &[&str] = &[
    "in", "during", "since", "on", "by", "last", "this", "early", "late", "mid", "of", "from",
    "until", "till", "around", "between",
];

const MONTHS: [&str; 12] = [
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];

/// Its number, and whether its name was cut short.
fn month_named(word: &str) -> Option<(i8, bool)> {
    let is_short = word.len() == 3 && word != "may" || word == "sept";
    let named = |month: &&str| **month == *word || is_short && month.starts_with(word);
    let mut months = (1..).zip(MONTHS.iter());
    months
        .find(|(_, month)| named(month))
        .map(|(number, _)| (number, is_short))
}

fn weekday_named(word: &str) -> Option<Weekday> {
    Some(match word {
        "monday" => Weekday::Monday,
        "tuesday" => Weekday::Tuesday,
        "wednesday" => Weekday::Wednesday,
        "thursday" => Weekday::Thursday,
        "friday" => Weekday::Friday,
        "saturday" => Weekday::Saturday,
        "sunday" => Weekday::Sunday,
        _ => return None,
    })
}

fn count_named(word: &str) -> Option<i64> {
    let names = ["a", "two", "three", "four", "five", "six"];
    let at = names.iter().position(|name| *name == word)?;
    Some(at as i64 + 1)
}

fn day_number(word: &str) -> Option<i8> {
    word.parse().ok().filter(|day| (1..=31).contains(day))
}

fn year_number(word: &str) -> Option<i16> {
    word.parse().ok().filter(|year| (1970..2100).contains(year))
}

#[cfg(test)]
#[path = "when_tests.rs"]
mod tests;
