//! Measures shared memory: the shipped server on a real PostgreSQL, and members with the shipped client.
//!
//! Times depend on the machine, which is described, and are also given as ratios to a yardstick of the same run.

mod latency;
mod load;
mod machine;
mod memory;
mod service;
mod team_bench;

use std::path::PathBuf;

use team_bench::{TeamBench, TeamFigure};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The executable of members
    #[arg(long)]
    exe: PathBuf,
    /// The executable of the server
    #[arg(long)]
    team_exe: PathBuf,
    /// Records of the first join
    #[arg(long, default_value_t = 100_000)]
    records: u128,
    /// Members who wait for news
    #[arg(long, default_value_t = 50)]
    members: usize,
    /// Starts per hook
    #[arg(long, default_value_t = 200)]
    starts: usize,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let bench = TeamBench::start(&args.exe, &args.team_exe)?;
    println!("{}", describe_machine(&bench)?);
    let mut figures = memory::idle_server(&bench)?;
    figures.extend(load::pushes(&bench)?);
    figures.extend(latency::arrival(&bench, args.members)?);
    figures.extend(load::concurrent_pushes(&bench)?);
    figures.extend(load::first_join(&bench, args.records)?);
    figures.extend(memory::waiting_members(&bench)?);
    // The servers do not answer any more after this.
    figures.extend(latency::hooks_with_black_hole(&bench, args.starts)?);
    println!("\n{}\n", describe_machine(&bench)?);
    println!("| what | measured | ratio | to reach |\n|---|---|---|---|");
    for TeamFigure { what, measured, ratio, target } in figures {
        println!("| {what} | {measured} | {ratio} | {target} |");
    }
    Ok(())
}

/// Processor, load and versions.
fn describe_machine(bench: &TeamBench) -> anyhow::Result<String> {
    let cpu = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = cpu.lines().find_map(|line| line.strip_prefix("model name")?.split_once(": "));
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    Ok(format!(
        "{} cores ({}), load average {}, PostgreSQL {} with fsync, {} replicas on loopback without TLS",
        std::thread::available_parallelism()?,
        model.map_or("unknown", |(_, model)| model),
        load.split(' ').next().unwrap_or_default(),
        bench.cluster.major(),
        bench.replicas.len(),
    ))
}
