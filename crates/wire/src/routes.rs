//! Addresses of the routes, below the server's base address.
//!
//! | request | body | answer |
//! |---|---|---|
//! | `GET /v1/hello` (no token) | | [`HelloReply`](crate::messages::HelloReply) |
//! | `POST /v1/join` (no token) | [`JoinRequest`](crate::messages::JoinRequest) | [`JoinReply`](crate::messages::JoinReply) |
//! | `GET /v1/me` | | [`MeReply`](crate::messages::MeReply) |
//! | `POST /v1/spaces` | [`SpaceRequest`](crate::messages::SpaceRequest) | [`SpaceInfo`](crate::messages::SpaceInfo) |
//! | `POST /v1/spaces/{space}/push` | [`PushRequest`](crate::messages::PushRequest) | [`PushReply`](crate::messages::PushReply) |
//! | `GET /v1/spaces/{space}/records?after=N&limit=` | | [`RecordsPage`](crate::messages::RecordsPage), ascending |
//! | `…?before=N&limit=` | | descending, live records only |
//! | `…?uids=a,b` | | these records |
//! | `GET /v1/spaces/{space}/names?after=uid&limit=` | | [`NamesPage`](crate::messages::NamesPage), by uid |
//! | `POST /v1/wait` | [`WaitRequest`](crate::messages::WaitRequest) | [`WaitReply`](crate::messages::WaitReply) |
//! | `POST /v1/invites` | [`InviteRequest`](crate::messages::InviteRequest) | [`InviteReply`](crate::messages::InviteReply) |
//! | `PATCH /v1/members/{member}` | [`MemberPatch`](crate::messages::MemberPatch) | [`MemberInfo`](crate::messages::MemberInfo) |
//! | `DELETE /v1/devices/{device}` | | [`DeviceInfo`](crate::messages::DeviceInfo) |
//! | `POST /v1/retract` | [`RetractRequest`](crate::messages::RetractRequest) | [`RetractReply`](crate::messages::RetractReply) |
//! | `GET /v1/audit?before=id&limit=` | | [`AuditPage`](crate::messages::AuditPage), newest first |
//!
//! Requests carry `Authorization: Bearer <token>` and [`PROTOCOL_HEADER`]; bodies are JSON and may be gzipped.
//! Every other answer than 200 is an [`ErrorReply`](crate::ErrorReply).

use crate::ids::{DeviceId, MemberId, SpaceId};

/// Header with the protocol version of the request.
pub const PROTOCOL_HEADER: &str = "claude-mem-protocol";

pub const HELLO: &str = "/v1/hello";
pub const JOIN: &str = "/v1/join";
pub const ME: &str = "/v1/me";
pub const SPACES: &str = "/v1/spaces";
pub const PUSH: &str = "/v1/spaces/{space}/push";
pub const RECORDS: &str = "/v1/spaces/{space}/records";
pub const NAMES: &str = "/v1/spaces/{space}/names";
pub const WAIT: &str = "/v1/wait";
pub const INVITES: &str = "/v1/invites";
pub const MEMBER: &str = "/v1/members/{member}";
pub const DEVICE: &str = "/v1/devices/{device}";
pub const RETRACT: &str = "/v1/retract";
pub const AUDIT: &str = "/v1/audit";

pub fn push_path(space: SpaceId) -> String {
    PUSH.replace("{space}", &space.to_string())
}

pub fn records_path(space: SpaceId) -> String {
    RECORDS.replace("{space}", &space.to_string())
}

pub fn names_path(space: SpaceId) -> String {
    NAMES.replace("{space}", &space.to_string())
}

pub fn member_path(member: MemberId) -> String {
    MEMBER.replace("{member}", &member.to_string())
}

pub fn device_path(device: DeviceId) -> String {
    DEVICE.replace("{device}", &device.to_string())
}
