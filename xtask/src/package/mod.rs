//! `cargo xtask package`: the packages of a release, from one dist build of each program.
//!
//! Each platform's machine writes its own packages ([`write_platform`]): a tarball, an npm package, a wheel
//! and on Linux a Debian package; of the team server a tarball and a Debian package. [`write_common`] writes what covers all platforms whose tarballs are in
//! the directory: npm launcher, shell installer, Homebrew formula, bill of materials and checksums.
//!
//! Invariant: the same executables give the same bytes. [`check`] verifies this and installs every package.

mod archive;
mod check;
mod client_session;
mod debian;
mod installer;
mod loopback;
mod npm;
mod release;
mod sbom;
mod wheel;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use sha2::{Digest as _, Sha256};

use crate::cargo;
use archive::{ArchiveFile, tar_gz};
use installer::ReleaseTarball;
use release::{MAIN_PROGRAM, PACKAGE_NAME, ReleaseProgram, ReleaseTarget, SERVER_PROGRAM, TARGETS};

const LICENSE_TEXT: &str = include_str!("../../../LICENSE");
const CHECKSUMS: &str = "SHA256SUMS";

/// Build the packages of a release: tarball, npm, wheel, Debian, Homebrew, shell installer
#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Output directory (default: package/ in cargo's target directory)
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Package this executable instead of a new dist build
    #[arg(long, value_name = "FILE")]
    exe: Option<PathBuf>,
    /// Package this team server instead of a new dist build; with --exe alone, no server is packaged
    #[arg(long, value_name = "FILE")]
    team_exe: Option<PathBuf>,
    /// Where the tarballs will be published (default: the output directory)
    #[arg(long, value_name = "URL")]
    base_url: Option<String>,
    /// Only write what covers all platforms, from the packages in the output directory
    #[arg(long)]
    collect: bool,
    /// Also build twice, and install, try and uninstall every package in an empty HOME
    #[arg(long)]
    check: bool,
}

pub(crate) fn run(args: &Args) -> anyhow::Result<()> {
    let out = match &args.out {
        Some(out) => std::path::absolute(out)?,
        None => cargo::target_dir()?.join("package"),
    };
    std::fs::create_dir_all(&out)?;
    let base_url = args.base_url.clone().unwrap_or_else(|| format!("file://{}", out.display()));
    if args.collect {
        write_common(&out, &base_url)?;
    } else {
        let executables = PackagedExecutables::find(args)?;
        write_platform(&out, ReleaseTarget::host()?, &executables)?;
        write_common(&out, &base_url)?;
        if args.check {
            check::check_packages(&out, &base_url, &executables)?;
        }
    }
    for (name, bytes) in packages(&out)? {
        println!("{:>9.1} kB  {name}", bytes as f64 / 1e3);
    }
    println!("in {}", out.display());
    Ok(())
}

/// The bytes of the executables.
struct PackagedExecutables {
    main: Vec<u8>,
    server: Option<Vec<u8>>,
}

impl PackagedExecutables {
    /// Reads the given executables, and builds those that are not given.
    fn find(args: &Args) -> anyhow::Result<Self> {
        let read = |exe: PathBuf| std::fs::read(&exe).with_context(|| exe.display().to_string());
        let main = read(args.exe.clone().map_or_else(cargo::build_dist, Ok)?)?;
        let server = match (&args.team_exe, &args.exe) {
            (Some(exe), _) => Some(read(exe.clone())?),
            (None, None) => Some(read(cargo::build_dist_team()?)?),
            (None, Some(_)) => None,
        };
        Ok(Self { main, server })
    }
}

/// Writes the packages that contain an executable.
fn write_platform(
    out: &Path,
    target: ReleaseTarget,
    executables: &PackagedExecutables,
) -> anyhow::Result<()> {
    let main = &executables.main;
    write_archives(out, target, MAIN_PROGRAM, main)?;
    write(out, &npm::file_name(&target.npm_package()), &npm::platform_package(target, main)?)?;
    write(out, &wheel::file_name(target), &wheel::package(target, main)?)?;
    if let Some(server) = &executables.server {
        write_archives(out, target, SERVER_PROGRAM, server)?;
    }
    Ok(())
}

/// Writes the tarball of a program, and on Linux its Debian package.
fn write_archives(
    out: &Path,
    target: ReleaseTarget,
    program: ReleaseProgram,
    executable: &[u8],
) -> anyhow::Result<()> {
    let tarball = target.tarball(program);
    let directory = tarball.trim_end_matches(".tar.gz");
    let files = [
        ArchiveFile::program(format!("{directory}/{}", program.command), executable),
        ArchiveFile::text(format!("{directory}/LICENSE"), LICENSE_TEXT),
        ArchiveFile::text(format!("{directory}/README.md"), program.readme),
    ];
    write(out, &tarball, &tar_gz(&files, true)?)?;
    if let Some(architecture) = target.debian_arch {
        let package = debian::package(program, architecture, executable)?;
        write(out, &debian::file_name(program, architecture), &package)?;
    }
    Ok(())
}

/// Writes what covers all platforms, from the tarballs in `out`.
fn write_common(out: &Path, base_url: &str) -> anyhow::Result<()> {
    let mut tarballs = Vec::new();
    for target in TARGETS {
        let path = out.join(target.tarball(MAIN_PROGRAM));
        if path.exists() {
            tarballs.push(ReleaseTarball { target, sha256: sha256(&std::fs::read(&path)?) });
        }
    }
    anyhow::ensure!(!tarballs.is_empty(), "there are no tarballs in {}", out.display());
    write(out, &npm::file_name(PACKAGE_NAME), &npm::launcher_package()?)?;
    write(out, "install.sh", installer::shell_script(&tarballs, base_url).as_bytes())?;
    let formula = installer::homebrew_formula(&tarballs, base_url);
    write(out, &format!("{PACKAGE_NAME}.rb"), formula.as_bytes())?;
    write(out, &sbom::file_name(), sbom::bill_of_materials()?.as_bytes())?;
    let mut sums = String::new();
    for (name, _) in packages(out)? {
        sums.push_str(&format!("{}  {name}\n", sha256(&std::fs::read(out.join(&name))?)));
    }
    write(out, CHECKSUMS, sums.as_bytes())
}

/// Name and size of every package in the directory, without the checksums.
fn packages(out: &Path) -> anyhow::Result<Vec<(String, u64)>> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(out)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_file() && name != CHECKSUMS {
            found.push((name, entry.metadata()?.len()));
        }
    }
    found.sort();
    Ok(found)
}

fn write(out: &Path, name: &str, bytes: &[u8]) -> anyhow::Result<()> {
    std::fs::write(out.join(name), bytes).with_context(|| format!("writing {name}"))
}

fn sha256(bytes: &[u8]) -> String {
    let mut hex = String::new();
    for byte in Sha256::digest(bytes) {
        hex.push_str(&format!("{byte:02x}"));
    }
    hex
}

#[cfg(test)]
#[path = "package_tests.rs"]
mod tests;
