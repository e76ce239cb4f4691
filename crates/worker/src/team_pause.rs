//! How long the team's threads pause while the server is away.

use std::hash::{BuildHasher as _, Hasher as _, RandomState};
use std::time::Duration;

/// The shortest pause after an error and the longest.
pub(crate) const PAUSE_MIN: Duration = Duration::from_secs(1);
pub(crate) const PAUSE_MAX: Duration = Duration::from_mins(5);

/// Between the end of an attempt and the next one.
const ATTEMPTS_APART_MIN: Duration = Duration::from_millis(250);

/// The longest pause of a short outage: a machine that was parted from the network is in step soon after it returns.
const SHORT_PAUSE_MAX: Duration = Duration::from_secs(2);
/// At the beginning of an outage the server is contacted again within this fraction of it.
const OUTAGE_PARTS: u32 = 8;
/// The same of an outage of more than ten minutes.
const LONG_OUTAGE_PARTS: u32 = 300;

/// Jitter takes or adds up to this fraction of a pause.
const JITTER_PARTS: u64 = 4;

/// The pause before the next attempt, when the server has been away for this long. Not the same on all machines of a
/// team, so that they do not all come back at the same moment.
pub(crate) fn pause_after(outage: Duration) -> Duration {
    with_jitter(pause_without_jitter(outage), RandomState::new().build_hasher().finish())
}

/// What is left of a pause after an attempt that took this long: one that waited for an answer in vain has paused already.
pub(crate) fn pause_left(pause: Duration, attempt: Duration) -> Duration {
    pause.saturating_sub(attempt).max(ATTEMPTS_APART_MIN)
}

fn pause_without_jitter(outage: Duration) -> Duration {
    let long = (outage / LONG_OUTAGE_PARTS).max(SHORT_PAUSE_MAX);
    (outage / OUTAGE_PARTS).min(long).clamp(PAUSE_MIN, PAUSE_MAX)
}

fn with_jitter(pause: Duration, random: u64) -> Duration {
    let pause_ms = u64::try_from(pause.as_millis()).unwrap_or(u64::MAX);
    let part_ms = pause_ms / JITTER_PARTS;
    Duration::from_millis(pause_ms - part_ms + random % (2 * part_ms + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pause_grows_with_the_outage() {
        for (outage, want) in [(0, 1), (8, 1), (16, 2), (600, 2), (3_600, 12), (86_400, 288), (864_000, 300)]
        {
            let pause = pause_without_jitter(Duration::from_secs(outage));
            assert_eq!(pause, Duration::from_secs(want), "{outage} s");
        }
    }

    #[test]
    fn attempt_that_waited_in_vain_counts_as_pause() {
        let (pause, millis) = (Duration::from_secs(2), Duration::from_millis);
        for (attempt, left) in [(0, 2_000), (500, 1_500), (1_900, 250), (6_000, 250)] {
            assert_eq!(pause_left(pause, millis(attempt)), millis(left), "{attempt} ms");
        }
    }

    #[test]
    fn jitter_is_a_quarter_of_the_pause() {
        let second = Duration::from_secs(1);
        assert_eq!(with_jitter(second, 0), Duration::from_millis(750));
        assert_eq!(with_jitter(second, 500), Duration::from_millis(1_250));
        assert_eq!(with_jitter(second, 501), Duration::from_millis(750));
    }
}
