//! Memory of the server, idle and with many members who wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use claude_mem_sharing::TeamServer as _;
use claude_mem_wire::messages::WaitRequest;

use super::service::{BenchDevice, patiently};
use super::team_bench::{TeamBench, TeamFigure};

const WAITING: usize = 1_000;

/// Devices that share the waiting, so that none exceeds its rate.
const DEVICES: usize = 40;

/// A thread that only waits needs little.
const STACK_BYTES: usize = 256 << 10;

/// Pages that the process has written, in megabytes.
pub(super) fn private_mb(pid: u32) -> anyhow::Result<f64> {
    let rollup = std::fs::read_to_string(format!("/proc/{pid}/smaps_rollup"))?;
    let line = rollup.lines().find_map(|line| line.strip_prefix("Private_Dirty:"));
    let kilobytes = line.and_then(|line| line.split_whitespace().next()).context("no Private_Dirty")?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}

pub(super) fn idle_server(bench: &TeamBench) -> anyhow::Result<Vec<TeamFigure>> {
    let idle = private_mb(bench.replicas[0].pid())?;
    Ok(vec![TeamFigure::new("private memory of a replica, idle", format!("{idle:.1} MB"), "", "≤ 25 MB")])
}

/// Long polls of a thousand machines at one replica.
pub(super) fn waiting_members(bench: &TeamBench) -> anyhow::Result<Vec<TeamFigure>> {
    let replica = &bench.replicas[2];
    let space = bench.admin.project("quiet")?;
    let mut devices = Vec::new();
    for number in 0..DEVICES {
        devices.push(bench.admin.new_member(replica, &format!("poll{number}"))?);
    }
    let before = private_mb(replica.pid())?;
    let (connected, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let measured = std::thread::scope(|scope| -> anyhow::Result<f64> {
        for number in 0..WAITING {
            let device = devices[number % DEVICES].at(replica)?;
            let (connected, peak) = (&connected, &peak);
            let request = WaitRequest { heads: [(space.id, space.state.head)].into(), seconds: 25 };
            let wait = move |device: BenchDevice| {
                let count = connected.fetch_add(1, Ordering::Relaxed) + 1;
                peak.fetch_max(count, Ordering::Relaxed);
                // One that fails is missing from the count of connections below.
                let _ = patiently(|| device.server.wait(&request));
                connected.fetch_sub(1, Ordering::Relaxed);
            };
            std::thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || wait(device))?;
        }
        let until = Instant::now() + Duration::from_secs(20);
        while open_sockets(replica.pid())? < WAITING && Instant::now() < until {
            std::thread::sleep(Duration::from_millis(50));
        }
        private_mb(replica.pid())
    })?;
    let connections = peak.load(Ordering::Relaxed);
    Ok(vec![TeamFigure::new(
        format!("private memory of a replica with {connections} long polls"),
        format!("{measured:.1} MB"),
        format!("{:.0} kB per poll", (measured - before) * 1024.0 / connections as f64),
        "≤ 60 MB",
    )])
}

fn open_sockets(pid: u32) -> anyhow::Result<usize> {
    let files = std::fs::read_dir(format!("/proc/{pid}/fd"))?.flatten();
    let is_socket = |file: &std::fs::DirEntry| {
        std::fs::read_link(file.path()).is_ok_and(|target| target.to_string_lossy().starts_with("socket:"))
    };
    Ok(files.filter(is_socket).count())
}
