//! `cargo xtask test`: every check and test, in one command, on a fresh machine.
//!
//! Each [`TestStage`] runs after the other and becomes a [`StageReport`] with its duration. A failed stage
//! does not stop the next one; a stage that cannot run on this machine says why. The last line is the verdict.

pub(crate) mod browser;
mod claims;
mod doc_references;
mod layers;
mod modules;
pub(crate) mod needs;
mod rust_source;
mod scripts;
mod stages;
mod threat_model;

use std::time::{Duration, Instant};

use anyhow::bail;

use stages::{STAGES, TestStage};

/// Install the prerequisites, then run every check and test
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run only this stage; may be given several times
    #[arg(long, value_name = "STAGE")]
    only: Vec<String>,
    /// Skip this stage; may be given several times
    #[arg(long, value_name = "STAGE")]
    skip: Vec<String>,
    /// List the stages without running them
    #[arg(long)]
    list: bool,
}

/// The result of a stage that did not fail.
#[derive(Debug)]
enum StageOutcome {
    Passed,
    /// The stage cannot run on this machine, with the reason.
    Skipped(String),
}

#[derive(Debug)]
struct StageReport {
    stage: &'static TestStage,
    result: anyhow::Result<StageOutcome>,
    took: Duration,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let chosen = select_stages(args)?;
    if args.list {
        for stage in chosen {
            println!("{:10} {}", stage.name, stage.about);
        }
        return Ok(());
    }
    let began = Instant::now();
    let reports: Vec<StageReport> = chosen.into_iter().map(run_stage).collect();
    if !print_verdict(&reports, began.elapsed()) {
        // The verdict is already printed; an error after it would bury it.
        std::process::exit(1);
    }
    Ok(())
}

fn select_stages(args: &Args) -> anyhow::Result<Vec<&'static TestStage>> {
    for name in args.only.iter().chain(&args.skip) {
        if STAGES.iter().all(|stage| stage.name != name) {
            bail!("there is no stage {name}; `cargo xtask test --list` lists them");
        }
    }
    let wanted = |stage: &&TestStage| {
        let is = |name: &String| name == stage.name;
        (args.only.is_empty() || args.only.iter().any(is)) && !args.skip.iter().any(is)
    };
    Ok(STAGES.iter().filter(wanted).collect())
}

fn run_stage(stage: &'static TestStage) -> StageReport {
    println!("\n=== {}: {}", stage.name, stage.about);
    let began = Instant::now();
    let result = (stage.run)();
    let took = began.elapsed();
    let seconds = took.as_secs_f64();
    match &result {
        Ok(StageOutcome::Passed) => println!("=== {} passed in {seconds:.1} s", stage.name),
        Ok(StageOutcome::Skipped(why)) => println!("=== {} skipped: {why}", stage.name),
        Err(error) => println!("=== {} FAILED in {seconds:.1} s: {error:#}", stage.name),
    }
    StageReport { stage, result, took }
}

/// Prints the verdict. Returns whether no stage failed.
fn print_verdict(reports: &[StageReport], took: Duration) -> bool {
    println!();
    for report in reports {
        let verdict = match &report.result {
            Ok(StageOutcome::Passed) => "passed".to_owned(),
            Ok(StageOutcome::Skipped(why)) => format!("skipped: {why}"),
            Err(error) => format!("FAILED: {error:#}"),
        };
        let (name, seconds) = (report.stage.name, report.took.as_secs_f64());
        println!("{name:10} {seconds:7.1} s  {verdict}");
    }
    let count = |test: fn(&StageReport) -> bool| reports.iter().filter(|r| test(r)).count();
    let failed = count(|report| report.result.is_err());
    let skipped = count(|report| matches!(report.result, Ok(StageOutcome::Skipped(_))));
    let passed = reports.len() - failed - skipped;
    let seconds = took.as_secs();
    println!("stages: {passed} passed, {skipped} skipped, {failed} failed in {seconds} s");
    failed == 0
}
