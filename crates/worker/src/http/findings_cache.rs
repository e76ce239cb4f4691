//! [`FindingsCache`]: what the checks of the installation found, kept for a few seconds, because they read the
//! files of clients and every open dashboard asks for them.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use claude_mem_core::sync::lock;
use claude_mem_setup::doctor::DoctorFinding;

/// Seconds that findings are kept.
const FINDINGS_SECONDS: u64 = 10;

/// The last findings of the checks, and when they were made.
#[derive(Debug, Default)]
pub(super) struct FindingsCache(Mutex<Option<(Instant, Vec<DoctorFinding>)>>);

impl FindingsCache {
    /// Findings that are at most a few seconds old.
    pub(super) fn get_or_check(&self, check: impl FnOnce() -> Vec<DoctorFinding>) -> Vec<DoctorFinding> {
        // Held while checking: concurrent requests want the same result.
        let mut cached = lock(&self.0);
        if let Some((at, found)) = cached.as_ref()
            && at.elapsed() < Duration::from_secs(FINDINGS_SECONDS)
        {
            return found.clone();
        }
        let found = check();
        *cached = Some((Instant::now(), found.clone()));
        found
    }
}
