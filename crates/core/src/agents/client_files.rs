//! [`ClientFileSpec`]: a file of a client in which we register, and how our entries look in it.

use super::client_home::ClientHome;

/// A file of a client in which we register.
#[derive(Clone, Copy, Debug)]
pub struct ClientFileSpec {
    pub directory: ClientHome,
    /// Its possible names; the first that exists counts, else the first.
    pub names: &'static [&'static str],
    pub entries: ClientEntries,
}

/// The entries that we write into a client's file.
#[derive(Clone, Copy, Debug)]
pub enum ClientEntries {
    /// Hooks under `hooks`, in a JSON file: a list of groups per event.
    JsonHooks(HookShape),
    /// Our MCP server, in an object of a JSON file.
    JsonServer { object: &'static str, shape: ServerShape },
    /// Our MCP server, in a table of a TOML file.
    TomlServer { table: &'static str },
    /// A file of our own, in which [`EXECUTABLE_MARK`] and [`DATA_DIR_MARK`] are replaced by JSON strings.
    OwnFile { template: &'static str },
}

/// Stands for our executable in an [`ClientEntries::OwnFile`].
pub const EXECUTABLE_MARK: &str = "__CLAUDE_MEM_EXECUTABLE__";
/// Stands for the data directory, or `null`, in an [`ClientEntries::OwnFile`].
pub const DATA_DIR_MARK: &str = "__CLAUDE_MEM_DATA_DIR__";
/// The first line of every file of our own: a file without it is not ours.
pub const OWN_FILE_HEAD: &str =
    "// claude-mem: written by `claude-mem install`, removed by `claude-mem uninstall`";

/// How a client writes a hook.
#[derive(Clone, Copy, Debug)]
pub struct HookShape {
    pub timeout_unit: TimeoutUnit,
    /// The matcher of every group, for clients that require one.
    pub matcher: Option<&'static str>,
    /// Hooks have a name, which the client shows.
    pub is_named: bool,
    /// Events whose timeout the client limits, with the seconds.
    pub shorter: &'static [(&'static str, u64)],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimeoutUnit {
    Seconds,
    Milliseconds,
}

/// How a client writes an MCP server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ServerShape {
    /// `command` is the program, `args` are its arguments.
    CommandAndArgs,
    /// `command` is a list, and `type` is `local`.
    CommandList,
}
