//! Observations from frames.

use claude_mem_core::memory::{
    ConsolidatedObservation, NewObservation, ObservationText, ObservationType, Origin,
};
use claude_mem_core::vocabulary::{TRADE_OFF, Vocabulary};
use std::collections::BTreeSet;

use crate::carry::are_alike;
use crate::claim::{Claim, ClaimKind, EpisodeClaims};
use crate::cues::Language;
use crate::declined;
use crate::draft;
use crate::gates;
use crate::kinds;
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use crate::text::{capitalised, clip, content_words, full_stop, new_words, overlap};
use crate::titles::without_brackets;
use crate::turn_outcome::{TurnOutcome, is_build_output, is_prose_file};

use super::abridged_titles::abridged_title;
use super::decision::compose_decision;
use super::decision_outcome;
use super::finding::compose_finding;
use super::finding_title;
use super::frames::{COMMIT_BODY_CHARS_MIN, ClaimFrame, FrameKind};
use super::later_work::later_work;
use super::narrative::{NarrativeRoom, fill};
use super::open_items;
use super::plan_reason::plan_reason;
use super::points::{WHOLE_CHARS_MAX, brief_list, is_point};
use super::story::StorySentence;
use super::title_echo::leave_out_echo;
use super::title_form;
use super::title_label;
use super::title_score;
use super::titles;
use super::work_story::{cause_of_work, commit_body, reported_work, work_details};

/// A commit with a body of this many characters needs no reason of a plan.
const BODY_REASON_CHARS_MIN: usize = 400;
/// What was lacking before a feature is told beside its commit if the commit tells less than this share of it.
const LACK_OVERLAP: f32 = 0.4;
/// Weight of the subject of another commit of the same change.
const OTHER_COMMIT_WEIGHT: f32 = 0.62;

/// Makes one observation of each frame that has a title that stands alone.
pub(super) fn compose_observations(
    frames: &[ClaimFrame<'_>],
    episodes: &[&EpisodeClaims],
    vocabulary: &Vocabulary,
) -> Vec<ConsolidatedObservation> {
    let ended = open_items::ended(episodes);
    // With the titles by which they are compared: the same plan in front of two decisions does not make them one.
    let mut made: Vec<(String, ConsolidatedObservation)> = Vec::new();
    for frame in frames {
        let Some((mut observation, claims)) = compose(frame) else {
            continue;
        };
        let own_title = observation.text.title.clone();
        match frame.kind {
            FrameKind::Work => observation.text.facts.extend(endings(frame, frames, &ended)),
            FrameKind::Decision => decision_outcome::name_outcome(&mut observation, frame, episodes),
            _ => {}
        }
        leave_out_echo(&mut observation.text);
        if is_bare_remark(frame, &observation.text) {
            continue;
        }
        let Some(observation) = draft::finish(observation, vocabulary) else {
            continue;
        };
        match made.iter_mut().find(|(title, _)| are_alike(title, &own_title)) {
            Some((_, known)) => known.claims.extend(claims),
            None => made.push((own_title, ConsolidatedObservation { claims, observation })),
        }
    }
    made.into_iter().map(|(_, observation)| observation).collect()
}

/// What became of a change later in the session.
fn endings(frame: &ClaimFrame<'_>, frames: &[ClaimFrame<'_>], ended: &TurnOutcome) -> Vec<String> {
    let later = later_work(frame, frames).map(|later| format!("Later in the session: {later}"));
    let refused = is_refused(frame, ended).then(|| REFUSED_FACT.to_owned());
    later.into_iter().chain(refused).collect()
}

/// Whether nothing is left of what was found out but a title: a remark on the way, or that the fault is not the
/// agent's.
fn is_bare_remark(frame: &ClaimFrame<'_>, text: &ObservationText) -> bool {
    let is_bare = matches!(frame.kind, FrameKind::Finding | FrameKind::Remedy)
        && text.narrative.is_empty()
        && text.facts.is_empty();
    let is_short = content_words(&text.title).len() < REMARK_WORDS_MIN
        && Language::detect(&text.title) == Language::English
        && !TELLING_WORDS.iter().any(|word| text.title.contains(word));
    is_bare && (is_short || text.title.contains("pre-existing"))
}

/// A title of fewer words that mean something tells nothing alone, unless it joins two statements.
const REMARK_WORDS_MIN: usize = 9;
const TELLING_WORDS: &[&str] =
    &[" because ", " but ", " since ", " so that ", " only when ", " unless ", " instead of "];

/// Told of a change whose commit did not go through.
const REFUSED_FACT: &str = "Not committed at the end of the session: a hook refused the commit";

/// Whether the session ended with a refused commit of this change.
fn is_refused(frame: &ClaimFrame<'_>, ended: &TurnOutcome) -> bool {
    frame.kind == FrameKind::Work
        && !frame.is_committed()
        && ended.refused.is_some()
        && frame.files.iter().any(|file| ended.uncommitted.contains(file))
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
    let reason = lacked_before(frame, &story, &kind, body_chars);
    if told_by_commit {
        extras.extend(reason.clone());
    } else {
        story.splice(0..0, reason.clone());
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
    fill(&mut made, story, extras, if whole { NarrativeRoom::WHOLE } else { NarrativeRoom::SELECTED });
    // What only says how it was before does not tell the change.
    let is_past = |reason: &StorySentence| made.text.narrative == full_stop(&reason.text);
    if !committed && made.text.facts.is_empty() && reason.as_ref().is_some_and(is_past) {
        made.text.narrative.clear();
    }
    let is_source = |file: &String| !file.starts_with(['/', '~']) && !is_build_output(file);
    made.text.files_modified = frame.shown_files().into_iter().filter(is_source).collect();
    made.text.concepts =
        draft::concepts(if caused { &["problem-solution", "what-changed"] } else { &["what-changed"] });
    let story = format!("{} {}", made.text.narrative, made.text.facts.join(" "));
    let told = committed || !story.trim().is_empty() || says_enough(&made.text);
    // "Removed the button" below "Remove the button": the request says as much.
    let repeats = frame.leads.is_empty()
        && !caused
        && title_form::is_order(&made.text.title)
        && !gates::names_something(&made.text.title)
        && !gates::names_code(&story)
        && new_words(&made.text.title, &story) < REPORT_NEW_WORDS_MIN;
    let said = format!("{} {story} {}", made.text.title, frame.report.join(" "));
    let styles = !committed && !caused && gates::is_styling(&said);
    (told && !styles && !repeats).then_some(made)
}

/// How it was before a change. It comes before what was done, or beside a commit that explains itself; a change is not
/// told by its past alone.
fn lacked_before(
    frame: &ClaimFrame<'_>,
    story: &[StorySentence],
    kind: &ObservationType,
    body_chars: usize,
) -> Option<StorySentence> {
    let told_by_commit = body_chars >= COMMIT_BODY_CHARS_MIN;
    let tells_past = told_by_commit && story.iter().any(|sentence| says_past(&sentence.text));
    if body_chars >= BODY_REASON_CHARS_MIN || story.is_empty() || tells_past {
        return None;
    }
    let reason = plan_reason(frame)?;
    let is_feature = told_by_commit && *kind != ObservationType::BUGFIX && !story.iter().all(is_point);
    // The commit of a feature often says itself what was lacking.
    let told: BTreeSet<String> = story.iter().flat_map(|sentence| content_words(&sentence.text)).collect();
    let is_told = overlap(&content_words(&reason.text), &told) >= LACK_OVERLAP;
    (!is_feature || !is_told).then_some(reason)
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
    if is_prose && lead.is_none() && !title_form::says_work(title) && titles::task_title(frame).is_none() {
        return ObservationType::DISCOVERY;
    }
    let repaired = (caused && !frame.is_committed()).then_some(ObservationType::BUGFIX);
    let kind = stated.or(repaired).or_else(|| kinds::by_verb(title)).unwrap_or(ObservationType::CHANGE);
    if is_prose && kind == ObservationType::FEATURE { ObservationType::CHANGE } else { kind }
}

fn memory_file(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let sections: BTreeSet<&str> = frame.details.iter().map(|claim| claim.section.as_str()).collect();
    let lesson = sections
        .first()
        .filter(|_| sections.len() == 1)
        .and_then(|heading| finding_title::lesson_title(heading));
    let best = || title_score::best(frame, |claim| gates::stands_alone(&claim.text));
    let title = lesson.or_else(|| best().map(|claim| title_label::sentence_title(&claim.text)))?;
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
