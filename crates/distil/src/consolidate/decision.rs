//! Observations of what the user decided, and of what a conversation settled.

use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_core::source::TextSource;
use claude_mem_core::vocabulary::{PREFERENCE, TRADE_OFF};

use crate::answers;
use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::decisions;
use crate::draft;
use crate::gates;
use crate::limits::{OBSERVATION_FACT_CHARS_MAX, OBSERVATION_TITLE_CHARS_MAX};
use crate::speech::MarkedSentence;
use crate::text::{capitalised, clip, content_words, is_name, overlap, shared, with_apostrophes};

use super::frames::ClaimFrame;
use super::narrative::SAME_SENTENCE;
use super::title_label;

/// The request that opened a conversation: its characters, the words it needs, and the share of them that the
/// decision may tell already.
const OPENING_CHARS_MAX: usize = 240;
const OPENING_WORDS_MIN: usize = 4;
const OPENING_OVERLAP: f32 = 0.6;
/// Characters of a choice that is listed in a title.
const LISTED_CHOICE_CHARS: usize = 60;

/// Makes the observation of a decision: what a conversation settled, or the user's own words.
pub(super) fn compose_decision(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let lead = *frame.leads.first()?;
    let mut made = match &lead.composed {
        Some(composed) => settled(frame, composed),
        None => stated(frame, lead),
    };
    made.text.title = without_first_person(&made.text.title);
    Some(made)
}

/// What a conversation settled, with the user's earlier reasons and the subject if its recap leaves them out.
fn settled(frame: &ClaimFrame<'_>, composed: &NewObservation) -> NewObservation {
    let mut made = composed.clone();
    // Reasons that the user gave and the recap leaves out.
    let earlier = frame.leads.iter().skip(1).filter(|earlier| earlier.source.is_user());
    let told = content_words(&format!("{} {}", made.text.narrative, made.text.facts.join(" ")));
    for earlier in earlier {
        let sentences =
            earlier.composed.as_ref().map_or_else(|| vec![earlier.text.clone()], |c| c.text.facts.clone());
        let new = |text: &String| overlap(&content_words(text), &told) < SAME_SENTENCE;
        made.text.facts.extend(sentences.into_iter().filter(new));
    }
    made.text.facts.extend(unnamed_subject(frame, &made));
    made.text.facts.extend(opening_request(frame.request, &made));
    leave_out_repetitions(&mut made);
    made
}

/// Removes facts that repeat the title, and a subtitle that is told already.
fn leave_out_repetitions(made: &mut NewObservation) {
    let is_told = |text: &str, told: &str| {
        let (words, told) = (content_words(text), content_words(told));
        !words.is_empty() && shared(&words, &told) as f32 >= SAME_SENTENCE * words.len() as f32
    };
    made.text.facts.retain(|fact| !is_told(fact, &made.text.title));
    let told = format!("{} {} {}", made.text.title, made.text.narrative, made.text.facts.join(" "));
    let is_cut =
        made.text.subtitle.chars().count() > OBSERVATION_TITLE_CHARS_MAX || made.text.subtitle.ends_with('…');
    let share = overlap(&content_words(&made.text.subtitle), &content_words(&told));
    if is_told(&made.text.subtitle, &told) || (is_cut && share >= OPENING_OVERLAP) {
        made.text.subtitle.clear();
    }
}

/// A rule, choices or a fact in the user's own words.
fn stated(frame: &ClaimFrame<'_>, lead: &Claim) -> NewObservation {
    let title = if lead.title.is_empty() {
        with_apostrophes(&title_label::sentence_title(&lead.text))
    } else {
        lead.title.clone()
    };
    let kind =
        if lead.kind == ClaimKind::UserFact { ObservationType::DISCOVERY } else { ObservationType::DECISION };
    let mut made = NewObservation::new(kind, title, Origin::User, frame.at);
    if lead.title.is_empty() {
        let quoted = if lead.block.is_empty() { lead.passage() } else { lead.block.clone() };
        made.text.narrative = format!("User: “{quoted}”");
    } else {
        made.text.narrative.clone_from(&lead.text);
        made.text.facts = frame.leads.iter().skip(1).map(|lead| told_choice(lead)).collect();
        made.text.title = match frame.leads.as_slice() {
            [only] => answer_title(only).unwrap_or(made.text.title),
            [last, ..] if answers::is_picked(last) => made.text.title,
            several => choices_title(several),
        };
    }
    if lead.source == TextSource::Answer {
        made.text.facts.extend(running_work(frame.request, &made));
    } else if answers::is_picked(lead) {
        // A picked option says little without the talk that it belongs to.
        made.text.facts.extend(opening_request(frame.request, &made));
    }
    let statement = MarkedSentence::clause(&lead.text, Language::detect(&lead.text));
    if lead.kind == ClaimKind::Rule && decisions::is_preference(&statement) {
        made.text.concepts = draft::concepts(&[PREFERENCE]);
    } else if lead.kind == ClaimKind::Choice {
        made.text.concepts = draft::concepts(&[TRADE_OFF]);
    }
    made
}

/// Phrases by which a person introduces an opinion or a wish, with what is told instead. A wish stays one: what is
/// wished for may not be so yet.
#[rustfmt::skip]
const WISHES: &[(&str, &str)] = &[
    ("i think that ", ""), ("i think ", ""), ("i feel that ", ""), ("i would say ", ""), ("i believe that ", ""), ("i believe ", ""),
    ("i think its ", ""), ("i think it's ", ""), ("i think it’s ", ""), ("i think it is ", ""),
    ("i would prefer that ", "Prefer that "), ("i'd prefer that ", "Prefer that "), ("i would like that ", "Make sure that "),
    ("i want that ", "Make sure that "),
];

/// A title without the words that introduce the wish: "I think the queue must stay small" → "The queue must stay
/// small". The narrative quotes the sentence whole. Only a whole clause may stand before the wish: "I never said I
/// think …" says something else.
fn without_first_person(title: &str) -> String {
    // Lower-casing only ASCII keeps the places of the title.
    let lower = title.to_ascii_lowercase();
    let opens_clause = |start: &usize| *start == 0 || lower[..*start].ends_with(", ");
    let rests = WISHES.iter().filter_map(|(wish, instead)| {
        let start = lower.find(wish).filter(opens_clause)?;
        Some((*instead, title.get(start + wish.len()..)?))
    });
    let (instead, rest) = rests.min_by_key(|(_, rest)| rest.len()).unwrap_or(("", title));
    let stands = content_words(rest).len() >= OPENING_WORDS_MIN && !gates::is_dangling(rest);
    if stands { capitalised(&format!("{instead}{rest}")) } else { title.to_owned() }
}

/// One of several choices in a line: with its question, or with its heading if the line would be cut before the answer
/// ends.
fn told_choice(lead: &Claim) -> String {
    let told = answers::told_answer(lead).unwrap_or_else(|| lead.text.clone());
    let is_cut = told.chars().count() > OBSERVATION_FACT_CHARS_MAX;
    if is_cut && answers::is_chosen(lead) {
        answers::described_title(lead).unwrap_or_else(|| lead.title.clone())
    } else {
        told
    }
}

/// The work during which a question was answered, if the decision does not name it.
fn running_work(request: &str, made: &NewObservation) -> Option<String> {
    let told = content_words(&format!("{} {}", made.text.title, made.text.narrative));
    let is_related = shared(&content_words(request), &told) > 0;
    // A question asks for no work.
    let asks = request.contains(['?', '？']);
    (is_related && !asks && is_new_request(request, made))
        .then(|| format!("Decided during: “{}”", clip(request, OPENING_CHARS_MAX)))
}

/// What the user asked for at first, if the decision does not tell it: the subject that it is about.
fn opening_request(request: &str, made: &NewObservation) -> Option<String> {
    is_new_request(request, made).then(|| format!("Asked at first: “{}”", clip(request, OPENING_CHARS_MAX)))
}

fn is_new_request(request: &str, made: &NewObservation) -> bool {
    let words = content_words(request);
    let told =
        content_words(&format!("{} {} {}", made.text.title, made.text.narrative, made.text.facts.join(" ")));
    words.len() >= OPENING_WORDS_MIN && overlap(&words, &told) < OPENING_OVERLAP
}

/// The name from code that the conversation was about, if its recap leaves it out.
fn unnamed_subject(frame: &ClaimFrame<'_>, made: &NewObservation) -> Option<String> {
    let told = format!("{} {} {}", made.text.title, made.text.narrative, made.text.facts.join(" "));
    let others = frame.leads.iter().skip(1).chain(&frame.details);
    let words = others.flat_map(|claim| claim.text.split_whitespace());
    let names = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !"_()".contains(c)));
    let mut symbols = names.filter(|word| is_name(word) && (word.contains('_') || word.ends_with("()")));
    symbols.find(|name| !told.contains(*name)).map(|name| format!("About {name}"))
}

/// Words of a heading with its answer that say what was decided.
const ANSWER_TITLE_WORDS_MIN: usize = 4;

/// "Share storage: On the server", with the description of the option if that is short; else "Where are shares stored:
/// On the server". A heading of one word, such as "Format", does not say of what. What the user typed answers the
/// question as it was asked.
fn answer_title(lead: &Claim) -> Option<String> {
    let fits = lead.source == TextSource::Answer && !lead.section.is_empty();
    let (heading, answer) = lead.title.split_once(": ").filter(|_| fits)?;
    let is_short = |title: &String| title.chars().count() <= OBSERVATION_TITLE_CHARS_MAX;
    if answers::is_chosen(lead) {
        if content_words(&lead.title).len() >= ANSWER_TITLE_WORDS_MIN {
            return None;
        }
        let described = answers::described_title(lead).filter(is_short);
        if described.is_some() && content_words(heading).len() > 1 {
            return described;
        }
    }
    Some(format!("{}: {answer}", lead.section)).filter(is_short)
}

/// "Shares: On the server; Revoke: Per recipient": as many choices as fit, each whole. Long typed answers stand in
/// the facts; if they leave one choice, it is told with its question.
fn choices_title(leads: &[&Claim]) -> String {
    let brief = |lead: &&&Claim| lead.title.chars().count() <= LISTED_CHOICE_CHARS;
    let listed: Vec<&Claim> = leads.iter().filter(brief).copied().collect();
    let first = listed.first().copied().or(leads.first().copied());
    if let ([_] | [], Some(first)) = (listed.as_slice(), first) {
        return answer_title(first).unwrap_or_else(|| first.title.clone());
    }
    let mut title = String::new();
    for lead in listed {
        if title.is_empty() {
            title.clone_from(&lead.title);
        } else if title.chars().count() + lead.title.chars().count() + 2 <= OBSERVATION_TITLE_CHARS_MAX {
            title.push_str("; ");
            title.push_str(&lead.title);
        }
    }
    title
}

#[cfg(test)]
mod tests {
    use super::without_first_person;

    #[test]
    fn wish_is_titled_without_its_introduction_only() {
        for (said, title) in [
            ("I think the queue must stay below ten jobs", "The queue must stay below ten jobs"),
            (
                "Given the audit, I think its better to keep no card numbers here",
                "Better to keep no card numbers here",
            ),
            (
                "I never said I think the old cache works well",
                "I never said I think the old cache works well",
            ),
            ("The API think tank owns all public schemas", "The API think tank owns all public schemas"),
            ("I think so", "I think so"),
            // What is wished for may not be so yet.
            (
                "I would prefer that the importer is tested with a real mailbox",
                "Prefer that the importer is tested with a real mailbox",
            ),
        ] {
            assert_eq!(without_first_person(said), title);
        }
    }
}
