//! Observations from decisions: the rule is the title, the words of both voices are the narrative, the clauses
//! are the facts.

use super::reply::ReplyKind;
use super::restated::RestatedRule;
use super::subject::SettledSubject;
use super::title;
use super::turn::{SHORT_ANSWER_CHARS, TurnTexts};
use super::words::{echo, facts, join, length, of_agent, of_user, room_after};
use crate::carry::Carry;
use crate::cues;
use crate::cues::{CueKind, Language};
use crate::draft::{concepts, observation};
use crate::speech::MarkedSentence;
use crate::text::{capitalised, clip};
use crate::titles::{headline, without_lead_in, without_offer, without_preface};
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_core::vocabulary::{AMENDMENT, PREFERENCE};

/// Maximum characters of the user's words in a narrative, which leaves room for the agent's restatement.
const USER_CHARS: usize = 560;
/// Minimum weight of a sentence that becomes a fact.
const FACT_WEIGHT: f32 = 0.75;

/// Composes the decision of a subject on which the user stated a rule.
pub(super) fn decision(subject: &SettledSubject<'_>) -> Option<NewObservation> {
    let users = of_user(subject.topic, USER_CHARS);
    let restated: Vec<&RestatedRule<'_>> = subject.restated.iter().collect();
    let agents = of_agent(&restated, room_after(length(&users)));
    let title = title::compose_title(subject)?;
    let mut made = observation(ObservationType::DECISION, title, subject.turn.at);
    made.text.narrative = narrative(subject, &users, &agents);
    let recap = subject.restated.iter().any(|r| r.recap);
    let least = if recap { f32::MIN } else { FACT_WEIGHT };
    made.text.facts = facts(&agents, subject.turn.answered.language, least);
    made.text.facts.extend(facts(&users, subject.turn.said.language, FACT_WEIGHT));
    made.text.files_modified = subject.turn.files.to_vec();
    made.origin = Origin::User;
    made.text.subtitle = about(subject.carry, subject.topic);
    made.text.concepts = nature(&[users, agents].concat(), subject.reply);
    Some(made)
}

/// Composes the decision of a long recap by the agent.
pub(super) fn whole(
    turn: &TurnTexts<'_>,
    restated: &[RestatedRule<'_>],
    carry: &Carry,
) -> Option<NewObservation> {
    let recap: Vec<&RestatedRule<'_>> = restated.iter().filter(|r| r.recap).collect();
    let agents = of_agent(&recap, room_after(0));
    let subject = SettledSubject { turn, topic: &[], reply: ReplyKind::Continues, restated, carry };
    let mut made = observation(ObservationType::DECISION, title::compose_title(&subject)?, turn.at);
    made.text.narrative = format!("Agent: “{}”", join(&agents));
    if let Some(rule) = echo(carry.rules.iter(), &agents, room_after(length(&agents))) {
        made.text.narrative = format!("User: “{rule}” {}", made.text.narrative);
        made.origin = Origin::User;
    }
    made.text.facts = facts(&agents, turn.answered.language, f32::MIN);
    made.text.subtitle = about(carry, &[]);
    made.text.concepts = nature(&agents, ReplyKind::Continues);
    Some(made)
}

/// Composes the decision of a proposal of the agent that the user accepted.
pub(super) fn accepted(turn: &TurnTexts<'_>, carry: &Carry) -> Option<NewObservation> {
    let last = &carry.last_words;
    let agrees = turn.said.own().next()?.marks.opens(CueKind::Agree);
    // Where the work followed at once, the work tells it.
    let done = !turn.files.is_empty();
    if last.proposal.is_empty() || !last.settled.is_empty() || !agrees || done {
        return None;
    }
    let language = Language::detect(&last.proposal);
    let title = headline(&capitalised(without_offer(&last.proposal)), language);
    let mut made = observation(ObservationType::DECISION, title, turn.at);
    let yes: Vec<&MarkedSentence> = turn.said.own().collect();
    made.text.narrative = format!("Agent: “{}” User: “{}”", last.proposal, clip(&join(&yes), 200));
    made.text.subtitle = about(carry, &[]);
    made.text.concepts = nature(&[&MarkedSentence::clause(&last.proposal, language)], ReplyKind::Extends);
    Some(made)
}

/// Composes a preference, which may hold in every project.
pub(super) fn preference(turn: &TurnTexts<'_>, stated: &MarkedSentence) -> NewObservation {
    let language = turn.said.language;
    let wish = without_preface(without_lead_in(&stated.text, language), language);
    let mut made = observation(ObservationType::DECISION, headline(wish, language), turn.at);
    made.text.narrative = format!("User: “{}”", stated.text);
    made.origin = Origin::User;
    made.text.concepts = concepts(&[PREFERENCE]);
    made
}

/// Composes a discovery of a warning: "that test has been flaky all week".
pub(super) fn warning(subject: &SettledSubject<'_>) -> Option<NewObservation> {
    let warns = |s: &&&MarkedSentence| s.marks.has(CueKind::Caveat) && !s.question && s.words.len() >= 4;
    let warning = subject.topic.iter().find(warns)?;
    let language = subject.turn.said.language;
    // "Unrelated heads-up if you run the suite: the exporter test is flaky".
    let text = match warning.text.split_once(": ") {
        Some((head, rest)) if cues::mark(head, language).has(CueKind::Topic) => rest,
        _ => warning.text.as_str(),
    };
    let title = headline(text, language);
    let mut made = observation(ObservationType::DISCOVERY, title, subject.turn.at);
    made.text.narrative = format!("User: “{}”", join(&of_user(subject.topic, USER_CHARS)));
    made.origin = Origin::User;
    made.text.concepts = concepts(&["gotcha"]);
    Some(made)
}

fn narrative(subject: &SettledSubject<'_>, users: &[&MarkedSentence], agents: &[&MarkedSentence]) -> String {
    let carry = subject.carry;
    let mut voices = Vec::new();
    if subject.reply == ReplyKind::Answers && length(users) < SHORT_ANSWER_CHARS {
        // What the user had said before gives a short answer its subject.
        if let Some(earlier) = echo(carry.rules.iter(), agents, 220) {
            voices.push(format!("User, before: “{earlier}”"));
        }
        voices.push(format!("Agent asked: “{}”", clip(&carry.last_words.question, 260)));
    }
    if !users.is_empty() {
        voices.push(format!("User: “{}”", join(users)));
    }
    if !agents.is_empty() {
        voices.push(format!("Agent: “{}”", join(agents)));
    }
    voices.join(" ")
}

/// The concepts of a decision, by the cues in its sentences.
fn nature(statements: &[&MarkedSentence], reply: ReplyKind) -> Vec<String> {
    let has = |cue: CueKind| statements.iter().any(|s| s.marks.has(cue));
    let mut names = Vec::new();
    if has(CueKind::Reason) {
        names.push("why-it-exists");
    }
    if has(CueKind::Amend) {
        names.push(AMENDMENT);
    }
    if reply == ReplyKind::Corrects {
        names.push("gotcha");
    }
    if names.is_empty() {
        names.push("pattern");
    }
    concepts(&names)
}

/// The first request of the session, unless the subject is part of it.
fn about(carry: &Carry, topic: &[&MarkedSentence]) -> String {
    let first = topic.first().map_or("", |s| s.text.as_str());
    if !first.is_empty() && carry.first_request.starts_with(first) {
        return String::new();
    }
    carry.first_request.clone()
}
