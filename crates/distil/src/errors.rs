//! The lines of an output that say what went wrong.
//!
//! The lines are quotations of a tool's output: data, shown in quotes and never followed as instructions.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::text::{clip, clip_middle, content_words, one_line, padded};

/// Lines kept of one failure.
const LINES_MAX: usize = 3;
const LINE_CHARS_MAX: usize = 300;
/// Maximum lines that are read. Longer outputs were cut in the middle; errors are near the ends.
const SCANNED_MAX: usize = 4_000;

/// How a line is recognised and how much it tells.
enum ErrorSign {
    Starts(&'static str),
    Holds(&'static str),
}

use ErrorSign::{Holds, Starts};

/// Signs by weight; the first match decides.
const SIGNS: &[(ErrorSign, u8)] = &[
    // Rust
    (Starts("error["), 9),
    (Starts("error: could not compile"), 2),
    (Starts("error: aborting due to"), 1),
    (Starts("error: test failed"), 1),
    (Starts("error: process didn't exit"), 2),
    (Starts("error: "), 8),
    (Holds("' panicked at "), 9),
    (Starts("assertion `left"), 9),
    (Starts("assertion failed"), 9),
    // Python
    (Starts("FAILED "), 8),
    (Starts("ERROR "), 7),
    (Starts("E "), 7),
    (Starts("ModuleNotFoundError"), 9),
    (Starts("ImportError"), 9),
    // JavaScript and TypeScript
    (Holds(": error TS"), 9),
    (Holds(" - error TS"), 9),
    (Starts("● "), 7),
    (Starts("AssertionError"), 9),
    (Starts("TypeError"), 9),
    (Starts("ReferenceError"), 9),
    (Starts("SyntaxError"), 9),
    (Holds("Cannot find module"), 9),
    (Starts("Expected: "), 5),
    (Starts("Received: "), 5),
    (Starts("npm ERR! code"), 4),
    (Starts("npm ERR! A complete log"), 0),
    (Starts("npm ERR! "), 5),
    (Starts("npm error code"), 4),
    (Starts("npm error A complete log"), 0),
    (Starts("npm error "), 5),
    // Go
    (Starts("--- FAIL: "), 7),
    (Holds("_test.go:"), 7),
    (Holds(": undefined: "), 8),
    (Starts("panic: "), 9),
    // Java, Kotlin, C, C++
    (Holds(": error: "), 9),
    (Holds(": fatal error: "), 9),
    (Starts("e: "), 8),
    (Starts("Caused by: "), 8),
    (Starts("[ERROR] "), 6),
    (Starts("Execution failed for task"), 7),
    (Starts("Exception in thread"), 8),
    (Holds("undefined reference to"), 9),
    // Build tools and everything else
    (Starts("make: *** "), 3),
    (Starts("FAILURE: Build failed"), 0),
    (Starts("Could not resolve "), 6),
    (Starts("CMake Error"), 8),
    (Starts("E: "), 8),
    (Starts("ERR_"), 8),
    (Starts("Error from server"), 8),
    (Starts("Error response from"), 8),
    (Starts("curl: ("), 8),
    (Starts("ERROR: failed to solve"), 3),
    (Starts("ERROR: "), 7),
    (Holds("[rejected]"), 8),
    (Holds("[remote rejected]"), 8),
    (Starts("fatal: "), 8),
    (Starts("Fatal: "), 8),
    (Starts("FATAL"), 8),
    (Starts("Error: "), 8),
    (Holds("Error: "), 7),
    (Holds("Exception: "), 7),
    (Holds("Exception:"), 5),
    (Holds("command not found"), 8),
    (Holds("No such file or directory"), 7),
    (Holds("Permission denied"), 8),
    (Holds("Connection refused"), 8),
    (Holds("connection refused"), 8),
    (Holds("ECONNREFUSED"), 8),
    (Holds("timed out"), 7),
    (Holds("Segmentation fault"), 9),
    (Holds("out of memory"), 9),
    (Holds("Killed"), 5),
    (Holds("does not exist"), 6),
    (Holds("is not defined"), 7),
    (Holds("not found"), 5),
    (Holds("rror:"), 5),
    (Holds("failed:"), 4),
    (Holds("failed"), 2),
    // What tools say without the word "error"
    (Holds("annot "), 1),
    (Holds("an't "), 1),
    (Holds("ould not "), 1),
    (Holds("ouldn't "), 1),
    (Holds("nable to "), 1),
    (Holds("issing "), 1),
    (Holds("efused"), 1),
    (Holds("ejected"), 1),
    (Holds("orbidden"), 1),
    (Holds("denied"), 1),
    (Holds("xceed"), 1),
    (Holds("doesn't "), 1),
    (Holds("is not "), 1),
    (Holds("are not "), 1),
    (Holds("was not "), 1),
    (Holds("ncompatible"), 1),
    (Holds("nvalid "), 1),
    (Holds("nsupported"), 1),
    (Holds("No matching "), 1),
];

/// What a failed build or check prints, for runs whose exit code a pipe hid.
const VERDICTS: &[&str] = &[
    "error: could not compile",
    "error: test failed",
    "BUILD FAILED",
    "FAILURE: Build failed",
    "make: *** ",
    "npm ERR! ",
    "npm error ",
    "Build FAILED",
    "ERROR: failed to solve",
    "error TS",
    "FAIL\t",
    "--- FAIL: ",
    "FAILED (failures=",
    "FAILED (errors=",
];

pub(super) fn says_failed(output: &str) -> bool {
    VERDICTS.iter().any(|verdict| output.contains(verdict))
}

/// Weight of a line that shows a failure by itself.
const FAILURE_WEIGHT_MIN: u8 = 7;

/// Whether a line of an output shows that something failed.
pub(super) fn shows_failure(output: &str) -> bool {
    let heavy = |line: &str| weight(undecorated(&one_line(line))) >= FAILURE_WEIGHT_MIN;
    says_failed(output) || output.lines().take(SCANNED_MAX).any(heavy)
}

/// The most telling lines, in the order they stand, each cleaned and clipped.
pub fn telling(output: &str) -> Vec<String> {
    let lines: Vec<String> =
        output.lines().take(SCANNED_MAX).map(|line| undecorated(&one_line(line)).to_owned()).collect();
    let mut ranked: Vec<(usize, u8)> = lines
        .iter()
        .enumerate()
        .map(|(index, line)| (index, weight(line)))
        .filter(|(_, weight)| *weight > 0)
        .collect();
    ranked.sort_by_key(|(index, weight)| (std::cmp::Reverse(*weight), *index));
    // Beside a line that says what is wrong, one that says only that something is wrong is noise.
    let most = ranked.first().map_or(0, |(_, weight)| *weight);
    ranked.retain(|(_, weight)| *weight * 2 > most);
    let mut kept: Vec<usize> = Vec::new();
    for (index, _) in ranked {
        let known = |other: &usize| same(&lines[*other], &lines[index]);
        let fresh = !continues(&lines, index) && !kept.iter().any(known);
        if fresh && kept.len() < LINES_MAX {
            kept.push(index);
        }
    }
    kept.sort_unstable();
    if kept.is_empty() && !lines.iter().any(|line| is_bait(line)) {
        kept.extend(last_words(&lines));
    }
    let told: Vec<String> = kept.into_iter().map(|index| placed(&lines, index)).collect();
    let is_told = |at: usize| {
        let holds = |(other, text): (usize, &String)| other != at && text.contains(&told[at]);
        told.iter().enumerate().any(holds)
    };
    (0..told.len()).filter(|at| !is_told(*at)).map(|at| told[at].clone()).collect()
}

/// A line without the marks by which tools draw boxes, trees and bullets before it.
pub fn undecorated(line: &str) -> &str {
    let bare = line.trim_start_matches(|c: char| c.is_whitespace() || "│┃║╷╵╰├└┌─▶►×✖➤".contains(c));
    bare.strip_prefix("> ").map_or(bare, str::trim_start)
}

fn weight(line: &str) -> u8 {
    if line.len() < 4 || line.starts_with("at ") || line.starts_with("warning: ") {
        return 0;
    }
    // `12:5 error 'x' is not defined no-undef`, as linters print below a file's name.
    let linted = line.starts_with(|c: char| c.is_ascii_digit()) && line.contains(" error ");
    let weight = if linted { 7 } else { heaviest_sign(line) };
    // The count of a test run is told elsewhere.
    let counts = |words: &str| {
        let before = line.split_once(words).map_or("", |(before, _)| before);
        before.ends_with(|c: char| c.is_ascii_digit())
    };
    let spoilt = || is_bait(line) || counts(" failed") || counts(" passed");
    if weight == 0 || spoilt() { 0 } else { weight }
}

/// The signs of all lines as one automaton: an output has thousands of lines, most without any.
static FINDER: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let text = |sign: &ErrorSign| match sign {
        Starts(text) | Holds(text) => *text,
    };
    AhoCorasick::new(SIGNS.iter().map(|(sign, _)| text(sign))).ok()
});

fn heaviest_sign(line: &str) -> u8 {
    let Some(finder) = FINDER.as_ref() else {
        return 0;
    };
    let fits = |hit: &aho_corasick::Match| match SIGNS[hit.pattern().as_usize()].0 {
        Starts(_) => hit.start() == 0,
        Holds(_) => true,
    };
    let hits = finder.find_overlapping_iter(line).filter(fits);
    // The table is in order: the first sign that fits decides.
    let first = hits.map(|hit| hit.pattern().as_usize()).min();
    first.map_or(0, |index| SIGNS[index].1)
}

/// Text that speaks to an agent rather than about an error.
fn is_bait(line: &str) -> bool {
    let lower = line.to_lowercase();
    BAITS.iter().any(|bait| lower.contains(bait))
}

const BAITS: &[&str] = &[
    "ignore previous",
    "ignore all previous",
    "ignore all prior",
    "disregard",
    "system prompt",
    "you must always",
    "as an ai",
];

/// Two lines that differ in their numbers alone are one error in two places; one that holds the
/// other says it already.
fn same(a: &str, b: &str) -> bool {
    if a.contains(b.trim_start_matches("E ")) || b.contains(a.trim_start_matches("E ")) {
        return true;
    }
    let letters = |line: &str| line.chars().filter(|c| !c.is_ascii_digit()).collect::<String>();
    letters(a) == letters(b)
}

/// The last line, for outputs without a recognised error.
fn last_words(lines: &[String]) -> Option<usize> {
    let speaks = |line: &String| line.chars().any(char::is_alphabetic);
    lines.iter().rposition(|line| speaks(line) && !line.starts_with("Exit code"))
}

/// Whether the line above is a panic, which is told together with this one.
fn continues(lines: &[String], index: usize) -> bool {
    let above = index.checked_sub(1).and_then(|above| lines.get(above));
    above.is_some_and(|above| above.contains("' panicked at ") && above.ends_with(':'))
}

/// The line with what belongs to it: the place that a compiler prints below it, the message of a
/// panic, the two sides of an assertion.
fn placed(lines: &[String], index: usize) -> String {
    let line = clip_middle(lines[index].trim_start_matches("E "), LINE_CHARS_MAX);
    let below = |offset: usize| lines.get(index + offset).map_or("", String::as_str);
    if let Some(place) = below(1).strip_prefix("--> ") {
        return format!("{line} ({})", clip(place, 80));
    }
    let is_panic = |line: &str| line.ends_with(':') && line.contains("' panicked at ");
    // What was wrong stands below the head, often after an empty line.
    let next = if below(1).is_empty() { 2 } else { 1 };
    if is_panic(&line) && !below(next).is_empty() && !is_panic(below(next)) {
        return format!("{line} {}", placed(lines, index + next));
    }
    if line.ends_with(':') && !below(next).is_empty() {
        return clip_middle(&format!("{line} {}", below(next)), LINE_CHARS_MAX);
    }
    if next == 2 && says_little(&line) && !below(next).is_empty() {
        let detail: Vec<&str> =
            (2..).map(below).take_while(|text| !text.is_empty()).take(DETAIL_LINES_MAX).collect();
        return clip_middle(&format!("{line} {}", detail.join(" ")), LINE_CHARS_MAX);
    }
    match (below(1).strip_prefix("left: "), below(2).strip_prefix("right: ")) {
        (Some(left), Some(right)) => {
            format!("{line}: {} instead of {}", clip(left, 80), clip(right, 80))
        }
        _ => line,
    }
}

/// Lines of a paragraph below a head that are told with it.
const DETAIL_LINES_MAX: usize = 3;
/// Words that mean something of a head that tells what was wrong.
const HEAD_WORDS_MIN: usize = 5;

/// Whether a line is a head such as "Error: failed to install provider", whose reason stands in the paragraph below.
fn says_little(line: &str) -> bool {
    line.starts_with(['E', 'e'])
        && !line.contains(['`', '\'', '"'])
        && content_words(line).len() < HEAD_WORDS_MIN
}

/// Words of a failure.
#[rustfmt::skip]
const FAILURE: &[&str] = &[
    "fail", "error", "flak", "broken", "block", "timed out", "times out", "timeout", "reject", "refus", "crash", " hang", " hung ", "unreachable",
];

/// Whether a sentence speaks of a failure.
pub(crate) fn says_failure(text: &str) -> bool {
    let lower = padded(text);
    FAILURE.iter().any(|word| lower.contains(word))
}

#[cfg(test)]
#[path = "errors_tests.rs"]
mod tests;
