//! [`StatsCache`]: statistics that need full table scans, cached for a moment, so that many open
//! pages cost no more than one.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use jiff::civil::Date;
use tokio::sync::watch;

use super::problem::Problem;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::ProjectId;
use claude_mem_core::sync::lock;
use claude_mem_store::{ActivityBucket, ProjectCounts, StoreCounts, StoreReader, TokenEconomics};

/// Milliseconds that the dashboard's statistics are cached: less than a page waits before it asks
/// again.
const HTTP_FIGURES_MS: u64 = 400;

/// Days that the charts cover.
pub(super) const STATS_DAYS: i64 = 60;

/// The statistics of one moment.
#[derive(Debug)]
pub(super) struct StatsSnapshot {
    pub(super) counts: StoreCounts,
    /// Activity per day, today last.
    pub(super) days: Vec<(Date, ActivityBucket)>,
    pub(super) by_type: Vec<(String, u64)>,
    pub(super) by_project: BTreeMap<ProjectId, ProjectCounts>,
    pub(super) economics: TokenEconomics,
}

/// The last snapshot, with its time and the change count of the server at that time.
#[derive(Debug, Default)]
pub(super) struct StatsCache(Mutex<Option<CachedSnapshot>>);

impl StatsSnapshot {
    /// Computes the statistics. Each of `days` starts at its time.
    pub(super) fn load(reads: &StoreReader<'_>, days: Vec<(Date, Millis)>) -> Result<Self, Problem> {
        let (days, bounds): (Vec<Date>, Vec<Millis>) = days.into_iter().unzip();
        Ok(Self {
            counts: reads.counts()?,
            days: days.into_iter().zip(reads.activity(&bounds)?).collect(),
            by_type: reads.counts_by_type()?,
            by_project: reads.counts_by_project()?,
            economics: reads.economics()?,
        })
    }
}

type CachedSnapshot = (Instant, u64, Arc<StatsSnapshot>);

impl StatsCache {
    /// A snapshot at most a moment old, and never older than a change made through this server.
    pub(super) fn get_or_load(
        &self,
        changes: &watch::Sender<u64>,
        load: impl FnOnce() -> Result<StatsSnapshot, Problem>,
    ) -> Result<Arc<StatsSnapshot>, Problem> {
        // Held while counting: concurrent requests want the same result.
        let mut cached = lock(&self.0);
        let (now, count) = (Instant::now(), *changes.borrow());
        if let Some(snapshot) = fresh(cached.as_ref(), now, count) {
            return Ok(snapshot);
        }
        let snapshot = Arc::new(load()?);
        *cached = Some((now, count, Arc::clone(&snapshot)));
        Ok(snapshot)
    }

    /// The cached snapshot, if it is fresh.
    pub(super) fn get(&self, changes: &watch::Sender<u64>) -> Option<Arc<StatsSnapshot>> {
        let cached = lock(&self.0);
        fresh(cached.as_ref(), Instant::now(), *changes.borrow())
    }
}

fn fresh(cached: Option<&CachedSnapshot>, now: Instant, changes: u64) -> Option<Arc<StatsSnapshot>> {
    let (at, then, snapshot) = cached?;
    let is_recent = now.duration_since(*at) < Duration::from_millis(HTTP_FIGURES_MS);
    (*then == changes && is_recent).then(|| Arc::clone(snapshot))
}
