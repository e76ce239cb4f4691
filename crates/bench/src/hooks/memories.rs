//! Measures hooks that recall memories, in a project that owns a third of all rows.
//!
//! Every start is a new session, because a session is not shown the same memory twice. Each case reports
//! how often it recalled something: an empty answer is cheaper and would not measure recall.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use claude_mem_core::ids::ProjectId;
use claude_mem_store::{PageRequest, RowFilter, Store};
use serde_json::json;

use super::timing::HookTiming;
use crate::spawn::{MeasuredProgram, ProcessSample, SampleSummary};
use crate::{corpus, made_up};

/// Number of newest memories from which prompts and files are taken.
const ASKED_ABOUT: u32 = 60;
/// File size above the minimum for file recall.
const FILE_BYTES: usize = 8 << 10;
/// Number of unmeasured requests, in which the worker loads its model and vectors.
const WARM_UP: usize = 5;

const SESSION_START: &str = "SessionStart, memories";
const FILE: &str = "PreToolUse, file recall";
const WORDS: &str = "UserPromptSubmit, words";
const WORKER: &str = "UserPromptSubmit, worker";

/// A data directory with many memories, and a checkout of the project that most of them belong to.
pub(super) struct RecallFixture {
    exe: PathBuf,
    home: tempfile::TempDir,
    observations: usize,
    truth: MeasuredProgram,
    titles: Vec<String>,
    files: Vec<PathBuf>,
}

impl RecallFixture {
    pub(super) fn new(
        exe: &Path,
        truth: &MeasuredProgram,
        cache: &Path,
        observations: usize,
    ) -> anyhow::Result<Self> {
        let made = corpus::database(cache, observations)?;
        let vectors = made_up::vectors_database(&made)?;
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
        let project = remembered.create_checkout(&data.join("claude-mem.db"))?;
        // A remote alone does not join a project.
        let checkout = remembered.project().to_string_lossy().into_owned();
        remembered.program(&["project", "alias", &project.0.to_string(), &checkout]).output()?;
        Ok(remembered)
    }

    fn project(&self) -> PathBuf {
        self.home.path().join(corpus::LARGEST)
    }

    /// Creates the checkout with the files that the newest memories modified. Returns the project's id.
    fn create_checkout(&mut self, database: &Path) -> anyhow::Result<ProjectId> {
        let git = self.project().join(".git");
        std::fs::create_dir_all(&git)?;
        std::fs::write(git.join("HEAD"), "ref: refs/heads/main\n")?;
        let remote = format!("https://example.org/team/{}.git", corpus::LARGEST);
        std::fs::write(git.join("config"), format!("[remote \"origin\"]\n\turl = {remote}\n"))?;
        let store = Store::open_read_only(database)?;
        let project = store.read().projects_named(corpus::LARGEST)?;
        let project = project.first().context("no such project")?.id;
        let filter = RowFilter { project: Some(project), ..RowFilter::default() };
        let newest = store.read().observations(&filter, PageRequest::first(ASKED_ABOUT))?;
        for row in newest.items {
            for file in row.text.files_modified {
                let path = self.project().join(file);
                std::fs::create_dir_all(path.parent().unwrap_or(&path))?;
                std::fs::write(&path, "x".repeat(FILE_BYTES))?;
                self.files.push(path);
            }
            self.titles.push(row.text.title);
        }
        Ok(project)
    }

    fn program(&self, args: &[&str]) -> MeasuredProgram {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let data = self.home.path().join("data");
        MeasuredProgram {
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

    pub(super) fn measure(&self, starts: usize) -> anyhow::Result<Vec<HookTiming>> {
        let mut lines = self.measure_cases(&[SESSION_START, FILE, WORDS], starts)?;
        self.program(&["worker", "start"]).output()?;
        let worker = WorkerGuard(self);
        for n in 0..WARM_UP {
            self.run_hook(WORKER, &format!("warm-up-{n}"), n)?;
        }
        lines.extend(self.measure_cases(&[WORKER], starts)?);
        drop(worker);
        Ok(lines)
    }

    fn measure_cases(&self, cases: &[&'static str], starts: usize) -> anyhow::Result<Vec<HookTiming>> {
        let mut truths = Vec::with_capacity(starts);
        let mut shots = vec![Vec::with_capacity(starts); cases.len()];
        let mut told = vec![0; cases.len()];
        for round in 0..starts {
            truths.push(self.truth.measure(b"")?);
            for (index, case) in cases.iter().enumerate() {
                let (shot, said) = self.run_hook(case, &format!("{case} {round}"), round)?;
                shots[index].push(shot);
                told[index] += usize::from(said.contains("additionalContext"));
            }
        }
        let truth = SampleSummary::from_samples(&truths);
        let line = |((case, shots), told): ((&&str, &Vec<ProcessSample>), usize)| {
            let name = format!("{case}, recalled {}%", told * 100 / starts.max(1));
            HookTiming::new(name, self.observations, SampleSummary::from_samples(shots), truth)
        };
        Ok(cases.iter().zip(&shots).zip(told).map(line).collect())
    }

    fn run_hook(&self, case: &str, session: &str, round: usize) -> anyhow::Result<(ProcessSample, String)> {
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
        self.program(&["hook", "claude-code", event]).measure_with_output(payload.to_string().as_bytes())
    }
}

/// Stops the worker on drop.
struct WorkerGuard<'a>(&'a RecallFixture);

impl Drop for WorkerGuard<'_> {
    fn drop(&mut self) {
        if let Err(error) = self.0.program(&["worker", "stop"]).output() {
            eprintln!("the worker was not stopped: {error:#}");
        }
    }
}
