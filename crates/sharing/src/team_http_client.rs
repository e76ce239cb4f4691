//! [`TeamHttpClient`]: a team's server over HTTPS. Follows no redirect, believes no length, and sends its token
//! nowhere but to the server's own address.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde::Serialize;
use serde::de::DeserializeOwned;
use ureq::Agent;
use ureq::http::HeaderValue;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

use crate::gzip_body::{compress_request, expand_answer};
use crate::server::{RecordsQuery, TeamServer};
use crate::sharing_error::SharingError;
use crate::team_file::TeamFile;
use claude_mem_wire::limits::{PAGE_BODY_BYTES_MAX, PAGE_NAMES_MAX, PAGE_RECORDS_MAX, PROTOCOL_MAX};
use claude_mem_wire::messages::{
    AuditPage, DeviceInfo, HelloReply, InviteReply, InviteRequest, JoinReply, JoinRequest, MeReply,
    MemberInfo, MemberPatch, NamesPage, PushReply, PushRequest, RecordsPage, RetractReply, RetractRequest,
    SpaceInfo, SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{
    DeviceId, DeviceToken, ErrorCode, ErrorReply, MemberId, RecordUid, SpaceId, TeamLink, routes,
};

/// One answer: the bodies of a page and as much again for the rest.
const ANSWER_BYTES_MAX: u64 = 2 * PAGE_BODY_BYTES_MAX as u64;
/// An ordinary request as a whole: a page over a slow network.
const REQUEST_SECONDS_MAX: u64 = 120;
/// Without any byte of the answer for this long, an ordinary request has failed. The server itself gives its database
/// less. After a network was parted, TCP alone would keep the request waiting about as long as the outage took.
const SILENT_SECONDS_MAX: u64 = 8;
/// A push as a whole. A server that waits for its body in vain says so after half of this, and the batch is halved.
const PUSH_SECONDS_MAX: u64 = 60;
/// The same for a push, whose body may still be on its way. The batch is halved then.
const PUSH_SILENT_SECONDS_MAX: u64 = 15;
/// A connection with its TLS handshake.
const CONNECT_SECONDS_MAX: u64 = 6;
/// A long poll may take its own time on top.
const WAIT_MARGIN_SECONDS: u64 = 10;
/// A server may ask to wait at most this long.
const RETRY_SECONDS_MAX: u64 = 300;

/// How long a request may take.
#[derive(Clone, Copy, Debug)]
struct RequestLimits {
    total: Duration,
    /// Without any byte of the answer.
    silent: Duration,
}

impl RequestLimits {
    const fn seconds(total: u64, silent: u64) -> Self {
        Self { total: Duration::from_secs(total), silent: Duration::from_secs(silent) }
    }

    const ORDINARY: Self = Self::seconds(REQUEST_SECONDS_MAX, SILENT_SECONDS_MAX);
    const PUSH: Self = Self::seconds(PUSH_SECONDS_MAX, PUSH_SILENT_SECONDS_MAX);
    /// A request that works through many records before it answers.
    const WORK: Self = Self::seconds(REQUEST_SECONDS_MAX, REQUEST_SECONDS_MAX);

    const fn long_poll(seconds: u64) -> Self {
        Self::seconds(seconds + WAIT_MARGIN_SECONDS, seconds + WAIT_MARGIN_SECONDS)
    }
}

/// A connection to a team's server.
#[derive(Debug)]
pub struct TeamHttpClient {
    agent: Agent,
    base: String,
    token: Option<DeviceToken>,
}

/// Joins a team. Repeating it with the same token is safe.
pub fn join_team(
    link: &TeamLink,
    certificates: Option<&Path>,
    request: &JoinRequest,
) -> Result<JoinReply, SharingError> {
    let server = TeamHttpClient { agent: agent(certificates)?, base: link.base().to_owned(), token: None };
    server.hello()?;
    server.post(routes::JOIN, request)
}

impl TeamHttpClient {
    /// The server that this machine has joined. Reads nothing from it yet.
    pub fn connect(team: &TeamFile) -> Result<Self, SharingError> {
        let agent = agent(team.certificates.as_deref())?;
        Ok(Self { agent, base: team.base.clone(), token: Some(team.token.clone()) })
    }

    /// Checks that client and server understand each other.
    pub fn hello(&self) -> Result<HelloReply, SharingError> {
        let reply: HelloReply = self.get(routes::HELLO)?;
        let speaks = reply.protocol_min <= PROTOCOL_MAX && PROTOCOL_MAX <= reply.protocol_max;
        if speaks {
            return Ok(reply);
        }
        let message = if reply.protocol_min > PROTOCOL_MAX {
            "update claude-mem first"
        } else {
            "the server is too old"
        };
        Err(SharingError::Refused { code: ErrorCode::Protocol, message: message.to_owned() })
    }

    pub fn invite(&self, request: &InviteRequest) -> Result<InviteReply, SharingError> {
        self.post(routes::INVITES, request)
    }

    pub fn change_member(&self, member: MemberId, patch: &MemberPatch) -> Result<MemberInfo, SharingError> {
        self.send("PATCH", &routes::member_path(member), Some(patch), RequestLimits::ORDINARY)
    }

    pub fn revoke_device(&self, device: DeviceId) -> Result<DeviceInfo, SharingError> {
        self.send::<(), _>("DELETE", &routes::device_path(device), None, RequestLimits::ORDINARY)
    }

    pub fn retract(&self, request: &RetractRequest) -> Result<RetractReply, SharingError> {
        self.send("POST", routes::RETRACT, Some(request), RequestLimits::WORK)
    }

    pub fn audit(&self) -> Result<AuditPage, SharingError> {
        self.get(routes::AUDIT)
    }

    fn get<R: DeserializeOwned>(&self, path: &str) -> Result<R, SharingError> {
        self.send::<(), R>("GET", path, None, RequestLimits::ORDINARY)
    }

    fn post<B: Serialize, R: DeserializeOwned>(&self, path: &str, body: &B) -> Result<R, SharingError> {
        self.send("POST", path, Some(body), RequestLimits::ORDINARY)
    }

    fn send<B: Serialize, R: DeserializeOwned>(
        &self,
        method: &'static str,
        path: &str,
        body: Option<&B>,
        limits: RequestLimits,
    ) -> Result<R, SharingError> {
        let mut bytes = match body {
            Some(body) => serde_json::to_vec(body).map_err(claude_mem_store::StoreError::from)?,
            None => Vec::new(),
        };
        let mut request = ureq::http::Request::builder()
            .method(method)
            .uri(format!("{}{path}", self.base))
            .header(routes::PROTOCOL_HEADER, PROTOCOL_MAX.to_string())
            .header("accept", "application/json")
            .header("accept-encoding", "gzip");
        if body.is_some() {
            request = request.header("content-type", "application/json");
        }
        if let Some(compressed) = compress_request(&bytes) {
            request = request.header("content-encoding", "gzip");
            bytes = compressed;
        }
        if let Some(token) = &self.token {
            let mut value = HeaderValue::from_str(&format!("Bearer {}", token.reveal()))
                .map_err(|_| SharingError::Misconfigured("the token has invalid characters".to_owned()))?;
            value.set_sensitive(true);
            request = request.header("authorization", value);
        }
        let request = request
            .body(bytes)
            .map_err(|_| SharingError::Misconfigured("the address is invalid".to_owned()))?;
        let request = self
            .agent
            .configure_request(request)
            .timeout_global(Some(limits.total))
            .timeout_per_read(Some(limits.silent))
            .timeout_connect(Some(Duration::from_secs(CONNECT_SECONDS_MAX)))
            .build();
        let mut response = self.agent.run(request).map_err(|error| unreachable_server(&error))?;
        let status = response.status().as_u16();
        let encoding = response.headers().get("content-encoding").map(HeaderValue::as_bytes);
        let is_compressed = encoding == Some(b"gzip");
        let bytes = response
            .body_mut()
            .with_config()
            .limit(ANSWER_BYTES_MAX)
            .read_to_vec()
            .map_err(|error| unreachable_server(&error))?;
        let bytes = if is_compressed { expand_answer(&bytes, ANSWER_BYTES_MAX)? } else { bytes };
        if status == 200 {
            return serde_json::from_slice(&bytes)
                .map_err(|_| SharingError::InvalidAnswer("the answer is not what the protocol says"));
        }
        Err(refused_request(status, &bytes))
    }
}

fn agent(certificates: Option<&Path>) -> Result<Agent, SharingError> {
    let mut config = Agent::config_builder()
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        // A redirect would send the token and memories to another server.
        .max_redirects(0)
        .max_redirects_will_error(false)
        .max_idle_connections(1)
        .user_agent(concat!("claude-mem/", env!("CARGO_PKG_VERSION")))
        // Variables of a session do not decide where memories go.
        .proxy(None);
    if let Some(file) = certificates {
        config = config.tls_config(TlsConfig::builder().root_certs(load_roots(file)?).build());
    }
    Ok(config.build().new_agent())
}

fn load_roots(file: &Path) -> Result<RootCerts, SharingError> {
    let pem =
        std::fs::read(file).map_err(|error| SharingError::File("cannot read the certificates", error))?;
    let certificate = |item| match item {
        Ok(PemItem::Certificate(certificate)) => Some(certificate),
        _ => None,
    };
    let certificates: Vec<_> = parse_pem(&pem).filter_map(certificate).collect();
    if certificates.is_empty() {
        return Err(SharingError::Misconfigured(format!("{} contains no certificate", file.display())));
    }
    Ok(RootCerts::Specific(Arc::new(certificates)))
}

fn unreachable_server(error: &ureq::Error) -> SharingError {
    let why = match error {
        ureq::Error::BodyExceedsLimit(_) => return SharingError::InvalidAnswer("an answer is too long"),
        // The connection was there: the request, or its answer, is lost on the way.
        ureq::Error::Timeout(ureq::Timeout::PerRead | ureq::Timeout::Global) => {
            return SharingError::TimedOut;
        }
        error => error.to_string(),
    };
    // The TLS library names the cause, not the remedy.
    let why = if why.contains("UnknownIssuer") {
        "its certificate is of an unknown authority; --ca FILE names a private one".to_owned()
    } else {
        why
    };
    SharingError::Unreachable { why, retry_after: None }
}

/// Maps an error response to a decision. A body that is not ours comes from a proxy in between.
fn refused_request(status: u16, bytes: &[u8]) -> SharingError {
    let Ok(reply) = serde_json::from_slice::<ErrorReply>(bytes) else {
        return match status {
            300..=399 => SharingError::InvalidAnswer("the server redirects; join by its own address"),
            413 => SharingError::Refused {
                code: ErrorCode::TooLarge,
                message: "the request is too large".to_owned(),
            },
            _ => SharingError::Unreachable { why: format!("HTTP status {status}"), retry_after: None },
        };
    };
    let message: String = reply.message.chars().filter(|c| !c.is_control()).take(300).collect();
    match reply.error {
        ErrorCode::Revoked => SharingError::Revoked,
        code if code.is_transient() => SharingError::Unreachable {
            why: message,
            retry_after: reply
                .retry_after_seconds
                .map(|seconds| Duration::from_secs(seconds.min(RETRY_SECONDS_MAX))),
        },
        code => SharingError::Refused { code, message },
    }
}

impl TeamServer for TeamHttpClient {
    fn me(&self) -> Result<MeReply, SharingError> {
        self.get(routes::ME)
    }

    fn space(&self, request: &SpaceRequest) -> Result<SpaceInfo, SharingError> {
        self.post(routes::SPACES, request)
    }

    fn push(&self, space: SpaceId, request: &PushRequest) -> Result<PushReply, SharingError> {
        self.send("POST", &routes::push_path(space), Some(request), RequestLimits::PUSH)
    }

    fn records(&self, space: SpaceId, query: &RecordsQuery) -> Result<RecordsPage, SharingError> {
        let limit = PAGE_RECORDS_MAX;
        let query = match query {
            RecordsQuery::After(number) => format!("after={number}&limit={limit}"),
            RecordsQuery::Before(number) => format!("before={number}&limit={limit}"),
            RecordsQuery::Named(uids) => {
                let uids: Vec<String> = uids.iter().map(ToString::to_string).collect();
                format!("uids={}", uids.join(","))
            }
        };
        self.get(&format!("{}?{query}", routes::records_path(space)))
    }

    fn names(&self, space: SpaceId, after: Option<RecordUid>) -> Result<NamesPage, SharingError> {
        let after = after.map(|uid| format!("&after={uid}")).unwrap_or_default();
        self.get(&format!("{}?limit={PAGE_NAMES_MAX}{after}", routes::names_path(space)))
    }

    fn wait(&self, request: &WaitRequest) -> Result<WaitReply, SharingError> {
        self.send("POST", routes::WAIT, Some(request), RequestLimits::long_poll(request.seconds))
    }
}
