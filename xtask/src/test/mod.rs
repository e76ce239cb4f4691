//! `cargo xtask test`: everything that must hold, in one command, on a fresh machine.
//!
//! Stages run one after the other and each says how long it took. A stage that fails does not
//! hide the next one; one that cannot run here says why. The last line is the verdict.

pub(crate) mod browser;
pub(crate) mod needs;
mod scripts;
mod stages;

use std::time::{Duration, Instant};

use anyhow::bail;

use stages::{STAGES, Stage};

/// Run every check and test, installing first what they need
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run only this stage; may be given several times
    #[arg(long, value_name = "STAGE")]
    only: Vec<String>,
    /// Leave this stage out; may be given several times
    #[arg(long, value_name = "STAGE")]
    skip: Vec<String>,
    /// Name the stages and run none
    #[arg(long)]
    list: bool,
}

/// How a stage ended that did not fail.
#[derive(Debug)]
enum Outcome {
    Passed,
    /// It cannot run on this machine, for this reason.
    Skipped(String),
}

#[derive(Debug)]
struct Report {
    stage: &'static Stage,
    result: anyhow::Result<Outcome>,
    took: Duration,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let chosen = chosen(args)?;
    if args.list {
        for stage in chosen {
            println!("{:10} {}", stage.name, stage.about);
        }
        return Ok(());
    }
    let began = Instant::now();
    let reports: Vec<Report> = chosen.into_iter().map(play).collect();
    if !close(&reports, began.elapsed()) {
        // The closing line has said it; an error on top would only bury it.
        std::process::exit(1);
    }
    Ok(())
}

fn chosen(args: &Args) -> anyhow::Result<Vec<&'static Stage>> {
    for name in args.only.iter().chain(&args.skip) {
        if STAGES.iter().all(|stage| stage.name != name) {
            bail!("there is no stage {name}; `cargo xtask test --list` names them");
        }
    }
    let wanted = |stage: &&Stage| {
        let is = |name: &String| name == stage.name;
        (args.only.is_empty() || args.only.iter().any(is)) && !args.skip.iter().any(is)
    };
    Ok(STAGES.iter().filter(wanted).collect())
}

fn play(stage: &'static Stage) -> Report {
    println!("\n=== {}: {}", stage.name, stage.about);
    let began = Instant::now();
    let result = (stage.run)();
    let took = began.elapsed();
    let seconds = took.as_secs_f64();
    match &result {
        Ok(Outcome::Passed) => println!("=== {} passed in {seconds:.1} s", stage.name),
        Ok(Outcome::Skipped(why)) => println!("=== {} skipped: {why}", stage.name),
        Err(error) => println!("=== {} FAILED in {seconds:.1} s: {error:#}", stage.name),
    }
    Report {
        stage,
        result,
        took,
    }
}

/// Prints the verdict. True if nothing failed.
fn close(reports: &[Report], took: Duration) -> bool {
    println!();
    for report in reports {
        let verdict = match &report.result {
            Ok(Outcome::Passed) => "passed".to_owned(),
            Ok(Outcome::Skipped(why)) => format!("skipped: {why}"),
            Err(error) => format!("FAILED: {error:#}"),
        };
        let (name, seconds) = (report.stage.name, report.took.as_secs_f64());
        println!("{name:10} {seconds:7.1} s  {verdict}");
    }
    let count = |test: fn(&Report) -> bool| reports.iter().filter(|r| test(r)).count();
    let failed = count(|report| report.result.is_err());
    let skipped = count(|report| matches!(report.result, Ok(Outcome::Skipped(_))));
    let passed = reports.len() - failed - skipped;
    let seconds = took.as_secs();
    println!("stages: {passed} passed, {skipped} skipped, {failed} failed in {seconds} s");
    failed == 0
}
