//! [`TeamHealth`]: how the last round went, kept in the store so that `status` and `doctor` show it with or
//! without a worker.

use serde::{Deserialize, Serialize};

use crate::sync_engine::SyncReport;
use claude_mem_core::clock::Millis;
use claude_mem_store::{ShareCounts, SpaceMode, Store, StoreError, StoreReader};

/// The key of the value in the `meta` table.
const META_KEY: &str = "team.health";

/// How sharing goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TeamHealth {
    pub team: String,
    pub handle: String,
    pub is_admin: bool,
    pub members: u64,
    /// The last round that reached the server.
    pub last_ok: Option<Millis>,
    /// When something last came or went.
    pub last_change: Option<Millis>,
    pub in_step: bool,
    pub partial: bool,
    pub quota_exceeded: bool,
    pub skew_ms: i64,
    pub unknown_spaces: u64,
    /// Why the last round failed; empty if it did not.
    pub error: String,
    /// This machine was removed from the team.
    pub revoked: bool,
}

/// What is shared, and how much.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpaceHealth {
    pub project: String,
    pub own: bool,
    pub mode: SpaceMode,
    pub live: i64,
    pub is_walking: bool,
    pub counts: ShareCounts,
}

impl TeamHealth {
    /// The health after a round.
    #[must_use]
    pub fn after_round(&self, report: &SyncReport, now: Millis) -> Self {
        let has_changed = report.sent + report.received + report.erased > 0;
        Self {
            team: report.team.clone(),
            handle: report.handle.clone(),
            is_admin: report.is_admin,
            members: report.members,
            last_ok: Some(now),
            last_change: if has_changed { Some(now) } else { self.last_change },
            in_step: report.in_step,
            partial: report.partial,
            quota_exceeded: report.quota_exceeded,
            skew_ms: report.skew_ms,
            unknown_spaces: report.unknown_spaces,
            error: String::new(),
            revoked: false,
        }
    }

    /// The health after a round that failed.
    #[must_use]
    pub fn after_error(&self, error: &crate::SharingError) -> Self {
        let revoked = matches!(error, crate::SharingError::Revoked);
        Self { in_step: false, error: error.to_string(), revoked, ..self.clone() }
    }
}

/// The stored health; the default before the first round.
pub fn load_health(reads: &StoreReader<'_>) -> Result<TeamHealth, StoreError> {
    let text = reads.meta(META_KEY)?;
    Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
}

/// Stores the health if it has changed.
pub fn save_health(store: &mut Store, health: &TeamHealth) -> Result<(), StoreError> {
    let text = serde_json::to_string(health)?;
    if store.read().meta(META_KEY)?.as_deref() == Some(text.as_str()) {
        return Ok(());
    }
    store.write(|tx| tx.set_meta(META_KEY, &text))
}

impl SpaceHealth {
    /// All spaces of this machine.
    pub fn load_all(reads: &StoreReader<'_>) -> Result<Vec<Self>, StoreError> {
        let mut found = Vec::new();
        for space in reads.spaces()? {
            let project = match space.project {
                Some(project) => reads.project_name(project)?.unwrap_or_default(),
                None => String::new(),
            };
            found.push(Self {
                project,
                own: space.own,
                mode: space.mode,
                live: space.live,
                is_walking: space.low.is_some() && space.window.is_none(),
                counts: reads.share_counts(space.id)?,
            });
        }
        Ok(found)
    }
}
