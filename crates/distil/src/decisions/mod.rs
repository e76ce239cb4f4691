//! Decisions that a conversation settles: the user's rule together with the agent's restatement of it.
//!
//! [`decide`] reads the two voices of a turn ([`TurnTexts`]) and the end of the agent's previous turn, and
//! composes one observation per settled subject. Output of tools is not read here.
//!
//! Invariant: each observation can be understood alone. A short answer is kept with its question, the agent's
//! full restatement becomes the title, and a proposal that the user rejected is not kept.

mod compose;
mod preferences;
mod reply;
mod restated;
mod subject;
mod title;
mod turn;
mod words;

pub(crate) use preferences::is_preference;
pub(crate) use turn::TurnTexts;

use self::reply::ReplyKind;
use self::restated::RestatedRule;
use self::subject::SettledSubject;
use self::turn::{RULE_WEIGHT, SHORT_ANSWER_CHARS};
use super::carry::Carry;
use super::cues::CueKind;
use super::speech::{MarkedSentence, SpokenText};
use claude_mem_core::memory::NewObservation;

/// Maximum decisions of one turn.
const DISTIL_DECISIONS_MAX: usize = 4;

/// The weight of a rule in an opening prompt, which describes its problem in similar words.
const OPENING_RULE_WEIGHT: f32 = 3.25;
/// Penalty of a complaint in an opening prompt.
const COMPLAINT_WEIGHT: f32 = 2.5;
/// Restatements of at least this length sum up the whole conversation rather than one answer.
const WHOLE_CHARS: usize = 320;

/// Composes what was settled in this turn, and remembers the rules in it for later turns.
pub(super) fn decide(turn: &TurnTexts<'_>, carry: &mut Carry) -> Vec<NewObservation> {
    let reply = ReplyKind::read(turn.said, &carry.last_words);
    let restated = restated::find(turn, reply);
    let recap_chars: usize = restated.iter().filter(|r| r.recap).map(RestatedRule::chars).sum();
    let said_chars: usize = turn.said.own().map(|s| s.text.chars().count()).sum();
    // A short answer and its restatement belong together, however long the latter is.
    let whole =
        recap_chars > WHOLE_CHARS && (said_chars > SHORT_ANSWER_CHARS || reply == ReplyKind::Confirms);

    let mut made = Vec::new();
    if carry.same_turn {
        // The prompt was heard with the first piece of this turn.
    } else if reply == ReplyKind::Confirms {
        made.extend(compose::accepted(turn, carry));
    } else {
        for (index, topic) in topics(turn.said).iter().enumerate() {
            let reply = if index == 0 { reply } else { ReplyKind::Continues };
            let restated = if index == 0 && !whole { restated.as_slice() } else { &[] };
            let (wishes, rest): (Vec<_>, Vec<_>) =
                topic.iter().copied().partition(|s| preferences::is_preference(s));
            made.extend(wishes.iter().map(|wish| compose::preference(turn, wish)));
            made.extend(on_topic(turn, &rest, reply, restated, carry));
        }
    }
    let said_again = restated.iter().any(|r| r.recap);
    if whole || (made.is_empty() && said_again) {
        made.extend(compose::whole(turn, &restated, carry));
    }
    remember_rules(turn.said, reply, carry);
    made.truncate(DISTIL_DECISIONS_MAX);
    made
}

/// Openings by which an agent says again what was settled.
const RECAP_OPENINGS: &[&str] = &[
    "amended",
    "updated rule",
    "updated policy",
    "to be explicit",
    "so the contract",
    "so the rule",
    "the rule",
    "recap",
    "to recap",
    "quick recap",
    "final recap",
    "understood",
    "settled",
    "agreed",
    "got it",
    "noted",
    "locked in",
    "confirmed",
    "to confirm",
    "final rule",
    "final policy",
    "restating",
    "decision",
    "decided",
    "verstanden",
    "zusammengefasst",
    "vereinbart",
    "entendido",
    "acordado",
    "compris",
    "convenu",
    "récapitulatif",
    "了解",
    "明白",
    "总结",
    "承知",
    "понял",
    "итог",
    "решено",
];

/// Whether the agent says again, at length, what the user laid down in this session: "Recap of …: …",
/// "Understood: …".
pub(super) fn has_recap(turn: &TurnTexts<'_>, carry: &Carry) -> bool {
    let answers = carry.last_words.spoke;
    answers && turn.answered.own().any(|statement| is_recap(&statement.text))
}

/// Whether the agent says again what the user's reply to it settled.
pub(super) fn is_restated(turn: &TurnTexts<'_>, carry: &Carry) -> bool {
    let reply = ReplyKind::read(turn.said, &carry.last_words);
    let replies = matches!(reply, ReplyKind::Corrects | ReplyKind::Answers | ReplyKind::Extends);
    replies && !restated::find(turn, reply).is_empty()
}

fn is_recap(text: &str) -> bool {
    let lower = text.trim_start_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let Some(opening) = RECAP_OPENINGS.iter().find(|opening| lower.starts_with(**opening)) else {
        return false;
    };
    let head: String = lower.chars().skip(opening.chars().count()).take(70).collect();
    let marked =
        head.contains([':', '：']) || head.contains(" - ") || head.contains(" — ") || head.contains(',');
    marked && crate::text::content_words(text).len() >= 6
}

fn on_topic(
    turn: &TurnTexts<'_>,
    topic: &[&MarkedSentence],
    reply: ReplyKind,
    restated: &[RestatedRule<'_>],
    carry: &Carry,
) -> Option<NewObservation> {
    let subject = SettledSubject { turn, topic, reply, restated, carry };
    if settles(topic, reply) {
        return compose::decision(&subject);
    }
    // "Unrelated heads-up: that test has been flaky all week."
    let warned =
        reply != ReplyKind::Opens && topic.iter().any(|s| s.marks.has(CueKind::Caveat) && !s.question);
    if warned { compose::warning(&subject) } else { None }
}

/// The prompt's subjects: a new one starts where the user says so ("Unrelated: …").
fn topics(said: &SpokenText) -> Vec<Vec<&MarkedSentence>> {
    let mut topics: Vec<Vec<&MarkedSentence>> = vec![Vec::new()];
    for statement in said.own() {
        let turns = statement.marks.opens(CueKind::Topic)
            || (statement.marks.opens(CueKind::Connective) && statement.marks.has(CueKind::Topic));
        match topics.last_mut() {
            Some(last) if !turns || last.is_empty() => last.push(statement),
            _ => topics.push(vec![statement]),
        }
    }
    topics
}

/// Whether something was settled here.
fn settles(topic: &[&MarkedSentence], reply: ReplyKind) -> bool {
    let binds = |s: &MarkedSentence| {
        if reply == ReplyKind::Opens {
            let complains = s.marks.has(CueKind::Problem) && !rules_on_it(s);
            let weight = s.rule_weight() - if complains { COMPLAINT_WEIGHT } else { 0.0 };
            let plain = s.marks.has(CueKind::Rule) && !complains;
            return weight >= if plain { RULE_WEIGHT } else { OPENING_RULE_WEIGHT };
        }
        // "That's the policy" agrees with a rule; it does not make one.
        let agrees = if s.marks.opens(CueKind::Agree) { 1.0 } else { 0.0 };
        s.rule_weight() + reply.bonus() - agrees >= RULE_WEIGHT
    };
    let answers = |s: &MarkedSentence| {
        reply == ReplyKind::Answers && !s.question && !s.is_bare() && !s.marks.opens(CueKind::Request)
    };
    topic.iter().any(|s| binds(s) || answers(s))
}

/// Whether a sentence that names a problem lays down what to do about it: "never log error
/// payloads", "we must never return duplicates", "round up, always, because auditors complained".
/// "It always fails" does not.
pub(crate) fn rules_on_it(s: &MarkedSentence) -> bool {
    let rules = s.marks.before(CueKind::Rule, CueKind::Problem);
    let with_reason = s.marks.before(CueKind::Reason, CueKind::Problem) > 0;
    s.marks.opens(CueKind::Rule) || rules >= 2 || (rules == 1 && with_reason)
}

/// What the user laid down, so that a later, shorter answer can be read with it.
fn remember_rules(said: &SpokenText, reply: ReplyKind, carry: &mut Carry) {
    if matches!(reply, ReplyKind::Opens | ReplyKind::Confirms) {
        return;
    }
    for statement in said.own() {
        if statement.rule_weight() + reply.bonus() >= 1.0 && !statement.is_bare() {
            carry.remember_rule(&statement.text);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rule_that_names_a_problem_is_a_rule_and_a_complaint_is_none() {
        for (said, want) in [
            ("Never log error payloads in audit.py", true),
            ("We must never return duplicate rows from export_orders.", true),
            ("Always retry uploads with jitter, because the upstream fails intermittently.", true),
            (
                "Payments must always be rounded with ceil, never truncated, because the auditors complained.",
                true,
            ),
            ("The upload always fails with an error on slow lines.", false),
            ("Saving never works, users complain about duplicates.", false),
        ] {
            let speech = SpokenText::read(said);
            let topic: Vec<&MarkedSentence> = speech.own().collect();
            assert_eq!(settles(&topic, ReplyKind::Opens), want, "{said}");
        }
    }
}
