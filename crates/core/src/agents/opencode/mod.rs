//! OpenCode. It has no hooks that start a program; a plugin file of ours calls us.

mod payload;
mod session_message;

use super::client_files::{ClientEntries, ClientFileSpec, ServerShape};
use super::client_home::ClientHome;
use super::coding_agent::{
    ClientProgram, CodingAgent, FileRecallMoment, HookEventKind, McpClientSpec, ResponseFields,
    TranscriptSpec,
};
use super::features::{AgentFeatures, FeatureSupport};

const HOME: ClientHome =
    ClientHome { variable: Some(("XDG_CONFIG_HOME", "opencode")), default: ".config/opencode" };
const PLUGINS: ClientHome =
    ClientHome { variable: Some(("XDG_CONFIG_HOME", "opencode/plugin")), default: ".config/opencode/plugin" };

pub const OPENCODE: CodingAgent = CodingAgent {
    name: "opencode",
    title: "OpenCode",
    tested_versions: &["1.18.33"],
    program: ClientProgram { command: "opencode", package: "opencode-ai", home: HOME },
    events: &[
        ("tool.execute.after", HookEventKind::ToolUse),
        ("chat.message", HookEventKind::Prompt),
        ("session.idle", HookEventKind::Stop),
        ("session.created", HookEventKind::SessionStart),
        ("message.part.updated", HookEventKind::ToolFailure),
    ],
    session_variable: "",
    project_variable: "",
    version_variable: "",
    file_tools: &["Read", "Edit", "Write"],
    shell_tool: "Bash",
    file_recall: FileRecallMoment::AfterTool,
    response: ResponseFields::ContextOnly,
    rewrite_payload: Some(payload::rewrite),
    find_exit_code: None,
    files: &[
        ClientFileSpec {
            directory: PLUGINS,
            names: &["claude-mem.js"],
            entries: ClientEntries::OwnFile { template: include_str!("plugin.js") },
        },
        ClientFileSpec {
            directory: HOME,
            names: &["opencode.json", "opencode.jsonc"],
            entries: ClientEntries::JsonServer { object: "mcp", shape: ServerShape::CommandList },
        },
    ],
    mcp_client: McpClientSpec { name_prefix: "opencode", session_pointer: None, text_hiding_prefix: None },
    transcripts: Some(TranscriptSpec {
        folder: ClientHome {
            variable: Some(("XDG_DATA_HOME", "opencode")),
            default: ".local/share/opencode",
        },
        file_prefix: "",
        directory_file: None,
        database: Some("opencode.db"),
        translate: Some(session_message::translate),
    }),
    features: AgentFeatures {
        capture: FeatureSupport::Yes,
        start_context: FeatureSupport::Yes,
        prompt_recall: FeatureSupport::Yes,
        file_recall: FeatureSupport::Partly(
            "after the file was read, because there is no earlier place for it",
        ),
        failure_recall: FeatureSupport::Yes,
        mcp: FeatureSupport::Yes,
        transcripts: FeatureSupport::Partly(
            "past sessions are imported from its database; events that no hook delivered are not read from there",
        ),
        install: FeatureSupport::Yes,
    },
    install_note: None,
    silence_fix: "restart OpenCode, which loads plugins at startup; then `claude-mem repair`",
};

#[cfg(test)]
mod opencode_tests;
