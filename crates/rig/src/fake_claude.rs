//! A fake `claude` that speaks stream-json from a script, for faults that the real one does not show.
//!
//! [`FakeClaude::install_in`] puts a link named `claude` and its [`FakeClaudeScript`] into a directory. The
//! program (`src/bin/fake-claude.rs`) finds the script by the path of that link, so a cleared
//! environment does not matter. Every message takes the next [`FakeClaudeStep`], whichever process receives
//! it: after a child that was scripted to die, the next child continues with the next step.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::client;

/// The reaction to one message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FakeClaudeStep {
    /// A regular answer: init, assistant, result.
    Answer { text: String, input_tokens: u64, output_tokens: u64 },
    /// An API error as the real client reports it: a result of subtype "success" with `is_error`.
    ApiError { status: u16 },
    /// No answer; exits when stdin is closed.
    Hang,
    /// No answer, and never exits.
    Deaf,
    /// Exits without output.
    Exit { code: i32 },
    /// Exits in the middle of the assistant's line.
    ExitMidway { code: i32 },
    /// Prints this text and nothing else for this message.
    Garbage { text: String },
    /// Prints a line that never ends.
    Endless,
}

impl FakeClaudeStep {
    pub fn answer(text: impl Into<String>) -> Self {
        Self::Answer { text: text.into(), input_tokens: 100, output_tokens: 10 }
    }
}

/// The script file beside the link.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct FakeClaudeScript {
    pub steps: Vec<FakeClaudeStep>,
    /// The step for messages after the last one.
    pub otherwise: FakeClaudeStep,
    /// Makes every start fail at once with this exit code and this text on stderr.
    pub refuses: Option<(i32, String)>,
}

/// A logged start of the program, or a message it received.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum FakeClaudeEvent {
    Start { pid: u32, args: Vec<String>, env: Vec<(String, String)> },
    Message { pid: u32, text: String },
}

/// A fake `claude` in a directory of the test.
#[derive(Debug)]
pub struct FakeClaude {
    dir: PathBuf,
}

impl FakeClaude {
    /// Installs the fake into this directory, creating it if necessary.
    pub fn install_in(dir: &Path, steps: impl IntoIterator<Item = FakeClaudeStep>) -> Self {
        fs::create_dir_all(dir).expect("a directory for the fake claude");
        let fake = Self { dir: dir.to_path_buf() };
        let link = fake.executable();
        if !link.exists() {
            std::os::unix::fs::symlink(built_program(), &link).expect("a link to the fake claude");
        }
        let steps = steps.into_iter().collect();
        fake.set_script(&FakeClaudeScript {
            steps,
            otherwise: FakeClaudeStep::answer("<skip/>"),
            refuses: None,
        });
        fake
    }

    /// Replaces the script.
    pub fn set_script(&self, play: &FakeClaudeScript) {
        let text = serde_json::to_string(play).expect("a script is JSON");
        fs::write(self.dir.join(SCRIPT), text).expect("the script can be written");
    }

    /// The path to use for `claude`.
    pub fn executable(&self) -> PathBuf {
        self.dir.join("claude")
    }

    /// All starts and messages, in order.
    pub fn events(&self) -> Vec<FakeClaudeEvent> {
        read_events(&self.dir).expect("the log can be read")
    }

    /// The texts of the messages, in order.
    pub fn messages(&self) -> Vec<String> {
        let text = |heard| match heard {
            FakeClaudeEvent::Message { text, .. } => Some(text),
            FakeClaudeEvent::Start { .. } => None,
        };
        self.events().into_iter().filter_map(text).collect()
    }
}

pub const SCRIPT: &str = "claude.script.json";
const LOG: &str = "claude.heard.jsonl";

fn read_events(dir: &Path) -> io::Result<Vec<FakeClaudeEvent>> {
    let log = match fs::read_to_string(dir.join(LOG)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        log => log?,
    };
    Ok(log.lines().map_while(|line| serde_json::from_str(line).ok()).collect())
}

/// Appends an event to the log and returns the number of messages before it. A lock serialises
/// concurrent processes.
pub fn record_event(dir: &Path, what: &FakeClaudeEvent) -> io::Result<usize> {
    let lock = File::create(dir.join("claude.lock"))?;
    lock.lock()?;
    let before = read_events(dir)?.iter().filter(|h| matches!(h, FakeClaudeEvent::Message { .. })).count();
    let mut log = File::options().create(true).append(true).open(dir.join(LOG))?;
    writeln!(log, "{}", serde_json::to_string(what)?)?;
    Ok(before)
}

/// The built `fake-claude`. Cargo builds it with the rig's own tests; for tests of other
/// packages it is built here, once.
fn built_program() -> PathBuf {
    let exe = std::env::current_exe().expect("a test knows its own path");
    let profile = exe.parent().and_then(Path::parent).expect("tests run from target/PROFILE/deps");
    let program = profile.join("fake-claude");
    let lock = File::create(client::target_dir().join("fake-claude.lock")).expect("a lock");
    lock.lock().expect("the lock is released eventually");
    if !program.is_file() {
        let name = profile.file_name().unwrap_or_default().to_string_lossy().replace("debug", "dev");
        let built = Command::new(option_env!("CARGO").unwrap_or("cargo"))
            .args(["build", "--quiet", "--package", "claude-mem-rig", "--bin", "fake-claude"])
            .args(["--profile", &name, "--target-dir"])
            .arg(client::target_dir())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(built.is_ok_and(|status| status.success()), "fake-claude could not be built");
    }
    program
}
