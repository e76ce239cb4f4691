//! The table of sources: where a text of a session comes from, whose voice it is, and how much it counts.
//!
//! Live hooks, the transcript reader and the import give every text a [`TextSource`] before anything is
//! distilled; [`Voice`], [`Origin`] and weight follow from [`SOURCE_TABLE`].
//!
//! Invariant: only a source whose voice is [`Voice::User`] can produce a memory attributed to the user.

use serde::{Deserialize, Serialize};

use crate::memory::Origin;

/// Where a text of a session comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// A prompt that a person typed.
    #[default]
    Prompt,
    /// A prompt that was queued while the agent worked.
    QueuedPrompt,
    /// Words typed when a tool call or a plan was rejected.
    Rejection,
    /// The answer to a question that the agent asked with a tool.
    Answer,
    Commit,
    PullRequest,
    /// A plan, in the tool call that presents it or as the client hands it over.
    Plan,
    /// The agent's last message of a turn.
    FinalMessage,
    /// Any other message of the agent.
    Message,
    /// Lines added to a memory file such as CLAUDE.md or docs/adr/*.
    MemoryFile,
    /// A todo or task of the agent.
    Task,
    CompactSummary,
    /// The client's own recap of the session.
    Recap,
    SubagentReport,
    TeammateMessage,
    /// Console output, a log, a diff or a stack trace inside a prompt.
    Paste,
    ToolOutput,
    WebPage,
    /// Reminders, command wrappers, hook output, interrupt markers.
    ClientText,
}

/// The speaker of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Voice {
    User,
    Agent,
    Subagent,
    /// Another agent of the same team.
    Teammate,
    /// Written by the client, possibly with a model.
    Client,
    /// Quoted by the user, not said by the user.
    Quotation,
    Tool,
    Web,
}

impl Voice {
    /// The name in prompts of model providers and in exports.
    pub const fn name(self) -> &'static str {
        match self {
            Self::User => "user",
            Self::Agent => "agent",
            Self::Subagent => "subagent",
            Self::Teammate => "teammate",
            Self::Client => "client",
            Self::Quotation => "quotation",
            Self::Tool => "tool",
            Self::Web => "web",
        }
    }
}

/// One row of [`SOURCE_TABLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SourceTraits {
    pub source: TextSource,
    /// The name in prompts of model providers and in exports.
    pub name: &'static str,
    pub voice: Voice,
    pub origin: Origin,
    /// How much a text of this source counts, from 0 (nothing) to 10.
    pub weight: u8,
}

const fn row(
    source: TextSource,
    name: &'static str,
    voice: Voice,
    origin: Origin,
    weight: u8,
) -> SourceTraits {
    SourceTraits { source, name, voice, origin, weight }
}

/// Every source with its voice, origin and weight, in the order of [`TextSource`].
pub const SOURCE_TABLE: [SourceTraits; 19] = [
    row(TextSource::Prompt, "prompt", Voice::User, Origin::User, 8),
    row(TextSource::QueuedPrompt, "queued prompt", Voice::User, Origin::User, 8),
    row(TextSource::Rejection, "words at a rejected call", Voice::User, Origin::User, 8),
    row(TextSource::Answer, "answer to a question", Voice::User, Origin::User, 9),
    row(TextSource::Commit, "commit", Voice::Agent, Origin::Agent, 10),
    row(TextSource::PullRequest, "pull request", Voice::Agent, Origin::Agent, 10),
    row(TextSource::Plan, "plan", Voice::Agent, Origin::Agent, 7),
    row(TextSource::FinalMessage, "final message", Voice::Agent, Origin::Agent, 7),
    row(TextSource::Message, "message", Voice::Agent, Origin::Agent, 4),
    row(TextSource::MemoryFile, "memory file", Voice::Agent, Origin::Agent, 9),
    row(TextSource::Task, "task", Voice::Agent, Origin::Agent, 5),
    row(TextSource::CompactSummary, "compaction summary", Voice::Client, Origin::Agent, 6),
    row(TextSource::Recap, "recap", Voice::Client, Origin::Agent, 6),
    row(TextSource::SubagentReport, "subagent report", Voice::Subagent, Origin::Agent, 3),
    row(TextSource::TeammateMessage, "teammate message", Voice::Teammate, Origin::Agent, 2),
    row(TextSource::Paste, "quotation", Voice::Quotation, Origin::Tool, 1),
    row(TextSource::ToolOutput, "tool output", Voice::Tool, Origin::Tool, 1),
    row(TextSource::WebPage, "web page", Voice::Web, Origin::Web, 1),
    row(TextSource::ClientText, "client text", Voice::Client, Origin::Tool, 0),
];

impl TextSource {
    pub const fn traits(self) -> &'static SourceTraits {
        &SOURCE_TABLE[self as usize]
    }

    pub const fn voice(self) -> Voice {
        self.traits().voice
    }

    /// The source of a stored prompt, of which only the origin is known. In doubt it is not the user's.
    pub const fn of_stored_prompt(origin: Origin) -> Self {
        match origin {
            Origin::User | Origin::Manual => Self::Prompt,
            Origin::Agent => Self::Plan,
            Origin::Tool | Origin::Web | Origin::Import => Self::ClientText,
        }
    }

    /// Whether these are the user's own words.
    pub const fn is_user(self) -> bool {
        matches!(self.voice(), Voice::User)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_in_the_order_of_the_sources() {
        for row in &SOURCE_TABLE {
            assert_eq!(row.source.traits(), row);
        }
    }

    #[test]
    fn stored_prompt_is_the_users_only_if_its_origin_is() {
        for source in [TextSource::Prompt, TextSource::Plan, TextSource::ClientText] {
            assert_eq!(TextSource::of_stored_prompt(source.traits().origin), source);
        }
        assert!(!TextSource::of_stored_prompt(TextSource::TeammateMessage.traits().origin).is_user());
    }

    #[test]
    fn user_origin_and_user_voice_go_together() {
        for row in &SOURCE_TABLE {
            assert_eq!(row.origin == Origin::User, row.voice == Voice::User, "{row:?}");
        }
    }
}
