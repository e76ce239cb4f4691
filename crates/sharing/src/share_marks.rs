//! Why a shared record is in its state, where code depends on it.

/// Another member's row that was forgotten here. Newer versions of it stay hidden.
pub(crate) const HIDDEN: &str = "hidden here";

/// An own row that is to be sent as removed: the user keeps it here from now on.
pub const KEEP_BACK: &str = "to be taken back";

/// Another member's record that a restored server lacks.
pub(crate) const SERVER_LACKS: &str = "the server lacks it";
