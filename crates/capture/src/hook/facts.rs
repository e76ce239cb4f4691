//! Gathers the [`CaptureFacts`] of one hook call. Reads files and the environment, changes nothing.

use std::ffi::OsString;
use std::path::Path;

use super::decision::CaptureFacts;
use super::environment::HookEnvironment;
use super::resources::HookResources;
use crate::normalize::{DecodedHookCall, TurnSuppression};
use crate::privacy_marks::PrivacyMarks;
use crate::settings::HookSettings;
use claude_mem_core::agents::HookEventKind;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::{pause, project};

/// The facts about a call. The rest is not read if the session is ignored anyway.
pub(super) fn gather_facts<E>(
    call: &DecodedHookCall<'_>,
    marks: &PrivacyMarks<'_>,
    environment: &HookEnvironment<E>,
    resources: &HookResources<'_>,
) -> CaptureFacts
where
    E: Fn(&str) -> Option<OsString>,
{
    let is_disabled = is_disabled(environment);
    let is_session_ignored = marks.is_ignored();
    if is_disabled || is_session_ignored {
        return CaptureFacts { is_disabled, is_session_ignored, ..CaptureFacts::default() };
    }
    let settings = HookSettings::load_os(resources.dir, &environment.env);
    let (project, unseen) = detect_project(call, environment).unzip();
    let unseen = unseen.flatten();
    if let Some(why) = unseen.as_ref().filter(|_| settings.has_project_rules()) {
        resources.log(&format!("cannot determine whether the project is ignored: {why}"));
    }
    let mut suppression = read_suppression(call, marks);
    // Also a session without private prompts: what the agent reads may have private blocks.
    let private_words = marks.private_words();
    if let Err(e) = &private_words {
        resources
            .log(&format!("failed to read the words of private blocks, so the turn is muted: {}", e.kind()));
        suppression.turn = true;
    }
    CaptureFacts {
        is_disabled,
        is_session_ignored,
        suppression,
        private_words: private_words.unwrap_or_default(),
        settings,
        project,
        is_project_uncertain: unseen.is_some(),
        // Lossy, like the paths it is compared with.
        home: environment.home().to_string_lossy().into_owned(),
        is_paused: pause::active_pause(&resources.dir.paused(), call.at.millis()).is_some(),
    }
}

/// Whether the user has turned memory off for this session.
pub(super) fn is_disabled<E: Fn(&str) -> Option<OsString>>(environment: &HookEnvironment<E>) -> bool {
    environment.is_enabled("CLAUDE_MEM_DISABLED")
}

/// A prompt of the user begins its own turn, which earlier marks do not mute.
fn read_suppression(call: &DecodedHookCall<'_>, marks: &PrivacyMarks<'_>) -> TurnSuppression {
    if call.begins_user_turn() {
        return TurnSuppression::default();
    }
    let prompt_id = call.header.prompt_id.as_deref();
    // A compaction may have an id of its own, without a prompt; it covers the whole session.
    let turn = match call.kind {
        HookEventKind::PostCompact => marks.is_marked(prompt_id),
        _ => marks.is_muted(prompt_id),
    };
    TurnSuppression { turn, summaries: marks.had_private() }
}

/// The project of the directory where the session began, if the client names it, else of the
/// working directory, which follows the agent. The error says why detection is uncertain.
fn detect_project<E>(
    call: &DecodedHookCall<'_>,
    environment: &HookEnvironment<E>,
) -> Option<(ProjectHint, Option<std::io::Error>)>
where
    E: Fn(&str) -> Option<OsString>,
{
    let dir = (environment.env)(call.agent.project_variable).filter(|dir| !dir.is_empty());
    let dir = dir.or_else(|| call.header.cwd.clone().map(OsString::from))?;
    let dir = Path::new(&dir);
    let identify = match call.kind {
        HookEventKind::SessionStart | HookEventKind::Prompt | HookEventKind::Stop => {
            project::identify_with_commit
        }
        _ => project::identify_with_error,
    };
    dir.is_absolute().then(|| identify(dir))
}
