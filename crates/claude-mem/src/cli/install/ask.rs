//! Questions, for when somebody is there to answer them.

use std::io::IsTerminal as _;

use super::Setting;
use super::steps::Steps;
use crate::cli::words;
use crate::config::Settings;

/// Whether a person sits at the other end.
pub(crate) fn is_possible(json: bool) -> bool {
    !json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Enter means yes.
pub(super) fn yes(steps: &mut Steps<'_>, question: &str) -> anyhow::Result<bool> {
    let answer = steps.ask(&format!("{question} [Y/n]"))?;
    Ok(matches!(answer.as_str(), "" | "y" | "yes"))
}

/// Who is to write memories. Enter means: nobody, the local distiller.
pub(super) fn provider(settings: &Settings, steps: &mut Steps<'_>) -> anyhow::Result<String> {
    steps.tell("")?;
    steps.tell("Who should write the memories?")?;
    steps.tell("  1  local    no model: nothing leaves this machine, nothing is spent")?;
    steps
        .tell("  2  claude   your own Claude Code, with its small model: better sentences, and")?;
    steps.tell(&format!(
        "              tokens of your plan or key, at most {} per session and {} per day",
        words::grouped(settings.budget_tokens_per_session),
        words::grouped(settings.budget_tokens_per_day),
    ))?;
    steps.tell("Other models: `claude-mem config`. You can change your mind at any time.")?;
    let answer = steps.ask("Choose [1]")?;
    let name = match answer.as_str() {
        "2" | "claude" => "claude",
        _ => "local",
    };
    Ok(name.to_owned())
}

/// Offers to learn from what the client has written down of earlier sessions.
pub(super) fn offer_import(
    setting: &Setting<'_>,
    usable: bool,
    steps: &mut Steps<'_>,
) -> anyhow::Result<()> {
    if !usable || !has_command(&["import", "transcripts"]) {
        return Ok(());
    }
    // Who has taken them in needs no telling.
    let runs = setting
        .app
        .store_if_any()?
        .map(|store| store.read().import_runs());
    let runs = runs.transpose()?.unwrap_or_default();
    if runs.iter().any(|run| run.kind == "transcripts") {
        return Ok(());
    }
    let command = "claude-mem import transcripts";
    if !setting.wish.may_ask {
        return steps.tell(&format!("`{command}` takes in what happened before today."));
    }
    steps.tell("")?;
    if !yes(
        steps,
        "Take in what Claude Code wrote down of earlier sessions?",
    )? {
        return steps.tell(&format!("`{command}` does so later."));
    }
    in_the_foreground(setting, steps, &["import", "transcripts"])
}

/// Whether this program knows the command.
pub(super) fn has_command(path: &[&str]) -> bool {
    let mut command = crate::cli::command();
    path.iter()
        .all(|name| match command.find_subcommand(name).cloned() {
            Some(next) => {
                command = next;
                true
            }
            None => false,
        })
}

/// Another command of ours, at the same terminal.
pub(super) fn in_the_foreground(
    setting: &Setting<'_>,
    steps: &Steps<'_>,
    args: &[&str],
) -> anyhow::Result<()> {
    #[allow(
        clippy::disallowed_methods,
        reason = "it shares our terminal and ends with it, and we wait for it"
    )]
    let mut command = std::process::Command::new(&setting.launch.executable);
    if steps.is_json() {
        // Whoever reads JSON reads one value.
        command.stdout(std::process::Stdio::null());
    }
    let status = command
        .arg("--data-dir")
        .arg(setting.app.data.root())
        .args(args)
        .status()?;
    anyhow::ensure!(status.success(), "`claude-mem {}` failed", args.join(" "));
    Ok(())
}
