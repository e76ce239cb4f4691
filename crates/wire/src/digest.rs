//! [`SpaceDigest`]: a fingerprint of the live records of a space, which both sides keep up to date.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::hex;
use crate::ids::RecordUid;
use crate::version::RecordVersion;

/// The XOR of a 64-bit hash of each live record's id and version. The order of changes does not matter, and
/// adding what was added before takes it out again. On the wire 16 hex digits.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct SpaceDigest(pub u64);

impl SpaceDigest {
    /// The digest after a record changed from one version to another; `None` means absent. Tombstones do not
    /// count.
    #[must_use]
    pub fn after_change(
        self,
        uid: RecordUid,
        from: Option<RecordVersion>,
        to: Option<RecordVersion>,
    ) -> Self {
        Self(self.0 ^ live_hash(uid, from) ^ live_hash(uid, to))
    }

    /// The same bits as a signed integer, for databases that have no unsigned one.
    pub const fn to_bits_signed(self) -> i64 {
        self.0.cast_signed()
    }

    pub const fn from_bits_signed(bits: i64) -> Self {
        Self(bits.cast_unsigned())
    }
}

/// The digest of these records.
impl FromIterator<(RecordUid, RecordVersion)> for SpaceDigest {
    fn from_iter<T: IntoIterator<Item = (RecordUid, RecordVersion)>>(records: T) -> Self {
        let empty = Self::default();
        records
            .into_iter()
            .fold(empty, |digest, (uid, version)| digest.after_change(uid, None, Some(version)))
    }
}

fn live_hash(uid: RecordUid, version: Option<RecordVersion>) -> u64 {
    let Some(version) = version.filter(|version| !version.gone) else { return 0 };
    let mut hasher = Sha256::new();
    hasher.update(uid.0.as_bytes());
    hasher.update(version.rev.to_be_bytes());
    hasher.update(version.hash.0);
    let whole = hasher.finalize();
    whole[..8].iter().fold(0, |bits, byte| bits << 8 | u64::from(*byte))
}

impl std::fmt::Debug for SpaceDigest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&hex::encode(&self.0.to_be_bytes()))
    }
}

impl Serialize for SpaceDigest {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&hex::encode(&self.0.to_be_bytes()))
    }
}

impl<'de> Deserialize<'de> for SpaceDigest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let bytes = hex::decode(&text);
        bytes
            .map(|bytes| Self(u64::from_be_bytes(bytes)))
            .ok_or_else(|| serde::de::Error::custom("a digest is 16 hex digits"))
    }
}

#[cfg(test)]
#[path = "digest_tests.rs"]
mod tests;
