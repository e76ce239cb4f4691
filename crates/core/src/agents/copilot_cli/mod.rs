//! GitHub Copilot CLI. Under the event names of Claude Code its hooks have almost the shape of Claude Code's; its
//! transcripts are logs of events.

mod event_log;
mod payload;
mod tool_call;

use super::client_files::{ClientEntries, ClientFileSpec, HookShape, ServerShape, TimeoutUnit};
use super::client_home::ClientHome;
use super::coding_agent::{
    ClientProgram, CodingAgent, FileRecallMoment, HookEventKind, McpClientSpec, ResponseFields,
    TranscriptSpec,
};
use super::features::{AgentFeatures, FeatureSupport};

const HOME: ClientHome = ClientHome { variable: Some(("COPILOT_HOME", "")), default: ".copilot" };

pub const COPILOT_CLI: CodingAgent = CodingAgent {
    name: "copilot-cli",
    title: "GitHub Copilot CLI",
    tested_versions: &["1.0.102"],
    program: ClientProgram { command: "copilot", package: "@github/copilot", home: HOME },
    events: &[
        ("PostToolUse", HookEventKind::ToolUse),
        ("PostToolUseFailure", HookEventKind::ToolFailure),
        ("UserPromptSubmit", HookEventKind::Prompt),
        ("Stop", HookEventKind::Stop),
        ("SubagentStop", HookEventKind::SubagentStop),
        ("SessionStart", HookEventKind::SessionStart),
        ("SessionEnd", HookEventKind::SessionEnd),
    ],
    session_variable: "",
    project_variable: "COPILOT_PROJECT_DIR",
    version_variable: "",
    file_tools: &["Read", "Edit", "Write"],
    shell_tool: "Bash",
    file_recall: FileRecallMoment::AfterTool,
    response: ResponseFields::PlainContext,
    rewrite_payload: Some(payload::rewrite),
    find_exit_code: None,
    files: &[
        ClientFileSpec {
            // A file of our own in the folder of the user's hooks.
            directory: ClientHome { variable: Some(("COPILOT_HOME", "hooks")), default: ".copilot/hooks" },
            names: &["claude-mem.json"],
            entries: ClientEntries::JsonHooks(HookShape {
                timeout_unit: TimeoutUnit::Seconds,
                matcher: None,
                is_named: false,
                shorter: &[],
            }),
        },
        ClientFileSpec {
            directory: HOME,
            names: &["mcp-config.json"],
            entries: ClientEntries::JsonServer { object: "mcpServers", shape: ServerShape::CommandAndArgs },
        },
    ],
    mcp_client: McpClientSpec { name_prefix: "copilot-cli", session_pointer: None, text_hiding_prefix: None },
    transcripts: Some(TranscriptSpec {
        folder: ClientHome {
            variable: Some(("COPILOT_HOME", "session-state")),
            default: ".copilot/session-state",
        },
        file_prefix: "events",
        directory_file: None,
        database: None,
        translate: Some(event_log::translate),
    }),
    features: AgentFeatures {
        capture: FeatureSupport::Partly(
            "its hooks name neither prompts nor calls, so a prompt, or a call with the same input and output, that is \
             repeated in a session is stored once",
        ),
        start_context: FeatureSupport::Yes,
        prompt_recall: FeatureSupport::Yes,
        file_recall: FeatureSupport::Partly(
            "after the file was read, because context before that does not arrive earlier",
        ),
        failure_recall: FeatureSupport::Yes,
        mcp: FeatureSupport::Yes,
        transcripts: FeatureSupport::Yes,
        install: FeatureSupport::Yes,
    },
    install_note: None,
    silence_fix: "restart Copilot CLI, which reads its hooks at startup; then `claude-mem repair`",
};

#[cfg(test)]
mod copilot_cli_tests;
