//! Titles of decisions: the agent's restatement if there is one, else the user's sentence of the highest weight.

use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use std::collections::BTreeSet;

use super::reply::ReplyKind;
use super::subject::SettledSubject;
use super::words::without_head;
use crate::cues;
use crate::cues::{CueKind, Language};
use crate::speech::MarkedSentence;
use crate::text::{capitalised, content_words, is_name, shared};
use crate::titles::{clauses, headline, shorten_to, without_lead_in, without_preface};

/// The weight of a recap that names its subject: it always wins.
const WHOLE_RECAP_WEIGHT: f32 = 100.0;
const HEAD_CHARS_MAX: usize = 90;

pub(super) fn compose_title(subject: &SettledSubject<'_>) -> Option<String> {
    let turn = subject.turn;
    let earlier = subject.carry.rules.iter().flat_map(|rule| content_words(rule));
    let theirs: BTreeSet<String> =
        turn.said.own().flat_map(|s| s.words.iter().cloned()).chain(earlier).collect();
    let mut best = TitleCandidates::default();
    let language = turn.answered.language;
    for (order, restated) in subject.restated.iter().enumerate() {
        if let Some(line) = whole_recap(restated.statement, language) {
            best.lines.push((WHOLE_RECAP_WEIGHT, line));
        }
        let first = if order == 0 { 0.5 } else { 0.0 };
        let bonus = first + if restated.recap { 2.5 } else { 0.25 };
        let parts = clauses(without_head(restated.statement, language));
        for (index, clause) in parts.into_iter().enumerate() {
            // What is said first of a recap is what it is about.
            let place = 0.3 * index.min(6) as f32;
            best.offer(clause, bonus - place + weight(clause, language, &theirs), language);
        }
    }
    let language = turn.said.language;
    let mut before = "";
    for statement in subject.topic.iter().filter(|s| !s.question) {
        let objects =
            statement.marks.opens(CueKind::Disagree) && subject.reply.bonus() > 1.0 && before.is_empty();
        // An answer starts with what it answers.
        let answers = subject.reply == ReplyKind::Answers && before.is_empty();
        let front = if objects || answers { 0.75 } else { 0.0 };
        let bonus = subject.reply.bonus() * 0.5 + front;
        for clause in clauses(&statement.text) {
            best.offer(clause, bonus + weight(clause, language, &theirs), language);
        }
        // "It must stay below 10 seconds" is read with what stands before it.
        let whole = format!("{} {}", before, statement.text);
        let dangling =
            cues::mark(without_lead_in(&statement.text, language), language).opens(CueKind::Pronoun);
        if dangling && !before.is_empty() && whole.chars().count() <= OBSERVATION_TITLE_CHARS_MAX {
            let own = weight(&statement.text, language, &theirs);
            best.offer(whole.trim(), bonus + own + 1.75, language);
        }
        before = statement.text.as_str();
    }
    best.lines.sort_by(|a, b| b.0.total_cmp(&a.0));
    best.lines.into_iter().next().map(|(_, line)| line)
}

/// "Recap of the retention rules: invoices are kept …" → "The retention rules: invoices are …":
/// what it is about, and as much of it as fits.
fn whole_recap(statement: &MarkedSentence, language: Language) -> Option<String> {
    let after = cues::after_opening(&statement.text, language, &[CueKind::Recap])?;
    let (head, rest) = after.split_once([':', '：'])?;
    let words = [" of ", " about ", " for ", " zu ", " zur ", " de ", " du ", " des "];
    let about = words.iter().find_map(|word| head.strip_prefix(word))?;
    if head.chars().count() > HEAD_CHARS_MAX {
        return None;
    }
    let line = format!("{}: {}", capitalised(about.trim()), rest.trim());
    let most = OBSERVATION_TITLE_CHARS_MAX;
    Some(shorten_to(line.trim_end_matches('.'), most, most * 2 / 3))
}

/// Candidate titles with their weights.
#[derive(Default)]
struct TitleCandidates {
    lines: Vec<(f32, String)>,
}

impl TitleCandidates {
    fn offer(&mut self, text: &str, weight: f32, language: Language) {
        let line = headline(without_preface(text, language), language);
        let named = if text.split_whitespace().any(is_name) { 0.5 } else { 0.0 };
        let weight = weight + named - unfitness(&line, text, language);
        if !line.is_empty() {
            self.lines.push((weight, line));
        }
    }
}

/// The weight of a clause, with a bonus for words of the user and penalties for reasons, rejected options and
/// bare pronouns.
fn weight(clause: &str, language: Language, theirs: &BTreeSet<String>) -> f32 {
    let statement = MarkedSentence::clause(without_lead_in(clause, language), language);
    let mut weight = statement.rule_weight() + 0.2 * shared(&statement.words, theirs).min(6) as f32;
    let marks = &statement.marks;
    let binding = [CueKind::Rule, CueKind::Limit, CueKind::Choice, CueKind::Should];
    let binds = binding.into_iter().any(|cue| marks.has(cue));
    for (poor, takes) in [
        (marks.opens(CueKind::Pronoun), 2.0),
        (!binds, 1.0),
        (marks.has(CueKind::Fruitless), 1.5),
        (marks.has(CueKind::Reason) && !marks.has(CueKind::Choice), 1.25),
    ] {
        if poor {
            weight -= takes;
        }
    }
    weight
}

/// The penalty of a title with few words or a cut end.
fn unfitness(line: &str, text: &str, language: Language) -> f32 {
    let concrete = MarkedSentence::clause(line, language).values;
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
