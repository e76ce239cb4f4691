//! `claude-mem completions`: prints a shell completion script.

use super::app::App;
use crate::cli::output::Screen;

/// Print shell completions
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem completions bash > ~/.local/share/bash-completion/completions/claude-mem
  claude-mem completions zsh  > ~/.zfunc/_claude-mem
  claude-mem completions fish > ~/.config/fish/completions/claude-mem.fish")]
pub(super) struct Args {
    shell: clap_complete::Shell,
}

pub(super) fn run(args: &Args, _app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut super::command(), "claude-mem", &mut script);
    Ok(std::io::Write::write_all(screen, &script)?)
}
