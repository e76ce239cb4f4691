//! Ids of the protocol. Each is a UUID, and none can be passed for another.

use serde::{Deserialize, Serialize};
use uuid::Uuid;

macro_rules! wire_id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
        #[serde(transparent)]
        pub struct $name(pub Uuid);

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.0.fmt(f)
            }
        }

        impl std::str::FromStr for $name {
            type Err = uuid::Error;

            fn from_str(text: &str) -> Result<Self, uuid::Error> {
                text.parse().map(Self)
            }
        }
    };
}

wire_id!(
    /// One team, a tenant of the server.
    TeamId
);
wire_id!(
    /// A person or a bot of one team.
    MemberId
);
wire_id!(
    /// One machine of a member, with its own token.
    DeviceId
);
wire_id!(
    /// The unit of sharing: one project of the team, or one member's own machines.
    SpaceId
);
wire_id!(
    /// The public id of a record: the same on every machine.
    RecordUid
);
wire_id!(InviteId);
wire_id!(AuditId);
wire_id!(
    /// Changes when an operator restored the database: numbers seen before may have been given again.
    ServerGeneration
);
