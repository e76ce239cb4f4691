//! [`AgentFeatures`]: what works with a client.

/// How far a feature works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FeatureSupport {
    Yes,
    /// It works with a limitation, which the text says.
    Partly(&'static str),
    /// It does not work, for the reason in the text.
    No(&'static str),
}

/// Which of our features work with a client.
#[derive(Clone, Copy, Debug)]
pub struct AgentFeatures {
    /// Prompts, tool calls with their outcome and final messages are captured by hooks.
    pub capture: FeatureSupport,
    /// A new session receives the start context.
    pub start_context: FeatureSupport,
    pub prompt_recall: FeatureSupport,
    pub file_recall: FeatureSupport,
    pub failure_recall: FeatureSupport,
    pub mcp: FeatureSupport,
    /// Past sessions can be imported, and events that no hook delivered are read from the transcript.
    pub transcripts: FeatureSupport,
    pub install: FeatureSupport,
}

impl FeatureSupport {
    pub const fn word(self) -> &'static str {
        match self {
            Self::Yes => "yes",
            Self::Partly(_) => "partly",
            Self::No(_) => "no",
        }
    }

    /// Why it does not work completely.
    pub const fn reason(self) -> Option<&'static str> {
        match self {
            Self::Yes => None,
            Self::Partly(why) | Self::No(why) => Some(why),
        }
    }
}

impl AgentFeatures {
    /// All features with their names, in the order of the table.
    pub const fn all(&self) -> [(&'static str, FeatureSupport); 8] {
        [
            ("capture", self.capture),
            ("start context", self.start_context),
            ("prompt recall", self.prompt_recall),
            ("file recall", self.file_recall),
            ("failure recall", self.failure_recall),
            ("MCP", self.mcp),
            ("transcripts", self.transcripts),
            ("install", self.install),
        ]
    }
}
