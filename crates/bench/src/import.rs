//! Measures the speed and memory use of importing old transcripts.
//!
//! A deterministic tree of synthetic transcripts is read twice: by one thread that only
//! reads and redacts, and by the whole import, which distils, stores and indexes.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use claude_mem_capture::settings::HookSettings;
use claude_mem_capture::transcript;
use claude_mem_capture::transcript::{EventSink, ReadPosition, ReadRules};
use claude_mem_core::clock::Millis;
use claude_mem_core::config::Settings;
use claude_mem_core::event::{Event, EventKey};
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_store::Store;
use claude_mem_transfer::import::transcripts;
use claude_mem_transfer::import::transcripts::TranscriptImportRequest;
use claude_mem_transfer::import::{ImportContext, NoProgress};
use serde::Serialize;

use crate::{tree, usage};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Total size of the transcripts in megabytes
    #[arg(long, default_value_t = 200)]
    megabytes: u64,
    /// Average size of one transcript in kilobytes
    #[arg(long, default_value_t = 400)]
    session_kilobytes: u64,
    /// Write the transcripts to this folder and keep them
    #[arg(long, value_name = "DIR")]
    tree: Option<std::path::PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct ImportBenchReport {
    megabytes: f64,
    sessions: u64,
    /// One thread that reads, redacts and keys events, and stores none.
    read_mb_per_cpu_second: f64,
    read_mb_per_second: f64,
    /// The whole import.
    import_seconds: f64,
    import_cpu_seconds: f64,
    import_mb_per_second: f64,
    import_mb_per_cpu_second: f64,
    sessions_per_cpu_second: f64,
    events: u64,
    events_per_second: f64,
    sessions_per_second: f64,
    observations: u64,
    peak_mb: f64,
}

const NOW: Millis = Millis(1_900_000_000_000);

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let dir = tempfile::tempdir()?;
    let tree = args.tree.clone();
    let tree = tree.unwrap_or_else(|| dir.path().join("projects"));
    let (bytes, sessions) = tree::write_tree(&tree, args.megabytes, args.session_kilobytes)?;
    let megabytes = bytes as f64 / 1e6;
    let (cpu, started) = (usage::cpu_time(), Instant::now());
    let events_read = count_events(&tree)?;
    let read_wall = started.elapsed().as_secs_f64();
    let read_cpu = usage::cpu_time().saturating_sub(cpu).as_secs_f64();

    let data = DataDir::new(dir.path().join("data"));
    data.create()?;
    let mut store = Store::open(&data.db())?;
    let settings = HookSettings::from_settings(Settings::default(), false);
    let trust = claude_mem_transfer::import::SourceTrust::Own;
    let around = ImportContext { settings: &settings, home: "/home/user", client_dir: dir.path(), trust };
    let wanted = TranscriptImportRequest {
        agent: &claude_mem_core::agents::CLAUDE_CODE,
        path: tree,
        since: None,
        project: None,
        data: &data,
        vocabulary: &Vocabulary::default(),
        now: NOW,
    };
    let (cpu, started) = (usage::cpu_time(), Instant::now());
    let (_, learnt) = transcripts::run(&mut store, around, &wanted, &mut NoProgress)?;
    let wall = started.elapsed().as_secs_f64();
    let import_cpu = usage::cpu_time().saturating_sub(cpu).as_secs_f64();
    anyhow::ensure!(learnt.events == events_read, "{} events of {events_read}", learnt.events);
    let report = ImportBenchReport {
        megabytes,
        sessions,
        read_mb_per_cpu_second: megabytes / read_cpu,
        read_mb_per_second: megabytes / read_wall,
        import_seconds: wall,
        import_cpu_seconds: import_cpu,
        import_mb_per_second: megabytes / wall,
        import_mb_per_cpu_second: megabytes / import_cpu,
        sessions_per_cpu_second: sessions as f64 / import_cpu,
        events: learnt.events,
        events_per_second: learnt.events as f64 / wall,
        sessions_per_second: sessions as f64 / wall,
        observations: learnt.observations,
        peak_mb: usage::resident_mb()?.0,
    };
    if args.json {
        println!("{}", serde_json::to_string_pretty(&report)?);
    } else {
        print(&report);
    }
    Ok(())
}

fn print(report: &ImportBenchReport) {
    println!(
        "{:.0} MB of transcripts, {} sessions, {} events",
        report.megabytes, report.sessions, report.events
    );
    println!(
        "read       one thread reads lines, redacts and keys events, and stores nothing:\n           \
         {:.0} MB/s, {:.0} MB per CPU second",
        report.read_mb_per_second, report.read_mb_per_cpu_second
    );
    println!(
        "imported   distilled, stored and in the full-text index, without vectors:\n           \
         {:.0} MB/s, {:.0} sessions/s, {:.0} events/s by the clock ({:.1} s)\n           \
         {:.0} MB, {:.0} sessions per CPU second ({:.1} s)",
        report.import_mb_per_second,
        report.sessions_per_second,
        report.events_per_second,
        report.import_seconds,
        report.import_mb_per_cpu_second,
        report.sessions_per_cpu_second,
        report.import_cpu_seconds
    );
    println!("{} memories, {:.0} MB peak resident memory", report.observations, report.peak_mb);
}

/// A sink that counts events and stores none.
struct CountingSink(u64);

impl EventSink for CountingSink {
    fn is_known(&mut self, _key: EventKey) -> bool {
        false
    }

    fn push(&mut self, _key: EventKey, _event: Event) {
        self.0 += 1;
    }
}

fn count_events(tree: &Path) -> anyhow::Result<u64> {
    let settings = HookSettings::from_settings(Settings::default(), false);
    let mut count = CountingSink(0);
    for folder in std::fs::read_dir(tree)? {
        for file in std::fs::read_dir(folder?.path())? {
            let path = file?.path();
            let session = path.file_stem().context("a name")?.to_string_lossy().into_owned();
            let rules = ReadRules {
                client: "claude-code",
                session: &session,
                settings: &settings,
                home: "/home/user",
                project: None,
                path: "",
                agent: None,
                since: None,
                is_muted: &|_| false,
                ended: true,
                translate: None,
            };
            transcript::read_transcript(&path, ReadPosition::default(), &rules, &mut count)?;
        }
    }
    Ok(count.0)
}
