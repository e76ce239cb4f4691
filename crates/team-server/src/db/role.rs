//! The role that every request runs under.

/// Owns nothing, may not log in, may not delete.
pub(super) const APP_ROLE: &str = "claude_mem_app";

/// The beginning of every transaction for a request. The limits end what hangs; all of it is local to the
/// transaction. A replica that was parted from the database in the middle of a push holds its space no longer than others
/// wait for it.
pub(super) const ENTER_ROLE: &str = "SET LOCAL ROLE claude_mem_app; \
    SET LOCAL search_path = pg_catalog; \
    SET LOCAL statement_timeout = '15s'; \
    SET LOCAL lock_timeout = '8s'; \
    SET LOCAL idle_in_transaction_session_timeout = '6s'";
