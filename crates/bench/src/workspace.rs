//! Where the sources are that this program was built from.

use std::path::{Path, PathBuf};

/// The root of the workspace that this program was built from.
pub(crate) fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_path_buf()
}
