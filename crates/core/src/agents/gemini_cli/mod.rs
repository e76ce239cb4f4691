//! Gemini CLI of Google. It prepends the context of the session start to the first prompt that it reports, and
//! calls `PreCompress` before every request, which is no compaction.

mod payload;
mod session_file;
mod tool_call;

use super::client_files::{ClientEntries, ClientFileSpec, HookShape, ServerShape, TimeoutUnit};
use super::client_home::ClientHome;
use super::coding_agent::{
    ClientProgram, CodingAgent, FileRecallMoment, HookEventKind, McpClientSpec, ResponseFields,
    TranscriptSpec,
};
use super::features::{AgentFeatures, FeatureSupport};

const HOME: ClientHome = ClientHome { variable: None, default: ".gemini" };

pub const GEMINI_CLI: CodingAgent = CodingAgent {
    name: "gemini-cli",
    title: "Gemini CLI",
    tested_versions: &["0.61.0"],
    program: ClientProgram { command: "gemini", package: "@google/gemini-cli", home: HOME },
    events: &[
        ("AfterTool", HookEventKind::ToolUse),
        ("BeforeAgent", HookEventKind::Prompt),
        ("AfterAgent", HookEventKind::Stop),
        ("SessionStart", HookEventKind::SessionStart),
        ("SessionEnd", HookEventKind::SessionEnd),
    ],
    session_variable: "GEMINI_SESSION_ID",
    project_variable: "GEMINI_PROJECT_DIR",
    version_variable: "",
    file_tools: &["Read", "Edit", "Write"],
    shell_tool: "Bash",
    file_recall: FileRecallMoment::AfterTool,
    response: ResponseFields::WithFlow,
    rewrite_payload: Some(payload::rewrite),
    find_exit_code: None,
    files: &[
        ClientFileSpec {
            directory: HOME,
            names: &["settings.json"],
            entries: ClientEntries::JsonHooks(HookShape {
                timeout_unit: TimeoutUnit::Milliseconds,
                matcher: Some("*"),
                is_named: true,
                shorter: &[],
            }),
        },
        ClientFileSpec {
            directory: HOME,
            names: &["settings.json"],
            entries: ClientEntries::JsonServer { object: "mcpServers", shape: ServerShape::CommandAndArgs },
        },
    ],
    mcp_client: McpClientSpec { name_prefix: "gemini-cli", session_pointer: None, text_hiding_prefix: None },
    transcripts: Some(TranscriptSpec {
        folder: ClientHome { variable: None, default: ".gemini/tmp" },
        file_prefix: "session-",
        directory_file: Some("../.project_root"),
        database: None,
        translate: Some(session_file::translate),
    }),
    features: AgentFeatures {
        capture: FeatureSupport::Partly(
            "its payloads name no prompt, so a prompt that is repeated word for word in a session is stored once",
        ),
        start_context: FeatureSupport::Yes,
        prompt_recall: FeatureSupport::Yes,
        file_recall: FeatureSupport::Partly(
            "after the file was read, because it ignores context before that",
        ),
        failure_recall: FeatureSupport::Yes,
        mcp: FeatureSupport::Yes,
        transcripts: FeatureSupport::Yes,
        install: FeatureSupport::Yes,
    },
    install_note: None,
    silence_fix: "restart Gemini CLI, which reads its settings at startup; then `claude-mem repair`",
};

#[cfg(test)]
mod gemini_cli_tests;
