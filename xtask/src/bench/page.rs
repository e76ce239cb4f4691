//! Load time of the viewer in a browser, served by the executable as it ships.

use std::path::{Path, PathBuf};

use anyhow::bail;

use crate::cargo;
use crate::test::browser;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Number of observations in the database
    #[arg(long, default_value_t = 100_000)]
    observations: usize,
    /// Use this executable instead of building one
    #[arg(long)]
    exe: Option<PathBuf>,
    /// Directory that caches generated databases; shared with the other benchmarks
    #[arg(long)]
    cache: Option<PathBuf>,
}

pub(super) fn run(args: &Args) -> anyhow::Result<()> {
    let stage = match browser::BrowserHarness::new() {
        Ok(stage) => stage,
        Err(missing) => bail!("{missing}"),
    };
    let exe = match &args.exe {
        Some(exe) => exe.canonicalize()?,
        None => cargo::build_dist()?,
    };
    cargo::run(cargo::cargo().args(["build", "--release", "--package", "claude-mem-bench"]))?;
    let bench = cargo::target_dir()?.join("release/claude-mem-bench");
    let rows = args.observations.to_string();
    let cache = match &args.cache {
        Some(cache) => cache.canonicalize()?.display().to_string(),
        None => String::new(),
    };
    stage.run("load.js", &[&rows, &cache], &exe, Path::new(&bench))
}
