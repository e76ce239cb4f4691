//! Pitfalls: why something outside the change at hand failed or came out differently, as the agent explained it: a
//! hook that rewrites messages, a wrapper that reports failures falsely, a flaky test, a default that breaks local runs.
//!
//! Such an explanation follows a trouble (`troubles`) and puts it down to the machinery, to the environment, or to
//! something that the session did not touch. It stays true next week, unless later work of the session mends it
//! (`consolidate/pitfall.rs`). English only: other languages leave no pitfalls.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::Episode;
use claude_mem_core::source::TextSource;

use crate::attribution::{Attribution, attribution, is_tellable, says_found, without_asides};
use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::errors::says_failure;
use crate::gates;
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::sentences::{TextBlock, TextDocument, TextSentence};
use crate::text::{capitalised, clip_middle, content_words, full_stop, overlap, padded, shared};
use crate::titles::{balanced, headline, shorten, without_brackets};
use crate::troubles::{Trouble, TroubleEnding, TroubleKind, read_troubles};

/// Messages after a trouble that may explain it.
const MESSAGES_MAX: usize = 3;
/// Characters of a paragraph that is told whole.
const PARAGRAPH_CHARS_MAX: usize = 700;
/// Two explanations of one turn that share this much are one.
const SAME_PITFALL: f32 = 0.35;
/// Characters of the line of an error.
const ERROR_CHARS_MAX: usize = 200;
/// Characters of a name that an error and its explanation share.
const NAME_CHARS_MIN: usize = 5;
/// The share of its words that a sentence which only repeats the error has from there.
const REPEATED_SHARE: f32 = 0.6;
/// A sentence of fewer words tells a state.
const STATEMENT_WORDS_MIN: usize = 4;

/// Characters of each subject in the title of a commit that came out under another one.
const RENAMED_CHARS_MAX: usize = 60;

/// Stands before an explanation that the record does not confirm.
const UNCHECKED: &str = "The agent's explanation, not confirmed:";

/// A paragraph of the agent that explains a trouble.
struct Explanation {
    attribution: Attribution,
    title: String,
    text: String,
    at: Millis,
    trouble_at: Millis,
    /// The line of the error, if it belongs to the explanation.
    error: Option<String>,
    ending: TroubleEnding,
}

/// Makes one claim of each trouble that the agent explained, except what `told` says already.
pub(crate) fn pitfall_claims(episode: &Episode, told: &[Claim], group: u32) -> Vec<Claim> {
    let mut found: Vec<Explanation> = Vec::new();
    for trouble in read_troubles(episode) {
        for (text, at) in texts_after(episode, &trouble) {
            found.extend(explanations(text, at, &trouble));
        }
    }
    // The best of each subject; the later of equals, which was said with more knowledge.
    found.sort_by_key(|one| Reverse((one.attribution, one.at, one.error.is_some(), one.trouble_at)));
    let mut kept: Vec<Explanation> = Vec::new();
    for one in found {
        let own = one.whole();
        let is_kept = kept.iter().any(|known| is_same(&known.whole(), &own));
        let is_told = told.iter().any(|claim| is_same(&format!("{} {}", claim.title, claim.text), &own));
        if !is_kept && !is_told {
            kept.push(one);
        }
    }
    kept.into_iter().map(|one| one.into_claim(group)).collect()
}

/// Whether two explanations are about the same: they name the same from code, or say it in the same words.
fn is_same(a: &str, b: &str) -> bool {
    let marked =
        |text: &str| -> BTreeSet<String> { text.split('`').skip(1).step_by(2).map(str::to_owned).collect() };
    !marked(a).is_disjoint(&marked(b)) || overlap(&content_words(a), &content_words(b)) >= SAME_PITFALL
}

/// The agent's texts that may explain a trouble.
fn texts_after<'e>(episode: &'e Episode, trouble: &Trouble) -> Vec<(&'e str, Millis)> {
    let messages = episode.texts.iter().filter(|text| text.source == TextSource::Message);
    let messages = messages.map(|text| (text.text.as_str(), text.at)).filter(|(_, at)| *at >= trouble.at);
    let last = episode.final_message.iter().map(|message| (message.text.as_str(), message.at));
    let in_time = |at: Millis| trouble.until.is_none_or(|until| at <= until);
    // A hunt names its suspects on the way; later only what it says to have found counts.
    let soon = if trouble.kind == TroubleKind::Reported { 0 } else { MESSAGES_MAX };
    let is_told = |index: usize, text: &str| index < soon || says_found(text);
    let messages = messages.enumerate().filter(|(index, (text, at))| in_time(*at) && is_told(*index, text));
    // What the final message still calls a trouble was not mended by the edits before it.
    messages.map(|(_, message)| message).chain(last.filter(|(_, at)| *at >= trouble.at)).collect()
}

/// The paragraphs of a text that explain a trouble.
fn explanations(text: &str, at: Millis, trouble: &Trouble) -> Vec<Explanation> {
    if Language::detect(text) != Language::English {
        return Vec::new();
    }
    let document = TextDocument::read(text);
    let paragraphs = document.sentences.chunk_by(|a, b| a.paragraph == b.paragraph);
    paragraphs.filter_map(|sentences| explanation(sentences, at, trouble)).collect()
}

fn explanation(sentences: &[TextSentence], at: Millis, trouble: &Trouble) -> Option<Explanation> {
    let mends = |one: &TextSentence| gates::is_commentary(&one.text) && one.text.contains(" fix ");
    let is_mended = sentences.iter().any(mends);
    let told: Vec<(Option<Attribution>, String)> = sentences
        .iter()
        .filter(|sentence| sentence.block == TextBlock::Prose)
        .map(|sentence| without_asides(&sentence.text))
        .filter(|bare| is_tellable(bare))
        .map(|bare| {
            let bare = bare.trim_end_matches(':').to_owned();
            let explains = gates::stands_alone(&bare) && !repeats_error(&bare, trouble);
            let found = attribution(&bare, trouble).filter(|_| explains);
            // What is mended at once belongs to the change.
            (found.filter(|found| !is_mended || *found == Attribution::Machinery), bare)
        })
        .collect();
    let best = told.iter().filter_map(|(found, _)| *found).max()?;
    let start = told.iter().position(|(found, _)| *found == Some(best))?;
    let sentence = told[start].1.as_str();
    let title = pitfall_title(sentence, trouble);
    let is_cut = title.chars().count() + 2 < sentence.trim_end_matches('.').chars().count();
    let mut text = String::new();
    for (found, one) in told.iter().skip(if is_cut { start } else { start + 1 }) {
        let is_state = found.is_none()
            && (gates::is_passing_trouble(one) || content_words(one).len() < STATEMENT_WORDS_MIN);
        let one = full_stop(&capitalised(without_connective(one)));
        if !is_state && text.chars().count() + one.chars().count() < PARAGRAPH_CHARS_MAX {
            text = joined([&text, &one]);
        }
    }
    let error = error_of(trouble, sentence);
    // How a command ended belongs to the reason why it failed, not to how a tool works.
    let is_about_failure = match trouble.ending {
        TroubleEnding::Refused(_) => says_failure(sentence),
        TroubleEnding::Renamed { .. } => padded(&text).contains(" message "),
        _ => says_failure(sentence) || best == Attribution::Environment,
    };
    let ending = if is_about_failure { trouble.ending.clone() } else { TroubleEnding::Unknown };
    Some(Explanation { attribution: best, title, text, at, trouble_at: trouble.at, error, ending })
}

/// Words behind which a sentence only goes into detail.
const DETAILS: &[&str] = &[" that ", " which ", " and ", " to ", ", "];
/// The share of a title's room that a statement must fill without its details.
const TITLE_KEPT: f32 = 0.35;

/// The sentence as a title: without brackets, and without details, if it is too long with them. What
/// is left must still explain the trouble.
fn pitfall_title(sentence: &str, trouble: &Trouble) -> String {
    let title = headline(sentence, Language::English);
    if !title.ends_with('…') {
        return title;
    }
    let bare = without_brackets(sentence);
    let bare = if balanced(&bare) { bare.as_str() } else { sentence };
    let whole = headline(bare, Language::English);
    if !whole.ends_with('…') {
        return whole;
    }
    let room = bare.char_indices().nth(OBSERVATION_TITLE_CHARS_MAX).map_or(bare.len(), |(at, _)| at);
    let head = &bare[..room];
    let least = (TITLE_KEPT * OBSERVATION_TITLE_CHARS_MAX as f32) as usize;
    let states = |cut: &usize| {
        let start = &head[..*cut];
        // "Both a and b" needs its second half.
        let is_paired = [" both ", " either ", " between "].iter().any(|word| start.contains(word));
        *cut >= least && balanced(start) && !is_paired && attribution(start, trouble).is_some()
    };
    let ends = DETAILS.iter().flat_map(|word| head.match_indices(word)).map(|(at, _)| at);
    ends.filter(states).max().map_or(whole, |cut| capitalised(&head[..cut]))
}

/// The sentence without a word that ties it to the one before, which the title may have become.
fn without_connective(sentence: &str) -> &str {
    ["But ", "And ", "So "].iter().find_map(|word| sentence.strip_prefix(word)).unwrap_or(sentence)
}

/// Whether a sentence says no more than the error does.
fn repeats_error(sentence: &str, trouble: &Trouble) -> bool {
    let words = content_words(sentence);
    let error = content_words(&trouble.errors.join(" "));
    shared(&words, &error) as f32 >= REPEATED_SHARE * words.len().max(1) as f32
}

/// The line of the error, if the user quotes it or the explanation names what the line names.
fn error_of(trouble: &Trouble, sentence: &str) -> Option<String> {
    let is_name = |word: &&str| word.contains('`') || word.contains(char::is_uppercase);
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let words = sentence.split_whitespace().skip(1).filter(is_name).map(bare);
    let names: Vec<String> = words.filter(|name| name.len() >= NAME_CHARS_MIN).collect();
    let is_named = |error: &&String| match trouble.kind {
        TroubleKind::Failed => names.iter().any(|name| error.to_lowercase().contains(name)),
        TroubleKind::Reported => true,
        TroubleKind::Rewritten => false,
    };
    trouble.errors.iter().find(is_named).map(|error| clip_middle(error, ERROR_CHARS_MAX))
}

fn joined<const N: usize>(parts: [&str; N]) -> String {
    parts.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join(" ")
}

impl Explanation {
    fn whole(&self) -> String {
        format!("{} {}", self.title, self.text)
    }

    fn into_claim(self, group: u32) -> Claim {
        let error = self.error.as_deref().map(|error| format!("The error: “{error}”.")).unwrap_or_default();
        let (title, text) = match &self.ending {
            // Another session may have made that commit: the record shows what came out, not why.
            TroubleEnding::Renamed { written, shown } => {
                let title = format!(
                    "The change is in the log under another subject: “{}”",
                    shorten(shown, RENAMED_CHARS_MAX)
                );
                let subjects = format!("Committed as “{written}”.");
                let stated =
                    if self.text.starts_with(&self.title) { String::new() } else { full_stop(&self.title) };
                (title, joined([&subjects, UNCHECKED, &stated, &self.text, &error]))
            }
            ending => (self.title.clone(), joined(["", &self.text, &error, &ending.told()])),
        };
        let mut claim = Claim::new(ClaimKind::Pitfall, TextSource::Message, text, self.at).titled(title);
        claim.group = group;
        claim.worth = self.attribution.worth();
        claim
    }
}

#[cfg(test)]
#[path = "pitfalls_tests.rs"]
mod tests;
