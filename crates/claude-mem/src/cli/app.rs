//! What every verb stands on: the data directory, the time and the environment, taken from the
//! process once.

use std::path::Path;

use anyhow::Context as _;

use crate::clock::{self, Millis};
use crate::config::{self, Loaded, Source, Warning};
use crate::hook::{deliver, spool};
use crate::paths::DataDir;
use crate::serve::compressor;
use crate::store::{Store, StoreError};
use crate::vocabulary::Vocabulary;

#[derive(Debug)]
pub(super) struct App {
    pub(super) data: DataDir,
    pub(super) now: Millis,
}

impl App {
    /// `data_dir` is what the command line says; a relative one is relative to where we are.
    pub(super) fn of_process(data_dir: Option<&Path>) -> anyhow::Result<Self> {
        let data = match data_dir {
            Some(dir) => DataDir::new(std::path::absolute(dir)?),
            None => DataDir::find(|name| std::env::var_os(name))
                .context("there is no home directory; use --data-dir")?,
        };
        Ok(Self {
            data,
            now: clock::now().millis(),
        })
    }

    /// What hooks left in the letterbox goes into the queue, before somebody looks at that. What
    /// cannot go there stays, and is counted as spooled. An error is the spool's; the store's own
    /// are told when it is opened.
    pub(super) fn take_in_spool(&self) -> Result<(), StoreError> {
        let unread = |error| StoreError::io(self.data.spool().display(), error);
        if spool::is_empty(&self.data).map_err(unread)? {
            return Ok(());
        }
        match deliver::take_in_some(&self.data, self.now) {
            Err(error @ StoreError::Io(..)) => Err(error),
            _ => Ok(()),
        }
    }

    pub(super) fn settings(&self) -> Loaded {
        let mut loaded = config::load(self.data.root(), |name| std::env::var(name).ok());
        let names: Vec<String> = std::env::vars_os()
            .filter_map(|(name, _)| name.into_string().ok())
            .collect();
        let unknown = config::unknown_variables(names.iter().map(String::as_str));
        loaded.warnings.extend(unknown);
        let garbled = std::env::vars_os().filter(|(_, value)| value.to_str().is_none());
        let names = garbled.filter_map(|(name, _)| name.into_string().ok());
        let names = names.filter(|name| name.starts_with("CLAUDE_MEM_"));
        loaded.warnings.extend(names.map(|place| Warning {
            place,
            message: "is not UTF-8 and has no effect".to_owned(),
            entry: None,
        }));
        let unread = self.unread_vocabulary(&loaded);
        loaded.warnings.extend(unread);
        loaded
    }

    /// A file of words that cannot be used, told at once and not only when the worker next starts.
    fn unread_vocabulary(&self, loaded: &Loaded) -> Option<Warning> {
        let why = compressor::vocabulary(self.data.root(), &loaded.settings).err()?;
        let key = config::key("vocabulary")?;
        let (place, entry) = match loaded.get(key).1 {
            Source::Environment => (key.variable(), None),
            _ => (config::FILE_NAME.to_owned(), Some(key.name.to_owned())),
        };
        Some(Warning {
            place,
            message: why,
            entry,
        })
    }

    /// The words that types are called by. A file that cannot be read is told by the settings'
    /// warnings; the standard words hold meanwhile, as they do for the worker.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        let settings = self.settings().settings;
        compressor::vocabulary(self.data.root(), &settings).unwrap_or_default()
    }

    /// The store, for looking. `None` before anything was ever remembered: looking does not
    /// create. One of an older version is brought up to date first.
    pub(super) fn store_if_any(&self) -> Result<Option<Store>, StoreError> {
        let path = self.data.db();
        match Store::open_read_only(&path) {
            Err(StoreError::Missing) => Ok(None),
            Err(StoreError::Older { .. }) => Store::open(&path).map(Some),
            other => other.map(Some),
        }
    }

    /// The store, for changing something that must exist already.
    pub(super) fn store_to_change(&self) -> anyhow::Result<Store> {
        let path = self.data.db();
        let is_there = path.try_exists();
        anyhow::ensure!(
            is_there.with_context(|| path.display().to_string())?,
            "nothing is remembered yet in {}",
            self.data.root().display()
        );
        Store::open(&path).with_context(|| path.display().to_string())
    }
}
