//! The earlier program of this name: noticed always, taken over only when that is wanted.
//!
//! Its files are moved, never deleted: they lie in `backups/` under a name with the date.

use std::path::{Path, PathBuf};

use anyhow::Context as _;

use super::steps::{State, Steps};
use super::{Setting, ask};
use crate::install::rival::{self, Rival};
use crate::install::rival_worker;
use crate::paths::{self, DataDir};
use crate::serve::backups;
use crate::store::{Store, StoreError};

/// What of it is on this machine.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) settings: Rival,
    /// Its database lies where ours goes.
    pub(super) database: bool,
}

impl Found {
    pub(super) fn can_be_adopted(&self) -> bool {
        self.settings.is_there() || (self.database && ask::has_command(&IMPORT))
    }

    fn in_words(&self) -> String {
        let mut parts = Vec::new();
        if !self.settings.plugins.is_empty() {
            parts.push(format!("its plugin {}", self.settings.plugins.join(", ")));
        }
        if !self.settings.events.is_empty() {
            parts.push(format!("its hooks for {}", self.settings.events.join(", ")));
        }
        if self.database {
            parts.push("its database".to_owned());
        }
        parts.join(", ")
    }
}

/// How the directories begin that hold its files.
pub(crate) const EARLIER: &str = "earlier-program-";

const IMPORT: [&str; 2] = ["import", "claude-mem-db"];

pub(super) fn look(setting: &Setting<'_>) -> anyhow::Result<Found> {
    let file = setting.places.read_settings()?;
    let text = file.text.as_deref().unwrap_or_default();
    let settings = rival::look(text)
        .map_err(|reason| crate::install::file::FileError::unreadable(&file.path, reason))?;
    let opened = Store::open_read_only(&setting.app.data.db());
    let database = matches!(opened, Err(StoreError::Foreign));
    Ok(Found { settings, database })
}

pub(super) fn ask(found: &Found, steps: &mut Steps<'_>) -> anyhow::Result<bool> {
    steps.tell("")?;
    steps.tell(&format!(
        "An earlier program of this name is here: {}.",
        found.in_words()
    ))?;
    steps.tell(
        "Taking over switches it off, moves its files to backups/ and imports what it knows.",
    )?;
    ask::yes(steps, "Take over?")
}

/// Says what is there, where nobody decided about it.
pub(super) fn mention(found: &Found, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    if !found.settings.is_there() {
        return Ok(());
    }
    let detail = format!(
        "an earlier program of this name is still on ({}), so sessions are told twice; \
         `claude-mem install --adopt` switches it off",
        found.in_words()
    );
    steps.say("earlier", State::Note, detail)
}

/// Ends its worker and moves its files out of the way.
pub(super) fn take_over_files(
    setting: &Setting<'_>,
    found: &Found,
    steps: &mut Steps<'_>,
) -> anyhow::Result<()> {
    if !found.database {
        return Ok(());
    }
    anyhow::ensure!(
        ask::has_command(&IMPORT),
        "this version cannot import its database yet; use --data-dir to keep ours elsewhere, nothing was changed"
    );
    let to = moved_to(setting);
    if setting.wish.dry_run {
        return steps.done("earlier", format!("its files move to {}", to.display()));
    }
    end_worker(setting, steps)?;
    paths::create_dir(&to)?;
    let moved = move_files(&setting.app.data, &to)
        .with_context(|| format!("cannot move its files to {}", to.display()))?;
    steps.done(
        "earlier",
        format!(
            "{moved} of its files and directories moved to {}",
            to.display()
        ),
    )
}

/// Switched off by now; what it knew is taken in.
pub(super) fn import(
    setting: &Setting<'_>,
    found: &Found,
    steps: &mut Steps<'_>,
) -> anyhow::Result<()> {
    if found.settings.is_there() {
        let what = Found {
            settings: found.settings.clone(),
            database: false,
        };
        steps.done("earlier", format!("{} switched off", what.in_words()))?;
    }
    if setting.wish.dry_run {
        return Ok(());
    }
    // A session that was open before still has its hooks, and may have started it again.
    end_worker(setting, steps)?;
    if found.settings.is_there() {
        let detail = "Claude Code reads its hooks when it starts: end the sessions that are open, \
                      else they go on starting the earlier program";
        steps.say("earlier", State::Note, detail)?;
    }
    if !found.database {
        return Ok(());
    }
    let database = moved_to(setting).join("claude-mem.db");
    let database = database.display().to_string();
    let [import, kind] = IMPORT;
    ask::in_the_foreground(setting, steps, &[import, kind, &database])
}

fn end_worker(setting: &Setting<'_>, steps: &mut Steps<'_>) -> anyhow::Result<()> {
    match rival_worker::end(&setting.app.data)? {
        0 => Ok(()),
        _ => steps.done("earlier", "its worker was ended"),
    }
}

fn moved_to(setting: &Setting<'_>) -> PathBuf {
    let stamp = backups::stamp(setting.app.now);
    setting.app.data.backups().join(format!("{EARLIER}{stamp}"))
}

/// What stays where it is: ours, and settings that mean the same to both.
fn stays(data: &DataDir, path: &Path) -> bool {
    let ours = [
        data.spool(),
        data.muted(),
        data.logs(),
        data.backups(),
        data.settings(),
        data.installed(),
        data.children(),
        data.paused(),
    ];
    ours.iter().any(|place| place == path)
}

fn move_files(data: &DataDir, to: &Path) -> std::io::Result<usize> {
    let mut moved = 0;
    for entry in std::fs::read_dir(data.root())? {
        let path = entry?.path();
        if stays(data, &path) {
            continue;
        }
        std::fs::rename(&path, to.join(path.file_name().unwrap_or_default()))?;
        moved += 1;
    }
    Ok(moved)
}
