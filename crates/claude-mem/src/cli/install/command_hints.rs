//! [`CommandHints`]: commands for the user to run, complete and as they work in this shell.

use std::ffi::OsString;
use std::path::Path;

use super::context::InstallContext;
use claude_mem_core::paths::{DataDir, find_on_path, is_same_file};
use claude_mem_setup::install::NAME;

/// How this program is called from the user's shell. The `claude-mem` on the PATH may be the earlier
/// program.
pub(super) struct CommandHints {
    program: String,
    /// The option for a data directory that the environment does not name.
    data_dir: Option<String>,
    /// A directory beside the default one.
    elsewhere: String,
}

impl CommandHints {
    pub(super) fn new(setting: &InstallContext<'_>) -> Self {
        let env = |name: &str| std::env::var_os(name);
        let executable = &setting.launch.executable;
        let usual = DataDir::find(env);
        let root = setting.app.data.root();
        let given = (usual.as_ref() != Some(&setting.app.data)).then(|| quote(root));
        let mut beside = root.as_os_str().to_owned();
        beside.push("-2");
        Self {
            program: if is_on_path(executable, env("PATH")) { NAME.to_owned() } else { quote(executable) },
            data_dir: given,
            elsewhere: quote(Path::new(&beside)),
        }
    }

    /// Replaces the earlier program.
    pub(super) fn adopt(&self) -> String {
        match &self.data_dir {
            Some(dir) => format!("{} --data-dir {dir} install --adopt", self.program),
            None => format!("{} install --adopt", self.program),
        }
    }

    /// Installs with another data directory.
    pub(super) fn elsewhere(&self) -> String {
        format!("{} --data-dir {} install", self.program, self.elsewhere)
    }
}

/// Whether the PATH finds this executable under its name.
fn is_on_path(executable: &Path, path: Option<OsString>) -> bool {
    let first = find_on_path(&path.unwrap_or_default(), NAME);
    first.is_some_and(|first| is_same_file(&first, executable))
}

/// A path as one word of a shell.
fn quote(path: &Path) -> String {
    let text = path.display().to_string();
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "/._-+@".contains(c);
    if text.chars().all(is_plain) { text } else { format!("'{}'", text.replace('\'', r"'\''")) }
}
