//! A piece of work as an observation: titled by its commit, by the agent's own account, or by
//! what its edits do.

use super::account::{Account, Use, titling, without_speaker};
use super::commits;
use super::cues::Cue;
use super::draft::{concepts, observation};
use super::effect::{self, Effect};
use super::failures::Overcome;
use super::kinds;
use super::speech::{Speech, Statement};
use super::symbols::Kind;
use super::text::{capitalised, clip, run_on};
use super::titles::{headline, shorten};
use super::work::{FileWork, Work};
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use claude_mem_core::limits::{DISTIL_NARRATIVE_CHARS_MAX, OBSERVATION_NARRATIVE_CHARS_MAX};
use claude_mem_core::memory::{NewObservation, ObservationType};

/// The agent's account may take this much of a narrative.
const ACCOUNT_CHARS: usize = 560;

/// What a piece of work is told with.
pub(super) struct Context<'a> {
    pub said: &'a Speech,
    pub answered: &'a Speech,
    pub account: &'a Account<'a>,
    /// The only piece of the episode: all of the account speaks of it.
    pub alone: bool,
}

pub(super) fn report_work(work: &Work, context: &Context<'_>) -> Option<NewObservation> {
    let names = work.names();
    let sentences = sentences_about(work, context, &names);
    if work.commit.as_ref().is_some_and(|commit| commit.routine) && !work.has_effect() {
        return None;
    }
    let committed = work.commit.is_some();
    if !committed && !work.has_effect() && work.overcome.is_empty() {
        return None;
    }
    let title = title(work, &sentences, &names, context)?;
    let mut made = observation(kind(work, &sentences, context), title, work.at);
    made.narrative = narrative(work, &sentences);
    made.facts = facts(work);
    made.files_modified = work.paths();
    made.concepts = concepts(&nature(work, &sentences, &made));
    Some(made)
}

/// The agent's sentences on this piece: all, if there is no other; else those that name it.
fn sentences_about<'a>(work: &Work, context: &Context<'a>, names: &[&str]) -> Vec<&'a Statement> {
    let uses = [Use::Done, Use::Found];
    let found = context.account.best(&uses, names, ACCOUNT_CHARS, 5);
    if context.alone && work.commit.as_ref().is_none_or(|commit| commit.body.is_empty()) {
        return found;
    }
    let names_it = |s: &&Statement| names.iter().any(|name| name.len() > 2 && s.text.contains(name));
    found.into_iter().filter(names_it).collect()
}

fn title(work: &Work, sentences: &[&Statement], names: &[&str], context: &Context<'_>) -> Option<String> {
    if let Some(commit) = &work.commit {
        return Some(commit.title.clone());
    }
    if let Some(best) = titling(sentences, names, context.said) {
        let text = capitalised(without_speaker(&best.text));
        return Some(headline(&text, context.answered.language));
    }
    let told = from_effects(&work.files);
    match (told, work.overcome.first()) {
        (Some(told), Some(over)) => Some(with_error(told, over)),
        (Some(told), None) => Some(told),
        (None, Some(over)) => {
            let error = over.failure.errors.first()?;
            Some(format!("`{}` passes again after “{}”", over.failure.command, clip(error, 70)))
        }
        (None, None) => None,
    }
}

/// What was done, with the error it ends, as far as there is room.
fn with_error(told: String, over: &Overcome) -> String {
    let room = OBSERVATION_TITLE_CHARS_MAX.saturating_sub(told.chars().count() + 12);
    match over.failure.errors.first() {
        Some(error) if room >= 24 => format!("{told} — fixes “{}”", clip(error, room)),
        _ => told,
    }
}

/// `retry.py: `MAX_ATTEMPTS` 10 → 7`; over many files, the weightiest first.
fn from_effects(files: &[FileWork]) -> Option<String> {
    let weigh = |file: &FileWork| file.effects.iter().map(Effect::weight).max().unwrap_or(0);
    let mut ranked: Vec<&FileWork> = files.iter().filter(|file| weigh(file) >= 2).collect();
    ranked.sort_by_key(|file| std::cmp::Reverse(weigh(file)));
    let first = ranked.first()?;
    let mut rest = files.iter().filter(|file| file.path != first.path);
    let others = match (rest.next(), rest.count()) {
        (None, _) => String::new(),
        (Some(other), 0) => format!(" (and {})", clip(&other.path, 50)),
        (Some(_), more) => format!(" (and {} more files)", more + 1),
    };
    let room = OBSERVATION_TITLE_CHARS_MAX.saturating_sub(others.chars().count());
    let told = shorten(&effect::told(&first.path, &first.effects, 2), room);
    Some(format!("{told}{others}"))
}

fn kind(work: &Work, sentences: &[&Statement], context: &Context<'_>) -> ObservationType {
    if let Some(commit) = &work.commit {
        return commit.kind.clone();
    }
    if !work.overcome.is_empty() {
        return ObservationType::BUGFIX;
    }
    let all: Vec<&Effect> = work.files.iter().flat_map(|file| &file.effects).collect();
    let is = |fits: &dyn Fn(&Effect) -> bool| all.iter().any(|effect| fits(effect));
    let adds = is(&|e| {
        matches!(e, Effect::Added { kind: Kind::Function | Kind::Type, .. } | Effect::NewFile { .. })
    });
    let only_moves = !all.is_empty()
        && all
            .iter()
            .all(|e| matches!(e, Effect::Renamed { .. } | Effect::Removed { .. } | Effect::Reason(_)));
    if only_moves {
        return ObservationType::REFACTOR;
    }
    let asked = context.said.own().find_map(|s| kinds::by_verb(&s.text));
    let did = sentences.iter().find_map(|s| kinds::by_verb(&s.text));
    let complained = context.said.own().any(|s| s.marks.has(Cue::Problem));
    match (did, asked) {
        (Some(kind), _) if kind == ObservationType::BUGFIX => kind,
        (_, Some(kind)) if kind == ObservationType::BUGFIX && complained => kind,
        (Some(kind), _) | (None, Some(kind)) if kind != ObservationType::FEATURE || adds => kind,
        _ if adds => ObservationType::FEATURE,
        _ => ObservationType::CHANGE,
    }
}

fn narrative(work: &Work, sentences: &[&Statement]) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut room = DISTIL_NARRATIVE_CHARS_MAX;
    if let Some(commit) = work.commit.as_ref().filter(|commit| !commit.body.is_empty()) {
        parts.push(commits::narrative(&commit.body));
        room = OBSERVATION_NARRATIVE_CHARS_MAX;
    }
    for over in work.overcome.iter().take(2) {
        let errors: Vec<String> =
            over.failure.errors.iter().take(2).map(|error| format!("“{error}”")).collect();
        parts.push(format!("Problem: `{}` failed with {}.", over.failure.command, errors.join(" and ")));
    }
    let account = run_on(sentences.iter().map(|s| s.text.as_str()));
    let told = if account.is_empty() { what_changed(work) } else { account };
    match (told.is_empty(), work.overcome.is_empty()) {
        (true, _) => {}
        (false, true) => parts.push(told),
        (false, false) => parts.push(format!("Solution: {told}")),
    }
    if let Some(check) = work.overcome.first().map(|over| &over.passed).or(work.checks.last()) {
        parts.push(format!("Checked: {check}."));
    }
    clip(&parts.join(" "), room)
}

/// The edits as a sentence, for work that nobody described.
fn what_changed(work: &Work) -> String {
    let told = work.files.iter().map(|file| effect::told(&file.path, &file.effects, 3));
    let told: Vec<String> =
        told.filter(|told| !told.is_empty()).take(4).map(|told| format!("{told}.")).collect();
    told.join(" ")
}

fn facts(work: &Work) -> Vec<String> {
    let mut facts = Vec::new();
    if let Some(commit) = &work.commit {
        facts.extend(commits::statements(&commit.body));
    }
    for file in &work.files {
        let told = effect::told(&file.path, &file.effects, 4);
        if !told.is_empty() {
            facts.push(told);
        }
        facts.extend(file.effects.iter().filter_map(|effect| match effect {
            Effect::Reason(why) => Some(format!("{}: “{why}”", file.path)),
            _ => None,
        }));
    }
    for over in &work.overcome {
        for error in over.failure.errors.iter().take(2) {
            facts.push(format!("`{}` had failed with “{error}”", over.failure.command));
        }
        // Edits of earlier turns that belong to the same fix.
        let here =
            |effect: &&String| !work.files.iter().any(|file| effect.starts_with(&format!("{}:", file.path)));
        facts.extend(over.failure.effects.iter().filter(here).cloned());
        facts.push(over.passed.clone());
    }
    facts.extend(work.checks.iter().cloned());
    facts
}

fn nature(work: &Work, sentences: &[&Statement], made: &NewObservation) -> Vec<&'static str> {
    let mut names = Vec::new();
    if !work.overcome.is_empty() || made.kind == ObservationType::BUGFIX {
        names.push("problem-solution");
    } else {
        names.push("what-changed");
    }
    let body = work.commit.as_ref().map_or("", |commit| commit.body.as_str());
    let told = Speech::read(body);
    let has = |cue: Cue| told.own().chain(sentences.iter().copied()).any(|s| s.marks.has(cue));
    let reasons = work.files.iter().flat_map(|f| &f.effects).any(|e| matches!(e, Effect::Reason(_)));
    if has(Cue::Reason) || reasons {
        names.push("why-it-exists");
    }
    if told.own().any(|s| s.rule_weight() >= 3.0) {
        names.push("gotcha");
    }
    names
}
