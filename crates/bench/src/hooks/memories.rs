//! Hooks that bring memories, in a project that owns a third of them all.
//!
//! Every start is a session of its own, since nothing is shown twice to one. A case says how often
//! it had something to tell: silence is cheaper, and would measure nothing.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem::store::{Filter, Page, Store};
use serde_json::json;

use super::Line;
use crate::spawn::{Program, Shot, Summary};
use crate::{corpus, made_up};

/// Memories that the prompts and the files are taken from, newest first.
const ASKED_ABOUT: u32 = 60;
/// Long enough that something may be worth knowing of it.
const FILE_BYTES: usize = 8 << 10;
/// The first questions let the worker take its model and its vectors in.
const WARM_UP: usize = 5;

const SESSION_START: &str = "SessionStart, memories";
const FILE: &str = "PreToolUse, file recall";
const WORDS: &str = "UserPromptSubmit, words";
const WORKER: &str = "UserPromptSubmit, worker";

/// A data directory with many memories, and the checkout that most of them are about.
pub(super) struct Remembered {
    exe: PathBuf,
    home: tempfile::TempDir,
    observations: usize,
    truth: Program,
    titles: Vec<String>,
    files: Vec<PathBuf>,
}

impl Remembered {
    pub(super) fn new(
        exe: &Path,
        truth: &Program,
        cache: &Path,
        observations: usize,
    ) -> anyhow::Result<Self> {
        let made = corpus::database(cache, observations)?;
        let vectors = made_up::vectors(&made)?;
        let home = tempfile::tempdir_in(cache)?;
        let data = home.path().join("data");
        std::fs::create_dir(&data)?;
        std::fs::copy(made, data.join("claude-mem.db"))?;
        std::fs::copy(vectors, data.join("vectors.db"))?;
        let mut remembered = Self {
            exe: exe.to_owned(),
            home,
            observations,
            truth: truth.clone(),
            titles: Vec::new(),
            files: Vec::new(),
        };
        remembered.check_out(&data.join("claude-mem.db"))?;
        Ok(remembered)
    }

    fn project(&self) -> PathBuf {
        self.home.path().join(corpus::LARGEST)
    }

    /// Makes the checkout with the files that the newest memories changed.
    fn check_out(&mut self, database: &Path) -> anyhow::Result<()> {
        let git = self.project().join(".git");
        std::fs::create_dir_all(&git)?;
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        let remote = format!("https://example.org/team/{}.git", corpus::LARGEST);
        std::fs::write(
            git.join("config"),
            format!("[remote \"origin\"]\n\turl = {remote}\n"),
        )?;
        let store = Store::open_read_only(database)?;
        let project = store.read().projects_named(corpus::LARGEST)?;
        let filter = Filter {
            project: Some(project.first().context("no such project")?.id),
            ..Filter::default()
        };
        let newest = store
            .read()
            .observations(&filter, Page::first(ASKED_ABOUT))?;
        for row in newest.items {
            for file in row.files_modified {
                let path = self.project().join(file);
                std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
                std::fs::write(&path, "x".repeat(FILE_BYTES))?;
                self.files.push(path);
            }
            self.titles.push(row.title);
        }
        Ok(())
    }

    fn program(&self, args: &[&str]) -> Program {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let data = self.home.path().join("data");
        Program {
            exe: self.exe.clone(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: vec![
                ("HOME".to_owned(), text(self.home.path())),
                ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
                ("CLAUDE_MEM_DATA_DIR".to_owned(), text(&data)),
                ("CLAUDE_MEM_WORKER".to_owned(), "manual".to_owned()),
                ("CLAUDE_PROJECT_DIR".to_owned(), text(&self.project())),
            ],
        }
    }

    pub(super) fn measure(&self, starts: usize) -> anyhow::Result<Vec<Line>> {
        let mut lines = self.take_turns(&[SESSION_START, FILE, WORDS], starts)?;
        self.program(&["worker", "start"]).output()?;
        let worker = Running(self);
        for n in 0..WARM_UP {
            self.start(WORKER, &format!("warm-up-{n}"), n)?;
        }
        lines.extend(self.take_turns(&[WORKER], starts)?);
        drop(worker);
        Ok(lines)
    }

    fn take_turns(&self, cases: &[&'static str], starts: usize) -> anyhow::Result<Vec<Line>> {
        let mut truths = Vec::with_capacity(starts);
        let mut shots = vec![Vec::with_capacity(starts); cases.len()];
        let mut told = vec![0; cases.len()];
        for round in 0..starts {
            truths.push(self.truth.shoot(b"")?);
            for (index, case) in cases.iter().enumerate() {
                let (shot, said) = self.start(case, &format!("{case} {round}"), round)?;
                shots[index].push(shot);
                told[index] += usize::from(said.contains("additionalContext"));
            }
        }
        let truth = Summary::of(&truths);
        let line = |((case, shots), told): ((&&str, &Vec<Shot>), usize)| {
            let name = format!("{case}, told {}%", told * 100 / starts.max(1));
            Line::new(name, self.observations, Summary::of(shots), truth)
        };
        Ok(cases.iter().zip(&shots).zip(told).map(line).collect())
    }

    fn start(&self, case: &str, session: &str, round: usize) -> anyhow::Result<(Shot, String)> {
        let event = case.split(',').next().unwrap_or(case);
        let mut payload = json!({
            "session_id": session, "transcript_path": "/nowhere.jsonl", "cwd": self.project(),
            "hook_event_name": event, "prompt_id": session, "source": "startup",
        });
        match event {
            "PreToolUse" => {
                let file = &self.files[round % self.files.len()];
                payload["tool_name"] = "Read".into();
                payload["tool_use_id"] = session.into();
                payload["tool_input"] = json!({"file_path": file});
            }
            "UserPromptSubmit" => {
                let title = &self.titles[round % self.titles.len()];
                payload["prompt"] = format!("Please look into this again: {title}").into();
            }
            _ => {}
        }
        self.program(&["hook", "claude-code", event])
            .shoot_heard(payload.to_string().as_bytes())
    }
}

/// A worker that ends with the measurement.
struct Running<'a>(&'a Remembered);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.program(&["worker", "stop"]).output() {
            eprintln!("the worker was not stopped: {error:#}");
        }
    }
}
