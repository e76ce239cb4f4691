//! What a version of Claude Code understands, as seen by running it.
//!
//! One event that a client does not know switches off every hook of the file on 1.0 and 2.0, so
//! what is written is what the version was seen to know; a version between two that were tried is
//! treated as the older one.

use super::version::Version;

/// How a hook is started.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// By the client itself: a fifth cheaper, and no quoting.
    Exec,
    /// Through a shell. The only form that old clients have.
    Shell,
}

/// Older ones were never run.
pub const OLDEST: Version = Version(1, 0, 127);
/// The oldest that was seen to fire hooks for failed tools.
const WITH_FAILURES: Version = Version(2, 0, 77);
/// The oldest that was seen to start a hook without a shell, and to pass over an event that it
/// does not know.
const WITH_EXEC: Version = Version(2, 1, 197);

/// What every version from the oldest on knows.
pub const EVERYWHERE: [&str; 8] = [
    "SessionStart",
    "UserPromptSubmit",
    "PreToolUse",
    "PostToolUse",
    "Stop",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
];

/// What a client takes. Of an unknown version, what all of them take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Abilities {
    version: Option<Version>,
}

impl Abilities {
    pub const fn of(version: Option<Version>) -> Self {
        Self { version }
    }

    fn at_least(self, floor: Version) -> bool {
        self.version.is_some_and(|version| version >= floor)
    }

    pub fn form(self) -> Form {
        if self.at_least(WITH_EXEC) {
            Form::Exec
        } else {
            Form::Shell
        }
    }

    /// The events that we answer and the client knows.
    pub fn events(self) -> Vec<&'static str> {
        let mut events = EVERYWHERE.to_vec();
        if self.at_least(WITH_FAILURES) {
            events.insert(4, "PostToolUseFailure");
        }
        if self.at_least(WITH_EXEC) {
            events.push("PostCompact");
        }
        events
    }

    /// False only for a version that is known to be too old.
    pub fn is_supported(self) -> bool {
        self.version.is_none_or(|version| version >= OLDEST)
    }
}

/// Whether hooks that were written for one version would be written differently for another.
pub fn wants_other_hooks(now: Option<Version>, then: Option<Version>) -> bool {
    let (present, past) = (Abilities::of(now), Abilities::of(then));
    now.is_some() && (present.events() != past.events() || present.form() != past.form())
}

/// The version that a newer client tells its hooks in `AI_AGENT`, as `claude-code_2-1-325_cli`.
pub fn version_said(agent: &str) -> Option<Version> {
    let version = agent.strip_prefix("claude-code_")?.split('_').next()?;
    Version::find(&version.replace('-', "."))
}

/// The tools before which something may be recalled; for all others no process is started.
pub fn matcher(event: &str) -> Option<&'static str> {
    (event == "PreToolUse").then_some("Read|Edit|Write|MultiEdit|NotebookEdit")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hook::agents::CLAUDE_CODE;

    #[test]
    fn an_old_client_is_given_only_what_it_knows() {
        let of = |a, b, c| Abilities::of(Some(Version(a, b, c)));
        assert_eq!(of(1, 0, 127).events(), EVERYWHERE);
        assert_eq!(of(2, 0, 76).events(), EVERYWHERE);
        assert!(of(2, 0, 77).events().contains(&"PostToolUseFailure"));
        assert!(!of(2, 1, 196).events().contains(&"PostCompact"));
        assert_eq!(of(2, 1, 196).form(), Form::Shell);
        assert!(of(2, 1, 325).events().contains(&"PostCompact"));
        assert_eq!(of(2, 1, 325).form(), Form::Exec);
        assert!(!of(1, 0, 126).is_supported());
    }

    #[test]
    fn a_client_that_nobody_knows_is_given_what_all_of_them_know() {
        let unknown = Abilities::of(None);
        assert_eq!(unknown.events(), EVERYWHERE);
        assert_eq!(unknown.form(), Form::Shell);
        assert!(unknown.is_supported());
    }

    #[test]
    fn hooks_want_rewriting_only_when_another_version_knows_others() {
        let version = |patch| Some(Version(2, 1, patch));
        assert!(wants_other_hooks(version(325), Some(Version(2, 0, 77))));
        assert!(wants_other_hooks(Some(Version(2, 0, 77)), version(325)));
        assert!(wants_other_hooks(version(325), None));
        assert!(!wants_other_hooks(version(325), version(200)));
        assert!(!wants_other_hooks(None, version(325)));
        assert_eq!(version_said("claude-code_2-1-325_harness"), version(325));
        assert_eq!(version_said("claude-code_2-1_harness"), None);
        assert_eq!(version_said("codex"), None);
    }

    #[test]
    fn every_event_that_is_registered_is_one_that_the_hook_answers() {
        for event in Abilities::of(Some(Version(9, 0, 0))).events() {
            assert!(CLAUDE_CODE.kind_of(event).is_some(), "{event}");
        }
    }
}
