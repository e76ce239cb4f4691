//! Paths of the data directory, which is private to its owner whatever the umask.
//!
//! [`DataDir`] names the files in it; no other file spells these names. The environment is read once,
//! at the edge, through the closure that [`DataDir::find`] takes.

use std::ffi::OsString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::platform;

use sha2::{Digest as _, Sha256};

use crate::event_key::hex;
pub use crate::files::{
    append_file, create_dir, create_file, ensure_private_dir, find_on_path, is_same_file, open_file,
    open_file_if_any, random_hex, read_file, remove_if_exists, replace_file, replace_file_with, with_suffix,
};
use crate::files::{is_open_to_others, restrict_dir};

/// Maximum bytes of the worker socket's path. The kernel accepts slightly more than this.
pub(crate) const SOCKET_PATH_BYTES_MAX: usize = 100;

/// The settings file's name, as messages show it.
pub const SETTINGS_NAME: &str = "settings.json";

/// The worker socket's name, if it is in the data directory.
pub const SOCKET_NAME: &str = "worker.sock";

/// Prefix of the HTML files that redirect a browser to a link.
pub const OPEN_PAGE_PREFIX: &str = "open-";

/// The data directory: `CLAUDE_MEM_DATA_DIR`, or `~/.claude-mem`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// The data directory of a user who has chosen none.
    pub fn in_home(home: &Path) -> Self {
        Self::new(home.join(".claude-mem"))
    }

    /// Finds the data directory from the environment. `None`: neither a setting nor a home
    /// directory.
    ///
    /// A relative setting is resolved against the home directory: a hook's working directory
    /// follows the agent's `cd`, which would scatter data over the disk.
    pub fn find(env: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let given = |name| env(name).filter(|value| !value.is_empty());
        let home = given("HOME").map(PathBuf::from);
        match given("CLAUDE_MEM_DATA_DIR").map(PathBuf::from) {
            None => Some(Self::in_home(&home?)),
            Some(path) if path.is_absolute() => Some(Self::new(path)),
            Some(path) => {
                let below = path.strip_prefix("~").unwrap_or(&path);
                Some(Self::new(home?.join(below)))
            }
        }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The main database: everything that cannot be rebuilt, and the full-text index.
    pub fn db(&self) -> PathBuf {
        self.root.join("claude-mem.db")
    }

    /// The vectors. Can be deleted at any time.
    pub fn vectors_db(&self) -> PathBuf {
        self.root.join("vectors.db")
    }

    /// Events on their way into the database, one file each.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool")
    }

    /// Privacy marks: files of turns and sessions that must not be recorded, of prompts that may be, and of the
    /// hashed words of private blocks.
    pub fn muted(&self) -> PathBuf {
        self.root.join("muted")
    }

    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    pub fn backups(&self) -> PathBuf {
        self.root.join("backups")
    }

    /// Where the replacement of a corrupt database is built.
    pub fn recovering(&self) -> PathBuf {
        self.root.join("recovering")
    }

    pub fn settings(&self) -> PathBuf {
        self.root.join(SETTINGS_NAME)
    }

    /// Lock file, held while the settings are changed.
    pub fn settings_lock(&self) -> PathBuf {
        self.root.join("settings.lock")
    }

    /// The empty working directory of the compressing client, so that it finds no instruction
    /// files.
    pub fn compressor(&self) -> PathBuf {
        self.root.join("compressor")
    }

    /// Lock file, held during an import.
    pub fn import_lock(&self) -> PathBuf {
        self.root.join("import.lock")
    }

    /// A copy of a foreign database while it is imported.
    pub fn import_scratch(&self) -> PathBuf {
        self.root.join("importing")
    }

    /// A copy of our own database for the dry run of an import.
    pub fn rehearsal(&self) -> PathBuf {
        self.root.join("rehearsal")
    }

    /// The installation manifest: what was changed in the clients' files.
    pub fn installed(&self) -> PathBuf {
        self.root.join("installed.json")
    }

    /// Backups of the clients' files.
    pub fn client_backups(&self) -> PathBuf {
        self.backups().join("clients")
    }

    /// Our plugin, as installed in the client.
    pub fn plugin(&self) -> PathBuf {
        self.root.join("plugin")
    }

    /// The copy of the executable, if it was installed from a package manager's cache.
    pub fn own_executable(&self) -> PathBuf {
        self.root.join("bin").join("claude-mem")
    }

    /// Exists while capture is paused.
    pub fn paused(&self) -> PathBuf {
        self.root.join("paused")
    }

    /// The secret for the HTTP API.
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// The address of the team's server and this machine's token for it.
    pub fn team(&self) -> PathBuf {
        self.root.join("team.json")
    }

    /// Hashes of the tokens of open pages, so that a page survives a restart of the worker.
    pub fn page_tokens(&self) -> PathBuf {
        self.root.join("page-tokens")
    }

    /// The HTML file that redirects a browser to a link. Named after a hash of the secret.
    pub fn open_page(&self, secret: &str) -> PathBuf {
        let name = Sha256::digest(secret.as_bytes());
        self.root.join(format!("{OPEN_PAGE_PREFIX}{}.html", hex(&name[..8])))
    }

    /// The worker's process id, port and version.
    pub fn worker_pid(&self) -> PathBuf {
        self.root.join("worker.pid")
    }

    /// The port of the last worker.
    pub fn worker_port(&self) -> PathBuf {
        self.root.join("worker.port")
    }

    /// Records when a hook last started a worker.
    pub fn worker_started(&self) -> PathBuf {
        self.root.join("worker.started")
    }

    /// The registry of child processes, one file each.
    pub fn children(&self) -> PathBuf {
        self.root.join("children")
    }

    /// The private PostgreSQL of `team serve --trial`.
    pub fn team_trial(&self) -> PathBuf {
        self.root.join("team-trial")
    }

    /// Lock file, held by the only worker of this directory while it runs.
    pub fn worker_lock(&self) -> PathBuf {
        self.root.join("worker.lock")
    }

    /// The worker's Unix socket. The kernel limits its path to about a hundred bytes. On Linux a deep
    /// data directory is reached through [`with_socket_path`]; elsewhere its socket is in `short`, a
    /// directory of the same owner, under a hash of the full path.
    pub fn worker_sock(&self, short: &Path) -> PathBuf {
        let here = self.root.join(SOCKET_NAME);
        if here.as_os_str().len() <= SOCKET_PATH_BYTES_MAX || platform::HAS_DESCRIPTOR_PATHS {
            return here;
        }
        let name = crate::event_key::hex(&crate::event_key::digest(&[self.root.as_os_str().as_bytes()]));
        short.join(format!("claude-mem-{name}.sock"))
    }

    /// Restricts the directory to its owner if other users can enter it. One system call if they
    /// cannot, or if there is no directory yet.
    pub fn restrict(&self) -> io::Result<()> {
        match std::fs::metadata(&self.root) {
            Ok(about) if about.is_dir() && is_open_to_others(&about) => self.create(),
            Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
            Ok(_) | Err(_) => Ok(()),
        }
    }

    /// Creates the directory and those subdirectories that hooks write to, which stay usable even
    /// if the directory itself becomes read-only. Existing directories are restricted to their
    /// owner.
    pub fn create(&self) -> io::Result<()> {
        for part in [self.root.clone(), self.spool(), self.muted(), self.logs()] {
            create_dir(&part)?;
            restrict_dir(&part)?;
        }
        Ok(())
    }
}

/// Calls `act` with a path of the socket that the kernel accepts: the path itself, or one through an
/// open directory, which is as short as a number.
pub fn with_socket_path<T>(socket: &Path, act: impl FnOnce(&Path) -> io::Result<T>) -> io::Result<T> {
    use rustix::fs::{Mode, OFlags};
    let (Some(dir), Some(name)) = (socket.parent(), socket.file_name()) else {
        return act(socket);
    };
    if socket.as_os_str().len() <= SOCKET_PATH_BYTES_MAX || !platform::HAS_DESCRIPTOR_PATHS {
        return act(socket);
    }
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let open = rustix::fs::open(dir, flags, Mode::empty())?;
    act(&platform::descriptor_path(&open).join(name))
}

/// A directory with a short path for `DataDir::worker_sock`. `ensure_private_dir` must check it
/// before use.
pub fn runtime_dir(env: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let dir = env("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
    dir.map_or_else(
        || format!("/tmp/claude-mem-{}", rustix::process::getuid().as_raw()).into(),
        PathBuf::from,
    )
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
