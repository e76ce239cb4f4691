//! Bounds that several files of this crate share.

/// Maximum bytes of a client's settings file. A larger file is not a settings file.
pub(crate) const CLIENT_SETTINGS_BYTES_MAX: u64 = 4 << 20;
