//! Whether a prompt is about work that is not finished: comments on a pull request, a check that fails, a fault that
//! is still there.
//!
//! Such a prompt says what came back and not what the work was: the reviewer's name and the word "comments" find
//! whatever was reviewed last year. What it refers to is what the last session left behind.

use std::collections::HashSet;

use super::prompt_kind::reports_trouble;
use claude_mem_search::analyzer::{is_stop_word, words};
use claude_mem_search::stem::stem;

/// Names of a change under review; sorted.
const REVIEWED: &[&str] = &["mr", "mrs", "pr", "prs"];
/// The same in two words.
const REVIEWED_PAIRS: &[[&str; 2]] = &[["merge", "request"], ["pull", "request"]];
/// Words before a change that is known; "create a PR" has none. Sorted.
const DEFINITE: &[&str] = &["my", "open", "our", "that", "the", "this"];
/// Words before or after a "comment" by which a review is meant, and none in the code; sorted.
#[rustfmt::skip]
const REVIEWING: &[&str] = &[
    "address", "addressed", "by", "from", "new", "on", "reply", "resolve", "resolved", "review", "reviewer", "unresolved",
];
/// The machine that judges a change.
const CHECKS: &str = "ci";
/// Verbs and nouns by which "comments" are those of source text; sorted.
const IN_SOURCE_TEXT: &[&str] =
    &["add", "code", "delete", "doc", "html", "remove", "source", "strip", "without", "write"];
/// Words between such a word and "comments": "remove all of the old comments".
const REVIEWING_DISTANCE_MAX: usize = 5;
/// Words after "still" that say what is wrong: "still have the same display issues".
const STILL_WORDS_MAX: usize = 5;

/// How a prompt refers to work that is not finished.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OpenWork {
    /// To comments on it. They may be about anything in it, so only the work itself tells the files.
    Reviewed,
    /// To trouble that it was to end, or made. The prompt names the trouble, so its words count, too.
    Troubled,
}

impl OpenWork {
    pub(super) fn of_prompt(text: &str) -> Option<Self> {
        let all: Vec<String> = words(text).collect();
        let is = |table: &[&str], word: &String| table.contains(&word.as_str());
        let is_reviewing = |(at, word): (usize, &String)| {
            let near = &all[at.saturating_sub(REVIEWING_DISTANCE_MAX)..(at + 2).min(all.len())];
            match word.as_str() {
                "comment" => near.iter().any(|word| is(REVIEWING, word)),
                "comments" => !near.iter().any(|word| is(IN_SOURCE_TEXT, word)),
                _ => false,
            }
        };
        if all.iter().enumerate().any(is_reviewing) {
            return Some(Self::Reviewed);
        }
        let is_change = |at: usize| {
            let pair = all.get(at..at + 2).map(|pair| [pair[0].as_str(), pair[1].as_str()]);
            is(REVIEWED, &all[at]) || pair.is_some_and(|pair| REVIEWED_PAIRS.contains(&pair))
        };
        let is_known_change = (1..all.len()).any(|at| is_change(at) && is(DEFINITE, &all[at - 1]));
        let is_checked = all.iter().any(|word| word == CHECKS);
        let still_wrong = all.iter().enumerate().any(|(at, word)| {
            let after = (at + 1)..(at + 1 + STILL_WORDS_MAX).min(all.len());
            word == "still" && after.start <= after.end && reports_trouble(&all[after].join(" "))
        });
        (still_wrong || (reports_trouble(text) && (is_known_change || is_checked))).then_some(Self::Troubled)
    }
}

/// Stems of words by which people speak of a review, whatever was reviewed; sorted.
#[rustfmt::skip]
const REVIEW_STEMS: &[&str] = &[
    "address", "applic", "batch", "bot", "bunch", "comment", "feedback", "find", "list", "minor", "open", "outstand", "point",
    "pr", "pull", "rais", "remark", "repli", "request", "resolv", "review", "suggest", "unresolv", "valid",
];
/// Words between "comments" and "from", by which the reviewer is named: "comments on the pull request from the bot".
const REVIEWER_DISTANCE_MAX: usize = 5;

/// Words of a prompt about comments that say that there was a review and who reviewed. They find other reviews, and not
/// what these comments are about.
pub(super) fn review_words(text: &str) -> HashSet<String> {
    let all: Vec<String> = words(text).collect();
    let mut found: HashSet<String> =
        all.iter().filter(|word| REVIEW_STEMS.binary_search(&stem(word).as_str()).is_ok()).cloned().collect();
    for (at, _) in all.iter().enumerate().filter(|(_, word)| stem(word) == "comment") {
        let after = &all[at + 1..(at + 1 + REVIEWER_DISTANCE_MAX).min(all.len())];
        let by = after.iter().position(|word| matches!(word.as_str(), "by" | "from"));
        let by = by.and_then(|by| all[at + by + 2..].iter().find(|word| !is_stop_word(word)));
        let before = at.checked_sub(1).map(|before| &all[before]).filter(|word| !is_stop_word(word));
        found.extend(by.or(before).cloned());
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{DEFINITE, IN_SOURCE_TEXT, OpenWork, REVIEW_STEMS, REVIEWED, REVIEWING, review_words};

    #[test]
    fn open_work_is_told_from_new_work() {
        let (reviewed, troubled) = (Some(OpenWork::Reviewed), Some(OpenWork::Troubled));
        for (prompt, want) in [
            ("there are three new comments from the linter bot", reviewed),
            ("address all of the open comments please", reviewed),
            ("the reviewer left a comment on the PR", reviewed),
            ("the parcel tests still fail", troubled),
            ("two jobs fail in CI", troubled),
            ("something is wrong with the pull request", troubled),
            ("still", None),
            ("add a comment to the parser", None),
            ("remove all comments of the parser", None),
            ("open a PR for the voucher field", None),
            ("put the weekday into the name of the nightly export", None),
            ("the nightly export fails", None),
            ("not now, I still want the old header", None),
        ] {
            assert_eq!(OpenWork::of_prompt(prompt), want, "{prompt}");
        }
    }

    #[test]
    fn reviewer_is_no_subject() {
        for (prompt, want) in [
            ("there are three new comments from the lintbot", &["comments", "lintbot"][..]),
            ("address the lintbot comments on the PR", &["address", "comments", "lintbot", "pr"]),
            (
                "comments on the pull request by dana, one about the basket",
                &["comments", "dana", "pull", "request"],
            ),
        ] {
            let mut found: Vec<String> = review_words(prompt).into_iter().collect();
            found.sort();
            assert_eq!(found, want, "{prompt}");
        }
    }

    #[test]
    fn tables_are_sorted() {
        assert!(
            [REVIEWED, DEFINITE, REVIEWING, IN_SOURCE_TEXT, REVIEW_STEMS]
                .iter()
                .all(|table| table.is_sorted())
        );
    }
}
