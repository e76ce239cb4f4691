//! Measures memory and CPU of an idle worker, a minute after its last work.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable to measure
    #[arg(long)]
    exe: PathBuf,
    /// Seconds between the work and the measurement
    #[arg(long, default_value_t = 60)]
    after: u64,
}

/// A worker as hooks start it; stopped on drop.
struct IdleWorker<'a> {
    exe: &'a Path,
    home: &'a Path,
    pid: u32,
}

impl<'a> IdleWorker<'a> {
    fn start(exe: &'a Path, home: &'a Path) -> anyhow::Result<Self> {
        let started = command(exe, home, &["worker", "start"]).status()?;
        ensure!(started.success(), "the worker did not start");
        let status = command(exe, home, &["worker", "status", "--json"]).output()?;
        let status: serde_json::Value = serde_json::from_slice(&status.stdout)?;
        let pid = status["pid"].as_u64().context("the worker has no pid")?;
        Ok(Self { exe, home, pid: u32::try_from(pid)? })
    }
}

impl Drop for IdleWorker<'_> {
    fn drop(&mut self) {
        // It may have exited already, which the measurement reports.
        let _ = command(self.exe, self.home, &["worker", "stop"]).status();
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let worker = IdleWorker::start(&args.exe, home.path())?;
    let pid = worker.pid;
    for turn in 0..20 {
        run_turn(&args.exe, home.path(), turn)?;
    }
    let drained = command(&args.exe, home.path(), &["worker", "run", "--until-drained"]).status()?;
    ensure!(drained.success(), "the worker did not drain the queue");
    let busy = PrivateMemory::read_from_proc(pid)?;
    std::thread::sleep(Duration::from_secs(args.after));
    let before = cpu_ticks(pid)?;
    let idle = PrivateMemory::read_from_proc(pid)?;
    std::thread::sleep(Duration::from_secs(IDLE_SAMPLE_SECONDS));
    let used = cpu_ticks(pid)?.saturating_sub(before);
    println!("private memory after work    {busy}");
    println!("{} s later                  {idle}", args.after);
    println!(
        "CPU in {IDLE_SAMPLE_SECONDS} s               {:.2} %",
        used as f64 * 100.0 / (IDLE_SAMPLE_SECONDS * TICKS_PER_SECOND) as f64
    );
    Ok(())
}

const IDLE_SAMPLE_SECONDS: u64 = 30;
/// The unit of CPU times in `/proc/PID/stat` (USER_HZ) on Linux.
const TICKS_PER_SECOND: u64 = 100;

/// Sends one turn through the hooks.
fn run_turn(exe: &Path, home: &Path, turn: usize) -> anyhow::Result<()> {
    use std::io::Write as _;
    let said = format!("Retries stop at {turn}, because the limiter trips at the next.");
    let fields = [
        ("UserPromptSubmit", format!(r#""prompt":"Use {turn} retries, never more","prompt_id":"p{turn}""#)),
        (
            "PostToolUse",
            format!(
                r#""tool_name":"Edit","tool_use_id":"t{turn}","tool_input":{{"file_path":"/src/a.rs","old_string":"a","new_string":"b{turn}"}},"tool_response":{{}}"#
            ),
        ),
        ("Stop", format!(r#""last_assistant_message":"{said}","prompt_id":"p{turn}""#)),
    ];
    for (event, fields) in fields {
        let payload = format!(r#"{{"session_id":"s","cwd":"/","hook_event_name":"{event}",{fields}}}"#);
        let mut hook = command(exe, home, &["hook", "claude-code", event]);
        let mut hook = hook.stdin(Stdio::piped()).stdout(Stdio::null()).spawn()?;
        let mut stdin = hook.stdin.take().context("a hook reads")?;
        stdin.write_all(payload.as_bytes())?;
        drop(stdin);
        hook.wait()?;
    }
    Ok(())
}

fn command(exe: &Path, home: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(exe);
    command
        .args(args)
        .env_clear()
        .env("HOME", home)
        .env("PATH", "/usr/bin:/bin")
        .stdin(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// Private memory of a process: pages it has written, and clean pages of the executable (mainly the
/// encoder's weights), which other processes would share and the kernel may drop.
struct PrivateMemory {
    dirty_mb: f64,
    clean_mb: f64,
}

impl PrivateMemory {
    fn read_from_proc(pid: u32) -> anyhow::Result<Self> {
        let rollup =
            std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup")).context("the worker is gone")?;
        let field = |name: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            let kilobytes: f64 = kilobytes.with_context(|| format!("no {name}"))?;
            Ok::<_, anyhow::Error>(kilobytes / 1024.0)
        };
        Ok(Self { dirty_mb: field("Private_Dirty:")?, clean_mb: field("Private_Clean:")? })
    }
}

impl std::fmt::Display for PrivateMemory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self { dirty_mb: written_mb, clean_mb: of_file_mb } = self;
        write!(f, "{written_mb:.1} MB, plus {of_file_mb:.1} MB mapped from the executable")
    }
}

/// CPU time of all threads so far, in clock ticks.
fn cpu_ticks(pid: u32) -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The process name in parentheses may contain anything; only numbers follow it.
    let (_, numbers) = stat.rsplit_once(')').context("no name in stat")?;
    let mut numbers = numbers.split_whitespace().skip(11);
    let mut next = || numbers.next().and_then(|text| text.parse::<u64>().ok());
    let (user, system) = (next().context("no times")?, next().context("no times")?);
    Ok(user + system)
}
