//! The viewer in Debian's chromium, driven by the scripts of `tests/browser`.
//!
//! Every file of tests has a home, a worker and a browser of its own; pictures of what they saw
//! are kept below the target directory. What a machine without a network cannot have is a reason
//! to skip, and said.

use std::path::{Path, PathBuf};

use super::Outcome;
use super::needs::find;
use super::scripts::Scripts;
use crate::cargo;

/// The scripts, and a browser for them.
pub(crate) struct Stage {
    scripts: Scripts,
    browser: PathBuf,
    out: PathBuf,
}

impl Stage {
    /// An error is something that cannot be had here.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let Some(browser) = find("chromium") else {
            anyhow::bail!("chromium is not installed, and cannot be had here");
        };
        Ok(Self {
            scripts: Scripts::of("tests/browser")?,
            browser,
            out: cargo::target_dir()?.join("browser"),
        })
    }

    /// Runs one script that is no test.
    pub(crate) fn run(
        &self,
        script: &str,
        args: &[&str],
        exe: &Path,
        bench: &Path,
    ) -> anyhow::Result<()> {
        self.scripts.run(script, args, &self.env(exe, bench))
    }

    fn env<'a>(&'a self, exe: &'a Path, bench: &'a Path) -> [(&'static str, &'a Path); 4] {
        [
            ("CLAUDE_MEM_TEST_EXE", exe),
            ("CLAUDE_MEM_TEST_BENCH", bench),
            ("CLAUDE_MEM_TEST_BROWSER", &self.browser),
            ("CLAUDE_MEM_TEST_OUT", &self.out),
        ]
    }
}

pub(super) fn run_all() -> anyhow::Result<Outcome> {
    let stage = match Stage::new() {
        Ok(stage) => stage,
        Err(missing) => return Ok(Outcome::Skipped(format!("{missing:#}"))),
    };
    cargo::build_debug()?;
    let built = cargo::target_dir()?.join("debug");
    let (exe, bench) = (built.join("claude-mem"), built.join("claude-mem-bench"));
    stage.scripts.run_all(&stage.env(&exe, &bench))?;
    println!("pictures: {}", stage.out.display());
    Ok(Outcome::Passed)
}
