//! Observations from frames.

use std::collections::BTreeSet;

use claude_mem_core::limits::OBSERVATION_NARRATIVE_CHARS_MAX;
use claude_mem_core::memory::{ConsolidatedObservation, NewObservation, ObservationType, Origin};
use claude_mem_core::source::TextSource;
use claude_mem_core::vocabulary::{PREFERENCE, TRADE_OFF, Vocabulary};

use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::decisions;
use crate::draft;
use crate::gates;
use crate::kinds;
use crate::ranker::{self, RankedSentence};
use crate::sentences::{TextBlock, TextDocument};
use crate::speech::MarkedSentence;
use crate::text::{clip, content_words, full_stop, is_name, one_line, overlap};

use super::frames::{ClaimFrame, FrameKind};
use super::titles;

/// Characters of a narrative that are filled with sentences.
const NARRATIVE_CHARS: usize = 500;
const NARRATIVE_SENTENCES_MAX: usize = 5;
/// Facts of one observation, and all their characters.
const FACTS_MAX: usize = 2;
/// Sentences of this weight are the prose of a commit: its reasons.
const REASON_WEIGHT: f32 = 0.75;
const REASONS_MAX: usize = 5;
const REASONS_CHARS: usize = 700;
const FACTS_CHARS: usize = 400;
/// A detail of a change must be this likely to be worth remembering.
const DETAIL_WORTH_MIN: f32 = 0.4;
/// A detail beyond the narrative must be this likely.
const FACT_WORTH_MIN: f32 = 0.6;
/// A finding that says nothing beyond its title must be this likely to be worth remembering.
const TITLE_ALONE_WORTH_MIN: f32 = 0.8;
/// The title of a change without a narrative names something from code, or has this many words.
const PLAIN_TITLE_WORDS_MIN: usize = 4;
/// The request that opened a conversation: its characters, the words it needs, and the share of them that the
/// decision may tell already.
const OPENING_CHARS_MAX: usize = 240;
const OPENING_WORDS_MIN: usize = 4;
const OPENING_OVERLAP: f32 = 0.6;
/// Characters of a plan's reason.
const BEFORE_CHARS: usize = 280;
/// The share of a fact's words that must be new.
const NEW_FACT_SHARE: f32 = 0.45;
/// Two sentences that share this much say the same.
const SAME_SENTENCE: f32 = 0.8;

/// Makes one observation of each frame that has a title that stands alone.
pub(super) fn compose_observations(
    frames: &[ClaimFrame<'_>],
    vocabulary: &Vocabulary,
) -> Vec<ConsolidatedObservation> {
    let mut made: Vec<ConsolidatedObservation> = Vec::new();
    for frame in frames {
        let Some((observation, claims)) = compose(frame) else {
            continue;
        };
        let Some(observation) = draft::finish(observation, vocabulary) else {
            continue;
        };
        let same = |known: &&mut ConsolidatedObservation| {
            crate::carry::are_alike(&known.observation.title, &observation.title)
        };
        match made.iter_mut().find(same) {
            Some(known) => known.claims.extend(claims),
            None => made.push(ConsolidatedObservation { claims, observation }),
        }
    }
    made
}

fn compose(frame: &ClaimFrame<'_>) -> Option<(NewObservation, Vec<String>)> {
    let observation = match frame.kind {
        FrameKind::Work => work(frame)?,
        FrameKind::Finding => finding(frame)?,
        FrameKind::Decision => decision(frame)?,
        FrameKind::MemoryFile => memory_file(frame)?,
        FrameKind::Remedy => remedy(frame)?,
    };
    let claims = frame.leads.iter().chain(&frame.details).map(|claim| claim.key.clone()).collect();
    Some((observation, claims))
}

fn work(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let title = titles::work_title(frame)?;
    let lead = frame.leads.first();
    let caused = frame.details.iter().any(|claim| claim.kind == ClaimKind::Cause);
    let repaired = (caused && lead.is_none()).then_some(ObservationType::BUGFIX);
    let kind = lead
        .and_then(|lead| lead.work.clone())
        .or(repaired)
        .or_else(|| kinds::by_verb(&title))
        .unwrap_or(ObservationType::CHANGE);
    let mut sentences: Vec<(f32, String)> = Vec::new();
    for lead in &frame.leads {
        match lead.kind {
            ClaimKind::Commit | ClaimKind::PullRequest => {
                sentences.extend(body_sentences(lead));
                if !crate::carry::are_alike(&lead.title, &title) {
                    sentences.push((0.75, lead.title.clone()));
                }
            }
            // A plan's reason is the state before the work.
            _ => {
                let reason = whole_sentences(&lead.text, BEFORE_CHARS);
                if !reason.is_empty() {
                    sentences.push((0.58, format!("Before: {reason}")));
                }
            }
        }
    }
    let committed = frame.is_committed();
    let reported = frame.details.iter().any(|claim| claim.kind != ClaimKind::Finished);
    for claim in &frame.details {
        // The names of tasks say no more than the report does.
        if claim.kind == ClaimKind::Finished && (reported || committed) {
            continue;
        }
        let bonus = match claim.kind {
            ClaimKind::Cause | ClaimKind::DeadEnd => 0.25,
            ClaimKind::Decision => 0.1,
            _ => 0.0,
        };
        let planned = claim.source == TextSource::Plan;
        let said = matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact);
        if said {
            sentences.push((claim.worth, format!("The user: “{}”", claim.text)));
        } else if planned {
            // What was meant to be done counts less than what the report says was done.
            sentences.push((claim.worth * 0.55, claim.text.clone()));
        } else if claim.worth >= DETAIL_WORTH_MIN || (claim.kind == ClaimKind::Done && !committed) {
            sentences.push((claim.worth + bonus, claim.text.clone()));
        }
    }
    if sentences.is_empty() && !committed {
        return None;
    }
    let mut made = NewObservation::new(kind, title, Origin::Agent, frame.at);
    fill(&mut made, sentences);
    made.files_modified.clone_from(&frame.files);
    made.concepts =
        draft::concepts(if caused { &["problem-solution", "what-changed"] } else { &["what-changed"] });
    mark_outside(&mut made, &frame.details);
    let says =
        gates::names_something(&made.title) || content_words(&made.title).len() >= PLAIN_TITLE_WORDS_MIN;
    let told = committed || !made.narrative.is_empty() || says;
    told.then_some(made)
}

/// The statements of the body of a commit or pull request, with their weights: prose says why, and a list
/// says what, item by item.
fn body_sentences(lead: &Claim) -> Vec<(f32, String)> {
    let document = TextDocument::read(&lead.text);
    let count = document.sentences.len();
    let mut statements = Vec::new();
    for (index, sentence) in document.sentences.iter().enumerate() {
        let text = sentence.text.trim_end_matches('.').to_owned();
        if content_words(&text).len() < 4 {
            continue;
        }
        let place = RankedSentence { text: &text, source: TextSource::FinalMessage, index, count };
        let ranked = ranker::worth(&place, Language::detect(&text)).unwrap_or(0.5);
        let (least, share) = match sentence.block {
            // The first sentence says what it is about, mostly the cause.
            TextBlock::Prose if index == 0 => (1.0, 0.3),
            TextBlock::Prose => (0.75, 0.3),
            _ => (0.5, 0.5),
        };
        let weight = if lead.kind == ClaimKind::Commit { 1.0 } else { 0.8 };
        statements.push((weight * (least + share * ranked), text));
    }
    statements
}

fn finding(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let title = titles::finding_title(frame)?;
    let mut made = NewObservation::new(ObservationType::DISCOVERY, title, Origin::Agent, frame.at);
    let worthy = frame.details.iter().filter(|claim| claim.worth >= DETAIL_WORTH_MIN);
    fill(&mut made, worthy.map(|claim| (claim.worth, claim.text.clone())).collect());
    made.concepts = draft::concepts(&["how-it-works"]);
    mark_outside(&mut made, &frame.details);
    let best = frame.best_worth();
    let told = !made.narrative.is_empty() || best >= TITLE_ALONE_WORTH_MIN;
    told.then_some(made)
}

fn decision(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let lead = *frame.leads.first()?;
    if let Some(composed) = &lead.composed {
        let mut made = (**composed).clone();
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
        return Some(made);
    }
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
            let labels: Vec<String> = frame.leads.iter().map(|lead| short_choice(lead)).collect();
            made.title = labels.join("; ");
        }
    }
    let statement = MarkedSentence::clause(&lead.text, Language::detect(&lead.text));
    if lead.kind == ClaimKind::Rule && decisions::is_preference(&statement) {
        made.concepts = draft::concepts(&[PREFERENCE]);
    } else if lead.kind == ClaimKind::Choice {
        made.concepts = draft::concepts(&[TRADE_OFF]);
    }
    Some(made)
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

/// "Shares: On the server — Where are shares stored" → "Shares: On the server".
fn short_choice(lead: &Claim) -> String {
    lead.title.split(" — ").next().unwrap_or(&lead.title).to_owned()
}

fn memory_file(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let title = titles::best(frame, |claim| gates::stands_alone(&claim.text))?;
    let mut made = NewObservation::new(
        ObservationType::DISCOVERY,
        titles::sentence_title(&title.text),
        Origin::Agent,
        frame.at,
    );
    fill(&mut made, frame.details.iter().map(|claim| (claim.worth, claim.text.clone())).collect());
    made.concepts = draft::concepts(&["pattern"]);
    Some(made)
}

fn remedy(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let lead = *frame.leads.first()?;
    let mut made =
        NewObservation::new(ObservationType::DISCOVERY, lead.title.clone(), Origin::Agent, frame.at);
    made.narrative.clone_from(&lead.text);
    made.concepts = draft::concepts(&["problem-solution", "gotcha"]);
    Some(made)
}

/// Fills narrative and facts with sentences: the weightiest first into the narrative, in the order they were
/// said; the rest become facts. A sentence that adds nothing to what is told, or refers to one that is not
/// told, is left out.
fn fill(made: &mut NewObservation, sentences: Vec<(f32, String)>) {
    let mut ranked: Vec<(usize, f32, String)> = sentences
        .into_iter()
        .enumerate()
        .map(|(order, (weight, text))| (order, weight, text.replace("**", "")))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let title = content_words(&made.title);
    let mut told: Vec<BTreeSet<String>> = vec![title];
    let mut narrative: Vec<(usize, String)> = Vec::new();
    let (mut used, mut fact_chars, mut facts) = (0, 0, Vec::new());
    for (order, weight, text) in ranked {
        let words = content_words(&text);
        let repeats = told.iter().any(|known| overlap(known, &words) >= SAME_SENTENCE)
            || crate::carry::are_alike(&made.title, &text);
        let refers = gates::refers_back(&text);
        let follows = order > 0 && narrative.iter().any(|(known, _)| *known + 1 == order);
        if (repeats && !told_more(&made.title, &text)) || (refers && !follows) {
            continue;
        }
        let chars = text.chars().count() + 1;
        let first = narrative.is_empty();
        let has_room = used + chars <= NARRATIVE_CHARS.min(OBSERVATION_NARRATIVE_CHARS_MAX)
            && narrative.len() < NARRATIVE_SENTENCES_MAX;
        if has_room && (first || weight >= DETAIL_WORTH_MIN) {
            used += chars;
            narrative.push((order, text));
        } else if !refers
            && has_fact_room(weight, facts.len(), fact_chars + chars)
            && (weight >= REASON_WEIGHT || adds_words(&told, &words))
        {
            fact_chars += chars;
            facts.push(text.trim_end_matches('.').to_owned());
        } else {
            continue;
        }
        told.push(words);
    }
    narrative.sort_by_key(|(order, _)| *order);
    let told: Vec<String> = narrative.into_iter().map(|(_, text)| full_stop(&text)).collect();
    made.narrative = told.join(" ");
    made.facts = facts;
}

/// The first sentences of a text that fit.
fn whole_sentences(text: &str, chars_max: usize) -> String {
    let line = one_line(text);
    let mut told = String::new();
    for sentence in crate::sentences::split(&line) {
        if told.chars().count() + sentence.chars().count() + 1 > chars_max {
            break;
        }
        if !told.is_empty() {
            told.push(' ');
        }
        told.push_str(sentence);
    }
    told
}

/// Whether there is room for a fact of this weight. Reasons that a commit gives have more of it.
fn has_fact_room(weight: f32, facts: usize, chars: usize) -> bool {
    match weight {
        REASON_WEIGHT.. => facts < REASONS_MAX && chars <= REASONS_CHARS,
        FACT_WORTH_MIN.. => facts < FACTS_MAX && chars <= FACTS_CHARS,
        _ => false,
    }
}

/// Whether a fact has enough words that nothing before it has.
fn adds_words(told: &[BTreeSet<String>], words: &BTreeSet<String>) -> bool {
    let new = words.iter().filter(|word| !told.iter().any(|known| known.contains(*word))).count();
    new as f32 >= NEW_FACT_SHARE * words.len() as f32
}

/// Whether a sentence whose beginning is the title goes on after it: "The button is hidden, because …".
fn told_more(title: &str, text: &str) -> bool {
    let (title, text) = (content_words(title).len(), content_words(text).len());
    text >= title + 3
}

/// A memory most of whose words come from outside is the web's.
fn mark_outside(made: &mut NewObservation, details: &[&Claim]) {
    let outside = details.iter().filter(|claim| claim.outside).count();
    if outside * 2 > details.len().max(1) {
        made.origin = Origin::Web;
    }
}
