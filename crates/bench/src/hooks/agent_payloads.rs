//! Payloads of the agents other than Claude Code, each in its client's form ([`AgentPayloads`]).

use std::path::{Path, PathBuf};

use anyhow::bail;
use serde_json::{Value, json};

/// Every event that each agent reports.
pub(super) const AGENT_CASES: [(&str, &str); 28] = [
    ("codex", "PostToolUse"),
    ("codex", "UserPromptSubmit"),
    ("codex", "Stop"),
    ("codex", "SessionStart"),
    ("codex", "SessionEnd"),
    ("gemini-cli", "AfterTool"),
    ("gemini-cli", "BeforeAgent"),
    ("gemini-cli", "AfterAgent"),
    ("gemini-cli", "SessionStart"),
    ("gemini-cli", "SessionEnd"),
    ("opencode", "tool.execute.after"),
    ("opencode", "message.part.updated"),
    ("opencode", "chat.message"),
    ("opencode", "session.idle"),
    ("opencode", "session.created"),
    ("qwen-code", "PostToolUse"),
    ("qwen-code", "PostToolUseFailure"),
    ("qwen-code", "UserPromptSubmit"),
    ("qwen-code", "Stop"),
    ("qwen-code", "SessionStart"),
    ("qwen-code", "SessionEnd"),
    ("copilot-cli", "PostToolUse"),
    ("copilot-cli", "PostToolUseFailure"),
    ("copilot-cli", "UserPromptSubmit"),
    ("copilot-cli", "Stop"),
    ("copilot-cli", "SubagentStop"),
    ("copilot-cli", "SessionStart"),
    ("copilot-cli", "SessionEnd"),
];

const PROMPT: &str = "why does the token check fail for an api key?";
const SESSION: &str = "agent-session";
/// Lines of a transcript before the report of a command.
const TRANSCRIPT_LINES: usize = 400;

/// Builds payloads. Codex tells the outcome of a command only in its transcript, which is therefore real.
pub(super) struct AgentPayloads {
    transcript: PathBuf,
    earlier: String,
    /// The output of a tool.
    output: &'static str,
}

impl AgentPayloads {
    pub(super) fn new(folder: &Path, output: &'static str) -> std::io::Result<Self> {
        let line = json!({
            "timestamp": "2026-01-02T03:04:05.000Z", "type": "response_item",
            "payload": { "type": "message", "role": "assistant", "content": [{ "text": "Looking at the keys." }] },
        });
        let payloads = Self {
            transcript: folder.join(format!("rollout-{SESSION}.jsonl")),
            earlier: format!("{line}\n").repeat(TRANSCRIPT_LINES),
            output,
        };
        std::fs::write(&payloads.transcript, &payloads.earlier)?;
        Ok(payloads)
    }

    /// A payload as the client would send it, different for each id.
    pub(super) fn payload(&self, agent: &str, event: &str, id: &str) -> anyhow::Result<Vec<u8>> {
        let more = match agent {
            "codex" => self.codex(event, id)?,
            "gemini-cli" => gemini_cli(event, id, self.output),
            "opencode" => opencode(event, id, self.output),
            "qwen-code" => qwen_code(event, id, self.output),
            "copilot-cli" => self.copilot_cli(event, id)?,
            _ => bail!("no payloads of {agent}"),
        };
        let mut payload = json!({ "session_id": SESSION, "cwd": "/tmp", "hook_event_name": event });
        if let (Some(payload), Value::Object(more)) = (payload.as_object_mut(), more) {
            payload.extend(more);
        }
        Ok(payload.to_string().into_bytes())
    }

    /// Codex writes the report of a command before it runs the hook.
    fn codex(&self, event: &str, id: &str) -> std::io::Result<Value> {
        Ok(match event {
            "PostToolUse" => {
                let report = json!({ "type": "event_msg", "payload": { "type": "item_completed", "item": {
                    "type": "CommandExecution", "id": id, "exit_code": 0, "aggregated_output": self.output,
                } } });
                std::fs::write(&self.transcript, format!("{}{report}\n", self.earlier))?;
                json!({
                    "turn_id": id, "transcript_path": self.transcript, "tool_name": "Bash", "tool_use_id": id,
                    "tool_input": { "command": "cat keys.rs" }, "tool_response": self.output,
                })
            }
            "UserPromptSubmit" => json!({ "turn_id": id, "prompt": PROMPT }),
            "Stop" => json!({ "turn_id": id, "last_assistant_message": format!("All done: {id}.") }),
            "SessionStart" => json!({ "source": "startup" }),
            _ => json!({ "reason": "other" }),
        })
    }

    /// Copilot CLI leaves the final message to its event log.
    fn copilot_cli(&self, event: &str, id: &str) -> std::io::Result<Value> {
        let result = json!({ "result_type": "success", "text_result_for_llm": self.output });
        Ok(match event {
            "PostToolUse" => json!({
                "tool_name": "Read", "tool_input": { "path": "/tmp/keys.rs", "view_range": id }, "tool_result": result,
            }),
            "PostToolUseFailure" => json!({
                "tool_name": "Read", "tool_input": { "path": "/tmp/gone.rs", "view_range": id },
                "error": "Path does not exist",
            }),
            "UserPromptSubmit" => json!({ "prompt": format!("{PROMPT} {id}") }),
            "Stop" => {
                let said =
                    json!({ "type": "assistant.message", "data": { "content": format!("All done: {id}.") } });
                std::fs::write(&self.transcript, format!("{}{said}\n", self.earlier))?;
                json!({ "transcript_path": self.transcript, "stop_reason": "end_turn" })
            }
            "SubagentStop" => json!({
                "agent_id": id, "parent_agent_id": SESSION, "last_assistant_message": format!("All done: {id}."),
            }),
            "SessionStart" => json!({ "source": "new" }),
            _ => json!({ "reason": "complete" }),
        })
    }
}

fn gemini_cli(event: &str, id: &str, output: &str) -> Value {
    let reported = format!("<hook_context>earlier sessions</hook_context>\n\n{PROMPT} {id}");
    match event {
        "AfterTool" => json!({
            "tool_name": "read_file", "tool_input": { "file_path": "/tmp/keys.rs", "offset": id },
            "tool_response": { "llmContent": output, "returnDisplay": "" },
        }),
        "BeforeAgent" => json!({ "prompt": reported }),
        "AfterAgent" => json!({ "prompt": reported, "prompt_response": format!("All done: {id}.") }),
        "SessionStart" => json!({ "source": "startup" }),
        _ => json!({ "reason": "exit" }),
    }
}

fn opencode(event: &str, id: &str, output: &str) -> Value {
    match event {
        "tool.execute.after" => json!({
            "prompt_id": "m", "tool_name": "read", "tool_use_id": id,
            "tool_input": { "filePath": "/tmp/keys.rs" }, "tool_response": output,
        }),
        "message.part.updated" => json!({
            "prompt_id": "m", "tool_name": "read", "tool_use_id": id,
            "tool_input": { "filePath": "/tmp/gone.rs" }, "error": "no such file",
        }),
        "chat.message" => json!({ "prompt_id": id, "prompt": PROMPT }),
        "session.idle" => json!({ "prompt_id": id, "last_assistant_message": format!("All done: {id}.") }),
        _ => json!({ "source": "startup" }),
    }
}

fn qwen_code(event: &str, id: &str, output: &str) -> Value {
    match event {
        "PostToolUse" => json!({
            "prompt_id": "p", "tool_name": "read_file", "tool_use_id": "toolu", "tool_call_id": id,
            "tool_input": { "file_path": "/tmp/keys.rs" }, "tool_response": { "llmContent": output },
        }),
        "PostToolUseFailure" => json!({
            "prompt_id": "p", "tool_name": "run_shell_command", "tool_use_id": "toolu", "tool_call_id": id,
            "tool_input": { "command": "cat keys.rs" }, "error": format!("Command: x\nOutput: {output}\nExit Code: 1"),
        }),
        "UserPromptSubmit" => json!({ "prompt_id": id, "prompt": format!("{PROMPT} {id}") }),
        "Stop" => json!({ "prompt_id": id, "last_assistant_message": format!("All done: {id}.") }),
        "SessionStart" => json!({ "source": "startup" }),
        _ => json!({ "reason": "other" }),
    }
}
