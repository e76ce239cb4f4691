//! Runs the client, the executable under test and other programs in a [`Sandbox`].

use std::ffi::OsStr;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use super::Sandbox;
use crate::process::{self, ProcessOutput};

/// A scripted session takes a second or two; a loaded machine may take twenty times that.
const CLIENT_SECONDS_MAX: u64 = 120;
const MEM_SECONDS_MAX: u64 = 60;

/// The tools that a scripted session may use without permission prompts.
const ALLOWED: &str = "Bash Read Write Edit MultiEdit Glob Grep Task Agent mcp__claude-mem";

impl Sandbox {
    /// Runs the client with these arguments in the project.
    pub fn claude(&self, args: &[&str], stdin: &str) -> ProcessOutput {
        let command = self.claude_command(args);
        process::run(command, stdin.as_bytes(), Duration::from_secs(CLIENT_SECONDS_MAX))
    }

    /// Runs one non-interactive session: a prompt, tools allowed, the final text on stdout.
    pub fn prompt(&self, text: &str) -> ProcessOutput {
        self.prompt_with(text, &[])
    }

    /// Like [`Self::prompt`] with more arguments, e.g. `--continue` or `--output-format stream-json`.
    pub fn prompt_with(&self, text: &str, more: &[&str]) -> ProcessOutput {
        let mut args = vec!["-p", text, "--permission-mode", "acceptEdits", "--allowedTools", ALLOWED];
        args.extend(more);
        self.claude(&args, "")
    }

    /// A command that runs the client, for the caller to spawn.
    pub fn claude_command(&self, args: &[&str]) -> Command {
        let client = self.client.as_ref().expect("a sandbox made `with_client`");
        let mut command = self.command(client.program());
        command.args(client.first_args()).args(args);
        command
    }

    /// Runs the executable under test.
    pub fn mem(&self, args: &[&str]) -> ProcessOutput {
        self.mem_with(args, b"")
    }

    /// Runs the executable under test with this stdin.
    pub fn mem_with(&self, args: &[&str], stdin: impl AsRef<[u8]>) -> ProcessOutput {
        let limit = Duration::from_secs(MEM_SECONDS_MAX);
        process::run(self.mem_command(args), stdin.as_ref(), limit)
    }

    /// Runs the hook for this event with one payload, as the client would.
    pub fn hook(&self, event: &str, payload: impl AsRef<[u8]>) -> ProcessOutput {
        self.mem_with(&["hook", "claude-code", event], payload)
    }

    /// A command that runs the executable under test, for the caller to spawn.
    pub fn mem_command(&self, args: &[&str]) -> Command {
        let exe = self.exe.as_ref().expect("a sandbox made `with_exe`");
        let mut command = self.command(exe);
        command.args(args);
        command
    }

    /// A command for any program, in the project, with only the sandbox's environment.
    pub fn command(&self, program: impl AsRef<Path>) -> Command {
        let program: &OsStr = program.as_ref().as_os_str();
        let mut command = Command::new(program);
        command.current_dir(&self.project).env_clear().envs(&self.env);
        command
    }
}
