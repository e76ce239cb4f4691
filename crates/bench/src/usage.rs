//! CPU time and memory of the current process.

use std::time::Duration;

use anyhow::Context as _;
use rustix::time::{ClockId, clock_gettime};

/// CPU time of all threads of this process.
pub(crate) fn cpu_time() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// CPU time of `work` in milliseconds.
pub(crate) fn cpu_ms<T>(work: impl FnOnce() -> T) -> f64 {
    let before = cpu_time().as_secs_f64();
    std::hint::black_box(work());
    (cpu_time().as_secs_f64() - before) * 1e3
}

/// Peak resident memory so far, and current private memory, in megabytes.
pub(crate) fn resident_mb() -> anyhow::Result<(f64, f64)> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    Ok((field_mb(&status, "VmHWM:")?, field_mb(&status, "RssAnon:")?))
}

fn field_mb(status: &str, name: &str) -> anyhow::Result<f64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name));
    let kilobytes = line.and_then(|line| line.split_whitespace().next());
    let kilobytes = kilobytes.with_context(|| format!("no {name} in /proc/self/status"))?;
    Ok(kilobytes.parse::<f64>()? / 1024.0)
}
