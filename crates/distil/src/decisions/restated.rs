//! Where the agent says again what was settled: "Got it - the set is exactly …", "Recap: …".

use super::Turn;
use super::reply::Reply;
use crate::cues;
use crate::cues::{Cue, Language};
use crate::speech::Statement;
use crate::text::shared;

/// What a sentence of the agent's must weigh to count as the rule said again.
const RESTATED_WEIGHT: f32 = 2.4;
/// A recap may be introduced by this much before its colon.
const HEAD_CHARS: usize = 90;

pub(super) struct Restated<'a> {
    pub statement: &'a Statement,
    pub weight: f32,
    /// It is introduced as what was settled, rather than merely sounding like it.
    pub recap: bool,
}

impl Restated<'_> {
    pub(super) fn chars(&self) -> usize {
        self.statement.text.chars().count() + 1
    }
}

/// How a sentence announces that it says something again.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Introduction {
    None,
    /// "So the rule …", "Got it - …".
    Loose,
    /// "Recap of …: …", "Settled: …".
    Formal,
}

pub(super) fn find<'a>(turn: &Turn<'a>, reply: Reply) -> Vec<Restated<'a>> {
    let theirs = turn.said.own().flat_map(|s| s.words.iter().cloned()).collect();
    let spoken: Vec<&Statement> = turn.answered.own().collect();
    let question = spoken.iter().position(|s| s.question);
    let (mut paragraph, mut formal) = (None, false);
    let mut found = Vec::new();
    for (index, statement) in spoken.iter().copied().enumerate() {
        // "Different topic - rollout.": what follows is no longer about what the user said.
        if index > 0 && statement.marks.opens(Cue::Topic) {
            break;
        }
        let introduction = introduction(statement, turn.answered.language);
        if introduction != Introduction::None {
            paragraph = Some(statement.paragraph);
            formal |= introduction == Introduction::Formal;
        }
        let recap = paragraph == Some(statement.paragraph);
        let leads_to_question = question == Some(index + 1) && index > 0;
        if statement.question || statement.is_bare() || statement.marks.has(Cue::Verified) {
            continue;
        }
        let own_idea = statement.marks.has(Cue::Propose) || statement.marks.has(Cue::Plan);
        let mut weight = statement.rule_weight();
        weight += 0.4 * shared(&statement.words, &theirs).min(4) as f32;
        weight += match (introduction, recap) {
            (Introduction::Formal | Introduction::Loose, _) => 2.0,
            (Introduction::None, true) => 1.5,
            (Introduction::None, false) => 0.0,
        };
        // What the agent offers is not what the user settled.
        if own_idea || leads_to_question || reply == Reply::Opens {
            weight -= 2.0;
        }
        if weight >= RESTATED_WEIGHT || (recap && !own_idea && !leads_to_question) {
            found.push(Restated { statement, weight, recap });
        }
    }
    let binding = found.iter().any(|r| r.recap && r.statement.rule_weight() >= 1.0);
    let heard = reply != Reply::Confirms && reply != Reply::Opens;
    if !(formal || (binding && heard)) {
        for restated in &mut found {
            restated.recap = false;
        }
    }
    found
}

/// "Understood." alone is politeness; "Understood: …" goes on to say what was understood.
fn introduction(statement: &Statement, language: Language) -> Introduction {
    if statement.question {
        return Introduction::None;
    }
    let head: String = statement.text.chars().take(HEAD_CHARS).collect();
    let goes_on = |after: &str| after.trim_start().starts_with([':', '-', '–', '—', '：']);
    if statement.marks.opens(Cue::Recap) {
        return if head.contains([':', '：']) { Introduction::Formal } else { Introduction::Loose };
    }
    match cues::after_opening(&statement.text, language, &[Cue::Ack]) {
        Some(after) if goes_on(after) => Introduction::Loose,
        _ => Introduction::None,
    }
}
