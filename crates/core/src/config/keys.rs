//! The table of settings: every key once, with its type, default and help.
//!
//! `claude-mem config`, `docs/configuration.md`, the viewer's settings page and the typed
//! [`Settings`] are generated from it. To add a setting, add one entry.

use super::kind::{FromSetting, SecretString, SettingKind, SettingValue, choice};

/// One setting as the table describes it.
#[derive(Clone, Copy, Debug)]
pub struct SettingKey {
    pub name: &'static str,
    pub group: &'static str,
    pub kind: SettingKind,
    /// As a user would type it.
    pub default: &'static str,
    pub help: &'static str,
    /// The legacy program's names for the same setting, without the prefix.
    pub legacy_names: &'static [&'static str],
}

impl SettingKey {
    pub const fn is_secret(&self) -> bool {
        matches!(self.kind, SettingKind::Secret(_))
    }

    /// The name of the setting as an environment variable.
    pub fn variable(&self) -> String {
        // Every hook asks for all names: one allocation, without the formatting machinery.
        let mut variable = ["CLAUDE_MEM_", self.name].concat();
        variable.make_ascii_uppercase();
        variable
    }

    /// Whether a session may override the setting in its environment. All other settings configure the
    /// one worker of all projects, which no single session may do.
    pub fn is_per_session(&self) -> bool {
        PER_SESSION.contains(&self.name)
    }

    /// Whether a running worker keeps the old value until it is restarted.
    pub fn needs_restart(&self) -> bool {
        NEEDS_RESTART.contains(&self.name)
    }
}

/// Settings that only the hooks and commands of one session use.
const PER_SESSION: &[&str] = &[
    "skip_tools",
    "ignore_projects",
    "ignore_paths",
    "context",
    "context_tokens",
    "context_summary",
    "context_index",
    "context_preferences",
    "context_economics",
    "recall_prompt",
    "recall_prompt_tokens",
    "recall_file",
    "recall_file_tokens",
    "recall_failure",
    "recall_failure_tokens",
    "show_message",
    "worker",
    "viewer_open",
];

/// Settings of threads, indexes and sockets that the worker creates once.
const NEEDS_RESTART: &[&str] = &["parallel_sessions", "vectors", "port"];

choice!(
    /// The compressor that turns events into memories.
    Provider {
        /// `claude` if the user enabled it at install, else `local`.
        Auto = "auto",
        Local = "local",
        Claude = "claude",
        Anthropic = "anthropic",
        OpenAi = "openai",
        Gemini = "gemini",
    }
);
choice!(
    /// Whether hooks start the worker.
    WorkerStart {
        Auto = "auto",
        Manual = "manual",
    }
);

/// Generates the typed struct and the table from one list, so that they cannot differ.
macro_rules! settings {
    ($($group:literal { $($(#[doc = $help:literal])+ $name:ident: $type:ty = $default:literal, $kind:expr $(, older $older:literal)*;)+ })+) => {
        /// Every setting, typed and within its range.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($($(#[doc = $help])+ pub $name: $type,)+)+
        }

        /// All settings, in display order.
        pub static KEYS: &[SettingKey] = &[$($(SettingKey {
            name: stringify!($name),
            group: $group,
            kind: $kind,
            default: $default,
            help: concat!($($help),+).trim_ascii_start(),
            legacy_names: &[$($older),*],
        },)+)+];

        impl Settings {
            /// Builds the struct from the value of each key.
            pub(super) fn from_values(value: impl Fn(&SettingKey) -> SettingValue) -> Option<Self> {
                let mut keys = KEYS.iter();
                Some(Self { $($($name: <$type>::from_setting(&value(keys.next()?))?,)+)+ })
            }
        }
    };
}

const fn number(min: u64, max: u64, unit: &'static str) -> SettingKind {
    SettingKind::Number { min, max, unit }
}

settings! {
    "What is remembered" {
        /// Tools whose calls are not recorded. `*` matches any characters.
        skip_tools: Vec<String> = "EnterPlanMode,EnterWorktree,ExitWorktree,Glob,Grep,KillBash,KillShell,LS,ListMcpResourcesTool,SlashCommand,Skill,TaskGet,TaskList,TaskStop,TodoRead,ToolSearch,mcp__claude-mem__*,mcp__plugin_claude-mem_*", SettingKind::List("tool names");
        /// Projects that are never recorded, by name or by path. `*` matches any characters
        /// except `/`, `**` matches any characters.
        ignore_projects: Vec<String> = "", SettingKind::List("names or paths"), older "EXCLUDED_PROJECTS";
        /// Files that are never recorded: a tool call that names one, in its input or its
        /// output, is dropped. Patterns as in `ignore_projects`, matched against the path and
        /// each of its suffixes; `~`, `..` and `cd` are resolved, symbolic links are not.
        ignore_paths: Vec<String> = "", SettingKind::List("path patterns");
        /// Delete the text of prompts after this many days; the memories made from them stay. 0
        /// keeps the text.
        prompts_days_max: u32 = "0", number(0, 36_500, "days");
        /// Forget memories, summaries, accounts and replies after this many days. Pinned
        /// memories, preferences, and what was fetched, cited or marked as useful in that time stay. Forgotten
        /// memories can be restored for a while. 0 keeps all.
        memories_days_max: u32 = "0", number(0, 36_500, "days");
    }
    "Making memories" {
        /// How events become memories. `local` needs no model, no network and no tokens;
        /// `claude` uses your own Claude Code; `openai` is any endpoint with a compatible API,
        /// including Ollama, LM Studio, vLLM and OpenRouter. `auto` is `claude` if you enabled it
        /// at install, otherwise `local`.
        provider: Provider = "auto", SettingKind::Choice(Provider::NAMES);
        /// The model to use. Empty selects the provider's small one.
        model: String = "", SettingKind::Text("a model's name");
        /// The URL of the provider's API. Empty selects its public URL; for Ollama use
        /// `http://127.0.0.1:11434/v1`.
        base_url: String = "", SettingKind::Address;
        /// The provider's API key. Environment variables such as OPENAI_API_KEY are not used: the
        /// worker serves all projects, and no single session configures it.
        api_key: SecretString = "", SettingKind::Secret("a key");
        /// A file whose first line is the API key, if `api_key` is empty. A relative path starts at the
        /// data directory.
        api_key_file: String = "", SettingKind::Text("a file's path");
        /// The URL of the proxy for calls to a provider on another machine. Proxy variables of the
        /// environment are not used.
        proxy: SecretString = "", SettingKind::Secret("a URL");
        /// A PEM file with the certificates to trust for calls to a provider, instead of the built-in
        /// ones.
        root_certificates: String = "", SettingKind::Text("a file's path");
        /// The program of the `claude` provider. Empty selects the one that install found, else the
        /// one in a usual place; the PATH is not searched.
        claude_program: String = "", SettingKind::Text("a file's path");
        /// Further variables for the `claude` provider, such as `CLAUDE_CODE_USE_BEDROCK=1`. They are
        /// shown in plain text.
        claude_variables: Vec<String> = "", SettingKind::List("NAME=value");
        /// The language of memories, such as `en`, `de` or `ja`. Empty follows the
        /// conversation. The local provider quotes and does not translate.
        language: String = "", SettingKind::Text("a language");
        /// A JSON file with your own types and concepts, as `docs/vocabulary.md` describes it. Empty selects the
        /// built-in ones.
        vocabulary: String = "", SettingKind::Text("a file's path");
        /// Tokens that models may use per day, input and output; then `local` takes over. 0
        /// forbids every call.
        budget_tokens_per_day: u64 = "1000000", number(0, 1_000_000_000, "tokens");
        /// Tokens that models may use for one of your sessions.
        budget_tokens_per_session: u64 = "200000", number(0, 1_000_000_000, "tokens");
        /// Timeout of one call to a model. A call that times out is retried, and finally `local`
        /// takes over.
        model_seconds: u32 = "90", number(1, 90, "seconds");
        /// Sessions that are processed in parallel.
        parallel_sessions: u32 = "2", number(1, 16, "sessions");
    }
    "What sessions receive" {
        /// Give a new session context from earlier ones. `CLAUDE_MEM_CONTEXT=off claude` omits it
        /// once.
        context: bool = "on", SettingKind::Switch;
        /// Maximum size of the context of a new session.
        context_tokens: u32 = "1500", number(100, 2_400, "tokens");
        /// Include the account of the last session and what it left open in that context.
        context_summary: bool = "on", SettingKind::Switch;
        /// Include the list of earlier memories in that context, one line each.
        context_index: bool = "on", SettingKind::Switch;
        /// Invite the agent to save lasting rules, decisions and causes itself, through the MCP tool save_memory.
        agent_notes: bool = "on", SettingKind::Switch;
        /// Include your preferences, which hold in every project, in that context.
        context_preferences: bool = "on", SettingKind::Switch;
        /// Include one line on the tokens that making and reading these memories takes in that context.
        context_economics: bool = "off", SettingKind::Switch;
        /// With a prompt, recall memories about its subject.
        recall_prompt: bool = "on", SettingKind::Switch;
        /// Maximum size of what is recalled with a prompt.
        recall_prompt_tokens: u32 = "400", number(50, 2_000, "tokens");
        /// When a file is read or edited, recall memories about it.
        recall_file: bool = "on", SettingKind::Switch;
        /// Maximum size of what is recalled with a file.
        recall_file_tokens: u32 = "250", number(50, 2_000, "tokens");
        /// When a command fails, recall how the same error was fixed before.
        recall_failure: bool = "on", SettingKind::Switch;
        /// Maximum size of what is recalled with a failing command.
        recall_failure_tokens: u32 = "250", number(50, 2_000, "tokens");
        /// Show one line when a session starts: how much is stored, and where to see it.
        show_message: bool = "on", SettingKind::Switch;
    }
    "Search" {
        /// Search by meaning as well as by words. Off saves CPU time of the worker and the disk
        /// space of the vectors.
        vectors: bool = "on", SettingKind::Switch;
    }
    "Worker and viewer" {
        /// `auto`: hooks start the worker on demand. `manual`: only `claude-mem worker` starts
        /// it.
        worker: WorkerStart = "auto", SettingKind::Choice(WorkerStart::NAMES);
        /// The worker exits after this long without a session or an open page.
        worker_idle_minutes: u32 = "30", number(1, 10_080, "minutes");
        /// Port of the viewer and the API, on 127.0.0.1 only. 0 selects the last worker's port;
        /// the first is 37700 plus the last two digits of your user id, or any free one.
        port: u16 = "0", number(0, 65_535, "(a port)"), older "WORKER_PORT";
        /// Let `claude-mem open` start the browser. Off: it prints the link.
        viewer_open: bool = "on", SettingKind::Switch;
    }
    "Team" {
        /// Files that keep a memory from being shared with the team: one that names such a file stays
        /// here. Patterns as in `ignore_paths`.
        team_never: Vec<String> = ".env,.env.*,*.pem,*.key,id_rsa*,credentials*,secrets", SettingKind::List("path patterns");
        /// Share what a session was asked for as well: the local provider quotes your own words there.
        team_requests: bool = "off", SettingKind::Switch;
    }
    "Housekeeping" {
        /// Number of backups to keep. 0 disables backups.
        backups_keep: u32 = "12", number(0, 1_000, "backups");
        /// Disk space for all backups; the oldest are deleted first, the newest is always kept.
        backups_bytes_max: u64 = "1G", number(0, 1 << 50, "bytes");
        /// Days to keep logs.
        log_days: u32 = "14", number(1, 3_650, "days");
        /// Disk space for all logs; the oldest are deleted first.
        log_bytes_max: u64 = "32M", number(64 << 10, 1 << 40, "bytes");
    }
}

/// The key with this name.
pub fn key(name: &str) -> Option<&'static SettingKey> {
    KEYS.iter().find(|key| key.name == name)
}

/// Variables that are not settings: they apply to one process, or are needed before the settings
/// file can be found.
pub static VARIABLES: &[(&str, &str)] = &[
    ("CLAUDE_MEM_DATA_DIR", "The data directory, instead of `~/.claude-mem`."),
    ("CLAUDE_MEM_DISABLED", "`1` excludes this session: its hooks do nothing."),
    ("CLAUDE_MEM_COMPRESSOR", "Set for the client that writes memories, so that its own hooks do nothing."),
    (
        "CLAUDE_MEM_STRICT",
        "For developers: `1` makes a hook exit 2 with a message when claude-mem itself has a bug.",
    ),
    (
        "CLAUDE_MEM_TEAM",
        "A link with a token, for `team sync` in CI on a machine that belongs to no team. Hooks and the worker do not \
         read it.",
    ),
    ("CLAUDE_MEM_NOW", "For tests: the current time in milliseconds since 1970, instead of the clock."),
];

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
