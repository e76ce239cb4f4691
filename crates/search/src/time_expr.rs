//! Finds time expressions in a query: "in March", "on May 3", "2026-03", "last week".
//!
//! Rows created in or shortly after a named [`TimePeriod`] get a score bonus. This is never a
//! filter: the text itself may be about that date.

use jiff::Span;
use jiff::civil::{Date, Weekday};
use jiff::tz::TimeZone;
use jiff::{Timestamp, ToSpan as _};

use crate::date_arg::start_of_day;
use claude_mem_core::clock::Millis;

/// Maximum periods per query.
const PERIODS_MAX: usize = 4;
/// Words scanned per query; pasted logs are full of dates.
const WORDS_MAX: usize = 64;
/// The score fades over this many days after the period; events are often recorded late.
const AFTER_DAYS: f64 = 14.0;
/// The score fades over this many days before the period; events are rarely recorded early.
const BEFORE_DAYS: f64 = 2.0;
const DAY_MILLIS: f64 = 86_400_000.0;

/// A half-open period, `from` inclusive and `until` exclusive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimePeriod {
    pub from: Millis,
    pub until: Millis,
}

impl TimePeriod {
    /// 1 inside the period, fading linearly to 0 outside.
    pub fn score(&self, at: Millis) -> f64 {
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

/// The periods named in a text, relative to `now`.
pub(crate) fn periods(text: &str, now: Millis, zone: &TimeZone) -> Vec<TimePeriod> {
    let Ok(stamp) = Timestamp::from_millisecond(now.0) else {
        return Vec::new();
    };
    let words: Vec<String> = text.split_whitespace().take(WORDS_MAX).map(normalize_word).collect();
    let reading = TimePhraseReader {
        words: words.iter().map(String::as_str).collect(),
        today: stamp.to_zoned(zone.clone()).date(),
    };
    let named = (0..words.len()).filter_map(|at| reading.date_at(at));
    let periods = named.filter_map(|DateSpan { first, end: behind }| {
        Some(TimePeriod { from: start_of_day(first, zone)?, until: start_of_day(behind, zone)? })
    });
    periods.take(PERIODS_MAX).collect()
}

/// Lower-cases a word and strips punctuation and ordinal suffixes.
fn normalize_word(word: &str) -> String {
    let lower = word.trim_matches(|c: char| !c.is_alphanumeric()).to_ascii_lowercase();
    let word = lower.strip_suffix("'s").unwrap_or(&lower);
    let ordinal = ["st", "nd", "rd", "th"].iter();
    let mut numbers = ordinal.filter_map(|ending| word.strip_suffix(ending));
    match numbers.find(|number| number.parse::<u8>().is_ok()) {
        Some(number) => number.to_owned(),
        None => word.to_owned(),
    }
}

/// A half-open range of days.
struct DateSpan {
    first: Date,
    end: Date,
}

impl DateSpan {
    fn starting(first: Date, span: Span) -> Option<Self> {
        let behind = first.checked_add(span).ok()?;
        Some(Self { first, end: behind })
    }

    fn month(year: i16, month: i8) -> Option<Self> {
        Self::starting(Date::new(year, month, 1).ok()?, 1.month())
    }

    fn day(year: i16, month: i8, day: i8) -> Option<Self> {
        Self::starting(Date::new(year, month, day).ok()?, 1.day())
    }
}

/// Reads time expressions from the words of a query.
struct TimePhraseReader<'a> {
    words: Vec<&'a str>,
    today: Date,
}

impl TimePhraseReader<'_> {
    /// The word at this index, or "" out of range.
    fn word(&self, at: usize) -> &str {
        self.words.get(at).copied().unwrap_or_default()
    }

    /// The word `back` positions earlier, or "".
    fn word_before(&self, at: usize, back: usize) -> &str {
        at.checked_sub(back).map_or("", |at| self.word(at))
    }

    /// The date expression at this word, if any.
    fn date_at(&self, at: usize) -> Option<DateSpan> {
        self.numeric_date(at).or_else(|| self.month_date(at)).or_else(|| self.relative_date(at))
    }

    /// `2026-03-05`, also as the start of a timestamp, and `2026-03`.
    fn numeric_date(&self, at: usize) -> Option<DateSpan> {
        let word = self.word(at);
        let day = word.split(['t', ' ']).next()?;
        let mut numbers = day.split(['-', '/']);
        let year = numbers.next().filter(|year| year.len() == 4)?;
        let year: i16 = year.parse().ok()?;
        let month: i8 = numbers.next()?.parse().ok()?;
        match numbers.next() {
            Some(day) => DateSpan::day(year, month, day.parse().ok()?),
            None => DateSpan::month(year, month),
        }
    }

    /// `May 3, 2026`, `3 May`, `May 2026`, `in May`. Alone, "may" and "march" are verbs and "April"
    /// is a name.
    fn month_date(&self, at: usize) -> Option<DateSpan> {
        let (month, is_short) = month_named(self.word(at))?;
        let day_behind = day_number(self.word(at + 1));
        let day = day_behind
            .or_else(|| day_number(self.word_before(at, 1)))
            .or_else(|| day_number(self.word_before(at, 2)).filter(|_| self.word_before(at, 1) == "of"));
        let year_at = at + 1 + usize::from(day_behind.is_some());
        let year = year_number(self.word(year_at))
            .or_else(|| year_number(self.word(year_at + 1)).filter(|_| self.word(year_at) == "of"));
        let is_led = MONTH_PREPOSITIONS.contains(&self.word_before(at, 1)) && !is_short;
        if day.is_none() && year.is_none() && !is_led {
            return None;
        }
        let of = |year: i16| match day {
            Some(day) => DateSpan::day(year, month, day),
            None => DateSpan::month(year, month),
        };
        match year {
            Some(year) => of(year),
            // Without a year: the most recent one that has begun.
            None => {
                (0..5).filter_map(|back| of(self.today.year() - back)).find(|days| days.first <= self.today)
            }
        }
    }

    /// `yesterday`, `last week`, `3 days ago`, `on Monday`.
    fn relative_date(&self, at: usize) -> Option<DateSpan> {
        let today = self.today;
        let days = |back: i64| today.checked_sub(Span::new().try_days(back).ok()?).ok();
        let monday = days(i64::from(today.weekday().to_monday_zero_offset()))?;
        let month = today.first_of_month();
        match (self.word_before(at, 1), self.word(at)) {
            (_, "today") => DateSpan::starting(today, 1.day()),
            (_, "yesterday") => DateSpan::starting(days(1)?, 1.day()),
            ("this", "week") => DateSpan::starting(monday, 1.week()),
            ("last", "week") => DateSpan::starting(monday.checked_sub(1.week()).ok()?, 1.week()),
            ("this", "month") => DateSpan::starting(month, 1.month()),
            ("last", "month") => DateSpan::starting(month.checked_sub(1.month()).ok()?, 1.month()),
            (unit, "ago") => {
                let count = self.word_before(at, 2);
                let count: i64 = count.parse().ok().or_else(|| count_named(count))?;
                let each: i32 = match unit {
                    "day" | "days" => 1,
                    "week" | "weeks" => 7,
                    "month" | "months" => 30,
                    "year" | "years" => 365,
                    _ => return None,
                };
                let first = days(count.checked_mul(i64::from(each))?)?;
                DateSpan::starting(first, each.days())
            }
            ("last" | "on", name) => {
                let named = weekday_named(name)?;
                let back = i64::from(today.weekday().since(named));
                DateSpan::starting(days(if back == 0 { 7 } else { back })?, 1.day())
            }
            _ => None,
        }
    }
}

/// Prepositions that turn a month's name into a time.
const MONTH_PREPOSITIONS: &[&str] = &[
    "in", "during", "since", "on", "by", "last", "this", "early", "late", "mid", "of", "from", "until",
    "till", "around", "between",
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

/// A month's number, and whether its name was abbreviated.
fn month_named(word: &str) -> Option<(i8, bool)> {
    let is_short = word.len() == 3 && word != "may" || word == "sept";
    let named = |month: &&str| **month == *word || is_short && month.starts_with(word);
    let mut months = (1..).zip(MONTHS.iter());
    months.find(|(_, month)| named(month)).map(|(number, _)| (number, is_short))
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
#[path = "time_expr_tests.rs"]
mod tests;
