//! A team's server in memory, for tests: the protocol's rules without network and database. It can lose
//! requests and answers, be restored to an earlier state, and answer late.

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::server::{RecordsQuery, TeamServer};
use crate::sharing_error::SharingError;
use claude_mem_wire::limits::PAGE_UIDS_MAX;
use claude_mem_wire::messages::{
    MeReply, MemberInfo, NamesPage, PushOutcome, PushReply, PushRequest, RecordsPage, SpaceInfo,
    SpaceRequest, SpaceState, TeamInfo, WaitReply, WaitRequest,
};
use claude_mem_wire::{
    DeviceId, MemberId, MemberRole, OfferVerdict, PulledRecord, RecordName, RecordUid, RecordVersion,
    ServerGeneration, SpaceDigest, SpaceId, StoredCopy, TeamId, WriterIdentity, judge_offer,
};

/// All data of the server.
#[derive(Clone, Debug)]
pub(crate) struct ServerData {
    pub records: BTreeMap<RecordUid, (SpaceId, PulledRecord)>,
    pub spaces: BTreeMap<SpaceId, (String, i64, Option<MemberId>)>,
    pub generation: ServerGeneration,
    pub members: Vec<MemberInfo>,
}

/// The server that all connections of a test share.
pub(crate) type SharedData = Rc<RefCell<ServerData>>;

pub(crate) fn empty_server() -> SharedData {
    Rc::new(RefCell::new(ServerData {
        records: BTreeMap::new(),
        spaces: BTreeMap::new(),
        generation: ServerGeneration(uuid::Uuid::from_u128(1)),
        members: Vec::new(),
    }))
}

impl ServerData {
    pub(crate) fn add_member(&mut self, handle: &str, role: MemberRole) -> MemberId {
        let id = MemberId(uuid::Uuid::from_u128(0x1000 + self.members.len() as u128));
        let name = format!("{}{}", handle[..1].to_uppercase(), &handle[1..]);
        self.members.push(MemberInfo {
            id,
            handle: handle.to_owned(),
            name,
            role,
            created_at: 0,
            left_at: None,
        });
        id
    }

    pub(crate) fn state(&self, space: SpaceId) -> SpaceState {
        let head = self.spaces.get(&space).map_or(0, |(_, head, _)| *head);
        let live = self.records.values().filter(|(of, pulled)| *of == space && !pulled.record.gone);
        let live: Vec<(RecordUid, RecordVersion)> =
            live.map(|(_, pulled)| (pulled.record.uid, pulled.record.version())).collect();
        SpaceState { head, live: live.len() as u64, digest: SpaceDigest::from_records(live) }
    }

    /// Live bodies of a space.
    pub(crate) fn bodies(&self, space: SpaceId) -> Vec<String> {
        let of_space = self.records.values().filter(|(of, _)| *of == space);
        of_space.filter_map(|(_, pulled)| Some(pulled.record.body.as_ref()?.as_str().to_owned())).collect()
    }

    fn next_number(&mut self, space: SpaceId) -> i64 {
        let head = &mut self.spaces.get_mut(&space).unwrap().1;
        *head += 1;
        *head
    }

    pub(crate) fn push(
        &mut self,
        member: MemberId,
        now: i64,
        space: SpaceId,
        request: &PushRequest,
    ) -> PushReply {
        let role = self.members.iter().find(|info| info.id == member).unwrap().role;
        let writer = WriterIdentity { member, role };
        let mut outcomes = Vec::new();
        for record in &request.records {
            let stored = self.records.get(&record.uid);
            let copy = stored.map(|(of, pulled)| StoredCopy {
                version: pulled.record.version(),
                v: pulled.record.v,
                author: pulled.author,
                space: *of,
                in_own_space: self.spaces[of].2.is_some(),
            });
            let verdict = match record.check() {
                Ok(()) => judge_offer(writer, space, record.version(), record.v, copy.as_ref()),
                Err(reason) => OfferVerdict::Refuse(reason),
            };
            let author = copy.map_or(member, |copy| copy.author);
            let mut outcome =
                PushOutcome { uid: record.uid, stored: copy.map(|copy| copy.version), refused: None };
            match verdict {
                OfferVerdict::Take => {
                    let seq = self.next_number(space);
                    let device = DeviceId(member.0);
                    let pulled =
                        PulledRecord { seq, author, device, received_at: now, record: record.clone() };
                    self.records.insert(record.uid, (space, pulled));
                    outcome.stored = Some(record.version());
                }
                OfferVerdict::KeepStored => {}
                OfferVerdict::Refuse(reason) => outcome.refused = Some(reason),
            }
            outcomes.push(outcome);
        }
        PushReply { outcomes, state: self.state(space), generation: self.generation }
    }

    /// Removes all records of a member, as an administrator does.
    pub(crate) fn retract(&mut self, author: MemberId) {
        let uids: Vec<(RecordUid, SpaceId)> = self
            .records
            .iter()
            .filter(|(_, (_, pulled))| pulled.author == author && !pulled.record.gone)
            .map(|(uid, (space, _))| (*uid, *space))
            .collect();
        for (uid, space) in uids {
            let seq = self.next_number(space);
            let (_, pulled) = self.records.get_mut(&uid).unwrap();
            let old = &pulled.record;
            pulled.record =
                claude_mem_wire::WireRecord::tombstone(uid, old.kind, old.rev + 1, old.made_at, old.v);
            pulled.seq = seq;
        }
    }
}

/// What the network does to one request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum NetworkFate {
    Delivered,
    /// The request does not arrive.
    RequestLost,
    /// The request arrives and its answer does not.
    AnswerLost,
    /// A push arrives, its answer does not, and the network delivers it again later.
    DeliveredAgainLater,
}

/// One member's connection.
pub(crate) struct ReferenceServer {
    pub data: SharedData,
    pub member: MemberId,
    pub now: Cell<i64>,
    pub page: usize,
    /// Decides the fate of each request.
    pub fate: RefCell<Box<dyn FnMut() -> NetworkFate>>,
    /// Pushes that the network will deliver again.
    pub late: RefCell<Vec<(SpaceId, PushRequest)>>,
}

impl ReferenceServer {
    pub(crate) fn new(data: &SharedData, member: MemberId) -> Self {
        Self {
            data: Rc::clone(data),
            member,
            now: Cell::new(0),
            page: 500,
            fate: RefCell::new(Box::new(|| NetworkFate::Delivered)),
            late: RefCell::new(Vec::new()),
        }
    }

    /// Delivers what the network held back, in any order.
    pub(crate) fn deliver_late(&self) {
        for (space, request) in self.late.take() {
            self.data.borrow_mut().push(self.member, self.now.get(), space, &request);
        }
    }

    fn exchange<R>(&self, act: impl FnOnce(&mut ServerData) -> R) -> Result<R, SharingError> {
        let lost = || SharingError::Unreachable { why: "lost".to_owned(), retry_after: None };
        match (self.fate.borrow_mut())() {
            NetworkFate::RequestLost => Err(lost()),
            NetworkFate::AnswerLost | NetworkFate::DeliveredAgainLater => {
                act(&mut self.data.borrow_mut());
                Err(lost())
            }
            NetworkFate::Delivered => Ok(act(&mut self.data.borrow_mut())),
        }
    }
}

impl TeamServer for ReferenceServer {
    fn me(&self) -> Result<MeReply, SharingError> {
        let (member, now) = (self.member, self.now.get());
        self.exchange(|data| MeReply {
            team: TeamInfo { id: TeamId(uuid::Uuid::from_u128(7)), name: "acme".to_owned() },
            member,
            device: DeviceId(member.0),
            role: data.members.iter().find(|info| info.id == member).unwrap().role,
            members: data.members.clone(),
            devices: Vec::new(),
            spaces: data
                .spaces
                .iter()
                .filter(|(_, (_, _, owner))| owner.is_none_or(|owner| owner == member))
                .map(|(id, (key, _, owner))| SpaceInfo {
                    id: *id,
                    name: key.clone(),
                    owner: *owner,
                    keys: vec![key.clone()],
                    state: data.state(*id),
                })
                .collect(),
            generation: data.generation,
            now,
        })
    }

    fn space(&self, request: &SpaceRequest) -> Result<SpaceInfo, SharingError> {
        let member = self.member;
        self.exchange(|data| {
            let (key, owner) = match request {
                SpaceRequest::Project { keys, .. } => (keys[0].clone(), None),
                SpaceRequest::Own => (format!("own:{member}"), Some(member)),
            };
            let known = data.spaces.iter().find(|(_, (known, _, _))| *known == key).map(|(id, _)| *id);
            let id =
                known.unwrap_or_else(|| SpaceId(uuid::Uuid::from_u128(0x2000 + data.spaces.len() as u128)));
            data.spaces.entry(id).or_insert_with(|| (key.clone(), 0, owner));
            SpaceInfo { id, name: key.clone(), owner, keys: vec![key], state: data.state(id) }
        })
    }

    fn push(&self, space: SpaceId, request: &PushRequest) -> Result<PushReply, SharingError> {
        let (member, now) = (self.member, self.now.get());
        let fate = (self.fate.borrow_mut())();
        if fate == NetworkFate::DeliveredAgainLater {
            self.late.borrow_mut().push((space, request.clone()));
        }
        let lost = SharingError::Unreachable { why: "lost".to_owned(), retry_after: None };
        if fate == NetworkFate::RequestLost {
            return Err(lost);
        }
        let reply = self.data.borrow_mut().push(member, now, space, request);
        if fate == NetworkFate::Delivered { Ok(reply) } else { Err(lost) }
    }

    fn records(&self, space: SpaceId, query: &RecordsQuery) -> Result<RecordsPage, SharingError> {
        let limit = self.page;
        self.exchange(|data| {
            let of_space = data.records.values().filter(|(of, _)| *of == space).map(|(_, pulled)| pulled);
            let mut found: Vec<PulledRecord> = match query {
                RecordsQuery::After(number) => {
                    of_space.filter(|pulled| pulled.seq > *number).cloned().collect()
                }
                RecordsQuery::Before(number) => {
                    of_space.filter(|pulled| pulled.seq < *number && !pulled.record.gone).cloned().collect()
                }
                RecordsQuery::Named(uids) => {
                    assert!(uids.len() <= PAGE_UIDS_MAX);
                    of_space.filter(|pulled| uids.contains(&pulled.record.uid)).cloned().collect()
                }
            };
            found.sort_by_key(|pulled| pulled.seq);
            if matches!(query, RecordsQuery::Before(_)) {
                found.reverse();
            }
            let more = found.len() > limit && !matches!(query, RecordsQuery::Named(_));
            if more {
                found.truncate(limit);
            }
            RecordsPage { records: found, more, state: data.state(space), generation: data.generation }
        })
    }

    fn names(&self, space: SpaceId, after: Option<RecordUid>) -> Result<NamesPage, SharingError> {
        let limit = self.page * 3;
        self.exchange(|data| {
            let named = data
                .records
                .iter()
                .filter(|(uid, (of, _))| *of == space && after.is_none_or(|at| **uid > at));
            let mut names: Vec<RecordName> = named
                .map(|(uid, (_, pulled))| RecordName {
                    uid: *uid,
                    author: pulled.author,
                    rev: pulled.record.rev,
                    hash: pulled.record.hash,
                    gone: pulled.record.gone,
                })
                .collect();
            let more = names.len() > limit;
            names.truncate(limit);
            NamesPage { names, more, state: data.state(space), generation: data.generation }
        })
    }

    fn wait(&self, _request: &WaitRequest) -> Result<WaitReply, SharingError> {
        Err(SharingError::InvalidAnswer("the reference server answers no long polls"))
    }
}
