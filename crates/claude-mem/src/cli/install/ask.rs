//! Interactive questions of the installation.

use std::io::IsTerminal as _;
use std::path::Path;

use super::context::InstallContext;
use super::steps::StepReporter;
use crate::cli::format;
use crate::cli::output::question_text;
use claude_mem_core::config::Settings;

/// Whether questions can be asked: stdin and stdout are a terminal.
pub(crate) fn is_interactive(json: bool) -> bool {
    !json && std::io::stdin().is_terminal() && std::io::stdout().is_terminal()
}

/// Asks a yes/no question. Enter means yes.
pub(super) fn confirm(steps: &mut StepReporter<'_>, question: &str) -> anyhow::Result<bool> {
    let answer = steps.prompt(&question_text(question, "[Y/n]"))?;
    Ok(matches!(answer.as_str(), "" | "y" | "yes"))
}

/// Input tokens of a session's prompts, in thousands: the median of 20 real sessions (mean 23, most 100) whose
/// events were replayed through the hooks, with a model that recorded what it was sent. Counted by
/// `tokens::estimate`; answers are a few hundred tokens each and not included.
const SESSION_KILOTOKENS: u32 = 19;
/// The same for each prompt of the user.
const PROMPT_KILOTOKENS: u32 = 5;

/// The choices in lines of at most 60 columns.
fn provider_choices(settings: &Settings) -> Vec<String> {
    vec![
        "  1  local    no model: nothing leaves this machine".to_owned(),
        "  2  claude   your own Claude Code with its small model.".to_owned(),
        "              A model writes better memories than any".to_owned(),
        format!("              rule. Half of all sessions take {SESSION_KILOTOKENS},000"),
        format!("              tokens or less, about {PROMPT_KILOTOKENS},000 for each prompt;"),
        format!("              at most {} per session", format::grouped(settings.budget_tokens_per_session)),
        format!("              and {} per day.", format::grouped(settings.budget_tokens_per_day)),
        "Other models: `claude-mem config`.".to_owned(),
        "You can change this at any time.".to_owned(),
    ]
}

/// Asks for the provider. Enter means `local`, which uses no model.
pub(super) fn choose_provider(settings: &Settings, steps: &mut StepReporter<'_>) -> anyhow::Result<String> {
    steps.print_line("")?;
    steps.print_line("Which provider should write the memories?")?;
    for line in provider_choices(settings) {
        steps.print_line(&line)?;
    }
    let answer = steps.prompt("Choose [1]")?;
    Ok(chosen_provider(&answer).to_owned())
}

/// The provider that an answer names. Only an explicit choice uses a model.
fn chosen_provider(answer: &str) -> &'static str {
    match answer {
        "2" | "claude" => "claude",
        _ => "local",
    }
}

/// Offers to import past sessions from the client's transcripts, unless that was done before.
pub(super) fn offer_import(
    setting: &InstallContext<'_>,
    usable: bool,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    if !usable || !has_command(&["import", "transcripts"]) || !has_transcripts(setting) {
        return Ok(());
    }
    let runs = setting.app.store_if_any()?.map(|store| store.read().import_runs());
    let runs = runs.transpose()?.unwrap_or_default();
    if runs.iter().any(|run| run.kind == "transcripts") {
        return Ok(());
    }
    let command = "claude-mem import transcripts";
    if !setting.wish.may_ask {
        return steps.print_line(&format!("Run `{command}` to import past sessions."));
    }
    steps.print_line("")?;
    if !confirm(steps, "Import past Claude Code sessions?")? {
        return steps.print_line(&format!("Run `{command}` to do so later."));
    }
    run_subcommand(setting, steps, &["import", "transcripts"])
}

/// Whether the client has kept a transcript of any session.
fn has_transcripts(setting: &InstallContext<'_>) -> bool {
    let entries = |dir: &Path| std::fs::read_dir(dir).into_iter().flatten().flatten();
    let Some(home) = setting.places.settings.parent() else {
        return false;
    };
    entries(&home.join("projects"))
        .flat_map(|project| entries(&project.path()).collect::<Vec<_>>())
        .any(|file| file.path().extension().is_some_and(|ending| ending == "jsonl"))
}

/// Whether this executable has the command.
pub(super) fn has_command(path: &[&str]) -> bool {
    let mut command = crate::cli::command();
    path.iter().all(|name| match command.find_subcommand(name).cloned() {
        Some(next) => {
            command = next;
            true
        }
        None => false,
    })
}

/// Runs another command of ours at the same terminal and waits for it.
pub(super) fn run_subcommand(
    setting: &InstallContext<'_>,
    steps: &StepReporter<'_>,
    args: &[&str],
) -> anyhow::Result<()> {
    #[allow(clippy::disallowed_methods, reason = "it shares our terminal, and we wait for it to exit")]
    let mut command = std::process::Command::new(&setting.launch.executable);
    if steps.is_json() {
        // The JSON output is one value: ours.
        command.stdout(std::process::Stdio::null());
    }
    let status = command.arg("--data-dir").arg(setting.app.data.root()).args(args).status()?;
    anyhow::ensure!(status.success(), "`claude-mem {}` failed", args.join(" "));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_fit_into_sixty_columns() {
        let lines = provider_choices(&Settings::default());
        assert!(lines.iter().all(|line| line.chars().count() <= 60), "{lines:#?}");
    }

    #[test]
    fn no_answer_uses_no_model() {
        for answer in ["", "1", "local", "y", "yes", "claud", "3"] {
            assert_eq!(chosen_provider(answer), "local", "{answer:?}");
        }
        assert_eq!((chosen_provider("2"), chosen_provider("claude")), ("claude", "claude"));
    }

    #[test]
    fn choices_say_what_a_model_is_worth_and_costs() {
        let text = provider_choices(&Settings::default()).join(" ");
        let text: Vec<&str> = text.split_whitespace().collect();
        let text = text.join(" ");
        for part in ["A model writes better memories", "19,000 tokens or less", "200,000 per session"] {
            assert!(text.contains(part), "{part}: {text}");
        }
    }
}
