//! Claims of ARCHITECTURE.md about where a name may stand, held by a lexical scan of the product's sources.

use std::path::Path;

use super::rust_source::{self, RustSource, StringLiteral};
use crate::cargo;

/// Crates whose sources are not the product's.
const TOOLS: &[&str] = &["bench", "rig"];

/// Crates that take the time as a parameter.
const WITHOUT_CLOCK: &[&str] = &["distil", "models", "recall", "redact", "search", "store"];

/// Files that start processes themselves: the first two are the registry of children, the others start what
/// must outlive us or share our terminal (see `core/src/child/mod.rs`), become another program, or run a
/// system program to its end.
const SPAWNERS: &[&str] = &[
    "core/src/child/spawner.rs",
    "core/src/child/shim.rs",
    "capture/src/ipc/spawn.rs",
    "claude-mem/src/cli/open.rs",
    "claude-mem/src/cli/edit.rs",
    "claude-mem/src/cli/install/ask.rs",
    "claude-mem/src/cli/install/own_copy.rs",
    "claude-mem/src/cli/team/serve.rs",
    "core/src/platform/portable.rs",
];

/// The directory of the only module that may name an operating system.
const PLATFORM: &str = "core/src/platform/";

/// Words of code that exist on one operating system only, or name one.
const SYSTEM_WORDS: &[&str] = &[
    "memfd_",
    "peercred",
    "pidfd_",
    "process::nice",
    "renameat_with",
    "set_parent_process_death_signal",
    "target_os",
];

/// Folders that exist on one operating system only, or mean something else on another.
const SYSTEM_FOLDERS: &[&str] = &["/etc", "/Library", "/proc", "/sys"];

/// Files that may name such a path, and why.
const SYSTEM_PATH_EXCEPTIONS: &[(&str, &str)] = &[(
    "core/src/agents/claude_code/mod.rs",
    "a client's path for each system, of which the platform module chooses",
)];

/// Names that only some files may spell as string literals.
struct ReservedNames {
    names: &'static [&'static str],
    /// Names that are words of their own, reserved only where they are joined to a path.
    joined: &'static [&'static str],
    /// The file that may spell them, or a directory.
    owner: &'static str,
    /// Other files that may spell them, and which name they mean by it.
    exceptions: &'static [(&'static str, &'static str)],
}

const RESERVED_NAMES: &[ReservedNames] = &[
    ReservedNames {
        names: &[
            "claude-mem.db",
            "import.lock",
            "installed.json",
            "settings.json",
            "settings.lock",
            "vectors.db",
            "worker.lock",
            "worker.pid",
            "worker.sock",
            "worker.started",
        ],
        joined: &[
            "backups",
            "bin",
            "children",
            "clients",
            "compressor",
            "importing",
            "logs",
            "muted",
            "paused",
            "plugin",
            "recovering",
            "rehearsal",
            "spool",
            "team-trial",
            "token",
        ],
        owner: "core/src/paths.rs",
        exceptions: &[
            ("core/src/agents/gemini_cli/mod.rs", "the client's settings.json"),
            ("core/src/agents/qwen_code/mod.rs", "the client's settings.json"),
            ("setup/src/install/plan.rs", "the client's settings.json"),
            ("team-server/src/trial.rs", "PostgreSQL's directory of programs"),
            ("setup/src/install/check.rs", "the child registry of a temporary directory"),
        ],
    },
    ReservedNames {
        names: &[
            "AfterAgent",
            "AfterTool",
            "BeforeAgent",
            "claude-code",
            "codex",
            "copilot-cli",
            "gemini-cli",
            "opencode",
            "PostCompact",
            "PostToolUse",
            "PostToolUseFailure",
            "PreCompact",
            "PreToolUse",
            "qwen-code",
            "SessionEnd",
            "SessionStart",
            "SubagentStop",
            "UserPromptSubmit",
        ],
        joined: &[],
        owner: "core/src/agents/",
        exceptions: &[
            ("setup/src/install/client.rs", "the events to register, by client version"),
            ("setup/src/install/check.rs", "the calls of a test session"),
            ("setup/src/install/find.rs", "the name of the client's npm package"),
        ],
    },
];

/// Files that break a claim, one line each.
pub(super) fn broken_claims() -> anyhow::Result<Vec<String>> {
    let crates = cargo::root().join("crates");
    let mut broken = Vec::new();
    for folder in std::fs::read_dir(&crates)? {
        let name = folder?.file_name().to_string_lossy().into_owned();
        let sources = crates.join(&name).join("src");
        if TOOLS.contains(&name.as_str()) || !sources.is_dir() {
            continue;
        }
        for source in rust_source::read_sources(&sources)? {
            broken.extend(faults(&name, &source));
        }
    }
    broken.sort();
    Ok(broken)
}

fn faults(crate_name: &str, source: &RustSource) -> Vec<String> {
    let path = Path::new(crate_name).join("src").join(&source.path).to_string_lossy().into_owned();
    let is_file = |known: &str| path == known;
    let mut found = Vec::new();
    for (number, line) in source.code.lines().enumerate() {
        let at = format!("crates/{path}:{}", number + 1);
        if line.contains("Command::new(") && !SPAWNERS.iter().any(|known| is_file(known)) {
            found.push(format!("{at} starts a process without the child registry"));
        }
        if WITHOUT_CLOCK.contains(&crate_name) && (line.contains("clock::now") || line.contains("Zoned::now"))
        {
            found.push(format!("{at} reads the clock; this crate takes the time as a parameter"));
        }
        let word = SYSTEM_WORDS.iter().find(|word| line.contains(**word));
        if let Some(word) = word.filter(|_| !path.starts_with(PLATFORM)) {
            found.push(format!("{at} uses {word:?} of one operating system; only {PLATFORM} may"));
        }
    }
    let is_reserved =
        path.starts_with(PLATFORM) || SYSTEM_PATH_EXCEPTIONS.iter().any(|(known, _)| is_file(known));
    for literal in source.literals.iter().filter(|literal| !is_reserved && names_system(&literal.text)) {
        let (line, text) = (literal.line, &literal.text);
        found.push(format!(
            "crates/{path}:{line} names {text:?} of one operating system; only {PLATFORM} may"
        ));
    }
    for reserved in RESERVED_NAMES {
        if path.starts_with(reserved.owner) || reserved.exceptions.iter().any(|(known, _)| is_file(known)) {
            continue;
        }
        for literal in &source.literals {
            if let Some(name) = reserved.spelled_in(literal) {
                let (line, owner) = (literal.line, reserved.owner);
                found.push(format!("crates/{path}:{line} spells {name:?}, which belongs to {owner}"));
            }
        }
    }
    found
}

/// Whether a literal is a path or a program of one operating system. A text with blanks is a message for people.
fn names_system(text: &str) -> bool {
    let is_below =
        |folder: &str| text.strip_prefix(folder).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
    !text.contains(char::is_whitespace)
        && (SYSTEM_FOLDERS.iter().any(|folder| is_below(folder)) || text.starts_with("xdg-"))
}

impl ReservedNames {
    /// The reserved name in a literal. A text with blanks is a message for people.
    fn spelled_in(&self, literal: &StringLiteral) -> Option<&'static str> {
        if literal.text.contains(char::is_whitespace) {
            return None;
        }
        let parts = || literal.text.split('/');
        let is_name =
            |name: &&&str| parts().any(|part| part == **name || part.starts_with(&format!("{name}.")));
        let found = self.names.iter().find(is_name).or_else(|| {
            let is_joined = |name: &&&str| literal.joined && literal.text == **name;
            self.joined.iter().find(is_joined)
        });
        found.copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn faults_in(crate_name: &str, path: &str, code: &str) -> Vec<String> {
        faults(crate_name, &RustSource::parse(path, code))
    }

    #[test]
    fn names_are_reserved_to_their_file() {
        let code = "fn f() { dir.join(\"worker.pid\"); dir.join(\"spool\"); say(\"spool\"); }\n";
        let found = faults_in("worker", "a.rs", code);
        assert_eq!(
            found,
            [
                "crates/worker/src/a.rs:1 spells \"worker.pid\", which belongs to core/src/paths.rs",
                "crates/worker/src/a.rs:1 spells \"spool\", which belongs to core/src/paths.rs",
            ]
        );
        assert_eq!(faults_in("core", "paths.rs", code), [""; 0]);
        assert_eq!(faults_in("worker", "a.rs", "fn f() { say(\"worker.pid is gone\"); }\n"), [""; 0]);
    }

    #[test]
    fn client_words_are_reserved_to_agents() {
        let code = "const E: &str = \"PostToolUse\";\n";
        assert_eq!(faults_in("capture", "a.rs", code).len(), 1);
        assert_eq!(faults_in("core", "agents/claude_code/mod.rs", code), [""; 0]);
    }

    #[test]
    fn operating_systems_are_named_by_the_platform_module_only() {
        for code in [
            "#[cfg(target_os = \"linux\")]\nfn f() {}\n",
            "fn f() { pidfd_open(pid); }\n",
            "fn f() { read(\"/proc/self/stat\"); }\n",
            "fn f() { read(\"/etc/hostname\"); }\n",
            "fn f() { run(\"xdg-open\"); }\n",
        ] {
            assert_eq!(faults_in("worker", "a.rs", code).len(), 1, "{code}");
            assert_eq!(faults_in("core", "platform/linux.rs", code), [""; 0]);
        }
        let elsewhere = "fn f() { say(\"/process\"); target_arch(); }\n";
        assert_eq!(faults_in("worker", "a.rs", elsewhere), [""; 0]);
    }

    #[test]
    fn processes_and_the_clock_are_reserved() {
        let code = "fn f() {\n    Command::new(program);\n    clock::now();\n}\n";
        assert_eq!(faults_in("search", "a.rs", code).len(), 2);
        assert_eq!(faults_in("core", "child/spawner.rs", code), [""; 0]);
    }
    #[test]
    fn every_agent_has_a_reserved_name() {
        let folders = std::fs::read_dir(cargo::root().join("crates/core/src/agents")).unwrap();
        let folders = folders.map(|entry| entry.unwrap()).filter(|entry| entry.path().is_dir());
        let names: Vec<String> =
            folders.map(|folder| folder.file_name().to_string_lossy().replace('_', "-")).collect();
        assert!(names.len() >= 6, "{names:?}");
        for name in names {
            let is_reserved = RESERVED_NAMES.iter().any(|reserved| reserved.names.contains(&name.as_str()));
            assert!(is_reserved, "{name}");
        }
    }
}
