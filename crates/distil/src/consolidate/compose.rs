//! Observations from frames.

use claude_mem_core::memory::{ConsolidatedObservation, NewObservation, ObservationType, Origin};
use claude_mem_core::source::TextSource;
use claude_mem_core::vocabulary::Vocabulary;

use crate::carry::are_alike;
use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::draft;
use crate::gates;
use crate::kinds;
use crate::ranker::{self, RankedSentence};
use crate::sentences::{self, TextBlock, TextDocument};
use crate::text::{content_words, one_line};

use super::decision::compose_decision;
use super::frames::{ClaimFrame, FrameKind};
use super::narrative::{StoryBlock, StorySentence, fill};
use super::split::{TextPlace, place_of};
use super::titles;

/// A detail of a change must be this likely to be worth remembering.
const DETAIL_WORTH_MIN: f32 = 0.4;
/// A finding that says nothing beyond its title must be this likely to be worth remembering.
const TITLE_ALONE_WORTH_MIN: f32 = 0.8;
/// The title of a change that says nothing else must have this many words that mean something, fewer if it
/// names something from code.
const TITLE_ALONE_WORDS_MIN: usize = 8;
const NAMED_TITLE_WORDS_MIN: usize = 4;
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
            are_alike(&known.observation.text.title, &observation.text.title)
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
        FrameKind::Decision => compose_decision(frame)?,
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
    let body_chars: usize = body.iter().map(|sentence| sentence.text.chars().count()).sum();
    let told_by_commit = body_chars >= BODY_CHARS_MIN;
    let details = work_details(frame, told_by_commit);
    let mut story = body;
    if !told_by_commit {
        story.extend(details.story);
    }
    // What was done comes first, then how it was before.
    if body_chars < BODY_REASON_CHARS_MIN {
        story.extend(plan_reason(frame));
    }
    let mut extras = details.extras;
    for lead in frame.leads.iter().filter(|lead| lead.kind == ClaimKind::Commit) {
        if !are_alike(&lead.title, &title) {
            extras.push(StorySentence::single(OTHER_COMMIT_WEIGHT, format!("Also: {}", lead.title)));
        }
    }
    if story.is_empty() && extras.is_empty() && !committed {
        return None;
    }
    let mut made = NewObservation::new(kind, title, Origin::Agent, frame.at);
    fill(&mut made, story, extras);
    made.text.files_modified.clone_from(&frame.files);
    made.text.concepts =
        draft::concepts(if caused { &["problem-solution", "what-changed"] } else { &["what-changed"] });
    mark_outside(&mut made, &frame.details);
    let least =
        if gates::names_something(&made.text.title) { NAMED_TITLE_WORDS_MIN } else { TITLE_ALONE_WORDS_MIN };
    let says = content_words(&made.text.title).len() >= least;
    let told = committed || !made.text.narrative.is_empty() || says;
    let styles =
        !committed && !caused && gates::is_styling(&format!("{} {}", made.text.title, made.text.narrative));
    (told && !styles).then_some(made)
}

/// The statements of the commits' bodies; those of a pull request only if no commit says more than its title.
fn commit_body(frame: &ClaimFrame<'_>) -> Vec<StorySentence> {
    let of_kind = |kind: ClaimKind| -> Vec<StorySentence> {
        frame.leads.iter().filter(|lead| lead.kind == kind).flat_map(|lead| body_sentences(lead)).collect()
    };
    let committed = of_kind(ClaimKind::Commit);
    if committed.is_empty() { of_kind(ClaimKind::PullRequest) } else { committed }
}

/// Why a plan was made. Its problem is past once the work is done, so it is told as the reason.
fn plan_reason(frame: &ClaimFrame<'_>) -> Option<StorySentence> {
    let plan = frame.leads.iter().find(|lead| lead.kind == ClaimKind::Plan)?;
    let reason = reason_sentences(&plan.text);
    (!reason.is_empty()).then(|| StorySentence::single(PLAN_REASON_WEIGHT, format!("Before: {reason}")))
}

/// The first sentences of a plan's reason, without those that refer to something before it.
fn reason_sentences(text: &str) -> String {
    let line = one_line(text);
    let sentences = sentences::split(&line).into_iter().skip_while(|sentence| gates::refers_back(sentence));
    sentences::join_fitting(sentences, REASON_CHARS)
}

/// Sentences with their weights: those that tell a change or finding, and those that add to it.
#[derive(Default)]
struct ToldSentences {
    story: Vec<StorySentence>,
    extras: Vec<StorySentence>,
}

/// What was said about a change. One text tells it, so that its sentences belong together; other texts add
/// causes, caveats and the user's words. A commit that explains itself leaves all of them to the extras.
fn work_details(frame: &ClaimFrame<'_>, told_by_commit: bool) -> ToldSentences {
    let committed = frame.is_committed();
    let reported = frame.details.iter().any(|claim| claim.kind != ClaimKind::Finished);
    let main = main_text(&frame.details);
    let mut told = ToldSentences::default();
    for claim in &frame.details {
        let said = matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice | ClaimKind::UserFact);
        if said {
            told.extras.push(StorySentence::single(claim.worth, format!("The user: “{}”", claim.text)));
            continue;
        }
        // The names of tasks say no more than the report does.
        let task = claim.kind == ClaimKind::Finished && (reported || committed);
        let worthy = claim.worth >= DETAIL_WORTH_MIN || (claim.kind == ClaimKind::Done && !committed);
        if claim.source == TextSource::Plan && claim.kind == ClaimKind::Cause {
            if !gates::stands_alone(&claim.text) || !gates::has_verb(&claim.text) {
                continue;
            }
            told.story.push(StorySentence::single(PLAN_CAUSE_WEIGHT, format!("Cause: {}", claim.text)));
        } else if claim.source == TextSource::Plan {
            // What was meant to be done counts less than what the report says was done.
            told.story.push(StorySentence::of_claim(claim.worth * 0.55, claim));
        } else if worthy && !task {
            let weight = claim.worth + explaining_bonus(claim.kind);
            if main == Some(place_of(claim)) && !told_by_commit {
                told.story.push(StorySentence::of_claim(weight, claim));
            } else if adds_reason(claim) {
                told.extras.push(StorySentence::single(weight.min(EXTRA_WEIGHT_MAX), claim.passage()));
            }
        }
    }
    told
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
fn body_sentences(lead: &Claim) -> Vec<StorySentence> {
    let document = TextDocument::read(&lead.text);
    let count = document.sentences.len();
    let mut statements = Vec::new();
    for (index, sentence) in document.sentences.iter().enumerate() {
        let text = sentence.text.trim_end_matches('.').to_owned();
        if content_words(&text).len() < 4 || text.ends_with([':', '：']) {
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
        let block = match sentence.block {
            TextBlock::Prose => StoryBlock::Paragraph(u32::try_from(sentence.paragraph).unwrap_or(u32::MAX)),
            _ => StoryBlock::List(sentence.section.clone()),
        };
        statements.push(StorySentence { weight: weight * (least + share * ranked), text, block });
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
    let told = |claims: Vec<&Claim>| -> Vec<StorySentence> {
        claims.into_iter().map(|claim| StorySentence::of_claim(claim.worth, claim)).collect()
    };
    fill(&mut made, told(story), told(other));
    made.text.concepts = draft::concepts(&["how-it-works"]);
    mark_outside(&mut made, &frame.details);
    // A title alone must name something from code, or it is a remark about a passing state.
    let says = frame.best_worth() >= TITLE_ALONE_WORTH_MIN && made.text.title.contains('`');
    let told = !made.text.narrative.is_empty() || says;
    told.then_some(made)
}

fn memory_file(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let title = titles::best(frame, |claim| gates::stands_alone(&claim.text))?;
    let mut made = NewObservation::new(
        ObservationType::DISCOVERY,
        titles::sentence_title(&title.text),
        Origin::Agent,
        frame.at,
    );
    let lines =
        frame.details.iter().map(|claim| StorySentence::single(claim.worth, claim.text.as_str())).collect();
    fill(&mut made, lines, Vec::new());
    made.text.concepts = draft::concepts(&["pattern"]);
    Some(made)
}

fn remedy(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let lead = *frame.leads.first()?;
    let mut made =
        NewObservation::new(ObservationType::DISCOVERY, lead.title.clone(), Origin::Agent, frame.at);
    made.text.narrative.clone_from(&lead.text);
    made.text.concepts = draft::concepts(&["problem-solution", "gotcha"]);
    Some(made)
}

/// A memory most of whose words come from outside is the web's.
fn mark_outside(made: &mut NewObservation, details: &[&Claim]) {
    let outside = details.iter().filter(|claim| claim.outside).count();
    if outside * 2 > details.len().max(1) {
        made.origin = Origin::Web;
    }
}
