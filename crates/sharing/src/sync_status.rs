//! Updates the stored [`TeamHealth`] after a round.

use crate::sharing_error::SharingError;
use crate::sync_engine::SyncReport;
use claude_mem_core::clock::Millis;
use claude_mem_store::TeamHealth;

/// The health after a round.
pub fn health_after_round(known: &TeamHealth, report: &SyncReport, now: Millis) -> TeamHealth {
    let has_changed = report.sent + report.received + report.erased > 0;
    TeamHealth {
        team: report.team.clone(),
        handle: report.handle.clone(),
        is_admin: report.is_admin,
        members: report.members,
        last_ok: Some(now),
        last_change: if has_changed { Some(now) } else { known.last_change },
        in_step: report.in_step,
        partial: report.partial,
        quota_exceeded: report.quota_exceeded,
        skew_ms: report.skew_ms,
        unknown_spaces: report.unknown_spaces,
        error: String::new(),
        failing_since: None,
        revoked: false,
    }
}

/// The health after a round that failed.
pub fn health_after_error(known: &TeamHealth, error: &SharingError, now: Millis) -> TeamHealth {
    TeamHealth {
        in_step: false,
        error: error.to_string(),
        failing_since: known.failing_since.or(Some(now)),
        revoked: matches!(error, SharingError::Revoked),
        ..known.clone()
    }
}
