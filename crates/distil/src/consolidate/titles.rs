//! Titles of consolidated observations, in a fixed order: commit or pull request, plan, cause, the report's
//! best sentence, the request as a statement.

use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::gates;
use crate::named_causes::names_cause;
use crate::past_tense::title_as_done;
use crate::report;
use crate::text::{capitalised, content_words};
use crate::titles::task_name;
use crate::verbs::has_verb;

use super::commit_title::lead_title;
use super::frames::ClaimFrame;
use super::title_form::{TITLE_CHARS_MAX, is_order, is_title, reads_as_title, tells_status};
use super::title_label::{behind_label, sentence_title};
use super::title_score::{POINTING, best, own_title_score};

/// What was done titles a change before its cause does, if it is this likely to be worth remembering.
const TITLE_WORTH_MIN: f32 = 0.3;

/// The title of a change. An order is told as done.
pub(super) fn work_title(frame: &ClaimFrame<'_>) -> Option<String> {
    named_title(frame).map(|title| title_as_done(&title))
}

fn named_title(frame: &ClaimFrame<'_>) -> Option<String> {
    let lead = frame.leads.iter().find(|lead| !lead.title.is_empty());
    if let Some(lead) = lead {
        return Some(lead_title(lead));
    }
    let labelled = best(frame, |claim| claim.text.to_lowercase().contains("root cause") && is_title(claim));
    if let Some(claim) = labelled {
        return Some(sentence_title(&claim.text));
    }
    let done = |least: f32| {
        best(frame, |claim| {
            claim.kind == ClaimKind::Done
                && claim.worth >= least
                && is_title(claim)
                && !gates::speaks_to_reader(&claim.text)
        })
    };
    let cause = || best(frame, |claim| claim.kind == ClaimKind::Cause && is_title(claim));
    let other = || {
        best(frame, |claim| {
            is_title(claim)
                && own_title_score(claim) >= OTHER_TITLE_SCORE_MIN
                && behind_label(&sentence_title(&claim.text)).is_some()
                && !gates::speaks_to_reader(&claim.text)
        })
    };
    let title = |claim: &Claim| {
        let title = sentence_title(&claim.text);
        behind_label(&title).unwrap_or(title)
    };
    let requested = request_title(frame.request);
    // The only sentence is told below the request, rather than alone as a title.
    let lone = requested.clone().filter(|_| frame.details.len() == 1);
    lone.or_else(|| done(TITLE_WORTH_MIN).map(title))
        // The cause is over once the work is done; the narrative tells it.
        .or_else(|| report_title(&frame.report))
        .or_else(|| cause().map(title))
        .or(requested)
        .or_else(|| done(0.0).or_else(other).map(title))
        .or_else(|| task_title(frame))
}

/// The name of the task that a report opens with.
pub(super) fn task_title(frame: &ClaimFrame<'_>) -> Option<String> {
    let reported = |claim: &&Claim| claim.source == TextSource::FinalMessage && !claim.place.listed;
    let mut names = frame.details.iter().copied().filter(reported).filter_map(|claim| {
        task_name(&claim.text, claim.place.index as usize).filter(|_| !tells_status(&claim.text))
    });
    names.next().filter(|name| name.chars().count() <= TITLE_CHARS_MAX).map(capitalised)
}

/// The first item of a report that says what was done and stands alone, without the file in front of it.
fn report_title(report: &[&str]) -> Option<String> {
    report.iter().find_map(|item| {
        let bare = match item.split_once(": ") {
            Some((label, rest)) if label.starts_with('`') && label.ends_with('`') => rest,
            _ => item,
        };
        // The heading of a repaired fault.
        if bare.starts_with(report::FIXED_LABEL) && bare.chars().count() <= TITLE_CHARS_MAX {
            return Some(bare.trim_end_matches('.').to_owned());
        }
        // "Moved the cursor into the store: a; b": the list is told below it.
        let lead = bare.split_once(": ").map_or("", |(lead, _)| lead);
        let is_whole = ['`', '"'].iter().all(|mark| lead.matches(*mark).count().is_multiple_of(2));
        let leads = is_whole && has_verb(lead) && content_words(lead).len() >= LEAD_WORDS_MIN;
        let title = sentence_title(if leads { lead } else { bare });
        let works = report::opens_with_work(&title) || (leads && report::is_passive(&title));
        let lower = format!(" {} ", title.to_lowercase());
        let points = POINTING.iter().any(|word| lower.contains(word));
        (works
            && !points
            && !gates::speaks_to_reader(&title)
            && reads_as_title(&title, bare)
            && !title.ends_with('…'))
        .then_some(title)
    })
}

/// Words that mean something in a sentence that introduces a list, if it is a title.
const LEAD_WORDS_MIN: usize = 3;

/// A sentence that neither says what was done nor why titles a change if it reads at least this well.
const OTHER_TITLE_SCORE_MIN: f32 = 0.35;

/// What a change did, for the account: its title, unless that is a cause.
pub(super) fn done_title(frame: &ClaimFrame<'_>) -> Option<String> {
    if frame.leads.iter().any(|lead| !lead.title.is_empty()) {
        return work_title(frame);
    }
    let done = best(frame, |claim| claim.kind == ClaimKind::Done && is_title(claim));
    request_title(frame.request).or_else(|| done.map(|claim| sentence_title(&claim.text)))
}

/// Requests that are questions, whatever their punctuation.
#[rustfmt::skip]
const ASKING: &[&str] = &[
    "do you", "can you", "can we", "could you", "could we", "would you", "will you", "is there", "are there",
    "what", "why", "how", "when", "where", "who", "which",
];

/// The request, if it reads as a statement of work: "Add a filter to the list".
fn request_title(request: &str) -> Option<String> {
    let first = crate::sentences::split(request).first().map(|s| (*s).to_owned()).unwrap_or_default();
    let lower = first.to_lowercase();
    let plain = !first.contains(['?', ':'])
        && !gates::is_dangling(&first)
        && gates::first_word(&first) != "something"
        && !names_cause(&first, Language::English)
        && !ASKING.iter().any(|start| lower.starts_with(start));
    let words = content_words(&first).len();
    let wishes = first.contains(" should ") && !lower.contains("n't ") && !lower.contains(" not work");
    let asks = is_order(&first) || wishes;
    let concrete = words >= 5 || gates::names_something(&first);
    let fits = plain && asks && concrete && (3..=16).contains(&words) && first.chars().count() <= 140;
    fits.then(|| sentence_title(&crate::user_claims::as_statement(&first)))
}
