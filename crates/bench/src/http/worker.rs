//! The worker under measurement, in its own home directory.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use serde_json::{Value, json};

use super::connection::BenchConnection;
use super::schedule::Args;
use crate::corpus;
use crate::spawn::MeasuredProgram;

/// A worker in its own home directory; stopped on drop.
pub(super) struct BenchWorker {
    exe: PathBuf,
    pub(super) home: PathBuf,
    address: String,
    token: String,
    pid: u64,
}

impl BenchWorker {
    pub(super) fn start(args: &Args, home: &Path) -> anyhow::Result<Self> {
        let data = home.join(".claude-mem");
        std::fs::create_dir(&data)?;
        let made = corpus::database(&args.cache, args.observations)?;
        std::fs::copy(made, data.join("claude-mem.db"))?;
        let settings = json!({ "provider": "local", "vectors": args.vectors });
        std::fs::write(data.join("settings.json"), settings.to_string())?;
        let mut worker = Self {
            exe: args.exe.canonicalize().context("no such executable")?,
            home: home.to_owned(),
            address: String::new(),
            token: String::new(),
            pid: 0,
        };
        let link = worker.program(&["open", "--print"]).output()?;
        let (page, secret) = link.trim().split_once("/#k=").context("no link")?;
        page.trim_start_matches("http://").clone_into(&mut worker.address);
        let body = json!({ "secret": secret }).to_string();
        let given = worker.connect()?.post("/api/page/token", &body)?;
        let text = |json: &Value, key: &str| json[key].as_str().map(str::to_owned);
        let given: Value = serde_json::from_slice(&given)?;
        worker.token = text(&given, "token").context("no token")?;
        let health: Value = serde_json::from_slice(&worker.connect()?.get("/health")?)?;
        worker.pid = health["pid"].as_u64().context("no pid")?;
        Ok(worker)
    }

    pub(super) fn program(&self, args: &[&str]) -> MeasuredProgram {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let env = [
            ("HOME", text(&self.home)),
            ("PATH", "/usr/bin:/bin".to_owned()),
            ("CLAUDE_MEM_DATA_DIR", text(&self.home.join(".claude-mem"))),
            ("CLAUDE_MEM_WORKER", "manual".to_owned()),
        ];
        MeasuredProgram {
            exe: self.exe.clone(),
            args: args.iter().map(|&arg| arg.to_owned()).collect(),
            env: env.map(|(name, value)| (name.to_owned(), value)).to_vec(),
        }
    }

    pub(super) fn connect(&self) -> anyhow::Result<BenchConnection> {
        BenchConnection::open(&self.address, &self.token)
    }

    /// Samples the private memory in megabytes, once a second, until `over` is set.
    pub(super) fn sample_memory(&self, over: &AtomicBool) -> Vec<f64> {
        let mut seen = Vec::new();
        while !over.load(Ordering::Relaxed) {
            std::thread::sleep(Duration::from_secs(1));
            let status = std::fs::read_to_string(format!("/proc/{}/status", self.pid));
            let line = status.unwrap_or_default();
            let line = line.lines().find_map(|line| line.strip_prefix("RssAnon:"));
            let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            seen.extend(kilobytes.map(|kilobytes: f64| kilobytes / 1024.0));
        }
        seen
    }

    /// CPU time of all threads so far.
    pub(super) fn cpu(&self) -> anyhow::Result<Duration> {
        let mut nanos = 0;
        for thread in std::fs::read_dir(format!("/proc/{}/task", self.pid))? {
            // A thread may have ended meanwhile; its CPU time is negligible.
            let account = std::fs::read_to_string(thread?.path().join("schedstat"));
            let account = account.unwrap_or_default();
            let used = account.split_ascii_whitespace().next();
            nanos += used.map_or(Ok(0), str::parse::<u64>)?;
        }
        Ok(Duration::from_nanos(nanos))
    }

    /// Drains the queue and returns its counts.
    pub(super) fn drained_queue(&self) -> anyhow::Result<Value> {
        self.program(&["worker", "run", "--until-drained"]).output()?;
        let stats = self.connect()?.get("/api/stats")?;
        let stats: Value = serde_json::from_slice(&stats)?;
        ensure!(stats["queue"]["waiting"] == 0, "the queue is not empty");
        Ok(stats["queue"].clone())
    }
}

impl Drop for BenchWorker {
    fn drop(&mut self) {
        // The home directory is removed next; the worker may have exited already.
        let _ = self.program(&["worker", "stop"]).output();
    }
}
