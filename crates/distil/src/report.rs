//! The report of a turn: what the agent's last message says was done, item by item.
//!
//! Claims keep only sentences that are worth remembering by themselves. The account of a session tells every change,
//! also the plain ones, so it reads the report as a whole.

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::Episode;
use claude_mem_core::source::TextSource;

use crate::agent_claims;
use crate::cues::{self, CueKind, Language};
use crate::gates;
use crate::line_numbers::without_line_numbers;
use crate::ranker::{self, RankedSentence};
use crate::sentences::{TextBlock, TextDocument, TextSentence};
use crate::text::{capitalised, content_words, is_name, lower_first, without_bold};
use crate::titles::{shorten, without_speaker};
use crate::turn_outcome::NextCommand;
use crate::verbs::has_verb;

/// Maximum items of one report, and the characters of each.
const REPORT_ITEMS_MAX: usize = 6;
const ITEM_CHARS_MAX: usize = 260;
/// An item of fewer words that mean something says nothing.
const ITEM_WORDS_MIN: usize = 4;
/// The heading of a numbered change needs fewer.
const HEADING_WORDS_MIN: usize = 3;
/// Items about imports and the like are this short.
const TRIVIAL_WORDS_MAX: usize = 7;
/// An item of a list below a lead is told whole up to this many characters.
const LISTED_CHARS_MAX: usize = 90;
/// A message during the turn is a report from this score on.
const MESSAGE_SCORE_MIN: f32 = 6.0;

/// What the agent says it did in an episode: by its last message, else by its last structured message.
pub(crate) fn report_items(episode: &Episode) -> Vec<String> {
    let last = episode.final_message.as_ref().map(|message| items(&message.text)).unwrap_or_default();
    if !last.is_empty() {
        return last;
    }
    let messages = episode.texts.iter().filter(|text| text.source == TextSource::Message);
    let is_report =
        |text: &&str| agent_claims::report_score(&TextDocument::read(text), text) >= MESSAGE_SCORE_MIN;
    messages.map(|text| text.text.as_str()).rfind(is_report).map(items).unwrap_or_default()
}

/// The slash command that a message names as the next step, with the words before it.
pub(crate) fn next_command(message: &str, at: Millis) -> Option<NextCommand> {
    let mut is_next = false;
    let mut about = String::new();
    for line in message.lines() {
        let bare = without_bold(line.trim_start_matches(['#', '>', '-', '*', ' ', '▶', '→']).trim());
        let lower = bare.to_lowercase();
        if NEXT_HEADS.iter().any(|head| lower.starts_with(head)) {
            is_next = true;
            let head = NEXT_HEADS.iter().find(|head| lower.starts_with(**head)).map_or(0, |head| head.len());
            let rest = bare.get(head..).unwrap_or_default().trim_matches([':', ' ', '—', '-']);
            rest.clone_into(&mut about);
        } else if line.trim_start().starts_with('#') || lower.starts_with("also ") {
            is_next = false;
        }
        if !is_next {
            continue;
        }
        let spans = bare.split('`').skip(1).step_by(2);
        if let Some(command) = spans.map(str::trim).find(|span| is_slash_command(span)) {
            return Some(NextCommand { command: command.to_owned(), about, at });
        }
        if content_words(&bare).len() >= 2 && !NEXT_HEADS.iter().any(|head| lower.starts_with(head)) {
            about = bare;
        }
    }
    None
}

/// First words of the line or heading before the next step.
const NEXT_HEADS: &[&str] = &["next up", "next steps", "next step", "next:", "up next", "what's next"];

/// "/plan-phase 12": a slash command with an argument. A path has a second slash.
fn is_slash_command(span: &str) -> bool {
    let Some((name, argument)) = span.strip_prefix('/').and_then(|rest| rest.split_once(' ')) else {
        return false;
    };
    let is_name =
        !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, ':' | '_' | '-'));
    is_name && !argument.trim().is_empty()
}

/// The items of one message that say what was done, the worthiest of too many, in their order.
fn items(text: &str) -> Vec<String> {
    let mut document = TextDocument::read(text);
    for sentence in &mut document.sentences {
        sentence.text = without_bold(&sentence.text);
        sentence.section = without_bold(&sentence.section);
    }
    let language = Language::detect(text);
    let count = document.sentences.len();
    let paragraphs: Vec<&[TextSentence]> =
        document.sentences.chunk_by(|a, b| a.paragraph == b.paragraph).collect();
    let mut found: Vec<(f32, usize, String)> = Vec::new();
    let mut index = 0;
    // The list that a lead has told already.
    let mut told_list = "";
    for (place, paragraph) in paragraphs.iter().enumerate() {
        let lead =
            paragraph.last().filter(|last| last.text.ends_with(':')).map_or("", |last| last.text.as_str());
        let headed = read_heading(paragraph).map(|item| (1.0, item));
        let led = || read_lead(paragraph, &paragraphs[place + 1..], language).map(|item| (0.8, item));
        let in_list = !told_list.is_empty()
            && paragraph.first().is_some_and(|first| first.section.ends_with(told_list));
        let plain = || {
            read_item(paragraph, language).filter(|_| !in_list).map(|item| {
                let place = RankedSentence { text: &item, source: TextSource::FinalMessage, index, count };
                (ranker::worth(&place, language).unwrap_or(0.5), item)
            })
        };
        let whole = headed.or_else(led);
        if whole.is_some() {
            told_list = lead;
        }
        if let Some((worth, item)) = whole.or_else(plain) {
            found.push((worth, index, item));
        }
        index += paragraph.len();
    }
    found.sort_by(|a, b| b.0.total_cmp(&a.0));
    found.truncate(REPORT_ITEMS_MAX);
    found.sort_by_key(|(_, index, _)| *index);
    found.into_iter().map(|(_, _, item)| item).collect()
}

/// "Change 1 — Read the cursor again (`list.rs`):", "Bug fixed: Two cursors in one list": the heading of the items
/// below it.
fn read_heading(paragraph: &[TextSentence]) -> Option<String> {
    let [only] = paragraph else {
        return None;
    };
    let (head, rest) = only.text.split_once(" — ").or_else(|| only.text.split_once(": "))?;
    let is_heading = only.block == TextBlock::Heading;
    let named = if is_heading { rest } else { rest.strip_suffix(':')? };
    let named = named.split(" (").next().unwrap_or(named).trim();
    if content_words(named).len() < HEADING_WORDS_MIN {
        return None;
    }
    let fixed = is_heading && FIXED_HEADS.contains(&head.to_lowercase().as_str());
    if fixed {
        Some(format!("{FIXED_LABEL}{}", lower_first(named)))
    } else {
        is_numbered(head).then(|| capitalised(named))
    }
}

/// Introduces a fault that was repaired.
pub(crate) const FIXED_LABEL: &str = "Fixed: ";

/// Labels of a heading that names a fault that was repaired.
const FIXED_HEADS: &[&str] =
    &["fixed", "bug fixed", "fixed bug", "issue fixed", "fixed issue", "problem fixed", "bug fix", "bugfix"];

/// A sentence that says what was done and introduces a list, with the items of the list that fit.
fn read_lead(paragraph: &[TextSentence], below: &[&[TextSentence]], language: Language) -> Option<String> {
    let lead = paragraph.last()?;
    let text = lead.text.strip_suffix(':').filter(|_| lead.block == TextBlock::Prose)?;
    let text = text.strip_suffix(" with").or_else(|| text.strip_suffix(" containing")).unwrap_or(text);
    let (file, text) = split_label(text);
    if !(says_done(text, language) || (is_passive(text) && is_told(text, language)))
        || content_words(text).len() < 3
    {
        return None;
    }
    let items = below.iter().take_while(|item| {
        item.first()
            .is_some_and(|first| first.block == TextBlock::Item && first.section.ends_with(&lead.text))
    });
    let mut told = match file {
        Some(file) => format!("`{file}`: {}:", capitalised(text)),
        None => format!("{}:", capitalised(text)),
    };
    let items: Vec<&str> = items.filter_map(|item| item.first()).map(|item| item.text.as_str()).collect();
    let mut listed = 0;
    // "Updated the section to: name both modes; …".
    let goes_on = text.ends_with(" to");
    for item in without_fields(items) {
        let whole = item.trim_end_matches('.');
        let short = shorten(whole, LISTED_CHARS_MAX);
        let short = if goes_on { lower_first(&short) } else { short };
        if short.ends_with('…') || gates::speaks_to_reader(&short) {
            continue;
        }
        if told.chars().count() + short.chars().count() + 2 > ITEM_CHARS_MAX {
            break;
        }
        told.push_str(if listed == 0 { " " } else { "; " });
        told.push_str(&short);
        listed += 1;
    }
    (listed > 0 && content_words(&told).len() >= ITEM_WORDS_MIN).then_some(told)
}

/// Fields of a record that say what it is about.
const TELLING_FIELDS: &[&str] = &["description", "goal", "purpose", "reason", "summary", "why"];

/// Words of a field's name.
const FIELD_WORDS_MAX: usize = 2;

/// The items of a list; of a record ("Status: open", "Directory: …") only what its telling fields say.
fn without_fields(items: Vec<&str>) -> Vec<&str> {
    let field = |item: &&str| -> Option<(String, usize)> {
        let (label, _) = item.split_once(": ")?;
        let is_label = label.split(' ').count() <= FIELD_WORDS_MAX
            && label.chars().all(|c| c.is_alphabetic() || c == ' ');
        is_label.then(|| (label.to_lowercase(), label.len() + 2))
    };
    if items.len() < 2 || !items.iter().all(|item| field(item).is_some()) {
        return items;
    }
    let told = items.iter().filter_map(|item| {
        let (label, start) = field(item)?;
        TELLING_FIELDS.contains(&label.as_str()).then(|| &item[start..])
    });
    told.collect()
}

/// A paragraph or list item, if one of its sentences says what was done: those sentences, and the ones before them
/// that say why.
fn read_item(paragraph: &[TextSentence], language: Language) -> Option<String> {
    let first = paragraph.first()?;
    if matches!(first.block, TextBlock::Heading | TextBlock::Quote | TextBlock::Row | TextBlock::Todo)
        || is_other_section(&first.section, language)
    {
        return None;
    }
    let (label, lead) = split_label(&first.text);
    let texts: Vec<String> = std::iter::once(lead)
        .chain(paragraph.iter().skip(1).map(|sentence| match split_label(&sentence.text) {
            (None, text) => text,
            (Some(_), _) => sentence.text.as_str(),
        }))
        .map(without_line_numbers)
        .collect();
    let done: Vec<bool> = texts.iter().map(|text| says_done(text, language)).collect();
    let listed = first.block == TextBlock::Item
        && (file_of(&first.section).is_some() || names_changes(&first.section));
    let tells = done.contains(&true) || (listed && has_verb(lead));
    if !tells {
        return None;
    }
    let mut item = String::new();
    for text in texts.iter().filter(|text| is_told(text, language)) {
        if item.chars().count() + text.chars().count() + 1 > ITEM_CHARS_MAX {
            break;
        }
        if !item.is_empty() {
            item.push(' ');
        }
        item.push_str(&capitalised(without_speaker(text)));
    }
    let words = content_words(&item).len();
    let trivial =
        words <= TRIVIAL_WORDS_MAX && [" import", "assertion"].iter().any(|word| item.contains(word));
    if words < ITEM_WORDS_MIN
        || trivial
        || is_process(&item)
        || (gates::is_dangling(&item) && !gates::names_both(&item))
        || is_path(&item)
        || !item.matches('"').count().is_multiple_of(2)
    {
        return None;
    }
    let item = capitalised(item.trim());
    // An item below the name of a file is about that file.
    let file =
        label.or_else(|| file_of(&first.section)).filter(|file| !item.contains(file.trim_matches('`')));
    Some(match file {
        Some(file) => format!("`{}`: {item}", file.trim_matches('`')),
        None => item,
    })
}

/// Whether a sentence says that something was changed, or how it is now.
fn says_done(text: &str, language: Language) -> bool {
    if !is_told(text, language) {
        return false;
    }
    let marks = cues::mark(text, language);
    let bare = without_speaker(text);
    let first = gates::first_word(bare);
    let opens = marks.opens(CueKind::Done) || (language == Language::English && is_past(&first));
    let states = text.contains(" now ") && !text.contains(" can now ");
    // "Created: three days ago" is a field.
    let field = bare.split_whitespace().next().is_some_and(|word| word.ends_with(':'));
    (opens && !field) || (marks.has(CueKind::Done) && (bare.len() < text.len() || states))
}

/// Whether an item begins with the work, rather than with what was found out.
pub(crate) fn opens_with_work(item: &str) -> bool {
    is_past(&gates::first_word(item)) || item.contains(" now ")
}

/// "Phase 3 inserted after phase 2": a participle stands behind the subject.
pub(crate) fn is_passive(text: &str) -> bool {
    let mut words = text.split_whitespace().skip(1).take(4);
    words.any(|word| word.len() > 5 && word.ends_with("ed") && word.chars().all(char::is_alphabetic))
}

/// Past participles by which the items of a report begin: "Wrapped …", "Rewrote …".
fn is_past(word: &str) -> bool {
    (word.len() > 4 && word.ends_with("ed"))
        || matches!(word, "made" | "built" | "kept" | "put" | "took" | "ran")
}

/// Whether a sentence is about the work: no talk to the reader, no verification, no offer.
fn is_told(text: &str, language: Language) -> bool {
    let marks = cues::mark(text, language);
    !(gates::is_commentary(text)
        || gates::speaks_to_reader(text)
        || gates::is_session_talk(text)
        || marks.has(CueKind::Verified)
        || marks.has(CueKind::Propose)
        || is_process(text)
        || text.ends_with([':', '：', '?', '？', '…'])
        || content_words(text).len() < 2
        || text.contains("PID "))
}

/// Sections that tell something else than the work: checks, next steps, options.
fn is_other_section(section: &str, language: Language) -> bool {
    let lower = section.to_lowercase();
    let others = [
        "test",
        "verif",
        "check",
        "next",
        "option",
        "usage",
        "how to",
        "remaining",
        "deferred",
        "open",
        "recommend",
    ];
    cues::mark(section, language).has(CueKind::Next)
        || (file_of(section).is_none() && others.iter().any(|word| lower.contains(word)))
}

/// "Summary of the changes:", "What was fixed".
fn names_changes(section: &str) -> bool {
    let lower = section.to_lowercase();
    ["change", "summary", "fix", "what i did", "was done", "implemented", "updates"]
        .iter()
        .any(|word| lower.contains(word))
}

/// The file that a heading or the lead of a list names.
fn file_of(section: &str) -> Option<&str> {
    let word = section.split_whitespace().next()?.trim_matches(|c: char| "`*:,()".contains(c));
    let (_, ending) = word.rsplit_once('.')?;
    let is_ending = (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric());
    (is_ending && is_name(word)).then(|| word.rsplit('/').next().unwrap_or(word))
}

/// "Fix 2 — `list.rs`: Changed …" → the file and what was changed in it. A label that names no file is taken off.
fn split_label(text: &str) -> (Option<&str>, &str) {
    let mut rest = text;
    for mark in [" — ", " – ", ": ", " - "] {
        if let Some((head, tail)) = rest.split_once(mark)
            && (is_numbered(head) || FIX_LABELS.contains(&head.to_lowercase().as_str()))
        {
            rest = tail.trim_start();
        }
    }
    for mark in [": ", " — ", " – ", " - "] {
        if let Some((head, tail)) = rest.split_once(mark)
            && head.split_whitespace().count() <= 3
            && let Some(file) = file_of(head)
        {
            return (Some(file), tail.trim_start());
        }
    }
    (None, rest)
}

/// Labels in front of what was done.
const FIX_LABELS: &[&str] =
    &["fix", "the fix", "the fix is simple", "summary", "solution", "change", "changes"];

/// "Fix 1", "Change 2", "Step 3".
pub(crate) fn is_numbered(label: &str) -> bool {
    let mut words = label.split_whitespace();
    let named = words.next().is_some_and(|word| word.chars().all(char::is_alphabetic));
    let numbered = words.next().is_some_and(|word| word.chars().all(|c| c.is_ascii_digit()));
    named && numbered && words.next().is_none()
}

/// Words of steps that are over with the session.
#[rustfmt::skip]
const PROCESS: &[&str] = &[
    "pushed", "committed", "recompiled", "rebuilt", "restarted", "rebased", "resolved", "conflict", "conflicts", "staged", "pulled", "done",
    "clean", "branch", "commit", "push", "remote", "origin", "main", "running", "server",
];

/// "Conflicts resolved and pushed": a step of the session rather than a change.
fn is_process(item: &str) -> bool {
    content_words(item).iter().filter(|word| !PROCESS.contains(&word.as_str())).count() < PROCESS_WORDS_MIN
}

/// Words besides those of steps that tell a change.
const PROCESS_WORDS_MIN: usize = 2;

/// "`a/b.json` → deleted": little more than a path.
fn is_path(item: &str) -> bool {
    let outside: String = item.split('`').step_by(2).collect::<Vec<_>>().join(" ");
    content_words(&outside).len() < 2
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
