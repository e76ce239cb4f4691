//! Where everything lies: one directory, private to its owner whatever the umask says.
//!
//! Nobody else spells a file name of the data directory. Absent on purpose: the environment; it
//! is asked once, at the edge, through the closure that `DataDir::find` takes.

use std::ffi::OsString;
use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};

use crate::hook::key::hex;
use crate::limits::SOCKET_PATH_BYTES_MAX;

/// How the names of pages begin that lead to links.
pub const OPENING: &str = "open-";

/// The data directory: `CLAUDE_MEM_DATA_DIR`, or `~/.claude-mem`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataDir {
    root: PathBuf,
}

impl DataDir {
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self { root: root.into() }
    }

    /// Finds it from the environment. `None`: there is neither a setting nor a home.
    ///
    /// A relative setting is taken from the home directory: a hook's working directory follows
    /// the agent's `cd`, and would scatter memory over the disk.
    pub fn find(env: impl Fn(&str) -> Option<OsString>) -> Option<Self> {
        let given = |name| env(name).filter(|value| !value.is_empty());
        let home = given("HOME").map(PathBuf::from);
        match given("CLAUDE_MEM_DATA_DIR").map(PathBuf::from) {
            None => Some(Self::new(home?.join(".claude-mem"))),
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

    /// Everything that cannot be made again, and the full-text index.
    pub fn db(&self) -> PathBuf {
        self.root.join("claude-mem.db")
    }

    /// Vectors: may be deleted at any time.
    pub fn vectors_db(&self) -> PathBuf {
        self.root.join("vectors.db")
    }

    /// Events that no database could take yet, one file each.
    pub fn spool(&self) -> PathBuf {
        self.root.join("spool")
    }

    /// One empty file per turn that nobody may record.
    pub fn muted(&self) -> PathBuf {
        self.root.join("muted")
    }

    pub fn logs(&self) -> PathBuf {
        self.root.join("logs")
    }

    pub fn backups(&self) -> PathBuf {
        self.root.join("backups")
    }

    /// Where what takes a damaged database's place is made.
    pub fn recovering(&self) -> PathBuf {
        self.root.join("recovering")
    }

    pub fn settings(&self) -> PathBuf {
        self.root.join("settings.json")
    }

    /// Held by whoever changes the settings: one at a time.
    pub fn settings_lock(&self) -> PathBuf {
        self.root.join("settings.lock")
    }

    /// An empty directory for a client that compresses: there it finds nobody's instructions.
    pub fn compressor(&self) -> PathBuf {
        self.root.join("compressor")
    }

    /// Held by whoever imports: one at a time.
    pub fn import_lock(&self) -> PathBuf {
        self.root.join("import.lock")
    }

    /// A copy of somebody else's database while it is read.
    pub fn importing(&self) -> PathBuf {
        self.root.join("importing")
    }

    /// A copy of our own database on which an import is tried out.
    pub fn rehearsal(&self) -> PathBuf {
        self.root.join("rehearsal")
    }

    /// What was done to the clients' files.
    pub fn installed(&self) -> PathBuf {
        self.root.join("installed.json")
    }

    /// The clients' files as they were before.
    pub fn client_copies(&self) -> PathBuf {
        self.backups().join("clients")
    }

    /// Our plugin, as the client was given it.
    pub fn plugin(&self) -> PathBuf {
        self.root.join("plugin")
    }

    /// Stands while capture is paused.
    pub fn paused(&self) -> PathBuf {
        self.root.join("paused")
    }

    /// The secret that programs show to the HTTP API.
    pub fn token(&self) -> PathBuf {
        self.root.join("token")
    }

    /// A page that leads a browser to a link. Named after the secret, which it does not tell.
    pub fn opening(&self, secret: &str) -> PathBuf {
        let name = Sha256::digest(secret.as_bytes());
        self.root.join(format!("{OPENING}{}.html", hex(&name[..8])))
    }

    /// The worker's number, port and version.
    pub fn worker_pid(&self) -> PathBuf {
        self.root.join("worker.pid")
    }

    /// When a hook last started a worker.
    pub fn worker_started(&self) -> PathBuf {
        self.root.join("worker.started")
    }

    /// One file per child that the worker started.
    pub fn children(&self) -> PathBuf {
        self.root.join("children")
    }

    /// Held by the one worker of this directory for as long as it lives.
    pub fn worker_lock(&self) -> PathBuf {
        self.root.join("worker.lock")
    }

    /// Where hooks wake the worker. The kernel takes about a hundred bytes of path, so a deep
    /// data directory has its socket in `short`, a directory of the same owner, under a name
    /// made from the whole path.
    pub fn worker_sock(&self, short: &Path) -> PathBuf {
        let here = self.root.join("worker.sock");
        if here.as_os_str().len() <= SOCKET_PATH_BYTES_MAX {
            return here;
        }
        let name = crate::hook::key::hex(&crate::hook::key::digest(&[self
            .root
            .as_os_str()
            .as_bytes()]));
        short.join(format!("claude-mem-{name}.sock"))
    }

    /// Makes the directory, if there is none, and those in it that hooks write to: they are of
    /// use even where the directory itself can no longer be written. One that stands already,
    /// perhaps another program's, is open to its owner alone from now on.
    pub fn create(&self) -> io::Result<()> {
        for part in [self.root.clone(), self.spool(), self.muted(), self.logs()] {
            create_dir(&part)?;
            close_dir(&part)?;
        }
        Ok(())
    }
}

/// A directory with a short path that is private to its owner, once `own_dir` has made sure of
/// it. For `DataDir::worker_sock`.
pub fn short_dir(env: impl Fn(&str) -> Option<OsString>) -> PathBuf {
    let dir = env("XDG_RUNTIME_DIR").filter(|dir| !dir.is_empty());
    dir.map_or_else(
        || format!("/tmp/claude-mem-{}", rustix::process::getuid().as_raw()).into(),
        PathBuf::from,
    )
}

/// Makes a directory, and the ones above it, that only its owner can enter. One that stands
/// already is left as it is.
pub fn create_dir(path: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(0o700).create(path) {
        Ok(()) => fs::set_permissions(path, Permissions::from_mode(0o700)),
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && path.is_dir() => Ok(()),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {
            // Where the one above is there, nothing can be made in it: `/proc` says so.
            let above = path.parent().filter(|above| !above.is_dir()).ok_or(e)?;
            create_dir(above)?;
            create_dir(path)
        }
        Err(e) => Err(e),
    }
}

/// Lets nobody else into a directory of ours. One that is shared on purpose is not ours to close.
fn close_dir(path: &Path) -> io::Result<()> {
    const STICKY: u32 = 0o1000;
    let about = fs::metadata(path)?;
    let is_open = about.mode() & 0o077 != 0;
    let is_ours = about.uid() == rustix::process::geteuid().as_raw();
    if is_open && is_ours && about.mode() & STICKY == 0 {
        fs::set_permissions(path, Permissions::from_mode(0o700))?;
    }
    Ok(())
}

/// Opens a file to read, and nothing but a file: a pipe in its place would be waited for.
pub fn open_file(path: &Path) -> io::Result<File> {
    open_file_with(path, rustix::fs::OFlags::empty())
}

fn open_file_with(path: &Path, more: rustix::fs::OFlags) -> io::Result<File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | more;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if file.metadata()?.is_file() {
        Ok(file)
    } else {
        Err(io::ErrorKind::InvalidInput.into())
    }
}

/// Opens a file that may not be there. A link that leads nowhere is an error: somebody put it
/// there for what it is to lead to. Only a link is looked at twice.
pub fn open_file_if_any(path: &Path) -> io::Result<Option<File>> {
    let is_link = |e: &io::Error| e.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error());
    match open_file_with(path, rustix::fs::OFlags::NOFOLLOW) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) if is_link(&e) => match open_file(path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => {
                Err(io::Error::new(e.kind(), "it is a link that leads nowhere"))
            }
            opened => opened.map(Some),
        },
        opened => opened.map(Some),
    }
}

/// All of a file.
pub fn read_file(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    io::Read::read_to_end(&mut open_file(path)?, &mut bytes)?;
    Ok(bytes)
}

/// Makes sure of a directory that nobody else can put anything into, also where everybody can
/// put a directory.
pub fn own_dir(path: &Path) -> io::Result<()> {
    create_dir(path)?;
    // A link could be turned elsewhere at any time.
    let meta = fs::symlink_metadata(path)?;
    let ours = meta.uid() == rustix::process::getuid().as_raw();
    if meta.is_dir() && ours && meta.mode() & 0o022 == 0 {
        Ok(())
    } else {
        Err(io::ErrorKind::PermissionDenied.into())
    }
}

/// Makes a new file that only its owner can read. One that stands already is an error.
pub fn create_file(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

/// Puts a file that only its owner can read in the place of one, in one step: whoever reads finds
/// the old one or the new one. What a killed process leaves is named after it, and swept.
pub fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut unfinished = path.as_os_str().to_owned();
    unfinished.push(format!(
        ".unfinished-{}-{}",
        std::process::id(),
        random_hex::<8>()?
    ));
    let unfinished = PathBuf::from(unfinished);
    let written = create_file(&unfinished)
        .and_then(|mut file| {
            io::Write::write_all(&mut file, bytes)?;
            file.sync_all()
        })
        .and_then(|()| fs::rename(&unfinished, path));
    if written.is_err() {
        // The first error is the one to report; a file that was never made cannot be removed.
        let _ = fs::remove_file(&unfinished);
    }
    written
}

/// Hex digits that nobody guesses, two for each byte.
pub fn random_hex<const BYTES: usize>() -> io::Result<String> {
    let mut bytes = [0; BYTES];
    getrandom::fill(&mut bytes).map_err(|e| io::Error::other(e.to_string()))?;
    Ok(hex(&bytes))
}

/// Opens a file to add to its end, private if it has to be made.
pub fn append_file(path: &Path) -> io::Result<File> {
    match OpenOptions::new().append(true).open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        opened => return opened,
    }
    let file = OpenOptions::new()
        .append(true)
        .create(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(Permissions::from_mode(0o600))?;
    Ok(file)
}

#[cfg(test)]
#[path = "paths_tests.rs"]
mod tests;
