//! Rules, facts and causes that a prompt is near in meaning, also where the words differ: "can we
//! deploy at 2?" and "never deploy between 1 and 3".

use super::evidence::{GoverningVerdict, TELLING_MIN};
use super::governing_score::{GoverningPair, judge_pair};
use super::near_rows::NearMemory;
use super::prompt_kind::{asks_how_things_are, reports_trouble};
use super::request_words::asks_to_look;
use claude_mem_core::memory::{ObservationType, Origin};
use claude_mem_store::{MemoryLevel, Observation};

/// Minimum score of a rule or fact that the user stated.
const STATED_MIN: f64 = 0.56;
/// Added for the cause of a problem that the agent solved.
const SOLVED_MORE: f64 = 0.04;
/// Added for a rule if the prompt asks how things are: a rule says how things are to be done.
const ASKED_RULE_MORE: f64 = 0.12;
/// Added for what else the agent found out: most of it is about one change, and near to all work on the same part.
const FOUND_OUT_MORE: f64 = 0.14;
/// Minimum score of a rule, a fact or a cause that is ahead of every other candidate.
const AHEAD_MIN: f64 = 0.42;
const AHEAD_BY: f64 = 0.12;
/// What a shared telling word adds to the similarity, and how many of them count.
const SHARED_WORD: f64 = 0.12;
const SHARED_WORDS_MAX: f64 = 1.5;
/// What it adds that the prompt has all words of the title.
const TITLE_COVERED: f64 = 0.3;
/// What it adds that the title is about the action that is asked for.
const SAME_ACTION: f64 = 0.15;
/// What it adds that the title has all words of the prompt: it answers the question.
const WHOLE_PROMPT: f64 = 0.15;
/// What it adds that a rule speaks of all things of the kind that is to be made: "add a button" and "every button needs
/// a text".
const SAME_THING: f64 = 0.15;
/// A rule, a fact or a cause without any shared word must be this near by itself.
const UNSHARED_MIN: f64 = 0.6;
/// Rows within this distance are equally near.
const CROWD_WIDTH: f64 = 0.05;
/// Of more rows that are equally near none is meant in particular: it is what the project is about.
const CROWD_MAX: usize = 6;

/// Marks the memories that govern the prompt; a rule governs no prompt that only asks to see something, and the cause
/// of a problem none that reports no problem.
pub(super) fn mark_governing(found: &mut [NearMemory], prompt: &str) {
    let (only_looks, is_trouble) = (asks_to_look(prompt), reports_trouble(prompt));
    let asks_how_things = asks_how_things_are(prompt);
    let rule_more = if asks_how_things { ASKED_RULE_MORE } else { 0.0 };
    let scores: Vec<f64> = found.iter().map(score).collect();
    for (at, near) in found.iter_mut().enumerate() {
        let own = scores[at];
        let crowd = scores.iter().filter(|other| **other >= own - CROWD_WIDTH).count();
        let is_rule = near.row.text.kind == ObservationType::DECISION;
        let is_cause = near.row.text.kind == ObservationType::BUGFIX && !is_stated(&near.row);
        let may_govern = !(only_looks && is_rule) && (is_trouble || !is_cause);
        let Some(least) = least_score(&near.row).filter(|_| crowd <= CROWD_MAX && may_govern) else {
            continue;
        };
        let may_be_ahead = least <= STATED_MIN + SOLVED_MORE;
        let least = if is_rule { least + rule_more } else { least };
        let best_other = scores.iter().enumerate().filter(|(other, _)| *other != at);
        let best_other = best_other.map(|(_, score)| *score).fold(0.0, f64::max);
        let (governs_thing, governs_action) = (governs_thing(near), governs_action(near));
        // In a store of few subjects one shared word is enough to be ahead.
        let is_near = !near.evidence.is_remote || governs_thing || governs_action;
        let is_ahead = may_be_ahead
            && is_near
            && own >= AHEAD_MIN + (least - STATED_MIN)
            && own >= best_other + AHEAD_BY;
        let pair =
            GoverningPair { governs_action, governs_thing, is_rule_for_question: is_rule && asks_how_things };
        let verdict =
            if may_be_ahead { judge_pair(&near.evidence, pair) } else { GoverningVerdict::Undecided };
        let evidence = &mut near.evidence;
        let is_shared = if may_be_ahead {
            evidence.telling > 0.0 || governs_action || evidence.title.has_whole_prompt || governs_thing
        } else {
            evidence.telling >= TELLING_MIN
        };
        let is_near_by_itself = may_be_ahead && evidence.cosine >= UNSHARED_MIN;
        let is_near_in_words = if is_shared { own >= least || is_ahead } else { is_near_by_itself };
        evidence.verdict = match verdict {
            GoverningVerdict::Undecided if is_near_in_words => GoverningVerdict::Governs,
            decided => decided,
        };
    }
}

/// Similarity in meaning, and what speaks for it in the words.
fn score(near: &NearMemory) -> f64 {
    let evidence = &near.evidence;
    let words = SHARED_WORD * evidence.telling.min(SHARED_WORDS_MAX);
    let action = if governs_action(near) { SAME_ACTION } else { 0.0 };
    let thing = if governs_thing(near) { SAME_THING } else { 0.0 };
    let whole = if evidence.title.has_whole_prompt { WHOLE_PROMPT } else { 0.0 };
    evidence.cosine + words + TITLE_COVERED * evidence.title.covered + action + thing + whole
}

/// Whether a stated rule is about the action that is asked for. What once happened at a commit does not govern
/// the next one.
fn governs_action(near: &NearMemory) -> bool {
    near.evidence.title.has_action && is_stated(&near.row)
}

/// Whether the user said it, or it holds in every project.
pub(super) fn is_stated(row: &Observation) -> bool {
    matches!(row.origin, Origin::User | Origin::Manual) || row.level == MemoryLevel::User
}

/// Whether a stated rule is about the kind of thing that is to be made.
fn governs_thing(near: &NearMemory) -> bool {
    near.evidence.title.has_thing && is_stated(&near.row) && near.row.text.kind == ObservationType::DECISION
}

/// `None`: what was done is no knowledge; it needs the prompt's own words.
fn least_score(row: &Observation) -> Option<f64> {
    let is_finding = [ObservationType::DECISION, ObservationType::DISCOVERY];
    match row.origin {
        Origin::Tool | Origin::Web => None,
        _ if is_stated(row) => Some(STATED_MIN),
        _ if row.text.kind == ObservationType::BUGFIX => Some(STATED_MIN + SOLVED_MORE),
        _ => is_finding.contains(&row.text.kind).then_some(STATED_MIN + FOUND_OUT_MORE),
    }
}
