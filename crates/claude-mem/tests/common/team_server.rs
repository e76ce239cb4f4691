//! A team's server on loopback, in memory: the reference server of the protocol behind HTTP. It can misbehave.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use claude_mem_sharing::RecordsQuery;
use claude_mem_sharing::reference_server::{SharedData, empty_server};
use claude_mem_wire::messages::{
    HelloReply, InviteReply, InviteRequest, JoinReply, JoinRequest, MemberPatch, PushRequest, RetractReply,
    RetractRequest, SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{
    DeviceId, ErrorCode, ErrorReply, InviteId, InviteSecret, LinkSecret, MemberId, MemberRole, RecordUid,
    SpaceId, TeamLink,
};
use flate2::Compression;
use flate2::read::GzDecoder;
use flate2::write::GzEncoder;
use serde::Serialize;

/// How the server misbehaves.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Misbehaviour {
    #[default]
    None,
    /// Answers every request with a redirect to another address.
    Redirect,
    /// Sends pages whose records do not match their hashes.
    WrongHashes,
    /// Promises more after every page and sends the same records again.
    EndlessPages,
    /// Sends an answer that never ends.
    EndlessBody,
    /// Accepts connections and says nothing.
    Silent,
    /// Sends text that is no JSON.
    Garbage,
    /// Sends a short answer that expands to 200 MB.
    GzipBomb,
}

/// Tokens and invites, by their secrets.
#[derive(Default)]
struct Access {
    tokens: Vec<(String, MemberId, bool)>,
    invites: Vec<(String, Option<MemberId>, MemberRole, Option<String>)>,
}

/// The server; it ends with the test process.
pub(crate) struct TeamServerStub {
    pub(crate) data: SharedData,
    access: Arc<Mutex<Access>>,
    misbehaviour: Arc<Mutex<Misbehaviour>>,
    /// Requests that are not answered.
    silent: Arc<AtomicUsize>,
    requests: Arc<AtomicUsize>,
    pub(crate) base: String,
}

impl TeamServerStub {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
        let base = format!("http://{}", listener.local_addr().expect("an address"));
        let stub = Self {
            data: empty_server(),
            access: Arc::new(Mutex::new(Access::default())),
            misbehaviour: Arc::new(Mutex::new(Misbehaviour::None)),
            silent: Arc::default(),
            requests: Arc::new(AtomicUsize::new(0)),
            base,
        };
        let (data, access) = (stub.data.clone(), Arc::clone(&stub.access));
        let (misbehaviour, silent) = (Arc::clone(&stub.misbehaviour), Arc::clone(&stub.silent));
        let requests = Arc::clone(&stub.requests);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                requests.fetch_add(1, Ordering::SeqCst);
                let (data, access) = (data.clone(), Arc::clone(&access));
                let (misbehaviour, silent) = (Arc::clone(&misbehaviour), Arc::clone(&silent));
                std::thread::spawn(move || serve(stream, &data, &access, &misbehaviour, &silent));
            }
        });
        stub
    }

    /// Whether a request waits for an answer that does not come.
    pub(crate) fn is_kept_waiting(&self) -> bool {
        self.silent.load(Ordering::Relaxed) > 0
    }

    /// How many connections there were.
    pub(crate) fn requests(&self) -> usize {
        self.requests.load(Ordering::SeqCst)
    }

    pub(crate) fn misbehave(&self, how: Misbehaviour) {
        *lock(&self.misbehaviour) = how;
    }

    /// A link for a new member.
    pub(crate) fn invite(&self, handle: &str, role: MemberRole) -> String {
        let mut access = lock(&self.access);
        let secret = InviteSecret::from_random([access.invites.len() as u8 + 1; 16]);
        access.invites.push((secret.reveal(), None, role, Some(handle.to_owned())));
        TeamLink::new(&self.base, LinkSecret::Invite(secret)).expect("a link").to_string()
    }

    /// Revokes all tokens of a member.
    pub(crate) fn revoke(&self, handle: &str) {
        let id = self.data.lock().members.iter().find(|info| info.handle == handle).expect("a member").id;
        for (_, member, revoked) in &mut lock(&self.access).tokens {
            *revoked |= *member == id;
        }
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

struct Request {
    method: String,
    path: String,
    query: String,
    token: String,
    body: Vec<u8>,
}

fn serve(
    stream: TcpStream,
    data: &SharedData,
    access: &Mutex<Access>,
    misbehaviour: &Mutex<Misbehaviour>,
    silent: &AtomicUsize,
) {
    let mut reader = BufReader::new(stream.try_clone().expect("a second handle"));
    while let Some(request) = read_request(&mut reader) {
        let how = *lock(misbehaviour);
        if how == Misbehaviour::Silent {
            silent.fetch_add(1, Ordering::Relaxed);
        }
        if !misbehaved(&stream, how) {
            return;
        }
        let (status, mut body) = answer(&request, data, access);
        if how == Misbehaviour::WrongHashes {
            body = body
                .replace("\\\"title\\\":\\\"", "\\\"title\\\":\\\"Forged ")
                .replace("\"title\":\"", "\"title\":\"Forged ");
        }
        if how == Misbehaviour::EndlessPages {
            body = body.replace("\"more\":false", "\"more\":true");
        }
        let head = format!(
            "HTTP/1.1 {status} x\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut out = &stream;
        if out.write_all(head.as_bytes()).and_then(|()| out.write_all(body.as_bytes())).is_err() {
            return;
        }
    }
}

/// Misbehaves before the answer. False if there is nothing more to say on this connection.
fn misbehaved(mut stream: &TcpStream, how: Misbehaviour) -> bool {
    match how {
        Misbehaviour::None | Misbehaviour::WrongHashes | Misbehaviour::EndlessPages => return true,
        Misbehaviour::Redirect => {
            let text =
                "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:1/steal\r\ncontent-length: 0\r\n\r\n";
            // The client may be gone.
            let _ = stream.write_all(text.as_bytes());
        }
        Misbehaviour::Garbage => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n<html>no!");
        }
        Misbehaviour::GzipBomb => {
            let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
            encoder.write_all(&vec![b' '; 200 << 20]).expect("memory");
            let bomb = encoder.finish().expect("memory");
            let head = "HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length:";
            let _ = write!(stream, "{head} {}\r\n\r\n", bomb.len()).and_then(|()| stream.write_all(&bomb));
        }
        Misbehaviour::Silent => std::thread::sleep(Duration::from_mins(2)),
        Misbehaviour::EndlessBody => {
            let _ = stream.write_all(b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n");
            let chunk = [b' '; 4096];
            while stream
                .write_all(b"1000\r\n")
                .and_then(|()| stream.write_all(&chunk))
                .and_then(|()| stream.write_all(b"\r\n"))
                .is_ok()
            {}
        }
    }
    false
}

fn read_request(reader: &mut BufReader<TcpStream>) -> Option<Request> {
    let mut line = String::new();
    reader.read_line(&mut line).ok().filter(|read| *read > 0)?;
    let mut words = line.split_whitespace();
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    let (mut length, mut token, mut is_compressed) = (0, String::new(), false);
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim_end().split_once(':') else { break };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "content-encoding" => is_compressed = value.trim() == "gzip",
            "authorization" => value.trim().trim_start_matches("Bearer ").clone_into(&mut token),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    if is_compressed {
        let compressed = std::mem::take(&mut body);
        GzDecoder::new(compressed.as_slice()).read_to_end(&mut body).ok()?;
    }
    Some(Request { method, path: path.to_owned(), query: query.to_owned(), token, body })
}

fn json(value: &impl Serialize) -> (u16, String) {
    (200, serde_json::to_string(value).expect("JSON"))
}

fn refused(code: ErrorCode) -> (u16, String) {
    let reply = ErrorReply { error: code, message: format!("{code:?}"), retry_after_seconds: None };
    (code.status(), serde_json::to_string(&reply).expect("JSON"))
}

fn answer(request: &Request, data: &SharedData, access: &Mutex<Access>) -> (u16, String) {
    let now = now();
    if request.path == "/v1/hello" {
        let hello = HelloReply { protocol_min: 1, protocol_max: 1, server_version: "0".to_owned(), now };
        return json(&hello);
    }
    if request.path == "/v1/join" {
        return join(request, data, access);
    }
    let member = lock(access).tokens.iter().find(|(token, _, _)| *token == request.token).cloned();
    let Some((_, member, revoked)) = member else { return refused(ErrorCode::Unauthorized) };
    if revoked {
        return refused(ErrorCode::Revoked);
    }
    let parts: Vec<&str> = request.path.trim_start_matches("/v1/").split('/').collect();
    match (request.method.as_str(), parts.as_slice()) {
        ("GET", ["me"]) => json(&data.lock().me(member, now)),
        ("POST", ["spaces"]) => {
            let asked: SpaceRequest = parsed(request);
            json(&data.lock().space(member, &asked))
        }
        ("POST", ["spaces", space, "push"]) => {
            let asked: PushRequest = parsed(request);
            json(&data.lock().push(member, now, space_id(space), &asked))
        }
        ("GET", ["spaces", space, "records"]) => {
            json(&data.lock().records(space_id(space), &records_query(&request.query), 500))
        }
        ("GET", ["spaces", space, "names"]) => {
            let after = parameter(&request.query, "after").and_then(|uid| uid.parse::<RecordUid>().ok());
            json(&data.lock().names(space_id(space), after, 5_000))
        }
        ("POST", ["wait"]) => wait(&parsed(request), data),
        ("POST", ["invites"]) => invite(&parsed(request), member, data, access),
        ("PATCH", ["members", id]) => {
            let patch: MemberPatch = parsed(request);
            let id = MemberId(id.parse().expect("an id"));
            if patch.revoked {
                lock(access)
                    .tokens
                    .iter_mut()
                    .filter(|(_, of, _)| *of == id)
                    .for_each(|(_, _, gone)| *gone = true);
            }
            let info = data.lock().members.iter().find(|info| info.id == id).cloned();
            json(&info.expect("a member"))
        }
        ("DELETE", ["devices", _]) => {
            lock(access)
                .tokens
                .iter_mut()
                .filter(|(token, _, _)| *token == request.token)
                .for_each(|token| token.2 = true);
            json(&serde_json::json!({ "id": member.0, "member": member.0, "name": "x", "created_at": 0 }))
        }
        ("POST", ["retract"]) => {
            let asked: RetractRequest = parsed(request);
            let before = data.lock().records.values().filter(|(_, pulled)| !pulled.record.gone).count();
            data.lock().retract(asked.member);
            let after = data.lock().records.values().filter(|(_, pulled)| !pulled.record.gone).count();
            json(&RetractReply { retracted: (before - after) as u64 })
        }
        _ => refused(ErrorCode::NotFound),
    }
}

fn now() -> i64 {
    i64::try_from(std::time::UNIX_EPOCH.elapsed().expect("a clock").as_millis()).expect("a time")
}

fn parsed<T: serde::de::DeserializeOwned>(request: &Request) -> T {
    serde_json::from_slice(&request.body).expect("a request of the protocol")
}

fn space_id(text: &str) -> SpaceId {
    text.parse().expect("an id")
}

fn parameter<'q>(query: &'q str, name: &str) -> Option<&'q str> {
    query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .find(|(key, _)| *key == name)
        .map(|(_, value)| value)
}

fn records_query(query: &str) -> RecordsQuery {
    let number = |name| parameter(query, name).and_then(|text| text.parse().ok());
    match (number("after"), number("before")) {
        (Some(after), _) => RecordsQuery::After(after),
        (_, Some(before)) => RecordsQuery::Before(before),
        _ => {
            let uids = parameter(query, "uids").unwrap_or_default().split(',');
            RecordsQuery::Named(uids.filter_map(|uid| uid.parse().ok()).collect())
        }
    }
}

fn wait(request: &WaitRequest, data: &SharedData) -> (u16, String) {
    let begun = Instant::now();
    loop {
        let changed = data.lock().changed(request);
        if !changed.is_empty() || begun.elapsed() >= Duration::from_secs(request.seconds.min(2)) {
            let generation = data.lock().generation;
            return json(&WaitReply { changed, generation, now: now() });
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn join(request: &Request, data: &SharedData, access: &Mutex<Access>) -> (u16, String) {
    let asked: JoinRequest = parsed(request);
    let mut access = lock(access);
    let Some(at) = access.invites.iter().position(|(secret, ..)| *secret == asked.secret.reveal()) else {
        return refused(ErrorCode::InviteInvalid);
    };
    let (_, known, role, handle) = access.invites.remove(at);
    let member = match known {
        Some(member) => member,
        None => data.lock().add_member(&handle.unwrap_or(asked.handle), role),
    };
    access.tokens.push((asked.token.reveal(), member, false));
    let me = data.lock().me(member, now());
    let info = me.members.into_iter().find(|info| info.id == member).expect("a member");
    json(&JoinReply { team: me.team, member: info, device: DeviceId(member.0) })
}

fn invite(
    asked: &InviteRequest,
    member: MemberId,
    data: &SharedData,
    access: &Mutex<Access>,
) -> (u16, String) {
    let is_admin = data.lock().me(member, 0).role == MemberRole::Admin;
    let mut access = lock(access);
    let secret = InviteSecret::from_random([access.invites.len() as u8 + 100; 16]);
    let (known, role, handle) = match asked {
        InviteRequest::Me => (Some(member), MemberRole::Member, None),
        InviteRequest::Member { .. } if !is_admin => return refused(ErrorCode::Forbidden),
        InviteRequest::Member { role, handle } => (None, *role, handle.clone()),
    };
    access.invites.push((secret.reveal(), known, role, handle));
    let id = InviteId(member.0);
    json(&InviteReply { id, secret, role, expires_at: now() + 1_000_000 })
}
