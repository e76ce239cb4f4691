//! [`TrialCluster`]: a private PostgreSQL for trying things out, of the programs that this machine has.
//!
//! It keeps its data below the data directory, has no TCP port and ends with us. The storage engine is the
//! same as in production: there is no second one.

use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

use claude_mem_core::child::{self, ChildProcess, ChildRegistry, ChildSpawner, SpawnRequest};
use claude_mem_core::paths::{self, DataDir};
use claude_mem_core::platform;
use rustix::process::{Pid, Signal};

use crate::error::StartError;

/// `initdb` may take this long.
const INIT_SECONDS_MAX: u64 = 120;

/// A server that is asked to end has this long.
const STOP_SECONDS_MAX: u64 = 20;

/// The longest directory in which the server can make its socket: the kernel limits the whole path.
const SOCKET_DIR_BYTES_MAX: usize = 90;

/// Where packages put PostgreSQL, besides the PATH. Below each of them is a directory per version.
const PACKAGE_DIRS: [&str; 3] = ["/usr/lib/postgresql", "/opt/homebrew/opt", "/usr/local/opt"];

/// A running private server. Dropping it kills the server; [`TrialCluster::stop`] ends it in order.
#[derive(Debug)]
pub struct TrialCluster {
    server: ChildProcess,
    /// The thread of the spawner is the server's parent: the server lives as long as it does.
    _spawner: ChildSpawner,
    address: String,
}

impl TrialCluster {
    /// Makes the cluster if it does not exist, and starts it.
    pub fn start(data: &DataDir, env: fn(&str) -> Option<OsString>) -> Result<Self, StartError> {
        if rustix::process::geteuid().is_root() {
            return Err(trial_error("PostgreSQL does not run as root; run this as an ordinary user"));
        }
        let home = data.team_trial();
        let failed = |error: std::io::Error| StartError::Trial(format!("{}: {error}", home.display()));
        data.create().and_then(|()| paths::ensure_private_dir(&home)).map_err(failed)?;
        let cluster = home.join("data");
        let programs = find_programs(&cluster, env)?;
        let registry = ChildRegistry::open(&data.children()).map_err(failed)?;
        let spawner = ChildSpawner::start(platform::own_executable(), registry).map_err(failed)?;
        let program = |name: &str, args: Vec<OsString>| SpawnRequest {
            program: programs.join(name).into(),
            args,
            env: minimal_environment(env),
            directory: home.clone(),
        };
        if !cluster.is_dir() {
            init_cluster(&spawner, &program, &home, &cluster)?;
        }
        let sockets = socket_dir(&home, env).map_err(failed)?;
        let mut args: Vec<OsString> =
            ["-D".into(), cluster.into(), "-k".into(), sockets.clone().into()].into();
        for setting in ["listen_addresses=", "logging_collector=on", "max_connections=40"] {
            args.extend(["-c".into(), setting.into()]);
        }
        let mut server = spawner.spawn(program("postgres", args)).map_err(failed)?;
        // The log is in the cluster; a full pipe would stop the server.
        for stream in [
            server.take_stdout().map(|stream| Box::new(stream) as Box<dyn std::io::Read + Send>),
            server.take_stderr().map(|stream| Box::new(stream) as _),
        ] {
            let drain = move || stream.map(|mut stream| std::io::copy(&mut stream, &mut std::io::sink()));
            std::thread::spawn(drain);
        }
        let address = format!("host='{}' user=claude_mem dbname=postgres", escape(&sockets));
        Ok(Self { server, _spawner: spawner, address })
    }

    /// The address of the database, for [`ServeOptions`](crate::ServeOptions).
    pub fn address(&self) -> &str {
        &self.address
    }

    /// Ends the server in order.
    pub fn stop(mut self) {
        let pid = i32::try_from(self.server.identity().pid).ok().and_then(Pid::from_raw);
        if let Some(pid) = pid {
            // It may have ended by itself; otherwise dropping it kills it.
            let _ = rustix::process::kill_process(pid, Signal::INT);
            let _ = self.server.wait(Duration::from_secs(STOP_SECONDS_MAX));
        }
    }
}

fn trial_error(why: &str) -> StartError {
    StartError::Trial(why.to_owned())
}

/// The directory of `initdb` and `postgres`: of the version that made the cluster, or the newest.
fn find_programs(cluster: &Path, env: fn(&str) -> Option<OsString>) -> Result<PathBuf, StartError> {
    const MISSING: &str = "no PostgreSQL is installed on this machine; install one, or pass --database\n  \
        Debian, Ubuntu:  sudo apt install postgresql\n  \
        macOS:           brew install postgresql\n  \
        docker:          docker run -d -p 5432:5432 -e POSTGRES_PASSWORD=secret postgres";
    let wanted = std::fs::read_to_string(cluster.join("PG_VERSION")).ok();
    let wanted = wanted.as_deref().map(str::trim);
    let mut found: Vec<(u32, PathBuf)> = candidate_dirs(env)
        .into_iter()
        .filter(|dir| dir.join("initdb").is_file() && dir.join("postgres").is_file())
        .map(|dir| (version_in_path(&dir), dir))
        .collect();
    // The PATH comes first among equals.
    found.sort_by_key(|(version, _)| std::cmp::Reverse(*version));
    match wanted.and_then(|wanted| wanted.parse::<u32>().ok()) {
        Some(wanted) => {
            let same = found.iter().find(|(version, _)| *version == wanted || *version == 0);
            let missing = format!("the trial's data needs PostgreSQL {wanted}, which is not installed");
            same.map(|(_, dir)| dir.clone()).ok_or(StartError::Trial(missing))
        }
        None => found.into_iter().next().map(|(_, dir)| dir).ok_or_else(|| trial_error(MISSING)),
    }
}

fn candidate_dirs(env: fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let path = env("PATH").unwrap_or_default();
    let packages = PACKAGE_DIRS.iter().flat_map(|dir| std::fs::read_dir(dir).into_iter().flatten().flatten());
    std::env::split_paths(&path).chain(packages.map(|version| version.path().join("bin"))).collect()
}

/// The version in a path such as `/usr/lib/postgresql/15/bin` or `postgresql@16/bin`; 0 if there is none.
fn version_in_path(dir: &Path) -> u32 {
    let folder = dir.parent().and_then(Path::file_name).map(|name| name.to_string_lossy().into_owned());
    let digits = folder.as_deref().map(|name| name.rsplit('@').next().unwrap_or(name));
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

/// Makes the cluster under another name first, so that a killed `initdb` leaves no half of one.
fn init_cluster(
    spawner: &ChildSpawner,
    program: &dyn Fn(&str, Vec<OsString>) -> SpawnRequest,
    home: &Path,
    cluster: &Path,
) -> Result<(), StartError> {
    let failed = |error: std::io::Error| StartError::Trial(format!("initdb: {error}"));
    let partial = home.join("partial");
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(failed)?;
    }
    let mut args: Vec<OsString> =
        ["--auth=trust", "--username=claude_mem", "--encoding=UTF8", "--no-locale", "--pgdata"]
            .map(OsString::from)
            .into();
    args.push(partial.clone().into());
    let within = Duration::from_secs(INIT_SECONDS_MAX);
    let output = child::run(spawner, program("initdb", args), b"", within).map_err(failed)?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(StartError::Trial(format!("initdb failed: {}", said.trim())));
    }
    std::fs::rename(partial, cluster).map_err(failed)
}

/// A directory for the socket: the cluster's own, or a short one of the same user.
fn socket_dir(home: &Path, env: fn(&str) -> Option<OsString>) -> std::io::Result<PathBuf> {
    if home.as_os_str().len() <= SOCKET_DIR_BYTES_MAX {
        return Ok(home.to_owned());
    }
    let short = paths::runtime_dir(env);
    paths::ensure_private_dir(&short)?;
    Ok(short)
}

/// The environment variables that PostgreSQL needs.
fn minimal_environment(env: fn(&str) -> Option<OsString>) -> Vec<(OsString, OsString)> {
    let kept = ["PATH", "HOME", "TZ"].iter().filter_map(|name| Some(((*name).into(), env(name)?)));
    kept.chain([("LC_ALL".into(), "C".into())]).collect()
}

/// A value in the key-value form of an address.
fn escape(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "\\\\").replace('\'', "\\'")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_package_directories() {
        for (dir, want) in [
            ("/usr/lib/postgresql/15/bin", 15),
            ("/opt/homebrew/opt/postgresql@16/bin", 16),
            ("/usr/local/bin", 0),
            ("/", 0),
        ] {
            assert_eq!(version_in_path(Path::new(dir)), want, "{dir}");
        }
    }

    #[test]
    fn quotes_in_a_path_are_escaped() {
        assert_eq!(escape(Path::new(r"/home/o'neill/a\b")), r"/home/o\'neill/a\\b");
    }
}
