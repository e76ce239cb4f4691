//! Protocol 1 between a member's machine and the team server: what both sides must agree on.
//!
//! [`messages`] has the body of every route and [`routes`] its address. A [`WireRecord`] is one row of memory
//! under its public id, with a [`RecordVersion`] that decides which of two copies is newer.
//! [`judge_offer`] is the one rule by which a copy is accepted, and [`SpaceDigest`] tells whether two sides
//! hold the same live records. [`TeamLink`] is what people pass to each other.
//!
//! Invariant: everything in here is pure. No function reads a clock, a file, a socket or a random number, so
//! that the client, the server and their simulators decide alike.

mod digest;
mod errors;
mod hex;
mod ids;
pub mod limits;
mod link;
mod merge;
pub mod messages;
mod names;
mod record;
mod role;
pub mod routes;
mod secret;
mod version;

pub use digest::SpaceDigest;
pub use errors::{ErrorCode, ErrorReply};
pub use ids::{AuditId, DeviceId, InviteId, MemberId, RecordUid, ServerGeneration, SpaceId, TeamId};
pub use link::{LinkError, LinkSecret, TeamLink};
pub use merge::{OfferVerdict, RefusalReason, StoredCopy, WriterIdentity, judge_offer, merge_versions};
pub use names::{is_handle, is_space_key, tidy_name};
pub use record::{PulledRecord, RecordBody, RecordKind, RecordName, WireRecord};
pub use role::MemberRole;
pub use secret::{DeviceToken, InviteSecret, SecretHash};
pub use version::{RecordHash, RecordVersion, rev_after};
