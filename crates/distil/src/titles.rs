//! Makes headlines of sentences: removes lead-ins and shortens them to one clause.

use super::cues::{self, CueKind, Language};
use super::text::{capitalised, clip, content_words};
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::verbs::has_verb;

const SEPARATORS: &[char] = &[' ', ',', '.', ':', ';', '-', '–', '—', '!', '，', '。', '：', '！', '、'];

/// Maximum characters of a preface before a colon.
const PREFACE_CHARS_MAX: usize = 45;

/// The sentence without its lead-in: "Got it - ", "No, ", "And ".
pub(crate) fn without_lead_in(text: &str, language: Language) -> &str {
    let mut rest = text.trim();
    for _ in 0..4 {
        let answer = [CueKind::Ack, CueKind::Agree, CueKind::Disagree, CueKind::Topic];
        let punctuated = cues::after_opening(rest, language, &answer)
            .filter(|after| after.trim_start().starts_with(&SEPARATORS[1..]));
        // "Fixed: …": what was done says so itself.
        let announced = || {
            cues::after_opening(rest, language, &[CueKind::Done])
                .filter(|after| after.trim_start().starts_with([':', '-', '–', '—', '：']))
        };
        let connected = || {
            cues::after_opening(rest, language, &[CueKind::Connective])
                .filter(|after| after.starts_with(SEPARATORS))
        };
        let Some(after) = punctuated.or_else(announced).or_else(connected) else {
            break;
        };
        let after = after.trim_start_matches(SEPARATORS);
        if too_little(after) {
            break;
        }
        rest = after;
    }
    rest
}

/// "Two things for all our work: always run …" → from the rule on, where only the part after the
/// colon binds.
pub(super) fn without_preface(text: &str, language: Language) -> &str {
    let Some((head, rest)) = text.split_once(": ") else {
        return text;
    };
    let binds = |part: &str| {
        let marks = cues::mark(part, language);
        marks.has(CueKind::Rule) || marks.has(CueKind::Limit) || marks.has(CueKind::Choice)
    };
    let short = head.chars().count() <= PREFACE_CHARS_MAX;
    let enough = content_words(rest).len() >= 3;
    if short && enough && !head.contains('`') && !binds(head) && binds(rest) { rest } else { text }
}

/// "I'd move them to the store" → "move them to the store".
pub(super) fn without_offer(text: &str) -> &str {
    OFFERS.iter().find_map(|offer| text.strip_prefix(offer)).unwrap_or(text)
}

const OFFERS: &[&str] = &[
    "I'd go with ",
    "I'd ",
    "I would ",
    "I propose to ",
    "I propose ",
    "I suggest to ",
    "I suggest ",
    "I recommend to ",
    "I recommend ",
    "My plan is to ",
    "My plan: ",
    "My proposal: ",
    "We could ",
    "I could ",
    "I'll ",
    "Ich würde ",
    "Ich schlage vor, ",
    "Mein Vorschlag: ",
    "Je propose de ",
    "Je propose d'",
    "Propongo ",
    "我建议",
];

/// Fewer than three words (or eight characters of a script without spaces) say nothing.
fn too_little(text: &str) -> bool {
    let ascii = text.chars().filter(char::is_ascii_alphanumeric).count();
    let letters = text.chars().filter(|c| c.is_alphanumeric()).count();
    if letters > ascii * 2 { letters < 5 } else { text.split_whitespace().count() < 3 }
}

/// A headline made of a sentence.
pub(super) fn headline(text: &str, language: Language) -> String {
    let text = without_lead_in(text, language);
    let text = text.trim_end_matches(|c: char| c.is_whitespace() || ".:;,。；，".contains(c));
    capitalised(&shorten(text, OBSERVATION_TITLE_CHARS_MAX))
}

/// Cuts a long sentence where a clause ends, else between words.
pub(super) fn shorten(text: &str, chars_max: usize) -> String {
    shorten_to(text, chars_max, chars_max / 5)
}

/// The same, with at least `chars_min` left.
pub(super) fn shorten_to(text: &str, chars_max: usize, chars_min: usize) -> String {
    if text.chars().count() <= chars_max {
        return text.to_owned();
    }
    let bytes_at = |chars: usize| text.char_indices().nth(chars).map_or(text.len(), |(at, _)| at);
    let (head, enough) = (&text[..bytes_at(chars_max)], bytes_at(chars_min));
    for marks in [&["; ", " — ", " – ", " - ", "；"][..], &[", ", ": ", "，"][..]] {
        let mut end = head.len();
        while let Some(cut) = marks.iter().filter_map(|mark| head[..end].rfind(mark)).max() {
            let clause = head[..cut].trim_end();
            if cut >= enough && balanced(clause) && !dangles(clause) && !cuts_enumeration(&text[cut..]) {
                return clause.to_owned();
            }
            end = cut;
        }
    }
    // What it is for may be left out.
    let purposes = PURPOSES.iter().filter_map(|mark| head.rfind(mark));
    match purposes.filter(|cut| *cut >= enough && balanced(&head[..*cut])).max() {
        Some(cut) => head[..cut].trim_end_matches([',', ' ']).to_owned(),
        None => clip(text, chars_max),
    }
}

/// The text without what stands in round brackets after a space.
pub(crate) fn without_brackets(text: &str) -> String {
    let (mut kept, mut rest) = (String::new(), text);
    while let Some((before, inside)) = rest.split_once(" (") {
        kept.push_str(before);
        rest = inside.split_once(')').map_or("", |(_, after)| after);
    }
    kept + rest
}

/// Sentences of a report among which the name of its task stands, the words of the name, and of the label before it.
const TASK_SENTENCES: usize = 3;
const TASK_WORDS_MIN: usize = 3;
const TASK_LABEL_WORDS: std::ops::RangeInclusive<usize> = 2..=3;

/// "Quick task 12: Mail delivery on staging", at the beginning of a report → the name of the task.
pub(crate) fn task_name(text: &str, index: usize) -> Option<&str> {
    let (label, name) = text.split_once(": ").filter(|_| index <= TASK_SENTENCES)?;
    let name = name.trim_end_matches('.');
    let is_number = |word: &str| word.chars().all(|c| c.is_ascii_digit());
    let numbered = TASK_LABEL_WORDS.contains(&label.split_whitespace().count())
        && label.split_whitespace().last().is_some_and(is_number);
    (numbered && content_words(name).len() >= TASK_WORDS_MIN && !name.ends_with([':', '?'])).then_some(name)
}

/// Words that introduce what something is for.
const PURPOSES: &[&str] = &[
    " so that ",
    " in order to ",
    " to ensure ",
    " to make sure ",
    " to avoid ",
    ", damit ",
    " afin de ",
    " para que ",
];

/// Whether the last part of a clause only prepares what was cut off: ", and if an item exists".
fn dangles(clause: &str) -> bool {
    let part = clause.rsplit([',', '，']).next().unwrap_or(clause);
    let mut words = part.split_whitespace().map(str::to_lowercase);
    let first = words.next().unwrap_or_default();
    let second = words.next().unwrap_or_default();
    let leads = |word: &str| PREPARING.contains(&word);
    // ", and for a product like this": what it says of the product was cut off.
    let conjoined = matches!(first.as_str(), "and" | "but" | "or");
    let joins = conjoined && (!has_verb(part) || PREPOSITIONS.contains(&second.as_str()));
    clause.contains([',', '，']) && (leads(&first) || joins || (first.len() <= 3 && leads(&second)))
}

/// Whether a cut leaves out the rest of an enumeration: "with symptoms" | ", causes, and files".
fn cuts_enumeration(rest: &str) -> bool {
    let rest = rest.trim_start_matches([',', ' ']);
    let last = |part: &str| part.starts_with("and ") || part.starts_with("or ");
    let mut parts = rest.split(", ");
    let first = parts.next().unwrap_or_default();
    let brief = |part: &str| part.split_whitespace().count() <= ENUMERATED_WORDS_MAX;
    (last(first) && !has_verb(first)) || (brief(first) && parts.next().is_some_and(last))
}

/// Words of one member of an enumeration.
const ENUMERATED_WORDS_MAX: usize = 5;

/// Words that open the circumstances of what a clause is about to say.
const PREPOSITIONS: &[&str] = &["for", "in", "with", "on", "at", "as", "from", "by", "without", "under"];

#[rustfmt::skip]
const PREPARING: &[&str] = &[
    "if", "when", "while", "unless", "because", "since", "although", "wenn", "weil", "falls", "obwohl", "si",
    "cuando", "porque", "quand", "lorsque", "parce",
];

/// Whether no bracket or code mark is left open.
pub(crate) fn balanced(text: &str) -> bool {
    text.matches('(').count() <= text.matches(')').count() && text.matches('`').count().is_multiple_of(2)
}

/// The statements that a sentence strings together: its parts between semicolons, where those
/// stand outside brackets, quotes and code.
pub(super) fn clauses(text: &str) -> Vec<&str> {
    let (mut parts, mut start, mut depth, mut in_code) = (Vec::new(), 0, 0_i32, false);
    let mut quoted_until = 0;
    for (at, c) in text.char_indices() {
        match c {
            _ if at < quoted_until => {}
            '\'' | '"' => quoted_until = end_of_quote(text, at, c),
            '`' => in_code = !in_code,
            '(' | '[' | '{' | '（' => depth += 1,
            ')' | ']' | '}' | '）' => depth = (depth - 1).max(0),
            ';' | '；' if depth == 0 && !in_code => {
                parts.push(text[start..at].trim());
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts.retain(|part| !part.is_empty());
    parts
}

/// Where a quotation that opens here closes; here, if it is an apostrophe.
fn end_of_quote(text: &str, at: usize, mark: char) -> usize {
    if text[..at].ends_with(char::is_alphanumeric) {
        return at;
    }
    let inside = &text[at + mark.len_utf8()..];
    let closes =
        |(end, _): &(usize, &str)| !inside[end + mark.len_utf8()..].starts_with(char::is_alphanumeric);
    let close = inside.match_indices(mark).take(8).find(closes);
    close.map_or(at, |(end, _)| at + mark.len_utf8() + end)
}

/// "I've added a lease" → "added a lease".
pub(crate) fn without_speaker(text: &str) -> &str {
    const SPEAKERS: &[&str] = &[
        "I've now ",
        "I have now ",
        "I've also ",
        "I also ",
        "I've ",
        "I have ",
        "We've ",
        "We have ",
        "I ",
        "We ",
        "Ich habe ",
        "J'ai ",
        "He ",
        "Hemos ",
    ];
    SPEAKERS.iter().find_map(|speaker| text.strip_prefix(speaker)).unwrap_or(text)
}
