//! Which pull requests are merged and which commits have landed, as git, the forge's program or the agent says.

use crate::commands::{CommandRun, RunOutcome};
use crate::sentences;
use crate::text::clip;

/// Subjects of commits that one episode keeps, and the characters of each.
const SUBJECTS_MAX: usize = 30;
const SUBJECT_CHARS_MAX: usize = 120;
/// Characters of one abbreviated commit id.
const COMMIT_ID_CHARS_MIN: usize = 7;
const COMMIT_ID_CHARS_MAX: usize = 40;
/// Words before or after "merged" that make it a wish or a condition.
const NOT_MERGED: &[&str] = &[
    "not",
    "n't",
    "once",
    "when",
    "after",
    "if",
    "until",
    "before",
    "unmerged",
    "to be",
    "can be",
    "could be",
    "should be",
    "ready",
    "will be",
    "gets",
    "get",
    "unless",
];

/// What the output of a command says about merged pull requests and landed commits.
#[derive(Debug, Default)]
pub(crate) struct LandedWork {
    pub merged: Vec<String>,
    pub subjects: Vec<String>,
}

impl LandedWork {
    /// Reads `git log` and the calls of `gh` and `glab` that merge or look up pull requests.
    pub(crate) fn read(run: &CommandRun, output: &str) -> Self {
        let mut landed = Self::default();
        if run.outcome != RunOutcome::Passed {
            return landed;
        }
        for simple in &run.simples {
            let words = simple.bare();
            let number = || words.iter().skip(3).find(|word| is_number(word)).cloned();
            match (simple.program(), simple.argument(1), simple.argument(2)) {
                ("git", "log", _) => landed.read_log(output),
                ("gh" | "glab", "pr" | "mr", "merge") => landed.merged.extend(number()),
                ("gh" | "glab", "pr" | "mr", "view") if says_merged(output) => {
                    landed.merged.extend(number());
                }
                ("gh" | "glab", "pr" | "mr", "list") => {
                    let rows = output.lines().filter(|line| says_merged(line));
                    let first = |line: &str| line.split_whitespace().next().map(bare_number);
                    landed.merged.extend(rows.filter_map(first).filter(|number| is_number(number)));
                }
                _ => {}
            }
        }
        landed
    }

    fn read_log(&mut self, output: &str) {
        for line in output.lines() {
            let line = line.trim_start_matches(['*', '|', '/', '\\', ' ']);
            let Some((id, subject)) = line.split_once(' ') else {
                continue;
            };
            let is_id = (COMMIT_ID_CHARS_MIN..=COMMIT_ID_CHARS_MAX).contains(&id.len())
                && id.chars().all(|c| c.is_ascii_hexdigit());
            if !is_id {
                continue;
            }
            let subject = without_decoration(subject);
            let squashed = subject.rsplit_once("(#").and_then(|(_, rest)| rest.strip_suffix(')'));
            let merge = subject.strip_prefix("Merge pull request #").and_then(|rest| rest.split(' ').next());
            self.merged.extend(squashed.or(merge).filter(|number| is_number(number)).map(str::to_owned));
            if self.subjects.len() < SUBJECTS_MAX {
                self.subjects.push(clip(subject, SUBJECT_CHARS_MAX));
            }
        }
    }
}

/// Numbers of the pull requests that a text says are merged: "PR #12 is merged".
pub(crate) fn stated_merged(text: &str) -> Vec<String> {
    let mut numbers = Vec::new();
    for sentence in text.lines().flat_map(sentences::split) {
        let lower = sentence.to_lowercase();
        let Some(at) = lower.find("merged") else {
            continue;
        };
        let refused = NOT_MERGED.iter().any(|word| {
            if word.contains(['\'', ' ']) {
                lower.contains(word)
            } else {
                lower.split(|c: char| !c.is_alphanumeric()).any(|known| known == *word)
            }
        });
        if refused || sentence.trim_end().ends_with('?') {
            continue;
        }
        let named = lower.split('#').skip(1).map(bare_number).filter(|number| is_number(number));
        // "Merged main into #12" speaks of another merge.
        let other = lower[at..].starts_with("merged main") || lower[at..].starts_with("merged master");
        numbers.extend(named.filter(|_| !other));
    }
    numbers
}

/// A subject without the names of branches that `git log --oneline` prints before it: "(HEAD -> main) Add …".
fn without_decoration(subject: &str) -> &str {
    let rest = subject.strip_prefix('(').and_then(|rest| rest.split_once(") "));
    rest.map_or(subject, |(_, rest)| rest).trim()
}

fn says_merged(text: &str) -> bool {
    text.contains("MERGED") || text.lines().any(|line| line.trim().eq_ignore_ascii_case("state:\tmerged"))
}

/// The digits at the beginning, without a mark before them.
fn bare_number(text: &str) -> String {
    text.trim_start_matches('#').chars().take_while(char::is_ascii_digit).collect()
}

fn is_number(word: &str) -> bool {
    !word.is_empty() && word.len() < 8 && word.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
#[path = "pull_requests_tests.rs"]
mod tests;
