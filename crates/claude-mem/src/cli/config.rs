//! `claude-mem config`: look at settings and change them.

use std::io::Write as _;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::app::App;
use super::screen::{self, QUIET, Screen, TITLE, WARN};
use super::{Usage, worker};
use crate::config::{self, KEYS, Key, Loaded, Raw, SettingsFile, Source};

/// Look at settings and change them
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Examples:
  claude-mem config                              every setting, its value, what it does
  claude-mem config get context_tokens
  claude-mem config set context_tokens 800
  claude-mem config set ignore_projects 'secret-*,~/private/**'
  claude-mem config unset context_tokens         back to the default

CLAUDE_MEM_<KEY> in the environment wins over the file.")]
pub(super) struct Args {
    #[command(subcommand)]
    action: Option<Action>,
}

#[derive(Debug, clap::Subcommand)]
enum Action {
    /// Every setting with its value and where it comes from
    List,
    /// One setting's value
    Get { key: String },
    /// Change a setting
    Set { key: String, value: String },
    /// Go back to the default
    Unset { key: String },
    /// Where the file is
    Path,
    /// The documentation page of all settings
    #[command(hide = true)]
    Reference,
}

pub(super) fn run(args: &Args, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let file = SettingsFile::of(app.data.root());
    match args.action.as_ref().unwrap_or(&Action::List) {
        Action::List => list(app, screen),
        Action::Get { key } => get(known(key)?, app, screen),
        Action::Set { key, value } => set(known(key)?, value, app, screen, &file),
        Action::Unset { key } => match config::key(key) {
            Some(key) => unset(key, app, screen, &file),
            None => take_out(key, screen, &file),
        },
        Action::Path => screen.show(&json!({ "path": file.path() }), |screen, _| {
            writeln!(screen, "{}", file.path().display())
        }),
        Action::Reference => Ok(write!(screen, "{}", config::reference_markdown())?),
    }
}

fn known(name: &str) -> anyhow::Result<&'static Key> {
    config::key(name).ok_or_else(|| {
        let hint = match config::suggestion(name) {
            hint if hint.is_empty() => "; `claude-mem config` lists them".to_owned(),
            hint => hint,
        };
        Usage::error(format!("{name} is not a setting{hint}"))
    })
}

/// A setting as JSON shows it.
#[derive(Serialize)]
struct Entry {
    key: &'static str,
    /// `null` for a secret that is set.
    value: Json,
    source: Source,
    default: &'static str,
    expects: String,
    secret: bool,
    group: &'static str,
    help: &'static str,
}

impl Entry {
    fn of(key: &Key, loaded: &Loaded) -> Self {
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
    let entries: Vec<Entry> = KEYS.iter().map(|key| Entry::of(key, &loaded)).collect();
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

fn print(key: &Key, loaded: &Loaded, screen: &mut Screen) -> std::io::Result<()> {
    let (value, source) = loaded.get(key);
    let value = shown(&value);
    let source = match source {
        Source::Default => "",
        Source::File => "  (settings.json)",
        Source::Environment => "  (environment)",
    };
    writeln!(screen, "  {} = {value}{QUIET}{source}{QUIET:#}", key.name)?;
    write!(screen, "{QUIET}")?;
    screen.paragraph("      ", key.help)?;
    write!(screen, "{QUIET:#}")
}

fn get(key: &Key, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let loaded = app.settings();
    screen.show(&Entry::of(key, &loaded), |screen, _| {
        writeln!(screen, "{}", loaded.get(key).0)
    })
}

fn set(
    key: &Key,
    text: &str,
    app: &App,
    screen: &mut Screen,
    file: &SettingsFile,
) -> anyhow::Result<()> {
    let value = key
        .kind
        .read(&Raw::Text(text.to_owned()))
        .map_err(|expected| Usage::error(format!("{} must be {expected}", key.name)))?;
    app.data.create()?;
    file.set(key.name, &value)?;
    told(key, app, screen)
}

fn unset(key: &Key, app: &App, screen: &mut Screen, file: &SettingsFile) -> anyhow::Result<()> {
    // Every name the file may know it by, or an older one would take its place.
    let older = key.older.iter().map(|name| format!("CLAUDE_MEM_{name}"));
    let names: Vec<String> = older.chain([key.name.to_owned(), key.variable()]).collect();
    file.unset(&names)?;
    told(key, app, screen)
}

/// An entry of the file that is no setting has only to go.
fn take_out(name: &str, screen: &mut Screen, file: &SettingsFile) -> anyhow::Result<()> {
    if !file.unset(&[name.to_owned()])? {
        return known(name).map(drop);
    }
    screen.show(&json!({ "removed": name }), |screen, _| {
        writeln!(screen, "{name} is out of {}", file.path().display())
    })
}

/// Says what holds now, which need not be what was set.
fn told(key: &Key, app: &App, screen: &mut Screen) -> anyhow::Result<()> {
    let loaded = app.settings();
    let (value, source) = loaded.get(key);
    if source == Source::Environment {
        screen::remark(format!(
            "{} in the environment wins over the file",
            key.variable()
        ))?;
    }
    let about_it = |warning: &&config::Warning| {
        warning.entry.as_deref() == Some(key.name) || warning.place == key.variable()
    };
    for warning in loaded.warnings.iter().filter(about_it) {
        screen::remark(warning)?;
    }
    if AT_START.contains(&key.name) && worker::look(app).is_ok_and(|worker| worker.running) {
        screen::remark("the worker that runs takes it up after `claude-mem worker restart`")?;
    }
    screen.show(&Entry::of(key, &loaded), |screen, _| {
        writeln!(screen, "{} = {}", key.name, shown(&value))
    })
}

/// What a worker reads once, when it starts.
const AT_START: [&str; 2] = ["port", "vocabulary"];

fn shown(value: &config::Value) -> String {
    match value.to_string() {
        text if text.is_empty() => "(empty)".to_owned(),
        text => text,
    }
}
