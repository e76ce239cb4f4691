//! Observations from frames.

use std::collections::BTreeSet;

use claude_mem_core::memory::{
    ConsolidatedObservation, NewObservation, ObservationText, ObservationType, Origin,
};
use claude_mem_core::source::TextSource;
use claude_mem_core::vocabulary::{TRADE_OFF, Vocabulary};

use crate::carry::are_alike;
use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::declined;
use crate::draft;
use crate::gates;
use crate::kinds;
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::ranker::{self, RankedSentence};
use crate::report::{is_passive, opens_with_work, without_line_numbers};
use crate::sentences::{TextBlock, TextDocument};
use crate::text::{capitalised, clip, content_words, full_stop, new_words, shared};
use crate::titles::without_brackets;
use crate::turn_outcome::is_prose_file;

use super::abridged_titles::abridged_title;
use super::decision::compose_decision;
use super::finding::compose_finding;
use super::frames::{COMMIT_BODY_CHARS_MIN, ClaimFrame, DETAIL_WORTH_MIN, FrameKind, names_file};
use super::narrative::{NarrativeRoom, StoryBlock, StorySentence, WHOLE_CHARS_MAX, fill};
use super::plan_reason::{self, plan_reason};
use super::points::{brief_list, count_untold, is_point};
use super::split::{TextPlace, place_of};
use super::titles;

/// Weight of the cause that a plan names.
const PLAN_CAUSE_WEIGHT: f32 = 0.7;
/// A commit with a body of this many characters needs no reason of a plan.
const BODY_REASON_CHARS_MIN: usize = 400;
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
    let mut observation = match frame.kind {
        FrameKind::Work => work(frame)?,
        FrameKind::Finding => compose_finding(frame)?,
        FrameKind::Decision => compose_decision(frame)?,
        FrameKind::MemoryFile => memory_file(frame)?,
        FrameKind::Remedy => remedy(frame)?,
        FrameKind::Declined => declined_points(frame)?,
    };
    if matches!(frame.kind, FrameKind::Work | FrameKind::Finding) {
        mark_outside(&mut observation, &frame.details);
    }
    let claims = frame.leads.iter().chain(&frame.details).map(|claim| claim.key.clone()).collect();
    Some((observation, claims))
}

fn work(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let title = titles::work_title(frame).or_else(|| abridged_title(frame).map(|(_, title)| title))?;
    let caused = frame.details.iter().any(|claim| claim.kind == ClaimKind::Cause);
    let kind = work_kind(frame, &title, caused);
    let committed = frame.is_committed();
    let body = commit_body(frame);
    let body_chars: usize = body.iter().map(|sentence| sentence.text.chars().count()).sum();
    let told_by_commit = body_chars >= COMMIT_BODY_CHARS_MIN;
    let mut details = work_details(frame, told_by_commit);
    let mut story = body;
    if !told_by_commit {
        let reported = reported_work(frame);
        if reported.is_empty() {
            story.append(&mut details.story);
        } else {
            // What went wrong comes before what was done about it.
            story.splice(0..0, cause_of_work(frame));
            story.extend(reported);
        }
    }
    let mut extras = details.extras;
    // How it was comes before what was done, or beside a commit that explains itself. A change is not told by its
    // past alone.
    let tells_past = told_by_commit && story.iter().any(|sentence| says_past(&sentence.text));
    if body_chars < BODY_REASON_CHARS_MIN && !story.is_empty() && !tells_past {
        if told_by_commit {
            extras.extend(plan_reason(frame));
        } else {
            story.splice(0..0, plan_reason(frame));
        }
    }
    for lead in frame.leads.iter().filter(|lead| lead.kind == ClaimKind::Commit) {
        if !are_alike(&lead.title, &title) {
            extras.push(StorySentence::single(OTHER_COMMIT_WEIGHT, format!("Also: {}", lead.title)));
        }
    }
    let mut made = NewObservation::new(kind, title, Origin::Agent, frame.at);
    // A commit that explains itself is quoted whole; a longer one by its reasons and its first points.
    let mut whole = told_by_commit && body_chars <= WHOLE_CHARS_MAX;
    if told_by_commit
        && !whole
        && let Some(brief) = brief_list(&story)
    {
        (story, whole) = (brief, true);
    }
    let points: Vec<String> = story.iter().filter(|s| is_point(s)).map(|s| s.text.clone()).collect();
    fill(&mut made, story, extras, if whole { NarrativeRoom::WHOLE } else { NarrativeRoom::SELECTED });
    if told_by_commit && !whole {
        count_untold(&mut made, &points);
    }
    let in_project = |file: &str| !file.starts_with(['/', '~']);
    made.text.files_modified = frame.shown_files().into_iter().filter(|file| in_project(file)).collect();
    made.text.concepts =
        draft::concepts(if caused { &["problem-solution", "what-changed"] } else { &["what-changed"] });
    let told = committed || !made.text.narrative.is_empty() || says_enough(&made.text);
    // "Removed the button" below "Remove the button": the request says as much.
    let repeats = frame.leads.is_empty()
        && !caused
        && titles::is_order(&made.text.title)
        && !gates::names_something(&made.text.title)
        && !gates::names_code(&made.text.narrative)
        && made.text.facts.is_empty()
        && new_words(&made.text.title, &made.text.narrative) < REPORT_NEW_WORDS_MIN;
    let styles =
        !committed && !caused && gates::is_styling(&format!("{} {}", made.text.title, made.text.narrative));
    (told && !styles && !repeats).then_some(made)
}

/// Whether a commit says itself how it was before.
fn says_past(text: &str) -> bool {
    text.to_lowercase().contains("previously")
}

/// Words that a report must add to the request that it is told below.
const REPORT_NEW_WORDS_MIN: usize = 6;

/// The title of a change that says nothing else must have this many words that mean something, fewer if it names a
/// file that was changed.
const TITLE_ALONE_WORDS_MIN: usize = 8;
const FILE_TITLE_WORDS_MIN: usize = 4;

/// Whether the title alone tells a change of code. What nobody committed and says less is a step on the way.
fn says_enough(text: &ObservationText) -> bool {
    let is_prose = text.files_modified.iter().all(|file| is_prose_file(file));
    let names = |file: &String| file.rsplit('/').next().is_some_and(|name| text.title.contains(name));
    let names_changed = text.files_modified.iter().any(names);
    let least = if names_changed { FILE_TITLE_WORDS_MIN } else { TITLE_ALONE_WORDS_MIN };
    !is_prose && content_words(&text.title).len() >= least
}

/// What kind of work a change is: the commit's own word, a repair if a cause was found, else by its verbs. Texts for
/// people are no features.
fn work_kind(frame: &ClaimFrame<'_>, title: &str, caused: bool) -> ObservationType {
    let lead = frame.leads.first();
    let stated = lead.and_then(|lead| lead.work.clone());
    let files = frame.shown_files();
    let is_prose = !files.is_empty() && files.iter().all(|file| is_prose_file(file));
    // A fault that was only written down is not repaired.
    if is_prose && lead.is_none() && !says_work(title) && titles::task_title(frame).is_none() {
        return ObservationType::DISCOVERY;
    }
    let repaired = (caused && !frame.is_committed()).then_some(ObservationType::BUGFIX);
    let kind = stated.or(repaired).or_else(|| kinds::by_verb(title)).unwrap_or(ObservationType::CHANGE);
    if is_prose && kind == ObservationType::FEATURE { ObservationType::CHANGE } else { kind }
}

/// Whether a title says that something was done, or orders it.
fn says_work(title: &str) -> bool {
    // "The callback is never called" says how it is.
    let states = title.split_whitespace().take(5).any(|word| matches!(word, "is" | "are" | "was" | "were"));
    opens_with_work(title) || (is_passive(title) && !states) || titles::is_order(title)
}

/// Weight of the first item of a report; those behind it weigh a little less, so that the first ones are told.
const REPORT_WEIGHT: f32 = 0.74;
/// Weight of the cause of a change that is told by a report.
const CAUSE_WEIGHT: f32 = 0.95;
/// Words that a cause shares with the change that it belongs to.
const CAUSE_SHARED_WORDS_MIN: usize = 2;
/// Sentences of a plan that name the cause.
const PLAN_CAUSES_MAX: usize = 2;

/// What the agent's report says was done, in its order.
fn reported_work(frame: &ClaimFrame<'_>) -> Vec<StorySentence> {
    let only_file = match frame.files.as_slice() {
        [file] => file.rsplit('/').next().map(|name| format!("`{name}`: ")),
        _ => None,
    };
    let items = frame.report.iter().enumerate();
    let told = items.map(|(place, item)| {
        // The only file of a change is named once.
        let again = only_file.as_deref().filter(|_| place > 0);
        let bare = again.and_then(|file| item.strip_prefix(file)).map(capitalised);
        let text = bare.unwrap_or_else(|| (*item).to_owned());
        StorySentence::single(REPORT_WEIGHT - 0.01 * place as f32, text)
    });
    told.collect()
}

/// The cause of the problem that a change solved: in the words of its report, else of its plan.
fn cause_of_work(frame: &ClaimFrame<'_>) -> Option<StorySentence> {
    let heads = frame.leads.iter().map(|lead| lead.headline()).chain(frame.report.iter().copied());
    let told: BTreeSet<String> = heads.chain([frame.request]).flat_map(content_words).collect();
    // A cause of something else, such as an edit that failed on the way, shares no words with the work.
    let belongs = |claim: &Claim| {
        shared(&content_words(&claim.passage()), &told) >= CAUSE_SHARED_WORDS_MIN
            || frame.files.iter().any(|file| names_file(&claim.text, file))
    };
    let stands = |claim: &&Claim| {
        claim.kind == ClaimKind::Cause
            && gates::stands_alone(&claim.text)
            && gates::has_verb(&claim.text)
            && !gates::is_passing_trouble(&claim.text)
            && belongs(claim)
    };
    let (planned, said): (Vec<&Claim>, Vec<&Claim>) =
        frame.details.iter().copied().filter(stands).partition(|claim| claim.source == TextSource::Plan);
    let best = said.into_iter().max_by(|a, b| a.worth.total_cmp(&b.worth));
    let text = match best {
        Some(cause) => titles::without_cause_label(&cause.passage()),
        None => {
            let mut planned = planned;
            planned.sort_by_key(|claim| claim.place.index);
            let sentences: Vec<String> =
                planned.iter().take(PLAN_CAUSES_MAX).map(|claim| full_stop(&claim.text)).collect();
            sentences.join(" ")
        }
    };
    let text = without_line_numbers(&text);
    // The label is English, like the words that it introduces.
    let label = if Language::detect(&text) == Language::English { "Cause: " } else { "" };
    (!text.is_empty()).then(|| StorySentence::single(CAUSE_WEIGHT, format!("{label}{text}")))
}

/// The statements of the commits' bodies; those of a pull request only if no commit says more than its title.
fn commit_body(frame: &ClaimFrame<'_>) -> Vec<StorySentence> {
    let of_kind = |kind: ClaimKind| -> Vec<StorySentence> {
        frame.leads.iter().filter(|lead| lead.kind == kind).flat_map(|lead| body_sentences(lead)).collect()
    };
    let committed = of_kind(ClaimKind::Commit);
    if committed.is_empty() { of_kind(ClaimKind::PullRequest) } else { committed }
}

/// Sentences with their weights: those that tell a change or finding, and those that add to it.
#[derive(Default)]
struct ToldSentences {
    story: Vec<StorySentence>,
    extras: Vec<StorySentence>,
}

/// What was said about a change. One text tells it, so that its sentences belong together; other texts add causes,
/// caveats and what the user wished. A commit that explains itself leaves all of them to the extras, and takes only
/// what was said after it: what was said before it may have changed on the way.
fn work_details(frame: &ClaimFrame<'_>, told_by_commit: bool) -> ToldSentences {
    let committed = frame.is_committed();
    let reported = frame.details.iter().any(|claim| claim.kind != ClaimKind::Finished);
    let main = main_text(&frame.details);
    let landed = frame.leads.iter().filter(|lead| lead.kind == ClaimKind::Commit).map(|lead| lead.at).max();
    let mut told = ToldSentences::default();
    for claim in &frame.details {
        if matches!(claim.kind, ClaimKind::Rule | ClaimKind::Choice) {
            told.extras.push(StorySentence::single(claim.worth, format!("The user: “{}”", claim.text)));
            continue;
        }
        // What the user stated beside a request is told in the account.
        if claim.kind == ClaimKind::UserFact {
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
        } else if claim.source == TextSource::Plan && plan_reason::speaks_of_plan(&claim.text) {
            // What is still to be done is over with the plan.
        } else if claim.source == TextSource::Plan {
            // What was meant to be done counts less than what the report says was done.
            told.story.push(StorySentence::of_claim(claim.worth * 0.55, claim));
        } else if worthy && !task {
            let weight = claim.worth + explaining_bonus(claim.kind);
            if main == Some(place_of(claim)) && !told_by_commit && frame.report.is_empty() {
                told.story.push(StorySentence::of_claim(weight, claim));
            } else if adds_reason(claim) && landed.is_none_or(|landed| claim.at >= landed || explains(claim))
            {
                told.extras.push(StorySentence::single(weight.min(EXTRA_WEIGHT_MAX), claim.passage()));
            }
        }
    }
    told
}

/// Whether a sentence before the commit says why something was wrong: the commit does not change that.
fn explains(claim: &Claim) -> bool {
    matches!(claim.kind, ClaimKind::Cause | ClaimKind::DeadEnd) && claim.source != TextSource::Message
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
    claim.worth >= least
        && gates::stands_alone(&claim.text)
        && !claim.place.listed
        && !gates::supposes(&claim.text)
        && !gates::speaks_to_reader(&claim.text)
        && !gates::is_passing_trouble(&claim.text)
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

/// Weight of the first point of a list in the body of a commit, below that of its prose.
const LISTED_WEIGHT: f32 = 0.74;

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
            // The first points of a list rather than a choice of them.
            _ => (LISTED_WEIGHT - 0.005 * index as f32, 0.0),
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

fn memory_file(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let sections: BTreeSet<&str> = frame.details.iter().map(|claim| claim.section.as_str()).collect();
    let lesson =
        sections.first().filter(|_| sections.len() == 1).and_then(|heading| titles::lesson_title(heading));
    let best = || titles::best(frame, |claim| gates::stands_alone(&claim.text));
    let title = lesson.or_else(|| best().map(|claim| titles::sentence_title(&claim.text)))?;
    let mut made = NewObservation::new(ObservationType::DISCOVERY, title, Origin::Agent, frame.at);
    let lines =
        frame.details.iter().map(|claim| StorySentence::single(claim.worth, claim.text.as_str())).collect();
    fill(&mut made, lines, Vec::new(), NarrativeRoom::SELECTED);
    made.text.concepts = draft::concepts(&["pattern"]);
    Some(made)
}

/// The points of a review that were declined: their names are the title, their reasons the narrative.
fn declined_points(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let points: Vec<(&str, &Claim)> = frame
        .details
        .iter()
        .filter_map(|claim| Some((declined::point_with_reason(&claim.text)?.0, *claim)))
        .collect();
    let section = points.first()?.1.section.trim_end_matches(':');
    let mut title = format!("{}: ", capitalised(section));
    for (place, (name, _)) in points.iter().enumerate() {
        let name = without_brackets(name);
        if title.chars().count() + name.chars().count() + 2 > OBSERVATION_TITLE_CHARS_MAX {
            break;
        }
        title.push_str(if place == 0 { "" } else { "; " });
        title.push_str(&name);
    }
    let mut made = NewObservation::new(ObservationType::DECISION, title, Origin::Agent, frame.at);
    let told: Vec<String> = points.iter().map(|(_, claim)| full_stop(&claim.text)).collect();
    made.text.narrative = told.join(" ");
    if !frame.request.is_empty() && !frame.request.contains(['?', '？']) {
        made.text.facts.push(format!("Decided during: “{}”", clip(frame.request, REQUEST_CHARS_MAX)));
    }
    made.text.concepts = draft::concepts(&[TRADE_OFF]);
    Some(made)
}

/// Characters of the request during which something was decided.
const REQUEST_CHARS_MAX: usize = 240;

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
