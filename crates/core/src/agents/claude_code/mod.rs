//! Claude Code. Its payloads and transcripts are the shape that those of other clients are rewritten into.

use super::client_home::ClientHome;
use super::coding_agent::{
    ClientProgram, CodingAgent, FileRecallMoment, HookEventKind, McpClientSpec, ResponseFields,
    TranscriptSpec,
};
use super::features::{AgentFeatures, FeatureSupport};
use crate::platform;

/// The prompt of a subagent that Claude Code starts only to warm up.
pub const WARMUP_PROMPT: &str = "Warmup";

/// Where an administrator manages the settings of Claude Code for all users.
pub const MANAGED_SETTINGS: &str = platform::path_for_all_users(
    "/etc/claude-code/managed-settings.json",
    "/Library/Application Support/ClaudeCode/managed-settings.json",
);

const HOME: ClientHome = ClientHome { variable: Some(("CLAUDE_CONFIG_DIR", "")), default: ".claude" };

pub const CLAUDE_CODE: CodingAgent = CodingAgent {
    name: "claude-code",
    title: "Claude Code",
    tested_versions: &["2.1.325", "2.1.197", "2.0.77"],
    program: ClientProgram { command: "claude", package: "@anthropic-ai/claude-code", home: HOME },
    events: &[
        ("PostToolUse", HookEventKind::ToolUse),
        ("PreToolUse", HookEventKind::BeforeTool),
        ("UserPromptSubmit", HookEventKind::Prompt),
        ("Stop", HookEventKind::Stop),
        ("SessionStart", HookEventKind::SessionStart),
        ("PostToolUseFailure", HookEventKind::ToolFailure),
        ("SubagentStop", HookEventKind::SubagentStop),
        ("PreCompact", HookEventKind::PreCompact),
        ("PostCompact", HookEventKind::PostCompact),
        ("SessionEnd", HookEventKind::SessionEnd),
    ],
    session_variable: "CLAUDE_CODE_SESSION_ID",
    project_variable: "CLAUDE_PROJECT_DIR",
    version_variable: "AI_AGENT",
    file_tools: &["Read", "Edit", "Write", "MultiEdit", "NotebookEdit"],
    shell_tool: "Bash",
    file_recall: FileRecallMoment::BeforeTool,
    response: ResponseFields::WithFlow,
    rewrite_payload: None,
    find_exit_code: None,
    files: &[],
    mcp_client: McpClientSpec {
        name_prefix: "claude-code",
        session_pointer: None,
        text_hiding_prefix: Some("claude"),
    },
    transcripts: Some(TranscriptSpec {
        folder: ClientHome { variable: Some(("CLAUDE_CONFIG_DIR", "projects")), default: ".claude/projects" },
        file_prefix: "",
        directory_file: None,
        database: None,
        translate: None,
    }),
    features: AgentFeatures {
        capture: FeatureSupport::Yes,
        start_context: FeatureSupport::Yes,
        prompt_recall: FeatureSupport::Yes,
        file_recall: FeatureSupport::Yes,
        failure_recall: FeatureSupport::Partly(
            "only from 2.0.77, older versions run no hook for failed tools",
        ),
        mcp: FeatureSupport::Yes,
        transcripts: FeatureSupport::Yes,
        install: FeatureSupport::Yes,
    },
    install_note: None,
    silence_fix: "restart Claude Code, which reads hooks at startup; then `claude-mem repair`",
};
