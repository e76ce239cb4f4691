//! The service that a bench measures, and one line of its report.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use claude_mem_core::clock;
use rig::postgres::PostgresCluster;

use super::service::{BenchDevice, BenchReplica};

const REPLICAS: usize = 3;

/// One line of the report.
pub(super) struct TeamFigure {
    pub(super) what: String,
    pub(super) measured: String,
    /// To a yardstick of the same run, and which.
    pub(super) ratio: String,
    pub(super) target: &'static str,
}

impl TeamFigure {
    pub(super) fn new(
        what: impl Into<String>,
        measured: impl Into<String>,
        ratio: impl Into<String>,
        target: &'static str,
    ) -> Self {
        let figure = Self { what: what.into(), measured: measured.into(), ratio: ratio.into(), target };
        println!("{}: {} {}", figure.what, figure.measured, figure.ratio);
        figure
    }
}

/// The service that is measured, with its first administrator.
pub(super) struct TeamBench {
    pub(super) exe: PathBuf,
    pub(super) replicas: Vec<BenchReplica>,
    pub(super) admin: BenchDevice,
    pub(super) cluster: PostgresCluster,
    pub(super) now: i64,
}

impl TeamBench {
    /// Starts replicas of `server` in front of a new cluster; `member` is the executable of members.
    pub(super) fn start(member: &Path, server: &Path) -> anyhow::Result<Self> {
        let build = rig::postgres::newest_or_skip().context("no PostgreSQL")?;
        let mut cluster = build.start();
        cluster.stop();
        // As in production, unlike in tests.
        cluster.set(&["fsync=on".to_owned(), "shared_buffers=128MB".to_owned()]);
        cluster.start();
        let start = |_| BenchReplica::start(server, &cluster);
        let replicas = (0..REPLICAS).map(start).collect::<anyhow::Result<Vec<_>>>()?;
        let admin = BenchDevice::first_admin(&replicas[0])?;
        let exe = member.canonicalize().context("no such executable")?;
        Ok(Self { exe, replicas, admin, cluster, now: clock::now().millis().0 })
    }
}

pub(super) fn timed<T>(work: impl FnOnce() -> anyhow::Result<T>) -> anyhow::Result<(T, Duration)> {
    let begun = Instant::now();
    let result = work()?;
    Ok((result, begun.elapsed()))
}
