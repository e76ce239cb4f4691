use std::fs;

use super::super::plan::apply_all;
use super::*;
use claude_mem_core::agents::{AGENTS, CLAUDE_CODE, CODEX, COPILOT_CLI, GEMINI_CLI, OPENCODE, QWEN_CODE};

struct AgentMachine {
    home: tempfile::TempDir,
    agent: &'static CodingAgent,
    recorded: Option<AgentInstallation>,
}

impl AgentMachine {
    fn new(agent: &'static CodingAgent, files: &[(&str, &str)]) -> Self {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = home.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        Self { home, agent, recorded: None }
    }

    fn files(&self) -> Vec<AgentFile> {
        let home = self.home.path().as_os_str().to_owned();
        agent_files(self.agent, &move |name| (name == "HOME").then(|| home.clone())).unwrap()
    }

    fn plan(&self, executable: &str) -> Result<AgentPlan, ClientFileError> {
        let launch = AgentLaunch { agent: self.agent, executable: Path::new(executable), data_dir: None };
        AgentPlan::install(&launch, &self.files(), self.recorded.as_ref())
    }

    fn install(&mut self, executable: &str) -> bool {
        let plan = self.plan(executable).unwrap();
        self.recorded = Some(plan.record(&self.home.path().join("copies"), "stamp").unwrap());
        apply_all(&plan.changes).unwrap();
        plan.is_needed()
    }

    fn uninstall(&mut self) {
        let plan = AgentPlan::uninstall(self.agent, &self.files(), self.recorded.take().as_ref()).unwrap();
        apply_all(&plan.changes).unwrap();
    }

    /// The agent's files with their texts.
    fn texts(&self) -> Vec<(PathBuf, Option<String>)> {
        let files = self.files().into_iter();
        files.map(|file| (file.path.clone(), fs::read_to_string(&file.path).ok())).collect()
    }
}

const JSON_SETTINGS: [&str; 9] = [
    "{}",
    "{}\n",
    "{\"theme\":\"dark\"}",
    "{\n  \"theme\": \"dark\"\n}\n",
    "// mine\n{\n\t\"theme\": \"dark\", // dark\n\t\"list\": [1, 2,],\n}\n",
    "{\r\n  \"mcpServers\": {\r\n    \"notes\": { \"command\": \"notes\" }\r\n  }\r\n}\r\n",
    "{\n  \"hooks\": {\n    \"Stop\": [{ \"hooks\": [{ \"type\": \"command\", \"command\": \"say done\" }] }]\n  }\n}\n",
    "{\n  \"hooks\": {},\n  \"mcpServers\": {},\n  \"mcp\": {}\n}",
    "\u{feff}{\n  \"mcp\": { \"notes\": { \"type\": \"local\", \"command\": [\"notes\"] } }\n}",
];

const TOML_SETTINGS: [&str; 8] = [
    "",
    "model = \"gpt-5.5\"",
    "model = \"gpt-5.5\"\n\n[features]\nhooks = true\n",
    "[mcp_servers.notes]\ncommand = \"notes\"\nargs = [\n  \"serve\",\n]\n",
    "# only a comment\r\n",
    "notify = [\"say\", \"[done]\"]\n[projects.\"/work/shop\"]\ntrust_level = \"trusted\"\n",
    "text = \"\"\"\n[mcp_servers.claude-mem]\n\"\"\"\n",
    "[[a]]\nb = 1\n\n[[a]]\nb = 2\n",
];

/// Every agent with realistic files of its users.
fn machines() -> Vec<AgentMachine> {
    let mut machines = vec![
        AgentMachine::new(&CODEX, &[]),
        AgentMachine::new(&GEMINI_CLI, &[]),
        AgentMachine::new(&OPENCODE, &[]),
        AgentMachine::new(&QWEN_CODE, &[]),
        AgentMachine::new(&COPILOT_CLI, &[]),
    ];
    for text in JSON_SETTINGS {
        machines.push(AgentMachine::new(&GEMINI_CLI, &[(".gemini/settings.json", text)]));
        machines.push(AgentMachine::new(&OPENCODE, &[(".config/opencode/opencode.json", text)]));
        machines.push(AgentMachine::new(&QWEN_CODE, &[(".qwen/settings.json", text)]));
        machines.push(AgentMachine::new(&CODEX, &[(".codex/hooks.json", text)]));
        machines.push(AgentMachine::new(
            &COPILOT_CLI,
            &[(".copilot/mcp-config.json", text), (".copilot/hooks/claude-mem.json", text)],
        ));
    }
    for text in TOML_SETTINGS {
        machines.push(AgentMachine::new(&CODEX, &[(".codex/config.toml", text)]));
    }
    machines.push(AgentMachine::new(&OPENCODE, &[(".config/opencode/opencode.jsonc", "{ // mine\n}\n")]));
    machines
}

/// An agent of the table whose files are not tried here would be installed unproven.
#[test]
fn every_agent_has_at_least_eight_files() {
    let machines = machines();
    // Those of Claude Code are in plan_tests.rs.
    for agent in AGENTS.iter().filter(|agent| agent.name != CLAUDE_CODE.name) {
        let settings = machines.iter().filter(|machine| {
            machine.agent.name == agent.name && machine.texts().iter().any(|(_, text)| text.is_some())
        });
        assert!(settings.count() >= 8, "{}", agent.name);
    }
}

#[test]
fn untouched_files_are_restored_byte_for_byte() {
    for mut machine in machines() {
        let before = machine.texts();
        machine.install("/a/claude-mem");
        assert!(!machine.install("/a/claude-mem"), "a second install changes nothing");
        assert!(machine.install("/b/claude-mem"));
        for (path, text) in machine.texts() {
            assert!(text.unwrap().contains("/b/claude-mem"), "{}", path.display());
        }
        machine.uninstall();
        assert_eq!(machine.texts(), before);
    }
}

#[test]
fn changed_files_lose_only_our_entries() {
    for mut machine in machines() {
        machine.install("/a/claude-mem");
        let ours: Vec<_> = machine.texts();
        for (path, text) in &ours {
            // The user adds something of their own.
            let text = text.as_ref().unwrap();
            let changed = match path.extension().unwrap().to_str().unwrap() {
                "toml" => format!("{text}\n[user]\nown = 1\n"),
                "js" => format!("{text}// own\n"),
                _ => text.replacen('{', "{ \"own\": 1,", 1),
            };
            fs::write(path, changed).unwrap();
        }
        machine.uninstall();
        for (path, text) in machine.texts() {
            let text = text.unwrap_or_default();
            assert!(!text.contains("/a/claude-mem"), "{}: {text}", path.display());
            let is_plugin = path.extension().is_some_and(|ending| ending == "js");
            assert!(is_plugin || text.contains("own"), "{}: {text}", path.display());
        }
    }
}

#[test]
fn removal_needs_no_manifest() {
    for mut machine in machines() {
        machine.install("/a/claude-mem");
        machine.recorded = None;
        machine.uninstall();
        for (path, text) in machine.texts() {
            assert!(!text.unwrap_or_default().contains("/a/claude-mem"), "{}", path.display());
        }
    }
}

#[test]
fn unreadable_file_stops_the_plan() {
    for (agent, name, text) in [
        (&GEMINI_CLI, ".gemini/settings.json", "{ \"hooks\": "),
        (&GEMINI_CLI, ".gemini/settings.json", "{ \"hooks\": [] }"),
        (&CODEX, ".codex/hooks.json", "[]"),
        (&CODEX, ".codex/config.toml", "mcp_servers = {}\n"),
        (&OPENCODE, ".config/opencode/opencode.json", "{ \"mcp\": 1 }"),
    ] {
        let machine = AgentMachine::new(agent, &[(name, text)]);
        assert!(machine.plan("/a/claude-mem").is_err(), "{text}");
    }
}

#[test]
fn file_of_another_program_is_left_alone() {
    let plugin = ".config/opencode/plugin/claude-mem.js";
    let mut machine = AgentMachine::new(&OPENCODE, &[(plugin, "export const Mine = 1;\n")]);
    let plan = machine.plan("/a/claude-mem").unwrap();
    assert_eq!(plan.taken, [machine.home.path().join(plugin)]);
    machine.install("/a/claude-mem");
    machine.uninstall();
    assert_eq!(fs::read_to_string(machine.home.path().join(plugin)).unwrap(), "export const Mine = 1;\n");
}

#[test]
fn entries_have_the_shape_that_the_client_reads() {
    let mut machine = AgentMachine::new(&GEMINI_CLI, &[]);
    machine.install("/a b/claude-mem");
    let text = machine.texts().remove(0).1.unwrap();
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    let group = &value["hooks"]["BeforeAgent"][0];
    assert_eq!(group["matcher"], "*");
    assert_eq!(group["hooks"][0]["timeout"], 10_000);
    assert_eq!(group["hooks"][0]["command"], "'/a b/claude-mem' hook gemini-cli BeforeAgent");
    assert_eq!(value["mcpServers"]["claude-mem"]["args"], serde_json::json!(["mcp"]));

    let mut machine = AgentMachine::new(&CODEX, &[]);
    machine.install("/a/claude-mem");
    let value: serde_json::Value = serde_json::from_str(machine.texts()[0].1.as_ref().unwrap()).unwrap();
    assert_eq!(value["hooks"]["SessionEnd"][0]["hooks"][0]["timeout"], 3);
    assert_eq!(value["hooks"]["Stop"][0]["hooks"][0]["timeout"], 10);

    let mut machine = AgentMachine::new(&OPENCODE, &[]);
    machine.install("/a/claude-mem");
    let texts = machine.texts();
    assert!(texts[0].1.as_ref().unwrap().contains("const EXECUTABLE = \"/a/claude-mem\";"));
    assert!(texts[0].1.as_ref().unwrap().contains("const DATA_DIR = null;"));
    let value: serde_json::Value = serde_json::from_str(texts[1].1.as_ref().unwrap()).unwrap();
    assert_eq!(value["mcp"]["claude-mem"]["command"], serde_json::json!(["/a/claude-mem", "mcp"]));
}
