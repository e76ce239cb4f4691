//! Parses the prompts by which the client reports the end of a background task or a message of a
//! teammate.

use super::tags;
use crate::sanitize;

/// Report that a background task has ended.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TaskNotification {
    /// The id of the task; for a subagent, its agent id.
    pub task_id: Option<String>,
    /// The subagent's final report. A background command has none.
    pub result: Option<String>,
}

impl TaskNotification {
    pub(super) fn parse(text: &str) -> Self {
        // The head ends where the report begins, which may quote anything.
        let head = text.split("<result>").next().unwrap_or(text);
        let task_id = tags::tag_content(head, "task-id").map(|id| id.trim().to_owned());
        let result = tags::outer_content(text, "result").map(str::trim).filter(|text| !text.is_empty());
        Self {
            task_id: task_id.and_then(sanitize::sanitize_id).filter(|id| !id.is_empty()),
            result: result.map(str::to_owned),
        }
    }
}

/// Message of another agent of the team.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TeammateMessage {
    /// The name of the agent that sent it.
    pub sender: Option<String>,
    pub text: String,
}

impl TeammateMessage {
    /// Joins all messages of one prompt; the sender is that of the first.
    pub(super) fn parse(text: &str) -> Self {
        let sender = tags::attribute(text, "teammate_id").map(str::to_owned);
        let mut messages = Vec::new();
        for block in text.split("<teammate-message").skip(1) {
            let inside = block.split_once('>').map_or("", |(_, inside)| inside);
            let inside = inside.rsplit_once("</teammate-message>").map_or(inside, |(inside, _)| inside);
            messages.push(inside.trim());
        }
        Self { sender: sender.and_then(sanitize::sanitize_id), text: messages.join("\n\n") }
    }
}
