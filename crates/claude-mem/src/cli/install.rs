//! `claude-mem install`: from an executable to memory that works, with every step shown.
//!
//! Everything that could be in the way is looked at before anything is changed.

mod adopt;
mod ask;
mod data;
mod plugin;
mod registration;
mod steps;

use std::ffi::OsString;
use std::path::PathBuf;

use anyhow::Context as _;
use serde::Serialize;

use super::app::App;
use super::screen::Screen;
use super::{Usage, worker};
use crate::child::{Register, Spawner};
use crate::config::{self, Provider, Raw, SettingsFile, Source, WorkerStart};
use crate::install::change::Places;
use crate::install::check::{self, Remembered};
use crate::install::client::Abilities;
use crate::install::entry::Launch;
use crate::install::find::{self, Found};
use crate::install::receipt::Receipt;
use crate::paths::DataDir;
pub(super) use adopt::EARLIER;
pub(super) use ask::is_possible as can_ask;
pub(super) use plugin::uninstall as uninstall_plugin;
pub(super) use registration::lost_copy;
pub(super) use steps::{State, Step, Steps};

/// Set everything up: data, hooks, tools, worker, and a check that it works
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem install
  claude-mem install --dry-run            what it would change, and where
  claude-mem install --yes                without questions: no model, no tokens
  claude-mem install --project            for the project in this directory only
  claude-mem install --plugin             as a plugin, with slash commands and a skill
  claude-mem install --provider claude    memories written by your own Claude Code

It can be run again at any time: what is there already stays. `claude-mem uninstall` takes it out
again. Files that it changes are kept in ~/.claude-mem/backups/clients first.")]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(super) struct Args {
    /// Say what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Ask nothing: the local provider, nothing imported, no other program touched
    #[arg(long, short)]
    yes: bool,
    /// For one project on this machine instead of everywhere
    #[arg(long, value_name = "DIR", num_args = 0..=1, default_missing_value = ".")]
    project: Option<PathBuf>,
    /// Through Claude Code's plugins instead of its settings: with commands and a skill
    #[arg(long, conflicts_with = "project")]
    plugin: bool,
    /// Switch the earlier program of this name off and take over what it remembers
    #[arg(long)]
    adopt: bool,
    /// Who writes the memories: auto, local, claude, anthropic, openai or gemini
    #[arg(long, value_name = "NAME")]
    provider: Option<String>,
    /// Leave out the made-up session at the end
    #[arg(long)]
    no_check: bool,
}

/// What is to be done, whichever command asked for it.
#[derive(Debug, Default)]
#[allow(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(super) struct Wish {
    pub(super) dry_run: bool,
    /// Somebody is there to be asked.
    pub(super) may_ask: bool,
    pub(super) project: Option<PathBuf>,
    /// Other places that get the same.
    pub(super) also: Vec<Option<PathBuf>>,
    pub(super) plugin: bool,
    pub(super) adopt: bool,
    pub(super) provider: Option<String>,
    pub(super) no_check: bool,
    /// What is not set stays so.
    pub(super) keep_settings: bool,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let project = args.project.as_ref().map(std::path::absolute).transpose()?;
    if let Some(dir) = project.as_ref().filter(|dir| !dir.is_dir()) {
        anyhow::bail!("{} is not a directory", dir.display());
    }
    if let Some(name) = &args.provider {
        provider_named(name)?;
    }
    let wish = Wish {
        dry_run: args.dry_run,
        may_ask: !args.yes && !args.dry_run && ask::is_possible(screen.json),
        project: project.map(|dir| dir.canonicalize()).transpose()?,
        also: Vec::new(),
        plugin: args.plugin,
        adopt: args.adopt,
        provider: args.provider.clone(),
        no_check: args.no_check,
        keep_settings: false,
    };
    perform(wish, app, screen)
}

/// Everything that the steps stand on.
pub(super) struct Setting<'a> {
    app: &'a App,
    wish: Wish,
    pub(super) places: Places,
    pub(super) launch: Launch,
    pub(super) receipt: Receipt,
    pub(super) client: Option<Found>,
}

/// What installing for the user would stand on, for somebody who only looks: with why the receipt
/// cannot be read, if it cannot.
pub(super) fn of_process(app: &App) -> anyhow::Result<(Setting<'_>, Option<String>)> {
    let (receipt, unread) = match Receipt::read(&app.data.installed()) {
        Ok(receipt) => (receipt, None),
        Err(error) => (Receipt::default(), Some(error.to_string())),
    };
    Ok((Setting::with(app, Wish::default(), receipt)?, unread))
}

/// Where hooks and tools were registered: `None` is for the user, and stands for nothing yet.
pub(super) fn registered(app: &App) -> anyhow::Result<Vec<Option<PathBuf>>> {
    let receipt = Receipt::read(&app.data.installed())?;
    let mut places: Vec<_> = receipt.files.into_iter().map(|left| left.project).collect();
    if receipt.plugin || places.is_empty() {
        places.push(None);
    }
    places.sort_unstable();
    places.dedup();
    // A project that is gone takes nothing.
    let is_there = |place: &Option<PathBuf>| place.as_ref().is_none_or(|dir| dir.is_dir());
    places.retain(is_there);
    Ok(places)
}

/// Hooks and tools as they should be, wherever they were registered, and nothing else.
pub(super) fn register(app: &App) -> anyhow::Result<()> {
    app.data.create()?;
    for project in registered(app)? {
        let wish = Wish {
            project,
            ..Wish::default()
        };
        let mut setting = Setting::of_process(app, wish)?;
        if setting.receipt.plugin && setting.wish.project.is_none() {
            crate::install::plugin::write(&app.data.plugin(), &setting.launch)?;
            registration::save(&mut setting)?;
            continue;
        }
        registration::write(&mut setting)?;
    }
    Ok(())
}

/// The whole as JSON shows it.
#[derive(Serialize)]
struct Report<'a> {
    ok: bool,
    dry_run: bool,
    data_dir: String,
    executable: String,
    client: Option<String>,
    hook_form: crate::install::client::Form,
    events: Vec<&'static str>,
    steps: &'a [Step],
    remembered: Option<Remembered>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
}

/// Goes through all steps. The first that fails ends it.
pub(super) fn perform(wish: Wish, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let mut setting = Setting::of_process(app, wish)?;
    // What was installed as a plugin stays one.
    setting.wish.plugin |= setting.receipt.plugin && setting.wish.project.is_none();
    let mut steps = Steps::new(screen, setting.wish.dry_run);
    let outcome = go_through(&mut setting, &mut steps);
    let remembered = outcome.as_ref().ok().cloned().flatten();
    let ok = outcome.is_ok() && steps.all().iter().all(|step| step.state != State::Failed);
    let report = Report {
        ok,
        dry_run: setting.wish.dry_run,
        data_dir: app.data.root().display().to_string(),
        executable: setting.launch.executable.display().to_string(),
        client: setting
            .client
            .as_ref()
            .and_then(|found| Some(found.version?.to_string())),
        hook_form: setting.launch.abilities.form(),
        events: setting.launch.abilities.events(),
        steps: &steps.all(),
        remembered,
        error: outcome.as_ref().err().map(|error| format!("{error:#}")),
    };
    let json = steps.close(&report)?;
    if json && !ok {
        return Err(super::Told.into());
    }
    outcome?;
    anyhow::ensure!(ok, "claude-mem is not set up");
    Ok(())
}

fn go_through(
    setting: &mut Setting<'_>,
    steps: &mut Steps<'_>,
) -> anyhow::Result<Option<Remembered>> {
    setting.say_client(steps)?;
    let rival = adopt::look(setting)?;
    if setting.wish.may_ask && !setting.wish.adopt && rival.can_be_adopted() {
        setting.wish.adopt = adopt::ask(&rival, steps)?;
    }
    // Nothing of ours is made before the client's files were understood.
    let plan = registration::plan(setting)?;
    if setting.wish.adopt {
        adopt::take_over_files(setting, &rival, steps)?;
    }
    let usable = data::prepare(setting.app, steps)?;
    if setting.wish.plugin {
        plugin::install(setting, steps)?;
    } else {
        registration::apply(setting, &plan, steps)?;
    }
    for project in std::mem::take(&mut setting.wish.also) {
        let wish = Wish {
            dry_run: setting.wish.dry_run,
            project,
            ..Wish::default()
        };
        let mut other = Setting::with(setting.app, wish, setting.receipt.clone())?;
        let plan = registration::plan(&other)?;
        registration::apply(&mut other, &plan, steps)?;
        setting.receipt = other.receipt;
    }
    if setting.wish.adopt {
        adopt::import(setting, &rival, steps)?;
    } else {
        adopt::mention(&rival, steps)?;
    }
    provider(setting, steps)?;
    start_worker(setting, usable, steps)?;
    let remembered = self_check(setting, steps)?;
    if !setting.wish.dry_run {
        ask::offer_import(setting, usable, steps)?;
        steps.farewell(usable)?;
    }
    Ok(remembered)
}

impl<'a> Setting<'a> {
    fn of_process(app: &'a App, wish: Wish) -> anyhow::Result<Self> {
        let receipt = Receipt::read(&app.data.installed())?;
        Self::with(app, wish, receipt)
    }

    fn with(app: &'a App, wish: Wish, receipt: Receipt) -> anyhow::Result<Self> {
        let env = |name: &str| std::env::var_os(name);
        let places = Places::find(env, wish.project.clone())
            .context("there is no home directory, so the client's settings cannot be found")?;
        let executable = executable()?;
        let client = find_client(app);
        let abilities = Abilities::of(client.as_ref().and_then(|found| found.version));
        // Hooks look in the usual place by themselves.
        let usual = DataDir::find(|name| env(name).filter(|_| name != "CLAUDE_MEM_DATA_DIR"));
        let data_dir = (usual.as_ref() != Some(&app.data)).then(|| app.data.root().to_owned());
        Ok(Self {
            receipt,
            launch: Launch {
                executable,
                data_dir,
                abilities,
            },
            app,
            wish,
            places,
            client,
        })
    }

    fn say_client(&self, steps: &mut Steps<'_>) -> anyhow::Result<()> {
        anyhow::ensure!(
            self.launch.abilities.is_supported(),
            "this Claude Code is older than {}, the oldest that was tried; update it first, nothing was changed",
            crate::install::client::OLDEST
        );
        let detail = match &self.client {
            Some(Found {
                version: Some(version),
                program,
            }) => {
                format!("Claude Code {version} ({})", program.display())
            }
            Some(Found {
                version: None,
                program,
            }) => {
                format!(
                    "Claude Code of unknown version ({}); what all versions know is written",
                    program.display()
                )
            }
            None => "Claude Code was not found; what all its versions know is written".to_owned(),
        };
        let state = if self.client.is_some() {
            State::Ok
        } else {
            State::Note
        };
        steps.say("client", state, detail)
    }
}

/// Where this program lies. The kernel marks a file that was replaced since.
fn executable() -> anyhow::Result<PathBuf> {
    let path = std::env::current_exe().context("this executable has no path")?;
    anyhow::ensure!(
        path.is_file(),
        "{} was replaced or removed while it ran; start the new one",
        path.display()
    );
    Ok(path)
}

pub(super) fn find_client(app: &App) -> Option<Found> {
    let program = find::program(|name| std::env::var_os(name))?;
    let version = find::version_on_disk(&program).or_else(|| {
        let env: Vec<(OsString, OsString)> = std::env::vars_os().collect();
        let spawner = spawner(app).ok()?;
        find::version_asked(&program, env, &spawner)
    });
    Some(Found { program, version })
}

/// For programs that are run and waited for. The register is only kept where there is a place for
/// it: looking must not create the data directory.
pub(super) fn spawner(app: &App) -> std::io::Result<Waiting> {
    let is_there = app.data.root().is_dir();
    let directory = if is_there {
        app.data.children()
    } else {
        std::env::temp_dir().join(format!("claude-mem-children-{}", std::process::id()))
    };
    let spawner = Spawner::start("/proc/self/exe".into(), Register::open(&directory)?)?;
    Ok(Waiting {
        spawner,
        for_now: (!is_there).then_some(directory),
    })
}

/// A spawner with a register that may be for this once.
pub(super) struct Waiting {
    spawner: Spawner,
    for_now: Option<PathBuf>,
}

impl std::ops::Deref for Waiting {
    type Target = Spawner;

    fn deref(&self) -> &Spawner {
        &self.spawner
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(directory) = &self.for_now {
            // With a child in it, it is still needed.
            let _ = std::fs::remove_dir(directory);
        }
    }
}

fn provider_named(name: &str) -> anyhow::Result<config::Value> {
    let key = config::key("provider").context("there is no such setting")?;
    let read = key.kind.read(&Raw::Text(name.to_owned()));
    read.map_err(|expected| Usage::error(format!("the provider must be {expected}")))
}

/// Who makes memories: as it was set, as it was asked for, or the one that costs nothing.
fn provider(setting: &Setting<'_>, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    let loaded = setting.app.settings();
    let key = config::key("provider").context("there is no such setting")?;
    let (value, source) = loaded.get(key);
    let name = match &setting.wish.provider {
        Some(name) => name.clone(),
        None if source != Source::Default => {
            return steps.say("provider", State::Ok, format!("{value}, as it was set"));
        }
        None if setting.wish.keep_settings => return Ok(()),
        None if setting.wish.may_ask => ask::provider(&loaded.settings, steps)?,
        None => Provider::Local.as_str().to_owned(),
    };
    let cost = if name == Provider::Local.as_str() {
        "no model, no network, no tokens"
    } else {
        "within the token budget of `claude-mem config`"
    };
    if !setting.wish.dry_run {
        let file = SettingsFile::of(setting.app.data.root());
        file.set("provider", &provider_named(&name)?)?;
    }
    steps.done("provider", format!("{name}: {cost}"))
}

fn start_worker(setting: &Setting<'_>, usable: bool, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    if setting.app.settings().settings.worker == WorkerStart::Manual {
        let detail = "left to you, as set: `claude-mem worker start`";
        return steps.say("worker", State::Ok, detail);
    }
    if !usable {
        return steps.say("worker", State::Note, "not started: it has no database");
    }
    if setting.wish.dry_run {
        let runs = worker::look(setting.app).is_ok_and(|worker| worker.running);
        return if runs {
            steps.say("worker", State::Ok, "running already")
        } else {
            steps.done("worker", "started")
        };
    }
    steps.busy("worker", "is starting");
    match worker::ensure(setting.app) {
        Ok(word) => steps.say("worker", State::Ok, word),
        Err(error) => steps.say("worker", State::Failed, format!("{error:#}")),
    }
}

fn self_check(setting: &Setting<'_>, steps: &mut Steps<'_>) -> anyhow::Result<Option<Remembered>> {
    if setting.wish.no_check {
        return Ok(None);
    }
    if setting.wish.dry_run {
        steps.done("check", "a made-up session goes through the hooks")?;
        return Ok(None);
    }
    steps.busy("check", "a made-up session goes through the hooks");
    match check::run(
        &setting.launch,
        &std::env::temp_dir(),
        "/proc/self/exe".into(),
    ) {
        Ok(remembered) => {
            let titles: Vec<String> = remembered
                .titles
                .iter()
                .map(|title| format!("“{title}”"))
                .collect();
            let detail = format!(
                "a made-up session went through the hooks, left {} and the next one was told",
                titles.join(", ")
            );
            steps.say("check", State::Ok, detail)?;
            Ok(Some(remembered))
        }
        Err(error) => {
            steps.say("check", State::Failed, format!("{error}"))?;
            Ok(None)
        }
    }
}
