//! `claude-mem install`: sets up the data directory, hooks, MCP tools, provider and worker, and runs a
//! self-test. `repair` and `doctor --fix` reuse its parts.
//!
//! [`InstallOptions`] says what to do, [`InstallContext`] holds what the steps need, and `StepReporter`
//! prints each step as it happens. Invariant: the client's files are read and understood before
//! anything is changed.

mod adopt;
mod agent_choice;
mod agents;
mod ask;
mod client_process;
mod command_hints;
mod context;
mod data;
mod finish;
mod own_copy;
mod plugin;
mod registration;
mod steps;

use std::path::PathBuf;

use serde::Serialize;

use super::app::App;
use crate::cli::output::Screen;
pub(super) use adopt::LEGACY_BACKUP_PREFIX;
pub(super) use agent_choice::{AgentChoice, agent_names, parse_agent};
pub(super) use ask::is_interactive as can_ask;
use claude_mem_core::agents::CodingAgent;
use claude_mem_setup::install::check::SelfCheckReport;
use claude_mem_setup::install::manifest::InstallManifest;
use claude_mem_setup::install::shell_alias::unregistered_config_dirs;
pub(super) use client_process::find_client;
pub(super) use context::{InstallContext, InstallOptions};
pub(super) use plugin::uninstall as uninstall_plugin;
pub(super) use registration::lost_copy_note;
pub(super) use steps::{InstallStep, StepReporter, StepState};

/// Install hooks, tools and worker, and check that they work
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem install
  claude-mem install --dry-run            show what would change
  claude-mem install --yes                without questions: all agents here, no model, no tokens
  claude-mem install --agent codex        only for Codex
  claude-mem install --project            only for the project in this directory
  claude-mem install --plugin             as a plugin, with slash commands and a skill
  claude-mem install --provider claude    memories written by your own Claude Code

It can be run again at any time: what is already there stays. `claude-mem uninstall` removes it.
Files are copied to ~/.claude-mem/backups/clients before they are changed.")]
#[allow(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(super) struct Args {
    /// Show what would be done and change nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing: all agents on this machine, local provider, no import, other programs left alone
    #[arg(long, short)]
    yes: bool,
    /// Install for one project instead of for the user
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    #[arg(
        long = "agent",
        value_name = "NAME",
        value_parser = parse_agent,
        conflicts_with = "project",
        help = format!("Only for this agent; repeatable: {}", agent_names())
    )]
    agents: Vec<&'static CodingAgent>,
    /// Install as a Claude Code plugin, with slash commands and a skill
    #[arg(long, conflicts_with = "project")]
    plugin: bool,
    /// Disable the earlier claude-mem and import its memories
    #[arg(long)]
    adopt: bool,
    /// Provider that writes the memories: auto, local, claude, anthropic, openai or gemini
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Skip the self-test at the end
    #[arg(long)]
    no_check: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let project = args.project.as_ref().map(std::path::absolute).transpose()?;
    if let Some(dir) = project.as_ref().filter(|dir| !dir.is_dir()) {
        anyhow::bail!("{} is not a directory", dir.display());
    }
    if let Some(name) = &args.provider {
        finish::parse_provider(name)?;
    }
    if !args.dry_run {
        own_copy::leave_cache(app)?;
    }
    let may_ask = !args.yes && !args.dry_run && ask::is_interactive(screen.json);
    let wish = InstallOptions {
        dry_run: args.dry_run,
        may_ask,
        agents: match &args.agents[..] {
            [] if args.yes => AgentChoice::Found,
            [] if may_ask => AgentChoice::Asked,
            [] => AgentChoice::ClaudeCode,
            named => AgentChoice::Named(named.to_vec()),
        },
        project: project.map(|dir| dir.canonicalize()).transpose()?,
        other_places: Vec::new(),
        plugin: args.plugin,
        adopt: args.adopt,
        provider: args.provider.clone(),
        no_check: args.no_check,
        keep_settings: false,
    };
    perform(wish, app, screen)
}

/// The context of a user-wide installation, for read-only checks, and the error if the manifest
/// cannot be read.
pub(super) fn inspect(app: &App) -> anyhow::Result<(InstallContext<'_>, Option<String>)> {
    let (manifest, unread) = match InstallManifest::read(&app.data.installed()) {
        Ok(manifest) => (manifest, None),
        Err(error) => (InstallManifest::default(), Some(error.to_string())),
    };
    Ok((InstallContext::new(app, InstallOptions::default(), manifest)?, unread))
}

/// The places where hooks and tools are registered. `None` is the user, also if there is no
/// registration yet.
pub(super) fn registered_places(app: &App) -> anyhow::Result<Vec<Option<PathBuf>>> {
    let manifest = InstallManifest::read(&app.data.installed())?;
    let mut places: Vec<_> = manifest.files.into_iter().map(|left| left.project).collect();
    if manifest.plugin || places.is_empty() {
        places.push(None);
    }
    places.sort_unstable();
    places.dedup();
    // Skip projects whose directory is gone.
    let is_there = |place: &Option<PathBuf>| place.as_ref().is_none_or(|dir| dir.is_dir());
    places.retain(is_there);
    Ok(places)
}

/// Rewrites hooks and tools wherever they are registered. Does nothing else.
pub(super) fn register(app: &App) -> anyhow::Result<()> {
    app.data.create()?;
    let mut places = registered_places(app)?;
    if !InstallManifest::read(&app.data.installed())?.includes_claude_code() {
        places.clear();
    }
    for project in places {
        let wish = InstallOptions { project, ..InstallOptions::default() };
        let mut setting = InstallContext::from_process(app, wish)?;
        if setting.manifest.plugin && setting.wish.project.is_none() {
            claude_mem_setup::install::plugin::write(&app.data.plugin(), &setting.launch)?;
            registration::save_manifest(&mut setting)?;
            continue;
        }
        registration::write(&mut setting)?;
    }
    agents::register_again(&mut InstallContext::from_process(app, InstallOptions::default())?)
}

/// The JSON output.
#[derive(Serialize)]
struct InstallReport<'a> {
    ok: bool,
    dry_run: bool,
    data_dir: String,
    executable: String,
    client: Option<String>,
    hook_form: claude_mem_setup::install::client::HookForm,
    events: Vec<&'static str>,
    steps: &'a [InstallStep],
    remembered: Option<SelfCheckReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Runs all steps, up to the first error, and prints the report.
pub(super) fn perform(wish: InstallOptions, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut setting = InstallContext::from_process(app, wish)?;
    // A plugin installation stays a plugin.
    setting.wish.plugin |= setting.manifest.plugin && setting.wish.project.is_none();
    let mut steps = StepReporter::new(screen, setting.wish.dry_run);
    let outcome = run_steps(&mut setting, &mut steps);
    let remembered = outcome.as_ref().ok().cloned().flatten();
    let has = |state| steps.steps().iter().any(|step| step.state == state);
    let incomplete = has(StepState::Incomplete);
    let ok = outcome.is_ok() && !incomplete && !has(StepState::Failed);
    let report = InstallReport {
        ok,
        dry_run: setting.wish.dry_run,
        data_dir: app.data.root().display().to_string(),
        executable: setting.launch.executable.display().to_string(),
        client: setting.client.as_ref().and_then(|found| Some(found.version?.to_string())),
        hook_form: setting.launch.capabilities.form(),
        events: setting.launch.capabilities.events(),
        steps: &steps.steps(),
        remembered,
        error: outcome.as_ref().err().map(|error| format!("{error:#}")),
    };
    let json = steps.finish(&report)?;
    if json && !ok {
        return Err(super::AlreadyReported.into());
    }
    outcome?;
    anyhow::ensure!(ok || incomplete, "the installation failed");
    anyhow::ensure!(ok, "the installation is incomplete");
    Ok(())
}

fn run_steps(
    setting: &mut InstallContext<'_>,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<Option<SelfCheckReport>> {
    let selection = agents::select(setting, steps)?;
    if selection.claude_code {
        setting.report_client(steps)?;
    }
    let rival = adopt::detect(setting)?;
    if setting.wish.may_ask && !setting.wish.adopt && rival.can_be_adopted() {
        setting.wish.adopt = adopt::ask(&rival, steps)?;
    }
    adopt::ensure_directory_is_ours(setting, &rival)?;
    // Read the client's files before anything is created.
    let plan = selection.claude_code.then(|| registration::plan(setting)).transpose()?;
    agents::check(setting, &selection)?;
    if setting.wish.adopt {
        adopt::take_over_files(setting, &rival, steps)?;
    }
    let usable = data::prepare(setting.app, steps)?;
    match plan {
        Some(_) if setting.wish.plugin => plugin::install(setting, steps)?,
        Some(plan) => registration::apply(setting, &plan, steps)?,
        None => {}
    }
    agents::register(setting, &selection, steps)?;
    for project in std::mem::take(&mut setting.wish.other_places) {
        let wish = InstallOptions { dry_run: setting.wish.dry_run, project, ..InstallOptions::default() };
        let mut other = InstallContext::new(setting.app, wish, setting.manifest.clone())?;
        let plan = registration::plan(&other)?;
        registration::apply(&mut other, &plan, steps)?;
        setting.manifest = other.manifest;
    }
    if setting.wish.adopt {
        adopt::import(setting, &rival, steps)?;
    } else {
        adopt::report_unadopted(setting, &rival, steps)?;
    }
    finish::set_provider(setting, steps)?;
    finish::start_worker(setting, usable, steps)?;
    let remembered = finish::self_check(setting, steps)?;
    if !setting.wish.dry_run {
        report_alias_directories(setting, steps)?;
        ask::offer_import(setting, usable, steps)?;
        steps.print_closing(usable)?;
    }
    Ok(remembered)
}

/// Says which other configuration directories of the client a shell alias sets.
fn report_alias_directories(
    setting: &InstallContext<'_>,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    let home = std::env::var_os("HOME").filter(|home| !home.is_empty());
    let (Some(home), Some(current)) = (home, setting.places.settings.parent()) else {
        return Ok(());
    };
    for dir in unregistered_config_dirs(home.as_ref(), current) {
        let dir = dir.display();
        steps.print_line(&format!("A shell alias starts the client with {dir}."))?;
        steps.print_line(&format!(
            "To record those sessions, too: `CLAUDE_CONFIG_DIR='{dir}' claude-mem install`"
        ))?;
    }
    Ok(())
}
