//! What was decided in a turn, in the words it was decided in.
//!
//! In: what the user said, what the agent answered, how the agent's last turn ended. Out: one
//! observation per subject that was settled. Only these two voices are read: nothing that a tool
//! printed can become a rule here.
//!
//! Invariant: each observation stands on its own. Where the user's words are an answer, the
//! question is kept with them; where the agent said the rule again in full, that is what titles
//! it; a proposal that the user turned down is never a statement.

mod compose;
mod preferences;
mod reply;
mod restated;
mod title;
mod words;

pub(crate) use preferences::is_preference;

use self::compose::Subject;
use self::reply::Reply;
use self::restated::Restated;
use super::carry::Carry;
use super::cues::Cue;
use super::speech::{Speech, Statement};
use claude_mem_core::clock::Millis;
use claude_mem_core::memory::NewObservation;

/// Maximum decisions of one turn.
const DISTIL_DECISIONS_MAX: usize = 4;

/// A sentence of the user's that weighs this much is a rule, once the agent has said something.
const RULE_WEIGHT: f32 = 2.25;
/// An opening prompt describes a problem in much the same words; it needs more to be a rule.
const OPENING_RULE_WEIGHT: f32 = 3.25;
/// What a complaint takes from a sentence of an opening prompt.
const COMPLAINT_WEIGHT: f32 = 2.5;
/// From here on a restatement is the account of the whole conversation, not of one answer.
const WHOLE_CHARS: usize = 320;
/// An answer shorter than this means little without its question.
const SHORT_ANSWER_CHARS: usize = 120;

/// Both voices of a turn.
pub(super) struct Turn<'a> {
    pub said: &'a Speech,
    pub answered: &'a Speech,
    pub at: Millis,
    /// The files that were changed in it: what was decided holds for them.
    pub files: &'a [String],
}

/// What was settled in this turn, and what the user laid down in it for later turns to build on.
pub(super) fn decide(turn: &Turn<'_>, carry: &mut Carry) -> Vec<NewObservation> {
    let reply = Reply::read(turn.said, &carry.last_words);
    let restated = restated::find(turn, reply);
    let recap_chars: usize = restated.iter().filter(|r| r.recap).map(Restated::chars).sum();
    let said_chars: usize = turn.said.own().map(|s| s.text.chars().count()).sum();
    // A short answer and its restatement belong together, however long the latter is.
    let whole = recap_chars > WHOLE_CHARS && (said_chars > SHORT_ANSWER_CHARS || reply == Reply::Confirms);

    let mut made = Vec::new();
    if carry.same_turn {
        // The prompt was heard with the first piece of this turn.
    } else if reply == Reply::Confirms {
        made.extend(compose::accepted(turn, carry));
    } else {
        for (index, topic) in topics(turn.said).iter().enumerate() {
            let reply = if index == 0 { reply } else { Reply::Continues };
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
pub(super) fn has_recap(turn: &Turn<'_>, carry: &Carry) -> bool {
    let answers = carry.last_words.spoke;
    answers && turn.answered.own().any(|statement| is_recap(&statement.text))
}

/// Whether the agent says again what the user's reply to it settled.
pub(super) fn is_restated(turn: &Turn<'_>, carry: &Carry) -> bool {
    let reply = Reply::read(turn.said, &carry.last_words);
    let replies = matches!(reply, Reply::Corrects | Reply::Answers | Reply::Extends);
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
    turn: &Turn<'_>,
    topic: &[&Statement],
    reply: Reply,
    restated: &[Restated<'_>],
    carry: &Carry,
) -> Option<NewObservation> {
    let subject = Subject { turn, topic, reply, restated, carry };
    if settles(topic, reply) {
        return compose::decision(&subject);
    }
    // "Unrelated heads-up: that test has been flaky all week."
    let warned = reply != Reply::Opens && topic.iter().any(|s| s.marks.has(Cue::Caveat) && !s.question);
    if warned { compose::warning(&subject) } else { None }
}

/// The prompt's subjects: a new one starts where the user says so ("Unrelated: …").
fn topics(said: &Speech) -> Vec<Vec<&Statement>> {
    let mut topics: Vec<Vec<&Statement>> = vec![Vec::new()];
    for statement in said.own() {
        let turns = statement.marks.opens(Cue::Topic)
            || (statement.marks.opens(Cue::Connective) && statement.marks.has(Cue::Topic));
        match topics.last_mut() {
            Some(last) if !turns || last.is_empty() => last.push(statement),
            _ => topics.push(vec![statement]),
        }
    }
    topics
}

/// Whether something was settled here.
fn settles(topic: &[&Statement], reply: Reply) -> bool {
    let binds = |s: &Statement| {
        if reply == Reply::Opens {
            let complains = s.marks.has(Cue::Problem) && !rules_on_it(s);
            let weight = s.rule_weight() - if complains { COMPLAINT_WEIGHT } else { 0.0 };
            let plain = s.marks.has(Cue::Rule) && !complains;
            return weight >= if plain { RULE_WEIGHT } else { OPENING_RULE_WEIGHT };
        }
        // "That's the policy" agrees with a rule; it does not make one.
        let agrees = if s.marks.opens(Cue::Agree) { 1.0 } else { 0.0 };
        s.rule_weight() + reply.bonus() - agrees >= RULE_WEIGHT
    };
    let answers = |s: &Statement| {
        reply == Reply::Answers && !s.question && !s.is_bare() && !s.marks.opens(Cue::Request)
    };
    topic.iter().any(|s| binds(s) || answers(s))
}

/// Whether a sentence that names a problem lays down what to do about it: "never log error
/// payloads", "we must never return duplicates", "round up, always, because auditors complained".
/// "It always fails" does not.
pub(crate) fn rules_on_it(s: &Statement) -> bool {
    let rules = s.marks.before(Cue::Rule, Cue::Problem);
    let with_reason = s.marks.before(Cue::Reason, Cue::Problem) > 0;
    s.marks.opens(Cue::Rule) || rules >= 2 || (rules == 1 && with_reason)
}

/// What the user laid down, so that a later, shorter answer can be read with it.
fn remember_rules(said: &Speech, reply: Reply, carry: &mut Carry) {
    if matches!(reply, Reply::Opens | Reply::Confirms) {
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
            let speech = Speech::read(said);
            let topic: Vec<&Statement> = speech.own().collect();
            assert_eq!(settles(&topic, Reply::Opens), want, "{said}");
        }
    }
}
