//! Secrets of the protocol: a device's token and an invite. Neither is ever printed by `Debug`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

use crate::hex;

/// The hash of a secret, which is all that a server stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct SecretHash(pub [u8; 32]);

macro_rules! secret {
    ($(#[$doc:meta])* $name:ident, $bytes:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq)]
        pub struct $name([u8; $bytes]);

        impl $name {
            /// Takes bytes of a cryptographic random source.
            pub const fn from_random(bytes: [u8; $bytes]) -> Self {
                Self(bytes)
            }

            /// Reads the hex digits of [`Self::reveal`].
            pub fn parse(text: &str) -> Option<Self> {
                hex::decode(text).map(Self)
            }

            /// The secret in hex digits.
            pub fn reveal(&self) -> String {
                hex::encode(&self.0)
            }

            pub fn hash(&self) -> SecretHash {
                SecretHash(Sha256::digest(self.0).into())
            }
        }

        impl std::fmt::Debug for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(concat!(stringify!($name), "(…)"))
            }
        }

        impl Serialize for $name {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(&self.reveal())
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = String::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| serde::de::Error::custom("a secret in hex digits is required"))
            }
        }
    };
}

secret!(
    /// The token of one device: 256 bits, made by the device itself, sent with every request.
    DeviceToken,
    32
);
secret!(
    /// The secret of an invite: 128 bits, used once.
    InviteSecret,
    16
);
