//! How fast old transcripts are taken in, and in how much memory.
//!
//! A tree of made-up transcripts, the same for everybody, is read twice: by one thread that only
//! reads and redacts, and by the whole import, which distils, stores and indexes.

use std::path::Path;
use std::time::Instant;

use anyhow::Context as _;
use claude_mem::clock::Millis;
use claude_mem::config::Settings;
use claude_mem::hook::event::{Event, EventKey};
use claude_mem::hook::settings::HookSettings;
use claude_mem::import::transcripts::{self, Wanted};
use claude_mem::import::{Around, Unwatched};
use claude_mem::paths::DataDir;
use claude_mem::store::Store;
use claude_mem::transcript::{self, Position, Rules, Sink};
use claude_mem::vocabulary::Vocabulary;
use serde::Serialize;

use crate::{tree, usage};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Size of the tree in megabytes
    #[arg(long, default_value_t = 200)]
    megabytes: u64,
    /// Size of one transcript in kilobytes, on average
    #[arg(long, default_value_t = 400)]
    session_kilobytes: u64,
    /// Leave the transcripts in this folder, for other programs to read
    #[arg(long, value_name = "DIR")]
    tree: Option<std::path::PathBuf>,
    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,
}

#[derive(Debug, Serialize)]
struct Report {
    megabytes: f64,
    sessions: u64,
    /// One thread that reads, redacts and keys events, and keeps none.
    read_mb_per_cpu_second: f64,
    read_mb_per_second: f64,
    /// All of it.
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
    let (bytes, sessions) = tree::plant(&tree, args.megabytes, args.session_kilobytes)?;
    let megabytes = bytes as f64 / 1e6;
    let (cpu, started) = (usage::cpu_time(), Instant::now());
    let events_read = read_only(&tree)?;
    let read_wall = started.elapsed().as_secs_f64();
    let read_cpu = usage::cpu_time().saturating_sub(cpu).as_secs_f64();

    let data = DataDir::new(dir.path().join("data"));
    data.create()?;
    let mut store = Store::open(&data.db())?;
    let settings = HookSettings::of(Settings::default(), false);
    let around = Around {
        settings: &settings,
        home: "/home/user",
        client_dir: dir.path(),
    };
    let wanted = Wanted {
        path: tree,
        since: None,
        project: None,
        data: &data,
        vocabulary: &Vocabulary::default(),
        now: NOW,
    };
    let (cpu, started) = (usage::cpu_time(), Instant::now());
    let (_, learnt) = transcripts::run(&mut store, around, &wanted, &mut Unwatched)?;
    let wall = started.elapsed().as_secs_f64();
    let import_cpu = usage::cpu_time().saturating_sub(cpu).as_secs_f64();
    anyhow::ensure!(
        learnt.events == events_read,
        "{} events of {events_read}",
        learnt.events
    );
    let report = Report {
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

fn print(report: &Report) {
    println!(
        "{:.0} MB of transcripts, {} sessions, {} events",
        report.megabytes, report.sessions, report.events
    );
    println!(
        "read       one thread reads lines, redacts and keys events, and keeps nothing:\n           \
         {:.0} MB/s, {:.0} MB per CPU second",
        report.read_mb_per_second, report.read_mb_per_cpu_second
    );
    println!(
        "imported   all of it, distilled, stored and in the full-text index, without vectors:\n           \
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
    println!(
        "{} memories, {:.0} MB resident at most",
        report.observations, report.peak_mb
    );
}

/// Counts, and keeps nothing.
struct Count(u64);

impl Sink for Count {
    fn knows(&mut self, _key: EventKey) -> bool {
        false
    }

    fn take(&mut self, _key: EventKey, _event: Event) {
        self.0 += 1;
    }
}

fn read_only(tree: &Path) -> anyhow::Result<u64> {
    let settings = HookSettings::of(Settings::default(), false);
    let mut count = Count(0);
    for folder in std::fs::read_dir(tree)? {
        for file in std::fs::read_dir(folder?.path())? {
            let path = file?.path();
            let session = path
                .file_stem()
                .context("a name")?
                .to_string_lossy()
                .into_owned();
            let rules = Rules {
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
            };
            transcript::read(&path, Position::default(), &rules, &mut count)?;
        }
    }
    Ok(count.0)
}
