//! What is told of a change: the sentences of its commits, plans and reports, with their weights.

use std::collections::BTreeSet;

use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::gates;
use crate::line_numbers::without_line_numbers;
use crate::past_tense::BodyTense;
use crate::ranker::{self, RankedSentence};
use crate::sentences::{TextBlock, TextDocument};
use crate::text::{capitalised, content_words, full_stop, shared};
use crate::verbs::has_verb;

use super::frames::{ClaimFrame, DETAIL_WORTH_MIN, names_file};
use super::plan_reason;
use super::split::{TextPlace, place_of};
use super::story::{StoryBlock, StorySentence};
use super::title_label;

/// Weight of the cause that a plan names.
const PLAN_CAUSE_WEIGHT: f32 = 0.7;
/// What is told beside the body of a commit must be this likely to be worth remembering.
const EXTRA_WORTH_MIN: f32 = 0.5;
const EXTRA_FACT_WORTH_MIN: f32 = 0.65;
const INTURN_EXTRA_WORTH_MIN: f32 = 0.6;
/// Extras weigh less than the reasons of a commit, so that they must say something new.
const EXTRA_WEIGHT_MAX: f32 = 0.74;

/// Weight of the first item of a report; those behind it weigh a little less, so that the first ones are told.
const REPORT_WEIGHT: f32 = 0.74;

/// Weight of the cause of a change that is told by a report.
const CAUSE_WEIGHT: f32 = 0.95;

/// Words that a cause shares with the change that it belongs to.
const CAUSE_SHARED_WORDS_MIN: usize = 2;

/// Sentences of a plan that name the cause.
const PLAN_CAUSES_MAX: usize = 2;

/// What the agent's report says was done, in its order.
pub(super) fn reported_work(frame: &ClaimFrame<'_>) -> Vec<StorySentence> {
    let only_file = match frame.files.as_slice() {
        [file] => file.rsplit('/').next().map(|name| format!("`{name}`: ")),
        _ => None,
    };
    // How something looks is seen in the code; beside other items it says nothing.
    let only_styles = frame.report.iter().all(|item| tells_looks(item));
    let items = frame.report.iter().filter(|item| only_styles || !tells_looks(item)).enumerate();
    let told = items.map(|(place, item)| {
        // The only file of a change is named once.
        let again = only_file.as_deref().filter(|_| place > 0);
        let bare = again.and_then(|file| item.strip_prefix(file)).map(capitalised);
        let text = bare.unwrap_or_else(|| (*item).to_owned());
        // What was changed file by file is a list.
        let block = if names_its_file(&text) { StoryBlock::List(String::new()) } else { StoryBlock::Single };
        StorySentence { weight: REPORT_WEIGHT - 0.01 * place as f32, text, block }
    });
    told.collect()
}

/// Whether an item begins with the name of the file that it is about: "`list.rs`: Added a cursor".
fn names_its_file(item: &str) -> bool {
    item.starts_with('`') && item.split_once("`: ").is_some_and(|(file, _)| !file.contains(' '))
}

/// Whether an item of a report tells how something looks: it names style classes, or was done in a style sheet.
fn tells_looks(item: &str) -> bool {
    let sheet = item.split_once("`: ").is_some_and(|(file, _)| {
        [".css", ".scss", ".sass", ".less"].iter().any(|ending| file.ends_with(ending))
    });
    sheet || gates::is_styling(item)
}

/// The cause of the problem that a change solved: in the words of its report, else of its plan.
pub(super) fn cause_of_work(frame: &ClaimFrame<'_>) -> Option<StorySentence> {
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
            && has_verb(&claim.text)
            && !gates::is_passing_trouble(&claim.text)
            && belongs(claim)
    };
    let (planned, said): (Vec<&Claim>, Vec<&Claim>) =
        frame.details.iter().copied().filter(stands).partition(|claim| claim.source == TextSource::Plan);
    let best = said.into_iter().max_by(|a, b| a.worth.total_cmp(&b.worth));
    let text = match best {
        Some(cause) => title_label::without_cause_label(&cause.passage()),
        None => {
            let mut planned = planned;
            planned.sort_by_key(|claim| claim.place.index);
            let sentences: Vec<String> =
                planned.iter().take(PLAN_CAUSES_MAX).map(|claim| full_stop(&claim.text)).collect();
            sentences.join(" ")
        }
    };
    let text = without_line_numbers(&text);
    (!text.is_empty()).then(|| StorySentence::single(CAUSE_WEIGHT, with_cause_label(&text)))
}

/// The label is English, like the words that it introduces.
fn with_cause_label(text: &str) -> String {
    let label = if Language::detect(text) == Language::English { "Cause: " } else { "" };
    format!("{label}{text}")
}

/// What was said beside the text that tells a change. A cause is over with the change, so it is told as one.
fn told_beside(claim: &Claim) -> String {
    let passage = claim.passage();
    let is_cause = claim.kind == ClaimKind::Cause && !gates::refers_back(&passage);
    if is_cause { with_cause_label(&title_label::without_cause_label(&passage)) } else { passage }
}

/// The statements of the commits' bodies; those of a pull request only if no commit says more than its title.
pub(super) fn commit_body(frame: &ClaimFrame<'_>) -> Vec<StorySentence> {
    let of_kind = |kind: ClaimKind| -> Vec<StorySentence> {
        frame.leads.iter().filter(|lead| lead.kind == kind).flat_map(|lead| body_sentences(lead)).collect()
    };
    let committed = of_kind(ClaimKind::Commit);
    if committed.is_empty() { of_kind(ClaimKind::PullRequest) } else { committed }
}

/// Sentences with their weights: those that tell a change or finding, and those that add to it.
#[derive(Default)]
pub(super) struct ToldSentences {
    pub(super) story: Vec<StorySentence>,
    pub(super) extras: Vec<StorySentence>,
}

/// What was said about a change. One text tells it, so that its sentences belong together; other texts add causes,
/// caveats and what the user wished. A commit that explains itself leaves all of them to the extras, and takes only
/// what was said after it: what was said before it may have changed on the way.
pub(super) fn work_details(frame: &ClaimFrame<'_>, told_by_commit: bool) -> ToldSentences {
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
            if !gates::stands_alone(&claim.text) || !has_verb(&claim.text) {
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
                told.extras.push(StorySentence::single(weight.min(EXTRA_WEIGHT_MAX), told_beside(claim)));
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
    let tense = BodyTense::read(&lead.title, &document.sentences);
    let mut statements = Vec::new();
    for (index, sentence) in document.sentences.iter().enumerate() {
        let text = tense.told(sentence);
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
            _ => StoryBlock::List(tense.told_intro(&sentence.section)),
        };
        statements.push(StorySentence { weight: weight * (least + share * ranked), text, block });
    }
    statements
}
