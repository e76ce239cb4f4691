//! The table of settings: every key once, with its type, default and help.
//!
//! `claude-mem config`, `docs/configuration.md` and the viewer's settings page are made from it,
//! and so is the typed `Settings`. To add a setting, add an entry; there is no second place.

use super::kind::{Field, Kind, Secret, Value, choice};

/// One setting as the table describes it.
#[derive(Clone, Copy, Debug)]
pub struct Key {
    pub name: &'static str,
    pub group: &'static str,
    pub kind: Kind,
    /// In the spelling a person would type.
    pub default: &'static str,
    pub help: &'static str,
    /// Names that the earlier program of this name uses for the same thing, without its prefix.
    pub older: &'static [&'static str],
}

impl Key {
    pub const fn is_secret(&self) -> bool {
        matches!(self.kind, Kind::Secret(_))
    }

    /// The environment variable that wins over the file.
    pub fn variable(&self) -> String {
        format!("CLAUDE_MEM_{}", self.name.to_ascii_uppercase())
    }
}

choice!(
    /// Who turns events into memories.
    Provider {
        /// `claude` where the user has enabled it at install, else `local`.
        Auto = "auto",
        Local = "local",
        Claude = "claude",
        Anthropic = "anthropic",
        OpenAi = "openai",
        Gemini = "gemini",
    }
);
choice!(
    /// Who starts the worker.
    WorkerStart {
        Auto = "auto",
        Manual = "manual",
    }
);

/// Makes the typed struct and the table out of one list, so that they cannot differ.
macro_rules! settings {
    ($($group:literal { $($(#[doc = $help:literal])+ $name:ident: $type:ty = $default:literal, $kind:expr $(, older $older:literal)*;)+ })+) => {
        /// Every setting, typed and within its range.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Settings {
            $($($(#[doc = $help])+ pub $name: $type,)+)+
        }

        /// In the order in which people are shown them.
        pub static KEYS: &[Key] = &[$($(Key {
            name: stringify!($name),
            group: $group,
            kind: $kind,
            default: $default,
            help: concat!($($help),+).trim_ascii_start(),
            older: &[$($older),*],
        },)+)+];

        impl Settings {
            /// Types the values that `value` finds for each key.
            pub(super) fn from_values(value: impl Fn(&Key) -> Value) -> Option<Self> {
                let mut keys = KEYS.iter();
                Some(Self { $($($name: <$type>::of(&value(keys.next()?))?,)+)+ })
            }
        }
    };
}

const fn number(min: u64, max: u64, unit: &'static str) -> Kind {
    Kind::Number { min, max, unit }
}

settings! {
    "What is remembered" {
        /// Tools whose calls leave nothing. `*` stands for any letters.
        skip_tools: Vec<String> = "EnterPlanMode,EnterWorktree,ExitWorktree,Glob,Grep,KillBash,KillShell,LS,ListMcpResourcesTool,SlashCommand,Skill,TaskCreate,TaskGet,TaskList,TaskStop,TaskUpdate,TodoRead,TodoWrite,ToolSearch,mcp__claude-mem__*,mcp__plugin_claude-mem_*", Kind::List("tool names");
        /// Projects that are never remembered, by name or by path. `*` stands for any letters
        /// but `/`, `**` for any at all.
        ignore_projects: Vec<String> = "", Kind::List("names or paths"), older "EXCLUDED_PROJECTS";
        /// Files of which nothing is kept: a tool's call that names one, in its input or its
        /// output, leaves nothing. Patterns as in `ignore_projects`, matched against the path and
        /// each of its ends; `~`, `..` and `cd` are followed, links are not.
        ignore_paths: Vec<String> = "", Kind::List("path patterns");
        /// Delete the words of prompts after so many days; what was learnt from them stays. 0
        /// keeps them.
        prompts_days_max: u32 = "0", number(0, 36_500, "days");
    }
    "Making memories" {
        /// Who turns events into memories. `local` needs no model, no network and no tokens;
        /// `claude` uses your own Claude Code; `openai` is any endpoint that speaks its language,
        /// also Ollama, LM Studio, vLLM or OpenRouter. `auto` is `claude` if you enabled it at
        /// install, else `local`.
        provider: Provider = "auto", Kind::Choice(Provider::NAMES);
        /// The model to ask. Empty takes the provider's small one.
        model: String = "", Kind::Text("a model's name");
        /// Where the provider's API is. Empty takes its public address; for Ollama it is
        /// `http://127.0.0.1:11434/v1`.
        base_url: String = "", Kind::Address;
        /// The provider's key. Empty takes the provider's own variable, as ANTHROPIC_API_KEY,
        /// OPENAI_API_KEY or GEMINI_API_KEY.
        api_key: Secret = "", Kind::Secret("a key");
        /// The language memories are written in, as `en`, `de` or `ja`. Empty follows the
        /// conversation. The local provider quotes and does not translate.
        language: String = "", Kind::Text("a language");
        /// A JSON file with types and concepts of your own. Empty takes the standard ones.
        vocabulary: String = "", Kind::Text("a file's path");
        /// Tokens that a model may cost per day, in and out; then `local` takes over. 0 forbids
        /// any call.
        budget_tokens_per_day: u64 = "1000000", number(0, 1_000_000_000, "tokens");
        /// Tokens that a model may cost for one session of yours.
        budget_tokens_per_session: u64 = "200000", number(0, 1_000_000_000, "tokens");
        /// How long one call to a model may take. What takes longer is asked again, and in the
        /// end left to `local`.
        model_seconds: u32 = "90", number(1, 90, "seconds");
        /// Sessions that are worked on at once.
        parallel_sessions: u32 = "2", number(1, 16, "sessions");
    }
    "What the agent is told" {
        /// Tell a new session what earlier ones learnt. `CLAUDE_MEM_CONTEXT=off claude` leaves it
        /// out once.
        context: bool = "on", Kind::Switch;
        /// How much of it, at the most.
        context_tokens: u32 = "1500", number(100, 2_400, "tokens");
        /// In it: the last session's summary and what was next.
        context_summary: bool = "on", Kind::Switch;
        /// In it: the list of earlier memories, one line each.
        context_index: bool = "on", Kind::Switch;
        /// In it: how you like to work, whatever the project.
        context_preferences: bool = "on", Kind::Switch;
        /// In it: one line on the tokens that memory cost and saved.
        context_economics: bool = "on", Kind::Switch;
        /// With a prompt, recall what is known of its subject.
        recall_prompt: bool = "on", Kind::Switch;
        /// How much of that, at the most.
        recall_prompt_tokens: u32 = "400", number(50, 2_000, "tokens");
        /// When a file is read or edited, recall what is known of it.
        recall_file: bool = "on", Kind::Switch;
        /// How much of that, at the most.
        recall_file_tokens: u32 = "250", number(50, 2_000, "tokens");
        /// When a command fails, recall how the same error was solved before.
        recall_failure: bool = "on", Kind::Switch;
        /// How much of that, at the most.
        recall_failure_tokens: u32 = "250", number(50, 2_000, "tokens");
        /// Show you one line at session start: how much is remembered, and where to look.
        show_message: bool = "on", Kind::Switch;
    }
    "Search" {
        /// Search by meaning as well as by words. Off saves the worker's time and the disk space
        /// of the index.
        vectors: bool = "on", Kind::Switch;
    }
    "Worker and viewer" {
        /// `auto`: hooks start the worker when there is work. `manual`: only `claude-mem worker`
        /// does.
        worker: WorkerStart = "auto", Kind::Choice(WorkerStart::NAMES);
        /// The worker ends by itself after so long without a session or an open page.
        worker_idle_minutes: u32 = "30", number(1, 10_080, "minutes");
        /// Port of the viewer and the API, on this machine only. 0 takes 37700 plus the last two
        /// digits of your user id, or a free one.
        port: u16 = "0", number(0, 65_535, "(a port)"), older "WORKER_PORT";
        /// `claude-mem open` starts the browser. Off: it prints the link.
        viewer_open: bool = "on", Kind::Switch;
    }
    "Housekeeping" {
        /// Backups to keep. 0 makes none.
        backups_keep: u32 = "12", number(0, 1_000, "backups");
        /// Disk space for all backups; the oldest go first, the newest stays.
        backups_bytes_max: u64 = "1G", number(0, 1 << 50, "bytes");
        /// Days that logs are kept.
        log_days: u32 = "14", number(1, 3_650, "days");
        /// Disk space for all logs; the oldest go first.
        log_bytes_max: u64 = "32M", number(64 << 10, 1 << 40, "bytes");
    }
}

/// The key of this name.
pub fn key(name: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.name == name)
}

/// Variables that are not settings: they belong to one process, or must be known before the
/// settings file can be found.
pub static VARIABLES: &[(&str, &str)] = &[
    (
        "CLAUDE_MEM_DATA_DIR",
        "Where everything is kept, instead of `~/.claude-mem`.",
    ),
    (
        "CLAUDE_MEM_DISABLED",
        "`1` keeps this session out of memory: its hooks do nothing.",
    ),
    (
        "CLAUDE_MEM_COMPRESSOR",
        "Set for the client that makes memories, so that its hooks do nothing and it never watches itself.",
    ),
    (
        "CLAUDE_MEM_STRICT",
        "For developers: `1` makes a hook exit 2 with a message on our own bugs.",
    ),
    (
        "CLAUDE_MEM_NOW",
        "For tests: milliseconds since 1970 that stand in for the clock.",
    ),
];

#[cfg(test)]
#[path = "keys_tests.rs"]
mod tests;
