//! Selects the sentences of a decision: those of the highest weight that fit, in the order they were said.

use super::restated::RestatedRule;
use super::turn::RULE_WEIGHT;
use crate::cues::{CueKind, Language};
use crate::speech::MarkedSentence;
use crate::text::{capitalised, content_words, overlap, run_on, shared};
use crate::titles::{clauses, without_lead_in};
use claude_mem_core::limits::DISTIL_NARRATIVE_CHARS_MAX;

/// Characters of the labels "User:" and "Agent:" in a narrative.
const LABEL_CHARS: usize = 40;
/// "Recap of append_event's contract" is a head; longer than this it is part of the sentence.
const HEAD_CHARS: usize = 80;

pub(super) const fn room_after(chars: usize) -> usize {
    DISTIL_NARRATIVE_CHARS_MAX.saturating_sub(chars + LABEL_CHARS)
}

pub(super) fn length(statements: &[&MarkedSentence]) -> usize {
    statements.iter().map(|s| s.text.chars().count() + 1).sum()
}

pub(super) fn join(statements: &[&MarkedSentence]) -> String {
    run_on(statements.iter().map(|s| s.text.as_str()))
}

/// The user's own words on a subject. Questions and requests are not part of what was decided.
pub(super) fn of_user<'a>(topic: &[&'a MarkedSentence], room: usize) -> Vec<&'a MarkedSentence> {
    // "Move the retries out. It must stay below 10 s.": the request says what "it" is.
    let referred = |s: &MarkedSentence| {
        let after = topic.iter().skip_while(|other| !std::ptr::eq(**other, s)).nth(1);
        !s.question && after.is_some_and(|next| next.marks.opens(CueKind::Pronoun))
    };
    let asks = |s: &MarkedSentence| s.question || (s.marks.opens(CueKind::Request) && !referred(s));
    let worth = topic.iter().copied().filter(|s| !asks(s) || s.rule_weight() > RULE_WEIGHT);
    let weighed: Vec<_> = worth.map(|s| (s, s.rule_weight())).collect();
    fitting(&weighed, room)
}

/// The agent's restatement.
pub(super) fn of_agent<'a>(restated: &[&RestatedRule<'a>], room: usize) -> Vec<&'a MarkedSentence> {
    let weighed: Vec<_> = restated.iter().map(|r| (r.statement, r.weight)).collect();
    fitting(&weighed, room)
}

fn fitting<'a>(weighed: &[(&'a MarkedSentence, f32)], room: usize) -> Vec<&'a MarkedSentence> {
    let mut ranked: Vec<usize> = (0..weighed.len()).collect();
    ranked.sort_by(|a, b| weighed[*b].1.total_cmp(&weighed[*a].1));
    let (mut taken, mut left) = (Vec::new(), room);
    for index in ranked {
        let chars = weighed[index].0.text.chars().count() + 1;
        if chars <= left {
            left -= chars;
            taken.push(index);
        }
    }
    taken.sort_unstable();
    taken.into_iter().map(|index| weighed[index].0).collect()
}

/// The earlier rule of the session that shares most words with these sentences; a rule that gives a reason wins.
pub(super) fn echo<'a>(
    rules: impl Iterator<Item = &'a String>,
    agents: &[&MarkedSentence],
    room: usize,
) -> Option<&'a str> {
    let words = agents.iter().flat_map(|s| s.words.iter().cloned()).collect();
    let worth = |rule: &str| {
        let statement = MarkedSentence::clause(rule, Language::detect(rule));
        let common = shared(&statement.words, &words);
        let said_already = overlap(&statement.words, &words) > 0.85;
        let reason =
            usize::from(statement.marks.has(CueKind::Reason) || statement.marks.has(CueKind::Measure));
        if common < 2 || said_already { 0 } else { common.min(4) + 3 * reason }
    };
    let fits = rules.map(String::as_str).filter(|rule| rule.chars().count() <= room);
    fits.max_by_key(|rule| worth(rule)).filter(|rule| worth(rule) > 0)
}

/// The atomic statements of what was said: one per clause, lead-ins off.
pub(super) fn facts(statements: &[&MarkedSentence], language: Language, least: f32) -> Vec<String> {
    let mut facts = Vec::new();
    for statement in statements.iter().filter(|s| s.rule_weight() >= least) {
        for clause in clauses(without_head(statement, language)) {
            let text = without_lead_in(clause, language).trim_end_matches(['.', ';', ',', '。']);
            let concrete = MarkedSentence::clause(text, language).values > 1;
            if content_words(text).len() >= 3 || concrete {
                facts.push(capitalised(text));
            }
        }
    }
    facts
}

/// "Settled: merge_records keys on …" → from the colon on.
pub(super) fn without_head(statement: &MarkedSentence, language: Language) -> &str {
    let bare = without_lead_in(&statement.text, language);
    let Some((head, rest)) = bare.split_once([':', '：']) else {
        return bare;
    };
    let is_head = statement.marks.opens(CueKind::Recap)
        && head.chars().count() <= HEAD_CHARS
        && !head.contains('`')
        && content_words(rest).len() >= 3;
    if is_head { rest.trim() } else { bare }
}
