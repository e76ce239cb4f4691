//! A replica of the team server as a process on a host of the test network: it can be killed, and it is started
//! again when it ended, as a service manager would.

use std::fs::{self, File};
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::{Child, Stdio};

use claude_mem_team_server::ServeOptions;
use rig::certificates::TestCertificates;
use rig::network::NetworkHost;

use crate::common::turns::eventually;

/// Has the options of [`replica_process`] as JSON.
const OPTIONS_VARIABLE: &str = "CLAUDE_MEM_TEST_REPLICA";

const PORT: u16 = 7_700;

/// What a replica is told.
#[derive(serde::Serialize, serde::Deserialize)]
struct ReplicaOptions {
    database: String,
    listen: SocketAddr,
    certificate: PathBuf,
    key: PathBuf,
}

/// One replica.
pub(super) struct ReplicaHost {
    pub(super) host: NetworkHost,
    options: ReplicaOptions,
    /// The clock's error in milliseconds.
    skew: i64,
    output: PathBuf,
    process: Option<Child>,
}

impl ReplicaHost {
    pub(super) fn start(
        host: NetworkHost,
        database: &str,
        certificates: &TestCertificates,
        skew: i64,
        folder: &Path,
    ) -> Self {
        let options = ReplicaOptions {
            database: database.to_owned(),
            listen: SocketAddr::new(host.address(), PORT),
            certificate: certificates.certificate(),
            key: certificates.key(),
        };
        let output = folder.join(format!("replica-{}", host.address()));
        let mut replica = Self { host, options, skew, output, process: None };
        replica.spawn();
        replica
    }

    pub(super) const fn address(&self) -> SocketAddr {
        self.options.listen
    }

    /// Starts the process, without waiting for it.
    fn spawn(&mut self) {
        let mut command = self.host.command(Path::new("setpriv"));
        command.args(["--pdeathsig", "KILL", "--"]).arg(std::env::current_exe().unwrap());
        command.args(["--exact", "team::replica::replica_process", "--ignored", "--nocapture"]);
        command.env(OPTIONS_VARIABLE, serde_json::to_string(&self.options).unwrap());
        command.env("CLAUDE_MEM_NOW", format!("{:+}", self.skew));
        let output = File::create(&self.output).unwrap();
        command.stdin(Stdio::null()).stderr(output.try_clone().unwrap()).stdout(output);
        self.process = Some(command.spawn().unwrap());
    }

    /// The link of the first administrator, once the replica is ready.
    pub(super) fn wait_for_link(&self) -> String {
        let mut found = None;
        eventually("a replica that is ready", || {
            let text = fs::read_to_string(&self.output).unwrap();
            found = text.lines().find_map(|line| line.strip_prefix("ready ").map(str::to_owned));
            found.is_some()
        });
        found.unwrap()
    }

    /// Kills it with SIGKILL. [`Self::keep_running`] starts it again.
    pub(super) fn kill(&mut self) {
        if let Some(process) = &mut self.process {
            process.kill().unwrap();
            process.wait().unwrap();
        }
    }

    /// Starts it again if it ended: it was killed, or it waited too long for its database.
    pub(super) fn keep_running(&mut self) {
        if self.process.as_mut().is_none_or(|process| process.try_wait().unwrap().is_some()) {
            self.spawn();
        }
    }

    /// What it printed since its last start.
    pub(super) fn output(&self) -> String {
        fs::read_to_string(&self.output).unwrap_or_default()
    }
}

impl Drop for ReplicaHost {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Not a test: the process of a [`ReplicaHost`]. Without its variable it does nothing.
#[test]
#[ignore = "a server that another test starts as a process"]
fn replica_process() {
    let Ok(text) = std::env::var(OPTIONS_VARIABLE) else { return };
    let told: ReplicaOptions = serde_json::from_str(&text).unwrap();
    let options = ServeOptions {
        listen: told.listen,
        certificate: Some((told.certificate, told.key)),
        ..ServeOptions::new(told.database)
    };
    let served = claude_mem_team_server::serve(&options, |ready| {
        println!("ready {}", ready.admin_link.as_deref().unwrap_or_default());
    });
    served.unwrap_or_else(|error| panic!("{error}"));
}
