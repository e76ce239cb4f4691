//! A `claude` that speaks stream-json from a script, for when the real one is too well behaved.
//!
//! [`FakeClaude::put_in`] lays a link named `claude` into a directory, beside the script; the
//! program (`src/bin/fake-claude.rs`) finds the script by the path it was called by, so a scrubbed
//! environment does not matter. Every message takes the next step, whichever process it reached:
//! a child that was told to die is followed by one that goes on with the next step.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde::{Deserialize, Serialize};

use crate::client;

/// What the program does with one message.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Step {
    /// Answers as the real one does: init, assistant, result.
    Answer {
        text: String,
        input_tokens: u64,
        output_tokens: u64,
    },
    /// An API error as the real one reports it: a result of subtype "success" with `is_error`.
    ApiError { status: u16 },
    /// Never answers, but leaves when stdin is closed.
    Hang,
    /// Never answers and never leaves.
    Deaf,
    /// Leaves without a word.
    Exit { code: i32 },
    /// Leaves in the middle of the assistant's line.
    ExitMidway { code: i32 },
    /// This text, then nothing more for this message.
    Garbage { text: String },
    /// A line that does not end.
    Endless,
}

impl Step {
    pub fn answer(text: impl Into<String>) -> Self {
        Self::Answer {
            text: text.into(),
            input_tokens: 100,
            output_tokens: 10,
        }
    }
}

/// The script as it lies beside the program.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Play {
    pub steps: Vec<Step>,
    /// For messages beyond the last step.
    pub otherwise: Step,
    /// Every start ends at once with this code and this text on stderr.
    pub refuses: Option<(i32, String)>,
}

/// One start of the program, or one message it was sent.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum Heard {
    Start {
        pid: u32,
        args: Vec<String>,
        env: Vec<(String, String)>,
    },
    Message {
        pid: u32,
        text: String,
    },
}

/// The stand-in, as the test sees it.
#[derive(Debug)]
pub struct FakeClaude {
    dir: PathBuf,
}

impl FakeClaude {
    /// Puts the stand-in into this directory, which it makes if need be.
    pub fn put_in(dir: &Path, steps: impl IntoIterator<Item = Step>) -> Self {
        fs::create_dir_all(dir).expect("a directory for the stand-in");
        let fake = Self {
            dir: dir.to_path_buf(),
        };
        let link = fake.executable();
        if !link.exists() {
            std::os::unix::fs::symlink(program(), &link).expect("a link to the stand-in");
        }
        let steps = steps.into_iter().collect();
        fake.play(&Play {
            steps,
            otherwise: Step::answer("<skip/>"),
            refuses: None,
        });
        fake
    }

    /// Replaces the script.
    pub fn play(&self, play: &Play) {
        let text = serde_json::to_string(play).expect("a script is JSON");
        fs::write(self.dir.join(SCRIPT), text).expect("the script can be written");
    }

    /// What to give as the path of `claude`.
    pub fn executable(&self) -> PathBuf {
        self.dir.join("claude")
    }

    /// Everything that happened, in order.
    pub fn heard(&self) -> Vec<Heard> {
        heard(&self.dir).expect("the log can be read")
    }

    /// The texts it was sent, in order.
    pub fn messages(&self) -> Vec<String> {
        let text = |heard| match heard {
            Heard::Message { text, .. } => Some(text),
            Heard::Start { .. } => None,
        };
        self.heard().into_iter().filter_map(text).collect()
    }
}

pub const SCRIPT: &str = "claude.script.json";
const LOG: &str = "claude.heard.jsonl";

fn heard(dir: &Path) -> io::Result<Vec<Heard>> {
    let log = match fs::read_to_string(dir.join(LOG)) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => String::new(),
        log => log?,
    };
    Ok(log
        .lines()
        .map_while(|line| serde_json::from_str(line).ok())
        .collect())
}

/// Notes what happened and returns how many messages came before it. Several processes may do so
/// at once; a lock keeps them apart.
pub fn note(dir: &Path, what: &Heard) -> io::Result<usize> {
    let lock = File::create(dir.join("claude.lock"))?;
    lock.lock()?;
    let before = heard(dir)?
        .iter()
        .filter(|h| matches!(h, Heard::Message { .. }))
        .count();
    let mut log = File::options()
        .create(true)
        .append(true)
        .open(dir.join(LOG))?;
    writeln!(log, "{}", serde_json::to_string(what)?)?;
    Ok(before)
}

/// The built program. Cargo builds it along with the rig's own tests; for the tests of other
/// packages it is built here, once.
fn program() -> PathBuf {
    let exe = std::env::current_exe().expect("a test knows its own path");
    let profile = exe
        .parent()
        .and_then(Path::parent)
        .expect("tests run from target/PROFILE/deps");
    let program = profile.join("fake-claude");
    let lock = File::create(client::target_dir().join("fake-claude.lock")).expect("a lock");
    lock.lock().expect("the lock is free in the end");
    if !program.is_file() {
        let name = profile
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .replace("debug", "dev");
        let built = Command::new(option_env!("CARGO").unwrap_or("cargo"))
            .args([
                "build",
                "--quiet",
                "--package",
                "claude-mem-rig",
                "--bin",
                "fake-claude",
            ])
            .args(["--profile", &name, "--target-dir"])
            .arg(client::target_dir())
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .status();
        assert!(
            built.is_ok_and(|status| status.success()),
            "fake-claude could not be built"
        );
    }
    program
}
