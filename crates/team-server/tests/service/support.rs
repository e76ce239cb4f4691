//! A running service, and devices that talk to it.

use std::collections::BTreeMap;
use std::time::Duration;

use claude_mem_team_server::{RunningServer, ServeOptions};
use claude_mem_wire::messages::{
    InviteReply, InviteRequest, JoinReply, JoinRequest, PushReply, PushRequest, RecordsPage, SpaceInfo,
    SpaceRequest,
};
use claude_mem_wire::{
    DeviceToken, ErrorReply, InviteSecret, LinkSecret, MemberRole, PulledRecord, RecordBody, RecordKind,
    RecordUid, RecordVersion, SpaceDigest, SpaceId, TeamLink, WireRecord, routes,
};
use rig::postgres::PostgresCluster;
use serde::Serialize;
use serde::de::DeserializeOwned;
use uuid::Uuid;

/// A service in this process.
pub(crate) struct TestService {
    runtime: Option<tokio::runtime::Runtime>,
    server: Option<RunningServer>,
}

impl TestService {
    pub(crate) fn start(cluster: &PostgresCluster) -> Self {
        Self::start_with(&ServeOptions::new(cluster.address()))
    }

    pub(crate) fn start_with(options: &ServeOptions) -> Self {
        let runtime =
            tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let server =
            runtime.block_on(RunningServer::start(options)).unwrap_or_else(|error| panic!("{error}"));
        Self { runtime: Some(runtime), server: Some(server) }
    }

    pub(crate) fn base(&self) -> String {
        format!("http://{}", self.server.as_ref().unwrap().report().address)
    }

    pub(crate) fn admin_link(&self) -> Option<&str> {
        self.server.as_ref().unwrap().report().admin_link.as_deref()
    }

    /// The first administrator, who joins by the link that the service prints.
    pub(crate) fn first_admin(&self) -> TestDevice {
        TestDevice::join_by_link(&self.base(), self.admin_link().unwrap(), "mira")
    }
}

impl Drop for TestService {
    fn drop(&mut self) {
        if let (Some(server), Some(runtime)) = (self.server.take(), self.runtime.take()) {
            runtime.block_on(server.stop());
        }
    }
}

/// What a request failed with.
pub(crate) type Failed = (u16, ErrorReply);

/// A machine of a member.
#[derive(Clone, Debug)]
pub(crate) struct TestDevice {
    pub(crate) base: String,
    pub(crate) token: DeviceToken,
    pub(crate) joined: JoinReply,
}

pub(crate) fn random_token() -> DeviceToken {
    let mut bytes = [0; 32];
    for half in bytes.chunks_mut(16) {
        half.copy_from_slice(Uuid::now_v7().as_bytes());
    }
    DeviceToken::from_random(bytes)
}

pub(crate) fn agent() -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(Duration::from_mins(2)));
    config.build().into()
}

/// Sends one request and reads the answer. Comes back later if it is asked to, as clients do.
pub(crate) fn request<T: DeserializeOwned>(
    method: &str,
    url: &str,
    token: Option<&DeviceToken>,
    body: Option<Vec<u8>>,
) -> Result<T, Failed> {
    loop {
        let (status, bytes) = raw_request(method, url, token, body.clone(), &[]);
        let unreadable =
            |e: serde_json::Error| -> ! { panic!("{status} {e}: {}", String::from_utf8_lossy(&bytes)) };
        if status == 200 {
            return Ok(serde_json::from_slice(&bytes).unwrap_or_else(|e| unreadable(e)));
        }
        let reply: ErrorReply = serde_json::from_slice(&bytes).unwrap_or_else(|e| unreadable(e));
        if status != 429 {
            return Err((status, reply));
        }
        std::thread::sleep(Duration::from_secs(reply.retry_after_seconds.unwrap()));
    }
}

pub(crate) fn raw_request(
    method: &str,
    url: &str,
    token: Option<&DeviceToken>,
    body: Option<Vec<u8>>,
    headers: &[(&str, &str)],
) -> (u16, Vec<u8>) {
    send_request(method, url, token, body, headers).unwrap()
}

/// Like [`raw_request`]; `None` if the connection broke.
pub(crate) fn try_request(
    method: &str,
    url: &str,
    token: Option<&DeviceToken>,
    body: Option<Vec<u8>>,
) -> Option<(u16, Vec<u8>)> {
    send_request(method, url, token, body, &[]).ok()
}

fn send_request(
    method: &str,
    url: &str,
    token: Option<&DeviceToken>,
    body: Option<Vec<u8>>,
    headers: &[(&str, &str)],
) -> Result<(u16, Vec<u8>), ureq::Error> {
    let mut request =
        ureq::http::Request::builder().method(method).uri(url).header(routes::PROTOCOL_HEADER, "1");
    if let Some(token) = token {
        request = request.header("authorization", format!("Bearer {}", token.reveal()));
    }
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let mut response = match body {
        Some(body) => agent().run(request.body(body)?)?,
        None => agent().run(request.body(())?)?,
    };
    let bytes = response.body_mut().with_config().limit(64 << 20).read_to_vec()?;
    Ok((response.status().as_u16(), bytes))
}

impl TestDevice {
    pub(crate) fn join_by_link(base: &str, link: &str, handle: &str) -> Self {
        let LinkSecret::Invite(secret) = TeamLink::parse(link).unwrap().secret else {
            panic!("the link is an invite")
        };
        Self::join(base, secret, handle).unwrap()
    }

    pub(crate) fn join(base: &str, secret: InviteSecret, handle: &str) -> Result<Self, Failed> {
        let token = random_token();
        let body = JoinRequest {
            secret,
            token: token.clone(),
            handle: handle.to_owned(),
            name: handle.to_owned(),
            device: "laptop".to_owned(),
        };
        let joined = request("POST", &format!("{base}{}", routes::JOIN), None, Some(json(&body)))?;
        Ok(Self { base: base.to_owned(), token, joined })
    }

    /// A new member that this administrator invites.
    pub(crate) fn invite(&self, handle: &str, role: MemberRole) -> Self {
        let wanted = InviteRequest::Member { role, handle: Some(handle.to_owned()) };
        let invite: InviteReply = self.post(routes::INVITES, &wanted).unwrap();
        Self::join(&self.base, invite.secret, "ignored").unwrap()
    }

    /// The same device, through another replica.
    pub(crate) fn through(&self, server: &TestService) -> Self {
        self.at(&server.base())
    }

    /// The same device, at another address.
    pub(crate) fn at(&self, base: &str) -> Self {
        Self { base: base.to_owned(), ..self.clone() }
    }

    pub(crate) fn get<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failed> {
        request("GET", &format!("{}{path}", self.base), Some(&self.token), None)
    }

    pub(crate) fn post<T: DeserializeOwned>(&self, path: &str, body: &impl Serialize) -> Result<T, Failed> {
        self.send("POST", path, body)
    }

    pub(crate) fn send<T: DeserializeOwned>(
        &self,
        method: &str,
        path: &str,
        body: &impl Serialize,
    ) -> Result<T, Failed> {
        request(method, &format!("{}{path}", self.base), Some(&self.token), Some(json(body)))
    }

    pub(crate) fn delete<T: DeserializeOwned>(&self, path: &str) -> Result<T, Failed> {
        request("DELETE", &format!("{}{path}", self.base), Some(&self.token), None)
    }

    pub(crate) fn project(&self, name: &str) -> SpaceInfo {
        let keys = vec![format!("remote:github.com/acme/{name}")];
        self.post(routes::SPACES, &SpaceRequest::Project { keys, name: name.to_owned() }).unwrap()
    }

    pub(crate) fn own_space(&self) -> SpaceInfo {
        self.post(routes::SPACES, &SpaceRequest::Own).unwrap()
    }

    pub(crate) fn push(&self, space: SpaceId, records: &[WireRecord]) -> PushReply {
        self.try_push(space, records).unwrap_or_else(|(status, error)| panic!("{status} {error:?}"))
    }

    pub(crate) fn try_push(&self, space: SpaceId, records: &[WireRecord]) -> Result<PushReply, Failed> {
        self.post(&routes::push_path(space), &PushRequest { records: records.to_vec() })
    }

    pub(crate) fn page(&self, space: SpaceId, query: &str) -> RecordsPage {
        self.get(&format!("{}?{query}", routes::records_path(space))).unwrap()
    }

    /// Everything of a space, read in pages of two, with the digest of the result checked.
    pub(crate) fn pull_all(&self, space: SpaceId) -> BTreeMap<RecordUid, PulledRecord> {
        self.pull_pages(space, 2)
    }

    /// Like [`TestDevice::pull_all`], in pages of another size.
    pub(crate) fn pull_pages(&self, space: SpaceId, limit: usize) -> BTreeMap<RecordUid, PulledRecord> {
        let (mut found, mut after) = (BTreeMap::new(), 0);
        loop {
            let page = self.page(space, &format!("after={after}&limit={limit}"));
            for pulled in page.records {
                assert!(pulled.seq > after, "numbers ascend");
                assert_eq!(pulled.record.check(), Ok(()));
                after = pulled.seq;
                found.insert(pulled.record.uid, pulled);
            }
            if !page.more {
                let versions = found.iter().map(|(uid, pulled)| (*uid, pulled.record.version()));
                assert_eq!(page.state.digest, versions.collect::<SpaceDigest>());
                let live = found.values().filter(|pulled| !pulled.record.gone).count();
                assert_eq!(page.state.live, live as u64);
                return found;
            }
        }
    }
}

pub(crate) fn json(value: &impl Serialize) -> Vec<u8> {
    serde_json::to_vec(value).unwrap()
}

pub(crate) fn uid(number: u128) -> RecordUid {
    RecordUid(Uuid::from_u128(number))
}

pub(crate) fn record(number: u128, rev: u32, title: &str) -> WireRecord {
    let body = RecordBody::from_json(format!("{{\"title\":\"{title}\"}}")).unwrap();
    WireRecord::live(uid(number), RecordKind::OBSERVATION, rev, 1_000, 1, body)
}

pub(crate) fn removal(number: u128, rev: u32) -> WireRecord {
    WireRecord::tombstone(uid(number), RecordKind::OBSERVATION, rev, 1_000, 1)
}

pub(crate) fn version(number: u32, title: &str) -> RecordVersion {
    record(0, number, title).version()
}
