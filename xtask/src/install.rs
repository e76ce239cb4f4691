//! `cargo xtask install`: builds the executable from a checkout, installs it and runs its setup.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::Context as _;

use crate::cargo;

/// Build the program, install it into ~/.local/bin and set it up
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Install into DIR/bin instead
    #[arg(long, value_name = "DIR")]
    prefix: Option<PathBuf>,
    /// Also build and install claude-mem-team, the server of a team
    #[arg(long)]
    team: bool,
    /// Arguments for `claude-mem install`
    #[arg(last = true)]
    rest: Vec<String>,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let bin = match &args.prefix {
        Some(prefix) => std::path::absolute(prefix)?,
        None => home()?.join(".local"),
    }
    .join("bin");
    println!("building claude-mem; the first build takes a few minutes");
    let built = cargo::build_dist()?;
    let installed = install_executable(&built, &bin)?;
    println!("installed {}", installed.display());
    if args.team {
        println!("installed {}", install_executable(&cargo::build_dist_team()?, &bin)?.display());
    }
    cargo::run(Command::new(&installed).arg("install").args(&args.rest))?;
    if !on_path(&bin) {
        println!("{} is not on your PATH; add it to use the claude-mem command", bin.display());
    }
    Ok(())
}

/// Copies to a temporary name and renames. A running process keeps its old file, and a hook that
/// starts meanwhile finds either the old or the new executable, complete.
fn install_executable(built: &Path, bin: &Path) -> anyhow::Result<PathBuf> {
    let name = built.file_name().context("the executable has no name")?;
    let installed = bin.join(name);
    let partial = bin.join(format!(".claude-mem.{}.partial", std::process::id()));
    let put = || {
        std::fs::create_dir_all(bin)?;
        std::fs::copy(built, &partial)?;
        std::fs::File::open(&partial)?.sync_all()?;
        std::fs::rename(&partial, &installed)
    };
    put()
        .inspect_err(|_| drop(std::fs::remove_file(&partial)))
        .with_context(|| format!("cannot install {}", installed.display()))?;
    Ok(installed)
}

fn home() -> anyhow::Result<PathBuf> {
    std::env::home_dir().context("no home directory found; use --prefix")
}

fn on_path(bin: &Path) -> bool {
    std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|dir| dir == bin))
}
