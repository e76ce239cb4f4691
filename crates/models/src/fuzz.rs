//! A seeded fuzzer for the answer parser: checks that any answer respects the parser's limits. Only
//! tests run it, for a few hundred cases.

use super::answer::{ParsedAnswer, parse_answer};
use crate::answer::ANSWER_ITEMS_MAX;
use claude_mem_core::limits::{FACT_CHARS_MAX, FIELD_CHARS_MAX, LIST_ENTRIES_MAX, TITLE_CHARS_MAX};

/// Parses any bytes as an answer. The error names the exceeded limit.
pub(crate) fn check_answer(bytes: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(bytes);
    match parse_answer(&text) {
        Err(_) => Ok(()),
        Ok(answer) => check_limits(&answer),
    }
}

fn check_limits(answer: &ParsedAnswer) -> Result<(), String> {
    check_max("observations", answer.observations.len(), ANSWER_ITEMS_MAX)?;
    for o in &answer.observations {
        if o.text.title.is_empty() || o.text.title.contains('\n') {
            return Err(format!("a title that is no line: {:?}", o.text.title));
        }
        check_text("title", &o.text.title, TITLE_CHARS_MAX)?;
        check_text("subtitle", &o.text.subtitle, TITLE_CHARS_MAX)?;
        check_text("narrative", &o.text.narrative, FIELD_CHARS_MAX)?;
        for list in [&o.text.facts, &o.text.concepts, &o.text.files_read, &o.text.files_modified] {
            check_max("entries", list.len(), LIST_ENTRIES_MAX)?;
            list.iter().try_for_each(|entry| check_text("entry", entry, FACT_CHARS_MAX))?;
        }
    }
    if let Some(s) = &answer.summary {
        for text in [&s.request, &s.investigated, &s.learned, &s.completed, &s.next_steps] {
            check_text("summary", text, FIELD_CHARS_MAX)?;
        }
    }
    Ok(())
}

fn check_max(what: &str, count: usize, max: usize) -> Result<(), String> {
    if count > max { Err(format!("{count} {what}, at most {max} are promised")) } else { Ok(()) }
}

fn check_text(what: &str, text: &str, chars_max: usize) -> Result<(), String> {
    check_max(what, text.chars().count(), chars_max)?;
    match text.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t')) {
        Some(c) => Err(format!("a control character {c:?} in {what}")),
        None => Ok(()),
    }
}

/// Checks `cases` generated answers. The error names seed and case, so that it can be reproduced.
fn run_cases(seed: u64, cases: u32) -> Result<(), String> {
    let mut random = AnswerGenerator(seed);
    for case in 0..cases {
        let bytes = random.answer();
        check_answer(&bytes).map_err(|broken| {
            format!("seed {seed}, case {case}: {broken}\n{}", String::from_utf8_lossy(&bytes))
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

/// Generates answers with SplitMix64, which is reproducible everywhere.
struct AnswerGenerator(u64);

impl AnswerGenerator {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end as u64) as usize
    }

    /// Joins random pieces of answers, some repeated, and corrupts a few bytes.
    fn answer(&mut self) -> Vec<u8> {
        let mut bytes = Vec::new();
        for _ in 0..self.below(60) {
            let piece = PIECES[self.below(PIECES.len())];
            let times = if self.below(50) == 0 { 1 + self.below(2_000) } else { 1 };
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
    fn generated_answers_respect_the_limits() {
        assert_eq!(super::run_cases(1, 500), Ok(()));
    }
}
