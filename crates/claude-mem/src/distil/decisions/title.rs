//! The rule as one sentence: the agent's restatement where there is one, else the user's
//! strongest words, always with enough beside it to be understood alone.

use std::collections::BTreeSet;

use super::compose::Subject;
use super::reply::Reply;
use super::words::without_head;
use crate::distil::cues::{Cue, Language};
use crate::distil::speech::Statement;
use crate::distil::text::{capitalised, content_words, shared};
use crate::distil::titles::{answer_alone, clauses, headline, without_lead_in};
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;

/// A title with fewer words that mean something needs its question.
const THIN_WORDS: usize = 4;

pub(super) fn of(subject: &Subject<'_>) -> Option<String> {
    let turn = subject.turn;
    let earlier = subject
        .carry
        .rules
        .iter()
        .flat_map(|rule| content_words(rule));
    let theirs: BTreeSet<String> = turn
        .said
        .own()
        .flat_map(|s| s.words.iter().cloned())
        .chain(earlier)
        .collect();
    let mut best = Best::default();
    let language = turn.answered.language;
    for restated in subject.restated {
        let bonus = if restated.recap { 2.5 } else { 1.0 };
        for clause in clauses(without_head(restated.statement, language)) {
            best.offer(clause, bonus + weight(clause, language, &theirs), language);
        }
    }
    let language = turn.said.language;
    for statement in subject.topic.iter().filter(|s| !s.question) {
        let objects = statement.marks.opens(Cue::Disagree) && subject.reply.bonus() > 1.0;
        let bonus = subject.reply.bonus() * 0.5 + if objects { 0.5 } else { 0.0 };
        for clause in clauses(&statement.text) {
            best.offer(clause, bonus + weight(clause, language, &theirs), language);
        }
    }
    let line = with_question(best.line?, subject);
    Some(with_subject(line, &subject.carry.subject))
}

#[derive(Default)]
struct Best {
    weight: f32,
    line: Option<String>,
}

impl Best {
    fn offer(&mut self, text: &str, weight: f32, language: Language) {
        let line = headline(text, language);
        let weight = weight - unfitness(&line, text, language);
        if !line.is_empty() && (self.line.is_none() || weight > self.weight) {
            *self = Self {
                weight,
                line: Some(line),
            };
        }
    }
}

/// A clause's own weight, with a bonus for taking up what the user said.
fn weight(clause: &str, language: Language, theirs: &BTreeSet<String>) -> f32 {
    let statement = Statement::clause(without_lead_in(clause, language), language);
    let pronoun = if statement.marks.opens(Cue::Pronoun) {
        1.5
    } else {
        0.0
    };
    // What was given up is worth keeping, but it is not the rule.
    let rejected = if statement.marks.has(Cue::Fruitless) {
        1.5
    } else {
        0.0
    };
    statement.rule_weight() + 0.25 * shared(&statement.words, theirs).min(6) as f32
        - pronoun
        - rejected
}

/// What makes a line a poor title: too little in it, or its end cut off.
fn unfitness(line: &str, text: &str, language: Language) -> f32 {
    let concrete = Statement::clause(line, language).values;
    let thin = match content_words(line).len() + concrete.min(2) {
        0..3 => 2.5,
        3 | 4 => 0.75,
        _ => 0.0,
    };
    let shortened = line.chars().count() * 4 < text.chars().count() * 3;
    let cut = match (line.ends_with('…'), shortened) {
        (true, _) => 0.75,
        (false, true) => 0.35,
        (false, false) => 0.0,
    };
    thin + cut
}

/// A thin answer is titled together with what was asked.
fn with_question(line: String, subject: &Subject<'_>) -> String {
    let question = &subject.carry.last_words.question;
    let concrete = Statement::clause(&line, subject.turn.said.language).values;
    let thin = content_words(&line).len() + concrete < THIN_WORDS;
    if subject.reply != Reply::Answers || question.is_empty() || !thin {
        return line;
    }
    let answer = capitalised(answer_alone(&line, subject.turn.said.language));
    format!(
        "{answer} — on “{}”",
        without_lead_in(question, Language::of(question))
    )
}

/// A rule that does not name what it is about is titled with that name.
fn with_subject(line: String, name: &str) -> String {
    let bare = name.trim_matches('`');
    let fits = line.chars().count() + name.chars().count() + 2 <= OBSERVATION_TITLE_CHARS_MAX;
    if bare.is_empty() || line.contains(bare) || !fits {
        return line;
    }
    format!("{name}: {line}")
}
