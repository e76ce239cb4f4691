//! The user's machine in a temporary directory.
//!
//! In: a client, a model, the executable under test, all optional. Out: what the programs run in
//! it did. The environment is made from nothing: no variable of the caller reaches a child.
//!
//! Invariant: when a sandbox is dropped, every process that was started in it is gone and its
//! directory is removed. `CLAUDE_MEM_RIG_KEEP=1` keeps the directory and prints where it is.

mod clean;
mod probe;
mod run;
mod settings;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::client::Client;
use crate::model::ScriptedModel;

pub use clean::Leftover;
pub use probe::Fired;
pub use settings::EVENTS;

/// Not a key: it is only ever sent to loopback.
pub const DUMMY_KEY: &str = "sk-ant-test-not-a-key";

/// A HOME, a project with a `.git`, and an environment.
#[derive(Debug)]
pub struct Sandbox {
    root: Option<TempDir>,
    home: PathBuf,
    project: PathBuf,
    exe: Option<PathBuf>,
    client: Option<Client>,
    env: BTreeMap<OsString, OsString>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    pub fn new() -> Self {
        let root = tempfile::Builder::new()
            .prefix("rig-")
            .tempdir()
            .expect("a temporary directory");
        let real = root
            .path()
            .canonicalize()
            .expect("the temporary directory exists");
        let (home, project) = (real.join("home"), real.join("project"));
        let mut sandbox = Self {
            root: Some(root),
            home,
            project,
            exe: None,
            client: None,
            env: BTreeMap::new(),
        };
        for dir in [".claude", ".tmp", ".local/bin"] {
            make_dir(&sandbox.home.join(dir));
        }
        sandbox.make_repository();
        sandbox.fill_environment();
        sandbox.seed_client_state();
        sandbox
    }

    /// The executable under test, for [`Sandbox::mem`] and the hooks.
    #[must_use]
    pub fn with_exe(mut self, exe: impl AsRef<Path>) -> Self {
        self.exe = Some(exe.as_ref().to_path_buf());
        self
    }

    #[must_use]
    pub fn with_client(mut self, client: &Client) -> Self {
        self.client = Some(client.clone());
        self
    }

    #[must_use]
    pub fn with_model(self, model: &ScriptedModel) -> Self {
        self.with_env("ANTHROPIC_BASE_URL", model.url())
    }

    #[must_use]
    pub fn with_env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.set_env(name, value);
        self
    }

    pub fn set_env(&mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) {
        self.env
            .insert(name.as_ref().to_owned(), value.as_ref().to_owned());
    }

    pub fn unset_env(&mut self, name: impl AsRef<OsStr>) {
        self.env.remove(name.as_ref());
    }

    pub fn home(&self) -> &Path {
        &self.home
    }

    pub fn project(&self) -> &Path {
        &self.project
    }

    /// Where the executable under test keeps its data.
    pub fn data_dir(&self) -> PathBuf {
        self.home.join(".claude-mem")
    }

    /// Writes a file of the project (or anywhere, if the path is absolute) and returns its path.
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project.join(path);
        make_dir(path.parent().unwrap_or(&self.project));
        fs::write(&path, text).unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
        path
    }

    /// Reads a file of the project (or anywhere, if the path is absolute).
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.project.join(path);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()))
    }

    /// Makes a program findable under this name, before anything else on the PATH.
    pub fn put_on_path(&self, name: &str, program: &Path) {
        let link = self.home.join(".local/bin").join(name);
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(program, &link).expect("a link in .local/bin");
    }

    /// The text with the sandbox's own paths replaced, for snapshots.
    pub fn tidy(&self, text: &str) -> String {
        text.replace(&*self.project.to_string_lossy(), "[PROJECT]")
            .replace(&*self.home.to_string_lossy(), "[HOME]")
    }

    /// Sets the project's git remote `origin`.
    pub fn git_remote(&self, url: &str) {
        let config = format!("{GIT_CONFIG}[remote \"origin\"]\n\turl = {url}\n");
        self.write(".git/config", config);
    }

    /// Checks out a branch, as far as `.git/HEAD` tells.
    pub fn git_branch(&self, name: &str) {
        self.write(".git/HEAD", format!("ref: refs/heads/{name}\n"));
    }

    /// What git itself accepts as a repository, made without git.
    fn make_repository(&self) {
        for dir in [".git/objects", ".git/refs/heads"] {
            make_dir(&self.project.join(dir));
        }
        self.write(".git/config", GIT_CONFIG);
        self.git_branch("main");
    }

    fn fill_environment(&mut self) {
        let bin = self.home.join(".local/bin");
        let path = format!("{}:/usr/local/bin:/usr/bin:/bin", bin.display());
        let (home, tmp, data) = (self.home.clone(), self.home.join(".tmp"), self.data_dir());
        for (name, value) in [
            ("PATH", OsStr::new(&path)),
            ("HOME", home.as_os_str()),
            ("TMPDIR", tmp.as_os_str()),
            ("CLAUDE_MEM_DATA_DIR", data.as_os_str()),
            ("LANG", OsStr::new("C.UTF-8")),
            ("SHELL", OsStr::new("/bin/sh")),
            ("ANTHROPIC_API_KEY", OsStr::new(DUMMY_KEY)),
            // A sandbox without a model has nobody to talk to, and must not look for one outside.
            ("ANTHROPIC_BASE_URL", OsStr::new("http://127.0.0.1:9")),
            ("DISABLE_TELEMETRY", OsStr::new("1")),
            ("DISABLE_AUTOUPDATER", OsStr::new("1")),
            ("DISABLE_ERROR_REPORTING", OsStr::new("1")),
            ("DISABLE_BUG_COMMAND", OsStr::new("1")),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", OsStr::new("1")),
        ] {
            self.set_env(name, value);
        }
    }
}

const GIT_CONFIG: &str = "[core]\n\trepositoryformatversion = 0\n\tbare = false\n";

fn make_dir(path: &Path) {
    fs::create_dir_all(path).unwrap_or_else(|e| panic!("cannot make {}: {e}", path.display()));
}
