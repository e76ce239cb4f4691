//! Compresses an episode without letting it take the worker down again and again.
//!
//! An episode that has crashed workers gets the heuristic compressor instead of the model, and after
//! more crashes no compressor at all: its prompts and messages are stored without memories.

use crate::compressor::{CompressionOutcome, Compressor};
use crate::heuristic_compressor;
use crate::job::EpisodeJob;
use crate::pipeline_observer::PipelineObserver;
use claude_mem_core::limits::{CRASHES_DISTIL_MAX, CRASHES_MODEL_MAX};
use claude_mem_core::vocabulary::Vocabulary;

/// Compresses an episode with as much of the compressor as its crashes allow.
pub(crate) fn compress_guarded(
    compressor: &dyn Compressor,
    work: &EpisodeJob,
    observer: &dyn PipelineObserver,
) -> CompressionOutcome {
    match work.crash_count() {
        _ if !work.has_content() => CompressionOutcome::empty(),
        0..CRASHES_MODEL_MAX => catch_panic(|| compressor.compress(work)),
        crashes @ CRASHES_MODEL_MAX..CRASHES_DISTIL_MAX => {
            observer.warn("episode crashed workers; compressing it without a model", &crashes);
            catch_panic(|| {
                let made = heuristic_compressor::compress_locally(work, &Vocabulary::default());
                CompressionOutcome::Compressed(Box::new(made))
            })
        }
        crashes => {
            observer.warn("episode crashed workers; storing it without memories", &crashes);
            CompressionOutcome::empty()
        }
    }
}

/// Turns a panic into a failure of this episode. Only in builds that unwind: the shipped binary
/// aborts on a panic, and the next worker counts the crash when it reclaims the lease.
fn catch_panic(make: impl FnOnce() -> CompressionOutcome) -> CompressionOutcome {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(make))
        .unwrap_or_else(|_| CompressionOutcome::Failed("the compressor panicked".to_owned()))
}
