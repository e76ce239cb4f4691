//! Where one episode ends and the next begins, and what a compressor is given of it.
//!
//! In: a session's unsettled events in order. Out: how many of them make the next episode, and
//! the episode. Pure: the clock's reading is passed in.
//!
//! Invariant: every event belongs to exactly one episode, whatever order hooks were delivered in
//! and whatever is missing. An Esc brings no Stop, a killed client brings nothing.

use crate::clock::Millis;
use crate::episode::{Episode, FinalMessage, Prompt, Step};
use crate::hook::event::{Body, Event};
use crate::limits::{
    BACKOFF_SECONDS_MAX, EPISODE_BYTES_MAX, EPISODE_EVENTS_MAX, EPISODE_SECONDS_MAX, LEASE_SECONDS,
    STOP_GRACE_MS,
};
use crate::store::Head;

/// What to do with the front of a session's queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cut {
    /// So many events are an episode.
    Take(usize),
    /// The turn goes on. If nothing happens, look again then.
    Wait(Millis),
    Nothing,
}

/// Decides where the first episode of `heads` ends. With `flush` an open turn is taken as it
/// stands: somebody waits for an empty queue.
pub fn cut(heads: &[Head], now: Millis, flush: bool) -> Cut {
    cut_at(heads, Some(now), flush)
}

/// The same where no time passes: an episode ends where the next one begins.
pub fn cut_told(heads: &[Head], flush: bool) -> Cut {
    cut_at(heads, None, flush)
}

fn cut_at(heads: &[Head], now: Option<Millis>, flush: bool) -> Cut {
    let Some(first) = heads.first() else {
        return Cut::Nothing;
    };
    // As for the queue: a time further away than any wait means that the clock was set back.
    let wait_ms = BACKOFF_SECONDS_MAX.max(LEASE_SECONDS) * 1_000;
    if now.is_some()
        && let Some(at) = still_to_come(first.not_before, wait_ms, now)
    {
        return Cut::Wait(at);
    }
    let mut bytes = 0;
    for (at, head) in heads.iter().enumerate() {
        bytes += head.bytes;
        match head.kind.as_str() {
            // A prompt begins a turn: what came before it is the end of an earlier one.
            "prompt" if heads[..at].iter().any(is_of_a_turn) => return Cut::Take(at),
            "stop" | "session_end" => {
                let settled = Millis(head.at.millis().0.saturating_add(STOP_GRACE_MS));
                let is_last = !flush && at + 1 == heads.len();
                return match still_to_come(settled, 2 * STOP_GRACE_MS, now) {
                    Some(settled) if is_last => Cut::Wait(settled),
                    _ => Cut::Take(at + 1),
                };
            }
            _ => {}
        }
        if at + 1 >= EPISODE_EVENTS_MAX || bytes >= EPISODE_BYTES_MAX {
            return Cut::Take(at + 1);
        }
    }
    let old = first.at.millis().plus_seconds(EPISODE_SECONDS_MAX);
    match still_to_come(old, 2 * EPISODE_SECONDS_MAX * 1_000, now) {
        Some(old) if !flush => Cut::Wait(old),
        _ => Cut::Take(heads.len()),
    }
}

/// The time itself, if it is yet to come and no further away than anything is waited for.
fn still_to_come(at: Millis, wait_ms_max: i64, now: Option<Millis>) -> Option<Millis> {
    let comes = now.is_none_or(|now| at > now && at.0 <= now.0.saturating_add(wait_ms_max));
    comes.then_some(at)
}

/// True for what a turn is made of; the rest is said about the session.
fn is_of_a_turn(head: &Head) -> bool {
    !matches!(head.kind.as_str(), "session_start" | "pre_compact")
}

/// Where the session stands and what its turn began with.
#[derive(Clone, Debug, Default)]
pub struct Place {
    pub project: String,
    pub root: String,
    pub branch: Option<String>,
    /// How many prompts the session has had.
    pub prompts: u32,
    /// The last of them: what an episode without a prompt of its own goes on with.
    pub prompt: Option<Prompt>,
}

/// Makes the episode of these events. A private turn has no prompt, and its hooks brought
/// nothing else.
pub fn build<'e>(events: impl Iterator<Item = &'e Event>, place: Place) -> Episode {
    let mut number = place.prompts;
    let mut episode = Episode {
        project: place.project,
        root: place.root,
        branch: place.branch,
        prompt: place.prompt,
        ..Episode::default()
    };
    for event in events {
        let at = event.at.millis();
        match &event.body {
            Body::Prompt { text, private } => {
                number += 1;
                episode.prompt = (!private).then(|| Prompt {
                    number,
                    text: text.clone(),
                    at,
                });
            }
            Body::ToolUse {
                tool,
                input,
                output,
                failed,
                ..
            } => episode.steps.push(Step {
                tool: tool.clone(),
                input: input.clone(),
                output: output.clone(),
                failed: *failed,
                at,
                agent: agent_of(event),
            }),
            Body::Stop { last_message } => {
                episode.finished = true;
                if let Some(text) = said(last_message.as_ref()) {
                    episode.final_message = Some(FinalMessage { text, at });
                }
            }
            // A turn that was cut off in the middle is told by what was done in it.
            Body::SessionEnd { .. } => episode.finished |= !episode.steps.is_empty(),
            Body::PostCompact { summary } => episode.compact_summary = Some(summary.clone()),
            Body::SessionStart { .. } | Body::SubagentStop { .. } | Body::PreCompact { .. } => {}
        }
    }
    episode
}

fn agent_of(event: &Event) -> Option<String> {
    event.agent_type.clone().or_else(|| event.agent_id.clone())
}

fn said(message: Option<&String>) -> Option<String> {
    message.filter(|text| !text.trim().is_empty()).cloned()
}

/// Whether a compressor could make anything of these.
pub fn say_something<'e>(mut events: impl Iterator<Item = &'e Event>) -> bool {
    events.any(|event| match &event.body {
        Body::Prompt { text, private } => !private && !text.trim().is_empty(),
        Body::ToolUse { .. } => true,
        Body::Stop { last_message } => said(last_message.as_ref()).is_some(),
        Body::PostCompact { summary } => !summary.trim().is_empty(),
        Body::SessionStart { .. }
        | Body::SubagentStop { .. }
        | Body::PreCompact { .. }
        | Body::SessionEnd { .. } => false,
    })
}

#[cfg(test)]
#[path = "episodes_tests.rs"]
mod tests;
