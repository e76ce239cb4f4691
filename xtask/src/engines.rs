//! `cargo xtask engines`: the viewer in every engine, not only in the one of the tests.
//!
//! Not among the tests that `cargo xtask test` runs: two more browsers are large, and what is
//! particular to one of them breaks seldom. Run it when the viewer has changed.

use std::path::PathBuf;

use crate::cargo;
use crate::test::{browser, needs};

/// Try the viewer out in Firefox, in WebKit, which Safari is made of, and in Chromium
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this one: `firefox`, `webkit` or `chromium`
    engine: Option<String>,
    /// Observations that are there
    #[arg(long, default_value_t = 500)]
    observations: usize,
    /// This executable instead of one that is built; times of a debug build say little
    #[arg(long)]
    exe: Option<PathBuf>,
    /// Where histories are kept between runs; that of `bench` does as well
    #[arg(long)]
    cache: Option<PathBuf>,
}

const PACKAGES: [(&str, &str); 3] = [
    ("firefox-esr", "firefox-esr"),
    ("WebKitWebDriver", "webkit2gtk-driver"),
    ("xvfb-run", "xvfb"),
];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    needs::ensure(PACKAGES)?;
    let stage = browser::Stage::new()?;
    cargo::build_debug()?;
    let built = cargo::target_dir()?.join("debug");
    let exe = match &args.exe {
        Some(exe) => exe.canonicalize()?,
        None => built.join("claude-mem"),
    };
    let rows = args.observations.to_string();
    let cache = match &args.cache {
        Some(cache) => cache.canonicalize()?.display().to_string(),
        None => String::new(),
    };
    let mut given = vec![rows.as_str(), cache.as_str()];
    given.extend(args.engine.as_deref());
    stage.run("engines.js", &given, &exe, &built.join("claude-mem-bench"))
}
