//! Finds restatements of a rule by the agent: "Got it - the set is exactly …", "Recap: …".

use super::reply::ReplyKind;
use super::turn::TurnTexts;
use crate::cues;
use crate::cues::{CueKind, Language};
use crate::speech::MarkedSentence;
use crate::text::shared;

/// Minimum weight of a sentence of the agent that restates a rule.
const RESTATED_WEIGHT: f32 = 2.4;
/// Maximum characters before the colon of a recap.
const HEAD_CHARS: usize = 90;

/// A sentence of the agent that restates a rule.
pub(super) struct RestatedRule<'a> {
    pub statement: &'a MarkedSentence,
    pub weight: f32,
    /// An introduction such as "Recap:" announces it.
    pub recap: bool,
}

impl RestatedRule<'_> {
    pub(super) fn chars(&self) -> usize {
        self.statement.text.chars().count() + 1
    }
}

/// How a sentence announces a restatement.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RecapIntroduction {
    None,
    /// "So the rule …", "Got it - …".
    Loose,
    /// "Recap of …: …", "Settled: …".
    Formal,
}

pub(super) fn find<'a>(turn: &TurnTexts<'a>, reply: ReplyKind) -> Vec<RestatedRule<'a>> {
    let theirs = turn.said.own().flat_map(|s| s.words.iter().cloned()).collect();
    let spoken: Vec<&MarkedSentence> = turn.answered.own().collect();
    let question = spoken.iter().position(|s| s.question);
    let (mut paragraph, mut formal) = (None, false);
    let mut found = Vec::new();
    for (index, statement) in spoken.iter().copied().enumerate() {
        // "Different topic - rollout.": what follows is no longer about what the user said.
        if index > 0 && statement.marks.opens(CueKind::Topic) {
            break;
        }
        let introduction = introduction(statement, turn.answered.language);
        if introduction != RecapIntroduction::None {
            paragraph = Some(statement.paragraph);
            formal |= introduction == RecapIntroduction::Formal;
        }
        let recap = paragraph == Some(statement.paragraph);
        let leads_to_question = question == Some(index + 1) && index > 0;
        if statement.question || statement.is_bare() || statement.marks.has(CueKind::Verified) {
            continue;
        }
        let own_idea = statement.marks.has(CueKind::Propose) || statement.marks.has(CueKind::Plan);
        let mut weight = statement.rule_weight();
        weight += 0.4 * shared(&statement.words, &theirs).min(4) as f32;
        weight += match (introduction, recap) {
            (RecapIntroduction::Formal | RecapIntroduction::Loose, _) => 2.0,
            (RecapIntroduction::None, true) => 1.5,
            (RecapIntroduction::None, false) => 0.0,
        };
        // What the agent offers is not what the user settled.
        if own_idea || leads_to_question || reply == ReplyKind::Opens {
            weight -= 2.0;
        }
        if weight >= RESTATED_WEIGHT || (recap && !own_idea && !leads_to_question) {
            found.push(RestatedRule { statement, weight, recap });
        }
    }
    let binding = found.iter().any(|r| r.recap && r.statement.rule_weight() >= 1.0);
    let heard = reply != ReplyKind::Confirms && reply != ReplyKind::Opens;
    if !(formal || (binding && heard)) {
        for restated in &mut found {
            restated.recap = false;
        }
    }
    found
}

/// "Understood." alone is politeness; "Understood: …" goes on to say what was understood.
fn introduction(statement: &MarkedSentence, language: Language) -> RecapIntroduction {
    if statement.question {
        return RecapIntroduction::None;
    }
    let head: String = statement.text.chars().take(HEAD_CHARS).collect();
    let goes_on = |after: &str| after.trim_start().starts_with([':', '-', '–', '—', '：']);
    if statement.marks.opens(CueKind::Recap) {
        return if head.contains([':', '：']) {
            RecapIntroduction::Formal
        } else {
            RecapIntroduction::Loose
        };
    }
    match cues::after_opening(&statement.text, language, &[CueKind::Ack]) {
        Some(after) if goes_on(after) => RecapIntroduction::Loose,
        _ => RecapIntroduction::None,
    }
}
