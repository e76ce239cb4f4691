//! [`LiveSettings`]: the settings of a long-running process, which follow changes of the file.

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use crate::config::{LoadedSettings, from_text, load, read_text};
use crate::sync::lock;

/// Reads an environment variable.
type VariableLookup = fn(&str) -> Option<String>;

/// The current settings of a data directory. Each call of [`LiveSettings::current`] reads the file and
/// parses it if its text has changed, so that no change is missed, however quickly two follow each other.
#[derive(Debug)]
pub struct LiveSettings {
    data_dir: PathBuf,
    env: VariableLookup,
    parsed: Mutex<Option<ParsedSettings>>,
}

#[derive(Debug)]
struct ParsedSettings {
    text: Option<String>,
    loaded: Arc<LoadedSettings>,
}

impl LiveSettings {
    pub fn new(data_dir: PathBuf, env: VariableLookup) -> Self {
        Self { data_dir, env, parsed: Mutex::default() }
    }

    /// The settings as the file has them now.
    pub fn current(&self) -> Arc<LoadedSettings> {
        let Ok(text) = read_text(&self.data_dir) else {
            // Unreadable: `load` reports it.
            return Arc::new(load(&self.data_dir, self.env));
        };
        let mut parsed = lock(&self.parsed);
        match &*parsed {
            Some(known) if known.text == text => Arc::clone(&known.loaded),
            _ => {
                let loaded = Arc::new(from_text(text.as_deref(), self.env));
                *parsed = Some(ParsedSettings { text, loaded: Arc::clone(&loaded) });
                loaded
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::Provider;

    #[test]
    fn change_of_the_file_is_seen_at_once() {
        let dir = tempfile::tempdir().unwrap();
        let live = LiveSettings::new(dir.path().to_owned(), |_| None);
        assert_eq!(live.current().settings.provider, Provider::Auto);
        for (text, provider) in [
            (r#"{"provider": "openai"}"#, Provider::OpenAi),
            (r#"{"provider": "gemini"}"#, Provider::Gemini),
            ("{", Provider::Auto),
        ] {
            // In place and of the same length: neither inode nor size tells the difference.
            std::fs::write(dir.path().join(crate::config::FILE_NAME), text).unwrap();
            assert_eq!(live.current().settings.provider, provider, "{text}");
        }
        assert!(live.current().file_unreadable);
    }
}
