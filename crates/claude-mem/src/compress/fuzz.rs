//! A seeded search for answers that break the reader's promises. `cargo xtask` runs it for long,
//! the tests for a moment.

use super::answer::{Answer, parse};
use crate::limits::{
    ANSWER_ITEMS_MAX, FACT_CHARS_MAX, FIELD_CHARS_MAX, LIST_ENTRIES_MAX, TITLE_CHARS_MAX,
};

/// Reads any bytes as an answer and says which promise was broken.
pub fn check(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    match parse(&text) {
        Err(_) => Ok(()),
        Ok(answer) => promises(&answer),
    }
}

fn promises(answer: &Answer) -> Result<(), String> {
    within("observations", answer.observations.len(), ANSWER_ITEMS_MAX)?;
    for o in &answer.observations {
        if o.title.is_empty() || o.title.contains('\n') {
            return Err(format!("a title that is no line: {:?}", o.title));
        }
        line("title", &o.title, TITLE_CHARS_MAX)?;
        line("subtitle", &o.subtitle, TITLE_CHARS_MAX)?;
        line("narrative", &o.narrative, FIELD_CHARS_MAX)?;
        for list in [&o.facts, &o.concepts, &o.files_read, &o.files_modified] {
            within("entries", list.len(), LIST_ENTRIES_MAX)?;
            list.iter()
                .try_for_each(|entry| line("entry", entry, FACT_CHARS_MAX))?;
        }
    }
    if let Some(s) = &answer.summary {
        for text in [
            &s.request,
            &s.investigated,
            &s.learned,
            &s.completed,
            &s.next_steps,
        ] {
            line("summary", text, FIELD_CHARS_MAX)?;
        }
    }
    Ok(())
}

fn within(what: &str, count: usize, max: usize) -> Result<(), String> {
    if count > max {
        Err(format!("{count} {what}, at most {max} are promised"))
    } else {
        Ok(())
    }
}

fn line(what: &str, text: &str, chars_max: usize) -> Result<(), String> {
    within(what, text.chars().count(), chars_max)?;
    match text
        .chars()
        .find(|c| c.is_control() && !matches!(c, '\n' | '\t'))
    {
        Some(c) => Err(format!("a control character {c:?} in {what}")),
        None => Ok(()),
    }
}

/// Checks `cases` answers made from a seed. The error names the case, so that it can be repeated.
pub fn run(seed: u64, cases: u32) -> Result<(), String> {
    let mut random = Random(seed);
    for case in 0..cases {
        let bytes = random.answer();
        check(&bytes).map_err(|broken| {
            format!(
                "seed {seed}, case {case}: {broken}\n{}",
                String::from_utf8_lossy(&bytes)
            )
        })?;
    }
    Ok(())
}

const PIECES: &[&str] = &[
    "<observation>",
    "</observation>",
    "<summary>",
    "</summary>",
    "<skip/>",
    "<type>bugfix</type>",
    "<title>",
    "</title>",
    "<subtitle>",
    "</subtitle>",
    "<narrative>",
    "</narrative>",
    "<facts>",
    "</facts>",
    "<fact>",
    "</fact>",
    "<concepts>",
    "</concepts>",
    "<files_read>",
    "</files_read>",
    "<request>",
    "</request>",
    "<completed>",
    "</completed>",
    "<![CDATA[",
    "]]>",
    "<!--",
    "-->",
    "<think>",
    "</think>",
    "```xml\n",
    "\n",
    " ",
    "&amp;",
    "&lt;",
    "&#10;",
    "&",
    "<",
    ">",
    "/",
    "\"",
    "<observation title=\"",
    "word",
    "two words. ",
    "记忆。",
    "\u{0}",
    "\u{1b}[2J",
    "\u{202e}",
    "- ",
];

/// SplitMix64: enough to choose pieces, and the same everywhere.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Pieces of answers, some bytes of which are then broken or repeated.
    fn answer(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.below(60) {
            let piece = PIECES[self.below(PIECES.len())];
            let times = if self.below(50) == 0 {
                1 + self.below(2_000)
            } else {
                1
            };
            bytes.extend(piece.as_bytes().repeat(times));
        }
        for _ in 0..self.below(4).min(bytes.len()) {
            let at = self.below(bytes.len());
            bytes[at] = self.next() as u8;
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn no_promise_is_broken_by_five_hundred_answers() {
        assert_eq!(super::run(1, 500), Ok(()));
    }
}
