//! The subject of a prompt: its specific words and the code names in it.

use std::collections::HashSet;

use super::domain_stopwords::{WordSpecificity, word_specificity};
use super::function_words::{is_foreign, is_function_word};
use super::open_work::{OpenWork, review_words};
use super::request_words::{asked_action, asked_thing, content_stems, spelled_out};
use claude_mem_search::SearchQuery;
use claude_mem_search::analyzer::{is_stop_word, words};
use claude_mem_search::names::{CodeName, code_names};
use claude_mem_search::stem::stem;

/// Telling words without which a prompt is about nothing, unless it names something.
const WORDS_MIN: usize = 2;
/// Telling words that are asked about. A prompt of more is a pasted text.
const WORDS_MAX: usize = 96;

/// Telling words from which a prompt says itself what it is about, or quotes a log that mentions much.
pub(super) const SELF_CONTAINED_WORDS: usize = 24;

/// Telling words of a prompt that is compared by meaning. A report of more words is near to much, and has
/// enough words to be compared by them.
pub(super) const PROMPT_WORDS_MAX: usize = 12;

/// A prompt as a search query.
#[derive(Clone, Debug)]
pub struct PromptQuestion {
    pub(super) query: SearchQuery,
    pub(super) names: Vec<CodeName>,
    /// It has too few words to be compared by words; only similarity in meaning counts.
    pub(super) is_brief: bool,
    /// The stem of the action with consequences that is asked for: "push it".
    pub(super) action: Option<String>,
    /// The stem of the thing that is to be made: "add a button".
    pub(super) thing: Option<String>,
    /// The stems of all its words but grammar.
    pub(super) content: HashSet<String>,
    /// The stems of all words of a short prompt, in order.
    in_order: Vec<String>,
}

impl PromptQuestion {
    /// `None`: a slash command, a continuation, or a prompt about nothing in particular.
    pub fn read(prompt: &str) -> Option<Self> {
        let text = prompt.trim();
        if is_slash_command(text) {
            return None;
        }
        let names = code_names(text);
        let plain = telling_words_of(text, &[]);
        // A longer prompt has enough words of its own, and more of them only blur what it is about.
        let is_short = plain.len() <= PROMPT_WORDS_MAX;
        let spelled = if is_short { spelled_out(text) } else { text.to_owned() };
        let action = asked_action(text).filter(|_| is_short);
        let thing = asked_thing(text).filter(|_| is_short);
        let asked: Vec<&str> = action.iter().chain(&thing).map(String::as_str).collect();
        let is_reviewed =
            plain.len() < SELF_CONTAINED_WORDS && OpenWork::of_prompt(text) == Some(OpenWork::Reviewed);
        let mut words = if is_short { telling_words_of(&spelled, &asked) } else { plain };
        if is_reviewed {
            let of_review = review_words(&spelled);
            words.retain(|word| !of_review.contains(word));
        }
        let query = SearchQuery::from_prompt(&spelled, words);
        let tells = query.words.iter().filter(|word| is_telling(word)).count();
        let is_brief = tells < WORDS_MIN && names.is_empty();
        let has_subject =
            |word: &String| is_telling(word) && word_specificity(&stem(word)) == WordSpecificity::All;
        let content = content_stems(&spelled);
        // Everyday words alone say little, but a title may have all of them.
        let subjects = content.iter().filter(|word| !SMALL_TALK.contains(&word.as_str())).count();
        let says_enough = is_short && subjects >= WHOLE_PROMPT_WORDS_MIN;
        let asks = is_reviewed
            || !is_brief
            || says_enough
            || action.is_some()
            || query.words.iter().any(has_subject);
        let in_order = if is_short { stems_in_order(text) } else { Vec::new() };
        asks.then(|| Self {
            query,
            names,
            is_brief,
            action,
            thing,
            content: content_stems(&spelled),
            in_order,
        })
    }
}

/// Words of a prompt without which it is contained in too many titles.
const WHOLE_PROMPT_WORDS_MIN: usize = 3;
/// Stems of words that go on with the work or praise it.
const SMALL_TALK: &[&str] = &[
    "again", "back", "continu", "good", "great", "look", "nice", "ok", "okai", "onc", "still", "thank", "yet",
];

impl PromptQuestion {
    /// Whether it asks to make a thing of this kind, or names the kind by both of its words: "write the release notes".
    pub(super) fn is_about_kind(&self, kind: &[String]) -> bool {
        let is_made = self.thing.as_ref().is_some_and(|thing| kind.contains(thing));
        is_made || (kind.len() == 2 && self.in_order.windows(2).any(|pair| pair == kind))
    }

    /// Whether a title has all of its words.
    pub(super) fn is_within(&self, title: &HashSet<String>) -> bool {
        self.content.len() >= WHOLE_PROMPT_WORDS_MIN && self.content.is_subset(title)
    }
}

/// Each once, in order; of a pasted text those that somebody wrote.
fn telling_words_of(text: &str, asked_for: &[&str]) -> Vec<String> {
    let foreign = is_foreign(text);
    let mut seen = HashSet::new();
    let mut asked: Vec<String> = words(text)
        .filter(|word| {
            let grammar = is_stop_word(word) || (foreign && is_function_word(word));
            let stem = stem(word);
            let tells =
                word_specificity(&stem) != WordSpecificity::Nothing || asked_for.contains(&stem.as_str());
            !grammar && tells && seen.insert(word.clone())
        })
        .collect();
    if asked.len() > WORDS_MAX {
        keep_prose(text, &mut asked);
    }
    asked
}

fn stems_in_order(text: &str) -> Vec<String> {
    words(text).map(|word| stem(&word)).collect()
}

/// A number says how much, not of what.
fn is_telling(word: &str) -> bool {
    word.chars().any(char::is_alphabetic)
}

/// `/help`, `/plugin:command with words`; a path is none.
fn is_slash_command(text: &str) -> bool {
    let Some(command) = text.strip_prefix('/') else {
        return false;
    };
    let word = command.split_whitespace().next().unwrap_or_default();
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | ':' | '-');
    word.starts_with(|c: char| c.is_ascii_alphabetic()) && word.chars().all(is_name)
}

/// Whether somebody wrote a line, as opposed to a program: it has grammar and few digits.
pub(super) fn is_prose(line: &str) -> bool {
    let (mut all, mut grammar) = (0, 0);
    for word in words(line) {
        all += 1;
        grammar += usize::from(is_stop_word(&word));
    }
    let digits = line.chars().filter(char::is_ascii_digit).count();
    grammar * 5 >= all && digits * 10 <= line.len()
}

/// Of a pasted text what somebody wrote. A log's lines come after.
fn keep_prose(text: &str, asked: &mut Vec<String>) {
    let (mut written, mut printed) = (Vec::new(), Vec::new());
    for line in text.lines() {
        let place = if is_prose(line) { &mut written } else { &mut printed };
        place.extend(words(line));
    }
    let mut rest: HashSet<String> = asked.drain(..).collect();
    for word in written.into_iter().chain(printed) {
        if asked.len() < WORDS_MAX && rest.remove(&word) {
            asked.push(word);
        }
    }
}

#[cfg(test)]
#[path = "prompt_question_tests.rs"]
mod tests;
