//! [`WorkerSettings`]: the settings of a running worker.

use std::sync::Arc;

use claude_mem_core::config::Settings;
use claude_mem_core::live_settings::LiveSettings;

/// The settings at the start, for what is created once, and the current ones for everything else.
#[derive(Debug)]
pub(crate) struct WorkerSettings {
    pub at_start: Settings,
    live: Option<Arc<LiveSettings>>,
}

impl WorkerSettings {
    pub(crate) const fn live(at_start: Settings, live: Arc<LiveSettings>) -> Self {
        Self { at_start, live: Some(live) }
    }

    /// The settings as the file has them now.
    pub(crate) fn current(&self) -> Settings {
        match &self.live {
            Some(live) => {
                let loaded = live.current();
                conservative_retention(loaded.settings.clone(), loaded.file_unreadable)
            }
            None => self.at_start.clone(),
        }
    }
}

/// Settings that do not change, for tests.
impl From<Settings> for WorkerSettings {
    fn from(settings: Settings) -> Self {
        Self { at_start: settings, live: None }
    }
}

/// The settings to run with. If the settings file cannot be read, its retention settings are unknown,
/// so all retention is raised to the maximum: defaults must not delete anything.
pub fn conservative_retention(mut settings: Settings, file_unreadable: bool) -> Settings {
    if file_unreadable {
        settings.backups_keep = settings.backups_keep.max(BACKUPS_KEPT_MAX);
        settings.backups_bytes_max = u64::MAX;
        settings.log_days = settings.log_days.max(LOG_DAYS_KEPT_MAX);
        settings.log_bytes_max = u64::MAX;
        settings.prompts_days_max = 0;
        settings.memories_days_max = 0;
    }
    settings
}

/// The largest `backups_keep` that can be set.
const BACKUPS_KEPT_MAX: u32 = 1_000;
/// The largest `log_days` that can be set.
const LOG_DAYS_KEPT_MAX: u32 = 3_650;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unreadable_settings_delete_nothing() {
        let defaults = Settings::default();
        let as_set = conservative_retention(defaults.clone(), false);
        assert_eq!(as_set.backups_keep, defaults.backups_keep);
        let defaults = Settings { prompts_days_max: 9, memories_days_max: 9, ..defaults };
        let careful = conservative_retention(defaults, true);
        let kept = (careful.backups_keep, careful.backups_bytes_max);
        assert_eq!(kept, (1_000, u64::MAX));
        let kept = (careful.log_days, careful.log_bytes_max);
        assert_eq!(kept, (3_650, u64::MAX));
        assert_eq!((careful.prompts_days_max, careful.memories_days_max), (0, 0));
    }
}
