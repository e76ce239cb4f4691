//! [`WireRecord`]: one row of memory on its way, and [`PulledRecord`] as the server gives it back.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::ids::{DeviceId, MemberId, RecordUid};
use crate::limits::{RECORD_BODY_BYTES_MAX, RECORD_REV_MAX};
use crate::merge::RefusalReason;
use crate::version::{RecordHash, RecordVersion};

/// The kind of a record, a number so that records of newer clients pass through older servers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordKind(pub i16);

impl RecordKind {
    pub const OBSERVATION: Self = Self(1);
    pub const SUMMARY: Self = Self(2);
    pub const SESSION: Self = Self(3);
    /// The account of a whole session.
    pub const ACCOUNT: Self = Self(4);
    pub const PROMPT: Self = Self(5);
    pub const MESSAGE: Self = Self(6);

    /// Whether records of this kind are shared between the user's own machines only.
    pub const fn is_only_for_own_space(self) -> bool {
        matches!(self, Self::PROMPT | Self::MESSAGE)
    }
}

/// A record's body: JSON that is kept byte for byte, because the hash is over these bytes.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct RecordBody(Box<RawValue>);

impl RecordBody {
    /// The body with this JSON text; an error if it is not JSON.
    pub fn from_json(text: String) -> Result<Self, serde_json::Error> {
        RawValue::from_string(text).map(Self)
    }

    pub fn as_str(&self) -> &str {
        self.0.get()
    }
}

impl PartialEq for RecordBody {
    fn eq(&self, other: &Self) -> bool {
        self.as_str() == other.as_str()
    }
}

impl Eq for RecordBody {}

/// One record as its author sends it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WireRecord {
    pub uid: RecordUid,
    pub kind: RecordKind,
    pub rev: u32,
    pub hash: RecordHash,
    #[serde(default)]
    pub gone: bool,
    /// The author's time, in milliseconds since 1970.
    pub made_at: i64,
    /// The format of the body. A client never overwrites a record of a higher one.
    pub v: u16,
    /// `None` exactly for a record that is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<RecordBody>,
}

impl WireRecord {
    /// A live record; the hash is computed.
    pub fn live(uid: RecordUid, kind: RecordKind, rev: u32, made_at: i64, v: u16, body: RecordBody) -> Self {
        let hash = RecordHash::from_body(body.as_str());
        Self { uid, kind, rev, hash, gone: false, made_at, v, body: Some(body) }
    }

    /// The record's removal.
    pub fn tombstone(uid: RecordUid, kind: RecordKind, rev: u32, made_at: i64, v: u16) -> Self {
        Self { uid, kind, rev, hash: RecordHash::TOMBSTONE, gone: true, made_at, v, body: None }
    }

    pub const fn version(&self) -> RecordVersion {
        RecordVersion { gone: self.gone, rev: self.rev, hash: self.hash }
    }

    /// Checks the record alone: its shape, its size and its hash. Servers and receivers do both.
    pub fn check(&self) -> Result<(), RefusalReason> {
        let fits_integer = self.rev <= RECORD_REV_MAX && i16::try_from(self.v).is_ok();
        if self.rev == 0 || !fits_integer || self.gone != self.body.is_none() {
            return Err(RefusalReason::Malformed);
        }
        let Some(body) = &self.body else {
            let is_tombstone = self.hash == RecordHash::TOMBSTONE;
            return if is_tombstone { Ok(()) } else { Err(RefusalReason::HashMismatch) };
        };
        if body.as_str().len() > RECORD_BODY_BYTES_MAX {
            return Err(RefusalReason::TooLarge);
        }
        let is_own_hash = self.hash == RecordHash::from_body(body.as_str());
        if is_own_hash { Ok(()) } else { Err(RefusalReason::HashMismatch) }
    }
}

/// One record as the server gives it to members. Author and device come from the token that sent it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PulledRecord {
    /// The number of its last change in the space. Numbers are given in commit order.
    pub seq: i64,
    pub author: MemberId,
    pub device: DeviceId,
    /// The server's time, in milliseconds since 1970.
    pub received_at: i64,
    pub record: WireRecord,
}

/// The name and version of a record, for comparing whole spaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordName {
    pub uid: RecordUid,
    pub author: MemberId,
    pub rev: u32,
    pub hash: RecordHash,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub gone: bool,
}

impl RecordName {
    pub const fn version(&self) -> RecordVersion {
        RecordVersion { gone: self.gone, rev: self.rev, hash: self.hash }
    }
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
