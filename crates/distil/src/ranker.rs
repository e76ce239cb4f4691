//! Ranks sentences by how much a good engineer would want them remembered next week.
//!
//! A logistic regression over plain features of one sentence: its source, its place in the text, its form
//! and the cue phrases in it. [`worth`] returns a probability. The weights stand in `ranker_weights.tsv`;
//! README.md of this crate is the model card and names the command that trains them.
//!
//! Invariant: only English sentences are ranked, because the weights were trained on English. For other
//! languages [`worth`] returns `None`, and the caller keeps less.

use std::sync::LazyLock;

use claude_mem_core::source::{TextSource, Voice};

use crate::cues::{self, CueKind, CueMarks, Language};
use crate::text::is_name;

/// A sentence with its place in the text it comes from.
#[derive(Clone, Copy, Debug)]
pub struct RankedSentence<'a> {
    pub text: &'a str,
    pub source: TextSource,
    /// Index of the sentence in its text, and the number of sentences there.
    pub index: usize,
    pub count: usize,
}

/// The names of all features, in the order of [`features`].
#[rustfmt::skip]
pub const FEATURE_NAMES: [&str; 96] = [
    "bias", "user", "final", "message", "plan", "words_0_4", "words_5_8", "words_9_14", "words_15_24",
    "words_25_40", "words_41", "code_1", "code_2", "code_3", "name_1", "name_2", "name_3", "number_1",
    "number_2", "path", "flag", "acronym", "question", "ends_colon", "ends_open", "starts_first_person",
    "starts_now", "starts_past_verb", "starts_lower", "starts_pronoun", "starts_connective", "definition",
    "dash", "negation", "only", "because", "so_that", "first", "last", "alone", "middle", "long_text",
    "log_like", "punctuation_share", "second_person", "can_will", "modal", "past_passive", "is_are",
    "which_clause", "test_count", "commit_hash", "hedge_like", "proper_noun", "comparative", "quoted",
    "parenthesis", "cue_rule", "cue_limit", "cue_should", "cue_choice", "cue_reason", "cue_measure",
    "cue_amend", "cue_plan", "cue_propose", "cue_hedge", "cue_filler", "cue_cause", "cue_done", "cue_next",
    "cue_caveat", "cue_tried", "cue_fruitless", "cue_general", "cue_working", "cue_personal",
    "cue_verified", "cue_problem", "cue_topic", "opens_request", "opens_agree", "opens_disagree",
    "opens_ack", "opens_done", "user_rule", "user_request", "user_long", "final_cause", "final_named",
    "final_done", "message_cause", "message_plan", "message_named", "plan_named", "plan_should",
];

#[rustfmt::skip]
const CUES: [CueKind; 23] = [
    CueKind::Rule, CueKind::Limit, CueKind::Should, CueKind::Choice, CueKind::Reason, CueKind::Measure, CueKind::Amend, CueKind::Plan,
    CueKind::Propose, CueKind::Hedge, CueKind::Filler, CueKind::Cause, CueKind::Done, CueKind::Next, CueKind::Caveat, CueKind::Tried,
    CueKind::Fruitless, CueKind::General, CueKind::Working, CueKind::Personal, CueKind::Verified, CueKind::Problem, CueKind::Topic,
];

/// The features of a sentence, one number each.
pub fn features(sentence: &RankedSentence<'_>) -> [f32; FEATURE_NAMES.len()] {
    let form = SentenceForm::read(sentence.text);
    let marks = cues::mark(sentence.text, Language::English);
    let mut all = Vec::with_capacity(FEATURE_NAMES.len());
    let user = sentence.source.voice() == Voice::User;
    let message = sentence.source == TextSource::Message;
    let plan = sentence.source == TextSource::Plan;
    let last = !user && !message && !plan;
    let push = |all: &mut Vec<f32>, holds: bool| all.push(f32::from(u8::from(holds)));
    for holds in [true, user, last, message, plan] {
        push(&mut all, holds);
    }
    form.push_counts(&mut all, &push);
    form.push_edges(sentence.text, &marks, &mut all, &push);
    form.push_words(&mut all, &push);
    for holds in [
        sentence.index == 0,
        sentence.index + 1 == sentence.count,
        sentence.count == 1,
        sentence.index * 3 >= sentence.count && sentence.index * 3 < sentence.count * 2,
        sentence.count > 20,
    ] {
        push(&mut all, holds);
    }
    form.push_style(sentence.text, &mut all, &push);
    for cue in CUES {
        all.push(f32::from(marks.count(cue).min(2)) * 0.5 + if marks.has(cue) { 0.5 } else { 0.0 });
    }
    let named = form.names + form.code > 0;
    for holds in [
        marks.opens(CueKind::Request),
        marks.opens(CueKind::Agree),
        marks.opens(CueKind::Disagree),
        marks.opens(CueKind::Ack),
        marks.opens(CueKind::Done),
        user && (marks.has(CueKind::Rule) || marks.has(CueKind::Limit)),
        user && marks.opens(CueKind::Request),
        user && form.words > 14,
        last && marks.has(CueKind::Cause),
        last && named,
        last && marks.has(CueKind::Done),
        message && marks.has(CueKind::Cause),
        message && marks.has(CueKind::Plan),
        message && named,
        plan && named,
        plan && marks.has(CueKind::Should),
    ] {
        push(&mut all, holds);
    }
    let mut found = [0.0; FEATURE_NAMES.len()];
    for (slot, value) in found.iter_mut().zip(all) {
        *slot = value;
    }
    found
}

/// Counts of what a sentence is made of.
struct SentenceForm {
    lower: String,
    words: usize,
    code: usize,
    names: usize,
    numbers: usize,
    path: bool,
    flag: bool,
    acronym: bool,
    capitals: usize,
}

impl SentenceForm {
    fn read(text: &str) -> Self {
        let code = text.split('`').skip(1).step_by(2).filter(|code| !code.is_empty()).count();
        let mut form = Self {
            lower: format!(" {} ", text.to_lowercase()),
            words: text.split_whitespace().count(),
            code,
            names: 0,
            numbers: 0,
            path: false,
            flag: false,
            acronym: false,
            capitals: 0,
        };
        for (index, word) in text.split_whitespace().enumerate() {
            let core = word.trim_matches(|c: char| !c.is_alphanumeric());
            form.names += usize::from(is_name(word));
            form.numbers += usize::from(core.chars().any(|c| c.is_ascii_digit()));
            form.path |= core.contains('/') && core.len() > 4;
            form.flag |= word.trim_start_matches(['`', '"']).starts_with("--");
            form.acronym |=
                core.len() >= 2 && core.len() <= 6 && core.chars().all(|c| c.is_ascii_uppercase());
            form.capitals += usize::from(
                index > 0 && core.len() > 2 && core.starts_with(|c: char| c.is_ascii_uppercase()),
            );
        }
        form
    }

    fn has(&self, phrases: &[&str]) -> bool {
        phrases.iter().any(|phrase| self.lower.contains(phrase))
    }

    fn push_counts(&self, all: &mut Vec<f32>, push: &impl Fn(&mut Vec<f32>, bool)) {
        let words = self.words;
        for holds in [
            words < 5,
            (5..9).contains(&words),
            (9..15).contains(&words),
            (15..25).contains(&words),
            (25..41).contains(&words),
            words > 40,
            self.code == 1,
            self.code == 2,
            self.code > 2,
            self.names == 1,
            self.names == 2,
            self.names > 2,
            self.numbers == 1,
            self.numbers > 1,
            self.path,
            self.flag,
            self.acronym,
        ] {
            push(all, holds);
        }
    }

    fn push_edges(
        &self,
        text: &str,
        marks: &CueMarks,
        all: &mut Vec<f32>,
        push: &impl Fn(&mut Vec<f32>, bool),
    ) {
        let first = self.lower.split_whitespace().next().unwrap_or_default();
        let first_person = ["i ", "i'", "let me", "i’", "we ", "let's"];
        for holds in [
            text.trim_end().ends_with(['?', '？']),
            text.trim_end().ends_with(':'),
            !text.trim_end().ends_with(['.', '!', '?', ':', ')', '`']),
            first_person.iter().any(|start| self.lower.trim_start().starts_with(start)),
            ["now", "next,", "first,", "good", "great", "perfect", "ok,"].contains(&first),
            first.ends_with("ed") && first.len() > 4,
            text.starts_with(|c: char| c.is_ascii_lowercase()),
            marks.opens(CueKind::Pronoun),
            marks.opens(CueKind::Connective),
        ] {
            push(all, holds);
        }
    }

    fn push_words(&self, all: &mut Vec<f32>, push: &impl Fn(&mut Vec<f32>, bool)) {
        let colon = self.lower.find(": ").is_some_and(|at| at < 60);
        for holds in [
            colon,
            self.has(&[" — ", " – ", " - "]),
            self.has(&[" not ", "n't ", " no ", " cannot ", " never ", " without "]),
            self.has(&[" only ", " always ", " must ", " exactly "]),
            self.has(&[" because ", " since ", " due to ", " as a result"]),
            self.has(&[" so that ", " so the ", " so it ", " which means ", " to avoid ", " instead of "]),
        ] {
            push(all, holds);
        }
    }

    fn push_style(&self, text: &str, all: &mut Vec<f32>, push: &impl Fn(&mut Vec<f32>, bool)) {
        let symbols = text.chars().filter(|c| "{}[]<>=;|\\/$#@_".contains(*c)).count();
        let share = symbols as f32 / text.chars().count().max(1) as f32;
        let log = text.starts_with('[') || self.has(&["error:", "warn:", " info ", "at line", "stdout"]);
        push(all, log);
        all.push((share * 5.0).min(1.0));
        let hash = text.split(|c: char| !c.is_ascii_alphanumeric()).any(|word| {
            (7..=40).contains(&word.len())
                && word.chars().all(|c| c.is_ascii_hexdigit())
                && word.chars().any(|c| c.is_ascii_digit())
        });
        for holds in [
            self.has(&[" you ", " your ", " you'"]),
            self.has(&[" can ", " will "]),
            self.has(&[" would ", " could ", " should "]),
            self.has(&[" was ", " were ", " had ", " been "]),
            self.has(&[" is ", " are ", " has ", " have "]),
            self.has(&[" which ", " that ", " where "]),
            self.has(&[" tests ", " passed", " passing", "all pass"]),
            hash,
            self.has(&[" might ", " maybe ", " probably ", " likely ", " seems ", " i think ", " perhaps "]),
            self.capitals > 0,
            self.has(&[" than ", " more ", " less ", " instead ", " rather "]),
            text.contains(['"', '“']),
            text.contains('('),
        ] {
            push(all, holds);
        }
    }
}

/// The weights of both models, one number per feature.
struct RankerWeights {
    worth: [f32; FEATURE_NAMES.len()],
    alone: [f32; FEATURE_NAMES.len()],
}

static WEIGHTS: LazyLock<RankerWeights> = LazyLock::new(|| {
    let mut weights = RankerWeights { worth: [0.0; FEATURE_NAMES.len()], alone: [0.0; FEATURE_NAMES.len()] };
    for line in include_str!("ranker_weights.tsv").lines() {
        let mut cells = line.split('\t');
        let index = cells.next().and_then(|name| FEATURE_NAMES.iter().position(|known| *known == name));
        let Some(index) = index else {
            continue;
        };
        let mut next = || cells.next().and_then(|value| value.trim().parse().ok()).unwrap_or(0.0);
        (weights.worth[index], weights.alone[index]) = (next(), next());
    }
    weights
});

/// What the models say of a sentence.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SentenceRank {
    /// The probability that it is worth remembering, at least as a detail.
    pub worth: f32,
    /// The probability that it can be understood without its neighbours.
    pub alone: f32,
}

/// Ranks a sentence. `None` if the text is not English.
pub fn rank(sentence: &RankedSentence<'_>, language: Language) -> Option<SentenceRank> {
    if language != Language::English {
        return None;
    }
    let features = features(sentence);
    let probability = |weights: &[f32]| {
        let sum: f32 = features.iter().zip(weights).map(|(x, w)| x * w).sum();
        1.0 / (1.0 + (-sum).exp())
    };
    Some(SentenceRank { worth: probability(&WEIGHTS.worth), alone: probability(&WEIGHTS.alone) })
}

/// The probability that a sentence is worth remembering, at least as a detail. `None` if the text is not
/// English.
pub fn worth(sentence: &RankedSentence<'_>, language: Language) -> Option<f32> {
    rank(sentence, language).map(|rank| rank.worth)
}
