//! Prints the results of the HTTP benchmark.

use std::time::Duration;

use serde_json::Value;

use super::schedule::{Args, READS, RequestSchedule, lock};
use crate::spawn::{quantile, sorted};

const NOTES_MAX: usize = 5;

/// Cost of one kind of request without load.
pub(super) struct UnloadedCost {
    pub(super) took: Vec<Duration>,
    pub(super) cpu: Duration,
}

/// Prints the cost of each kind of request without load.
pub(super) fn print_unloaded(costs: &[UnloadedCost]) {
    println!("one at a time{:>23} {:>9}", "p50", "CPU");
    for (cost, (name, _)) in costs.iter().zip(&READS) {
        let took = sorted(cost.took.iter().copied());
        let cpu = cost.cpu.as_secs_f64() * 1e3 / took.len().max(1) as f64;
        let p50 = quantile(&took, 0.5) / 1e3;
        println!("{name:<26} {p50:>6.1} ms {cpu:>6.2} ms");
    }
    println!();
}

/// Results of the run under load.
pub(super) struct LoadResult<'a> {
    pub(super) reads: &'a RequestSchedule,
    pub(super) hooks: &'a RequestSchedule,
    pub(super) memory: &'a [f64],
    pub(super) cpu: Duration,
    pub(super) queue: &'a Value,
}

pub(super) fn print_load(args: &Args, run: &LoadResult<'_>) {
    println!(
        "{} s, {} requests/s and {} hooks/s, {} observations at the start",
        args.seconds, args.reads, args.hooks, args.observations
    );
    println!("{:<18} {:>7} {:>9} {:>9} {:>9}", "", "done", "p50", "p99", "max");
    let done = lock(&run.reads.done);
    for (index, (name, _)) in READS.iter().enumerate() {
        let of_it = done.iter().filter(|(n, _)| n % READS.len() == index);
        print_line(name, of_it.map(|(_, took)| *took));
    }
    print_line("all reads", done.iter().map(|(_, took)| *took));
    print_line("hooks", lock(&run.hooks.done).iter().map(|(_, took)| *took));
    for (what, series) in [("requests", run.reads), ("hooks", run.hooks)] {
        let failed = lock(&series.failed);
        println!("failed {what}: {} of {}", failed.len(), series.count);
        for why in failed.iter().take(NOTES_MAX) {
            println!("  {why}");
        }
    }
    println!(
        "the worker used {:.0} % of one core",
        run.cpu.as_secs_f64() * 100.0 / args.seconds.max(1) as f64
    );
    print_memory(run.memory);
    println!("queue afterwards: {}", run.queue);
}

fn print_memory(seen: &[f64]) {
    let at = |share: f64| seen.get((seen.len() as f64 * share) as usize);
    let mb = |at: Option<&f64>| at.map_or(f64::NAN, |mb| *mb);
    let most = seen.iter().copied().fold(0.0, f64::max);
    println!(
        "private memory of the worker: {:.0} MB early, {:.0} MB halfway, {:.0} MB at the end, {most:.0} MB at most",
        mb(at(0.1)),
        mb(at(0.5)),
        mb(seen.last())
    );
}

fn print_line(name: &str, took: impl Iterator<Item = Duration>) {
    let took = sorted(took);
    let ms = |share| quantile(&took, share) / 1e3;
    println!("{name:<18} {:>7} {:>6.1} ms {:>6.1} ms {:>6.1} ms", took.len(), ms(0.5), ms(0.99), ms(1.0));
}
