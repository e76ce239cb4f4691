//! The temporary home directory, its project and its environment ([`Sandbox`]).

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};

use tempfile::TempDir;

use crate::client::ClaudeClient;
use crate::model::ScriptedModel;

/// A dummy API key, only sent to loopback.
pub const DUMMY_KEY: &str = "sk-ant-test-not-a-key";

/// A HOME, a project with a `.git` directory, and an environment.
#[derive(Debug)]
pub struct Sandbox {
    pub(super) root: Option<TempDir>,
    pub(super) home: PathBuf,
    pub(super) project: PathBuf,
    pub(super) exe: Option<PathBuf>,
    pub(super) client: Option<ClaudeClient>,
    pub(super) env: BTreeMap<OsString, OsString>,
}

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    pub fn new() -> Self {
        let root = tempfile::Builder::new().prefix("rig-").tempdir().expect("a temporary directory");
        let real = root.path().canonicalize().expect("the temporary directory exists");
        let (home, project) = (real.join("home"), real.join("project"));
        let mut sandbox =
            Self { root: Some(root), home, project, exe: None, client: None, env: BTreeMap::new() };
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
    pub fn with_client(mut self, client: &ClaudeClient) -> Self {
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
        self.env.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
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

    /// The data directory of the executable under test.
    pub fn data_dir(&self) -> PathBuf {
        self.home.join(".claude-mem")
    }

    /// Writes a file below the project (or anywhere, if the path is absolute) and returns its path.
    pub fn write(&self, path: impl AsRef<Path>, text: impl AsRef<[u8]>) -> PathBuf {
        let path = self.project.join(path);
        make_dir(path.parent().unwrap_or(&self.project));
        fs::write(&path, text).unwrap_or_else(|e| panic!("cannot write {}: {e}", path.display()));
        path
    }

    /// Reads a file below the project (or anywhere, if the path is absolute).
    #[track_caller]
    pub fn read(&self, path: impl AsRef<Path>) -> String {
        let path = self.project.join(path);
        fs::read_to_string(&path).unwrap_or_else(|e| panic!("cannot read {}: {e}", path.display()))
    }

    /// Puts a program first on the PATH, under this name.
    pub fn put_on_path(&self, name: &str, program: &Path) {
        let link = self.home.join(".local/bin").join(name);
        let _ = fs::remove_file(&link);
        std::os::unix::fs::symlink(program, &link).expect("a link in .local/bin");
    }

    /// Replaces the sandbox's own paths in a text, for snapshots.
    pub fn tidy(&self, text: &str) -> String {
        text.replace(&*self.project.to_string_lossy(), "[PROJECT]")
            .replace(&*self.home.to_string_lossy(), "[HOME]")
    }

    /// Sets the project's git remote `origin`.
    pub fn git_remote(&self, url: &str) {
        let config = format!("{GIT_CONFIG}[remote \"origin\"]\n\turl = {url}\n");
        self.write(".git/config", config);
    }

    /// Sets the current branch in `.git/HEAD`.
    pub fn git_branch(&self, name: &str) {
        self.write(".git/HEAD", format!("ref: refs/heads/{name}\n"));
    }

    /// Creates a repository that git accepts, without running git.
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
            // A sandbox without a model must not contact a real one.
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
