//! A member's machine: the shipped executable with a real worker and a store.

use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use claude_mem_store::{PageRequest, RowFilter, Store};
use rig::Sandbox;

use super::service::{BenchDevice, BenchReplica};
use crate::spawn::MeasuredProgram;

/// Something that never comes is given up.
const WAIT_MAX: Duration = Duration::from_mins(10);

pub(super) struct BenchMachine {
    home: Sandbox,
    exe: PathBuf,
}

impl BenchMachine {
    /// A machine with a checkout of a project and a worker that computes no vectors.
    pub(super) fn new(exe: &Path, project: &str) -> anyhow::Result<Self> {
        let home = Sandbox::new().with_exe(exe).with_env("CLAUDE_MEM_WORKER", "manual");
        home.git_remote(&format!("git@github.com:acme/{project}.git"));
        let settings = home.data_dir().join("settings.json");
        home.write(settings, r#"{"provider":"local","vectors":false}"#);
        let machine = Self { home, exe: exe.to_owned() };
        machine.mem(&["save", "The project is known"])?;
        machine.mem(&["worker", "start"])?;
        Ok(machine)
    }

    /// The same, as a new member who shares the project.
    pub(super) fn join(
        exe: &Path,
        project: &str,
        admin: &BenchDevice,
        replica: &BenchReplica,
        handle: &str,
    ) -> anyhow::Result<Self> {
        let machine = Self::join_only(exe, project, admin, replica, handle)?;
        machine.mem(&["team", "share", "--yes"])?;
        Ok(machine)
    }

    /// A new member who shares nothing yet.
    pub(super) fn join_only(
        exe: &Path,
        project: &str,
        admin: &BenchDevice,
        replica: &BenchReplica,
        handle: &str,
    ) -> anyhow::Result<Self> {
        let machine = Self::new(exe, project)?;
        let link = format!("{}/#i.{}", replica.base(), admin.invite(handle)?.reveal());
        machine.mem(&["team", "join", &link, "--handle", handle])?;
        Ok(machine)
    }

    /// Starts a command without waiting for it.
    pub(super) fn begin(&self, args: &[&str]) -> anyhow::Result<Child> {
        Ok(self.home.mem_command(args).stdin(Stdio::null()).stdout(Stdio::null()).spawn()?)
    }

    pub(super) fn mem(&self, args: &[&str]) -> anyhow::Result<String> {
        let output = self.home.mem(args);
        ensure!(output.code == Some(0), "{args:?}: {output}");
        Ok(output.stdout)
    }

    pub(super) fn worker_pid(&self) -> anyhow::Result<u32> {
        let status: serde_json::Value = serde_json::from_str(&self.mem(&["worker", "status", "--json"])?)?;
        Ok(u32::try_from(status["pid"].as_u64().context("no worker runs")?)?)
    }

    fn store(&self) -> anyhow::Result<Store> {
        Ok(Store::open_read_only(&self.home.data_dir().join("claude-mem.db"))?)
    }

    /// Waits until the newest memory has this title.
    pub(super) fn wait_for_title(&self, title: &str) -> anyhow::Result<()> {
        let store = self.store()?;
        wait_until(Duration::from_millis(5), || {
            let newest = store.read().observations(&RowFilter::default(), PageRequest::first(5))?;
            Ok(newest.items.iter().any(|row| row.text.title == title))
        })
    }

    /// Waits until it holds so many records of its spaces.
    pub(super) fn wait_for_records(&self, count: i64) -> anyhow::Result<()> {
        let store = self.store()?;
        wait_until(Duration::from_millis(100), || {
            Ok(store.read().spaces()?.iter().map(|space| space.live).sum::<i64>() >= count)
        })
    }

    /// One of its hooks, to be measured.
    pub(super) fn hook(&self, event: &str) -> MeasuredProgram {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        MeasuredProgram {
            exe: self.exe.clone(),
            args: ["hook", "claude-code", event].map(str::to_owned).to_vec(),
            env: vec![
                ("HOME".to_owned(), text(self.home.home())),
                ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
                ("CLAUDE_MEM_DATA_DIR".to_owned(), text(&self.home.data_dir())),
                ("CLAUDE_MEM_WORKER".to_owned(), "manual".to_owned()),
            ],
        }
    }

    pub(super) fn project(&self) -> String {
        self.home.project().to_string_lossy().into_owned()
    }
}

fn wait_until(pause: Duration, mut is_so: impl FnMut() -> anyhow::Result<bool>) -> anyhow::Result<()> {
    let until = Instant::now() + WAIT_MAX;
    while !is_so()? {
        ensure!(Instant::now() < until, "it did not come to be");
        std::thread::sleep(pause);
    }
    Ok(())
}
