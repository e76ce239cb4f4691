//! The classes of messages with the user's role.

use claude_mem_core::source::TextSource;

use super::notification::{TaskNotification, TeammateMessage};

/// How much of a prompt is private.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PromptPrivacy {
    None,
    Part,
    All,
    /// The prompt is not the user's, so it neither begins nor ends a private turn.
    Foreign,
}

/// The speaker of a message with the user's role. Its text is without private blocks; secrets are not
/// yet masked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PromptClass {
    /// The user's own words, without what the client added to them.
    User(String),
    /// A prompt of the user that is private as a whole.
    Private,
    /// A prompt that the user did not write.
    Foreign(TextSource, String),
    /// A background task has ended.
    Notification(TaskNotification),
    Teammate(TeammateMessage),
    /// The user interrupted the turn.
    Interruption,
    /// Text that the client generated and that is not worth keeping.
    ClientText,
}

/// A prompt with its class.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClassifiedPrompt {
    pub class: PromptClass,
    /// A part of the prompt is private.
    pub has_private_part: bool,
}

impl ClassifiedPrompt {
    pub const fn privacy(&self) -> PromptPrivacy {
        match &self.class {
            PromptClass::Private => PromptPrivacy::All,
            PromptClass::User(_) if self.has_private_part => PromptPrivacy::Part,
            PromptClass::User(_) => PromptPrivacy::None,
            _ => PromptPrivacy::Foreign,
        }
    }
}
