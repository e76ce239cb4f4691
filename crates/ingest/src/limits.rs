//! Bounds that several files of this crate share.

/// Maximum events of one episode. A longer turn is split into several episodes.
pub(crate) const EPISODE_EVENTS_MAX: usize = 60;
