//! The user's own Claude Code as the compressor: one conversation with one child.
//!
//! The child is started by the first question, answers one message at a time, and is replaced
//! when its conversation has grown: what was said in it is then told again as `so_far`, in
//! a hundredth of the tokens. Whatever goes wrong ends the child, so that a late answer can never
//! be taken for the answer to the next question.

use std::ffi::OsString;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::conversation::{Conversation, Ended};
use super::{Answer, Ask, Model, ModelError, Usage, anthropic, claude_faults};
use crate::child::{Order, Spawner};
use crate::limits::{ALLOCATOR_VARIABLE, CONVERSATION_TOKENS_MAX, CONVERSATION_TURNS_MAX};
use crate::tokens;

/// Set in the environment of every compressor. A hook that sees it does nothing, and a compressor
/// that would be started under it is not: memory never observes itself.
pub const MARKER: &str = "CLAUDE_MEM_COMPRESSOR";

/// How to start the client.
#[derive(Clone, Debug)]
pub struct Launch {
    /// The `claude` to run: a path, or a name on the `PATH` of `env`.
    pub program: OsString,
    pub model: String,
    /// Made by `environment`.
    pub env: Vec<(OsString, OsString)>,
    /// An empty directory of ours, so that no project's instructions are read.
    pub directory: PathBuf,
}

#[derive(Debug)]
pub struct Claude {
    spawner: Spawner,
    launch: Launch,
    running: Option<Conversation>,
}

impl Claude {
    pub const fn new(spawner: Spawner, launch: Launch) -> Self {
        Self {
            spawner,
            launch,
            running: None,
        }
    }

    /// Which arguments make the client a compressor: no tools, no servers, no settings and so no
    /// hooks, no slash commands, no transcript.
    fn order(&self, ask: &Ask<'_>) -> Order {
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
        Order {
            program: self.launch.program.clone(),
            args: args.map(OsString::from).to_vec(),
            env,
            directory: self.launch.directory.clone(),
        }
    }

    /// The conversation for this question, and what to say in it.
    fn conversation(&mut self, ask: &Ask<'_>) -> Result<(Conversation, String), ModelError> {
        if let Some(running) = self.running.take() {
            let small = running.carried_tokens < CONVERSATION_TOKENS_MAX
                && running.turns < CONVERSATION_TURNS_MAX;
            if small && running.system == ask.system {
                return Ok((running, ask.message.to_owned()));
            }
            running.close();
        }
        let child = self.spawner.spawn(self.order(ask)).map_err(|e| {
            ModelError::unreachable(format!("claude could not be started: {}", e.kind()))
        })?;
        Ok((Conversation::with(child, ask.system)?, ask.whole_message()))
    }
}

impl Model for Claude {
    fn answer(&mut self, ask: &Ask<'_>, deadline: Duration) -> Result<Answer, ModelError> {
        let until = Instant::now() + deadline;
        let (mut conversation, message) = self.conversation(ask)?;
        let line = json!({"type": "user", "message": {"role": "user", "content": message}});
        conversation.say(&line);
        let result = match listen(&mut conversation, until) {
            Ok(result) => result,
            Err(ended) => return Err(claude_faults::of_end(ended, conversation)),
        };
        let of_turn = anthropic::usage(&result["usage"]);
        let usage = conversation.bill(of_turn, in_all(&result));
        let text = read(&result, ask).map_err(|error| ModelError::Charged {
            error: Box::new(error),
            usage,
        })?;
        let estimate = tokens::estimate(&message) + tokens::estimate(&text);
        let grown = conversation.carried_tokens + u64::from(estimate);
        conversation.carried_tokens = of_turn.map_or(grown, Usage::total);
        conversation.turns += 1;
        self.running = Some(conversation);
        Ok(Answer { text, usage })
    }

    fn carried_tokens(&self) -> u64 {
        self.running
            .as_ref()
            .map_or(0, |running| running.carried_tokens)
    }

    fn rest(&mut self) {
        if let Some(running) = self.running.take() {
            running.close();
        }
    }
}

impl Drop for Claude {
    fn drop(&mut self) {
        self.rest();
    }
}

/// Waits for the line that ends the turn; everything before it is the client's own business.
fn listen(conversation: &mut Conversation, until: Instant) -> Result<Value, Ended> {
    loop {
        let line = conversation.next_line(until)?;
        let value: Value = serde_json::from_slice(&line).map_err(|_| Ended::Garbled)?;
        if value["type"] == "result" {
            return Ok(value);
        }
    }
}

/// Errors come as `"subtype": "success"`: `is_error` alone tells. What they cost, the caller knows.
fn read(result: &Value, ask: &Ask<'_>) -> Result<String, ModelError> {
    if result["is_error"] != false {
        return Err(claude_faults::of_result(result, ask.now));
    }
    if result["stop_reason"] == "refusal" {
        return Err(ModelError::Refused { usage: None });
    }
    let text = result["result"].as_str().map(str::to_owned);
    text.ok_or_else(|| ModelError::garbled("the result has no text"))
}

/// What the client has used since it was started, side requests included.
fn in_all(result: &Value) -> Option<Usage> {
    let models = result["modelUsage"]
        .as_object()
        .filter(|models| !models.is_empty())?;
    let sum = |fields: &[&str]| {
        let counts = models
            .values()
            .flat_map(|model| fields.iter().map(|field| &model[*field]));
        counts
            .filter_map(Value::as_u64)
            .fold(0, u64::saturating_add)
    };
    Some(Usage {
        input: sum(&[
            "inputTokens",
            "cacheReadInputTokens",
            "cacheCreationInputTokens",
        ]),
        output: sum(&["outputTokens"]),
    })
}

/// The environment of a compressor: the user's, without what the client told its hooks, and with
/// what keeps the compressor quiet, cheap and marked. `keep_api_key` is false where the login of
/// the user's subscription is meant. Under the marker there is none.
pub fn environment(
    of: impl IntoIterator<Item = (OsString, OsString)>,
    keep_api_key: bool,
) -> Result<Vec<(OsString, OsString)>, ModelError> {
    let of: Vec<_> = of.into_iter().collect();
    if of.iter().any(|(name, _)| name == MARKER) {
        return Err(ModelError::misconfigured(
            "this runs inside our own compressor",
        ));
    }
    let kept = |name: &OsString| match name.to_str() {
        Some("ANTHROPIC_API_KEY" | "ANTHROPIC_AUTH_TOKEN") => keep_api_key,
        // Meant for the worker alone.
        Some(ALLOCATOR_VARIABLE) => false,
        Some(name) => !is_of_the_client(name) && !OURS.iter().any(|(ours, _)| *ours == name),
        None => true,
    };
    let mut env: Vec<_> = of.into_iter().filter(|(name, _)| kept(name)).collect();
    env.extend(
        OURS.iter()
            .map(|(name, value)| ((*name).into(), (*value).into())),
    );
    Ok(env)
}

const OURS: &[(&str, &str)] = &[
    (MARKER, "1"),
    ("MAX_THINKING_TOKENS", "0"),
    ("CLAUDE_CODE_MAX_RETRIES", "1"),
    ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
    ("DISABLE_AUTOUPDATER", "1"),
    ("DISABLE_TELEMETRY", "1"),
    ("DISABLE_ERROR_REPORTING", "1"),
];

/// Variables that a running client sets for what it starts. Those that choose the provider or
/// hold the login are the user's own and stay.
fn is_of_the_client(name: &str) -> bool {
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
        "CLAUDE_PROJECT_DIR",
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
