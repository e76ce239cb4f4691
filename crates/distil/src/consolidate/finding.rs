//! Findings: what a turn found out without a change, told by the paragraph or list that the title stands in.

use claude_mem_core::memory::{NewObservation, ObservationText, ObservationType, Origin};

use crate::claim::Claim;
use crate::draft;
use crate::gates;
use crate::sentences;
use crate::text::{capitalised, content_words, new_words, shared, without_openers};

use super::abridged_titles::abridged_title;
use super::finding_title;
use super::frames::{ClaimFrame, DETAIL_WORTH_MIN};
use super::list_intro;
use super::narrative::{NarrativeRoom, fill};
use super::split::place_of;
use super::story::{StoryBlock, StorySentence};
use super::title_echo::leave_out_echo;
use super::title_label;

/// A finding that says nothing beyond its title must be this likely to be worth remembering.
const TITLE_ALONE_WORTH_MIN: f32 = 0.8;

/// Makes the observation of a finding; `None` if it has no title or says nothing beyond it.
pub(super) fn compose_finding(frame: &ClaimFrame<'_>) -> Option<NewObservation> {
    let (titled, title) = match finding_title::finding_sentence(frame) {
        // If its best sentence is talk, the lesser ones are no better.
        Some(best) => (best, finding_title::finding_title(best)?),
        None => abridged_title(frame)?,
    };
    if reports_progress(&titled.topic) {
        return None;
    }
    // A point of a list says one of several things; the line that introduces the list says what they are.
    let intro = (titled.place.listed).then(|| list_intro::list_title(&titled.section)).flatten();
    let title = intro.map_or(title, |intro| title_label::without_cause_label(&intro));
    let mut made = NewObservation::new(ObservationType::DISCOVERY, title, Origin::Agent, frame.at);
    // The text that the title comes from tells the finding; other texts add to it.
    let main = place_of(titled);
    let (own, other): (Vec<&Claim>, Vec<&Claim>) =
        frame.details.iter().copied().partition(|claim| main == place_of(claim));
    let worthy = other.into_iter().filter(|claim| claim.worth >= DETAIL_WORTH_MIN && !claim.place.listed);
    let extras = worthy.map(|claim| StorySentence::of_claim(claim.worth, claim)).collect();
    fill(&mut made, told_blocks(&own, titled), extras, NarrativeRoom::PARAGRAPHS);
    let adds = new_words(&made.text.title, &made.text.narrative) >= FINDING_NEW_WORDS_MIN;
    // The cause of a change is told after the change.
    if !frame.files.is_empty() {
        made.text.narrative = without_present(&made.text.narrative);
    }
    leave_out_echo(&mut made.text);
    if let Some(question) = asked_question(frame.request, &made.text)
        && !made.text.narrative.is_empty()
    {
        made.text.narrative = format!("Asked “{question}” {}", made.text.narrative);
    } else {
        made.text.narrative = without_bare_answer(&made.text.narrative);
    }
    made.text.subtitle = if frame.is_idea() {
        IDEA.to_owned()
    } else {
        list_intro::subject_of(titled, &made.text.title).unwrap_or_default()
    };
    made.text.concepts = draft::concepts(&["how-it-works"]);
    // A title alone must name something from code, or it is a remark about a passing state.
    let says = frame.best_worth() >= TITLE_ALONE_WORTH_MIN && made.text.title.contains('`');
    (adds || says).then_some(made)
}

/// Whether a heading says how far the work is: "Wave 2 complete". What stands below it is told by the work.
fn reports_progress(heading: &str) -> bool {
    let last = heading.split_whitespace().next_back().unwrap_or_default();
    let last = last.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    matches!(last.as_str(), "complete" | "completed" | "done" | "finished" | "progress" | "status")
}

/// The subtitle of what was said about something that nobody has built.
const IDEA: &str = "An idea under discussion";

/// The narrative without a "No." whose question is not told.
fn without_bare_answer(narrative: &str) -> String {
    let is_bare = |answer: &str| matches!(answer.to_lowercase().as_str(), "yes" | "no");
    let told = narrative.split_once(". ").filter(|(answer, _)| is_bare(answer));
    told.map_or(narrative, |(_, rest)| rest).to_owned()
}

/// The narrative without sentences that say how the code was before the change.
fn without_present(narrative: &str) -> String {
    let is_past = |sentence: &&str| {
        let lower = format!(" {} ", sentence.to_lowercase());
        ![" currently ", " the current ", " the existing code ", " right now "]
            .iter()
            .any(|word| lower.contains(word))
    };
    sentences::split(narrative).into_iter().filter(is_past).collect::<Vec<_>>().join(" ")
}

/// The narrative of a finding must have this many words that mean something and that its title has not.
const FINDING_NEW_WORDS_MIN: usize = 4;

/// The paragraphs and lists of an answer, whole where they can be, in their order. The one that the title stands in
/// weighs most.
fn told_blocks(claims: &[&Claim], titled: &Claim) -> Vec<StorySentence> {
    let title_block = StorySentence::of_claim(0.0, titled).block;
    let sentences = claims.iter().map(|claim| {
        let sentence = StorySentence::of_claim(claim.worth, claim);
        let bonus = if sentence.block == title_block { 1.0 } else { 0.0 };
        (StorySentence { weight: sentence.weight + bonus, ..sentence }, claim)
    });
    let mut told: Vec<StorySentence> = Vec::new();
    let mut whole: Vec<StoryBlock> = Vec::new();
    for (sentence, claim) in sentences {
        let known = |other: &StorySentence| other.block == sentence.block;
        if whole.contains(&sentence.block) {
            if let Some(block) = told.iter_mut().find(|other| known(other)) {
                block.weight = block.weight.max(sentence.weight);
            }
        } else if claim.block.is_empty() {
            told.push(sentence);
        } else {
            whole.push(sentence.block.clone());
            told.push(StorySentence { text: claim.block.clone(), ..sentence });
        }
    }
    told.retain(|sentence| sentence.weight >= DETAIL_WORTH_MIN);
    told
}

/// Characters of a question that is quoted with its answer.
const QUESTION_CHARS: std::ops::RangeInclusive<usize> = 20..=160;

/// Words that a question shares with its answer.
const QUESTION_SHARED_WORDS_MIN: usize = 2;

/// The question that an answer answers, if it can be understood by itself.
fn asked_question(request: &str, answer: &ObservationText) -> Option<String> {
    let told = content_words(&format!("{} {}", answer.title, answer.narrative));
    let title = content_words(&answer.title);
    let questions = sentences::split(request).into_iter().filter(|sentence| sentence.ends_with('?'));
    let mut bare = questions.map(without_openers);
    let clear = bare.find(|question| {
        QUESTION_CHARS.contains(&question.chars().count())
            && !gates::is_dangling(question)
            && shared(&content_words(question), &told) >= QUESTION_SHARED_WORDS_MIN
            // A title that takes up the question needs no repetition of it.
            && shared(&content_words(question), &title) < QUESTION_SHARED_WORDS_MIN
    });
    clear.map(|question| capitalised(&question))
}

#[cfg(test)]
mod tests {
    use super::reports_progress;

    #[test]
    fn heading_of_progress_heads_no_finding() {
        assert!(reports_progress("Wave 2 Complete"));
        assert!(reports_progress("**Status**"));
        assert!(!reports_progress("Complete list of the depots"));
        assert!(!reports_progress(""));
    }
}
