//! Test counts from the output of common test runners.

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

/// The count of one test run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TestCounts {
    pub passed: u32,
    pub failed: u32,
}

/// Counts in a run's output. Runners that print one line per binary or package are added up;
/// of several lines that each count everything, the last one stands. "12 pass" and "0 fail" on lines of their
/// own are one count.
pub(super) fn read(output: &str) -> Option<TestCounts> {
    let mut total: Option<TestCounts> = None;
    let mut passed_before = None;
    for line in output.lines().filter(|line| may_count(line)) {
        let half = half_count(line);
        let passed = passed_before.take();
        if let (Some(passed), Some((failed, "fail"))) = (passed, half) {
            total = Some(TestCounts { passed, failed });
            continue;
        }
        passed_before = half.filter(|(_, word)| *word == "pass").map(|(number, _)| number);
        let Some((found, partial)) = counts(line) else {
            continue;
        };
        total = Some(match total {
            Some(so_far) if partial => TestCounts {
                passed: so_far.passed.saturating_add(found.passed),
                failed: so_far.failed.saturating_add(found.failed),
            },
            _ => found,
        });
    }
    total
}

/// A line of nothing but "12 pass" or "0 fail".
fn half_count(line: &str) -> Option<(u32, &str)> {
    let (number, word) = line.trim().split_once(' ')?;
    let word = word.trim();
    let number = number.parse().ok()?;
    matches!(word, "pass" | "fail").then_some((number, word))
}

/// Words of which every count has one; most lines have none and are skipped.
static WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words = ["pass", "fail", "examples", "error", "tests run"];
    AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()
});

fn may_count(line: &str) -> bool {
    WORDS.as_ref().is_some_and(|words| words.is_match(line))
}

/// Things whose number stands behind them.
const NUMBERED: &[&str] =
    &["task", "step", "job", "attempt", "phase", "worker", "shard", "case", "issue", "batch"];

/// The counts of one line, and whether it speaks of a part of the run only.
fn counts(line: &str) -> Option<(TestCounts, bool)> {
    let lower = line.trim();
    if lower.len() > 240 || !lower.bytes().any(|b| b.is_ascii_digit()) {
        return None;
    }
    let lower = lower.to_ascii_lowercase();
    if let Some(found) = labelled(&lower) {
        return Some((found, false));
    }
    let words: Vec<&str> =
        lower.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| !word.is_empty()).collect();
    let (mut found, mut seen) = (TestCounts::default(), false);
    for (at, pair) in words.windows(2).enumerate() {
        let Ok(number) = pair[0].parse::<u32>() else {
            continue;
        };
        // "Task 2 failed" numbers a task.
        if at > 0 && NUMBERED.contains(&words[at - 1]) {
            continue;
        }
        match pair[1] {
            "passed" | "passing" | "pass" | "examples" => (found.passed, seen) = (number, true),
            "failed" | "failing" | "fail" | "failures" | "failure" => {
                (found.failed, seen) = (found.failed.saturating_add(number), true);
            }
            "error" | "errors" if lower.contains(" in ") => {
                found.failed = found.failed.saturating_add(number);
                seen = true;
            }
            _ => {}
        }
    }
    if words.contains(&"examples") {
        found.passed = found.passed.saturating_sub(found.failed);
    }
    let suites = lower.contains("suites") || lower.contains("test files");
    (seen && !suites).then_some((found, lower.contains("test result:")))
}

/// `Tests run: 12, Failures: 1, Errors: 0`; `Failed: 0, Passed: 12`.
fn labelled(line: &str) -> Option<TestCounts> {
    let after = |label: &str| -> Option<u32> {
        let (_, rest) = line.split_once(label)?;
        let digits: String = rest.trim_start().chars().take_while(char::is_ascii_digit).collect();
        digits.parse().ok()
    };
    if let (Some(run), Some(failures)) = (after("tests run:").or_else(|| after("tests:")), after("failures:"))
    {
        let failed = failures.saturating_add(after("errors:").unwrap_or(0));
        return Some(TestCounts { passed: run.saturating_sub(failed), failed });
    }
    Some(TestCounts { passed: after("passed:")?, failed: after("failed:")? })
}

impl TestCounts {
    pub(super) fn in_words(self) -> String {
        match (self.passed, self.failed) {
            (0, 0) => String::new(),
            (passed, 0) => format!("{passed} passed"),
            (0, failed) => format!("{failed} failed"),
            (passed, failed) => format!("{failed} failed, {passed} passed"),
        }
    }
}

#[cfg(test)]
#[path = "results_tests.rs"]
mod tests;
