//! A team's server in memory, for tests: the protocol's rules without network and database.

#![allow(clippy::unwrap_used, reason = "fixtures fail their test")]

use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::server::{RecordsQuery, TeamServer};
use crate::sharing_error::SharingError;
use claude_mem_wire::limits::PAGE_UIDS_MAX;
use claude_mem_wire::messages::{
    MeReply, MemberInfo, NamesPage, PushOutcome, PushReply, PushRequest, RecordsPage, SpaceInfo,
    SpaceRequest, SpaceState, TeamInfo, WaitReply, WaitRequest,
};
use claude_mem_wire::{
    DeviceId, MemberId, MemberRole, OfferVerdict, PulledRecord, RecordName, RecordUid, RecordVersion,
    RefusalReason, ServerGeneration, SpaceDigest, SpaceId, StoredCopy, TeamId, WireRecord, WriterIdentity,
    judge_offer,
};

/// All data of the server.
#[derive(Clone, Debug)]
pub struct ServerData {
    pub records: BTreeMap<RecordUid, (SpaceId, PulledRecord)>,
    /// Key, head and owner of each space.
    pub spaces: BTreeMap<SpaceId, (String, i64, Option<MemberId>)>,
    pub generation: ServerGeneration,
    pub members: Vec<MemberInfo>,
    /// Live records that it still takes today; `None`: any number.
    pub quota: Option<u64>,
}

/// The server that all connections of a test share.
#[derive(Clone, Debug)]
pub struct SharedData(Arc<Mutex<ServerData>>);

impl SharedData {
    pub fn lock(&self) -> MutexGuard<'_, ServerData> {
        self.0.lock().unwrap()
    }
}

/// A server without members and spaces.
pub fn empty_server() -> SharedData {
    SharedData(Arc::new(Mutex::new(ServerData {
        records: BTreeMap::new(),
        spaces: BTreeMap::new(),
        generation: ServerGeneration(uuid(1)),
        members: Vec::new(),
        quota: None,
    })))
}

fn uuid(number: u128) -> uuid::Uuid {
    uuid::Uuid::from_u128(number)
}

impl ServerData {
    pub fn add_member(&mut self, handle: &str, role: MemberRole) -> MemberId {
        let id = MemberId(uuid(0x1000 + self.members.len() as u128));
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

    pub fn state(&self, space: SpaceId) -> SpaceState {
        let head = self.spaces.get(&space).map_or(0, |(_, head, _)| *head);
        let live = self.records.values().filter(|(of, pulled)| *of == space && !pulled.record.gone);
        let live: Vec<(RecordUid, RecordVersion)> =
            live.map(|(_, pulled)| (pulled.record.uid, pulled.record.version())).collect();
        SpaceState { head, live: live.len() as u64, digest: SpaceDigest::from_iter(live) }
    }

    /// Live bodies of a space.
    pub fn bodies(&self, space: SpaceId) -> Vec<String> {
        let of_space = self.records.values().filter(|(of, _)| *of == space);
        of_space.filter_map(|(_, pulled)| Some(pulled.record.body.as_ref()?.as_str().to_owned())).collect()
    }

    fn next_number(&mut self, space: SpaceId) -> i64 {
        let head = &mut self.spaces.get_mut(&space).unwrap().1;
        *head += 1;
        *head
    }

    pub fn me(&self, member: MemberId, now: i64) -> MeReply {
        let is_seen = |owner: &Option<MemberId>| owner.is_none_or(|owner| owner == member);
        let spaces = self.spaces.iter().filter(|(_, (_, _, owner))| is_seen(owner));
        MeReply {
            team: TeamInfo { id: TeamId(uuid(7)), name: "acme".to_owned() },
            member,
            device: DeviceId(member.0),
            role: self.members.iter().find(|info| info.id == member).unwrap().role,
            members: self.members.clone(),
            devices: Vec::new(),
            spaces: spaces.map(|(id, _)| self.space_info(*id)).collect(),
            generation: self.generation,
            now,
        }
    }

    fn space_info(&self, id: SpaceId) -> SpaceInfo {
        let (key, _, owner) = &self.spaces[&id];
        SpaceInfo { id, name: key.clone(), owner: *owner, keys: vec![key.clone()], state: self.state(id) }
    }

    pub fn space(&mut self, member: MemberId, request: &SpaceRequest) -> SpaceInfo {
        let (key, owner) = match request {
            SpaceRequest::Project { keys, .. } => (keys[0].clone(), None),
            SpaceRequest::Own => (format!("own:{member}"), Some(member)),
        };
        let known = self.spaces.iter().find(|(_, (known, _, _))| *known == key).map(|(id, _)| *id);
        let id = known.unwrap_or_else(|| SpaceId(uuid(0x2000 + self.spaces.len() as u128)));
        self.spaces.entry(id).or_insert_with(|| (key, 0, owner));
        self.space_info(id)
    }

    pub fn push(&mut self, member: MemberId, now: i64, space: SpaceId, request: &PushRequest) -> PushReply {
        let role = self.members.iter().find(|info| info.id == member).unwrap().role;
        let writer = WriterIdentity { member, role };
        let mut outcomes = Vec::new();
        for record in &request.records {
            let copy = self.records.get(&record.uid).map(|(of, pulled)| StoredCopy {
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
            let mut outcome =
                PushOutcome { uid: record.uid, stored: copy.map(|copy| copy.version), refused: None };
            match verdict {
                OfferVerdict::Take if !record.gone && self.quota == Some(0) => {
                    outcome.refused = Some(RefusalReason::QuotaExceeded);
                }
                OfferVerdict::Take => {
                    self.quota = self.quota.map(|left| left - u64::from(!record.gone));
                    let seq = self.next_number(space);
                    let author = copy.map_or(member, |copy| copy.author);
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

    pub fn records(&self, space: SpaceId, query: &RecordsQuery, limit: usize) -> RecordsPage {
        let of_space = self.records.values().filter(|(of, _)| *of == space).map(|(_, pulled)| pulled);
        let mut found: Vec<PulledRecord> = match query {
            RecordsQuery::After(number) => of_space.filter(|pulled| pulled.seq > *number).cloned().collect(),
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
        RecordsPage { records: found, more, state: self.state(space), generation: self.generation }
    }

    pub fn names(&self, space: SpaceId, after: Option<RecordUid>, limit: usize) -> NamesPage {
        let is_next = |uid: &RecordUid| after.is_none_or(|after| *uid > after);
        let named = self.records.iter().filter(|(uid, (of, _))| *of == space && is_next(uid));
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
        NamesPage { names, more, state: self.state(space), generation: self.generation }
    }

    /// The spaces whose head is not the given one.
    pub fn changed(&self, request: &WaitRequest) -> BTreeMap<SpaceId, SpaceState> {
        let states = request.heads.iter().map(|(space, head)| (*space, *head, self.state(*space)));
        states
            .filter(|(_, head, state)| state.head != *head)
            .map(|(space, _, state)| (space, state))
            .collect()
    }

    /// Removes all records of a member, as an administrator does.
    pub fn retract(&mut self, author: MemberId) {
        let is_live = |pulled: &PulledRecord| pulled.author == author && !pulled.record.gone;
        let found = self.records.iter().filter(|(_, (_, pulled))| is_live(pulled));
        let uids: Vec<(RecordUid, SpaceId)> = found.map(|(uid, (space, _))| (*uid, *space)).collect();
        for (uid, space) in uids {
            let seq = self.next_number(space);
            let (_, pulled) = self.records.get_mut(&uid).unwrap();
            let old = &pulled.record;
            pulled.record = WireRecord::tombstone(uid, old.kind, old.rev + 1, old.made_at, old.v);
            pulled.seq = seq;
        }
    }
}

/// One member's connection.
#[derive(Debug)]
pub struct ReferenceServer {
    pub data: SharedData,
    pub member: MemberId,
    pub now: Cell<i64>,
    pub page: usize,
}

impl ReferenceServer {
    pub fn new(data: &SharedData, member: MemberId) -> Self {
        Self { data: data.clone(), member, now: Cell::new(0), page: 500 }
    }
}

impl TeamServer for ReferenceServer {
    fn me(&self) -> Result<MeReply, SharingError> {
        Ok(self.data.lock().me(self.member, self.now.get()))
    }

    fn space(&self, request: &SpaceRequest) -> Result<SpaceInfo, SharingError> {
        Ok(self.data.lock().space(self.member, request))
    }

    fn push(&self, space: SpaceId, request: &PushRequest) -> Result<PushReply, SharingError> {
        Ok(self.data.lock().push(self.member, self.now.get(), space, request))
    }

    fn records(&self, space: SpaceId, query: &RecordsQuery) -> Result<RecordsPage, SharingError> {
        Ok(self.data.lock().records(space, query, self.page))
    }

    fn names(&self, space: SpaceId, after: Option<RecordUid>) -> Result<NamesPage, SharingError> {
        Ok(self.data.lock().names(space, after, self.page * 3))
    }

    fn wait(&self, request: &WaitRequest) -> Result<WaitReply, SharingError> {
        let data = self.data.lock();
        let (generation, now) = (data.generation, self.now.get());
        Ok(WaitReply { changed: data.changed(request), generation, now })
    }
}
