//! [`judge_pair`]: what the learnt model and the words say together of a memory and a prompt.
//!
//! The weights were fitted by logistic regression on the training examples of the [`GoverningModel`] (each with a model
//! that had not seen it) and on the tables of `governed_tests.rs` but the last two.
//!
//! [`GoverningModel`]: crate::governing_model::GoverningModel

use super::evidence::{GoverningVerdict, MatchEvidence};

/// Weight of the learnt model's logit.
const LEARNT: f64 = 0.62;
/// Weight of each shared telling word, up to their largest number. Their surprise weighs more; many words that are
/// frequent in the project are what all of it is about.
const TELLING: f64 = -2.46;
const TELLING_MAX: f64 = 1.5;
const SURPRISE: f64 = 0.52;
const SURPRISE_MAX: f64 = 6.0;
const SHARE: f64 = 0.91;
const TITLE_COVERED: f64 = 4.87;
const SAME_ACTION: f64 = 0.65;
const SAME_THING: f64 = 2.15;
/// A rule says how things are to be done; a prompt that asks how they are has little use for it.
const RULE_FOR_QUESTION: f64 = -2.37;
const BIAS: f64 = 1.77;
/// Score below which shared words do not suffice.
const UNRELATED_MAX: f64 = -1.0;

/// What is known of a memory and a prompt besides their words.
#[derive(Clone, Copy, Debug)]
pub(super) struct GoverningPair {
    pub governs_action: bool,
    pub governs_thing: bool,
    pub is_rule_for_question: bool,
}

/// The verdict; without vectors it is [`GoverningVerdict::Undecided`].
pub(super) fn judge_pair(evidence: &MatchEvidence, pair: GoverningPair) -> GoverningVerdict {
    let Some(learnt) = evidence.governing else {
        return GoverningVerdict::Undecided;
    };
    let when = |holds: bool, weight: f64| if holds { weight } else { 0.0 };
    let score = BIAS
        + LEARNT * learnt
        + TELLING * evidence.telling.min(TELLING_MAX)
        + SURPRISE * evidence.surprise.min(SURPRISE_MAX)
        + SHARE * evidence.share
        + TITLE_COVERED * evidence.title.covered
        + when(pair.governs_action, SAME_ACTION)
        + when(pair.governs_thing, SAME_THING)
        + when(pair.is_rule_for_question, RULE_FOR_QUESTION);
    match score {
        _ if score > 0.0 => GoverningVerdict::Governs,
        _ if score <= UNRELATED_MAX => GoverningVerdict::Unrelated,
        _ => GoverningVerdict::Undecided,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: GoverningPair =
        GoverningPair { governs_action: false, governs_thing: false, is_rule_for_question: false };

    fn evidence(learnt: Option<f64>) -> MatchEvidence {
        MatchEvidence { governing: learnt, ..MatchEvidence::default() }
    }

    #[test]
    fn learnt_model_decides_where_no_words_are_shared() {
        assert_eq!(judge_pair(&evidence(Some(2.0)), PLAIN), GoverningVerdict::Governs);
        assert_eq!(judge_pair(&evidence(Some(-4.0)), PLAIN), GoverningVerdict::Undecided);
        assert_eq!(judge_pair(&evidence(Some(-8.0)), PLAIN), GoverningVerdict::Unrelated);
    }

    #[test]
    fn question_how_things_are_needs_more_of_a_rule() {
        let asked = GoverningPair { is_rule_for_question: true, ..PLAIN };
        assert_eq!(judge_pair(&evidence(Some(0.0)), PLAIN), GoverningVerdict::Governs);
        assert_eq!(judge_pair(&evidence(Some(0.0)), asked), GoverningVerdict::Undecided);
    }

    #[test]
    fn without_vectors_the_words_decide() {
        assert_eq!(judge_pair(&evidence(None), PLAIN), GoverningVerdict::Undecided);
    }
}
