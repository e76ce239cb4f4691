//! Codex, Gemini CLI, OpenCode, Qwen Code and Copilot CLI, as their users run them: the real clients against a scripted model.

use std::path::PathBuf;
use std::time::Duration;

use rig::agent_client::{AgentClient, AgentPackage, CODEX, COPILOT_CLI, GEMINI_CLI, OPENCODE, QWEN_CODE};
use rig::model::{ModelScript, ModelTurn, RecordedRequest, ScriptedModel};
use rig::{ProcessOutput, Sandbox, process};
use serde_json::{Value, json};

use crate::common::exe;

/// A session takes a few seconds; a loaded machine may take twenty times that.
const SESSION_SECONDS_MAX: u64 = 300;

const RULE: &str = "Use 7 retry attempts, never 8";
const FIRST_PROMPT: &str =
    "The upstream limiter blocks us. Use 7 retry attempts, never 8, because the 8th trips it.";
const QUESTION: &str = "How many retry attempts does the upstream limiter allow in the retry module?";
/// A file that a session of Claude Code worked on, and the prompt of that session.
const INVOICES: &str = "src/invoices.py";
const INVOICES_PROMPT: &str = "Fix the rounding of invoices";
const KNOWN_ERROR: &str = "`Error: ERR_LEDGER_4711 cannot open the ledger file` was fixed by `make ledger`";
/// What an agent saves itself, through the MCP server.
const NOTE: &str = "Harbour cranes are scheduled by tide";
/// The heading of the start context. The instructions of the MCP server have another one.
const CONTEXT_HEADING: &str = "# Memory of earlier sessions";

/// How one agent is run, and how its model calls tools.
struct AgentCase {
    /// Our name of the agent.
    name: &'static str,
    package: AgentPackage,
    /// A file of its own below the home directory, with the model's address in it.
    settings: (&'static str, fn(&str) -> String),
    arguments: fn(&str) -> Vec<String>,
    env: fn(&str) -> Vec<(&'static str, String)>,
    read: fn(&str) -> ModelTurn,
    edit: fn(&str) -> ModelTurn,
    shell: fn(&str) -> ModelTurn,
    /// Its name for a tool of our MCP server.
    memory_tool: fn(&str) -> String,
    /// What its transcript tells again, if it was written too late for the hook that reads it.
    told_later: &'static [&'static str],
}

const CODEX_CASE: AgentCase = AgentCase {
    name: "codex",
    package: CODEX,
    settings: (".codex/config.toml", |url| {
        format!(
            "model = \"gpt-5.5\"\nmodel_provider = \"scripted\"\napproval_policy = \"never\"\n\
             sandbox_mode = \"danger-full-access\"\ncheck_for_update_on_startup = false\n\n\
             [analytics]\nenabled = false\n\n[features]\nenable_request_compression = false\n\n\
             # the model of the test\n[model_providers.scripted]\nname = \"scripted\"\n\
             base_url = \"{url}/v1\"\nwire_api = \"responses\"\nenv_key = \"SCRIPTED_KEY\"\nrequest_max_retries = 0\n"
        )
    }),
    arguments: |prompt| {
        ["exec", "--skip-git-repo-check", "--dangerously-bypass-hook-trust", prompt]
            .map(str::to_owned)
            .to_vec()
    },
    env: |_| vec![("SCRIPTED_KEY", "k".to_owned())],
    read: |file| ModelTurn::call("exec_command", json!({ "cmd": format!("head -3 {file}") })),
    edit: |file| {
        let patch = format!(
            "*** Begin Patch\n*** Update File: {file}\n@@\n-MAX_ATTEMPTS = 10\n+MAX_ATTEMPTS = 7\n*** End Patch"
        );
        ModelTurn::call("apply_patch", json!(patch))
    },
    shell: |line| ModelTurn::call("exec_command", json!({ "cmd": line })),
    memory_tool: |tool| format!("mcp__claude_mem__{tool}"),
    told_later: &[],
};

const GEMINI_CASE: AgentCase = AgentCase {
    name: "gemini-cli",
    package: GEMINI_CLI,
    settings: (".gemini/settings.json", |_| {
        let settings = json!({
            "security": { "auth": { "selectedType": "gemini-api-key" } },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        format!("{settings:#}\n")
    }),
    arguments: |prompt| {
        ["-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p", prompt].map(str::to_owned).to_vec()
    },
    env: |url| {
        vec![
            ("GEMINI_API_KEY", "k".to_owned()),
            ("GOOGLE_GEMINI_BASE_URL", url.to_owned()),
            ("GEMINI_CLI_TRUST_WORKSPACE", "true".to_owned()),
            ("GEMINI_CLI_NO_RELAUNCH", "1".to_owned()),
        ]
    },
    read: |file| ModelTurn::call("read_file", json!({ "file_path": file })),
    edit: |file| {
        let edit = json!({
            "file_path": file, "instruction": "lower the limit",
            "old_string": "MAX_ATTEMPTS = 10", "new_string": "MAX_ATTEMPTS = 7",
        });
        ModelTurn::call("replace", edit)
    },
    shell: |line| ModelTurn::call("run_shell_command", json!({ "command": line })),
    memory_tool: |tool| format!("mcp_claude-mem_{tool}"),
    told_later: &[],
};

const OPENCODE_CASE: AgentCase = AgentCase {
    name: "opencode",
    package: OPENCODE,
    settings: (".config/opencode/opencode.json", |url| {
        let model =
            json!({ "name": "m", "tool_call": true, "limit": { "context": 100_000, "output": 8_000 } });
        let settings = json!({
            "autoupdate": false, "share": "disabled", "permission": "allow",
            "model": "scripted/m", "small_model": "scripted/m",
            "provider": { "scripted": {
                "npm": "@ai-sdk/openai-compatible", "name": "scripted",
                "options": { "baseURL": format!("{url}/v1"), "apiKey": "k" },
                "models": { "m": model },
            } },
        });
        format!("{settings:#}\n")
    }),
    // It puts an argument with blanks in quotation marks.
    arguments: |prompt| std::iter::once("run").chain(prompt.split(' ')).map(str::to_owned).collect(),
    env: |_| {
        // Packages that it fetches at its first start are not needed here.
        [
            ("npm_config_registry", "http://127.0.0.1:9"),
            ("npm_config_fetch_retries", "0"),
            ("OPENCODE_DISABLE_AUTOUPDATE", "1"),
            ("OPENCODE_DISABLE_MODELS_FETCH", "1"),
            ("OPENCODE_DISABLE_LSP_DOWNLOAD", "1"),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec()
    },
    read: |file| ModelTurn::call("read", json!({ "filePath": file })),
    edit: |file| {
        let edit = json!({
            "filePath": file, "oldString": "MAX_ATTEMPTS = 10", "newString": "MAX_ATTEMPTS = 7",
        });
        ModelTurn::call("edit", edit)
    },
    shell: |line| ModelTurn::call("bash", json!({ "command": line, "description": "test" })),
    memory_tool: |tool| format!("claude-mem_{tool}"),
    told_later: &[],
};

const QWEN_CASE: AgentCase = AgentCase {
    name: "qwen-code",
    package: QWEN_CODE,
    settings: (".qwen/settings.json", |_| {
        let settings = json!({
            "security": { "auth": { "selectedType": "openai" } },
            "general": { "enableAutoUpdate": false },
            "privacy": { "usageStatisticsEnabled": false },
            "telemetry": { "enabled": false },
        });
        format!("{settings:#}\n")
    }),
    arguments: |prompt| ["--approval-mode", "yolo", "-p", prompt].map(str::to_owned).to_vec(),
    env: |url| {
        [
            ("OPENAI_API_KEY", "k"),
            ("OPENAI_BASE_URL", &format!("{url}/v1")),
            ("OPENAI_MODEL", "m"),
            ("QWEN_CODE_NO_RELAUNCH", "true"),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec()
    },
    read: |file| ModelTurn::call("read_file", json!({ "file_path": file })),
    edit: |file| {
        let edit = json!({
            "file_path": file, "old_string": "MAX_ATTEMPTS = 10", "new_string": "MAX_ATTEMPTS = 7",
        });
        ModelTurn::call("edit", edit)
    },
    shell: |line| ModelTurn::call("run_shell_command", json!({ "command": line, "is_background": false })),
    memory_tool: |tool| format!("mcp__claude-mem__{tool}"),
    told_later: &[],
};

const COPILOT_CASE: AgentCase = AgentCase {
    name: "copilot-cli",
    package: COPILOT_CLI,
    settings: (".copilot/settings.json", |_| "{\n  \"theme\": \"dark\"\n}\n".to_owned()),
    arguments: |prompt| ["--allow-all", "--no-color", "-p", prompt].map(str::to_owned).to_vec(),
    env: |url| {
        [
            ("COPILOT_OFFLINE", "true"),
            ("COPILOT_AUTO_UPDATE", "false"),
            ("COPILOT_PROVIDER_BASE_URL", &format!("{url}/v1")),
            ("COPILOT_PROVIDER_API_KEY", "k"),
            ("COPILOT_MODEL", "gpt-4.1"),
        ]
        .map(|(name, value)| (name, value.to_owned()))
        .to_vec()
    },
    read: |file| ModelTurn::call("view", json!({ "path": file })),
    edit: |file| {
        let edit = json!({ "path": file, "old_str": "MAX_ATTEMPTS = 10", "new_str": "MAX_ATTEMPTS = 7" });
        ModelTurn::call("edit", edit)
    },
    shell: |line| ModelTurn::call("bash", json!({ "command": line, "description": "test" })),
    memory_tool: |tool| format!("claude-mem-{tool}"),
    // The final message is in its event log, which it writes with a delay.
    told_later: &["stop"],
};

/// A machine with one or two agents and their scripted model.
struct AgentStage {
    home: Sandbox,
    model: ScriptedModel,
    file: PathBuf,
}

impl AgentStage {
    /// `None` if one of the agents is not installed.
    fn new(cases: &[&AgentCase]) -> Option<(Self, Vec<AgentClient>)> {
        let clients: Option<Vec<AgentClient>> = cases.iter().map(|case| case.package.or_skip()).collect();
        let clients = clients?;
        let model = ScriptedModel::start(ModelScript::session());
        let mut home =
            Sandbox::new().with_exe(exe()).with_env("CLAUDE_MEM_WORKER", "manual").with_env("TZ", "UTC");
        for (case, client) in cases.iter().zip(&clients) {
            for (name, value) in (case.env)(&model.url()) {
                home.set_env(name, value);
            }
            let (path, text) = case.settings;
            home.write(home.home().join(path), text(&model.url()));
            home.put_on_path(case.package.command, &client.program);
        }
        let file = home.write("src/retry.py", "MAX_ATTEMPTS = 10\n".to_owned() + &"# filler\n".repeat(300));
        Some((Self { home, model, file }, clients))
    }

    fn session(&self, case: &AgentCase, client: &AgentClient, prompt: &str) -> ProcessOutput {
        let program = client.node.as_ref().unwrap_or(&client.program);
        let mut command = self.home.command(program);
        command.args(client.node.iter().map(|_| &client.program)).args((case.arguments)(prompt));
        process::run(command, b"", Duration::from_secs(SESSION_SECONDS_MAX))
    }

    /// The day's work: reads, runs a command that fails, edits, runs one that passes, and explains.
    fn work_through_the_day(&self, case: &AgentCase, client: &AgentClient) {
        let file = self.file.display().to_string();
        for turn in [
            (case.read)(&file),
            (case.shell)("echo 'limiter tripped' >&2; exit 3"),
            (case.edit)(&file),
            (case.shell)("echo 3 passed"),
            ModelTurn::text(
                "I set MAX_ATTEMPTS to 7 in src/retry.py, because an 8th attempt trips the upstream limiter.\n\n\
                 Next step: document the limit in docs/limits.md.",
            ),
        ] {
            self.model.push(turn);
        }
        let output = self.session(case, client, FIRST_PROMPT).ok();
        assert!(output.stdout.contains("I set MAX_ATTEMPTS to 7"), "{}\n{}", output.stdout, output.stderr);
        assert_eq!(self.model.turns_left(), 0, "{}", self.model.request_log());
        assert!(self.home.read(&self.file).starts_with("MAX_ATTEMPTS = 7\n"));
    }

    /// An earlier session of Claude Code in the same project, through its hooks.
    fn remember_session_of_claude_code(&self) {
        let file = self.home.write(INVOICES, "def total(): ...\n".to_owned() + &"# filler\n".repeat(300));
        for (event, more) in [
            ("UserPromptSubmit", json!({ "prompt": INVOICES_PROMPT })),
            (
                "PostToolUse",
                json!({
                    "tool_name": "Edit", "tool_use_id": "t1", "tool_response": { "filePath": file },
                    "tool_input": { "file_path": file, "old_string": "int(cents)", "new_string": "ceil(cents)" },
                }),
            ),
            (
                "Stop",
                json!({ "last_assistant_message":
                    "Fixed the rounding of invoices in src/invoices.py: totals are no longer cut." }),
            ),
            ("SessionEnd", json!({ "reason": "other" })),
        ] {
            let mut payload = more;
            for (name, value) in [
                ("session_id", json!("earlier")),
                ("prompt_id", json!("p1")),
                ("cwd", json!(self.home.project())),
                ("hook_event_name", json!(event)),
            ] {
                payload[name] = value;
            }
            self.home.hook(event, payload.to_string()).ok();
        }
        self.drain();
    }

    /// A session that may still go on is imported later: lets an hour pass.
    fn an_hour_later(self) -> Self {
        let later = claude_mem_core::clock::now().millis().0 + 3_600_000;
        let home = self.home.with_env("CLAUDE_MEM_NOW", later.to_string());
        Self { home, ..self }
    }

    fn drain(&self) {
        self.home.mem(&["worker", "run", "--until-drained"]).ok();
    }

    /// The kinds of the queued events, oldest first.
    fn queued(&self) -> Vec<String> {
        let list = self.home.mem(&["queue", "list", "--json"]).ok().json();
        let rows = list["items"].as_array().cloned().unwrap_or_default();
        let kinds = rows.iter().rev().filter_map(|row| row["kind"].as_str().map(str::to_owned));
        kinds.collect()
    }

    fn search(&self, words: &[&str]) -> Vec<Value> {
        let found = self.home.mem(&[&["search", "--json"], words].concat()).ok().json();
        found["results"].as_array().cloned().unwrap_or_default()
    }

    /// Runs a session that begins with the question, and returns its requests.
    fn ask(&self, case: &AgentCase, client: &AgentClient, turns: Vec<ModelTurn>) -> Vec<RecordedRequest> {
        let before = self.model.messages().len();
        for turn in turns {
            self.model.push(turn);
        }
        self.session(case, client, QUESTION).ok();
        assert_eq!(self.model.turns_left(), 0, "{}", self.model.request_log());
        let asked = self.model.messages().split_off(before);
        asked
            .into_iter()
            .filter(|request| request.offers_tools() && request.contains_text(QUESTION))
            .collect()
    }

    /// The settings of an agent, before and after.
    fn settings_of(&self, case: &AgentCase) -> String {
        self.home.read(self.home.home().join(case.settings.0))
    }
}

/// The memory is given exactly once, with the rule, the last session and its open item.
fn assert_told_once(request: &RecordedRequest) {
    let body = request.body.to_string();
    assert_eq!(body.matches(CONTEXT_HEADING).count(), 1, "{body}");
    assert!(body.contains(RULE), "{body}");
    assert!(body.contains("## Last session"), "{body}");
    assert!(body.contains("Document the limit in docs/limits.md"), "{body}");
}

/// One agent works, and the next session of the same and of another agent knows about it.
fn shares_its_memory(case: &AgentCase, other: &AgentCase) {
    let Some((stage, clients)) = AgentStage::new(&[case, other]) else {
        return;
    };
    let (client, other_client) = (&clients[0], &clients[1]);
    let before = [stage.settings_of(case), stage.settings_of(other)];
    stage.home.mem(&["install", "--agent", case.name, "--agent", other.name, "--no-check", "--json"]).ok();

    stage.remember_session_of_claude_code();
    let earlier = stage.queued().len();
    stage.work_through_the_day(case, client);
    let queued = stage.queued().split_off(earlier);
    let count = |kind: &str| queued.iter().filter(|queued| *queued == kind).count();
    assert_eq!((count("prompt"), count("tool_use"), count("stop")), (1, 4, 1), "{queued:?}");
    stage.drain();
    let told = stage.queued().split_off(earlier);
    let (by_hooks, later) = told.split_at(queued.len().min(told.len()));
    assert_eq!(by_hooks, queued);
    assert!(
        later.is_empty() || later == case.told_later,
        "the transcript tells nothing that hooks have told: {told:?}"
    );
    assert!(!stage.search(&[&format!("agent:{}", case.name), "retry"]).is_empty());
    assert!(stage.search(&[&format!("agent:{}", other.name), "retry"]).is_empty());

    // The same agent: start context, what the prompt, a file and a known error bring to mind, the search tool.
    stage.home.mem(&["save", KNOWN_ERROR]).ok();
    let turns = vec![
        (case.read)(&stage.home.project().join(INVOICES).display().to_string()),
        (case.shell)("echo 'Error: ERR_LEDGER_4711 cannot open the ledger file' >&2; exit 3"),
        ModelTurn::call((case.memory_tool)("search"), json!({ "query": "retry attempts limiter" })),
        ModelTurn::call((case.memory_tool)("save_memory"), json!({ "text": NOTE })),
        ModelTurn::text("Seven."),
    ];
    let asked = stage.ask(case, client, turns);
    let bodies: Vec<String> = asked.iter().map(|request| request.body.to_string()).collect();
    assert_eq!(bodies.len(), 5, "{}", stage.model.request_log());
    let count = |at: usize, text: &str| bodies[at].matches(text).count();
    assert_told_once(&asked[0]);
    assert_eq!(count(0, "Recorded in earlier sessions"), 1, "the prompt brings it: {}", bodies[0]);
    let known_of_file = format!("Known of {INVOICES}");
    assert_eq!(count(1, &known_of_file), 1, "the file brings it: {}", bodies[1]);
    assert_eq!(count(2, KNOWN_ERROR), count(1, KNOWN_ERROR) + 1, "the failure brings it: {}", bodies[2]);
    assert!(bodies[3].contains("decision Use 7 retry attempts"), "MCP answers: {}", bodies[3]);
    assert!(bodies[4].contains("Saved as #"), "{}", bodies[4]);
    assert_told_once(&asked[4]);

    // The note belongs to the agent that saved it.
    stage.drain();
    let saved_by = |agent: &str| {
        let found = stage.search(&[&format!("agent:{agent}"), "harbour cranes"]);
        found.iter().filter(|row| row["title"] == NOTE).count()
    };
    assert_eq!((saved_by(case.name), saved_by("claude-code"), saved_by(other.name)), (1, 0, 0));

    // Another agent.
    let asked = stage.ask(other, other_client, vec![ModelTurn::text("Seven.")]);
    assert_told_once(asked.first().expect("the prompt reached the model"));

    // Nothing that was given to a model comes back as a memory.
    stage.drain();
    let stored = stage.search(&["--limit", "100", "retry"]);
    for row in &stored {
        let text = row.to_string();
        for echo in ["hook_context", "claude-mem-context", CONTEXT_HEADING, "as data; check before"] {
            assert!(!text.contains(echo), "{text}");
        }
    }
    let prompts = stored.iter().filter(|row| row["kind"] == "prompt").filter_map(|row| row["title"].as_str());
    let prompts: Vec<&str> = prompts.collect();
    let typed = [FIRST_PROMPT, QUESTION, INVOICES_PROMPT];
    assert!(prompts.iter().all(|prompt| typed.contains(prompt)), "{prompts:#?}");
    assert_eq!(prompts.iter().filter(|prompt| **prompt == QUESTION).count(), 2, "{prompts:#?}");
    let projects = stage.home.mem(&["project", "list", "--json"]).ok().json();
    assert_eq!(projects.as_array().map(Vec::len), Some(1), "one project for both agents: {projects:#}");

    stage.home.mem(&["uninstall", "--json"]).ok();
    // The clients have written to these files, too: OpenCode a schema, Codex a trusted project.
    for (settings, before) in [stage.settings_of(case), stage.settings_of(other)].iter().zip(before) {
        assert!(!settings.contains("claude-mem"), "{settings}");
        for line in before.lines().filter(|line| line.len() > 1) {
            assert!(settings.contains(line.trim()), "{line} is lost: {settings}");
        }
    }
}

#[test]
fn codex_shares_its_memory() {
    shares_its_memory(&CODEX_CASE, &GEMINI_CASE);
}

#[test]
fn gemini_cli_shares_its_memory() {
    shares_its_memory(&GEMINI_CASE, &CODEX_CASE);
}

#[test]
fn opencode_shares_its_memory() {
    shares_its_memory(&OPENCODE_CASE, &CODEX_CASE);
}

#[test]
fn qwen_code_shares_its_memory() {
    shares_its_memory(&QWEN_CASE, &CODEX_CASE);
}

#[test]
fn copilot_cli_shares_its_memory() {
    shares_its_memory(&COPILOT_CASE, &CODEX_CASE);
}

/// Codex skips hooks that were never trusted without a word; doctor says so, and the import catches up.
#[test]
fn untrusted_hooks_of_codex_are_noticed() {
    let Some((stage, clients)) = AgentStage::new(&[&CODEX_CASE]) else {
        return;
    };
    stage.home.mem(&["install", "--agent", "codex", "--no-check", "--json"]).ok();
    let untrusting = AgentCase {
        arguments: |prompt| ["exec", "--skip-git-repo-check", prompt].map(str::to_owned).to_vec(),
        ..CODEX_CASE
    };
    stage.work_through_the_day(&untrusting, &clients[0]);
    assert_eq!(stage.queued(), Vec::<String>::new(), "no hook ran");
    let report = stage.home.mem(&["doctor", "--json"]);
    let findings = report.json()["findings"].as_array().cloned().unwrap_or_default();
    let silent = findings.iter().find(|finding| finding["check"] == "codex" && finding["level"] == "problem");
    let silent = silent.unwrap_or_else(|| panic!("{findings:#?}"));
    assert_eq!(silent["what"], "Codex was used, but no hook of it ever ran");
    assert!(silent["fix"].as_str().unwrap().contains("hooks need review"), "{silent}");

    let stage = stage.an_hour_later();
    let report = stage.home.mem(&["import", "transcripts", "--agent", "codex", "--json"]).ok().json();
    assert_eq!(report["kinds"]["sessions"]["imported"], 1, "{report:#}");
    let found = stage.search(&["agent:codex", "retry"]);
    assert!(found.iter().any(|row| row.to_string().contains(RULE)), "{found:#?}");
}

/// What OpenCode did before the installation is in its database.
#[test]
fn sessions_of_opencode_before_the_installation_are_imported() {
    let Some((stage, clients)) = AgentStage::new(&[&OPENCODE_CASE]) else {
        return;
    };
    stage.work_through_the_day(&OPENCODE_CASE, &clients[0]);
    let stage = stage.an_hour_later();
    let report = stage.home.mem(&["import", "transcripts", "--agent", "opencode", "--json"]).ok().json();
    assert_eq!(report["kinds"]["sessions"]["imported"], 1, "{report:#}");
    // A prompt, four tool calls and the final message.
    assert_eq!(
        (&report["learnt"]["prompts"], &report["learnt"]["events"]),
        (&json!(1), &json!(6)),
        "{report:#}"
    );
    let found = stage.search(&["agent:opencode", "retry"]);
    assert!(found.iter().any(|row| row.to_string().contains(RULE)), "{found:#?}");
}

/// Without the hook for tools, the transcript tells what the tools did.
fn transcript_fills_in(case: &AgentCase, hooks: &str, events: &[&str]) {
    let Some((stage, clients)) = AgentStage::new(&[case]) else {
        return;
    };
    stage.home.mem(&["install", "--agent", case.name, "--no-check", "--json"]).ok();
    let path = stage.home.home().join(hooks);
    let mut settings: Value = serde_json::from_str(&stage.home.read(&path)).expect("the client's settings");
    for event in events {
        settings["hooks"].as_object_mut().expect("hooks").remove(*event).expect("the hook for tools");
    }
    stage.home.write(&path, settings.to_string());
    stage.work_through_the_day(case, &clients[0]);
    let count = |kind: &str| stage.queued().iter().filter(|queued| *queued == kind).count();
    assert_eq!(count("tool_use"), 0, "no hook told of one");
    stage.drain();
    let stops = count("stop").saturating_sub(case.told_later.len()).max(1);
    let counts = (count("prompt"), count("tool_use"), stops);
    assert_eq!(counts, (1, 4, 1), "{}: {:?}", case.name, stage.queued());
}

#[test]
fn missed_tool_calls_come_from_the_transcript_of_codex() {
    transcript_fills_in(&CODEX_CASE, ".codex/hooks.json", &["PostToolUse"]);
}

#[test]
fn missed_tool_calls_come_from_the_transcript_of_gemini_cli() {
    transcript_fills_in(&GEMINI_CASE, ".gemini/settings.json", &["AfterTool"]);
}

#[test]
fn missed_tool_calls_come_from_the_transcript_of_qwen_code() {
    transcript_fills_in(&QWEN_CASE, ".qwen/settings.json", &["PostToolUse", "PostToolUseFailure"]);
}

#[test]
fn missed_tool_calls_come_from_the_event_log_of_copilot_cli() {
    transcript_fills_in(
        &COPILOT_CASE,
        ".copilot/hooks/claude-mem.json",
        &["PostToolUse", "PostToolUseFailure"],
    );
}

/// What Copilot CLI did before the installation is in its event logs.
#[test]
fn sessions_of_copilot_cli_before_the_installation_are_imported() {
    let Some((stage, clients)) = AgentStage::new(&[&COPILOT_CASE]) else {
        return;
    };
    stage.work_through_the_day(&COPILOT_CASE, &clients[0]);
    let stage = stage.an_hour_later();
    let import =
        || stage.home.mem(&["import", "transcripts", "--agent", "copilot-cli", "--json"]).ok().json();
    let report = import();
    assert_eq!(report["kinds"]["sessions"]["imported"], 1, "{report:#}");
    // A prompt, four tool calls and the final message.
    assert_eq!(
        (&report["learnt"]["prompts"], &report["learnt"]["events"]),
        (&json!(1), &json!(6)),
        "{report:#}"
    );
    assert_eq!(import()["kinds"]["sessions"]["imported"], 0);
    let found = stage.search(&["agent:copilot-cli", "retry"]);
    assert!(found.iter().any(|row| row.to_string().contains(RULE)), "{found:#?}");
}
