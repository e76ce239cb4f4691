//! What the agent says it did and found: the sentences of its last message, sorted by use.
//!
//! The last message is already a good account of the turn. The work is to leave out what says
//! nothing: greetings, plans, "all tests pass", offers.

use std::collections::BTreeSet;

use super::cues::Cue;
use super::speech::{Speech, Statement};
use super::text::{is_name, shared};

/// What a sentence of the last message is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// Work that is finished.
    Done,
    /// Something found out.
    Found,
    /// What is left to do, or a question to the user.
    Next,
    /// What to beware of.
    Caveat,
    /// Something tried in vain.
    DeadEnd,
    /// That checks went well.
    Verified,
    Nothing,
}

pub(super) struct Account<'a> {
    pub sentences: Vec<(Use, &'a Statement)>,
}

impl<'a> Account<'a> {
    pub(super) fn read(answered: &'a Speech) -> Self {
        let sentences = answered.own().map(|statement| (use_of(statement, answered), statement));
        Self { sentences: sentences.collect() }
    }

    pub(super) fn statements_for(&self, wanted: Use) -> impl Iterator<Item = &'a Statement> {
        self.sentences.iter().filter(move |(found, _)| *found == wanted).map(|(_, s)| *s)
    }

    /// The weightiest sentences of these uses that fit, in the order they were said.
    pub(super) fn best(&self, uses: &[Use], names: &[&str], room: usize, most: usize) -> Vec<&'a Statement> {
        let mut ranked: Vec<(usize, f32)> = self
            .sentences
            .iter()
            .enumerate()
            .filter(|(_, (found, _))| uses.contains(found))
            .map(|(index, (_, statement))| (index, weight(statement, names)))
            .filter(|(_, weight)| *weight > 0.5)
            .collect();
        ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
        let (mut taken, mut left) = (Vec::new(), room);
        for (index, _) in ranked {
            let chars = self.sentences[index].1.text.chars().count() + 1;
            if chars <= left && taken.len() < most {
                left -= chars;
                taken.push(index);
            }
        }
        taken.sort_unstable();
        taken.into_iter().map(|index| self.sentences[index].1).collect()
    }
}

/// How much a sentence says about the work: verbs, reasons, and the names that were worked on.
pub(super) fn weight(statement: &Statement, names: &[&str]) -> f32 {
    let marks = &statement.marks;
    let mut weight = 0.3 * statement.values.min(4) as f32;
    for (cue, adds) in [
        (Cue::Done, 1.5),
        (Cue::Cause, 1.5),
        (Cue::Reason, 0.75),
        (Cue::Choice, 0.5),
        (Cue::Rule, 0.5),
        (Cue::Measure, 0.5),
        (Cue::Filler, -1.5),
        (Cue::Hedge, -0.75),
        (Cue::Plan, -1.5),
    ] {
        if marks.has(cue) {
            weight += adds;
        }
    }
    let named = names.iter().filter(|name| name.len() > 2 && statement.text.contains(**name)).count();
    weight += 1.0 * named.min(2) as f32;
    if statement.words.len() < 4 {
        weight -= 1.5;
    }
    if marks.opens(Cue::Pronoun) {
        weight -= 0.5;
    }
    weight
}

/// The sentence of these that makes the best title: it names what was worked on and says what
/// became of it. Agents put it first.
pub(super) fn titling<'a>(
    sentences: &[&'a Statement],
    names: &[&str],
    asked: &Speech,
) -> Option<&'a Statement> {
    let words: BTreeSet<String> = asked.own().flat_map(|s| s.words.iter().cloned()).collect();
    let score = |index: usize, s: &Statement| {
        let mut score = weight(s, names) + 0.2 * shared(&s.words, &words).min(4) as f32;
        for (holds, adds) in [
            (index == 0, 1.0),
            (s.marks.has(Cue::Done), 0.75),
            (s.text.chars().count() > 160, -0.5),
            (s.marks.has(Cue::Reason) && !s.marks.has(Cue::Done), -0.75),
        ] {
            if holds {
                score += adds;
            }
        }
        score
    };
    let fits = |s: &Statement| is_specific(s) && !s.marks.opens(Cue::Pronoun);
    let ranked = sentences.iter().enumerate().filter(|(_, s)| fits(s));
    let scored = ranked.map(|(index, s)| (score(index, s), *s)).filter(|(score, _)| *score >= 1.25);
    // The first of equals.
    scored
        .fold(None, |best: Option<(f32, &'a Statement)>, next| match best {
            Some(best) if best.0 >= next.0 => Some(best),
            _ => Some(next),
        })
        .map(|(_, s)| s)
}

fn use_of(statement: &Statement, answered: &Speech) -> Use {
    let marks = &statement.marks;
    let under = |cue: Cue| {
        !statement.section.is_empty() && super::cues::mark(&statement.section, answered.language).has(cue)
    };
    let intro = statement.text.ends_with([':', '：']);
    if statement.is_bare() || intro {
        return Use::Nothing;
    }
    if marks.has(Cue::Propose) && !marks.has(Cue::Done) {
        return Use::Next;
    }
    if statement.question
        || statement.block == super::sentences::Block::Todo
        || under(Cue::Next)
        || marks.opens(Cue::Next)
    {
        return Use::Next;
    }
    if marks.has(Cue::Fruitless) && marks.has(Cue::Tried) {
        return Use::DeadEnd;
    }
    if marks.has(Cue::Next) && !marks.opens(Cue::Done) {
        return Use::Next;
    }
    if marks.has(Cue::Verified) && !marks.has(Cue::Cause) && !starts_with_work(statement) {
        return Use::Verified;
    }
    if marks.has(Cue::Cause) && !starts_with_work(statement) {
        return Use::Found;
    }
    if marks.has(Cue::Caveat) || under(Cue::Caveat) {
        return Use::Caveat;
    }
    // "It would have to be replaced" is not done.
    if marks.has(Cue::Done) && !statement.text.contains(" would ") {
        return Use::Done;
    }
    let concrete = statement.values > 0 && statement.words.len() >= 4;
    if concrete && !marks.has(Cue::Plan) && !marks.has(Cue::Filler) {
        return if under(Cue::Done) { Use::Done } else { Use::Found };
    }
    Use::Nothing
}

/// "I changed …", "Added …": the verb stands in front.
fn starts_with_work(statement: &Statement) -> bool {
    statement.marks.opens(Cue::Done) || {
        let bare = without_speaker(&statement.text);
        let first = bare.split_whitespace().next().unwrap_or_default().to_lowercase();
        bare.len() < statement.text.len() && first.ends_with("ed")
    }
}

/// "I've added a lease" → "added a lease".
pub(super) fn without_speaker(text: &str) -> &str {
    const SPEAKERS: &[&str] = &[
        "I've now ",
        "I have now ",
        "I've also ",
        "I also ",
        "I've ",
        "I have ",
        "We've ",
        "We have ",
        "I ",
        "We ",
        "Ich habe ",
        "J'ai ",
        "He ",
        "Hemos ",
    ];
    SPEAKERS.iter().find_map(|speaker| text.strip_prefix(speaker)).unwrap_or(text)
}

/// Whether a sentence is specific enough to be a title: it names something, or says a lot.
pub(super) fn is_specific(statement: &Statement) -> bool {
    let named = statement.text.split_whitespace().any(|word| is_name(word) || word.contains('`'));
    statement.words.len() >= 6 || (named && statement.words.len() >= 3)
}
