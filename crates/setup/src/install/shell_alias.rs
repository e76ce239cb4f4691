//! Configuration directories of the client that only a shell alias or function sets: a hook of ours in the
//! usual directory never runs in those sessions.

use std::path::{Path, PathBuf};

use crate::install::NAME;
use crate::install::plan::ClientPaths;

/// The files in which shells define aliases.
const SHELL_FILES: [&str; 9] = [
    ".bashrc",
    ".bash_aliases",
    ".bash_profile",
    ".zshrc",
    ".zshenv",
    ".zprofile",
    ".profile",
    ".aliases",
    ".config/fish/config.fish",
];
/// Bytes read of one of them.
const SHELL_FILE_BYTES_MAX: u64 = 256 << 10;
const VARIABLE: &str = "CLAUDE_CONFIG_DIR";

/// Existing directories that the user's shell files name and in which our hooks are not registered. `current` is
/// the directory that is known already.
pub fn unregistered_config_dirs(home: &Path, current: &Path) -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = Vec::new();
    for file in SHELL_FILES {
        let path = home.join(file);
        let is_small = std::fs::metadata(&path).is_ok_and(|meta| meta.len() <= SHELL_FILE_BYTES_MAX);
        // A file that cannot be read tells nothing; this is a hint, not a check.
        let text = if is_small { std::fs::read(&path).unwrap_or_default() } else { Vec::new() };
        for dir in config_dirs(&String::from_utf8_lossy(&text), home) {
            if dir != current && dir.is_dir() && !found.contains(&dir) && !is_registered(&dir) {
                found.push(dir);
            }
        }
    }
    found
}

fn is_registered(dir: &Path) -> bool {
    let text = settings_of(dir).and_then(|path| std::fs::read_to_string(path).ok());
    text.is_some_and(|text| text.contains(NAME))
}

fn settings_of(dir: &Path) -> Option<PathBuf> {
    let env = |name: &str| (name == VARIABLE).then(|| dir.into());
    Some(ClientPaths::find(env, None)?.settings)
}

/// The values of the variable in a shell file, comments left out.
fn config_dirs(text: &str, home: &Path) -> Vec<PathBuf> {
    let lines = text.lines().map(str::trim).filter(|line| !line.starts_with('#'));
    let values = lines.flat_map(|line| line.split(VARIABLE).skip(1));
    // `NAME=value`, or `set -x NAME value` of fish.
    let values = values.filter_map(|rest| rest.strip_prefix('=').or_else(|| rest.strip_prefix(' ')));
    values.filter_map(|value| directory(value.trim_start(), home)).collect()
}

/// The word at the beginning of a text, with the home directory written out. `None` if it has other variables.
fn directory(rest: &str, home: &Path) -> Option<PathBuf> {
    let word = match rest.chars().next()? {
        quote @ ('"' | '\'') => rest[1..].split(quote).next()?,
        _ => rest.split(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ';' | '&')).next()?,
    };
    let in_home = ["~", "$HOME", "${HOME}"].iter().find_map(|prefix| word.strip_prefix(prefix));
    let path = match in_home {
        Some(below) => home.join(below.trim_start_matches('/')),
        None => PathBuf::from(word),
    };
    let is_plain = path.is_absolute() && !path.to_string_lossy().contains('$');
    is_plain.then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn directories_of_aliases_are_found_in_any_spelling() {
        let text = "alias work='CLAUDE_CONFIG_DIR=~/.claude-work claude'\n\
                    # alias old='CLAUDE_CONFIG_DIR=~/.claude-old claude'\n\
                    play() { CLAUDE_CONFIG_DIR=\"$HOME/.claude play\" claude \"$@\"; }\n\
                    export CLAUDE_CONFIG_DIR=/srv/claude; CLAUDE_CONFIG_DIR=$OTHER/x claude\n\
                    set -gx CLAUDE_CONFIG_DIR ~/.claude-fish\n\
                    unset CLAUDE_CONFIG_DIR\n";
        let found = config_dirs(text, Path::new("/home/kim"));
        assert_eq!(
            found,
            ["/home/kim/.claude-work", "/home/kim/.claude play", "/srv/claude", "/home/kim/.claude-fish"]
                .map(PathBuf::from)
        );
    }

    #[test]
    fn only_existing_directories_without_our_hooks_are_told() {
        let home = tempfile::tempdir().unwrap();
        let dir = |name: &str| home.path().join(name);
        for name in [".claude", ".claude-work", ".claude-done"] {
            std::fs::create_dir(dir(name)).unwrap();
        }
        let settings = settings_of(&dir(".claude-done")).unwrap();
        std::fs::write(settings, "{\"hooks\": \"claude-mem hook\"}").unwrap();
        let each = ["~/.claude", "~/.claude-work", "~/.claude-done", "~/.claude-gone"];
        let aliases = each.map(|dir| format!("alias c='CLAUDE_CONFIG_DIR={dir} claude'"));
        std::fs::write(dir(".zshrc"), aliases.join("\n")).unwrap();
        let found = unregistered_config_dirs(home.path(), &dir(".claude"));
        assert_eq!(found, [dir(".claude-work")]);
    }
}
