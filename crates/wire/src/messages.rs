//! Bodies of requests and answers. Fields are only ever added, with a default.
//!
//! Times are milliseconds since 1970 (UTC).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::digest::SpaceDigest;
use crate::ids::{AuditId, DeviceId, InviteId, MemberId, RecordUid, ServerGeneration, SpaceId, TeamId};
use crate::merge::RefusalReason;
use crate::record::{PulledRecord, RecordName, WireRecord};
use crate::role::MemberRole;
use crate::secret::{DeviceToken, InviteSecret};
use crate::version::RecordVersion;

/// Answer of `GET /v1/hello`: whether this client and this server understand each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HelloReply {
    pub protocol_min: u16,
    pub protocol_max: u16,
    pub server_version: String,
    /// The server's time, for the client's skew.
    pub now: i64,
}

/// Body of `POST /v1/join`. Repeating it with the same secret and token gives the same answer: a lost answer
/// does not use up the invite.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinRequest {
    pub secret: InviteSecret,
    /// The device's token, made by the device. The server keeps its hash.
    pub token: DeviceToken,
    /// The wished handle. An invite that names a member or a handle overrides it.
    pub handle: String,
    /// The member's display name.
    pub name: String,
    /// The machine's name.
    pub device: String,
}

/// Answer of `POST /v1/join`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JoinReply {
    pub team: TeamInfo,
    pub member: MemberInfo,
    pub device: DeviceId,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TeamInfo {
    pub id: TeamId,
    pub name: String,
}

/// A member as all members of the team see each other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberInfo {
    pub id: MemberId,
    pub handle: String,
    pub name: String,
    pub role: MemberRole,
    pub created_at: i64,
    /// When the member left or was revoked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_at: Option<i64>,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceInfo {
    pub id: DeviceId,
    pub member: MemberId,
    pub name: String,
    pub created_at: i64,
    /// The last request, to the minute.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seen_at: Option<i64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revoked_at: Option<i64>,
}

/// The state of a space on the server. A member compares it with its own state to see whether both are in step.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceState {
    /// The number of the last change.
    pub head: i64,
    /// Live records.
    pub live: u64,
    pub digest: SpaceDigest,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpaceInfo {
    pub id: SpaceId,
    pub name: String,
    /// The member whose machines it belongs to; `None` for a project of the team.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub owner: Option<MemberId>,
    /// Keys of the project, such as `remote:github.com/acme/app`.
    pub keys: Vec<String>,
    pub state: SpaceState,
}

/// Answer of `GET /v1/me`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeReply {
    pub team: TeamInfo,
    pub member: MemberId,
    pub device: DeviceId,
    pub role: MemberRole,
    pub members: Vec<MemberInfo>,
    /// One's own devices; for administrators those of all members.
    pub devices: Vec<DeviceInfo>,
    pub spaces: Vec<SpaceInfo>,
    pub generation: ServerGeneration,
    pub now: i64,
}

/// Body of `POST /v1/spaces`: find or make a space.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "of", rename_all = "snake_case")]
pub enum SpaceRequest {
    /// The space of a project, found by any of its keys; missing keys are added to it. A key of another
    /// space stays where it is.
    Project { keys: Vec<String>, name: String },
    /// The space of the member's own machines.
    Own,
}

/// Body of `POST /v1/spaces/{space}/push`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushRequest {
    pub records: Vec<WireRecord>,
}

/// Answer of a push: one outcome per record, in the order of the request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushReply {
    pub outcomes: Vec<PushOutcome>,
    pub state: SpaceState,
    pub generation: ServerGeneration,
}

/// The outcome of one pushed record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PushOutcome {
    pub uid: RecordUid,
    /// The version that the server now holds in this space. The record was accepted if it is the sent one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored: Option<RecordVersion>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusalReason>,
}

/// Answer of `GET /v1/spaces/{space}/records`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordsPage {
    pub records: Vec<PulledRecord>,
    /// The page was cut: ask again from its last record on.
    pub more: bool,
    /// Read in the same snapshot as the records.
    pub state: SpaceState,
    pub generation: ServerGeneration,
}

/// Answer of `GET /v1/spaces/{space}/names`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamesPage {
    pub names: Vec<RecordName>,
    pub more: bool,
    pub state: SpaceState,
    pub generation: ServerGeneration,
}

/// Body of `POST /v1/wait`: answered as soon as a space has another head than the one given.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitRequest {
    pub heads: BTreeMap<SpaceId, i64>,
    pub seconds: u64,
}

/// Answer of `POST /v1/wait`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WaitReply {
    /// The spaces whose head differs from the given one, with their state; empty after the time.
    pub changed: BTreeMap<SpaceId, SpaceState>,
    pub generation: ServerGeneration,
    pub now: i64,
}

/// Body of `POST /v1/invites`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "for", rename_all = "snake_case")]
pub enum InviteRequest {
    /// A new member. Only administrators invite.
    Member {
        role: MemberRole,
        /// The handle the new member gets; `None` leaves it to the new member.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        handle: Option<String>,
    },
    /// Another machine of the same person.
    Me,
}

/// Answer of `POST /v1/invites`. The client makes the link, of the address by which it reaches the server.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct InviteReply {
    pub id: InviteId,
    pub secret: InviteSecret,
    pub role: MemberRole,
    pub expires_at: i64,
}

/// Body of `PATCH /v1/members/{member}`. Absent fields stay. Members may change their own name;
/// administrators everything. `revoked` also revokes the member's devices; a revoked member does not return,
/// but is invited anew.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemberPatch {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub role: Option<MemberRole>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub revoked: bool,
}

/// Body of `POST /v1/retract`: removes records of one author that were received since a time. A member may
/// retract own records, an administrator those of any member.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetractRequest {
    pub member: MemberId,
    /// Of this space only.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub space: Option<SpaceId>,
    /// Received by the server at this time or later.
    #[serde(default)]
    pub since: i64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RetractReply {
    /// Records that were live and are gone now.
    pub retracted: u64,
}

/// Answer of `GET /v1/audit`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditPage {
    pub entries: Vec<AuditEntry>,
    pub more: bool,
}

/// One administrative action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AuditEntry {
    pub id: AuditId,
    pub at: i64,
    /// `None` for actions of the operator on the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub member: Option<MemberId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub device: Option<DeviceId>,
    /// One word, such as `join`, `invite`, `role`, `revoke`, `retract`.
    pub action: String,
    pub subject: String,
}

#[cfg(test)]
#[path = "messages_tests.rs"]
mod tests;
