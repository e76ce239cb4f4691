//! `claude-mem config`: shows and changes settings.

use std::io::Write as _;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::app::App;
use super::{UsageError, worker};
use crate::cli::output;
use crate::cli::output::{QUIET, Screen, TITLE, WARN};
use claude_mem_core::config;
use claude_mem_core::config::{KEYS, LoadedSettings, RawSetting, SettingKey, SettingSource, SettingsFile};

/// Show and change settings
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem config                              list all settings
  claude-mem config get context_tokens
  claude-mem config set context_tokens 800
  claude-mem config set ignore_projects 'secret-*,~/private/**'
  claude-mem config unset context_tokens         reset to the default

CLAUDE_MEM_<KEY> in the environment overrides the file.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<ConfigAction>,
}

#[derive(Debug, clap::Subcommand)]
enum ConfigAction {
    /// List all settings with their values and sources
    List,
    /// Print one setting
    Get { key: String },
    /// Change a setting
    Set { key: String, value: String },
    /// Reset a setting to its default
    Unset { key: String },
    /// Print the path of the settings file
    Path,
    /// Print the settings reference as Markdown
    #[command(hide = true)]
    Reference,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let file = SettingsFile::in_dir(app.data.root());
    match args.action.as_ref().unwrap_or(&ConfigAction::List) {
        ConfigAction::List => list(app, screen),
        ConfigAction::Get { key } => get(require_key(key)?, app, screen),
        ConfigAction::Set { key, value } => set(require_key(key)?, value, app, screen, &file),
        ConfigAction::Unset { key } => match config::key(key) {
            Some(key) => unset(key, app, screen, &file),
            None => remove_unknown_entry(key, screen, &file),
        },
        ConfigAction::Path => screen
            .show(&json!({ "path": file.path() }), |screen, _| writeln!(screen, "{}", file.path().display())),
        ConfigAction::Reference => Ok(write!(screen, "{}", config::reference_markdown())?),
    }
}

fn require_key(name: &str) -> anyhow::Result<&'static SettingKey> {
    config::key(name).ok_or_else(|| {
        let hint = match config::suggestion(name) {
            hint if hint.is_empty() => "; `claude-mem config` lists them".to_owned(),
            hint => hint,
        };
        UsageError::error(format!("{name} is not a setting{hint}"))
    })
}

/// One setting in the JSON output.
#[derive(Serialize)]
struct SettingEntry {
    key: &'static str,
    /// `null` if it is a secret and set.
    value: Json,
    source: SettingSource,
    default: &'static str,
    expects: String,
    secret: bool,
    group: &'static str,
    help: &'static str,
}

impl SettingEntry {
    fn new(key: &SettingKey, loaded: &LoadedSettings) -> Self {
        let (value, source) = loaded.get(key);
        Self {
            key: key.name,
            value: value.to_json(),
            source,
            default: key.default,
            expects: key.kind.expects(),
            secret: key.is_secret(),
            group: key.group,
            help: key.help,
        }
    }
}

fn list(app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let loaded = app.settings();
    let entries: Vec<SettingEntry> = KEYS.iter().map(|key| SettingEntry::new(key, &loaded)).collect();
    let warnings: Vec<String> = loaded.warnings.iter().map(ToString::to_string).collect();
    let answer = json!({ "settings": entries, "warnings": warnings });
    screen.show(&answer, |screen, _| {
        let mut group = "";
        for key in KEYS {
            if key.group != group {
                let gap = if group.is_empty() { "" } else { "\n" };
                group = key.group;
                writeln!(screen, "{gap}{TITLE}{group}{TITLE:#}")?;
            }
            print(key, &loaded, screen)?;
        }
        for warning in &warnings {
            writeln!(screen, "\n{WARN}warning{WARN:#} {warning}")?;
        }
        Ok(())
    })
}

fn print(key: &SettingKey, loaded: &LoadedSettings, screen: &mut Screen) -> std::io::Result<()> {
    let (value, source) = loaded.get(key);
    let value = display_value(&value);
    let source = match source {
        SettingSource::Default => "",
        SettingSource::File => "  (settings.json)",
        SettingSource::Environment => "  (environment)",
    };
    writeln!(screen, "  {} = {value}{QUIET}{source}{QUIET:#}", key.name)?;
    write!(screen, "{QUIET}")?;
    screen.paragraph("      ", key.help)?;
    write!(screen, "{QUIET:#}")
}

fn get(key: &SettingKey, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let loaded = app.settings();
    screen.show(&SettingEntry::new(key, &loaded), |screen, _| writeln!(screen, "{}", loaded.get(key).0))
}

fn set(
    key: &SettingKey,
    text: &str,
    app: &App,
    screen: &mut Screen,
    file: &SettingsFile,
) -> anyhow::Result<()> {
    let value = key
        .kind
        .read(&RawSetting::Text(text.to_owned()))
        .map_err(|expected| UsageError::error(format!("{} must be {expected}", key.name)))?;
    app.data.create()?;
    file.set(key.name, &value)?;
    show_effective_value(key, app, screen)
}

fn unset(key: &SettingKey, app: &App, screen: &mut Screen, file: &SettingsFile) -> anyhow::Result<()> {
    // Remove the legacy names too, or an older entry would take effect.
    let older = key.legacy_names.iter().map(|name| format!("CLAUDE_MEM_{name}"));
    let names: Vec<String> = older.chain([key.name.to_owned(), key.variable()]).collect();
    file.unset(&names)?;
    show_effective_value(key, app, screen)
}

/// Removes an entry of the file that is not a setting.
fn remove_unknown_entry(name: &str, screen: &mut Screen, file: &SettingsFile) -> anyhow::Result<()> {
    if !file.unset(&[name.to_owned()])? {
        return require_key(name).map(drop);
    }
    screen.show(&json!({ "removed": name }), |screen, _| {
        writeln!(screen, "removed {name} from {}", file.path().display())
    })
}

/// Prints the effective value, which differs from the file if the environment overrides it.
fn show_effective_value(key: &SettingKey, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let loaded = app.settings();
    let (value, source) = loaded.get(key);
    if source == SettingSource::Environment {
        output::print_note(format!("{} in the environment overrides the file", key.variable()))?;
    }
    let about_it = |warning: &&config::SettingsWarning| {
        warning.entry.as_deref() == Some(key.name) || warning.place == key.variable()
    };
    for warning in loaded.warnings.iter().filter(about_it) {
        output::print_note(warning)?;
    }
    if key.needs_restart() && worker::probe(app).is_ok_and(|worker| worker.running) {
        output::print_note("restart required: `claude-mem worker restart`")?;
    }
    screen.show(&SettingEntry::new(key, &loaded), |screen, _| {
        writeln!(screen, "{} = {}", key.name, display_value(&value))
    })
}

fn display_value(value: &config::SettingValue) -> String {
    match value.to_string() {
        text if text.is_empty() => "(empty)".to_owned(),
        text => text,
    }
}
