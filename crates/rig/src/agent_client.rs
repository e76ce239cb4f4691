//! Other agents under test: exact versions of their npm packages, as [`AgentClient`]s.
//!
//! As with Claude Code, [`AgentPackage::ensure`] installs and is called by `cargo xtask test`;
//! [`AgentPackage::or_skip`] only looks for an installed one.

use std::fs;
use std::path::{Path, PathBuf};

use crate::client::{self, MissingPrerequisite};

/// An npm package of an agent.
#[derive(Clone, Copy, Debug)]
pub struct AgentPackage {
    /// The name of its command.
    pub command: &'static str,
    package: &'static str,
    pub version: &'static str,
    /// Finds its program below `node_modules`.
    find_program: fn(&Path) -> Option<PathBuf>,
    /// The program is a script for Node.
    is_script: bool,
}

pub const CODEX: AgentPackage = AgentPackage {
    command: "codex",
    package: "@openai/codex",
    version: "0.169.0",
    find_program: find_codex,
    is_script: false,
};

pub const GEMINI_CLI: AgentPackage = AgentPackage {
    command: "gemini",
    package: "@google/gemini-cli",
    version: "0.61.0",
    find_program: find_gemini,
    is_script: true,
};

pub const OPENCODE: AgentPackage = AgentPackage {
    command: "opencode",
    package: "opencode-ai",
    version: "1.18.33",
    find_program: find_opencode,
    is_script: false,
};

pub const QWEN_CODE: AgentPackage = AgentPackage {
    command: "qwen",
    package: "@qwen-code/qwen-code",
    version: "0.24.4",
    find_program: find_qwen,
    is_script: true,
};

pub const COPILOT_CLI: AgentPackage = AgentPackage {
    command: "copilot",
    package: "@github/copilot",
    version: "1.0.102",
    find_program: find_copilot,
    is_script: false,
};

/// All agents that the tests run besides Claude Code.
pub const PACKAGES: [AgentPackage; 5] = [CODEX, GEMINI_CLI, OPENCODE, QWEN_CODE, COPILOT_CLI];

/// An installed agent.
#[derive(Clone, Debug)]
pub struct AgentClient {
    /// The native executable, or a script.
    pub program: PathBuf,
    /// Node, if the program is a script.
    pub node: Option<PathBuf>,
}

impl AgentPackage {
    /// The agent if it is installed; otherwise prints `skipped: REASON` to the test log.
    pub fn or_skip(&self) -> Option<AgentClient> {
        self.find().map_err(crate::skip).ok()
    }

    /// Finds the agent, installing it first if necessary.
    pub fn ensure(&self) -> Result<AgentClient, MissingPrerequisite> {
        client::ensure_package(&self.folder(), self.package, self.version)?;
        self.find()
    }

    fn folder(&self) -> String {
        format!("{}-{}", self.command, self.version)
    }

    fn find(&self) -> Result<AgentClient, MissingPrerequisite> {
        let missing = |why: &str| MissingPrerequisite(format!("{} {}: {why}", self.package, self.version));
        let modules = client::package_dir(&self.folder())?.join("node_modules");
        let program = (self.find_program)(&modules).ok_or_else(|| missing("no build for this platform"))?;
        let node = if self.is_script {
            Some(client::find_on_path("node").ok_or_else(|| missing("node is not on the PATH"))?)
        } else {
            None
        };
        Ok(AgentClient { program, node })
    }
}

fn find_codex(modules: &Path) -> Option<PathBuf> {
    let packages = entries(&modules.join("@openai")).filter(|dir| is_named(dir, "codex-"));
    let builds = packages.flat_map(|dir| entries(&dir.join("vendor")).collect::<Vec<_>>());
    builds.map(|build| build.join("bin/codex")).find(|program| program.is_file())
}

fn find_gemini(modules: &Path) -> Option<PathBuf> {
    let script = modules.join("@google/gemini-cli/bundle/gemini.js");
    script.is_file().then_some(script)
}

fn find_qwen(modules: &Path) -> Option<PathBuf> {
    let script = modules.join("@qwen-code/qwen-code/cli.js");
    script.is_file().then_some(script)
}

fn find_copilot(modules: &Path) -> Option<PathBuf> {
    let mut programs: Vec<PathBuf> = entries(&modules.join("@github"))
        .filter(|dir| is_named(dir, "copilot-"))
        .map(|dir| dir.join("copilot"))
        .filter(|program| program.is_file())
        .collect();
    // The build for glibc comes before the one for musl.
    programs.sort();
    programs.into_iter().next()
}

fn find_opencode(modules: &Path) -> Option<PathBuf> {
    let packages = entries(modules).filter(|dir| is_named(dir, "opencode-") && !is_named(dir, "opencode-ai"));
    let mut programs: Vec<PathBuf> =
        packages.map(|dir| dir.join("bin/opencode")).filter(|program| program.is_file()).collect();
    // The plain build comes before the one for old processors.
    programs.sort();
    programs.into_iter().next()
}

fn entries(dir: &Path) -> impl Iterator<Item = PathBuf> + use<> {
    fs::read_dir(dir).into_iter().flatten().flatten().map(|entry| entry.path())
}

fn is_named(dir: &Path, begin: &str) -> bool {
    dir.file_name().is_some_and(|name| name.to_string_lossy().starts_with(begin))
}
