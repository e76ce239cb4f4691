//! Splits a session's events into episodes and builds the [`Episode`] that a compressor reads.
//!
//! `cut_episode` decides how many of a session's unsettled events form the next episode;
//! `build_episode` assembles it. Pure: the current time is passed in.
//!
//! Invariant: every event belongs to exactly one episode, in whatever order hooks were delivered
//! and whichever are missing. Esc sends no `Stop`, and a killed client sends nothing.

use serde_json::Value;

use crate::limits::{EPISODE_EVENTS_MAX, EPISODE_STEPS_MAX};
use claude_mem_core::agents;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodePrompt, EpisodeStep, EpisodeText, FinalMessage};
use claude_mem_core::event::{Event, EventBody, EventKind};
use claude_mem_core::limits::{BACKOFF_SECONDS_MAX, LEASE_SECONDS};
use claude_mem_core::source::TextSource;
use claude_mem_store::QueuedEventHead;

/// Milliseconds that the end of a turn waits for late events: hooks that started before it, and the
/// last lines of the transcript.
pub(crate) const STOP_GRACE_MS: i64 = 500;

/// Maximum seconds that the first event of an open turn waits for the end of the turn.
pub(crate) const EPISODE_SECONDS_MAX: i64 = 600;

/// Bytes of queued events after which an episode is cut.
pub(crate) const EPISODE_BYTES_MAX: u64 = 512 << 10;

/// What to do with the front of a session's queue, as `cut_episode` decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EpisodeCut {
    /// The first `usize` events are an episode.
    Take(usize),
    /// The turn is still open. Check again at this time at the latest.
    Wait(Millis),
    /// There are no events.
    Empty,
}

/// Decides where the first episode of `heads` ends. With `flush` an open turn is cut at once,
/// because a caller waits for an empty queue.
pub fn cut_episode(heads: &[QueuedEventHead], now: Millis, flush: bool) -> EpisodeCut {
    cut_with_clock(heads, Some(now), flush)
}

/// Like `cut_episode` for recorded events, where no time passes: an episode ends where the next
/// one begins, never by a timeout.
pub fn cut_recorded_episode(heads: &[QueuedEventHead], flush: bool) -> EpisodeCut {
    cut_with_clock(heads, None, flush)
}

fn cut_with_clock(heads: &[QueuedEventHead], now: Option<Millis>, flush: bool) -> EpisodeCut {
    let Some(first) = heads.first() else {
        return EpisodeCut::Empty;
    };
    // As in the queue: a time further away than the longest wait means the clock was set back.
    let wait_ms = BACKOFF_SECONDS_MAX.max(LEASE_SECONDS) * 1_000;
    if now.is_some()
        && let Some(at) = pending_deadline(first.not_before, wait_ms, now)
    {
        return EpisodeCut::Wait(at);
    }
    let (mut bytes, mut steps) = (0, 0);
    for (at, head) in heads.iter().enumerate() {
        bytes += head.bytes;
        steps += usize::from(head.kind != EventKind::Text);
        match head.kind {
            // A prompt begins a turn, so the events before it end an earlier one.
            EventKind::Prompt if heads[..at].iter().any(belongs_to_turn) => return EpisodeCut::Take(at),
            EventKind::Stop | EventKind::SessionEnd => {
                let settled = Millis(head.at.millis().0.saturating_add(STOP_GRACE_MS));
                let is_last = !flush && at + 1 == heads.len();
                return match pending_deadline(settled, 2 * STOP_GRACE_MS, now) {
                    Some(settled) if is_last => EpisodeCut::Wait(settled),
                    _ => EpisodeCut::Take(at + 1),
                };
            }
            _ => {}
        }
        if at + 1 >= EPISODE_EVENTS_MAX || steps >= EPISODE_STEPS_MAX || bytes >= EPISODE_BYTES_MAX {
            return EpisodeCut::Take(at + 1);
        }
    }
    let old = first.at.millis().plus_seconds(EPISODE_SECONDS_MAX);
    match pending_deadline(old, 2 * EPISODE_SECONDS_MAX * 1_000, now) {
        Some(old) if !flush => EpisodeCut::Wait(old),
        _ => EpisodeCut::Take(heads.len()),
    }
}

/// `at`, if it is in the future and at most `wait_ms_max` away. Without a clock, always.
fn pending_deadline(at: Millis, wait_ms_max: i64, now: Option<Millis>) -> Option<Millis> {
    let comes = now.is_none_or(|now| at > now && at.0 <= now.0.saturating_add(wait_ms_max));
    comes.then_some(at)
}

/// Whether the event is part of a turn. The other kinds concern the whole session.
fn belongs_to_turn(head: &QueuedEventHead) -> bool {
    !matches!(head.kind, EventKind::SessionStart | EventKind::PreCompact)
}

/// State of the session that an episode is built from.
#[derive(Clone, Debug, Default)]
pub struct EpisodeContext {
    pub project: String,
    pub root: String,
    pub branch: Option<String>,
    /// How many prompts the session has had.
    pub prompt_count: u32,
    /// The latest of them, which an episode without its own prompt continues.
    pub prompt: Option<EpisodePrompt>,
}

/// Builds the episode from its events. A private turn has no prompt, and its hooks deliver nothing
/// else.
pub fn build_episode<'e>(events: impl Iterator<Item = &'e Event>, place: EpisodeContext) -> Episode {
    let mut number = place.prompt_count;
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
            EventBody::Prompt { text, private, source } => {
                number += 1;
                let prompt = || EpisodePrompt { number, text: text.clone(), at, source: *source };
                episode.prompt = (!private).then(prompt);
            }
            EventBody::Text { source, text, id, about } => episode.texts.push(EpisodeText {
                source: *source,
                text: text.clone(),
                at,
                id: id.clone(),
                about: about.clone(),
            }),
            EventBody::ToolUse { tool, input, output, failed, .. } => episode.steps.push(EpisodeStep {
                tool: tool.clone(),
                input: input.clone(),
                output: output.clone(),
                failed: *failed,
                at,
                agent: agent_name(event),
            }),
            EventBody::Stop { last_message } => {
                episode.finished = true;
                if let Some(text) = non_blank(last_message.as_ref()) {
                    episode.final_message = Some(FinalMessage { text, at });
                }
            }
            // An interrupted turn counts as finished if it has steps to summarise.
            EventBody::SessionEnd { .. } => episode.finished |= !episode.steps.is_empty(),
            EventBody::PostCompact { summary } => episode.compact_summary = Some(summary.clone()),
            EventBody::SubagentStop { last_message } => {
                let report = non_blank(last_message.as_ref());
                episode.texts.extend(report.map(|text| EpisodeText {
                    source: TextSource::SubagentReport,
                    text,
                    at,
                    id: event.agent_id.clone(),
                    about: event.agent_type.clone(),
                }));
            }
            EventBody::SessionStart { .. } | EventBody::PreCompact { .. } => {}
        }
    }
    drop_repeated_reports(&mut episode);
    episode
}

/// Drops the reports of subagents that a step of the episode returns as its result.
fn drop_repeated_reports(episode: &mut Episode) {
    let steps = &episode.steps;
    episode.texts.retain(|text| {
        text.source != TextSource::SubagentReport
            || !steps.iter().any(|step| {
                agents::starts_subagent(&step.tool) && contains_text(&step.output, text.text.trim())
            })
    });
}

/// Whether one of the strings in a JSON value contains the text.
fn contains_text(value: &Value, text: &str) -> bool {
    match value {
        Value::String(string) => string.contains(text),
        Value::Array(values) => values.iter().any(|value| contains_text(value, text)),
        Value::Object(fields) => fields.values().any(|value| contains_text(value, text)),
        Value::Null | Value::Bool(_) | Value::Number(_) => false,
    }
}

fn agent_name(event: &Event) -> Option<String> {
    event.agent_type.clone().or_else(|| event.agent_id.clone())
}

/// The message, unless it is blank.
fn non_blank(message: Option<&String>) -> Option<String> {
    message.filter(|text| !text.trim().is_empty()).cloned()
}

/// Whether any of the events has content to compress.
pub fn have_content<'e>(mut events: impl Iterator<Item = &'e Event>) -> bool {
    events.any(|event| match &event.body {
        EventBody::Prompt { text, private, .. } => !private && !text.trim().is_empty(),
        EventBody::ToolUse { .. } => true,
        EventBody::Text { text, .. } => !text.trim().is_empty(),
        EventBody::Stop { last_message } | EventBody::SubagentStop { last_message } => {
            non_blank(last_message.as_ref()).is_some()
        }
        EventBody::PostCompact { summary } => !summary.trim().is_empty(),
        EventBody::SessionStart { .. } | EventBody::PreCompact { .. } | EventBody::SessionEnd { .. } => false,
    })
}

#[cfg(test)]
#[path = "episodes_tests.rs"]
mod tests;
