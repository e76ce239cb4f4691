//! The variables that a worker takes from the process that starts it.
//!
//! Invariant: nothing else of a session's environment reaches the worker, which serves all projects. In
//! particular no variable of the session selects a provider, an address, a key, a program or a team, and no
//! variable of ours (`CLAUDE_MEM_…`) is passed on at all.

use std::ffi::OsString;

/// The allow list, with the reason for each variable.
pub static WORKER_VARIABLES: &[(&str, &str)] = &[
    ("HOME", "where your files are; install records it, and the record counts."),
    ("USER", "your name, for the client that writes memories."),
    ("LOGNAME", "the same."),
    ("LANG", "the locale."),
    ("LC_ALL", "the locale."),
    ("LC_CTYPE", "the locale."),
    ("TZ", "your time zone, which decides when the day of a budget begins."),
    ("TMPDIR", "where the client that writes memories puts temporary files."),
    ("XDG_RUNTIME_DIR", "where the socket is if the data directory's path is too long for one."),
];

/// Variables that tests set; only builds with debug assertions pass them on.
const TEST_VARIABLES: &[&str] = if cfg!(debug_assertions) { &["CLAUDE_MEM_NOW"] } else { &[] };

/// The environment of a worker, made from the variables of its starter.
pub fn worker_environment(env: impl Fn(&str) -> Option<OsString>) -> Vec<(&'static str, OsString)> {
    let listed = WORKER_VARIABLES.iter().map(|(name, _)| *name);
    let names = listed.chain(TEST_VARIABLES.iter().copied());
    names.filter_map(|name| Some((name, env(name)?))).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::{KEYS, VARIABLES};

    #[test]
    fn no_setting_and_no_search_path_reaches_the_worker() {
        let passed = worker_environment(|name| Some(name.into()));
        let is_passed = |wanted: &str| passed.iter().any(|(name, _)| *name == wanted);
        assert!(is_passed("HOME"));
        for key in KEYS {
            assert!(!is_passed(&key.variable()), "{}", key.name);
        }
        for name in [
            "PATH",
            "CLAUDE_CONFIG_DIR",
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_BASE_URL",
            "HTTPS_PROXY",
            "LD_PRELOAD",
        ] {
            assert!(!is_passed(name), "{name}");
        }
        let ours: Vec<&str> =
            passed.iter().map(|(name, _)| *name).filter(|name| name.starts_with("CLAUDE_MEM_")).collect();
        assert_eq!(ours, TEST_VARIABLES, "only what tests need");
        for (name, _) in VARIABLES {
            assert!(!is_passed(name) || TEST_VARIABLES.contains(name), "{name}");
        }
    }
}
