//! [`ClientCapabilities`]: what a version of Claude Code supports, established by running it.
//!
//! On 1.0 and 2.0 a single unknown event disables every hook of the file. So we register only
//! events that the version was observed to support; a version between two tested ones is treated
//! as the older one.

use claude_mem_core::client_version::ClientVersion;

/// How the client starts a hook.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HookForm {
    /// Directly by the client: a fifth cheaper, and no quoting.
    Exec,
    /// Through a shell, the only form that old clients support.
    Shell,
}

/// The oldest supported version; older ones were never tested.
pub const OLDEST_SUPPORTED: ClientVersion = ClientVersion(1, 0, 127);
/// The oldest version that was observed to run hooks for failed tools.
const FAILURE_HOOKS_SINCE: ClientVersion = ClientVersion(2, 0, 77);
/// The oldest version that was observed to start a hook without a shell, and to ignore unknown
/// events.
const EXEC_FORM_SINCE: ClientVersion = ClientVersion(2, 1, 197);

/// The events that every supported version knows.
pub const COMMON_EVENTS: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

/// The hook features of a client. An unknown version gets those that all versions have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClientCapabilities {
    version: Option<ClientVersion>,
}

impl ClientCapabilities {
    /// The capabilities of this version.
    pub const fn for_version(version: Option<ClientVersion>) -> Self {
        Self { version }
    }

    fn at_least(self, floor: ClientVersion) -> bool {
        self.version.is_some_and(|version| version >= floor)
    }

    /// The cheapest form of a hook that the client supports.
    pub fn form(self) -> HookForm {
        if self.at_least(EXEC_FORM_SINCE) { HookForm::Exec } else { HookForm::Shell }
    }

    /// The events that we handle and the client knows.
    pub fn events(self) -> Vec<&'static str> {
        let mut events = COMMON_EVENTS.to_vec();
        if self.at_least(FAILURE_HOOKS_SINCE) {
            events.insert(4, "PostToolUseFailure");
        }
        if self.at_least(EXEC_FORM_SINCE) {
            events.push("PostCompact");
        }
        events
    }

    /// False only if the version is known and too old.
    pub fn is_supported(self) -> bool {
        self.version.is_none_or(|version| version >= OLDEST_SUPPORTED)
    }
}

/// Whether the hooks registered for version `then` differ from those for version `now`.
pub fn needs_new_hooks(now: Option<ClientVersion>, then: Option<ClientVersion>) -> bool {
    let (present, past) = (ClientCapabilities::for_version(now), ClientCapabilities::for_version(then));
    now.is_some() && (present.events() != past.events() || present.form() != past.form())
}

/// The matcher of tools before which memories may be recalled; for others no hook is started.
pub fn tool_matcher(event: &str) -> Option<&'static str> {
    (event == "PreToolUse").then_some("Read|Edit|Write|MultiEdit|NotebookEdit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_mem_core::agents::CLAUDE_CODE;

    #[test]
    fn old_client_gets_only_known_events() {
        let of = |a, b, c| ClientCapabilities::for_version(Some(ClientVersion(a, b, c)));
        assert_eq!(of(1, 0, 127).events(), COMMON_EVENTS);
        assert_eq!(of(2, 0, 76).events(), COMMON_EVENTS);
        assert!(of(2, 0, 77).events().contains(&"PostToolUseFailure"));
        assert!(!of(2, 1, 196).events().contains(&"PostCompact"));
        assert_eq!(of(2, 1, 196).form(), HookForm::Shell);
        assert!(of(2, 1, 325).events().contains(&"PostCompact"));
        assert_eq!(of(2, 1, 325).form(), HookForm::Exec);
        assert!(!of(1, 0, 126).is_supported());
    }

    #[test]
    fn unknown_version_gets_common_events() {
        let unknown = ClientCapabilities::for_version(None);
        assert_eq!(unknown.events(), COMMON_EVENTS);
        assert_eq!(unknown.form(), HookForm::Shell);
        assert!(unknown.is_supported());
    }

    #[test]
    fn hook_handles_every_registered_event() {
        for event in ClientCapabilities::for_version(Some(ClientVersion(9, 0, 0))).events() {
            assert!(CLAUDE_CODE.event_kind(event).is_some(), "{event}");
        }
    }

    #[test]
    fn hooks_are_rewritten_only_if_capabilities_differ() {
        let version = |patch| Some(ClientVersion(2, 1, patch));
        assert!(needs_new_hooks(version(325), Some(ClientVersion(2, 0, 77))));
        assert!(needs_new_hooks(Some(ClientVersion(2, 0, 77)), version(325)));
        assert!(needs_new_hooks(version(325), None));
        assert!(!needs_new_hooks(version(325), version(200)));
        assert!(!needs_new_hooks(None, version(325)));
    }
}
