//! Reads the API key that the settings name.

use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::error::ModelError;
use claude_mem_core::config::{SecretString, Settings};
use claude_mem_core::paths;

/// Maximum bytes of a key file. Keys are a few hundred bytes long.
const KEY_FILE_BYTES_MAX: u64 = 16 << 10;

/// The key of the settings: `api_key`, else the first line of `api_key_file`, else none. A relative path
/// starts at `root`, the data directory.
pub fn read_api_key(root: &Path, settings: &Settings) -> Result<SecretString, ModelError> {
    let given = settings.api_key.expose().trim();
    if !given.is_empty() {
        return Ok(SecretString::new(given));
    }
    let Some(path) = key_file(root, settings) else {
        return Ok(SecretString::default());
    };
    let wrong = |why: String| ModelError::Auth { why: format!("api_key_file {}: {why}", path.display()) };
    let file = paths::open_file(&path).map_err(|error| wrong(error.to_string()))?;
    let mut text = String::new();
    file.take(KEY_FILE_BYTES_MAX).read_to_string(&mut text).map_err(|error| wrong(error.to_string()))?;
    let key = text.lines().next().unwrap_or_default().trim();
    if key.is_empty() { Err(wrong("its first line is empty".to_owned())) } else { Ok(SecretString::new(key)) }
}

fn key_file(root: &Path, settings: &Settings) -> Option<PathBuf> {
    let path = settings.api_key_file.trim();
    (!path.is_empty()).then(|| root.join(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use claude_mem_core::config;

    fn key(root: &Path, json: &str) -> Result<String, String> {
        let settings = config::from_text(Some(json), |_| None).settings;
        read_api_key(root, &settings).map(|key| key.expose().to_owned()).map_err(|error| error.to_string())
    }

    #[test]
    fn key_comes_from_the_setting_or_its_file() {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join("key"), " sk-file \nanother line\n").unwrap();
        std::fs::write(dir.path().join("blank"), "\nsk\n").unwrap();
        assert_eq!(key(dir.path(), "{}").unwrap(), "");
        assert_eq!(key(dir.path(), r#"{"api_key_file": "key"}"#).unwrap(), "sk-file");
        assert_eq!(key(dir.path(), r#"{"api_key_file": "key", "api_key": " mine "}"#).unwrap(), "mine");
        for json in [r#"{"api_key_file": "nowhere"}"#, r#"{"api_key_file": "blank"}"#] {
            let why = key(dir.path(), json).unwrap_err();
            assert!(why.contains("api_key_file") && !why.contains("sk"), "{why}");
        }
    }
}
