//! Codex of OpenAI. Its hooks have the shape of Claude Code's; its transcripts, called rollouts, have their own.

mod payload;
mod printed_file;
mod rollout;

use super::client_files::{ClientEntries, ClientFileSpec, HookShape, TimeoutUnit};
use super::client_home::ClientHome;
use super::coding_agent::{
    ClientProgram, CodingAgent, FileRecallMoment, HookEventKind, McpClientSpec, ResponseFields,
    TranscriptSpec,
};
use super::features::{AgentFeatures, FeatureSupport};

const HOME: ClientHome = ClientHome { variable: Some(("CODEX_HOME", "")), default: ".codex" };

pub const CODEX: CodingAgent = CodingAgent {
    name: "codex",
    title: "Codex",
    tested_versions: &["0.169.0"],
    program: ClientProgram { command: "codex", package: "@openai/codex", home: HOME },
    events: &[
        ("PostToolUse", HookEventKind::ToolUse),
        ("UserPromptSubmit", HookEventKind::Prompt),
        ("Stop", HookEventKind::Stop),
        ("SessionStart", HookEventKind::SessionStart),
        ("SessionEnd", HookEventKind::SessionEnd),
    ],
    session_variable: "",
    project_variable: "",
    version_variable: "",
    file_tools: &["Bash"],
    shell_tool: "Bash",
    file_recall: FileRecallMoment::AfterTool,
    response: ResponseFields::ContextOnly,
    rewrite_payload: Some(payload::rewrite),
    find_exit_code: Some(rollout::find_exit_code),
    files: &[
        ClientFileSpec {
            directory: HOME,
            names: &["hooks.json"],
            entries: ClientEntries::JsonHooks(HookShape {
                timeout_unit: TimeoutUnit::Seconds,
                matcher: None,
                is_named: false,
                // It warns about a longer one.
                shorter: &[("SessionEnd", 3)],
            }),
        },
        ClientFileSpec {
            directory: HOME,
            names: &["config.toml"],
            entries: ClientEntries::TomlServer { table: "mcp_servers" },
        },
    ],
    mcp_client: McpClientSpec {
        name_prefix: "codex",
        session_pointer: Some("/_meta/x-codex-turn-metadata/session_id"),
        text_hiding_prefix: Some("codex"),
    },
    transcripts: Some(TranscriptSpec {
        folder: ClientHome { variable: Some(("CODEX_HOME", "sessions")), default: ".codex/sessions" },
        file_prefix: "rollout-",
        directory_file: None,
        database: None,
        translate: Some(rollout::translate),
    }),
    features: AgentFeatures {
        capture: FeatureSupport::Partly(
            "its hooks run once you have trusted them; calls for which it runs no hook are read from its transcript",
        ),
        start_context: FeatureSupport::Yes,
        prompt_recall: FeatureSupport::Yes,
        file_recall: FeatureSupport::Partly(
            "after a command that prints one file and does nothing else, because no tool names the file",
        ),
        failure_recall: FeatureSupport::Yes,
        mcp: FeatureSupport::Yes,
        transcripts: FeatureSupport::Yes,
        install: FeatureSupport::Yes,
    },
    install_note: Some(
        "Codex runs hooks once you have trusted them: start `codex`, and trust those of claude-mem when it says that \
         hooks need review",
    ),
    silence_fix: "Codex skips hooks that you have not trusted: start `codex`, and trust those of claude-mem when it \
                  says that hooks need review",
};

#[cfg(test)]
mod codex_tests;
