//! Of several decisions of one conversation, the one that sums the others up.
//!
//! A long talk settles one thing after another and often ends with an account of all of it. What
//! a later prompt has in common with the talk may be a side remark; the account is what helps.

use std::collections::HashSet;

/// Fewer decisions need no summing up.
const DECISIONS_MIN: usize = 3;
/// Share of the others' words, on average, that an account takes up again, in percent. Decisions
/// about one subject share about half of that, those about different ones nearly nothing.
const TAKEN_UP_PERCENT_MIN: usize = 27;

/// Which of these, each given by its telling words, sums up the rest.
pub(super) fn find_recap(said: &[HashSet<String>]) -> Option<usize> {
    if said.len() < DECISIONS_MIN {
        return None;
    }
    let others = said.len() - 1;
    let taken_up = |by: usize| -> usize {
        let share = |of: usize| said[of].intersection(&said[by]).count() * 100 / said[of].len().max(1);
        (0..said.len()).filter(|of| *of != by).map(share).sum::<usize>() / others
    };
    let (taken, best) = (0..said.len()).map(|at| (taken_up(at), at)).max()?;
    (taken >= TAKEN_UP_PERCENT_MIN).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(texts: &[&str]) -> Vec<HashSet<String>> {
        let words = |text: &&str| text.split_whitespace().map(str::to_owned).collect();
        texts.iter().map(words).collect()
    }

    #[test]
    fn the_account_at_the_end_sums_up_what_was_settled_before() {
        let talk = said(&[
            "charge round up next whole unit",
            "log one debug line per invoice run",
            "bill blocks fifty units partial block full",
            "charge round up whole unit then bill blocks fifty units partial block full",
        ]);
        assert_eq!(find_recap(&talk), Some(3));
    }

    #[test]
    fn decisions_about_different_things_have_no_account() {
        let talk = said(&[
            "use tabs for indentation",
            "deploy from the main branch only",
            "postgres instead of mysql",
            "names of tests are claims",
        ]);
        assert_eq!(find_recap(&talk), None);
    }

    #[test]
    fn two_decisions_need_none() {
        assert_eq!(find_recap(&said(&["a b c", "a b c d"])), None);
    }
}
