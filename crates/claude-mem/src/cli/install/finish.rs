//! The last steps of an installation: the provider, the worker and the self-test.

use anyhow::Context as _;

use super::ask;
use super::context::InstallContext;
use super::steps::{StepReporter, StepState};
use crate::cli::{UsageError, worker};
use claude_mem_core::config;
use claude_mem_core::config::{Provider, RawSetting, SettingSource, SettingsFile, WorkerStart};
use claude_mem_core::platform;
use claude_mem_setup::install::check;
use claude_mem_setup::install::check::SelfCheckReport;
use claude_mem_setup::install::provider_gap::missing_for_provider;

pub(super) fn parse_provider(name: &str) -> anyhow::Result<config::SettingValue> {
    let key = config::key("provider").context("unknown setting")?;
    let read = key.kind.read(&RawSetting::Text(name.to_owned()));
    read.map_err(|expected| UsageError::error(format!("the provider must be {expected}")))
}

/// Sets the provider: the requested one, else the configured one, else what the user chooses, else
/// `local`, which costs nothing.
pub(super) fn set_provider(setting: &InstallContext<'_>, steps: &mut StepReporter<'_>) -> anyhow::Result<()> {
    let loaded = setting.app.settings();
    let key = config::key("provider").context("unknown setting")?;
    let (value, source) = loaded.get(key);
    let name = match &setting.wish.provider {
        Some(name) => name.clone(),
        None if source != SettingSource::Default => {
            return steps.report("provider", StepState::Ok, format!("{value}, already set"));
        }
        None if setting.wish.keep_settings => return Ok(()),
        None if setting.wish.may_ask => ask::choose_provider(&loaded.settings, steps)?,
        None => Provider::Local.as_str().to_owned(),
    };
    let cost = if name == Provider::Local.as_str() {
        "no model, no network, no tokens"
    } else {
        "within the token budget in `claude-mem config`"
    };
    if setting.wish.dry_run {
        return steps.report_change("provider", format!("{name}: {cost}"));
    }
    let file = SettingsFile::in_dir(setting.app.data.root());
    file.set("provider", &parse_provider(&name)?)?;
    let (settings, home) = (setting.app.settings().settings, std::env::var_os("HOME").unwrap_or_default());
    match missing_for_provider(setting.app.data.root(), &settings, &setting.manifest, home.into()) {
        Some(missing) => {
            let (what, fix) = (missing.what, missing.fix);
            let detail = format!("{name}: {what}, so no memories are made with it yet; {fix}");
            steps.report("provider", StepState::Incomplete, detail)
        }
        None => steps.report_change("provider", format!("{name}: {cost}")),
    }
}

pub(super) fn start_worker(
    setting: &InstallContext<'_>,
    usable: bool,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<()> {
    if setting.app.settings().settings.worker == WorkerStart::Manual {
        let detail = "manual, as configured: `claude-mem worker start`";
        return steps.report("worker", StepState::Ok, detail);
    }
    if !usable {
        return steps.report("worker", StepState::Note, "not started: no database");
    }
    if setting.wish.dry_run {
        let runs = worker::probe(setting.app).is_ok_and(|worker| worker.running);
        return if runs {
            steps.report("worker", StepState::Ok, "already running")
        } else {
            steps.report_change("worker", "started")
        };
    }
    steps.start_spinner("worker", "starting");
    match worker::ensure_running(setting.app) {
        Ok(word) => steps.report("worker", StepState::Ok, word),
        Err(error) => steps.report("worker", StepState::Failed, format!("{error:#}")),
    }
}

pub(super) fn self_check(
    setting: &InstallContext<'_>,
    steps: &mut StepReporter<'_>,
) -> anyhow::Result<Option<SelfCheckReport>> {
    if setting.wish.no_check {
        return Ok(None);
    }
    if setting.wish.dry_run {
        steps.report_change("check", "run a made-up session through the hooks, in a temporary directory")?;
        return Ok(None);
    }
    steps.start_spinner("check", "running a made-up session through the hooks");
    match check::run_check(&setting.launch, &std::env::temp_dir(), platform::own_executable()) {
        Ok(remembered) => {
            let titles: Vec<String> = remembered.titles.iter().map(|title| format!("“{title}”")).collect();
            let detail = format!(
                "a made-up session through the hooks produced {}, and the next session was given it; \
                 it ran in a temporary directory and was thrown away",
                titles.join(", ")
            );
            steps.report("check", StepState::Ok, detail)?;
            Ok(Some(remembered))
        }
        Err(error) => {
            steps.report("check", StepState::Failed, format!("{error}"))?;
            Ok(None)
        }
    }
}
