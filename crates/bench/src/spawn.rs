//! Starts a program many times and measures each start ([`ProcessSample`]).
//!
//! Wall time includes everything that a client waits for: the start, the work, the exit. CPU time
//! comes from the kernel's scheduler and varies less on a busy machine.

use std::io::{Read as _, Write};
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use rustix::process::{Pid, WaitId, WaitIdOptions, waitid};

/// Bytes that fit into a pipe without a reader.
const PIPE_BYTES: usize = 60 << 10;

/// A program with its arguments and environment.
#[derive(Clone, Debug)]
pub(crate) struct MeasuredProgram {
    pub exe: PathBuf,
    pub args: Vec<String>,
    /// Its whole environment.
    pub env: Vec<(String, String)>,
}

/// The measurement of one start.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ProcessSample {
    pub wall: Duration,
    pub cpu: Duration,
    /// Peak resident size; 0 if it was not measured.
    pub peak_bytes: u64,
}

impl MeasuredProgram {
    fn start(&self, stdin: OwnedFd, stdout: Stdio) -> anyhow::Result<Child> {
        Command::new(&self.exe)
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::from(stdin))
            .stdout(stdout)
            .stderr(Stdio::null())
            .spawn()
            .with_context(|| format!("cannot start {}", self.exe.display()))
    }

    /// Its stdout; an error if it fails.
    pub(crate) fn output(&self) -> anyhow::Result<String> {
        let output = Command::new(&self.exe)
            .args(&self.args)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .output()
            .with_context(|| format!("cannot start {}", self.exe.display()))?;
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        let why = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "{:?}: {said}{why}", self.args);
        Ok(said)
    }

    /// Starts it with a short text already in its stdin, and waits for its exit.
    pub(crate) fn measure(&self, input: &[u8]) -> anyhow::Result<ProcessSample> {
        let from = filled_pipe(input)?;
        let start = Instant::now();
        let child = self.start(from, Stdio::null())?;
        finish(child, start)
    }

    /// Also returns its stdout, which must fit into a pipe.
    pub(crate) fn measure_with_output(&self, input: &[u8]) -> anyhow::Result<(ProcessSample, String)> {
        let from = filled_pipe(input)?;
        let (mut hear, say) = std::io::pipe()?;
        let start = Instant::now();
        let child = self.start(from, say.into())?;
        let shot = finish(child, start)?;
        let mut said = String::new();
        hear.read_to_string(&mut said)?;
        Ok((shot, said))
    }

    /// Measures with a long input, written while the program reads, and samples its memory.
    pub(crate) fn measure_large_input(&self, input: &[u8]) -> anyhow::Result<ProcessSample> {
        let (from, mut to) = std::io::pipe()?;
        let start = Instant::now();
        let child = self.start(from.into(), Stdio::null())?;
        let id = child.id();
        std::thread::scope(|scope| {
            scope.spawn(move || to.write_all(input));
            let watch = scope.spawn(move || watch_memory(id));
            let mut shot = finish(child, start)?;
            shot.peak_bytes = watch.join().unwrap_or_default();
            Ok(shot)
        })
    }
}

/// The read end of a pipe that contains a text and has no writer.
fn filled_pipe(input: &[u8]) -> anyhow::Result<OwnedFd> {
    ensure!(input.len() <= PIPE_BYTES, "the input does not fit into a pipe");
    let (from, mut to) = std::io::pipe()?;
    to.write_all(input)?;
    Ok(from.into())
}

fn finish(mut child: Child, start: Instant) -> anyhow::Result<ProcessSample> {
    let id = Pid::from_child(&child);
    // Wait without reaping, so that its CPU time can still be read.
    waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT)?;
    let wall = start.elapsed();
    let cpu = cpu_time_of(child.id()).unwrap_or_default();
    let status = child.wait()?;
    ensure!(status.success(), "the program failed: {status}");
    Ok(ProcessSample { wall, cpu, peak_bytes: 0 })
}

/// CPU time as counted by the scheduler.
fn cpu_time_of(id: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/schedstat")).ok()?;
    let nanos = stat.split_ascii_whitespace().next()?.parse().ok()?;
    Some(Duration::from_nanos(nanos))
}

/// Polls the peak resident size until the process exits.
fn watch_memory(id: u32) -> u64 {
    let mut peak = 0;
    while let Ok(status) = std::fs::read_to_string(format!("/proc/{id}/status")) {
        let mark = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let Some(mark) = mark else { break };
        let kilobytes = mark.trim().trim_end_matches(" kB").parse::<u64>();
        peak = peak.max(kilobytes.unwrap_or_default() << 10);
        std::thread::sleep(Duration::from_micros(200));
    }
    peak
}

/// Statistics over many starts.
#[derive(Clone, Copy, Debug, Default, serde::Serialize)]
pub(crate) struct SampleSummary {
    pub starts: usize,
    pub wall_p50_us: f64,
    pub wall_p99_us: f64,
    pub wall_min_us: f64,
    pub cpu_p50_us: f64,
}

impl SampleSummary {
    pub(crate) fn from_samples(shots: &[ProcessSample]) -> Self {
        let wall = sorted(shots.iter().map(|shot| shot.wall));
        let cpu = sorted(shots.iter().map(|shot| shot.cpu));
        Self {
            starts: shots.len(),
            wall_p50_us: quantile(&wall, 0.5),
            wall_p99_us: quantile(&wall, 0.99),
            wall_min_us: quantile(&wall, 0.0),
            cpu_p50_us: quantile(&cpu, 0.5),
        }
    }
}

pub(crate) fn sorted(times: impl Iterator<Item = Duration>) -> Vec<Duration> {
    let mut times: Vec<_> = times.collect();
    times.sort_unstable();
    times
}

/// The quantile in microseconds.
pub(crate) fn quantile(sorted: &[Duration], share: f64) -> f64 {
    let index = (sorted.len().saturating_sub(1) as f64 * share).round() as usize;
    sorted.get(index).map_or(0.0, |time| time.as_secs_f64() * 1e6)
}
