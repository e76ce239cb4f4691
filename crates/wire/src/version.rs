//! [`RecordVersion`]: which of two copies of a record is newer, without any clock.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::hex;
use crate::limits::RECORD_REV_MAX;

/// The first 16 bytes of the SHA-256 of a record's body, exactly as it was sent. On the wire 32 hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct RecordHash(pub [u8; 16]);

impl RecordHash {
    /// The hash of every tombstone, which has no body.
    pub const TOMBSTONE: Self = Self([0; 16]);

    /// The hash of these bytes.
    pub fn from_body(body: &str) -> Self {
        let whole = Sha256::digest(body.as_bytes());
        let mut first = [0; 16];
        first.copy_from_slice(&whole[..16]);
        Self(first)
    }
}

impl std::fmt::Debug for RecordHash {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(&self.0))
    }
}

impl Serialize for RecordHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0))
    }
}

impl<'de> Deserialize<'de> for RecordHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = hex::decode(&text);
        bytes.map(Self).ok_or_else(|| serde::de::Error::custom("a record hash is 32 hex digits"))
    }
}

/// The revision that follows this one. At the greatest one it stays: a removal is newer than any live version all the
/// same, so that nobody can make a record that cannot be removed.
pub const fn rev_after(rev: u32) -> u32 {
    if rev < RECORD_REV_MAX { rev + 1 } else { RECORD_REV_MAX }
}

/// The version of a record. Versions are totally ordered, in the order of the fields: a removed record is
/// newer than any live one, then the greater revision wins, then the greater hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct RecordVersion {
    /// The record was removed. Nothing makes it live again: an undone removal gets a new public id.
    pub gone: bool,
    /// Counts the changes its author made, from 1.
    pub rev: u32,
    pub hash: RecordHash,
}

impl RecordVersion {
    /// A live version with this body.
    pub fn live(rev: u32, body: &str) -> Self {
        Self { gone: false, rev, hash: RecordHash::from_body(body) }
    }

    /// The version of a removed record.
    pub const fn tombstone(rev: u32) -> Self {
        Self { gone: true, rev, hash: RecordHash::TOMBSTONE }
    }
}
