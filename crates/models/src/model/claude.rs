//! The user's own Claude Code as a model: one conversation with one child process.
//!
//! [`ClaudeCodeClient`] starts the child for the first request, sends one message at a time, and
//! replaces the child when its conversation has grown too long; the rolling summary then carries its
//! content over in a hundredth of the tokens. Any error ends the child, so that a late answer is never
//! taken for the answer to the next request.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::anthropic;
use super::claude_conversation;
use super::claude_faults;
use super::conversation::{ChildConversation, ConversationEnd};
use super::error::ModelError;
use super::language_model::{LanguageModel, ModelReply, ModelRequest};
use super::token_usage::TokenUsage;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::child::{ChildSpawner, SpawnRequest};
use claude_mem_core::limits::ALLOCATOR_VARIABLE;
use claude_mem_core::tokens;

/// Set in the environment of every compressor child. Hooks do nothing when they see it, and no
/// compressor starts under it, so that memory never observes itself.
pub const COMPRESSOR_MARKER: &str = "CLAUDE_MEM_COMPRESSOR";

/// How to start Claude Code.
#[derive(Clone, Debug)]
pub struct ClaudeLaunch {
    /// The `claude` to run: a path, or a name on the `PATH` of `env`.
    pub program: OsString,
    pub model: String,
    /// From `compressor_environment`.
    pub env: Vec<(OsString, OsString)>,
    /// An empty directory of ours, so that the client reads no project's instructions.
    pub directory: PathBuf,
}

/// A [`LanguageModel`] that runs Claude Code as a child process.
#[derive(Debug)]
pub struct ClaudeCodeClient {
    spawner: ChildSpawner,
    launch: ClaudeLaunch,
    running: Option<ChildConversation>,
}

impl ClaudeCodeClient {
    pub const fn new(spawner: ChildSpawner, launch: ClaudeLaunch) -> Self {
        Self { spawner, launch, running: None }
    }

    /// The command line: no tools, no MCP servers, no settings (hence no hooks), no slash commands,
    /// no transcript.
    fn order(&self, ask: &ModelRequest<'_>) -> SpawnRequest {
        let args = [
            "-p",
            "--input-format",
            "stream-json",
            "--output-format",
            "stream-json",
            "--verbose",
            "--model",
            &self.launch.model,
            "--tools",
            "",
            "--strict-mcp-config",
            "--setting-sources",
            "",
            "--disable-slash-commands",
            "--no-session-persistence",
            "--system-prompt",
            ask.system,
        ];
        let mut env = self.launch.env.clone();
        let answer = ask.answer_tokens_max.to_string();
        env.push(("CLAUDE_CODE_MAX_OUTPUT_TOKENS".into(), answer.into()));
        SpawnRequest {
            program: self.launch.program.clone(),
            args: args.map(OsString::from).to_vec(),
            env,
            directory: self.launch.directory.clone(),
        }
    }

    /// The running conversation if it is short enough, else a new one, and the message to send.
    fn take_or_start_conversation(
        &mut self,
        ask: &ModelRequest<'_>,
    ) -> Result<(ChildConversation, String), ModelError> {
        if let Some(running) = self.running.take() {
            let is_small = claude_conversation::goes_on(running.carried_tokens, running.turns);
            if is_small && running.system == ask.system {
                return Ok((running, ask.message.to_owned()));
            }
            running.close();
        }
        let child = self
            .spawner
            .spawn(self.order(ask))
            .map_err(|e| ModelError::unreachable(format!("failed to start claude: {}", e.kind())))?;
        Ok((ChildConversation::start(child, ask.system)?, ask.standalone_message()))
    }
}

impl LanguageModel for ClaudeCodeClient {
    fn answer(&mut self, ask: &ModelRequest<'_>, deadline: Duration) -> Result<ModelReply, ModelError> {
        let until = Instant::now() + deadline;
        let (mut conversation, message) = self.take_or_start_conversation(ask)?;
        let line = json!({"type": "user", "message": {"role": "user", "content": message}});
        conversation.send_line(&line);
        let result = match wait_for_result(&mut conversation, until) {
            Ok(result) => result,
            Err(ended) => {
                return Err(claude_faults::classify_conversation_end(ended, conversation));
            }
        };
        let of_turn = anthropic::parse_usage(&result["usage"]);
        let usage = conversation.bill_turn(of_turn, total_usage(&result));
        let text = read_result(&result, ask)
            .map_err(|error| ModelError::Charged { error: Box::new(error), usage })?;
        let estimate = tokens::estimate(&message) + tokens::estimate(&text);
        let grown = conversation.carried_tokens + u64::from(estimate);
        conversation.carried_tokens = of_turn.map_or(grown, TokenUsage::total);
        conversation.turns += 1;
        self.running = Some(conversation);
        Ok(ModelReply { text, usage })
    }

    fn carried_tokens(&self) -> u64 {
        self.running.as_ref().map_or(0, |running| running.carried_tokens)
    }

    fn release(&mut self) {
        if let Some(running) = self.running.take() {
            running.close();
        }
    }
}

impl Drop for ClaudeCodeClient {
    fn drop(&mut self) {
        self.release();
    }
}

/// Waits for the `result` line, which ends the turn, and skips all other lines.
fn wait_for_result(conversation: &mut ChildConversation, until: Instant) -> Result<Value, ConversationEnd> {
    loop {
        let line = conversation.next_line(until)?;
        let value: Value = serde_json::from_slice(&line).map_err(|_| ConversationEnd::Garbled)?;
        if value["type"] == "result" {
            return Ok(value);
        }
    }
}

/// The text of a result. Only `is_error` marks an error: `subtype` is `success` even then. The caller
/// adds the usage.
fn read_result(result: &Value, ask: &ModelRequest<'_>) -> Result<String, ModelError> {
    if result["is_error"] != false {
        return Err(claude_faults::classify_result(result, ask.now));
    }
    if result["stop_reason"] == "refusal" {
        return Err(ModelError::Refused { usage: None });
    }
    let text = result["result"].as_str().map(str::to_owned);
    text.ok_or_else(|| ModelError::garbled("the result has no text"))
}

/// The client's total usage since it was started, including its own requests.
fn total_usage(result: &Value) -> Option<TokenUsage> {
    let models = result["modelUsage"].as_object().filter(|models| !models.is_empty())?;
    let sum = |fields: &[&str]| {
        let counts = models.values().flat_map(|model| fields.iter().map(|field| &model[*field]));
        counts.filter_map(Value::as_u64).fold(0, u64::saturating_add)
    };
    Some(TokenUsage {
        input: sum(&["inputTokens", "cacheReadInputTokens", "cacheCreationInputTokens"]),
        output: sum(&["outputTokens"]),
    })
}

/// The environment of a compressor child: the user's, without the variables that a client sets for
/// its hooks, plus `COMPRESSOR_VARIABLES`. Without `keep_api_key` the user's subscription is used.
/// Fails inside a compressor.
pub fn compressor_environment(
    of: impl IntoIterator<Item = (OsString, OsString)>,
    keep_api_key: bool,
) -> Result<Vec<(OsString, OsString)>, ModelError> {
    let of: Vec<_> = of.into_iter().collect();
    if of.iter().any(|(name, _)| name == COMPRESSOR_MARKER) {
        return Err(ModelError::misconfigured("already running inside a claude-mem compressor"));
    }
    let kept = |name: &OsString| match name.to_str() {
        Some("ANTHROPIC_API_KEY" | "ANTHROPIC_AUTH_TOKEN") => keep_api_key,
        // Set for the worker only.
        Some(ALLOCATOR_VARIABLE) => false,
        Some(name) => !is_set_by_client(name) && !COMPRESSOR_VARIABLES.iter().any(|(ours, _)| *ours == name),
        None => true,
    };
    let mut env: Vec<_> = of.into_iter().filter(|(name, _)| kept(name)).collect();
    env.extend(COMPRESSOR_VARIABLES.iter().map(|(name, value)| ((*name).into(), (*value).into())));
    Ok(env)
}

/// Variables that mark the compressor and keep it quiet and cheap.
const COMPRESSOR_VARIABLES: &[(&str, &str)] = &[
    (COMPRESSOR_MARKER, "1"),
    ("MAX_THINKING_TOKENS", "0"),
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// Whether a running client sets this variable for its child processes. Variables that select the
/// provider or hold the login are the user's own and are kept.
fn is_set_by_client(name: &str) -> bool {
    const USERS: &[&str] = &[
        "CLAUDE_CODE_OAUTH_TOKEN",
        "CLAUDE_CODE_USE_BEDROCK",
        "CLAUDE_CODE_USE_VERTEX",
        "CLAUDE_CODE_USE_FOUNDRY",
        "CLAUDE_CODE_SKIP_BEDROCK_AUTH",
        "CLAUDE_CODE_SKIP_VERTEX_AUTH",
        "CLAUDE_CODE_SKIP_FOUNDRY_AUTH",
        "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
        "CLAUDE_CODE_CLIENT_CERT",
        "CLAUDE_CODE_CLIENT_KEY",
        "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE",
    ];
    const CLIENTS: &[&str] = &[
        "CLAUDECODE",
        CLAUDE_CODE.project_variable,
        "CLAUDE_PID",
        "CLAUDE_EFFORT",
        "CLAUDE_ENV_FILE",
        "CLAUDE_PLUGIN_ROOT",
        "CLAUDE_PLUGIN_DATA",
    ];
    (name.starts_with("CLAUDE_CODE_") && !USERS.contains(&name)) || CLIENTS.contains(&name)
}

#[cfg(test)]
#[path = "claude_tests.rs"]
mod tests;
