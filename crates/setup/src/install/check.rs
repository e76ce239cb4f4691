//! The self-check: runs a made-up session through the real hooks in a temporary directory.
//!
//! [`run_check`] starts the hooks as the client does, in separate processes with the client's
//! minimal environment, and verifies that memories were made and reach the next session. So a wrong
//! path, a missing permission or a broken executable shows here and not during real work.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::entry::LaunchSpec;
use claude_mem_core::agents::CLAUDE_CODE;
use claude_mem_core::child;
use claude_mem_core::child::{ChildOutput, ChildRegistry, ChildSpawner, SpawnRequest};
use claude_mem_core::paths;

/// Maximum seconds that each step of the check after installation may take.
const CHECK_STEP_SECONDS_MAX: u64 = 30;

/// The result of a self-check.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct SelfCheckReport {
    /// Titles of the memories, oldest first.
    pub titles: Vec<String>,
    /// Whether the next session received them.
    pub told: bool,
}

/// Why a self-check failed.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{step}: {reason}")]
    Failed { step: String, reason: String },
    #[error("the test session left no memories")]
    NothingRemembered,
    #[error("the next session received no context")]
    NothingTold,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// The temporary directory of a check, deleted on drop.
#[derive(Debug)]
struct CheckDir(PathBuf);

impl Drop for CheckDir {
    fn drop(&mut self) {
        // On failure it stays in the system's temporary directory, which is cleaned anyway.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Runs the check. `directory` is for temporary files, `spawner_exe` is this program.
pub fn run_check(
    launch: &LaunchSpec,
    directory: &Path,
    spawner_exe: PathBuf,
) -> Result<SelfCheckReport, CheckError> {
    let root = directory.join(format!("claude-mem-check-{}", std::process::id()));
    paths::create_dir(&root)?;
    let scratch = CheckDir(root.canonicalize()?);
    let stage = CheckStage::new(launch, &scratch.0, spawner_exe)?;
    for (event, payload) in first_session(&stage.project) {
        stage.run_hook(event, &payload)?;
    }
    stage.run_command("making memories", &["worker", "run", "--until-drained"])?;
    let answer = stage.run_hook("SessionStart", &session_start_payload("check-2", &stage.project))?;
    let recent = stage.run_command("listing memories", &["recent", "--json", "--all-projects"])?;
    let titles = titles(&recent.stdout).map_err(|error| CheckError::Failed {
        step: "listing memories".to_owned(),
        reason: format!("its output is not JSON: {error}"),
    })?;
    if titles.is_empty() {
        return Err(CheckError::NothingRemembered);
    }
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
    if !context.is_some_and(|text| text.contains(EXPECTED_PHRASE)) {
        return Err(CheckError::NothingTold);
    }
    Ok(SelfCheckReport { titles, told: true })
}

/// Words of the session that a good memory of it contains.
const EXPECTED_PHRASE: &str = "7 retry attempts";

fn session_start_payload(session: &str, project: &Path) -> Value {
    json!({
        "session_id": session, "cwd": project, "hook_event_name": "SessionStart", "source": "startup",
    })
}

/// The events of a session: a decision, the edit that follows from it, and the final message.
fn first_session(project: &Path) -> Vec<(&'static str, Value)> {
    let event = |name: &'static str, more: Value| {
        let mut payload = json!({
            "session_id": "check-1", "cwd": project, "hook_event_name": name, "prompt_id": "p1",
        });
        if let (Some(all), Some(more)) = (payload.as_object_mut(), more.as_object()) {
            all.extend(more.clone());
        }
        (name, payload)
    };
    let file = project.join("src/retry.py");
    vec![
        ("SessionStart", session_start_payload("check-1", project)),
        event(
            "UserPromptSubmit",
            json!({ "prompt": "Use 7 retry attempts, never 8, because the 8th trips the limiter." }),
        ),
        event(
            "PostToolUse",
            json!({
                "tool_name": "Edit", "tool_use_id": "t1",
                "tool_input": { "file_path": file, "old_string": "ATTEMPTS = 10", "new_string": "ATTEMPTS = 7" },
                "tool_response": { "filePath": file },
            }),
        ),
        event(
            "Stop",
            json!({
                "stop_hook_active": false,
                "last_assistant_message": "I set ATTEMPTS to 7 in src/retry.py: 7 retry attempts, because an 8th trips the limiter.",
            }),
        ),
        event("SessionEnd", json!({ "reason": "other" })),
    ]
}

/// The environment in which a check runs hooks and commands.
struct CheckStage {
    launch: LaunchSpec,
    data: PathBuf,
    project: PathBuf,
    env: Vec<(OsString, OsString)>,
    spawner: ChildSpawner,
}

impl CheckStage {
    fn new(launch: &LaunchSpec, root: &Path, spawner_exe: PathBuf) -> io::Result<Self> {
        let (data, project) = (root.join("data"), root.join("project"));
        for dir in [&data, &project] {
            paths::create_dir(dir)?;
        }
        let variables: [(&str, &Path); 4] = [
            ("HOME", root),
            ("CLAUDE_MEM_DATA_DIR", &data),
            (CLAUDE_CODE.project_variable, &project),
            ("CLAUDE_MEM_WORKER", Path::new("manual")),
        ];
        let mut env: Vec<(OsString, OsString)> =
            variables.map(|(name, value)| (name.into(), value.as_os_str().to_owned())).to_vec();
        env.push(("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()));
        Ok(Self {
            launch: LaunchSpec { data_dir: Some(data.clone()), ..launch.clone() },
            spawner: ChildSpawner::start(spawner_exe, ChildRegistry::open(&root.join("children"))?)?,
            data,
            project,
            env,
        })
    }

    /// Runs a hook exactly as the client starts it, and returns its JSON output.
    fn run_hook(&self, event: &str, payload: &Value) -> Result<Value, CheckError> {
        let (program, arguments) = self.launch.command(event);
        let arguments = arguments.into_iter().map(OsString::from).collect();
        let step = format!("the hook for {event}");
        let ended = self.run_child(&step, program.into(), arguments, payload.to_string().as_bytes())?;
        serde_json::from_slice(&ended.stdout)
            .map_err(|_| CheckError::Failed { step, reason: "its output is not JSON".to_owned() })
    }

    fn run_command(&self, step: &str, arguments: &[&str]) -> Result<ChildOutput, CheckError> {
        let mut all = vec![OsString::from("--data-dir"), self.data.clone().into()];
        all.extend(arguments.iter().map(OsString::from));
        self.run_child(step, self.launch.executable.clone().into(), all, b"")
    }

    fn run_child(
        &self,
        step: &str,
        program: OsString,
        args: Vec<OsString>,
        input: &[u8],
    ) -> Result<ChildOutput, CheckError> {
        let failed = |reason: String| CheckError::Failed { step: step.to_owned(), reason };
        let order = SpawnRequest { program, args, env: self.env.clone(), directory: self.project.clone() };
        let within = Duration::from_secs(CHECK_STEP_SECONDS_MAX);
        let ended =
            child::run(&self.spawner, order, input, within).map_err(|error| failed(error.to_string()))?;
        if ended.status.success() {
            return Ok(ended);
        }
        let said = String::from_utf8_lossy(&ended.stderr);
        Err(failed(format!("{}: {}", ended.status, said.trim())))
    }
}

/// The titles in the output of `recent --json`, oldest first.
fn titles(output: &[u8]) -> serde_json::Result<Vec<String>> {
    let value: Value = serde_json::from_slice(output)?;
    let mut titles: Vec<String> = value["results"]
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| item["kind"] == "observation")
        .filter_map(|item| item["title"].as_str().map(str::to_owned))
        .collect();
    titles.reverse();
    Ok(titles)
}
