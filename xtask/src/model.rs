//! Makes the weights file of `crates/embed` from the published model.

/// What `cargo xtask model` can be told.
#[derive(Debug, clap::Args)]
pub(crate) struct Args {}

pub(crate) fn run(_args: &Args) -> anyhow::Result<()> {
    anyhow::bail!("the converter is not written yet")
}
