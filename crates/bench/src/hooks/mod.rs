//! Measures the cost of a hook, compared with `/bin/true`.
//!
//! The cases are interleaved, so that background load affects all of them equally, and each is reported as
//! a ratio to `/bin/true` in the same run.

mod agent_payloads;
mod comparison;
mod memories;
mod timing;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde_json::json;

use agent_payloads::{AGENT_CASES, AgentPayloads};
use comparison::HookComparison;
use timing::HookTiming;

use crate::corpus;
use crate::spawn::{MeasuredProgram, ProcessSample, SampleSummary};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable to measure
    #[arg(long)]
    exe: PathBuf,
    /// An earlier executable: its hooks run in turn with ours, on an empty database each
    #[arg(long)]
    before: Option<PathBuf>,
    /// Starts per case
    #[arg(long, default_value_t = 300)]
    starts: usize,
    /// Database sizes, in observations
    #[arg(long, value_delimiter = ',', default_value = "0,1000,100000")]
    sizes: Vec<usize>,
    /// Directory that caches generated databases
    #[arg(long, default_value = "target/bench")]
    cache: PathBuf,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

/// Source code that mentions keys and tokens, as real payloads do; four kilobytes of it are used.
const SOURCE: &str = include_str!("../../../core/src/config/keys.rs");
const SOURCE_BYTES: usize = 4096;
const LONG_BYTES: usize = 10 << 20;
const AT_ONCE: usize = 32;
const AT_ONCE_EACH: usize = 20;
const IN_A_ROW: usize = 2_000;

/// The whole report.
#[derive(Debug, Serialize)]
struct HookBenchReport {
    lines: Vec<HookTiming>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    comparisons: Vec<HookComparison>,
    in_a_row: SequentialResult,
    at_once: ConcurrentResult,
    long: LargePayloadResult,
}

/// Many hooks in sequence, without a worker.
#[derive(Debug, Serialize)]
struct SequentialResult {
    hooks: usize,
    first_100: SampleSummary,
    last_100: SampleSummary,
    wall_ratio: f64,
    cpu_ratio: f64,
    log_bytes_max: u64,
}

/// Throughput of many parallel hooks.
#[derive(Debug, Serialize)]
struct ConcurrentResult {
    processes: usize,
    hooks_per_second: f64,
    true_per_second: f64,
    ratio: f64,
}

/// Time and memory of a hook with a very large payload.
#[derive(Debug, Serialize)]
struct LargePayloadResult {
    payload_bytes: usize,
    wall_ms: f64,
    peak_bytes: u64,
    memory_ratio: f64,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let home = tempfile::tempdir()?;
    let mut lines = Vec::new();
    for &size in &args.sizes {
        let bench = HookBench::new(&args.exe, &args.cache, home.path(), size)?;
        lines.extend(bench.measure_cases(args.starts)?);
        lines.extend(bench.measure_agents(args.starts)?);
        if size > 0 {
            let (exe, truth) = (&bench.exe, &bench.truth);
            let remembered = memories::RecallFixture::new(exe, truth, &args.cache, size)?;
            lines.extend(remembered.measure(args.starts)?);
        }
    }
    let empty_store = |exe| HookBench::new(exe, &args.cache, home.path(), 0);
    let comparisons = match &args.before {
        Some(before) => empty_store(before)?.compare_with(&empty_store(&args.exe)?, args.starts)?,
        None => Vec::new(),
    };
    let empty = empty_store(&args.exe)?;
    let report = HookBenchReport {
        lines,
        comparisons,
        in_a_row: empty.measure_sequential()?,
        at_once: empty.measure_concurrent()?,
        long: empty.measure_large_payload()?,
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        report.print();
    }
    Ok(())
}

/// One data directory and the programs that are measured with it.
struct HookBench {
    exe: PathBuf,
    data: PathBuf,
    home: PathBuf,
    observations: usize,
    truth: MeasuredProgram,
}

/// A hook event in a certain situation.
struct HookCase {
    name: &'static str,
    event: &'static str,
    variable: Option<&'static str>,
    worker: bool,
}

const CASES: [HookCase; 9] = [
    case("disabled", "PostToolUse", Some("CLAUDE_MEM_DISABLED"), false),
    case("PostToolUse", "PostToolUse", None, false),
    case("PostToolUse, worker", "PostToolUse", None, true),
    case("PreToolUse", "PreToolUse", None, false),
    case("UserPromptSubmit", "UserPromptSubmit", None, false),
    case("SessionStart", "SessionStart", None, false),
    case("Stop", "Stop", None, false),
    case("SubagentStop", "SubagentStop", None, false),
    case("SessionEnd", "SessionEnd", None, false),
];

const fn case(
    name: &'static str,
    event: &'static str,
    variable: Option<&'static str>,
    worker: bool,
) -> HookCase {
    HookCase { name, event, variable, worker }
}

impl HookBench {
    fn new(exe: &Path, cache: &Path, home: &Path, observations: usize) -> anyhow::Result<Self> {
        let name = format!("data-{observations}-{}", std::fs::read_dir(home)?.count());
        let data = home.join(name);
        std::fs::create_dir(&data)?;
        if observations > 0 {
            let made = corpus::database(cache, observations)?;
            std::fs::copy(made, data.join("claude-mem.db"))?;
        }
        let truth = ["/bin/true", "/usr/bin/true"].map(PathBuf::from);
        let truth = truth.into_iter().find(|path| path.exists());
        let bench = Self {
            exe: exe.canonicalize().context("no such executable")?,
            data,
            home: home.to_owned(),
            observations,
            truth: MeasuredProgram {
                exe: truth.context("there is no /bin/true")?,
                args: Vec::new(),
                env: Vec::new(),
            },
        };
        // The first hook creates the data directory, which is not measured.
        bench.hook(&CASES[1]).measure(&payload("PostToolUse", "warm-up"))?;
        Ok(bench)
    }

    fn hook(&self, case: &HookCase) -> MeasuredProgram {
        self.hook_of_agent("claude-code", case.event, case.variable)
    }

    fn hook_of_agent(&self, agent: &str, event: &str, variable: Option<&str>) -> MeasuredProgram {
        let text = |path: &Path| path.to_string_lossy().into_owned();
        let mut env = vec![
            ("HOME".to_owned(), text(&self.home)),
            ("PATH".to_owned(), "/usr/bin:/bin".to_owned()),
            ("CLAUDE_MEM_DATA_DIR".to_owned(), text(&self.data)),
            // A worker started by a hook would outlive and disturb the measurement.
            ("CLAUDE_MEM_WORKER".to_owned(), "manual".to_owned()),
            ("CLAUDE_PROJECT_DIR".to_owned(), text(&self.home)),
        ];
        env.extend(variable.map(|name| (name.to_owned(), "1".to_owned())));
        MeasuredProgram {
            exe: self.exe.clone(),
            args: ["hook", agent, event].map(str::to_owned).to_vec(),
            env,
        }
    }

    fn measure_cases(&self, starts: usize) -> anyhow::Result<Vec<HookTiming>> {
        let programs: Vec<_> = CASES.iter().map(|case| (case, self.hook(case))).collect();
        let mut shots = vec![Vec::with_capacity(starts); CASES.len() + 1];
        for round in 0..starts {
            shots[0].push(self.truth.measure(b"")?);
            for (index, (case, program)) in programs.iter().enumerate() {
                let input = payload(case.event, &format!("{}-{round}", case.name));
                let worker = case.worker.then(|| self.hold_open()).transpose()?;
                shots[index + 1].push(program.measure(&input)?);
                drop(worker);
            }
        }
        let names = std::iter::once("/bin/true").chain(CASES.iter().map(|case| case.name));
        Ok(self.compare(&names.map(str::to_owned).collect::<Vec<_>>(), &shots))
    }

    /// Runs the cases of this executable and of a later one alternately, so that background load affects both. Cases
    /// with a worker are left out: our store would migrate the database of the earlier executable.
    fn compare_with(&self, after: &Self, starts: usize) -> anyhow::Result<Vec<HookComparison>> {
        let cases: Vec<&HookCase> = CASES.iter().filter(|case| !case.worker).collect();
        let mut samples = vec![(Vec::with_capacity(starts), Vec::with_capacity(starts)); cases.len()];
        for round in 0..starts {
            for (case, (earlier, later)) in cases.iter().zip(&mut samples) {
                let input = payload(case.event, &format!("{}-{round}", case.name));
                earlier.push(self.hook(case).measure(&input)?);
                later.push(after.hook(case).measure(&input)?);
            }
        }
        let compared = cases.iter().zip(&samples);
        Ok(compared.map(|(case, (earlier, later))| HookComparison::new(case.name, earlier, later)).collect())
    }

    /// The hooks of the other agents, each with payloads of its own form.
    fn measure_agents(&self, starts: usize) -> anyhow::Result<Vec<HookTiming>> {
        let payloads = AgentPayloads::new(&self.data, source_text())?;
        let programs = AGENT_CASES.map(|(agent, event)| self.hook_of_agent(agent, event, None));
        let mut shots = vec![Vec::with_capacity(starts); AGENT_CASES.len() + 1];
        for round in 0..starts {
            shots[0].push(self.truth.measure(b"")?);
            for (index, ((agent, event), program)) in AGENT_CASES.iter().zip(&programs).enumerate() {
                let input = payloads.payload(agent, event, &format!("{event}-{round}"))?;
                shots[index + 1].push(program.measure(&input)?);
            }
        }
        let cases = AGENT_CASES.iter().map(|(agent, event)| format!("{agent} {event}"));
        Ok(self.compare(&std::iter::once("/bin/true".to_owned()).chain(cases).collect::<Vec<_>>(), &shots))
    }

    /// The summaries of the cases, compared with the first, which is `/bin/true`.
    fn compare(&self, names: &[String], shots: &[Vec<ProcessSample>]) -> Vec<HookTiming> {
        let summaries: Vec<SampleSummary> =
            shots.iter().map(|shots| SampleSummary::from_samples(shots)).collect();
        let line = |(name, summary): (&String, &SampleSummary)| {
            HookTiming::new(name.clone(), self.observations, *summary, summaries[0])
        };
        names.iter().zip(&summaries).map(line).collect()
    }

    /// Keeps the database open and its log mapped, as a running worker does.
    fn hold_open(&self) -> anyhow::Result<claude_mem_store::Store> {
        let store = claude_mem_store::Store::open(&self.data.join("claude-mem.db"))?;
        store.read().counts()?;
        Ok(store)
    }

    fn measure_sequential(&self) -> anyhow::Result<SequentialResult> {
        let program = self.hook(&CASES[1]);
        let mut shots = Vec::with_capacity(IN_A_ROW);
        let mut log_bytes_max = 0;
        for n in 0..IN_A_ROW {
            shots.push(program.measure(&payload("PostToolUse", &format!("row-{n}")))?);
            let log = std::fs::metadata(self.data.join("claude-mem.db-wal"));
            log_bytes_max = log_bytes_max.max(log.map_or(0, |log| log.len()));
        }
        let first_100 = SampleSummary::from_samples(&shots[..100]);
        let last_100 = SampleSummary::from_samples(&shots[IN_A_ROW - 100..]);
        Ok(SequentialResult {
            hooks: IN_A_ROW,
            wall_ratio: last_100.wall_p50_us / first_100.wall_p50_us,
            cpu_ratio: last_100.cpu_p50_us / first_100.cpu_p50_us,
            first_100,
            last_100,
            log_bytes_max,
        })
    }

    fn measure_concurrent(&self) -> anyhow::Result<ConcurrentResult> {
        let hook = self.hook(&CASES[1]);
        let hooks = starts_per_second(&hook, |n| payload("PostToolUse", &format!("once-{n}")))?;
        let truths = starts_per_second(&self.truth, |_| Vec::new())?;
        Ok(ConcurrentResult {
            processes: AT_ONCE,
            hooks_per_second: hooks,
            true_per_second: truths,
            ratio: hooks / truths,
        })
    }

    fn measure_large_payload(&self) -> anyhow::Result<LargePayloadResult> {
        let text = SOURCE.repeat(LONG_BYTES / SOURCE.len());
        let input = json!({
            "session_id": "bench", "hook_event_name": "PostToolUse", "tool_name": "Read",
            "tool_use_id": "long", "tool_input": {"file_path": "/x"},
            "tool_response": {"file": {"content": text}},
        });
        let input = input.to_string().into_bytes();
        let program = self.hook(&CASES[1]);
        let mut shots = (0..5).map(|_| program.measure_large_input(&input)).collect::<Result<Vec<_>, _>>()?;
        shots.sort_unstable_by_key(|shot| shot.wall);
        let peak_bytes = shots.iter().map(|shot| shot.peak_bytes).max().unwrap_or_default();
        Ok(LargePayloadResult {
            payload_bytes: input.len(),
            wall_ms: shots[2].wall.as_secs_f64() * 1e3,
            peak_bytes,
            memory_ratio: peak_bytes as f64 / input.len() as f64,
        })
    }
}

/// Starts per second with many parallel processes.
fn starts_per_second(
    program: &MeasuredProgram,
    input: impl Fn(usize) -> Vec<u8> + Sync,
) -> anyhow::Result<f64> {
    let start = Instant::now();
    let failed = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..AT_ONCE)
            .map(|thread| {
                let input = &input;
                scope.spawn(move || {
                    (0..AT_ONCE_EACH)
                        .filter(|n| program.measure(&input(thread * AT_ONCE_EACH + n)).is_err())
                        .count()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap_or(AT_ONCE_EACH)).sum::<usize>()
    });
    ensure!(failed == 0, "{failed} of {} starts failed", AT_ONCE * AT_ONCE_EACH);
    let took = start.elapsed().max(Duration::from_micros(1));
    Ok((AT_ONCE * AT_ONCE_EACH) as f64 / took.as_secs_f64())
}

/// The text that a tool returns.
fn source_text() -> &'static str {
    &SOURCE[..SOURCE.floor_char_boundary(SOURCE_BYTES)]
}

/// A payload as the client would send it, different each time, so that none is a duplicate.
fn payload(event: &str, id: &str) -> Vec<u8> {
    let text = source_text();
    // A disabled session stays disabled, so the other cases must use another one.
    let session = if id.starts_with(CASES[0].name) { "off" } else { "on" };
    let mut payload = json!({
        "session_id": session, "transcript_path": "/nowhere.jsonl", "cwd": "/tmp",
        "hook_event_name": event, "prompt_id": id,
    });
    let more = match event {
        "PostToolUse" | "PreToolUse" => json!({
            "tool_name": "Read", "tool_use_id": id, "tool_input": {"file_path": "/tmp/keys.rs"},
            "tool_response": {"type": "text", "file": {"filePath": "/tmp/keys.rs", "content": text}},
        }),
        "UserPromptSubmit" => json!({"prompt": "why does the token check fail for an api key?"}),
        "Stop" | "SubagentStop" => json!({"last_assistant_message": "All done.", "agent_id": id}),
        "SessionStart" => json!({"source": "startup"}),
        _ => json!({"reason": "other"}),
    };
    if let (Some(payload), Some(more)) = (payload.as_object_mut(), more.as_object()) {
        payload.extend(more.clone());
    }
    payload.to_string().into_bytes()
}

impl HookBenchReport {
    fn print(&self) {
        println!(
            "{:>12}  {:<36} {:>9} {:>9} {:>9} {:>7} {:>9} {:>7}",
            "observations", "", "wall p50", "p99", "min", "×true", "CPU p50", "×true"
        );
        for line in &self.lines {
            let summary = line.summary;
            println!(
                "{:>12}  {:<36} {:>6.0} µs {:>6.0} µs {:>6.0} µs {:>7.2} {:>6.0} µs {:>7.2}",
                line.observations,
                line.case,
                summary.wall_p50_us,
                summary.wall_p99_us,
                summary.wall_min_us,
                line.wall_ratio,
                summary.cpu_p50_us,
                line.cpu_ratio
            );
        }
        comparison::print(&self.comparisons);
        let row = &self.in_a_row;
        println!(
            "{} hooks without a worker: the last 100 take {:.2} × the first 100, {:.2} × their CPU; \
             log at most {} KB",
            row.hooks,
            row.wall_ratio,
            row.cpu_ratio,
            row.log_bytes_max >> 10
        );
        let once = &self.at_once;
        println!(
            "{} at once: {:.0} hooks/s, {:.0} /bin/true/s, {:.2}",
            once.processes, once.hooks_per_second, once.true_per_second, once.ratio
        );
        let long = &self.long;
        println!(
            "{} MB payload: {:.0} ms, {} MB, {:.1} × the payload",
            long.payload_bytes >> 20,
            long.wall_ms,
            long.peak_bytes >> 20,
            long.memory_ratio
        );
    }
}
