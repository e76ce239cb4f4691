//! Claims in the texts that the agent writes: its final message, its messages during the turn, the reports
//! of its subagents, the client's recap and compaction summary.

use claude_mem_core::clock::Millis;
use claude_mem_core::source::TextSource;
use std::collections::BTreeSet;

use crate::claim::{Claim, ClaimKind};
use crate::cues::{self, CueKind, Language};
use crate::declined;
use crate::gates;
use crate::ranker::{self, RankedSentence};
use crate::sentence_context::{
    block_start, is_status_report, place_of, sentence_before, sentences_after, whole_block, without_label,
};
use crate::sentences::{TextBlock, TextDocument, TextSentence};
use crate::speech::MarkedSentence;
use crate::text::{capitalised, without_bold};
use crate::titles::{task_name, without_speaker};

use crate::named_causes::{is_guess, is_hypothesis, is_labelled_cause, names_cause};
use crate::offered_options::{asks_to_choose, option_paragraphs};
use crate::remaining_work::is_open;

/// Sentences below this are not kept as claims.
pub(crate) const CLAIM_WORTH_MIN: f32 = 0.35;
/// A message of so few sentences is short.
const SHORT_SENTENCES_MAX: usize = 3;
/// The first sentence of a final message, if it says what was done.
const LEAD_WORTH_MIN: f32 = 0.02;
/// A sentence of a short message during the turn must be a cause, and at least this likely.
const INTURN_WORTH_MIN: f32 = 0.35;
/// What a sentence is given where there is no ranker: enough only if cues say what it is.
const UNRANKED_WORTH: f32 = 0.5;
/// From this score on a message is a report.
const REPORT_SCORE_MIN: f32 = 6.0;

/// The heading of a text stands among so many sentences at its beginning.
const OPENING_SENTENCES: usize = 6;

/// Extracts the claims of one text of the agent.
pub(crate) fn agent_claims(source: TextSource, text: &str, at: Millis, group: u32) -> Vec<Claim> {
    let document = TextDocument::read(text);
    let language = Language::detect(text);
    let report = source == TextSource::FinalMessage || report_score(&document, text) >= REPORT_SCORE_MIN;
    // A structured message during the turn is as good as a final one.
    let ranked_as = if report { TextSource::FinalMessage } else { source };
    let count = document.sentences.len();
    let is_short = count <= SHORT_SENTENCES_MAX;
    let options = option_paragraphs(&document);
    let is_status = is_status_report(&document);
    let last = document.sentences.last().map(|last| last.paragraph);
    let mut closing = document.sentences.iter().filter(|sentence| Some(sentence.paragraph) == last);
    let offers_choice = closing.any(|sentence| asks_to_choose(&sentence.text));
    let opening = document.sentences.iter().take(OPENING_SENTENCES);
    let heading = opening.enumerate().find(|(_, sentence)| sentence.block == TextBlock::Heading);
    let mut claims: Vec<Claim> = Vec::new();
    let mut claimed: Vec<usize> = Vec::new();
    for (index, sentence) in document.sentences.iter().enumerate() {
        let is_fragment = sentence.text.starts_with('(')
            || (offers_choice && sentence.block == TextBlock::Item)
            || is_checked_off(&sentence.text)
            || is_listing(sentence)
            || gates::names_option(&sentence.text)
            || is_instruction(sentence);
        if options.contains(&sentence.paragraph) || is_transient(&sentence.text) || is_fragment {
            continue;
        }
        let place = RankedSentence { text: &sentence.text, source: ranked_as, index, count };
        let Some((kind, worth)) = sentence_kind(sentence, &place, language) else {
            continue;
        };
        // "The list now has a cursor": what holds now was done.
        let says_done =
            is_short && kind == ClaimKind::Fact && cues::mark(&sentence.text, language).has(CueKind::Done);
        let kind = if says_done { ClaimKind::Done } else { kind };
        let wanted = match (source, kind) {
            // Where the work stood is past tomorrow; the client's own account says how it ended.
            (TextSource::FinalMessage | TextSource::Message, _) if is_status => kind == ClaimKind::Open,
            // What is open in the middle of a turn is often done at its end.
            (TextSource::Message, ClaimKind::Open) => false,
            (_, ClaimKind::Open) | (TextSource::Recap, _) => true,
            (TextSource::SubagentReport, ClaimKind::Cause) => worth >= INTURN_WORTH_MIN,
            (TextSource::SubagentReport, _) => false,
            // The report's lead says what was done; a short message says nothing else.
            (TextSource::FinalMessage, ClaimKind::Done) if index == 0 || is_short => worth >= LEAD_WORTH_MIN,
            (TextSource::FinalMessage, ClaimKind::Cause) if is_short => worth >= LEAD_WORTH_MIN,
            _ if report => worth >= CLAIM_WORTH_MIN,
            _ => kind == ClaimKind::Cause && worth >= INTURN_WORTH_MIN,
        };
        if !wanted {
            continue;
        }
        let Some(before) = sentence_before(&document, index) else {
            continue;
        };
        let said = without_label(&strip_marks(&sentence.text));
        let mut claim = Claim::new(kind, source, capitalised(&said), at);
        claim.group = group;
        claim.worth = worth;
        claim.alone = ranker::rank(&place, language).map_or(claim.alone, |rank| rank.alone);
        claim.section.clone_from(&sentence.section);
        if let Some((at, heading)) = heading
            && at < index
        {
            claim.topic.clone_from(&heading.text);
        }
        claim.place = place_of(sentence, index);
        claim.before = before;
        claim.after = sentences_after(&document, index);
        claims.push(claim);
        claimed.push(index);
    }
    let mut blocks = BTreeSet::new();
    for (claim, index) in claims.iter_mut().zip(&claimed) {
        if blocks.insert(block_start(&document, *index)) {
            claim.block = whole_block(&document, *index, |at| claimed.contains(&at));
        }
    }
    claims
}

/// A line of a checklist: "Same name throughout. ✅".
fn is_checked_off(text: &str) -> bool {
    text.trim_end().ends_with(['✅', '✓', '✔', '☑'])
}

/// What holds only now or here: process numbers, line numbers, the state of the checkout.
fn is_transient(text: &str) -> bool {
    if gates::is_session_talk(text) {
        return true;
    }
    let line = text.strip_prefix("Line ").or_else(|| text.strip_prefix("line "));
    text.contains("(PID")
        || text.contains("PID ")
        || line.is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
}

/// A row of a listing: "7 — Rename the flag — cli — 2d".
fn is_listing(sentence: &TextSentence) -> bool {
    let cells: Vec<&str> = sentence.text.split(" — ").collect();
    let numbered =
        cells.first().is_some_and(|cell| cell.trim().chars().all(|c| c.is_ascii_digit() || c == '#'));
    sentence.block == TextBlock::Row && (cells.len() > 3 || (numbered && cells.len() > 1))
}

/// A step that the reader is to take: "Step 2: Click Generate", an order in a list of steps.
fn is_instruction(sentence: &TextSentence) -> bool {
    let section = sentence.section.to_lowercase();
    let steps =
        section.starts_with("step ") || section.contains("you need to") || section.contains("to verify");
    // "Cloud console — Create a client": the place stands in front.
    let behind = sentence.text.split_once(" — ").map_or("", |(_, rest)| rest);
    matches!(sentence.block, TextBlock::Item | TextBlock::Row)
        && steps
        && (gates::opens_with_step(&sentence.text) || gates::opens_with_step(behind))
}

/// Whether the agent takes back what it said in the turn before.
pub(crate) fn takes_back(text: &str) -> bool {
    const OPENINGS: &[&str] = &[
        "you're right",
        "you are right",
        "good catch",
        "fair point",
        "my mistake",
        "i was wrong",
        "my bad",
        "apologies",
        "sorry, i",
        "fair. ",
        "i misread",
        "i misunderstood",
        "du hast recht",
        "tienes razón",
        "vous avez raison",
        "tu as raison",
    ];
    let lower = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase().replace('’', "'");
    OPENINGS.iter().any(|opening| lower.starts_with(opening))
}

/// The sentence without a speaker, a check mark or a list label in front of it.
fn strip_marks(text: &str) -> String {
    let text = text.trim_start_matches(|c: char| "✅✓✔❌⚠️→•-*".contains(c) || c.is_whitespace());
    without_bold(without_speaker(text)).trim().to_owned()
}

/// How much a message looks like a report: long, structured, with findings; not a question, not a plan.
pub(crate) fn report_score(document: &TextDocument, text: &str) -> f32 {
    let count = |block: TextBlock| document.sentences.iter().filter(|s| s.block == block).count();
    let mut score = (text.chars().count() as f32 / 300.0).min(10.0)
        + 2.0 * count(TextBlock::Heading).min(4) as f32
        + count(TextBlock::Item).min(8) as f32
        + count(TextBlock::Row).min(4) as f32;
    let language = Language::detect(text);
    let causes = document.sentences.iter().any(|s| cues::mark(&s.text, language).has(CueKind::Cause));
    score += if causes { 4.0 } else { 0.0 };
    if text.trim_end().ends_with('?') {
        score -= 6.0;
    }
    if document.sentences.first().is_some_and(|s| gates::is_commentary(&s.text)) {
        score -= 5.0;
    }
    score
}

/// The share of its worth that a supposition keeps.
const SUPPOSED_SHARE: f32 = 0.7;

/// The share of its worth that advice to the reader keeps.
const ADVICE_SHARE: f32 = 0.75;

/// What a declined point of a review is worth.
const DECLINED_WORTH: f32 = 0.6;

/// What kind of claim a sentence is, with its worth. `None`: it claims nothing.
fn sentence_kind(
    sentence: &TextSentence,
    place: &RankedSentence<'_>,
    language: Language,
) -> Option<(ClaimKind, f32)> {
    let text = sentence.text.as_str();
    if matches!(sentence.block, TextBlock::Heading | TextBlock::Quote) || text.ends_with([':', '：']) {
        return None;
    }
    // Why a point of a review was declined is asked again at the next review.
    if sentence.block == TextBlock::Item
        && place.source == TextSource::FinalMessage
        && declined::is_heading(&sentence.section)
        && declined::point_with_reason(&without_bold(text)).is_some()
    {
        return Some((ClaimKind::Decision, DECLINED_WORTH));
    }
    let statement = MarkedSentence::clause(text, language);
    let marks = &statement.marks;
    if statement.is_bare() || statement.words.len() < 3 || gates::is_quotation(text) {
        return None;
    }
    let worth = ranker::worth(place, language).unwrap_or(UNRANKED_WORTH);
    let section = cues::mark(&sentence.section, language);
    if is_open(sentence, &statement, &section) {
        return Some((ClaimKind::Open, worth));
    }
    if gates::is_commentary(text) || marks.has(CueKind::Propose) || section.has(CueKind::Next) {
        return None;
    }
    if marks.has(CueKind::Verified) && !marks.has(CueKind::Cause) && statement.words.len() < 9 {
        return None;
    }
    // "`list.rs` — added a cursor": what changed in a file, which the code itself shows.
    let listed = matches!(sentence.block, TextBlock::Item | TextBlock::Row) && starts_with_file(text);
    // A row of three or more cells compares things; its columns are lost.
    let compares = sentence.block == TextBlock::Row && text.matches(" — ").count() >= 2;
    let worth = if listed || compares { worth * 0.8 } else { worth };
    let hedged = marks.has(CueKind::Hedge);
    let kind = if marks.has(CueKind::Fruitless) && (marks.has(CueKind::Tried) || marks.has(CueKind::Cause)) {
        ClaimKind::DeadEnd
    } else if names_cause(text, language) && !hedged {
        ClaimKind::Cause
    } else if marks.opens(CueKind::Done) || (marks.has(CueKind::Done) && starts_with_work(text)) {
        ClaimKind::Done
    } else if decides(&statement) {
        ClaimKind::Decision
    } else if marks.has(CueKind::Caveat) {
        ClaimKind::Caveat
    } else {
        ClaimKind::Fact
    };
    // Without a ranker only what cues name is kept.
    let known = language == Language::English || kind != ClaimKind::Fact;
    let unsettled = matches!(kind, ClaimKind::Cause | ClaimKind::DeadEnd) && is_hypothesis(text);
    let guess = unsettled || (kind == ClaimKind::Fact && is_guess(text));
    // What is only supposed is worth less than what was seen.
    let worth = if kind == ClaimKind::Fact && is_hypothesis(text) { worth * SUPPOSED_SHARE } else { worth };
    // Advice to the reader of the message is over with the conversation.
    let advises = kind == ClaimKind::Fact && gates::first_word(text).starts_with("you");
    let worth = if advises { worth * ADVICE_SHARE } else { worth };
    // The name of the task titles the work that the report tells.
    let names_task = task_name(text, place.index).is_some();
    let worth = if names_task { worth.max(CLAIM_WORTH_MIN) } else { worth };
    // A cause that says so is worth keeping, whatever else the sentence looks like.
    let worth = if kind == ClaimKind::Cause && is_labelled_cause(text) { worth.max(0.6) } else { worth };
    (known && !guess).then_some((kind, worth))
}

fn starts_with_file(text: &str) -> bool {
    let first = text.split_whitespace().next().unwrap_or_default();
    let name = first.trim_matches(|c: char| "`*:,".contains(c));
    let ending = name.rsplit_once('.').map_or("", |(_, ending)| ending);
    (1..=5).contains(&ending.len()) && ending.chars().all(char::is_alphanumeric)
}

fn decides(statement: &MarkedSentence) -> bool {
    let marks = &statement.marks;
    let lower = statement.text.to_lowercase();
    let says = |phrases: &[&str]| phrases.iter().any(|phrase| lower.contains(phrase));
    says(&["decided", "chose ", "deliberately", "on purpose", "by design"])
        || ((marks.has(CueKind::Choice) || says(&["instead of", "rather than"]))
            && marks.has(CueKind::Reason))
}

/// "I changed …", "Added …": the verb stands in front.
fn starts_with_work(text: &str) -> bool {
    let bare = without_speaker(text);
    let first = gates::first_word(bare);
    bare.len() < text.len() && first.ends_with("ed")
}

#[cfg(test)]
#[path = "agent_claims_tests.rs"]
mod tests;
