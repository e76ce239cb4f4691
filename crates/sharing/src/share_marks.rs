//! Why a shared record is in its state, where code depends on it.

/// Another member's row that was forgotten here. Newer versions of it stay hidden.
pub(crate) const HIDDEN: &str = "hidden here";

/// An own row that is to be sent as removed: the user keeps it here from now on.
pub const KEEP_BACK: &str = "to be taken back";

/// A record that only a newer version of this program understands. Looked at again after an update.
pub(crate) const NEWER_KIND: &str = "of a newer kind";
pub(crate) const NEWER_FORMAT: &str = "of a newer format";

/// Another member's record that a restored server lacks.
pub(crate) const SERVER_LACKS: &str = "the server lacks it";
