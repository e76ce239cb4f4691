//! Remaining work that a session named, and whether the session itself finished it.

use std::collections::{BTreeMap, BTreeSet};

use claude_mem_core::memory::NewOpenItem;
use claude_mem_core::source::TextSource;

use crate::claim::{Claim, ClaimKind, EpisodeClaims, RunClaim};
use crate::commands;
use crate::commits;
use crate::gates;
use crate::text::{capitalised, clip, content_words, head, overlap, shared};
use crate::turn_outcome::{FiledWork, NextCommand, PendingPlan, RefusedCommit, TurnOutcome};

use super::purpose;

/// Maximum open items of one session.
const OPEN_ITEMS_MAX: usize = 12;
const OPEN_CHARS_MAX: usize = 240;
/// Fewer words that mean something do not say what is left.
const OPEN_WORDS_MIN: usize = 3;
/// A note and a stated item that share this much are one.
const SAME_NOTE: f32 = 0.6;
/// Words that a commit shares with the note that it files.
const NOTED_WORDS_MIN: usize = 2;
/// The share of an item's words that later work must repeat to finish it.
const FINISHED_OVERLAP: f32 = 0.6;

/// The open items of the episodes, which are in order.
pub(super) fn open_items(episodes: &[&EpisodeClaims]) -> Vec<NewOpenItem> {
    let last_tasks = last_task_keys(episodes);
    let ended = ended(episodes);
    let mut items: Vec<NewOpenItem> = Vec::new();
    for (index, episode) in episodes.iter().enumerate() {
        for claim in &episode.claims {
            let Some(text) = remaining_work(claim) else {
                continue;
            };
            let is_task = claim.source == TextSource::Task;
            if is_task && (!last_tasks.contains(claim.key.as_str()) || is_talk(&claim.text)) {
                continue;
            }
            let words = content_words(&text);
            if words.len() < OPEN_WORDS_MIN {
                continue;
            }
            // The commit that files a note: the note itself says what is left, and where it is settled.
            let noted = |filed: &FiledWork| shared(&content_words(&filed.title), &words) >= NOTED_WORDS_MIN;
            if claim.kind == ClaimKind::Commit && ended.filed.iter().any(noted) {
                continue;
            }
            let known = |item: &NewOpenItem| overlap(&content_words(&item.text), &words) >= 0.7;
            if items.iter().any(known) {
                continue;
            }
            items.push(NewOpenItem {
                claim: claim.key.clone(),
                text: clip(&text, OPEN_CHARS_MAX),
                at: claim.at,
                closed: is_finished(&words, claim, &episodes[index..]),
            });
        }
    }
    for item in filed_notes(&ended) {
        let words = content_words(&item.text);
        if !items.iter().any(|known| overlap(&content_words(&known.text), &words) >= SAME_NOTE) {
            items.push(item);
        }
    }
    items.extend(standing_failures(episodes).into_iter().filter(|_| ended.refused.is_none()));
    items.extend(ended.refused.iter().map(refused_commit));
    items.extend(unmerged_requests(episodes, &ended));
    match &ended.plan {
        Some(plan) => items.push(pending_plan(plan)),
        None => items.extend(unfinished_turn(episodes)),
    }
    let worked = ended.committed || episodes.iter().any(|episode| !episode.edited.is_empty());
    items.extend(ended.next.iter().filter(|_| worked).map(next_command));
    // The newest of too many.
    let excess = items.len().saturating_sub(OPEN_ITEMS_MAX);
    items.drain(..excess);
    items
}

/// The outcomes of the turns joined: how the session ended.
pub(super) fn ended(episodes: &[&EpisodeClaims]) -> TurnOutcome {
    let mut ended = TurnOutcome::default();
    for episode in episodes {
        ended.join(&episode.outcome);
    }
    ended.unanswered = episodes.last().is_some_and(|last| last.outcome.unanswered);
    ended
}

/// The keys of items of earlier sessions that the record of this one shows as done.
pub(super) fn settled_keys(episodes: &[&EpisodeClaims]) -> Vec<String> {
    let ended = ended(episodes);
    let merged = ended.merged.iter().map(|number| item_key("request", number));
    let landed = ended.landed.iter().map(|subject| item_key("refused", &commits::plain_title(subject)));
    let committed =
        episodes.iter().flat_map(|episode| &episode.claims).filter_map(|claim| match claim.kind {
            ClaimKind::Commit => Some(item_key("refused", &claim.title)),
            _ => None,
        });
    let notes = ended.unfiled.iter().map(|path| item_key("note", path));
    let is_command = |episode: &&&EpisodeClaims| episode.outcome.asked.starts_with('/');
    let commands = episodes.iter().filter(is_command).map(|episode| &episode.outcome.asked);
    let answered = episodes.iter().filter(|episode| is_command(episode) && !episode.outcome.unanswered);
    let completed = answered.map(|episode| item_key("asked", &episode.outcome.asked));
    let mut runs: BTreeMap<&str, bool> = BTreeMap::new();
    for run in episodes.iter().flat_map(|episode| &episode.runs) {
        for key in run.covers.iter().chain([&run.key]) {
            runs.insert(key, run.passed);
        }
    }
    let passing = runs.into_iter().filter(|(_, passed)| *passed).map(|(key, _)| item_key("run", key));
    let mut keys: Vec<String> = merged
        .chain(landed)
        .chain(committed)
        .chain(notes)
        .chain(commands.map(|command| item_key("next", command)))
        .chain(completed)
        .chain(passing)
        .collect();
    keys.sort_unstable();
    keys.dedup();
    keys
}

/// Bytes of a name in a key: the store replaces longer keys by their digest.
const KEY_NAME_BYTES_MAX: usize = 160;

/// The key of an item that later work may settle: what kind it is, and its name.
fn item_key(kind: &str, name: &str) -> String {
    format!("{kind}:{}", head(name, KEY_NAME_BYTES_MAX))
}

/// Pull requests that the session opened and that nothing shows as merged.
fn unmerged_requests(episodes: &[&EpisodeClaims], ended: &TurnOutcome) -> Vec<NewOpenItem> {
    let claims = episodes.iter().flat_map(|episode| &episode.claims);
    let requests = claims.filter(|claim| claim.kind == ClaimKind::PullRequest).filter_map(|claim| {
        let (title, number) = claim.title.rsplit_once(" (PR #")?;
        let number = number.strip_suffix(')')?;
        Some(NewOpenItem {
            claim: item_key("request", number),
            text: clip(&format!("Pull request #{number} is not merged: {title}"), OPEN_CHARS_MAX),
            at: claim.at,
            closed: ended.merged.iter().any(|merged| merged == number),
        })
    });
    let mut items: Vec<NewOpenItem> = Vec::new();
    for item in requests {
        if !items.iter().any(|known| known.claim == item.claim) {
            items.push(item);
        }
    }
    items
}

/// A plan that was written and not carried out.
fn pending_plan(plan: &PendingPlan) -> NewOpenItem {
    NewOpenItem {
        claim: item_key("plan", &plan.title),
        text: clip(&format!("The plan “{}” is not carried out", plan.title), OPEN_CHARS_MAX),
        at: plan.at,
        closed: false,
    }
}

/// The slash command that is to come next.
fn next_command(next: &NextCommand) -> NewOpenItem {
    let about = if next.about.is_empty() { String::new() } else { format!(": {}", next.about) };
    NewOpenItem {
        claim: item_key("next", &next.command),
        text: clip(&format!("Next is `{}`{about}", next.command), OPEN_CHARS_MAX),
        at: next.at,
        closed: false,
    }
}

/// What the last turn was asked for, if the agent did not come to its end.
fn unfinished_turn(episodes: &[&EpisodeClaims]) -> Option<NewOpenItem> {
    let commits = |last: &EpisodeClaims| last.claims.iter().any(|claim| claim.kind == ClaimKind::Commit);
    let last = episodes.last().filter(|last| last.outcome.unanswered && !commits(last))?;
    let plan = last.claims.iter().find(|claim| claim.kind == ClaimKind::Plan);
    let asked = match plan {
        Some(plan) => plan.title.clone(),
        None => purpose::requested_work(episodes)?,
    };
    Some(NewOpenItem {
        claim: item_key("asked", &asked),
        text: clip(&format!("Not finished when the session ended: {asked}"), OPEN_CHARS_MAX),
        at: last.at,
        closed: false,
    })
}

/// Whether a text speaks of filing work instead of doing it.
pub(super) fn files_work(text: &str) -> bool {
    content_words(text).iter().any(|word| word.starts_with("todo") || word == "backlog")
}

/// Notes of remaining work that the session wrote and left.
fn filed_notes(ended: &TurnOutcome) -> Vec<NewOpenItem> {
    let filed = ended.filed.iter().filter(|filed| content_words(&filed.title).len() >= OPEN_WORDS_MIN);
    filed
        .map(|filed| NewOpenItem {
            claim: item_key("note", &filed.path),
            text: clip(&format!("{} (`{}`)", capitalised(&filed.title), filed.path), OPEN_CHARS_MAX),
            at: filed.at,
            closed: false,
        })
        .collect()
}

/// A commit that was refused and that nothing let through since.
fn refused_commit(refused: &RefusedCommit) -> NewOpenItem {
    let commit = if refused.title.is_empty() {
        "The last commit".to_owned()
    } else {
        format!("The commit “{}”", refused.title)
    };
    let reason = if refused.error.is_empty() { String::new() } else { format!(": {}", refused.error) };
    NewOpenItem {
        claim: item_key("refused", &refused.title),
        text: clip(&format!("{commit} was refused{reason}"), OPEN_CHARS_MAX),
        at: refused.at,
        closed: false,
    }
}

/// The remaining work that a claim states, if it states any.
fn remaining_work(claim: &Claim) -> Option<String> {
    match claim.kind {
        ClaimKind::Open => stated_work(&claim.text),
        ClaimKind::Commit => filed_todo(&claim.title),
        _ => None,
    }
}

/// The sentence without a label. `None` if it only counts or names a file: "2 pending", "New todo: `a.md`".
fn stated_work(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let labels = ["next: ", "next step: ", "todo: ", "new todo: ", "still open: ", "remaining: ", "open: "];
    let label = labels.iter().find(|label| lower.starts_with(**label)).map_or(0, |label| label.len());
    let rest = text.get(label..).unwrap_or(text).trim();
    let counts = rest.starts_with(|c: char| c.is_ascii_digit())
        && rest.split_whitespace().nth(1).is_some_and(|word| word == "pending" || word == "open");
    let bare = rest.split_whitespace().count() < 2;
    (!counts && !bare).then(|| capitalised(rest))
}

/// "Add todo for lazy migration of old pointers" files work instead of doing it.
fn filed_todo(subject: &str) -> Option<String> {
    let mut words = subject.split_whitespace();
    let verb = words.next()?.to_lowercase();
    if !matches!(verb.as_str(), "add" | "capture" | "log" | "record" | "file" | "note") {
        return None;
    }
    let rest: Vec<&str> = words.collect();
    let todo = rest.iter().take(4).position(|word| {
        matches!(word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase().as_str(), "todo" | "todos")
    })?;
    let told = &rest[todo + 1..];
    let (link, work) = told.split_first()?;
    if !matches!(link.to_lowercase().as_str(), "for" | "to" | "about" | "on" | "-" | "–" | "—" | ":") {
        return None;
    }
    let text = work.join(" ");
    (!text.is_empty()).then(|| capitalised(&text))
}

/// A task that is done by talking: "Present the design and get approval".
fn is_talk(task: &str) -> bool {
    const TALK: &[&str] = &[
        "ask",
        "present",
        "propose",
        "discuss",
        "explain",
        "report",
        "summarize",
        "summarise",
        "user",
        "wait",
        "get",
    ];
    TALK.contains(&gates::first_word(task).as_str())
}

/// Tasks that the last list of the session still names.
fn last_task_keys<'c>(episodes: &[&'c EpisodeClaims]) -> BTreeSet<&'c str> {
    let tasks = |episode: &&EpisodeClaims| episode.claims.iter().any(|c| c.source == TextSource::Task);
    let last = episodes.iter().rev().find(|episode| tasks(episode));
    let open = last.into_iter().flat_map(|episode| &episode.claims);
    open.filter(|claim| claim.kind == ClaimKind::Open && claim.source == TextSource::Task)
        .map(|claim| claim.key.as_str())
        .collect()
}

fn is_finished(words: &BTreeSet<String>, item: &Claim, later: &[&EpisodeClaims]) -> bool {
    let finishes = |claim: &Claim| {
        let kind = matches!(
            claim.kind,
            ClaimKind::Commit | ClaimKind::PullRequest | ClaimKind::Finished | ClaimKind::Done
        );
        // Filing a todo does not do it.
        kind && !files_work(claim.headline())
            && claim.at > item.at
            && overlap(words, &content_words(claim.headline())) >= FINISHED_OVERLAP
    };
    later.iter().flat_map(|episode| &episode.claims).any(finishes)
}

/// Checks that failed and have not passed since.
fn standing_failures(episodes: &[&EpisodeClaims]) -> Vec<NewOpenItem> {
    let mut failing: Vec<&RunClaim> = Vec::new();
    for run in episodes.iter().flat_map(|episode| &episode.runs) {
        failing.retain(|open| {
            let again =
                open.key == run.key || (run.passed && (covers(run, &open.key) || covers(open, &run.key)));
            !again
        });
        // "exited with code 1" says only that it failed, not what is left to do.
        let tells = !run.error.is_empty() && !run.error.contains("exited with code");
        if !run.passed && tells && !commands::is_fixer(&run.command) {
            failing.push(run);
        }
    }
    // Whatever ran last says how the session ended; older failures may be overcome without a second run.
    let last = episodes.iter().flat_map(|episode| &episode.runs).last().map(|run| run.at);
    failing
        .into_iter()
        .filter(|run| Some(run.at) == last)
        .map(|run| NewOpenItem {
            claim: item_key("run", &run.key),
            text: clip(&format!("`{}` fails: “{}”", run.command, run.error), OPEN_CHARS_MAX),
            at: run.at,
            closed: false,
        })
        .collect()
}

/// Whether a passing run includes a failed command: the same one, or the whole of which it is a part.
fn covers(passed: &RunClaim, failed: &str) -> bool {
    passed.covers.iter().any(|key| {
        let rest = failed.strip_prefix(key.as_str());
        !key.is_empty() && rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(' '))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commit_that_files_a_todo_names_the_remaining_work() {
        let filed = |subject: &str| filed_todo(subject);
        assert_eq!(
            filed("Add todo for lazy migration of old pointers").as_deref(),
            Some("Lazy migration of old pointers")
        );
        assert_eq!(
            filed("Capture todo - disable the auto sync in CI").as_deref(),
            Some("Disable the auto sync in CI")
        );
        assert_eq!(filed("Add the todo list of the week to the start page"), None);
        assert_eq!(filed("Fix the todo counter"), None);
        assert_eq!(filed("Add a cursor to the list"), None);
    }

    #[test]
    fn labels_and_counts_are_not_part_of_an_item() {
        let told = |text: &str| stated_work(text);
        assert_eq!(told("Next: move the session table").as_deref(), Some("Move the session table"));
        assert_eq!(told("2 pending — run the check to see them"), None);
        assert_eq!(told("New todo: `notes/todo/42.md`"), None);
    }
}
