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
use crate::text::{
    capitalised, clip, content_words, full_stop, is_name, one_line, overlap, shared, without_bold,
};

use super::frames::{ClaimFrame, FrameKind};
use super::split::{TextPlace, place_of};
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
/// The title of a change that says nothing else must have this many words that mean something, fewer if it
/// names something from code.
const TITLE_ALONE_WORDS_MIN: usize = 8;
const NAMED_TITLE_WORDS_MIN: usize = 4;
/// The request that opened a conversation: its characters, the words it needs, and the share of them that the
/// decision may tell already.
const OPENING_CHARS_MAX: usize = 240;
const OPENING_WORDS_MIN: usize = 4;
const OPENING_OVERLAP: f32 = 0.6;
/// Characters of a plan's reason, and its weight among the sentences.
const REASON_CHARS: usize = 280;
const PLAN_REASON_WEIGHT: f32 = 0.58;
/// Weight of the cause that a plan names.
const PLAN_CAUSE_WEIGHT: f32 = 0.7;
/// A commit with a body of this many characters explains itself; with this many it needs no reason of a plan.
const BODY_CHARS_MIN: usize = 160;
const BODY_REASON_CHARS_MIN: usize = 80;
/// What is told beside such a body must be this likely to be worth remembering.
const EXTRA_WORTH_MIN: f32 = 0.5;
const EXTRA_FACT_WORTH_MIN: f32 = 0.65;
const INTURN_EXTRA_WORTH_MIN: f32 = 0.6;
/// Extras weigh less than the reasons of a commit, so that they must say something new.
const EXTRA_WEIGHT_MAX: f32 = 0.74;
/// Weight of the subject of another commit of the same change.
const OTHER_COMMIT_WEIGHT: f32 = 0.62;
/// Characters of a title that lists choices.
const CHOICES_TITLE_CHARS: usize = 110;
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
    let committed = frame.is_committed();
    let body = commit_body(frame);
    let body_chars: usize = body.iter().map(|(_, text)| text.chars().count()).sum();
    let told_by_commit = body_chars >= BODY_CHARS_MIN;
    let details = work_details(frame, told_by_commit);
    let mut story = body;
    if body_chars < BODY_REASON_CHARS_MIN {
        story.extend(plan_reason(frame));
    }
    if !told_by_commit {
        story.extend(details.story);
    }
    let mut extras = details.extras;
    for lead in frame.leads.iter().filter(|lead| lead.kind == ClaimKind::Commit) {
        if !crate::carry::are_alike(&lead.title, &title) {
            extras.push((OTHER_COMMIT_WEIGHT, format!("Also: {}", lead.title)));
        }
    }
    if story.is_empty() && extras.is_empty() && !committed {
        return None;
    }
    let mut made = NewObservation::new(kind, title, Origin::Agent, frame.at);
    fill(&mut made, story, extras);
    made.files_modified.clone_from(&frame.files);
    made.concepts =
        draft::concepts(if caused { &["problem-solution", "what-changed"] } else { &["what-changed"] });
    mark_outside(&mut made, &frame.details);
    let least =
        if gates::names_something(&made.title) { NAMED_TITLE_WORDS_MIN } else { TITLE_ALONE_WORDS_MIN };
    let says = content_words(&made.title).len() >= least;
    let told = committed || !made.narrative.is_empty() || says;
    told.then_some(made)
}

/// The statements of the commits' bodies; those of a pull request only if no commit says more than its title.
fn commit_body(frame: &ClaimFrame<'_>) -> Vec<(f32, String)> {
    let of_kind = |kind: ClaimKind| -> Vec<(f32, String)> {
        frame.leads.iter().filter(|lead| lead.kind == kind).flat_map(|lead| body_sentences(lead)).collect()
    };
    let committed = of_kind(ClaimKind::Commit);
    if committed.is_empty() { of_kind(ClaimKind::PullRequest) } else { committed }
}

/// Why a plan was made. Its problem is past once the work is done, so it is told as the reason.
fn plan_reason(frame: &ClaimFrame<'_>) -> Option<(f32, String)> {
    let plan = frame.leads.iter().find(|lead| lead.kind == ClaimKind::Plan)?;
    let reason = whole_sentences(&plan.text, REASON_CHARS);
    (!reason.is_empty()).then(|| (PLAN_REASON_WEIGHT, format!("Why: {reason}")))
}

/// Sentences with their weights: those that tell a change or finding, and those that add to it.
#[derive(Default)]
struct WeighedSentences {
    story: Vec<(f32, String)>,
    extras: Vec<(f32, String)>,
}

/// What was said about a change. One text tells it, so that its sentences belong together; other texts add
/// causes, caveats and the user's words. A commit that explains itself leaves all of them to the extras.
fn work_details(frame: &ClaimFrame<'_>, told_by_commit: bool) -> WeighedSentences {
    let committed = frame.is_committed();
    let reported = frame.details.iter().any(|claim| claim.kind != ClaimKind::Finished);
    let main = main_text(&frame.details);
    let mut sentences = WeighedSentences::default();
    for claim in &frame.details {
        let said = matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact);
        if said {
            sentences.extras.push((claim.worth, format!("The user: “{}”", claim.text)));
            continue;
        }
        // The names of tasks say no more than the report does.
        let task = claim.kind == ClaimKind::Finished && (reported || committed);
        let worthy = claim.worth >= DETAIL_WORTH_MIN || (claim.kind == ClaimKind::Done && !committed);
        if claim.source == TextSource::Plan && claim.kind == ClaimKind::Cause {
            sentences.story.push((PLAN_CAUSE_WEIGHT, format!("Cause: {}", claim.text)));
        } else if claim.source == TextSource::Plan {
            // What was meant to be done counts less than what the report says was done.
            sentences.story.push((claim.worth * 0.55, claim.text.clone()));
        } else if worthy && !task {
            let weighed = (claim.worth + explaining_bonus(claim.kind), claim.text.clone());
            if main == Some(place_of(claim)) && !told_by_commit {
                sentences.story.push(weighed);
            } else if adds_reason(claim) {
                sentences.extras.push((weighed.0.min(EXTRA_WEIGHT_MAX), weighed.1));
            }
        }
    }
    sentences
}

const fn explaining_bonus(kind: ClaimKind) -> f32 {
    match kind {
        ClaimKind::Cause | ClaimKind::DeadEnd => 0.25,
        ClaimKind::Decision => 0.1,
        _ => 0.0,
    }
}

/// Whether a sentence says what a commit or another text leaves out, rather than what was done.
fn adds_reason(claim: &Claim) -> bool {
    let least = match claim.kind {
        ClaimKind::Cause | ClaimKind::DeadEnd | ClaimKind::Caveat | ClaimKind::Decision => EXTRA_WORTH_MIN,
        ClaimKind::Fact => EXTRA_FACT_WORTH_MIN,
        _ => return false,
    };
    // What was said in the middle of a turn is often corrected at its end.
    let least = if claim.source == TextSource::Message { least.max(INTURN_EXTRA_WORTH_MIN) } else { least };
    claim.worth >= least && !gates::speaks_to_reader(&claim.text) && !gates::is_passing_trouble(&claim.text)
}

/// The text that says most about a change or finding; the later of equals, because it knows more.
fn main_text(details: &[&Claim]) -> Option<TextPlace> {
    let mut texts: Vec<(TextPlace, f32)> = Vec::new();
    let spoken = |claim: &&&Claim| claim.source != TextSource::Plan && claim.kind != ClaimKind::Finished;
    for claim in details.iter().filter(spoken) {
        let place = place_of(claim);
        match texts.iter_mut().find(|(known, _)| *known == place) {
            Some((_, worth)) => *worth += claim.worth,
            None => texts.push((place, claim.worth)),
        }
    }
    texts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1).then(a.0.1.cmp(&b.0.1))).map(|(place, _)| place)
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
    let main = main_text(&frame.details);
    let worthy = frame.details.iter().filter(|claim| claim.worth >= DETAIL_WORTH_MIN);
    let (story, other): (Vec<&Claim>, Vec<&Claim>) =
        worthy.copied().partition(|claim| main == Some(place_of(claim)));
    let weighed =
        |claims: Vec<&Claim>| claims.iter().map(|claim| (claim.worth, claim.text.clone())).collect();
    fill(&mut made, weighed(story), weighed(other));
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
            made.title = choices_title(&frame.leads);
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

fn memory_file(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let title = titles::best(frame, |claim| gates::stands_alone(&claim.text))?;
    let mut made = NewObservation::new(
        ObservationType::DISCOVERY,
        titles::sentence_title(&title.text),
        Origin::Agent,
        frame.at,
    );
    let lines = frame.details.iter().map(|claim| (claim.worth, claim.text.clone())).collect();
    fill(&mut made, lines, Vec::new());
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

/// Fills narrative and facts with sentences: the weightiest of the story into the narrative, in the order
/// they were said; the rest of the story and the extras become facts. A sentence that adds nothing to what
/// is told, or refers to one that is not told, is left out.
fn fill(made: &mut NewObservation, story: Vec<(f32, String)>, extras: Vec<(f32, String)>) {
    let mut told: Vec<BTreeSet<String>> = vec![content_words(&made.title)];
    let mut narrative: Vec<(usize, String)> = Vec::new();
    let mut rest: Vec<(f32, String)> = Vec::new();
    let mut used = 0;
    for (order, weight, text) in by_weight(story) {
        let refers = gates::refers_back(&text);
        let follows = order > 0 && narrative.iter().any(|(known, _)| *known + 1 == order);
        if is_told(&told, &made.title, &text) || (refers && !follows) {
            continue;
        }
        let chars = text.chars().count() + 1;
        let has_room = used + chars <= NARRATIVE_CHARS.min(OBSERVATION_NARRATIVE_CHARS_MAX)
            && narrative.len() < NARRATIVE_SENTENCES_MAX;
        if has_room && (narrative.is_empty() || weight >= DETAIL_WORTH_MIN) {
            used += chars;
            told.push(content_words(&text));
            narrative.push((order, beyond_title(&made.title, &text)));
        } else {
            rest.push((weight, text));
        }
    }
    narrative.sort_by_key(|(order, _)| *order);
    let sentences: Vec<String> = narrative.into_iter().map(|(_, text)| full_stop(&text)).collect();
    made.narrative = sentences.join(" ");
    rest.extend(extras);
    let mut chars = 0;
    for (_, weight, text) in by_weight(rest) {
        let words = content_words(&text);
        chars += text.chars().count() + 1;
        let fits = !gates::refers_back(&text)
            && has_fact_room(weight, made.facts.len(), chars)
            && !is_told(&told, &made.title, &text)
            && (weight >= REASON_WEIGHT || adds_words(&told, &words));
        if fits {
            made.facts.push(text.trim_end_matches('.').to_owned());
            told.push(words);
        } else {
            chars -= text.chars().count() + 1;
        }
    }
    if made.narrative.is_empty() && !made.facts.is_empty() {
        made.narrative = full_stop(&made.facts.remove(0));
    }
}

/// Sentences with their place and weight, the weightiest first.
fn by_weight(sentences: Vec<(f32, String)>) -> Vec<(usize, f32, String)> {
    let numbered = sentences.into_iter().enumerate();
    let mut ranked: Vec<_> =
        numbered.map(|(order, (weight, text))| (order, weight, without_bold(&text))).collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    ranked
}

/// Whether the title or a sentence before it says the same.
fn is_told(told: &[BTreeSet<String>], title: &str, text: &str) -> bool {
    let words = content_words(text);
    let held = |known: &BTreeSet<String>| shared(known, &words) as f32 >= SAME_SENTENCE * words.len() as f32;
    let repeats = told.iter().any(|known| overlap(known, &words) >= SAME_SENTENCE || held(known))
        || crate::carry::are_alike(title, text);
    repeats && !told_more(title, text)
}

/// Words after which the rest of a sentence cannot stand without its beginning.
#[rustfmt::skip]
const BOUND_WORDS: &[&str] = &[
    "which", "that", "who", "to", "with", "in", "on", "for", "from", "by", "of", "as", "at", "where", "when", "while", "or",
    "than", "whose", "including", "via", "into", "so", "but", "then", "e.g", "i.e", "not", "if", "after", "before",
];
/// Words that the rest of a sentence needs to be told alone.
const REST_WORDS_MIN: usize = 4;

/// A sentence whose beginning is the title, without that beginning if the rest stands alone.
fn beyond_title(title: &str, text: &str) -> String {
    let Some(rest) = text.strip_prefix(title) else {
        return text.to_owned();
    };
    let rest = rest.trim_start_matches(|c: char| c.is_whitespace() || ",;:.—–-".contains(c));
    let rest = rest.strip_prefix("and ").unwrap_or(rest);
    if let Some(reason) = rest.strip_prefix("because ") {
        return format!("Reason: {reason}");
    }
    let bound = BOUND_WORDS.contains(&gates::first_word(rest).as_str()) || rest.starts_with('(');
    let stands = content_words(rest).len() >= REST_WORDS_MIN && !bound && gates::has_verb(rest);
    if stands { capitalised(rest) } else { text.to_owned() }
}

/// The first sentences of a text that fit.
fn whole_sentences(text: &str, chars_max: usize) -> String {
    let line = one_line(text);
    let mut told = String::new();
    for sentence in crate::sentences::split(&line) {
        if told.is_empty() && gates::refers_back(sentence) {
            continue;
        }
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
