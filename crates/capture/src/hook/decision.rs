//! Decides what happens with one hook call. No I/O here: every case is a row of a table test.
//!
//! [`decide_marks`] says how a prompt changes the session's privacy marks. It comes first and is applied
//! first: a hook that fails or dies later must not leave a private turn unmuted. Then the
//! [`CaptureFacts`] are gathered, and [`decide`] turns them and the call into a [`CaptureDecision`].
//!
//! Invariant: in doubt, nothing is captured. What is skipped for a reason that the transcript does not
//! show closes the transcript, so that backfill does not capture it later.

use super::skip_reason::SkipReason;
use crate::normalize::{DecodedHookCall, TurnSuppression};
use crate::prompt_source::PromptPrivacy;
use crate::settings::HookSettings;
use claude_mem_core::agents::{self, HookEventKind};
use claude_mem_core::event::ProjectHint;

/// The facts that a decision depends on besides the call, gathered before it.
#[derive(Debug, Default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts; decide orders them")]
pub(super) struct CaptureFacts {
    /// `CLAUDE_MEM_DISABLED` is set.
    pub(super) is_disabled: bool,
    /// The session has its mark as ignored.
    pub(super) is_session_ignored: bool,
    /// Exclusions by the privacy marks of earlier prompts; none for a prompt of the user.
    pub(super) suppression: TurnSuppression,
    /// Words of earlier private blocks that the agent may repeat; none for a prompt.
    pub(super) private_words: crate::session_words::SessionWords,
    pub(super) settings: HookSettings,
    pub(super) project: Option<ProjectHint>,
    /// The project could not be identified with certainty.
    pub(super) is_project_uncertain: bool,
    pub(super) home: String,
    pub(super) is_paused: bool,
}

/// How a prompt changes the privacy marks of its session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MarkChange {
    /// The whole prompt is private, or may be.
    MuteTurn,
    /// A part is private: the turn is captured, summaries of the session are not.
    NotePrivatePart,
    UnmuteTurn,
    /// A part of a prompt that is not the user's is private: summaries are not captured, and the turn
    /// stays as it is.
    NoteForeignPart,
    /// A turn begins that the user did not begin; it is accepted unless a private turn is going on.
    AcceptForeign,
}

/// The decision about a hook call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CaptureDecision {
    pub(super) action: CaptureAction,
    /// Exclude the transcript from backfill before anything else.
    pub(super) closes_transcript: bool,
    /// Nothing about this turn may be recorded, not even which memories were shown.
    pub(super) is_unrecorded: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum CaptureAction {
    /// Mark the whole session as ignored and respond with nothing.
    IgnoreSession,
    /// Respond with nothing.
    Ignore(SkipReason),
    /// Respond with memories, without looking at the contents.
    AnswerOnly(SkipReason),
    /// Respond with memories that the contents call for, and drop the contents.
    RecallOnly(SkipReason),
    /// Capture the event and respond with memories.
    Capture,
}

/// How the call changes the privacy marks. `None` if it is no prompt of the user, or if its session is
/// ignored as a whole because memory is disabled.
pub(super) fn decide_marks(call: &DecodedHookCall<'_>, is_disabled: bool) -> Option<MarkChange> {
    if is_disabled || call.kind != HookEventKind::Prompt {
        return None;
    }
    match call.privacy() {
        PromptPrivacy::All => Some(MarkChange::MuteTurn),
        PromptPrivacy::Part => Some(MarkChange::NotePrivatePart),
        PromptPrivacy::None => Some(MarkChange::UnmuteTurn),
        PromptPrivacy::Foreign if call.has_private_part() => Some(MarkChange::NoteForeignPart),
        PromptPrivacy::Foreign => Some(MarkChange::AcceptForeign),
    }
}

/// Decides what to do with a call whose privacy marks are set.
pub(super) fn decide(call: &DecodedHookCall<'_>, facts: &CaptureFacts) -> CaptureDecision {
    let decision =
        |action| CaptureDecision { action, closes_transcript: false, is_unrecorded: facts.suppression.turn };
    let closing = |action| CaptureDecision { closes_transcript: true, ..decision(action) };
    if facts.is_disabled {
        return decision(if facts.is_session_ignored {
            CaptureAction::Ignore(SkipReason::MemoryDisabled)
        } else {
            CaptureAction::IgnoreSession
        });
    }
    if facts.is_session_ignored {
        return decision(CaptureAction::Ignore(SkipReason::SessionIgnored));
    }
    if facts.is_project_ignored() {
        return closing(CaptureAction::Ignore(SkipReason::ProjectIgnored));
    }
    if facts.is_paused {
        let paused = closing(CaptureAction::AnswerOnly(SkipReason::MemoryPaused));
        return CaptureDecision { is_unrecorded: true, ..paused };
    }
    if call.kind == HookEventKind::BeforeTool {
        return decision(CaptureAction::AnswerOnly(SkipReason::NothingToCapture));
    }
    let closes_transcript = facts.settings.has_session_rules || facts.settings.ignore_everything;
    CaptureDecision { closes_transcript, ..decision(decide_by_contents(call, facts)) }
}

fn decide_by_contents(call: &DecodedHookCall<'_>, facts: &CaptureFacts) -> CaptureAction {
    let settings = &facts.settings;
    let tool = call.header.tool.as_deref().unwrap_or_default();
    let cwd = call.header.cwd.as_deref();
    if settings.ignore_everything {
        CaptureAction::Ignore(SkipReason::SettingsUnreadable)
    } else if call.kind.is_tool_result() && (agents::is_our_tool(tool) || settings.skips_tool(tool)) {
        CaptureAction::AnswerOnly(SkipReason::ToolSkipped)
    } else if settings.touches_ignored_path(&call.raw_contents(), cwd, &facts.home) {
        CaptureAction::RecallOnly(SkipReason::PathIgnored)
    } else if facts.suppression.turn && is_muted_with_turn(call.kind) {
        CaptureAction::AnswerOnly(SkipReason::TurnPrivate)
    } else {
        CaptureAction::Capture
    }
}

/// Whether a muted turn hides the whole event. The other events are captured without the turn's text.
fn is_muted_with_turn(kind: HookEventKind) -> bool {
    kind.is_tool_result() || matches!(kind, HookEventKind::SubagentStop | HookEventKind::PostCompact)
}

impl CaptureFacts {
    /// Whether the project is ignored, or may be.
    fn is_project_ignored(&self) -> bool {
        let Some(project) = &self.project else {
            return false;
        };
        (self.is_project_uncertain && self.settings.has_project_rules())
            || self.settings.ignores_project_hint(project, &self.home)
    }
}

#[cfg(test)]
#[path = "decision_tests.rs"]
mod tests;
