//! Plans: the tool call that presents one, and the prompt by which the client hands one over.

use claude_mem_core::clock::Millis;
use claude_mem_core::episode::EpisodeStep;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind};
use crate::cues::Language;
use crate::outputs::field;
use crate::ranker::{self, RankedSentence};
use crate::sentence_context::place_of;
use crate::sentences::{TextBlock, TextDocument, unmark};
use crate::text::{capitalised, content_words};
use crate::turn_outcome::PendingPlan;

/// The client's tool that presents a plan.
const PLAN_TOOL: &str = "ExitPlanMode";
/// The line before a plan that the client hands over.
const HAND_OVER: &str = "Implement the following plan:";
/// Sentences of a plan that are kept as its details.
const PLAN_DETAILS_MAX: usize = 10;
const PLAN_WORTH_MIN: f32 = 0.4;
/// The least worth of a sentence below the heading "Root cause".
const PLAN_CAUSE_WORTH: f32 = 0.6;

/// The plan that a step presents, unless it was rejected.
pub(crate) fn plan_of_step(step: &EpisodeStep) -> Option<&str> {
    (step.tool == PLAN_TOOL && !step.failed).then(|| field(&step.input, &["plan"])).flatten()
}

/// The plan that a step presents, accepted or not.
pub(crate) fn presented_title(step: &EpisodeStep) -> Option<PendingPlan> {
    let plan = (step.tool == PLAN_TOOL).then(|| field(&step.input, &["plan"])).flatten()?;
    Some(PendingPlan { title: title_of(plan.lines())?, at: step.at })
}

/// The title of a plan: its first heading, if it says something.
pub(crate) fn title_of<'t>(mut lines: impl Iterator<Item = &'t str>) -> Option<String> {
    let heading = lines.find_map(|line| line.trim().strip_prefix("# "))?;
    let title = plan_title(&unmark(heading));
    (content_words(&title).len() >= 2).then_some(title)
}

/// Extracts a plan: one claim with its title and reason, and its telling sentences as details.
pub(crate) fn plan_claims(text: &str, at: Millis, group: u32) -> Vec<Claim> {
    let text = text.trim_start().strip_prefix(HAND_OVER).unwrap_or(text);
    let document = TextDocument::read(text);
    let Some(title) =
        document.sentences.iter().find(|s| s.block == TextBlock::Heading).map(|s| plan_title(&s.text))
    else {
        return Vec::new();
    };
    if content_words(&title).len() < 2 {
        return Vec::new();
    }
    let why: Vec<&str> = document
        .sentences
        .iter()
        .filter(|s| s.block == TextBlock::Prose && is_reason_section(&s.section) && !s.text.ends_with(':'))
        .map(|s| s.text.as_str())
        .take(4)
        .collect();
    let mut plan = Claim::new(ClaimKind::Plan, TextSource::Plan, why.join(" "), at).titled(title);
    plan.group = group;
    plan.worth = 0.6;
    let mut claims = vec![plan];
    let count = document.sentences.len();
    let language = Language::detect(text);
    let mut details: Vec<Claim> = Vec::new();
    for (index, sentence) in document.sentences.iter().enumerate() {
        let wanted =
            matches!(sentence.block, TextBlock::Prose | TextBlock::Item) && !sentence.text.ends_with(':');
        let place = RankedSentence { text: &sentence.text, source: TextSource::Plan, index, count };
        let is_cause = sentence.section.to_lowercase().starts_with("root cause");
        let least = if is_cause { 0.0 } else { PLAN_WORTH_MIN };
        let Some(worth) = ranker::worth(&place, language).filter(|worth| wanted && *worth >= least) else {
            continue;
        };
        let worth = if is_cause { worth.max(PLAN_CAUSE_WORTH) } else { worth };
        let kind = if is_cause { ClaimKind::Cause } else { ClaimKind::Decision };
        let mut claim = Claim::new(kind, TextSource::Plan, capitalised(&sentence.text), at);
        claim.group = group;
        claim.worth = worth;
        claim.section.clone_from(&sentence.section);
        claim.place = place_of(sentence, index);
        details.push(claim);
    }
    details.sort_by(|a, b| b.worth.total_cmp(&a.worth));
    details.truncate(PLAN_DETAILS_MAX);
    claims.extend(details);
    claims
}

/// "Plan: Cache the tokens" → "Cache the tokens".
fn plan_title(heading: &str) -> String {
    let heading = heading.trim();
    let lower = heading.to_lowercase();
    let labels =
        ["plan : ", "implementation plan: ", "implementation plan - ", "plan: ", "plan - ", "plan — "];
    let stripped = labels.iter().find_map(|label| lower.starts_with(label).then(|| &heading[label.len()..]));
    capitalised(stripped.unwrap_or(heading).trim_end_matches('.'))
}

fn is_reason_section(section: &str) -> bool {
    let lower = section.to_lowercase();
    ["context", "problem", "why", "background", "overview", "goal", "motivation", "summary"]
        .iter()
        .any(|name| lower.starts_with(name))
}
