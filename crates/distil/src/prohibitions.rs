//! Prohibitions in English: "don't …", "… should not …", "it is better not to …". They are the clearest rules that
//! users state, also where they are polite ("please don't …") or hesitant ("I think it's better not to …").

use crate::gates::first_word;
use crate::text::{content_words, with_apostrophes, without_openers};

/// Content words that a prohibition needs: "don't push" concerns the next minute.
const CONTENT_WORDS_MIN: usize = 4;

/// How something is forbidden.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Prohibition {
    /// The agent is told not to do it, or it is said to hold at any time.
    Lasting,
    /// What is built should not do it: a wish for the change at hand, if there is one.
    Norm,
}

/// Negated orders.
const ORDERS_NOT_TO: &[&str] = &["don't ", "do not ", "never ", "avoid ", "under no circumstances "];
/// Verbs after "don't" that forbid nothing.
#[rustfmt::skip]
const FORBID_NOTHING: &[&str] = &[
    "forget", "worry", "know", "think", "see", "need", "mind", "bother", "hesitate", "understand", "care", "want", "have",
    "get", "remember", "be", "like",
];
const NORMS: &[&str] = &[
    " should not ",
    " shouldn't ",
    " must not ",
    " mustn't ",
    " should never ",
    " must never ",
    " better not to ",
];
/// Words by which a norm holds at any time.
const AT_ANY_TIME: &[&str] = &[" ever ", " any ", " never ", " better not to ", " in general "];
/// Words by which a prohibition ends soon.
const SOON_OVER: &[&str] =
    &[" yet ", " for now ", " right now ", " until ", " for the moment ", " anymore ", " this time "];
/// Subjects that only the sentence before explains.
const REFERRING: &[&str] = &["it", "this", "that", "they", "these", "those", "there", "he", "she", "which"];

impl Prohibition {
    /// What an English sentence of the user forbids; `None` if it forbids nothing that lasts.
    pub(crate) fn read(text: &str) -> Option<Self> {
        let said = with_apostrophes(&without_openers(text)).to_lowercase().replace('’', "'");
        let spaced = format!(" {} ", said.replace(['.', ',', ';', '!'], " "));
        let has = |phrases: &[&str]| phrases.iter().any(|phrase| spaced.contains(phrase));
        if has(SOON_OVER) || content_words(&said).len() < CONTENT_WORDS_MIN {
            return None;
        }
        if is_negated_order(&said) {
            return Some(Self::Lasting);
        }
        if !has(NORMS) || REFERRING.contains(&first_word(&said).as_str()) {
            return None;
        }
        Some(if has(AT_ANY_TIME) { Self::Lasting } else { Self::Norm })
    }
}

fn is_negated_order(said: &str) -> bool {
    if let Some(rest) = said.strip_prefix("stop ") {
        return first_word(rest).ends_with("ing");
    }
    let forbidden = ORDERS_NOT_TO.iter().find_map(|order| said.strip_prefix(order));
    forbidden.is_some_and(|rest| !FORBID_NOTHING.contains(&first_word(rest).as_str()))
}

#[cfg(test)]
mod tests {
    use super::Prohibition::{self, Lasting, Norm};

    #[test]
    fn prohibitions_are_told_from_orders_for_now() {
        for (said, want) in [
            ("Please dont just restart the broker by logging in to the box", Some(Lasting)),
            (
                "hmm, given the audit, I think its better not to keep any card numbers in the cache",
                Some(Lasting),
            ),
            ("the seed file should not be regenerated ever, it is a snapshot", Some(Lasting)),
            ("Never edit files below generated/ by hand", Some(Lasting)),
            ("Stop adding comments that only repeat the code", Some(Lasting)),
            ("In guest mode we should not show the export button in the toolbar", Some(Norm)),
            ("don't commit it", None),
            ("dont forget to rebase the feature branch on main first", None),
            ("Don't merge the release branch into main yet", None),
            ("it should not stand in the header but below the title", None),
            ("I don't see the new commands in the palette of the editor", None),
            ("Write the message but don't commit the staged files", None),
        ] {
            assert_eq!(Prohibition::read(said), want, "{said}");
        }
    }
}
