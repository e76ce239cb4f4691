//! Runs the browser tests: the scripts of `tests/browser` drive the viewer in Debian's chromium.
//!
//! Every test file has its own home, worker and browser; screenshots go below the target directory.
//! If a prerequisite cannot be installed, the stage is skipped with the reason.

use std::path::{Path, PathBuf};

use super::StageOutcome;
use super::needs::find;
use super::scripts::NodeScripts;
use crate::cargo;

/// The browser scripts and the browser that runs them.
pub(crate) struct BrowserHarness {
    scripts: NodeScripts,
    browser: PathBuf,
    out: PathBuf,
}

impl BrowserHarness {
    /// Prepares the scripts; an error names a missing prerequisite.
    pub(crate) fn new() -> anyhow::Result<Self> {
        let Some(browser) = find("chromium") else {
            anyhow::bail!("chromium is not installed");
        };
        Ok(Self {
            scripts: NodeScripts::prepare("tests/browser")?,
            browser,
            out: cargo::target_dir()?.join("browser"),
        })
    }

    /// Runs one script that is not a test.
    pub(crate) fn run(&self, script: &str, args: &[&str], exe: &Path, bench: &Path) -> anyhow::Result<()> {
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

pub(super) fn run_all() -> anyhow::Result<StageOutcome> {
    let stage = match BrowserHarness::new() {
        Ok(stage) => stage,
        Err(missing) => return Ok(StageOutcome::Skipped(format!("{missing:#}"))),
    };
    cargo::build_debug()?;
    let built = cargo::target_dir()?.join("debug");
    let (exe, bench) = (built.join("claude-mem"), built.join("claude-mem-bench"));
    stage.scripts.run_all(&stage.env(&exe, &bench))?;
    println!("screenshots: {}", stage.out.display());
    Ok(StageOutcome::Passed)
}
