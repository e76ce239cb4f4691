//! Finds the agents other than Claude Code on this machine, without running them.

use std::ffi::OsString;
use std::path::PathBuf;

use super::find;
use claude_mem_core::agents::{AGENTS, CLAUDE_CODE, CodingAgent};
use claude_mem_core::client_version::ClientVersion;
use claude_mem_core::paths::find_on_path;

/// An agent on this machine.
#[derive(Clone, Debug)]
pub struct FoundAgent {
    pub agent: &'static CodingAgent,
    /// `None` if only its directory was found.
    pub program: Option<PathBuf>,
    pub version: Option<ClientVersion>,
}

impl FoundAgent {
    /// One line for people.
    pub fn describe(&self) -> String {
        let title = self.agent.title;
        match (&self.program, self.version) {
            (Some(program), Some(version)) => format!("{title} {version} ({})", program.display()),
            (Some(program), None) => format!("{title}, unknown version ({})", program.display()),
            (None, _) => format!("{title}, whose program is not on the PATH"),
        }
    }
}

/// The agents other than Claude Code whose program or directory is there, in the order of the table.
pub fn find_agents(env: &dyn Fn(&str) -> Option<OsString>) -> Vec<FoundAgent> {
    AGENTS
        .iter()
        .filter(|agent| agent.name != CLAUDE_CODE.name)
        .filter_map(|agent| find_agent(agent, env))
        .collect()
}

/// The agent, if its program or its directory is there.
pub fn find_agent(agent: &'static CodingAgent, env: &dyn Fn(&str) -> Option<OsString>) -> Option<FoundAgent> {
    let path = env("PATH").unwrap_or_default();
    let command = agent.program.command;
    let below_home = || env("HOME").map(|home| PathBuf::from(home).join(".local/bin").join(command));
    let program = find_on_path(&path, command).or_else(|| below_home().filter(|program| program.is_file()));
    let is_used = || agent.program.home.resolve(env).is_some_and(|dir| dir.is_dir());
    if program.is_none() && !is_used() {
        return None;
    }
    let version =
        program.as_ref().and_then(|program| find::version_of_program(program, agent.program.package));
    Some(FoundAgent { agent, program, version })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    fn found_in(home: &Path) -> Vec<&'static str> {
        let bin = home.join("bin");
        let env = |name: &str| match name {
            "HOME" => Some(home.as_os_str().to_owned()),
            "PATH" => Some(bin.as_os_str().to_owned()),
            _ => None,
        };
        find_agents(&env).iter().map(|found| found.agent.name).collect()
    }

    #[test]
    fn agent_is_found_by_its_program_or_its_directory() {
        let home = tempfile::tempdir().unwrap();
        let home = home.path();
        assert_eq!(found_in(home), Vec::<&str>::new());
        std::fs::create_dir_all(home.join("bin")).unwrap();
        std::fs::write(home.join("bin/gemini"), "").unwrap();
        assert_eq!(found_in(home), ["gemini-cli"]);
        std::fs::create_dir_all(home.join(".codex")).unwrap();
        assert_eq!(found_in(home), ["codex", "gemini-cli"]);
    }
}
