//! [`App`]: what every command needs from the process, read once: the data directory and the time.
//!
//! It also loads the settings and opens the store. Opening the store for reading never creates it.

use std::path::Path;

use anyhow::Context as _;

use claude_mem_capture::hook_database::HookDatabase;
use claude_mem_capture::{enqueue, spool};
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config;
use claude_mem_core::config::{LoadedSettings, SettingsWarning};
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_ingest::compressor_config;
use claude_mem_store::{Store, StoreError};

/// The data directory and the current time of this process.
#[derive(Debug)]
pub(super) struct App {
    pub(super) data: DataDir,
    pub(super) now: Millis,
}

impl App {
    /// `data_dir` is `--data-dir`, relative to the current directory.
    pub(super) fn from_process(data_dir: Option<&Path>) -> anyhow::Result<Self> {
        let data = match data_dir {
            Some(dir) => DataDir::new(std::path::absolute(dir)?),
            None => {
                DataDir::find(|name| std::env::var_os(name)).context("no home directory; use --data-dir")?
            }
        };
        Ok(Self { data, now: clock::now().millis() })
    }

    /// Moves spooled events into the queue, so that a command sees a current queue. Events that the
    /// store does not accept stay in the spool and are counted there. Returns only errors of the
    /// spool; errors of the store are reported when it is opened.
    pub(super) fn ingest_spool(&self) -> Result<(), StoreError> {
        let unread = |error| StoreError::io(self.data.spool().display(), error);
        if spool::is_empty(&self.data).map_err(unread)? {
            return Ok(());
        }
        let mut database = HookDatabase::new(&self.data);
        let drained = enqueue::drain_spool_briefly(&mut database, self.now);
        match drained.and_then(|()| database.close()) {
            Err(error @ StoreError::Io(..)) => Err(error),
            _ => Ok(()),
        }
    }

    /// Loads the settings, with warnings about unknown or unreadable `CLAUDE_MEM_*` variables and
    /// about an unreadable vocabulary.
    pub(super) fn settings(&self) -> LoadedSettings {
        let mut loaded = config::load(self.data.root(), |name| std::env::var(name).ok());
        let names: Vec<String> =
            std::env::vars_os().filter_map(|(name, _)| name.into_string().ok()).collect();
        let unknown = config::unknown_variables(names.iter().map(String::as_str));
        loaded.warnings.extend(unknown);
        let garbled = std::env::vars_os()
            .filter(|(_, value)| value.to_str().is_none())
            .filter_map(|(name, _)| name.into_string().ok())
            // A path need not be UTF-8.
            .filter(|name| name.starts_with("CLAUDE_MEM_") && name != "CLAUDE_MEM_DATA_DIR");
        loaded.warnings.extend(garbled.map(|place| SettingsWarning {
            place,
            message: "is not UTF-8 and is ignored".to_owned(),
            entry: None,
        }));
        let unread = self.vocabulary_warning(&loaded);
        loaded.warnings.extend(unread);
        loaded
    }

    /// A warning if the vocabulary file cannot be used, so that it shows before the worker starts.
    fn vocabulary_warning(&self, loaded: &LoadedSettings) -> Option<SettingsWarning> {
        let why = compressor_config::load_vocabulary(self.data.root(), &loaded.settings).err()?;
        let (place, entry) = (config::FILE_NAME.to_owned(), Some("vocabulary".to_owned()));
        Some(SettingsWarning { place, message: why, entry })
    }

    /// The vocabulary of types and concepts. Falls back to the default one, as the worker does, if
    /// the file cannot be read; [`App::settings`] has the warning.
    pub(super) fn vocabulary(&self) -> Vocabulary {
        let settings = self.settings().settings;
        compressor_config::load_vocabulary(self.data.root(), &settings).unwrap_or_default()
    }

    /// Opens the store for reading, or returns `None` if there is none: reading does not create it.
    /// A store with an older schema is migrated first.
    pub(super) fn store_if_any(&self) -> Result<Option<Store>, StoreError> {
        let path = self.data.db();
        match Store::open_read_only(&path) {
            Err(StoreError::Missing) => Ok(None),
            Err(StoreError::Older { .. }) => Store::open(&path).map(Some),
            other => other.map(Some),
        }
    }

    /// Opens an existing store for writing. A missing store is an error.
    pub(super) fn store_to_change(&self) -> anyhow::Result<Store> {
        let path = self.data.db();
        let is_there = path.try_exists();
        anyhow::ensure!(
            is_there.with_context(|| path.display().to_string())?,
            "no memories yet in {}",
            self.data.root().display()
        );
        Store::open(&path).with_context(|| path.display().to_string())
    }
}
