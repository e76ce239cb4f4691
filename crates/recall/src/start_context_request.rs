//! Who starts a session, and what it wants to be told.

use std::path::Path;

use jiff::tz::TimeZone;

use claude_mem_core::clock::Millis;
use claude_mem_core::config::Settings;
use claude_mem_core::ids::{ProjectId, SessionId};

/// Who asks, and for how much.
#[derive(Clone, Debug)]
pub struct StartContextRequest<'a> {
    /// `None`: memory does not know it yet. What holds in every project is told all the same.
    pub project: Option<ProjectId>,
    pub name: &'a str,
    pub root: &'a Path,
    pub branch: Option<&'a str>,
    /// On resume: the session itself, which needs only what is new since it last spoke.
    pub resumed: Option<(SessionId, Millis)>,
    /// After a compaction or `/clear`: the session whose work goes on.
    pub current: Option<SessionId>,
    /// That work is the session's own.
    pub compacted: bool,
    pub budget_tokens: u32,
    pub parts: StartContextParts,
    pub zone: &'a TimeZone,
    /// Lines that need the person: only when something is wrong.
    pub notices: &'a [String],
}

/// Which parts are wanted.
#[derive(Clone, Copy, Debug)]
#[allow(clippy::struct_excessive_bools, reason = "independent switches of the settings")]
pub struct StartContextParts {
    pub summary: bool,
    pub index: bool,
    pub preferences: bool,
    pub economics: bool,
    /// The agent is invited to save rules, decisions and causes itself.
    pub agent_notes: bool,
}

impl StartContextParts {
    /// As the settings have it.
    pub const fn from_settings(settings: &Settings) -> Self {
        Self {
            summary: settings.context_summary,
            index: settings.context_index,
            preferences: settings.context_preferences,
            economics: settings.context_economics,
            agent_notes: settings.agent_notes,
        }
    }
}

impl Default for StartContextParts {
    fn default() -> Self {
        Self { summary: true, index: true, preferences: true, economics: true, agent_notes: true }
    }
}
