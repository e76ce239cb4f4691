//! A prompt and what was done for it: the unit that a compressor reads.
//!
//! In: the events of one session, in order. Out: an `Episode` for `distil` or `compress`.
//! Everything in it has been redacted already; nothing here is raw.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;

/// One prompt with its tool uses and the agent's last words. A turn that is too long or too old
/// is cut into several episodes, of which only the last has `final_message`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    pub project: String,
    /// The project's root directory, so that paths can be shown relative to it.
    pub root: String,
    pub branch: Option<String>,
    pub prompt: Option<Prompt>,
    pub steps: Vec<Step>,
    pub final_message: Option<FinalMessage>,
    /// The client's own account of a compacted conversation, where one came in this episode.
    pub compact_summary: Option<String>,
    /// True when Stop closed it: then a summary is due.
    pub finished: bool,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Prompt {
    pub number: u32,
    pub text: String,
    pub at: Millis,
}

/// One tool call with its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// As the client names it: `Bash`, `Edit`, `mcp__server__tool`.
    pub tool: String,
    pub input: serde_json::Value,
    /// The client's structured response, or the plain text of an old or a failed one.
    pub output: serde_json::Value,
    pub failed: bool,
    pub at: Millis,
    /// The subagent that made the call, if one did.
    pub agent: Option<String>,
}

#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalMessage {
    pub text: String,
    pub at: Millis,
}

impl Episode {
    /// The files that its edits really changed, in order, each once, relative to the root.
    pub fn files_modified(&self) -> Vec<String> {
        self.files(Step::modified_file)
    }

    /// The files that it looked into by name.
    pub fn files_read(&self) -> Vec<String> {
        self.files(Step::read_file)
    }

    fn files(&self, of: impl Fn(&Step) -> Option<&str>) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for path in self.steps.iter().filter_map(of) {
            let path = self.relative(path);
            if !files.iter().any(|known| known == path) {
                files.push(path.to_owned());
            }
        }
        files
    }

    /// A path as a reader of this project would write it: relative if it lies under the root.
    pub fn relative<'a>(&self, path: &'a str) -> &'a str {
        let root = self.root.trim_end_matches('/');
        let inside = path
            .strip_prefix(root)
            .and_then(|rest| rest.strip_prefix('/'));
        match inside {
            Some(inside) if !root.is_empty() && !inside.is_empty() => inside,
            _ => path.strip_prefix("./").unwrap_or(path),
        }
    }

    /// When the last thing in it happened.
    pub fn ended_at(&self) -> Millis {
        let prompt = self.prompt.as_ref().map(|prompt| prompt.at);
        let message = self.final_message.as_ref().map(|message| message.at);
        let steps = self.steps.iter().map(|step| step.at);
        steps.chain(prompt).chain(message).max().unwrap_or_default()
    }
}

impl Step {
    /// The file that this call changed, if it is a call that changes one and it did.
    pub fn modified_file(&self) -> Option<&str> {
        let edits = matches!(
            self.tool.as_str(),
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit"
        );
        if edits && !self.failed {
            self.path()
        } else {
            None
        }
    }

    /// The file that this call read.
    pub fn read_file(&self) -> Option<&str> {
        let reads = matches!(self.tool.as_str(), "Read" | "NotebookRead");
        if reads && !self.failed {
            self.path()
        } else {
            None
        }
    }

    fn path(&self) -> Option<&str> {
        let named = |name| self.input.get(name).and_then(serde_json::Value::as_str);
        let path = named("file_path").or_else(|| named("notebook_path"))?;
        Some(path).filter(|path| !path.is_empty())
    }
}

#[cfg(test)]
#[path = "episode_tests.rs"]
mod tests;
