//! Bounds that several files of this crate share.

/// Maximum bytes of a short payload field, such as an id, a name or a path. A longer value counts
/// as absent.
pub(crate) const FIELD_BYTES_MAX: usize = 4 << 10;
