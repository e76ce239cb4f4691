//! [`judge_offer`]: whether an offered version of a record replaces the stored one.

use serde::{Deserialize, Serialize};

use crate::ids::{MemberId, SpaceId};
use crate::role::MemberRole;
use crate::version::RecordVersion;

/// The newer of two versions. Commutative, associative and idempotent, so that every machine that saw the
/// same versions, in whatever order and however often, holds the same one.
pub fn merge_versions(one: RecordVersion, other: RecordVersion) -> RecordVersion {
    one.max(other)
}

/// The copy of a record that a server holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredCopy {
    pub version: RecordVersion,
    /// The format of its body.
    pub v: u16,
    pub author: MemberId,
    pub space: SpaceId,
    /// Its space belongs to one member's machines.
    pub in_own_space: bool,
}

/// The member that offers a record, as the server knows it from the token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WriterIdentity {
    pub member: MemberId,
    pub role: MemberRole,
}

/// The merge decision for an offered record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OfferVerdict {
    /// Store it; it may come from the member's own space.
    Take,
    /// The stored version is the same or newer.
    KeepStored,
    Refuse(RefusalReason),
}

/// Why one record of a push was not stored. The others of the batch are not affected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefusalReason {
    /// The body is longer than [`RECORD_BODY_BYTES_MAX`](crate::limits::RECORD_BODY_BYTES_MAX).
    TooLarge,
    /// The hash is not the body's.
    HashMismatch,
    /// A live record without body, a tombstone with one, revision 0, or the same id twice in a batch.
    Malformed,
    /// Only its author changes a record; an administrator may only remove it.
    NotAuthor,
    /// The id stands in another space, or another member used it.
    UidTaken,
    /// Records of this kind do not belong into a space of the team.
    KindNotShared,
    /// The stored record has a newer format: update the client first.
    NewerFormat,
    /// The member's records of this day are used up. Repeat it later.
    QuotaExceeded,
    /// A reason of a newer server.
    #[serde(other)]
    Unknown,
}

/// Judges an offered version against the stored copy. Pure, and the only place that decides it.
pub fn judge_offer(
    writer: WriterIdentity,
    into: SpaceId,
    offered: RecordVersion,
    v: u16,
    stored: Option<&StoredCopy>,
) -> OfferVerdict {
    let Some(stored) = stored else { return OfferVerdict::Take };
    let is_author = stored.author == writer.member;
    // Sharing the history of a project moves own records into it, never back.
    let moves_out = stored.space != into && stored.in_own_space && is_author;
    if stored.space != into && !moves_out {
        return OfferVerdict::Refuse(RefusalReason::UidTaken);
    }
    if moves_out && !stored.version.gone && !offered.gone && offered.rev >= stored.version.rev {
        return refuse_older_format(v, stored).unwrap_or(OfferVerdict::Take);
    }
    if moves_out {
        return OfferVerdict::Refuse(RefusalReason::UidTaken);
    }
    if merge_versions(stored.version, offered) == stored.version {
        return OfferVerdict::KeepStored;
    }
    let may_remove = writer.role.may_administer() && offered.gone;
    if !is_author && !may_remove {
        return OfferVerdict::Refuse(RefusalReason::NotAuthor);
    }
    if offered.gone {
        OfferVerdict::Take
    } else {
        refuse_older_format(v, stored).unwrap_or(OfferVerdict::Take)
    }
}

fn refuse_older_format(v: u16, stored: &StoredCopy) -> Option<OfferVerdict> {
    (v < stored.v).then_some(OfferVerdict::Refuse(RefusalReason::NewerFormat))
}

#[cfg(test)]
#[path = "merge_tests.rs"]
mod tests;
