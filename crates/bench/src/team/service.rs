//! The server under test: PostgreSQL, replicas of the shipped executable, and devices that talk to them directly.

use std::io::{BufRead as _, BufReader};
use std::net::SocketAddr;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use anyhow::{Context as _, bail, ensure};
use claude_mem_core::paths::random_hex;
use claude_mem_sharing::{SharingError, TeamFile, TeamHttpClient, TeamServer as _, join_team};
use claude_mem_wire::messages::{InviteRequest, JoinRequest, PushRequest, SpaceInfo, SpaceRequest};
use claude_mem_wire::{
    DeviceToken, InviteSecret, LinkSecret, MemberRole, RecordBody, RecordKind, RecordUid, SpaceId, TeamLink,
    WireRecord,
};
use rig::postgres::PostgresCluster;
use serde_json::json;

/// The longest pause that the server's limits ask for.
const PAUSE_MAX: Duration = Duration::from_secs(5);

/// Attempts of a request that is asked to come back later.
const ATTEMPTS_MAX: usize = 100;

/// A replica as a process; killed on drop.
pub(super) struct BenchReplica {
    process: Child,
    pub(super) address: SocketAddr,
    /// The link of the first administrator, if nobody has joined.
    pub(super) admin_link: Option<String>,
}

impl BenchReplica {
    pub(super) fn start(exe: &Path, cluster: &PostgresCluster) -> anyhow::Result<Self> {
        let mut process = Command::new(exe)
            .args(["serve", "--listen", "127.0.0.1:0", "--database", &cluster.address()])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", exe.display()))?;
        let mut lines = BufReader::new(process.stdout.take().context("no output")?);
        let mut printed = String::new();
        while !printed.contains("Listening on ") {
            ensure!(lines.read_line(&mut printed)? > 0, "the server ended: {printed}");
        }
        let (_, listening) = printed.rsplit_once("Listening on ").context("no address")?;
        let address = listening.split(';').next().unwrap_or_default().parse()?;
        let admin_link = printed.split('\'').nth(1).map(str::to_owned);
        Ok(Self { process, address, admin_link })
    }

    pub(super) fn pid(&self) -> u32 {
        self.process.id()
    }

    pub(super) fn base(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Suspends the process: the kernel still accepts connections, and nothing answers.
    pub(super) fn become_black_hole(&self) -> anyhow::Result<()> {
        let pid = rustix::process::Pid::from_child(&self.process);
        Ok(rustix::process::kill_process(pid, rustix::process::Signal::STOP)?)
    }
}

impl Drop for BenchReplica {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A member's device without a store.
pub(super) struct BenchDevice {
    file: TeamFile,
    pub(super) server: TeamHttpClient,
}

impl BenchDevice {
    /// Joins by a link.
    pub(super) fn join(base: &str, secret: InviteSecret, handle: &str) -> anyhow::Result<Self> {
        let link = TeamLink::new(base, LinkSecret::Invite(secret.clone()))?;
        let token = random_hex::<32>().ok().and_then(|hex| DeviceToken::parse(&hex));
        let request = JoinRequest {
            secret,
            token: token.context("no random numbers")?,
            handle: handle.to_owned(),
            name: handle.to_owned(),
            device: "bench".to_owned(),
        };
        let joined = patiently(|| join_team(&link, None, &request))?;
        let file = TeamFile {
            base: base.to_owned(),
            token: request.token,
            team: joined.team.name,
            handle: joined.member.handle,
            member: Some(joined.member.id),
            device: Some(joined.device),
            certificates: None,
            is_from_environment: false,
        };
        let server = TeamHttpClient::connect(&file)?;
        Ok(Self { file, server })
    }

    /// Joins by the link that the first replica prints.
    pub(super) fn first_admin(replica: &BenchReplica) -> anyhow::Result<Self> {
        let link = TeamLink::parse(replica.admin_link.as_deref().context("somebody has joined")?)?;
        let LinkSecret::Invite(secret) = link.secret.clone() else { bail!("the link is no invite") };
        Self::join(&replica.base(), secret, "admin")
    }

    /// A link for a new member.
    pub(super) fn invite(&self, handle: &str) -> anyhow::Result<InviteSecret> {
        let request = InviteRequest::Member { role: MemberRole::Member, handle: Some(handle.to_owned()) };
        Ok(patiently(|| self.server.invite(&request))?.secret)
    }

    /// A new member who talks to a replica.
    pub(super) fn new_member(&self, replica: &BenchReplica, handle: &str) -> anyhow::Result<Self> {
        Self::join(&replica.base(), self.invite(handle)?, handle)
    }

    /// The same device at another replica.
    pub(super) fn at(&self, replica: &BenchReplica) -> anyhow::Result<Self> {
        let file = TeamFile { base: replica.base(), ..self.file.clone() };
        Ok(Self { server: TeamHttpClient::connect(&file)?, file })
    }

    pub(super) fn project(&self, name: &str) -> anyhow::Result<SpaceInfo> {
        let keys = vec![format!("remote:github.com/acme/{name}")];
        let request = SpaceRequest::Project { keys, name: name.to_owned() };
        Ok(patiently(|| self.server.space(&request))?)
    }

    /// Sends records in batches of 500; all must be stored.
    pub(super) fn push(&self, space: SpaceId, records: &[WireRecord]) -> anyhow::Result<()> {
        for batch in records.chunks(500) {
            let request = PushRequest { records: batch.to_vec() };
            let reply = patiently(|| self.server.push(space, &request))?;
            let refused = reply.outcomes.iter().find_map(|outcome| outcome.refused);
            ensure!(refused.is_none(), "a record was refused: {refused:?}");
        }
        Ok(())
    }
}

/// Comes back as often as the server asks for it.
pub(super) fn patiently<T>(request: impl Fn() -> Result<T, SharingError>) -> Result<T, SharingError> {
    for _ in 0..ATTEMPTS_MAX {
        match request() {
            Err(SharingError::Unreachable { retry_after: Some(pause), .. }) => {
                std::thread::sleep(pause.min(PAUSE_MAX));
            }
            outcome => return outcome,
        }
    }
    request()
}

/// Observations of the usual length, about 1.1 kB each, with ids from `first` on.
pub(super) fn records(first: u128, count: u128, now: i64) -> anyhow::Result<Vec<WireRecord>> {
    (first..first + count).map(|number| record(number, now)).collect()
}

fn record(number: u128, now: i64) -> anyhow::Result<WireRecord> {
    let uid = uuid::Uuid::from_u128(number);
    let title = format!("Round invoices of region {number} up to whole cents");
    let narrative = format!("The totals of region {number} were a cent too low after vouchers. ").repeat(10);
    let body = json!({
        "uid": uid, "type": "decision", "title": title, "origin": "agent", "narrative": narrative,
        "facts": [format!("checkout_total in region {number} uses ceil"), "The auditors asked for it"],
        "files_modified": [format!("src/region_{}.rs", number % 500)], "concepts": ["gotcha"],
        "created_at": now, "branch": "main", "made_by": "bench",
    });
    let body = RecordBody::from_json(body.to_string())?;
    Ok(WireRecord::live(RecordUid(uid), RecordKind::OBSERVATION, 1, now, 1, body))
}
