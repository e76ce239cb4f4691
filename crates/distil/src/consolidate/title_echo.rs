//! Narratives without the sentence that the title already says.

use claude_mem_core::memory::ObservationText;

use crate::gates;
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::sentences;
use crate::text::{capitalised, content_words, run_on};
use crate::verbs::has_verb;

use super::title_label::without_cause_label;

/// Words of the rest of a sentence that tell something by themselves.
const REST_WORDS_MIN: usize = 4;

/// Marks between a clause that may be the title and one that goes on after it.
const CLAUSE_MARKS: &[&str] = &[" — ", " – ", ", but ", "; ", ": ", ". "];

/// Removes from the narrative what only repeats the title: a sentence unless another one leans on it, and the clause
/// that the first sentence begins with. What follows the title may refer to it.
pub(super) fn leave_out_echo(text: &mut ObservationText) {
    // What somebody said is quoted whole.
    if text.narrative.contains('“') || text.title.ends_with('…') {
        return;
    }
    let sentences = sentences::split(&text.narrative);
    if let [only] = sentences.as_slice()
        && goes_on(&text.title, only)
    {
        text.title = without_cause_label(only.trim_end_matches('.'));
        text.narrative.clear();
        return;
    }
    let mut told: Vec<String> = Vec::new();
    for (place, sentence) in sentences.iter().enumerate() {
        let needed = place > 0 && sentences.get(place + 1).is_some_and(|next| gates::refers_back(next));
        let introduced = place > 0 && sentences[place - 1].ends_with(':');
        if repeats(&text.title, sentence) && !needed && !introduced {
            continue;
        }
        let beyond = if place == 0 { beyond_clause(&text.title, sentence) } else { None };
        told.push(beyond.unwrap_or_else(|| (*sentence).to_owned()));
    }
    text.narrative = run_on(told.iter().map(String::as_str));
}

/// Whether a sentence is the title with a little more, short enough to be the title: "Removed the button, along with
/// its handler".
fn goes_on(title: &str, sentence: &str) -> bool {
    let (known, words) = (content_words(title), content_words(sentence));
    known.is_subset(&words)
        && negates(title) == negates(sentence)
        && words.len() > known.len()
        && words.len() <= known.len() + ADDED_WORDS_MAX
        && sentence.chars().count() <= OBSERVATION_TITLE_CHARS_MAX
        && beyond_clause(title, sentence).is_none()
}

/// Words that a sentence adds to the title whose place it takes.
const ADDED_WORDS_MAX: usize = 4;

/// Whether a sentence says no more than the title.
fn repeats(title: &str, sentence: &str) -> bool {
    let words = content_words(&without_cause_label(sentence));
    let known = content_words(title);
    // A title with two clauses more says something else.
    !words.is_empty()
        && words.is_subset(&known)
        && known.len() <= words.len() + 1
        && negates(title) == negates(sentence)
}

/// Whether a statement has a word that turns its meaning round; such words are no content words.
fn negates(statement: &str) -> bool {
    let lower = format!(" {} ", statement.to_lowercase().replace('’', "'"));
    [" not ", "n't ", " no ", " never ", " nothing ", " cannot ", " neither "]
        .iter()
        .any(|word| lower.contains(word))
}

/// What a sentence says behind a clause that is the title: "The cache is stale, but the page reads it".
fn beyond_clause(title: &str, sentence: &str) -> Option<String> {
    let statement = without_cause_label(sentence);
    CLAUSE_MARKS.iter().find_map(|mark| {
        let (clause, rest) = statement.split_once(mark)?;
        // "…: a leftover directory" explains a word of the clause.
        let is_apposition = matches!(gates::first_word(rest).as_str(), "a" | "an");
        let stands = repeats(title, clause)
            && !is_apposition
            && content_words(rest).len() >= REST_WORDS_MIN
            && has_verb(rest)
            && !gates::refers_back(rest);
        stands.then(|| capitalised(rest.trim_start()))
    })
}

#[cfg(test)]
mod tests {
    use super::leave_out_echo;
    use crate::draft;
    use claude_mem_core::clock::Millis;
    use claude_mem_core::memory::ObservationType;

    fn told(title: &str, narrative: &str) -> String {
        let mut made = draft::observation(ObservationType::DISCOVERY, title.into(), Millis(0));
        made.text.narrative = narrative.into();
        leave_out_echo(&mut made.text);
        made.text.narrative
    }

    #[test]
    fn sentence_that_is_the_title_is_left_out() {
        let title = "`print_label` reads the old queue";
        assert_eq!(
            told(title, "The depot printer stalled at noon. `print_label` reads the old queue."),
            "The depot printer stalled at noon."
        );
        assert_eq!(
            told(title, "`print_label` reads the old queue. This holds until the worker restarts."),
            "This holds until the worker restarts."
        );
        let needed =
            "The printer stalled. `print_label` reads the old queue. This holds until the worker restarts.";
        assert_eq!(told(title, needed), needed);
    }

    #[test]
    fn clause_that_is_the_title_is_left_out() {
        assert_eq!(
            told(
                "`save_label` wrote the summary column only",
                "Cause: `save_label` wrote the summary column only, but the desk page reads the column of details."
            ),
            "The desk page reads the column of details."
        );
        assert_eq!(
            told(
                "Why the depot cannot print",
                "Why the depot cannot print — the agent there has no access to the printer queue."
            ),
            "The agent there has no access to the printer queue."
        );
    }

    #[test]
    fn sentence_that_says_a_little_more_becomes_the_title() {
        let mut made = draft::observation(ObservationType::CHANGE, "Removed the button".into(), Millis(0));
        made.text.narrative = "Removed the button, along with its handler `onPrint`.".into();
        leave_out_echo(&mut made.text);
        assert_eq!(made.text.title, "Removed the button, along with its handler `onPrint`");
        assert_eq!(made.text.narrative, "");
    }

    #[test]
    fn longer_sentence_and_quotations_stay() {
        let longer =
            "The cursor is stale after two pages of results, because the table of positions was truncated.";
        assert_eq!(told("The cursor is stale", longer), longer);
        let contrary = "The cursor is not stale.";
        assert_eq!(told("The cursor is stale", contrary), contrary);
        let quoted = "User: “Never print twice”";
        assert_eq!(told("Never print twice", quoted), quoted);
    }
}
