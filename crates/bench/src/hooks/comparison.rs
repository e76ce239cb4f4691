//! The hooks of two executables, compared ([`HookComparison`]).

use serde::Serialize;

use crate::spawn::{ProcessSample, SampleSummary};

/// One case of both executables.
#[derive(Debug, Serialize)]
pub(super) struct HookComparison {
    case: &'static str,
    before: SampleSummary,
    after: SampleSummary,
    wall_ratio: f64,
    cpu_ratio: f64,
}

impl HookComparison {
    pub(super) fn new(case: &'static str, earlier: &[ProcessSample], later: &[ProcessSample]) -> Self {
        let (before, after) = (SampleSummary::from_samples(earlier), SampleSummary::from_samples(later));
        Self {
            case,
            wall_ratio: after.wall_p50_us / before.wall_p50_us,
            cpu_ratio: after.cpu_p50_us / before.cpu_p50_us,
            before,
            after,
        }
    }
}

pub(super) fn print(comparisons: &[HookComparison]) {
    if comparisons.is_empty() {
        return;
    }
    println!(
        "{:<24} {:>12} {:>9} {:>7} {:>12} {:>9} {:>7}",
        "", "before", "after", "ratio", "CPU before", "after", "ratio"
    );
    for line in comparisons {
        println!(
            "{:<24} {:>9.0} µs {:>6.0} µs {:>7.2} {:>9.0} µs {:>6.0} µs {:>7.2}",
            line.case,
            line.before.wall_p50_us,
            line.after.wall_p50_us,
            line.wall_ratio,
            line.before.cpu_p50_us,
            line.after.cpu_p50_us,
            line.cpu_ratio
        );
    }
}
