//! Bounds that several files of this crate share.

/// Maximum events of one episode. A longer turn is split into several episodes.
pub(crate) const EPISODE_EVENTS_MAX: usize = 160;

/// Maximum events of one episode other than texts: messages during a turn must not split it earlier than
/// its tool calls do.
pub(crate) const EPISODE_STEPS_MAX: usize = 60;

const _: () = assert!(EPISODE_STEPS_MAX < EPISODE_EVENTS_MAX);
