//! The viewer in Debian's chromium, driven by the scripts of `tests/browser`.
//!
//! Every file of tests has a home, a worker and a browser of its own; pictures of what they saw
//! are kept below the target directory. What a machine without a network cannot have is a reason
//! to skip, and said.

use super::Outcome;
use super::needs::find;
use super::scripts::Scripts;
use crate::cargo;

pub(super) fn run_all() -> anyhow::Result<Outcome> {
    let Some(browser) = find("chromium") else {
        let why = "chromium is not installed, and cannot be had here";
        return Ok(Outcome::Skipped(why.to_owned()));
    };
    let scripts = match Scripts::of("tests/browser") {
        Ok(scripts) => scripts,
        Err(missing) => return Ok(Outcome::Skipped(format!("{missing:#}"))),
    };
    cargo::build_debug()?;
    let target = cargo::target_dir()?;
    let (built, out) = (target.join("debug"), target.join("browser"));
    scripts.run_all(&[
        ("CLAUDE_MEM_TEST_EXE", &built.join("claude-mem")),
        ("CLAUDE_MEM_TEST_BENCH", &built.join("claude-mem-bench")),
        ("CLAUDE_MEM_TEST_BROWSER", &browser),
        ("CLAUDE_MEM_TEST_OUT", &out),
    ])?;
    println!("pictures: {}", out.display());
    Ok(Outcome::Passed)
}
