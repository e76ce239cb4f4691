//! [`SkipReason`]: why a hook call was not captured.

/// Why nothing of a hook call was captured.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SkipReason {
    /// The call carries nothing to capture.
    NothingToCapture,
    CompressorSession,
    MemoryDisabled,
    SessionIgnored,
    ProjectIgnored,
    MemoryPaused,
    SettingsUnreadable,
    ToolSkipped,
    PathIgnored,
    TurnPrivate,
}

impl SkipReason {
    /// The reason as a sentence fragment, for the HTTP API.
    pub const fn text(self) -> &'static str {
        match self {
            Self::NothingToCapture => "nothing to capture",
            Self::CompressorSession => "sent by the compressor's own client",
            Self::MemoryDisabled => "memory is disabled by CLAUDE_MEM_DISABLED",
            Self::SessionIgnored => "this session is ignored",
            Self::ProjectIgnored => "this project is ignored, or its ignore rules cannot be checked",
            Self::MemoryPaused => "memory is paused",
            Self::SettingsUnreadable => "settings.json or its ignore rules are unreadable",
            Self::ToolSkipped => "calls of this tool are not captured",
            Self::PathIgnored => "it names an ignored path",
            Self::TurnPrivate => "this turn is private",
        }
    }
}
