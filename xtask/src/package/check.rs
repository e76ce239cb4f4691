//! Installs every package in an empty HOME without Rust, lets it connect itself and remember something, and
//! removes it again. Nothing may be left.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, bail, ensure};

use super::client_session;
use super::loopback::LoopbackRegistry;
use super::release::{COMMAND, MAIN_PROGRAM, PACKAGE_NAME, ReleaseTarget, SERVER_PROGRAM};
use super::{PackagedExecutables, debian, packages, wheel, write_common, write_platform};

/// Directories of system programs: no Rust, no other claude-mem.
const SYSTEM_PATH: &str = "/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin";

/// Plays Homebrew's part in the check of the formula.
const FORMULA_STAND_IN: &str = include_str!("formula.rb");

pub(super) fn check_packages(
    out: &Path,
    base_url: &str,
    executables: &PackagedExecutables,
) -> anyhow::Result<()> {
    let scratch = std::env::temp_dir().join(format!("{PACKAGE_NAME}-check-{}", std::process::id()));
    std::fs::create_dir_all(&scratch)?;
    let checked = reproduce(out, base_url, executables, &scratch.join("again"))
        .and_then(|()| install_all(out, &scratch))
        .and_then(|()| check_server(out, executables, &scratch));
    std::fs::remove_dir_all(&scratch)?;
    checked
}

/// Writes all packages a second time and compares the bytes.
fn reproduce(
    out: &Path,
    base_url: &str,
    executables: &PackagedExecutables,
    again: &Path,
) -> anyhow::Result<()> {
    std::fs::create_dir_all(again)?;
    write_platform(again, ReleaseTarget::host()?, executables)?;
    write_common(again, base_url)?;
    let names =
        |dir: &Path| anyhow::Ok(packages(dir)?.into_iter().map(|(name, _)| name).collect::<BTreeSet<_>>());
    let (before, after) = (names(out)?, names(again)?);
    if let Some(left_over) = before.difference(&after).next() {
        bail!("{left_over} is from another build; remove it, the checksums list it");
    }
    for name in after {
        let same = std::fs::read(again.join(&name))? == std::fs::read(out.join(&name))?;
        ensure!(same, "{name} differs when it is built again");
    }
    println!("reproducible: every package has the same bytes when it is built again");
    Ok(())
}

fn install_all(out: &Path, scratch: &Path) -> anyhow::Result<()> {
    let target = ReleaseTarget::host()?;
    let home = |name: &str| EmptyHome::create(scratch.join(name));
    check_one("shell installer", &home("shell")?, |home| {
        // Not from where the release will be published: it is not there yet.
        let (files, script) = (LoopbackRegistry::start(out)?, out.join("install.sh"));
        home.sh(&format!("CLAUDE_MEM_DOWNLOAD_URL={} sh {} --yes", files.url, script.display()))?;
        Ok(InstalledPackage {
            command: home.dir.join(".local/bin").join(COMMAND),
            remove: remove_local(home),
        })
    })?;
    refuse_tampered_download(out, &scratch.join("tampered"), &home("refused")?)?;
    check_one("npm package", &home("npm")?, |home| {
        let registry = LoopbackRegistry::start(out)?;
        let prefix = scratch.join("npm-prefix");
        let npm = format!(
            "npm --registry {} --cache {} --prefix {} --no-audit --no-fund --loglevel=error",
            registry.url,
            scratch.join("npm-cache").display(),
            prefix.display()
        );
        home.sh(&format!("{npm} install --global {PACKAGE_NAME}"))?;
        let command = prefix.join("bin").join(PACKAGE_NAME);
        home.sh(&format!("{} install --yes", command.display()))?;
        Ok(InstalledPackage { command, remove: format!("{npm} uninstall --global {PACKAGE_NAME}") })
    })?;
    check_one("npx", &home("npx")?, |home| {
        let registry = LoopbackRegistry::start(out)?;
        let npx = format!(
            "npx --registry {} --cache {} --yes {PACKAGE_NAME}",
            registry.url,
            scratch.join("npx-cache").display()
        );
        home.sh(&format!("{npx} install --yes"))?;
        let cache = scratch.join("npx-cache");
        // The hooks must not depend on npm's cache.
        std::fs::remove_dir_all(&cache)?;
        Ok(InstalledPackage {
            command: home.dir.join(".claude-mem/bin").join(COMMAND),
            remove: "true".into(),
        })
    })?;
    let environment = scratch.join("environment");
    // The environment is the user's, not part of the installation.
    home("environment-home")?.sh(&format!("python3 -m venv {}", environment.display()))?;
    check_one("wheel", &home("wheel")?, |home| {
        let bin = environment.join("bin");
        let pip = format!("{}/pip --disable-pip-version-check --no-cache-dir --quiet", bin.display());
        home.sh(&format!("{pip} install --no-index {}", out.join(wheel::file_name(target)).display()))?;
        home.sh(&format!("{}/{PACKAGE_NAME} install --yes", bin.display()))?;
        Ok(InstalledPackage {
            command: bin.join(COMMAND),
            remove: format!("{pip} uninstall --yes {PACKAGE_NAME}"),
        })
    })?;
    check_wheel_runners(out, scratch, target)?;
    check_formula(out, scratch, target)?;
    let Some(architecture) =
        target.debian_arch.filter(|_| home("probe").is_ok_and(|home| home.sh("dpkg --version").is_ok()))
    else {
        println!("Debian package: not tried, there is no dpkg here");
        return Ok(());
    };
    check_one("Debian package", &home("debian")?, |home| {
        let root = scratch.join("debian-root");
        home.sh(&format!("mkdir -p {0}/var/lib/dpkg/info {0}/var/lib/dpkg/updates", root.display()))?;
        home.sh(&format!("touch {0}/var/lib/dpkg/status {0}/var/lib/dpkg/available", root.display()))?;
        let dpkg = format!("dpkg --root={} --force-not-root --log=/dev/null", root.display());
        home.sh(&format!(
            "{dpkg} --install {}",
            out.join(debian::file_name(MAIN_PROGRAM, architecture)).display()
        ))?;
        let command = root.join("usr/bin").join(COMMAND);
        home.sh(&format!("{} install --yes", command.display()))?;
        Ok(InstalledPackage { command, remove: format!("{dpkg} --purge {PACKAGE_NAME}") })
    })
}

/// The programs that install a wheel into an environment of its own: `uvx` and `pipx`.
fn check_wheel_runners(out: &Path, scratch: &Path, target: ReleaseTarget) -> anyhow::Result<()> {
    let home = |name: &str| EmptyHome::create(scratch.join(name));
    let wheel = out.join(wheel::file_name(target));
    match rig::client::find_on_path("uvx") {
        None => println!("uvx: not tried, it is not on the PATH"),
        Some(uvx) => check_one("uvx", &home("uvx")?, |home| {
            let cache = scratch.join("uv-cache");
            let places = format!(
                "UV_CACHE_DIR={} UV_TOOL_DIR={}",
                cache.display(),
                scratch.join("uv-tools").display()
            );
            let run = format!("{} --offline --from {} {PACKAGE_NAME}", uvx.display(), wheel.display());
            home.sh(&format!("{places} {run} install --yes"))?;
            // The hooks must not depend on the cache.
            std::fs::remove_dir_all(&cache)?;
            Ok(InstalledPackage {
                command: home.dir.join(".claude-mem/bin").join(COMMAND),
                remove: "true".into(),
            })
        })?,
    }
    match rig::client::find_on_path("pipx") {
        None => println!("pipx: not tried, it is not on the PATH"),
        Some(pipx) => check_one("pipx", &home("pipx")?, |home| {
            let (bin, state) = (scratch.join("pipx-bin"), scratch.join("pipx-state"));
            let place = |name: &str, folder: &str| format!("{name}={}", state.join(folder).display());
            // Its own files are the user's, not part of the installation.
            let pipx = format!(
                "PIPX_BIN_DIR={} {} {} {} PIP_NO_INDEX=1 PIP_NO_CACHE_DIR=1 {}",
                bin.display(),
                place("PIPX_HOME", "home"),
                place("PIPX_MAN_DIR", "man"),
                place("XDG_CACHE_HOME", "cache"),
                pipx.display()
            );
            home.sh(&format!("{pipx} install {}", wheel.display()))?;
            let command = bin.join(COMMAND);
            home.sh(&format!("{} install --yes", command.display()))?;
            Ok(InstalledPackage { command, remove: format!("{pipx} uninstall {PACKAGE_NAME}") })
        })?,
    }
    Ok(())
}

/// Installs the Homebrew formula with a stand-in for Homebrew, which needs Ruby.
fn check_formula(out: &Path, scratch: &Path, target: ReleaseTarget) -> anyhow::Result<()> {
    let Some(ruby) = rig::client::find_on_path("ruby") else {
        println!("Homebrew formula: not tried, there is no Ruby here");
        return Ok(());
    };
    let formula = out.join(format!("{PACKAGE_NAME}.rb"));
    check_one("Homebrew formula (stand-in)", &EmptyHome::create(scratch.join("brew"))?, |home| {
        home.sh(&format!("{} -c {}", ruby.display(), formula.display()))?;
        let (stand_in, cellar) = (scratch.join("formula.rb"), scratch.join("cellar"));
        std::fs::write(&stand_in, FORMULA_STAND_IN)?;
        let words = [stand_in, formula, cellar.clone()].map(|path| path.display().to_string()).join(" ");
        home.sh(&format!("{} {words} {} {}", ruby.display(), target.os, target.arch))?;
        let command = cellar.join("bin").join(COMMAND);
        home.sh(&format!("{} install --yes", command.display()))?;
        Ok(InstalledPackage { command, remove: format!("rm -r {}", cellar.display()) })
    })
}

/// Unpacks the team server beside the program, which must find it there.
fn check_server(out: &Path, executables: &PackagedExecutables, scratch: &Path) -> anyhow::Result<()> {
    if executables.server.is_none() {
        println!("team server: not packaged");
        return Ok(());
    }
    let home = EmptyHome::create(scratch.join("server"))?;
    let target = ReleaseTarget::host()?;
    let bin = scratch.join("server-bin");
    std::fs::create_dir_all(&bin)?;
    for program in [MAIN_PROGRAM, SERVER_PROGRAM] {
        let tarball = out.join(target.tarball(program));
        home.sh(&format!("tar -xzf {} -C {} --strip-components=1", tarball.display(), bin.display()))?;
    }
    let help = home.sh(&format!("{}/{COMMAND} team serve --help", bin.display()))?;
    ensure!(help.contains("--database"), "`team serve` did not start the server: {help}");
    home.ensure_empty()?;
    println!("team server: found beside the program and started");
    Ok(())
}

/// The shell installer must not install a tarball with another checksum.
fn refuse_tampered_download(out: &Path, tampered: &Path, home: &EmptyHome) -> anyhow::Result<()> {
    let tarball = ReleaseTarget::host()?.tarball(MAIN_PROGRAM);
    let mut bytes = std::fs::read(out.join(&tarball))?;
    if let Some(last) = bytes.last_mut() {
        *last ^= 1;
    }
    std::fs::create_dir_all(tampered)?;
    std::fs::write(tampered.join(&tarball), bytes)?;
    let script = out.join("install.sh");
    let tried =
        home.sh(&format!("CLAUDE_MEM_DOWNLOAD_URL=file://{} sh {}", tampered.display(), script.display()));
    let refused = tried.is_err_and(|error| error.to_string().contains("checksum mismatch"));
    ensure!(refused, "the installer accepted a download with another checksum");
    home.ensure_empty()?;
    println!("shell installer: refused a download with another checksum and installed nothing");
    Ok(())
}

/// An installation: its command, and what removes the package after `uninstall`.
struct InstalledPackage {
    command: PathBuf,
    remove: String,
}

fn remove_local(home: &EmptyHome) -> String {
    format!("rm {0}/.local/bin/{COMMAND} && rmdir {0}/.local/bin {0}/.local", home.dir.display())
}

/// Installs, verifies that something is remembered, uninstalls, and verifies that nothing is left.
fn check_one(
    what: &str,
    home: &EmptyHome,
    install: impl FnOnce(&EmptyHome) -> anyhow::Result<InstalledPackage>,
) -> anyhow::Result<()> {
    let started = Instant::now();
    let InstalledPackage { command, remove } = install(home).with_context(|| what.to_owned())?;
    let seconds = started.elapsed().as_secs_f64();
    let check = || {
        let command = command.display();
        home.sh(&format!("{command} save 'Invoices are rounded up to whole cents'"))?;
        let found = home.sh(&format!("{command} search rounding invoices"))?;
        ensure!(found.contains("Invoices are rounded up"), "the saved memory was not found: {found}");
        let memory = client_session::remember_across_sessions(&home.dir, Path::new(&command.to_string()))?;
        home.sh(&format!("{command} uninstall --purge --yes"))?;
        if memory.is_some() {
            client_session::remove_client_files(&home.dir)?;
        }
        home.sh(&remove)?;
        ensure!(!Path::new(&command.to_string()).exists(), "{command} is left");
        home.ensure_empty()?;
        Ok(memory)
    };
    let memory: Option<Duration> = check().with_context(|| what.to_owned())?;
    let sessions = memory.map_or("Claude Code was not tried".to_owned(), |memory| {
        format!("a memory of a session of Claude Code {:.1} s after its start", memory.as_secs_f64())
    });
    println!("{what}: installed and checked itself in {seconds:.1} s, {sessions}, and left nothing");
    Ok(())
}

/// A HOME without anything, and commands that see nothing else.
struct EmptyHome {
    dir: PathBuf,
}

impl EmptyHome {
    fn create(dir: PathBuf) -> anyhow::Result<EmptyHome> {
        std::fs::create_dir_all(&dir)?;
        Ok(EmptyHome { dir })
    }

    /// Runs a shell command; returns its output, or an error with all of it.
    fn sh(&self, script: &str) -> anyhow::Result<String> {
        let output = Command::new("sh")
            .args(["-c", script])
            .env_clear()
            .env("HOME", &self.dir)
            .env("PATH", SYSTEM_PATH)
            .current_dir(&self.dir)
            .output()?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let errors = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "`{script}` failed ({}):\n{text}{errors}", output.status);
        Ok(text)
    }

    fn ensure_empty(&self) -> anyhow::Result<()> {
        let left = self.sh(&format!("find {} -mindepth 1", self.dir.display()))?;
        ensure!(left.is_empty(), "uninstalling left:\n{left}");
        Ok(())
    }
}
