//! Qwen Code of Alibaba. Its hooks have the shape of Claude Code's with the tools of Gemini CLI. After every tool it
//! reports an empty prompt, which is no turn.

mod chat_record;
mod payload;
mod tool_text;

use super::client_files::{ClientEntries, ClientFileSpec, HookShape, ServerShape, TimeoutUnit};
use super::client_home::ClientHome;
use super::coding_agent::{
    ClientProgram, CodingAgent, FileRecallMoment, HookEventKind, McpClientSpec, ResponseFields,
    TranscriptSpec,
};
use super::features::{AgentFeatures, FeatureSupport};

const HOME: ClientHome = ClientHome { variable: Some(("QWEN_HOME", "")), default: ".qwen" };

pub const QWEN_CODE: CodingAgent = CodingAgent {
    name: "qwen-code",
    title: "Qwen Code",
    tested_versions: &["0.24.4"],
    program: ClientProgram { command: "qwen", package: "@qwen-code/qwen-code", home: HOME },
    events: &[
        ("PostToolUse", HookEventKind::ToolUse),
        ("PostToolUseFailure", HookEventKind::ToolFailure),
        ("UserPromptSubmit", HookEventKind::Prompt),
        ("Stop", HookEventKind::Stop),
        ("SessionStart", HookEventKind::SessionStart),
        ("SessionEnd", HookEventKind::SessionEnd),
    ],
    session_variable: "QWEN_CODE_SESSION_ID",
    project_variable: "QWEN_PROJECT_DIR",
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
                timeout_unit: TimeoutUnit::Seconds,
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
    mcp_client: McpClientSpec { name_prefix: "qwen-cli", session_pointer: None, text_hiding_prefix: None },
    transcripts: Some(TranscriptSpec {
        folder: ClientHome { variable: Some(("QWEN_HOME", "projects")), default: ".qwen/projects" },
        file_prefix: "",
        directory_file: None,
        database: None,
        translate: Some(chat_record::translate),
    }),
    features: AgentFeatures {
        capture: FeatureSupport::Partly(
            "its transcripts name no prompt, so a prompt that is repeated word for word in a session is stored once",
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
    silence_fix: "restart Qwen Code, which reads its settings at startup; then `claude-mem repair`",
};

#[cfg(test)]
mod qwen_code_tests;
