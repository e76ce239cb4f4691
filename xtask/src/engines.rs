//! `cargo xtask engines`: the viewer in the engines that are not Chromium.
//!
//! Not among the tests that `cargo xtask test` runs: the two browsers are large, and what is
//! particular to one of them breaks seldom. Run it when the viewer has changed.

use crate::cargo;
use crate::test::{browser, needs};

/// Try the viewer out in Firefox and in WebKit, which Safari is made of
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Only this one: `firefox` or `webkit`
    engine: Option<String>,
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
    let engine: Vec<&str> = args.engine.iter().map(String::as_str).collect();
    stage.run(
        "engines.js",
        &engine,
        &built.join("claude-mem"),
        &built.join("claude-mem-bench"),
    )
}
