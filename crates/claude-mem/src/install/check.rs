//! A made-up session through the real hooks, in a directory of its own.
//!
//! In: how the client starts us. Out: what was remembered of the session, and what the next one
//! would be told. Everything happens in separate processes with nothing but what a client gives
//! them, so a wrong path, a missing permission or a broken executable shows here and not in
//! somebody's work.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde_json::{Value, json};

use super::entry::Launch;
use crate::child::{self, Ended, Order, Register, Spawner};
use crate::limits::CHECK_STEP_SECONDS_MAX;
use crate::paths;

/// What came of it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Remembered {
    /// Titles of the memories, oldest first.
    pub titles: Vec<String>,
    /// The next session was told of them.
    pub told: bool,
}

#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    #[error("{step}: {reason}")]
    Failed { step: String, reason: String },
    #[error("the session left nothing behind")]
    NothingRemembered,
    #[error("the next session was told nothing")]
    NothingTold,
    #[error("{0}")]
    Io(#[from] io::Error),
}

/// Where the session plays. Gone when this is dropped.
#[derive(Debug)]
struct Scratch(PathBuf);

impl Drop for Scratch {
    fn drop(&mut self) {
        // What cannot be removed now is in the system's temporary directory, which is swept.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Plays the session. `directory` is where temporary things go, `spawner_exe` this program.
pub fn run(
    launch: &Launch,
    directory: &Path,
    spawner_exe: PathBuf,
) -> Result<Remembered, CheckError> {
    let root = directory.join(format!("claude-mem-check-{}", std::process::id()));
    paths::create_dir(&root)?;
    let scratch = Scratch(root.canonicalize()?);
    let stage = Stage::set(launch, &scratch.0, spawner_exe)?;
    for (event, payload) in first_session(&stage.project) {
        stage.hook(event, &payload)?;
    }
    stage.command("making memories", &["worker", "run", "--until-drained"])?;
    let answer = stage.hook("SessionStart", &start("check-2", &stage.project))?;
    let recent = stage.command("looking", &["recent", "--json", "--all-projects"])?;
    let titles = titles(&recent.stdout).map_err(|error| CheckError::Failed {
        step: "looking".to_owned(),
        reason: format!("what it said is not JSON: {error}"),
    })?;
    if titles.is_empty() {
        return Err(CheckError::NothingRemembered);
    }
    let context = answer["hookSpecificOutput"]["additionalContext"].as_str();
    if !context.is_some_and(|text| text.contains(TELLING)) {
        return Err(CheckError::NothingTold);
    }
    Ok(Remembered { titles, told: true })
}

/// Words of the session that a good memory of it holds.
const TELLING: &str = "7 retry attempts";

fn start(session: &str, project: &Path) -> Value {
    json!({
        "session_id": session, "cwd": project, "hook_event_name": "SessionStart", "source": "startup",
    })
}

/// A decision, the edit that follows from it, and the agent's last words.
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
        ("SessionStart", start("check-1", project)),
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

struct Stage {
    launch: Launch,
    data: PathBuf,
    project: PathBuf,
    env: Vec<(OsString, OsString)>,
    spawner: Spawner,
}

impl Stage {
    fn set(launch: &Launch, root: &Path, spawner_exe: PathBuf) -> io::Result<Self> {
        let (data, project) = (root.join("data"), root.join("project"));
        for dir in [&data, &project] {
            paths::create_dir(dir)?;
        }
        let variables: [(&str, &Path); 4] = [
            ("HOME", root),
            ("CLAUDE_MEM_DATA_DIR", &data),
            ("CLAUDE_PROJECT_DIR", &project),
            ("CLAUDE_MEM_WORKER", Path::new("manual")),
        ];
        let mut env: Vec<(OsString, OsString)> = variables
            .map(|(name, value)| (name.into(), value.as_os_str().to_owned()))
            .to_vec();
        env.push(("PATH".into(), "/usr/local/bin:/usr/bin:/bin".into()));
        Ok(Self {
            launch: Launch {
                data_dir: Some(data.clone()),
                ..launch.clone()
            },
            spawner: Spawner::start(spawner_exe, Register::open(&root.join("children"))?)?,
            data,
            project,
            env,
        })
    }

    /// One hook, started exactly as the client starts it, and what it answers.
    fn hook(&self, event: &str, payload: &Value) -> Result<Value, CheckError> {
        let (program, arguments) = self.launch.command(event);
        let arguments = arguments.into_iter().map(OsString::from).collect();
        let step = format!("the hook for {event}");
        let ended = self.run(
            &step,
            program.into(),
            arguments,
            payload.to_string().as_bytes(),
        )?;
        serde_json::from_slice(&ended.stdout).map_err(|_| CheckError::Failed {
            step,
            reason: "its answer is not JSON".to_owned(),
        })
    }

    fn command(&self, step: &str, arguments: &[&str]) -> Result<Ended, CheckError> {
        let mut all = vec![OsString::from("--data-dir"), self.data.clone().into()];
        all.extend(arguments.iter().map(OsString::from));
        self.run(step, self.launch.executable.clone().into(), all, b"")
    }

    fn run(
        &self,
        step: &str,
        program: OsString,
        args: Vec<OsString>,
        input: &[u8],
    ) -> Result<Ended, CheckError> {
        let failed = |reason: String| CheckError::Failed {
            step: step.to_owned(),
            reason,
        };
        let order = Order {
            program,
            args,
            env: self.env.clone(),
            directory: self.project.clone(),
        };
        let within = Duration::from_secs(CHECK_STEP_SECONDS_MAX);
        let ended = child::run(&self.spawner, order, input, within)
            .map_err(|error| failed(error.to_string()))?;
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
    let mut titles: Vec<String> = value
        .as_array()
        .into_iter()
        .flatten()
        .filter(|item| item["kind"] == "observation")
        .filter_map(|item| item["title"].as_str().map(str::to_owned))
        .collect();
    titles.reverse();
    Ok(titles)
}
