//! `cargo xtask engines`: runs the viewer in every browser engine, not only in Chromium.
//!
//! Not part of `cargo xtask test`: two more browsers are large downloads, and engine-specific bugs are
//! rare. Run it when the viewer has changed.

use std::path::PathBuf;

use crate::cargo;
use crate::test::{browser, needs};

/// Test the viewer in Firefox, in WebKit (the engine of Safari) and in Chromium
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Run only this engine: `firefox`, `webkit` or `chromium`
    engine: Option<String>,
    /// Number of observations in the database
    #[arg(long, default_value_t = 500)]
    observations: usize,
    /// Use this executable instead of building one; timings of a debug build mean little
    #[arg(long)]
    exe: Option<PathBuf>,
    /// Directory that caches generated databases; the one of `bench` works as well
    #[arg(long)]
    cache: Option<PathBuf>,
}

const PACKAGES: [(&str, &str); 3] =
    [("firefox-esr", "firefox-esr"), ("WebKitWebDriver", "webkit2gtk-driver"), ("xvfb-run", "xvfb")];

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    needs::ensure(PACKAGES)?;
    let stage = browser::BrowserHarness::new()?;
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
