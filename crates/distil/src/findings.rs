//! What was found out: conclusions of the agent, dead ends, cures that were no edit, and what
//! still fails.

use super::account::{Account, Use, titling, without_speaker};
use super::acts::{Act, Done};
use super::cues::{Cue, Language};
use super::draft::{concepts, observation};
use super::effect;
use super::failures::Overcome;
use super::speech::Speech;
use super::text::{capitalised, clip, content_words, run_on, shared};
use super::titles::headline;
use super::work::{FileWork, Works};
use crate::limits::OBSERVATION_TITLE_CHARS_MAX;
use claude_mem_core::clock::Millis;
use claude_mem_core::limits::DISTIL_NARRATIVE_CHARS_MAX;
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};

/// Dead ends of one turn that are kept.
const DEAD_ENDS_MAX: usize = 2;

/// What the agent concluded from what it read, in a turn that changed nothing.
pub(super) fn conclusion(
    account: &Account<'_>,
    said: &Speech,
    done: &[Done],
    language: Language,
    at: Millis,
) -> Option<NewObservation> {
    let asked = said.own().any(|s| s.question || s.marks.opens(Cue::Request));
    let looked = done.iter().any(|d| !matches!(d.act, Act::Changed(_)));
    let kept = account.best(&[Use::Found, Use::Caveat], &[], DISTIL_NARRATIVE_CHARS_MAX - 60, 6);
    let title = titling(&kept, &[], said)?;
    let caused = kept.iter().any(|s| s.marks.has(Cue::Cause));
    let concrete: usize = kept.iter().map(|s| s.values).sum();
    // Where the agent ends with a question or an offer, what it describes may change at once.
    let open = account.sentences.iter().any(|(_, s)| s.question || s.marks.has(Cue::Propose));
    // An explanation of the world at large is not a memory of this project.
    let of_project = looked && concrete > 0 && (caused || (asked && !open));
    let of_talk = asked && caused && concrete >= 2 && !open;
    if !of_project && !of_talk {
        return None;
    }
    let line = headline(&capitalised(without_speaker(&title.text)), language);
    let mut made = observation(ObservationType::DISCOVERY, line, at);
    made.narrative = run_on(kept.iter().map(|s| s.text.as_str()));
    made.facts = kept.iter().filter(|s| s.values > 0).map(|s| trimmed(&s.text)).collect();
    made.origin = origin(done);
    let mut names = vec!["how-it-works"];
    if kept.iter().any(|s| s.marks.has(Cue::Caveat)) {
        names.push("gotcha");
    }
    made.concepts = concepts(&names);
    Some(made)
}

/// A turn that only asked the web tells what a stranger wrote.
fn origin(done: &[Done]) -> Origin {
    let web = done.iter().any(|d| matches!(d.act, Act::Fetched(_)));
    let here = done.iter().any(|d| matches!(d.act, Act::Read(_) | Act::Changed(_) | Act::Ran { .. }));
    if web && !here { Origin::Web } else { Origin::Agent }
}

fn trimmed(text: &str) -> String {
    capitalised(text.trim_end_matches(['.', '。']))
}

/// What was tried in vain, in the words of whoever says so.
pub(super) fn dead_ends(
    account: &Account<'_>,
    works: &Works,
    done: &[Done],
    language: Language,
    at: Millis,
) -> Vec<NewObservation> {
    let mut made = Vec::new();
    let told = account.statements_for(Use::DeadEnd).filter(|s| s.words.len() >= 5);
    for statement in told.take(DEAD_ENDS_MAX) {
        let title = headline(&capitalised(without_speaker(&statement.text)), language);
        let mut end = observation(ObservationType::DISCOVERY, title, at);
        end.narrative.clone_from(&statement.text);
        end.origin = origin(done);
        end.concepts = concepts(&["gotcha"]);
        made.push(end);
    }
    if made.is_empty() && !works.undone.is_empty() {
        made.extend(undone(&works.undone, account, at));
    }
    made
}

/// Edits that were taken back, with the reason if the agent gives one.
fn undone(files: &[FileWork], account: &Account<'_>, at: Millis) -> Option<NewObservation> {
    let file = files.iter().find(|file| file.effects.iter().any(|effect| effect.weight() >= 2))?;
    let told = effect::told(&file.path, &file.effects, 2);
    let why = account.best(&[Use::Found, Use::Caveat], &[], 400, 2);
    if told.is_empty() || why.is_empty() {
        return None;
    }
    let title = clip(&format!("Tried and taken back: {told}"), OBSERVATION_TITLE_CHARS_MAX);
    let mut end = observation(ObservationType::DISCOVERY, title, at);
    end.narrative = run_on(why.iter().map(|s| s.text.as_str()));
    end.concepts = concepts(&["gotcha"]);
    Some(end)
}

/// A failure that a command cured: "the tests need the database up".
pub(super) fn remedy(over: &Overcome, at: Millis) -> Option<NewObservation> {
    let failure = &over.failure;
    let cure = failure.remedies.last()?;
    let error = failure.errors.first()?;
    let title =
        format!("`{}` needs `{}` first: “{}”", clip(&failure.command, 40), clip(cure, 40), clip(error, 60));
    let mut made = observation(ObservationType::DISCOVERY, title, at);
    made.narrative =
        format!("`{}` failed with “{error}”. After `{cure}` it passed ({}).", failure.command, over.passed);
    made.facts = vec![format!("`{}` failed with “{error}”", failure.command), format!("Cured by `{cure}`")];
    made.concepts = concepts(&["problem-solution", "gotcha"]);
    Some(made)
}

/// What fails at the end of a turn. The words are a tool's: quoted, and marked as such.
pub(super) fn still_failing(works: &Works, told: &[NewObservation], at: Millis) -> Option<NewObservation> {
    let run = works.still_failing.as_ref()?;
    let error = run.errors.first()?;
    // The agent's own account of the same failure says more.
    let words = content_words(&run.errors.join(" "));
    let same = |made: &NewObservation| {
        let theirs = content_words(&made.narrative);
        let rare = words.intersection(&theirs).any(|word| word.chars().count() >= 9);
        rare || shared(&theirs, &words) >= words.len().min(3)
    };
    if told.iter().any(same) {
        return None;
    }
    let counted = run.results.filter(|results| results.failed > 0);
    let how = counted.map_or(String::from("fails"), |results| format!("fails ({})", results.in_words()));
    let title = format!("`{}` {how}: “{}”", clip(&run.command, 50), clip(error, 70));
    let mut made = observation(ObservationType::DISCOVERY, title, at);
    let quoted: Vec<String> = run.errors.iter().map(|error| format!("“{error}”")).collect();
    made.narrative = format!("`{}` {how}. Its output says: {}", run.command, quoted.join("; "));
    made.facts = quoted;
    made.origin = Origin::Tool;
    made.concepts = concepts(&["gotcha"]);
    Some(made)
}
