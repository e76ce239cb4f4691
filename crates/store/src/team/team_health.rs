//! [`TeamHealth`]: how the last round of sharing went, kept so that `status`, `doctor` and the viewer show it
//! with or without a worker.

use serde::{Deserialize, Serialize};

use crate::{ShareCounts, SpaceMode, Store, StoreError, StoreReader};
use claude_mem_core::clock::Millis;

/// The key of the value in the `meta` table.
const META_KEY: &str = "team.health";

/// How sharing goes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
#[allow(clippy::struct_excessive_bools, reason = "independent facts")]
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
    /// How far the server's clock is ahead of this machine's.
    pub skew_ms: i64,
    /// Spaces that this machine shares and the server does not know.
    pub unknown_spaces: u64,
    /// Why the last round failed; empty if it did not.
    pub error: String,
    /// When rounds began to fail.
    pub failing_since: Option<Millis>,
    /// This machine was removed from the team.
    pub revoked: bool,
}

/// A shared space and its counts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SpaceHealth {
    pub project: String,
    pub own: bool,
    pub mode: SpaceMode,
    pub live: i64,
    pub is_walking: bool,
    pub counts: ShareCounts,
}

impl StoreReader<'_> {
    /// How sharing goes; the default before the first round, an error if the stored value cannot be read.
    pub fn team_health(&self) -> Result<TeamHealth, StoreError> {
        match self.meta(META_KEY)? {
            Some(text) => Ok(serde_json::from_str(&text)?),
            None => Ok(TeamHealth::default()),
        }
    }

    /// How sharing went, for a round that replaces it: a value that cannot be read is lost anyway.
    pub fn team_health_to_replace(&self) -> Result<TeamHealth, StoreError> {
        match self.team_health() {
            Err(StoreError::Json(_)) => Ok(TeamHealth::default()),
            found => found,
        }
    }

    /// All spaces of this machine.
    pub fn space_healths(&self) -> Result<Vec<SpaceHealth>, StoreError> {
        let mut found = Vec::new();
        for space in self.spaces()? {
            let project = match space.project {
                Some(project) => self.project_name(project)?.unwrap_or_default(),
                None => String::new(),
            };
            found.push(SpaceHealth {
                project,
                own: space.own,
                mode: space.mode,
                live: space.live,
                is_walking: space.low.is_some() && space.window.is_none(),
                counts: self.share_counts(space.id)?,
            });
        }
        Ok(found)
    }
}

impl Store {
    /// Stores how sharing goes, if it has changed.
    pub fn save_team_health(&mut self, health: &TeamHealth) -> Result<(), StoreError> {
        let text = serde_json::to_string(health)?;
        if self.read().meta(META_KEY)?.as_deref() == Some(text.as_str()) {
            return Ok(());
        }
        self.write(|tx| tx.set_meta(META_KEY, &text))
    }
}
