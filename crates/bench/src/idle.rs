//! What a worker costs that has nothing to do: memory and CPU, a minute after its work.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, ensure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable to measure
    #[arg(long)]
    exe: PathBuf,
    /// Seconds between the work and the look
    #[arg(long, default_value_t = 60)]
    after: u64,
}

/// A worker as hooks start it, which is ended with the measurement.
struct Worker<'a> {
    exe: &'a Path,
    home: &'a Path,
    pid: u32,
}

impl<'a> Worker<'a> {
    fn start(exe: &'a Path, home: &'a Path) -> anyhow::Result<Self> {
        let started = command(exe, home, &["worker", "start"]).status()?;
        ensure!(started.success(), "the worker did not start");
        let status = command(exe, home, &["worker", "status", "--json"]).output()?;
        let status: serde_json::Value = serde_json::from_slice(&status.stdout)?;
        let pid = status["pid"].as_u64().context("the worker has no pid")?;
        Ok(Self {
            exe,
            home,
            pid: u32::try_from(pid)?,
        })
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        // It may have ended by itself, which the measurement says.
        let _ = command(self.exe, self.home, &["worker", "stop"]).status();
    }
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let worker = Worker::start(&args.exe, home.path())?;
    let pid = worker.pid;
    for turn in 0..20 {
        work(&args.exe, home.path(), turn)?;
    }
    let drained = command(
        &args.exe,
        home.path(),
        &["worker", "run", "--until-drained"],
    )
    .status()?;
    ensure!(drained.success(), "the worker did not do its work");
    let busy = Private::of(pid)?;
    std::thread::sleep(Duration::from_secs(args.after));
    let before = ticks(pid)?;
    let idle = Private::of(pid)?;
    std::thread::sleep(Duration::from_secs(WATCHED_SECONDS));
    let used = ticks(pid)?.saturating_sub(before);
    println!("private memory after work    {busy}");
    println!("{} s later                  {idle}", args.after);
    println!(
        "CPU in {WATCHED_SECONDS} s               {:.2} %",
        used as f64 * 100.0 / (WATCHED_SECONDS * TICKS_PER_SECOND) as f64
    );
    Ok(())
}

const WATCHED_SECONDS: u64 = 30;
/// The kernel's unit in `/proc/PID/stat`, on every Linux there is.
const TICKS_PER_SECOND: u64 = 100;

/// One turn through the hooks.
fn work(exe: &Path, home: &Path, turn: usize) -> anyhow::Result<()> {
    use std::io::Write as _;
    let said = format!("Retries stop at {turn}, because the limiter trips at the next.");
    let fields = [
        (
            "UserPromptSubmit",
            format!(r#""prompt":"Use {turn} retries, never more","prompt_id":"p{turn}""#),
        ),
        (
            "PostToolUse",
            format!(
                r#""tool_name":"Edit","tool_use_id":"t{turn}","tool_input":{{"file_path":"/src/a.rs","old_string":"a","new_string":"b{turn}"}},"tool_response":{{}}"#
            ),
        ),
        (
            "Stop",
            format!(r#""last_assistant_message":"{said}","prompt_id":"p{turn}""#),
        ),
    ];
    for (event, fields) in fields {
        let payload =
            format!(r#"{{"session_id":"s","cwd":"/","hook_event_name":"{event}",{fields}}}"#);
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

/// Memory that is this process's alone: what it has written, and pages of the executable (the
/// encoder's weights above all) that any other process of ours would share and the kernel may drop.
struct Private {
    written_mb: f64,
    of_file_mb: f64,
}

impl Private {
    fn of(pid: u32) -> anyhow::Result<Self> {
        let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))
            .context("the worker is gone")?;
        let field = |name: &str| {
            let line = rollup.lines().find_map(|line| line.strip_prefix(name));
            let kilobytes = line.and_then(|line| line.split_whitespace().next()?.parse().ok());
            let kilobytes: f64 = kilobytes.with_context(|| format!("no {name}"))?;
            Ok::<_, anyhow::Error>(kilobytes / 1024.0)
        };
        Ok(Self {
            written_mb: field("Private_Dirty:")?,
            of_file_mb: field("Private_Clean:")?,
        })
    }
}

impl std::fmt::Display for Private {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Self {
            written_mb,
            of_file_mb,
        } = self;
        write!(
            f,
            "{written_mb:.1} MB, and {of_file_mb:.1} MB of the executable's file"
        )
    }
}

/// CPU time so far, of all threads.
fn ticks(pid: u32) -> anyhow::Result<u64> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat"))?;
    // The name in parentheses may hold anything; what follows is numbers.
    let (_, numbers) = stat.rsplit_once(')').context("no name in stat")?;
    let mut numbers = numbers.split_whitespace().skip(11);
    let mut next = || numbers.next().and_then(|text| text.parse::<u64>().ok());
    let (user, system) = (next().context("no times")?, next().context("no times")?);
    Ok(user + system)
}
