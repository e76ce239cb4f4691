//! [`WaitHub`]: long polls of this replica, woken when the head of a space differs from theirs.
//!
//! Once a second the replica reads the heads that somebody waits for; a push through this replica wakes its
//! polls at once. `LISTEN`/`NOTIFY` would not survive poolers and read replicas. A woken poll knows nothing
//! yet: it looks again with its own token.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use claude_mem_core::sync::lock;
use claude_mem_wire::{SpaceId, TeamId};
use tokio::sync::{Notify, watch};
use uuid::Uuid;

use crate::db::{Database, read_heads};
use crate::log;

/// How often heads are read.
const POLL_MILLIS: u64 = 1_000;

/// The polls that wait for one space.
type SpaceWaiters = Vec<WaitEntry>;

/// One poll and the head it knows.
#[derive(Debug)]
struct WaitEntry {
    number: u64,
    known_head: i64,
    wake: Arc<Notify>,
}

/// The polls by team and space.
#[derive(Debug, Default)]
struct WaitTable {
    spaces: HashMap<TeamId, HashMap<SpaceId, SpaceWaiters>>,
    next_number: u64,
}

/// All long polls of this replica.
#[derive(Debug, Default)]
pub(crate) struct WaitHub {
    table: Mutex<WaitTable>,
}

/// A poll's place in the hub; dropping it takes the poll out.
#[derive(Debug)]
pub(crate) struct WaitTicket {
    hub: Arc<WaitHub>,
    team: TeamId,
    spaces: Vec<SpaceId>,
    number: u64,
    wake: Arc<Notify>,
}

impl WaitTicket {
    /// Returns when one of the spaces has another head than the known one.
    pub(crate) async fn woken(&self) {
        self.wake.notified().await;
    }
}

impl Drop for WaitTicket {
    fn drop(&mut self) {
        let mut table = lock(&self.hub.table);
        let Some(team) = table.spaces.get_mut(&self.team) else { return };
        for space in &self.spaces {
            if let Some(waiters) = team.get_mut(space) {
                waiters.retain(|entry| entry.number != self.number);
                if waiters.is_empty() {
                    team.remove(space);
                }
            }
        }
        if team.is_empty() {
            table.spaces.remove(&self.team);
        }
    }
}

impl WaitHub {
    /// Registers a poll. The caller reads the heads once more after this, so that no change falls between.
    pub(crate) fn register(self: &Arc<Self>, team: TeamId, heads: &[(SpaceId, i64)]) -> WaitTicket {
        let wake = Arc::new(Notify::new());
        let mut table = lock(&self.table);
        table.next_number += 1;
        let number = table.next_number;
        let spaces = table.spaces.entry(team).or_default();
        for (space, known_head) in heads {
            let entry = WaitEntry { number, known_head: *known_head, wake: Arc::clone(&wake) };
            spaces.entry(*space).or_default().push(entry);
        }
        let spaces = heads.iter().map(|(space, _)| *space).collect();
        WaitTicket { hub: Arc::clone(self), team, spaces, number, wake }
    }

    /// Wakes the polls that know another head.
    pub(crate) fn announce(&self, team: TeamId, space: SpaceId, head: i64) {
        let table = lock(&self.table);
        let waiters = table.spaces.get(&team).and_then(|spaces| spaces.get(&space));
        for entry in waiters.into_iter().flatten().filter(|entry| entry.known_head != head) {
            entry.wake.notify_one();
        }
    }

    /// The spaces that requests wait for.
    fn waited_for(&self) -> Vec<(TeamId, Vec<Uuid>)> {
        let table = lock(&self.table);
        let spaces = table.spaces.iter();
        spaces.map(|(team, spaces)| (*team, spaces.keys().map(|space| space.0).collect())).collect()
    }

    /// Reads heads until the service ends.
    pub(crate) async fn run(self: Arc<Self>, database: Database, mut ending: watch::Receiver<bool>) {
        let mut was_failing = false;
        loop {
            tokio::select! {
                () = tokio::time::sleep(Duration::from_millis(POLL_MILLIS)) => {}
                // An error means that the service is gone.
                _ = ending.wait_for(|ending| *ending) => return,
            }
            match self.poll_once(&database).await {
                Ok(()) => was_failing = false,
                // Polls end by their time; clients come back.
                Err(error) if !was_failing => {
                    was_failing = true;
                    log::line(&format!("cannot read heads: {error}"));
                }
                Err(_) => {}
            }
        }
    }

    async fn poll_once(&self, database: &Database) -> Result<(), crate::error::ServiceError> {
        for (team, spaces) in self.waited_for() {
            let mut connection = database.connection().await?;
            for (space, head) in read_heads(&mut connection, team, &spaces).await? {
                self.announce(team, space, head);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "wait_tests.rs"]
mod tests;
