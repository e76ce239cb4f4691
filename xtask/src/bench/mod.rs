//! Measurements. One file per thing measured; all of them prefer CPU time to the clock
//! on the wall, because a developer's machine does other things too.

mod embed;
mod usage;

#[derive(Debug, clap::Subcommand)]
pub(crate) enum Bench {
    /// The encoder: time per query, tokens per second, memory, distance to a reference
    Embed(embed::Args),
}

pub(crate) fn run(bench: &Bench) -> anyhow::Result<()> {
    match bench {
        Bench::Embed(args) => embed::run(args),
    }
}
