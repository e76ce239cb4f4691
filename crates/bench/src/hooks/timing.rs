//! The timing of one case, compared with `/bin/true` ([`HookTiming`]).

use serde::Serialize;

use crate::spawn::SampleSummary;

/// One row of the report.
#[derive(Debug, Serialize)]
pub(super) struct HookTiming {
    pub(super) case: String,
    pub(super) observations: usize,
    #[serde(flatten)]
    pub(super) summary: SampleSummary,
    pub(super) wall_ratio: f64,
    pub(super) cpu_ratio: f64,
}

impl HookTiming {
    pub(super) fn new(
        case: String,
        observations: usize,
        summary: SampleSummary,
        truth: SampleSummary,
    ) -> Self {
        Self {
            case,
            observations,
            wall_ratio: summary.wall_p50_us / truth.wall_p50_us,
            cpu_ratio: summary.cpu_p50_us / truth.cpu_p50_us,
            summary,
        }
    }
}
