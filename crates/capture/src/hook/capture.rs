//! Captures one decoded call: decides, applies the decision and responds.

use std::ffi::OsString;
use std::io;

use super::answer::HookResponse;
use super::decision::{self, CaptureAction, CaptureDecision, CaptureFacts, MarkChange};
use super::environment::HookEnvironment;
use super::facts;
use super::hand_over::hand_over;
use super::recall_request::{HookRecallRequest, RecallTrigger};
use super::resources::HookResources;
use super::respond;
use super::skip_reason::SkipReason;
use crate::enqueue;
use crate::ignored_text::drop_ignored_text;
use crate::normalize::{DecodedHookCall, NormalizedEvent};
use crate::privacy_marks::PrivacyMarks;
use claude_mem_core::agents::HookEventKind;
use claude_mem_core::client_version;
use claude_mem_core::event_key;
use claude_mem_core::ids::ClientSessionId;

/// The result of one hook call.
#[derive(Debug)]
pub struct HandledCall {
    pub response: HookResponse,
    /// Why nothing was captured; `None` if an event was enqueued.
    pub skip_reason: Option<SkipReason>,
}

impl HandledCall {
    pub(super) const fn skipped(reason: SkipReason) -> Self {
        Self { response: HookResponse::Neutral, skip_reason: Some(reason) }
    }
}

/// Captures a call as far as it may be captured. An error describes a fault of ours or of this machine.
pub(super) fn capture_call<E>(
    call: &DecodedHookCall<'_>,
    environment: &HookEnvironment<E>,
    resources: &mut HookResources<'_>,
) -> Result<HandledCall, String>
where
    E: Fn(&str) -> Option<OsString>,
{
    let marks = PrivacyMarks::for_session(resources.dir, call.agent.name, call.session);
    // First, so that a private turn stays muted even if a later step fails.
    if let Some(change) = decision::decide_marks(call, facts::is_disabled(environment)) {
        set_marks(change, call, &marks).map_err(|e| log_mark_error(resources, &e))?;
        // A turn that something else begins inside a private turn stays private.
        let accepts = match change {
            MarkChange::MuteTurn => false,
            MarkChange::NotePrivatePart | MarkChange::UnmuteTurn => true,
            MarkChange::NoteForeignPart | MarkChange::AcceptForeign => !marks.is_marked(None),
        };
        if accepts {
            // Without the record the hooks of this turn capture nothing, and the transcript tells it.
            let accepted = marks.accept_prompt(call.header.prompt_id.as_deref());
            let _ = accepted.map_err(|e| log_mark_error(resources, &e));
        }
    }
    if call.kind == HookEventKind::SessionStart {
        let made = marks.make_spare_marks();
        // Spare marks only matter if real ones cannot be written later.
        let _ = made.map_err(|e| log_mark_error(resources, &e));
    }
    let mut facts = facts::gather_facts(call, &marks, environment, resources);
    // The ignore rules see the project as it is; everything after them sees it as it may be stored.
    let decision = decision::decide(call, &facts);
    facts.project = facts.project.map(claude_mem_redact::project_hint);
    if decision.closes_transcript {
        marks.close_transcript().map_err(|e| log_mark_error(resources, &e))?;
    }
    if facts.suppression.turn && !facts.suppression.summaries && is_part_of_turn(call.kind) {
        // The turn may be private, although its mark is missing: a summary may repeat it.
        marks.note_private().map_err(|e| log_mark_error(resources, &e))?;
    }
    let (normalized, skip_reason) = match decision.action {
        CaptureAction::IgnoreSession => return ignore_session(call, &marks, resources),
        CaptureAction::Ignore(reason) => {
            if reason == SkipReason::SettingsUnreadable {
                resources.log("settings.json or its ignore rules are unreadable: nothing is captured");
            }
            return Ok(HandledCall::skipped(reason));
        }
        CaptureAction::AnswerOnly(reason) => (None, Some(reason)),
        CaptureAction::RecallOnly(reason) => (normalize(call, &facts), Some(reason)),
        CaptureAction::Capture => {
            if !facts.suppression.turn && call.learn_private_words(&mut facts.private_words) {
                let kept = marks.keep_private_words(&facts.private_words);
                kept.map_err(|e| log_mark_error(resources, &e))?;
            }
            let normalized = normalize(call, &facts);
            let skip_reason = match &normalized {
                Some(normalized) => enqueue(call, normalized, &facts, resources).map(|()| None)?,
                None => Some(SkipReason::NothingToCapture),
            };
            (normalized, skip_reason)
        }
    };
    let request = recall_request(call, &facts, decision, normalized.as_ref(), environment);
    Ok(HandledCall { response: respond::respond(&request, resources), skip_reason })
}

/// Whether the event reports a part of a turn.
fn is_part_of_turn(kind: HookEventKind) -> bool {
    kind.is_tool_result() || matches!(kind, HookEventKind::Stop | HookEventKind::SubagentStop)
}

fn set_marks(change: MarkChange, call: &DecodedHookCall<'_>, marks: &PrivacyMarks<'_>) -> io::Result<()> {
    match change {
        MarkChange::MuteTurn => {
            marks.mute_turn(call.header.prompt_id.as_deref())?;
            learn_private_words(call, marks)
        }
        MarkChange::NotePrivatePart => {
            marks.note_private()?;
            learn_private_words(call, marks)?;
            marks.unmute_turn()
        }
        MarkChange::UnmuteTurn => marks.unmute_turn(),
        MarkChange::NoteForeignPart => marks.note_private(),
        MarkChange::AcceptForeign => Ok(()),
    }
}

/// Remembers the words of the prompt's private blocks. An unreadable prompt has none that we know.
fn learn_private_words(call: &DecodedHookCall<'_>, marks: &PrivacyMarks<'_>) -> io::Result<()> {
    call.raw_prompt().map_or(Ok(()), |prompt| marks.learn_private_words(&prompt))
}

/// Marks the whole session as ignored.
fn ignore_session(
    call: &DecodedHookCall<'_>,
    marks: &PrivacyMarks<'_>,
    resources: &mut HookResources<'_>,
) -> Result<HandledCall, String> {
    let session = ClientSessionId(call.session.to_owned());
    enqueue::ignore_session(&mut resources.database, call.agent.name, &session, call.at)
        .map_err(|lost| log_error(resources, &lost))?;
    hand_over(resources, call.kind, false);
    // The mark comes last: if this hook dies before, the next one repeats both steps.
    marks.mark_ignored().map_err(|e| log_mark_error(resources, &e))?;
    Ok(HandledCall::skipped(SkipReason::MemoryDisabled))
}

fn normalize(call: &DecodedHookCall<'_>, facts: &CaptureFacts) -> Option<NormalizedEvent> {
    let mut normalized = call.normalize(facts.suppression, facts.project.clone(), &facts.private_words)?;
    let cwd = call.header.cwd.as_deref();
    let is_ignored = |text: &str| facts.settings.text_names_ignored_path(text, cwd, &facts.home);
    drop_ignored_text(&mut normalized.event.body, is_ignored).then_some(normalized)
}

fn enqueue(
    call: &DecodedHookCall<'_>,
    normalized: &NormalizedEvent,
    facts: &CaptureFacts,
    resources: &mut HookResources<'_>,
) -> Result<(), String> {
    let key = event_key::event_key(&normalized.event, normalized.message_id.as_deref());
    enqueue::enqueue_event(&mut resources.database, key, &normalized.event)
        .map_err(|lost| log_error(resources, &lost))?;
    hand_over(resources, call.kind, facts.settings.may_start_worker());
    Ok(())
}

fn recall_request<'a, E>(
    call: &'a DecodedHookCall<'_>,
    facts: &'a CaptureFacts,
    decision: CaptureDecision,
    normalized: Option<&'a NormalizedEvent>,
    environment: &HookEnvironment<E>,
) -> HookRecallRequest<'a>
where
    E: Fn(&str) -> Option<OsString>,
{
    let said = environment.text_var(call.agent.version_variable);
    HookRecallRequest {
        agent: call.agent,
        kind: call.kind,
        header: call.header,
        project: facts.project.as_ref(),
        trigger: match normalized {
            Some(normalized) => RecallTrigger::from_event(call.agent, &normalized.event.body),
            None => call.payload.map_or(RecallTrigger::Nothing, RecallTrigger::from_tool_input),
        },
        settings: &facts.settings,
        now: call.at.millis(),
        client_version: said.and_then(|said| client_version::version_said(&said)),
        notices: environment.notices,
        is_unrecorded: decision.is_unrecorded,
    }
}

fn log_mark_error(resources: &HookResources<'_>, e: &io::Error) -> String {
    resources.log(&format!("failed to set or clear a privacy mark: {}", e.kind()));
    format!("{}: {e}", resources.dir.root().display())
}

fn log_error(resources: &HookResources<'_>, problem: &impl std::fmt::Display) -> String {
    let problem = problem.to_string();
    resources.log(&problem);
    problem
}
