//! Real sessions of Claude Code with an installed package: the second must know what the first decided.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::{bail, ensure};
use rig::model::{ModelScript, ModelTurn, ScriptedModel};
use rig::{Sandbox, client};

/// How long the worker may take to make a memory of the first session. It takes about a second.
const MEMORY_SECONDS_MAX: u64 = 120;
const POLL_MS: u64 = 50;

const RULE: &str = "Use 7 retry attempts, never 8";
const FIRST_PROMPT: &str =
    "The upstream limiter blocks us. Use 7 retry attempts, never 8, because the 8th trips it.";
const NEXT_PROMPT: &str = "Which limits are there?";

/// Files and directories of the client itself, which stay when we are removed.
const CLIENT_FILES: [&str; 4] = [".claude", ".claude.json", ".cache", ".npm"];

/// Runs two sessions of Claude Code in `home`. Returns how long it took until the next session could know
/// of the first; `None` if the client is not installed here.
pub(super) fn remember_across_sessions(home: &Path, command: &Path) -> anyhow::Result<Option<Duration>> {
    let Some(client) = client::or_skip(client::CURRENT) else {
        return Ok(None);
    };
    let model = ScriptedModel::start(ModelScript::session());
    let mut stage = Sandbox::new().with_exe(command).with_client(&client).with_model(&model);
    stage.set_env("HOME", home);
    stage.unset_env("CLAUDE_MEM_DATA_DIR");
    let started = Instant::now();
    model.push(ModelTurn::text("I set MAX_ATTEMPTS to 7, because an 8th attempt trips the limiter."));
    run_session(&stage, FIRST_PROMPT)?;
    wait_for_memory(&stage)?;
    let remembered_after = started.elapsed();
    model.push(ModelTurn::text("At most seven retries."));
    run_session(&stage, NEXT_PROMPT)?;
    let asked = model.messages();
    let told = asked.iter().any(|request| request.contains_text(NEXT_PROMPT) && request.contains_text(RULE));
    ensure!(told, "the next session was not told of the first:\n{}", model.request_log());
    Ok(Some(remembered_after))
}

fn run_session(stage: &Sandbox, prompt: &str) -> anyhow::Result<()> {
    let output = stage.prompt(prompt);
    ensure!(output.code == Some(0), "the client failed: {}\n{}", output.stdout, output.stderr);
    Ok(())
}

/// Waits until the worker has made a memory of the first session.
fn wait_for_memory(stage: &Sandbox) -> anyhow::Result<()> {
    let started = Instant::now();
    loop {
        let context = stage.mem(&["context"]);
        if context.stdout.contains(RULE) {
            return Ok(());
        }
        if started.elapsed() > Duration::from_secs(MEMORY_SECONDS_MAX) {
            bail!("no memory of the session: {}\n{}", context.stdout, context.stderr);
        }
        std::thread::sleep(Duration::from_millis(POLL_MS));
    }
}

/// Removes what the client has written in `home`, after making sure that nothing of it is ours.
pub(super) fn remove_client_files(home: &Path) -> anyhow::Result<()> {
    for settings in [".claude/settings.json", ".claude.json"] {
        let text = std::fs::read_to_string(home.join(settings)).unwrap_or_default();
        ensure!(!text.contains("claude-mem"), "{settings} still names claude-mem:\n{text}");
    }
    for name in CLIENT_FILES {
        let path = home.join(name);
        if path.is_dir() {
            std::fs::remove_dir_all(path)?;
        } else if path.exists() {
            std::fs::remove_file(path)?;
        }
    }
    Ok(())
}
