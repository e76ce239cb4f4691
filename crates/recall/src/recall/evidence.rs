//! Evidence that a memory concerns a prompt, as opposed to sharing words with it by chance.
//!
//! The measure is absolute: how unlikely it is that any memory contains this much of the prompt. The share of the
//! prompt's words is not a measure: a long report shares little with the rule it needs, and a short question
//! shares much with anything.

use std::collections::HashMap;

use super::domain_stopwords::{WordSpecificity, word_specificity};
use super::prompt_question::{PROMPT_WORDS_MAX, PromptQuestion};
use super::request_words::{content_stems, kind_spoken_of};
use claude_mem_search::analyzer::words;
use claude_mem_search::candidates::{Candidate, CandidateSet};
use claude_mem_search::names::{NameConfidence, contains_name};
use claude_mem_search::stem::stem;
use claude_mem_store::RowKind;

/// Size of the window, in words, within which matches count as one statement.
const TOGETHER_WORDS: usize = 12;
/// Maximum sessions whose memories contain a name before it stops identifying a subject.
const NAME_SESSIONS_MAX: usize = 6;

/// How one memory matches a prompt.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct MatchEvidence {
    /// Summed weights of the shared terms.
    pub worth: f64,
    /// Negative logarithm of the probability of this match by chance.
    pub surprise: f64,
    /// Weighted share of the prompt's specific words.
    pub share: f64,
    /// Shared words, each counted by its specificity.
    pub telling: f64,
    /// The most of them within one window.
    pub together: f64,
    pub name: Option<NameConfidence>,
    /// Shared words besides the names.
    pub besides: f64,
    /// Similarity in meaning; 0 without vectors.
    pub cosine: f64,
    /// How likely the learnt model makes it that the memory governs the prompt, as a logit; `None` without vectors.
    pub governing: Option<f64>,
    pub title: TitleMatch,
    pub verdict: GoverningVerdict,
    pub prompt_size: PromptSize,
    /// A short prompt and a memory that is about something else, whatever the words.
    pub is_remote: bool,
    /// The prompt has hardly a specific word besides its names.
    pub asks_only_for_name: bool,
}

/// How much a prompt says, which decides what its words are worth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PromptSize {
    /// Too few words to be compared by words.
    Brief,
    #[default]
    Usual,
    /// So many words that it names much in passing.
    Long,
}

/// Whether a rule, a fact or a cause governs a prompt, whatever words they share.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum GoverningVerdict {
    Governs,
    /// The words decide.
    #[default]
    Undecided,
    /// It shares words with the prompt and is of no use to it.
    Unrelated,
}

/// How a memory's title matches a prompt.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct TitleMatch {
    /// Share of the title's words that the prompt has, too.
    pub covered: f64,
    /// The title is about the action that the prompt asks for.
    pub has_action: bool,
    /// The title speaks of all things of the kind that the prompt asks to be made.
    pub has_thing: bool,
    /// The title has all words of the prompt, and these are not few.
    pub has_whole_prompt: bool,
}

/// The evidence that a memory needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceThreshold {
    /// It is about the same subject.
    Prompt,
    /// It is nearly the same error.
    Failure,
}

/// Minimum share of an error's words.
const SAME_SHARE: f64 = 0.5;
/// Minimum specific words shared if no name is.
pub(super) const TELLING_MIN: f64 = 1.5;
/// Specific words within one window from which the lower surprise suffices.
const TOGETHER_MIN: f64 = 1.5;
const SURPRISE_TOGETHER: f64 = 0.8;
const SURPRISE_APART: f64 = 2.5;
/// Additional weight of a word in the title.
const TITLED: f64 = 0.5;
/// Correction for co-occurring words ("month" with "day"): independence would overstate the surprise.
const COMPANY: f64 = 1.4;
/// Cosine from which vectors count as evidence, and their weight.
const NEAR: f64 = 0.35;
const NEARNESS: f64 = 5.0;
/// Cosine below which a short prompt and a memory are about different things, and the specific words that must be shared
/// nevertheless: "the desktop client" occurs in much that has nothing to do with each other.
const REMOTE: f64 = 0.3;
const REMOTE_TELLING_MIN: f64 = 2.0;
/// Specific words of a prompt from which a shared name says nothing.
const LONG_PROMPT_WORDS: usize = 24;

impl EvidenceThreshold {
    pub(super) fn clears(self, evidence: &MatchEvidence) -> bool {
        match self {
            Self::Failure => evidence.share >= SAME_SHARE && evidence.telling >= TELLING_MIN,
            Self::Prompt => {
                evidence.governs()
                    || (evidence.verdict != GoverningVerdict::Unrelated
                        && (evidence.is_about_shared_name() || evidence.is_said_in_same_words()))
            }
        }
    }
}

impl MatchEvidence {
    pub(super) fn governs(&self) -> bool {
        self.verdict == GoverningVerdict::Governs
    }

    /// A shared name alone is not enough: two decisions about one class need not concern each other. Nor is a name
    /// with any other word in a text that has many of both.
    fn is_about_shared_name(&self) -> bool {
        match self.name {
            _ if self.prompt_size == PromptSize::Long => false,
            Some(NameConfidence::Certain) => self.besides >= 0.5 || self.asks_only_for_name,
            Some(NameConfidence::Hint) => self.besides >= 0.5,
            None => false,
        }
    }

    fn is_said_in_same_words(&self) -> bool {
        let least = if self.together >= TOGETHER_MIN { SURPRISE_TOGETHER } else { SURPRISE_APART };
        let telling_min = if self.is_remote { REMOTE_TELLING_MIN } else { TELLING_MIN };
        self.prompt_size != PromptSize::Brief && self.telling >= telling_min && self.surprise >= least
    }
}

/// A turn was told by nobody as worth keeping: it must be nearer than a memory that was.
const TURN_SURPRISE: f64 = 2.5;
const TURN_TOGETHER: f64 = 2.0;

impl MatchEvidence {
    /// Enough to tell a whole turn by.
    pub(super) fn speaks_for_turn(&self) -> bool {
        self.surprise >= TURN_SURPRISE
            && self.together >= TURN_TOGETHER
            && EvidenceThreshold::Prompt.clears(self)
    }
}

/// Measures candidates against one prompt, with the frequencies of its words.
#[derive(Debug)]
pub(super) struct EvidenceJudge<'a> {
    asking: &'a PromptQuestion,
    terms: HashMap<&'a str, usize>,
    /// Weight of each term: specificity by inverse document frequency.
    values: Vec<f64>,
    tells: Vec<f64>,
    in_names: Vec<bool>,
    all: f64,
    /// Terms that could have matched.
    known: f64,
    ln_rows: f64,
    everywhere: Vec<bool>,
    /// Summed specificity of the prompt's words besides its names.
    besides_names: f64,
}

impl<'a> EvidenceJudge<'a> {
    /// For candidates of one kind: frequencies among other kinds do not apply.
    pub(super) fn new(
        asking: &'a PromptQuestion,
        gathered: &'a CandidateSet,
        kind: RowKind,
        rows: u64,
    ) -> Self {
        let of_kind = || {
            let all = gathered.rows.iter();
            all.filter(move |(key, _)| key.kind == kind).map(|(_, row)| row)
        };
        let count = gathered.terms.len();
        let mut known = vec![false; count];
        for row in of_kind() {
            for &at in &row.stats.coverage.present {
                known[at] = true;
            }
        }
        let tells: Vec<f64> = gathered.terms.iter().map(|term| tells(term)).collect();
        let value = |at: usize| tells[at] * gathered.weights[at];
        let values: Vec<f64> = (0..count).map(value).collect();
        // The frequency of a word that no memory has is unknown.
        let mut sorted: Vec<f64> = (0..count).filter(|&at| known[at]).map(value).collect();
        sorted.sort_by(f64::total_cmp);
        let median = sorted.get(sorted.len() / 2).copied().unwrap_or(0.0);
        let all = (0..count).map(|at| if known[at] { values[at] } else { values[at].min(median) }).sum();
        let in_names = |term: &String| {
            let mut names = asking.names.iter();
            names.any(|name| words(&name.text).any(|word| stem(&word) == *term))
        };
        let is_in_name: Vec<bool> = gathered.terms.iter().map(in_names).collect();
        Self {
            besides_names: (0..count).filter(|&at| !is_in_name[at]).map(|at| tells[at]).sum(),
            terms: (0..count).map(|at| (gathered.terms[at].as_str(), at)).collect(),
            in_names: is_in_name,
            known: (0..count).filter(|&at| known[at]).map(|at| tells[at]).sum(),
            values,
            tells,
            all,
            ln_rows: (rows as f64 + 1.0).ln(),
            everywhere: everywhere(asking, of_kind()),
            asking,
        }
    }

    pub(super) fn measure(&self, candidate: &Candidate) -> MatchEvidence {
        let document = &candidate.document;
        let mut places: Vec<(usize, usize)> = Vec::new();
        let mut place = 0;
        for field in [&document.title, &document.body, &document.tags] {
            for word in words(field) {
                place += 1;
                if let Some(&at) = self.terms.get(stem(&word).as_str()) {
                    places.push((place, at));
                }
            }
            place += 100;
        }
        let title_stems = content_stems(&document.title);
        let covered = title_stems.iter().filter(|word| self.asking.content.contains(*word)).count();
        let title_ends = words(&document.title).count();
        let titled = each_once(places.iter().take_while(|(place, _)| *place <= title_ends));
        let found = each_once(places.iter());
        let telling: f64 = found.iter().map(|&at| self.tells[at]).sum();
        let worth = self.worth(&found);
        let by_meaning = candidate.cosine.map_or(0.0, |cosine| self.nearness(cosine));
        MatchEvidence {
            worth,
            surprise: worth + TITLED * self.worth(&titled) + by_meaning
                - COMPANY * ln_ways(self.known, telling)
                - self.ln_rows,
            share: if self.all > 0.0 { worth / self.all } else { 0.0 },
            telling,
            together: self.together(&places),
            name: self.name_in(candidate),
            cosine: candidate.cosine.unwrap_or(0.0),
            governing: None,
            title: TitleMatch {
                covered: covered as f64 / title_stems.len().max(1) as f64,
                has_action: self.asking.action.as_ref().is_some_and(|action| title_stems.contains(action)),
                has_thing: self.asking.is_about_kind(&kind_spoken_of(&document.title)),
                has_whole_prompt: self.asking.is_within(&title_stems),
            },
            verdict: GoverningVerdict::Undecided,
            prompt_size: self.prompt_size(),
            is_remote: candidate.cosine.is_some_and(|cosine| cosine < REMOTE) && !self.says_several_things(),
            asks_only_for_name: self.besides_names <= 1.0,
            besides: found.iter().filter(|at| !self.in_names[**at]).map(|&at| self.tells[at]).sum(),
        }
    }

    fn prompt_size(&self) -> PromptSize {
        match self.asking.query.words.len() {
            _ if self.asking.is_brief => PromptSize::Brief,
            words if words > LONG_PROMPT_WORDS => PromptSize::Long,
            _ => PromptSize::Usual,
        }
    }

    /// What the similarity in meaning adds to the surprise. A longer prompt says several things and quotes code, so it
    /// is near to nothing as a whole: distance is no evidence against a memory that shares its words.
    fn nearness(&self, cosine: f64) -> f64 {
        let nearness = NEARNESS * (cosine - NEAR);
        if self.says_several_things() { nearness.max(0.0) } else { nearness }
    }

    fn says_several_things(&self) -> bool {
        self.asking.query.words.len() > PROMPT_WORDS_MAX
    }

    fn worth(&self, terms: &[usize]) -> f64 {
        terms.iter().map(|&at| self.values[at]).sum()
    }

    /// The highest summed specificity within any window of [`TOGETHER_WORDS`].
    fn together(&self, places: &[(usize, usize)]) -> f64 {
        let mut best = 0.0_f64;
        for (first, (start, _)) in places.iter().enumerate() {
            let run = places[first..].iter().take_while(|(place, _)| place - start < TOGETHER_WORDS);
            best = best.max(each_once(run).iter().map(|&at| self.tells[at]).sum());
        }
        best
    }

    fn name_in(&self, candidate: &Candidate) -> Option<NameConfidence> {
        if self.asking.names.is_empty() {
            return None;
        }
        let text = text_of(candidate);
        let names = self.asking.names.iter().zip(&self.everywhere);
        let found = names.filter(|(name, _)| contains_name(&name.text, &text));
        found.map(|(name, everywhere)| if *everywhere { NameConfidence::Hint } else { name.confidence }).max()
    }
}

/// Which of the names occur in memories of too many sessions to identify a subject.
fn everywhere<'r>(asking: &PromptQuestion, rows: impl Iterator<Item = &'r Candidate>) -> Vec<bool> {
    if asking.names.is_empty() {
        return Vec::new();
    }
    let texts: Vec<_> = rows.map(|row| (row.document.session, text_of(row))).collect();
    let sessions = |name: &str| {
        let holds = texts.iter().filter(|(_, text)| contains_name(name, text));
        let mut sessions: Vec<_> = holds.map(|(session, _)| *session).collect();
        sessions.sort_unstable_by_key(|session| session.map(|id| id.0));
        sessions.dedup();
        sessions.len()
    };
    let names = asking.names.iter();
    names.map(|name| sessions(&name.text) > NAME_SESSIONS_MAX).collect()
}

fn text_of(candidate: &Candidate) -> String {
    let document = &candidate.document;
    format!("{}\n{}\n{}", document.title, document.body, document.tags).to_lowercase()
}

/// The distinct terms at these positions.
fn each_once<'p>(places: impl Iterator<Item = &'p (usize, usize)>) -> Vec<usize> {
    let mut terms: Vec<usize> = places.map(|(_, at)| *at).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// Specificity of a term from 0 to 1. A number counts half.
fn tells(term: &str) -> f64 {
    let is_word = term.chars().any(char::is_alphabetic) && term.chars().count() > 1;
    match word_specificity(term) {
        WordSpecificity::Nothing => 0.0,
        WordSpecificity::All if is_word => 1.0,
        WordSpecificity::Half | WordSpecificity::All => 0.5,
    }
}

/// Logarithm of the number of ways to choose `taken` out of `all`.
fn ln_ways(all: f64, taken: f64) -> f64 {
    let left = all - taken;
    let part = |of: f64| if of > 0.0 { of * (all / of).ln() } else { 0.0 };
    part(taken) + part(left)
}
