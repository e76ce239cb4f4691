//! Observations of what the user decided, and of what a conversation settled.

use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_core::vocabulary::{PREFERENCE, TRADE_OFF};

use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::decisions;
use crate::draft;
use crate::speech::MarkedSentence;
use crate::text::{clip, content_words, is_name, overlap};

use super::frames::ClaimFrame;
use super::narrative::SAME_SENTENCE;
use super::titles;

/// The request that opened a conversation: its characters, the words it needs, and the share of them that the
/// decision may tell already.
const OPENING_CHARS_MAX: usize = 240;
const OPENING_WORDS_MIN: usize = 4;
const OPENING_OVERLAP: f32 = 0.6;
/// Characters of a title that lists choices.
const CHOICES_TITLE_CHARS: usize = 110;

/// Makes the observation of a decision: what a conversation settled, or the user's own words.
pub(super) fn compose_decision(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let lead = *frame.leads.first()?;
    match &lead.composed {
        Some(composed) => Some(settled(frame, composed)),
        None => Some(stated(frame, lead)),
    }
}

/// What a conversation settled, with the user's earlier reasons and the subject if its recap leaves them out.
fn settled(frame: &ClaimFrame<'_>, composed: &NewObservation) -> NewObservation {
    let mut made = composed.clone();
    // Reasons that the user gave and the recap leaves out.
    let earlier = frame.leads.iter().skip(1).filter(|earlier| earlier.source.is_user());
    let told = content_words(&format!("{} {}", made.narrative, made.facts.join(" ")));
    for earlier in earlier {
        let sentences =
            earlier.composed.as_ref().map_or_else(|| vec![earlier.text.clone()], |c| c.facts.clone());
        let new = |text: &String| overlap(&content_words(text), &told) < SAME_SENTENCE;
        made.facts.extend(sentences.into_iter().filter(new));
    }
    made.facts.extend(unnamed_subject(frame, &made));
    made.facts.extend(opening_request(frame.request, &made));
    made
}

/// A rule, choices or a fact in the user's own words.
fn stated(frame: &ClaimFrame<'_>, lead: &Claim) -> NewObservation {
    let title = if lead.title.is_empty() { titles::sentence_title(&lead.text) } else { lead.title.clone() };
    let kind =
        if lead.kind == ClaimKind::UserFact { ObservationType::DISCOVERY } else { ObservationType::DECISION };
    let mut made = NewObservation::new(kind, title, Origin::User, frame.at);
    if lead.title.is_empty() {
        made.narrative = format!("User: “{}”", lead.text);
    } else {
        made.narrative.clone_from(&lead.text);
        made.facts = frame.leads.iter().skip(1).map(|lead| lead.text.clone()).collect();
        if frame.leads.len() > 1 {
            made.title = choices_title(&frame.leads);
        }
    }
    let statement = MarkedSentence::clause(&lead.text, Language::detect(&lead.text));
    if lead.kind == ClaimKind::Rule && decisions::is_preference(&statement) {
        made.concepts = draft::concepts(&[PREFERENCE]);
    } else if lead.kind == ClaimKind::Choice {
        made.concepts = draft::concepts(&[TRADE_OFF]);
    }
    made
}

/// What the user asked for at first, if the decision does not tell it: the subject that it is about.
fn opening_request(request: &str, made: &NewObservation) -> Option<String> {
    let words = content_words(request);
    let told = content_words(&format!("{} {} {}", made.title, made.narrative, made.facts.join(" ")));
    let is_new = words.len() >= OPENING_WORDS_MIN && overlap(&words, &told) < OPENING_OVERLAP;
    is_new.then(|| format!("Asked at first: “{}”", clip(request, OPENING_CHARS_MAX)))
}

/// The name from code that the conversation was about, if its recap leaves it out.
fn unnamed_subject(frame: &ClaimFrame<'_>, made: &NewObservation) -> Option<String> {
    let told = format!("{} {} {}", made.title, made.narrative, made.facts.join(" "));
    let others = frame.leads.iter().skip(1).chain(&frame.details);
    let words = others.flat_map(|claim| claim.text.split_whitespace());
    let names = words.map(|word| word.trim_matches(|c: char| !c.is_alphanumeric() && !"_()".contains(c)));
    let mut symbols = names.filter(|word| is_name(word) && (word.contains('_') || word.ends_with("()")));
    symbols.find(|name| !told.contains(*name)).map(|name| format!("About {name}"))
}

/// "Shares: On the server; Revoke: Per recipient and 2 more": as many choices as fit, each whole.
fn choices_title(leads: &[&Claim]) -> String {
    let mut title = String::new();
    for (index, lead) in leads.iter().enumerate() {
        if index > 0 && title.chars().count() + lead.title.chars().count() + 2 > CHOICES_TITLE_CHARS {
            return format!("{title} and {} more", leads.len() - index);
        }
        if index > 0 {
            title.push_str("; ");
        }
        title.push_str(&lead.title);
    }
    title
}
