//! [`Episode`]: a prompt and what was done for it, the unit that a compressor reads.
//!
//! Episodes are built from the events of one session, in order, for `distil` or `models`.
//! Invariant: all text in an episode is already redacted.

use serde::{Deserialize, Serialize};

use crate::clock::Millis;
use crate::source::TextSource;

/// One prompt with its tool calls and the agent's final message. A turn that is too long or too old
/// is cut into several episodes, of which only the last has a `final_message`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Episode {
    pub project: String,
    /// The project's root directory, so that paths can be shown relative to it.
    pub root: String,
    pub branch: Option<String>,
    pub prompt: Option<EpisodePrompt>,
    pub steps: Vec<EpisodeStep>,
    /// Every other text of the turn with its source, in order: messages during the turn, words at
    /// rejected calls, queued prompts, recaps, reports of subagents.
    #[serde(default)]
    pub texts: Vec<EpisodeText>,
    pub final_message: Option<FinalMessage>,
    /// The client's own summary of a compacted conversation, if one arrived in this episode.
    pub compact_summary: Option<String>,
    /// Whether a Stop event ended it; then a summary is due.
    pub finished: bool,
}

/// The user's prompt.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodePrompt {
    pub number: u32,
    pub text: String,
    pub at: Millis,
    /// [`TextSource::Prompt`] only if a person typed it; the client hands plans over as prompts.
    #[serde(default)]
    pub source: TextSource,
}

/// A text of the turn that is neither its prompt nor its final message.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodeText {
    pub source: TextSource,
    pub text: String,
    pub at: Millis,
    /// The id of the message or tool call that it belongs to.
    #[serde(default)]
    pub id: Option<String>,
    /// Its subject: for a rejection, the tool call that was rejected.
    #[serde(default)]
    pub about: Option<String>,
}

/// One tool call with its result.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct EpisodeStep {
    /// As the client names it: `Bash`, `Edit`, `mcp__server__tool`.
    pub tool: String,
    pub input: serde_json::Value,
    /// The client's structured response, or plain text for an old client or a failed call.
    pub output: serde_json::Value,
    pub failed: bool,
    pub at: Millis,
    /// The subagent that made the call, if any.
    pub agent: Option<String>,
}

/// The agent's last message of the turn.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct FinalMessage {
    pub text: String,
    pub at: Millis,
}

impl Episode {
    /// The files that were edited successfully, in order, without duplicates, relative to the root.
    pub fn files_modified(&self) -> Vec<String> {
        self.files(EpisodeStep::modified_file)
    }

    /// The files that were read by name.
    pub fn files_read(&self) -> Vec<String> {
        self.files(EpisodeStep::read_file)
    }

    fn files(&self, of: impl Fn(&EpisodeStep) -> Option<&str>) -> Vec<String> {
        let mut files: Vec<String> = Vec::new();
        for path in self.steps.iter().filter_map(of) {
            let path = self.relative_path(path);
            if !files.iter().any(|known| known == path) {
                files.push(path.to_owned());
            }
        }
        files
    }

    /// A path relative to the root, if it is below the root.
    pub fn relative_path<'a>(&self, path: &'a str) -> &'a str {
        let root = self.root.trim_end_matches('/');
        let inside = path.strip_prefix(root).and_then(|rest| rest.strip_prefix('/'));
        match inside {
            Some(inside) if !root.is_empty() && !inside.is_empty() => inside,
            _ => path.strip_prefix("./").unwrap_or(path),
        }
    }

    /// The time of the last event.
    pub fn ended_at(&self) -> Millis {
        let prompt = self.prompt.as_ref().map(|prompt| prompt.at);
        let message = self.final_message.as_ref().map(|message| message.at);
        let texts = self.texts.iter().map(|text| text.at);
        let steps = self.steps.iter().map(|step| step.at);
        steps.chain(texts).chain(prompt).chain(message).max().unwrap_or_default()
    }
}

impl EpisodeStep {
    /// The file that this call edited, if it is an edit and succeeded.
    pub fn modified_file(&self) -> Option<&str> {
        let touched = touched_file(&self.tool, &self.input).filter(|_| !self.failed)?;
        touched.edited.then_some(touched.path)
    }

    /// The file that this call read, if it succeeded.
    pub fn read_file(&self) -> Option<&str> {
        let touched = touched_file(&self.tool, &self.input).filter(|_| !self.failed)?;
        (!touched.edited).then_some(touched.path)
    }
}

/// Tools by which an agent asks the person, by our names.
const QUESTION_TOOLS: [&str; 2] = ["AskUserQuestion", "ask_user"];

/// A question of the agent that the person answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AnsweredQuestion<'s> {
    pub question: &'s str,
    /// The agent's short name for its subject; may be empty.
    pub header: &'s str,
    /// The label of the chosen option, or what the person typed instead.
    pub answer: &'s str,
    /// The offered options: label and description.
    pub options: Vec<(&'s str, &'s str)>,
}

impl EpisodeStep {
    /// The questions of a question tool with their answers; empty for other tools and for a rejected call.
    pub fn answered_questions(&self) -> Vec<AnsweredQuestion<'_>> {
        let answers = self.output.get("answers").and_then(serde_json::Value::as_object);
        let Some(answers) = answers.filter(|_| !self.failed && QUESTION_TOOLS.contains(&self.tool.as_str()))
        else {
            return Vec::new();
        };
        let questions = self.output.get("questions").or_else(|| self.input.get("questions"));
        let questions = questions.and_then(serde_json::Value::as_array).into_iter().flatten();
        questions
            .filter_map(|asked| {
                let question = asked.get("question")?.as_str()?;
                let answer = answers.get(question)?.as_str()?;
                let options = asked.get("options").and_then(serde_json::Value::as_array);
                let options = options.into_iter().flatten().filter_map(|option| {
                    Some((
                        text_field(option, "label")?,
                        text_field(option, "description").unwrap_or_default(),
                    ))
                });
                let header = text_field(asked, "header").unwrap_or_default();
                Some(AnsweredQuestion { question, header, answer, options: options.collect() })
            })
            .collect()
    }
}

fn text_field<'v>(value: &'v serde_json::Value, name: &str) -> Option<&'v str> {
    value.get(name)?.as_str()
}

/// The file that a tool call names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TouchedFile<'c> {
    pub path: &'c str,
    /// The tool writes it; otherwise the tool reads it.
    pub edited: bool,
}

/// The effect of a tool on files. Names are those of Claude Code, to which other clients' names are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToolKind {
    /// Writes one file.
    Edit,
    /// Reads one file.
    Read,
    /// Lists or searches files.
    Browse,
    Other,
}

impl ToolKind {
    pub fn from_name(tool: &str) -> Self {
        match tool {
            "Edit" | "MultiEdit" | "Write" | "NotebookEdit" => Self::Edit,
            "Read" | "NotebookRead" => Self::Read,
            "Glob" | "Grep" | "LS" => Self::Browse,
            _ => Self::Other,
        }
    }
}

/// The file that a call of this tool reads or edits, if the tool works on one file.
pub fn touched_file<'c>(tool: &str, input: &'c serde_json::Value) -> Option<TouchedFile<'c>> {
    if tool == "apply_patch" {
        return patched_file(input).map(|path| TouchedFile { path, edited: true });
    }
    let edited = match ToolKind::from_name(tool) {
        ToolKind::Edit => true,
        ToolKind::Read => false,
        ToolKind::Browse | ToolKind::Other => return None,
    };
    let named = |name| input.get(name).and_then(serde_json::Value::as_str);
    let path = named("file_path").or_else(|| named("notebook_path"))?;
    (!path.is_empty()).then_some(TouchedFile { path, edited })
}

/// The first file that a patch in the format of `apply_patch` adds or changes.
fn patched_file(input: &serde_json::Value) -> Option<&str> {
    let patch =
        ["input", "patch", "command", "patchText"].iter().find_map(|name| input.get(name)?.as_str())?;
    let heads = ["*** Update File: ", "*** Add File: "];
    let path = patch.lines().find_map(|line| heads.iter().find_map(|head| line.strip_prefix(head)))?.trim();
    (!path.is_empty()).then_some(path)
}

#[cfg(test)]
#[path = "episode_tests.rs"]
mod tests;
