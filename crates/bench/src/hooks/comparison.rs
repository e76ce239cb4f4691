//! The hooks of two executables, run in turn ([`HookComparison`]).

use serde::Serialize;

use super::{CASES, HookBench, HookCase, payload};
use crate::spawn::SampleSummary;

/// One case of both executables.
#[derive(Debug, Serialize)]
pub(super) struct HookComparison {
    case: &'static str,
    before: SampleSummary,
    after: SampleSummary,
    wall_ratio: f64,
    cpu_ratio: f64,
}

impl HookBench {
    /// Runs the cases of this executable and of a later one alternately, so that background load affects both. Cases
    /// with a worker are left out: our store would migrate the database of the earlier executable.
    pub(super) fn compare_with(&self, after: &Self, starts: usize) -> anyhow::Result<Vec<HookComparison>> {
        let cases: Vec<&HookCase> = CASES.iter().filter(|case| !case.worker).collect();
        let mut samples = vec![(Vec::with_capacity(starts), Vec::with_capacity(starts)); cases.len()];
        for round in 0..starts {
            for (case, (earlier, later)) in cases.iter().zip(&mut samples) {
                let input = payload(case.event, &format!("{}-{round}", case.name));
                earlier.push(self.hook(case).measure(&input)?);
                later.push(after.hook(case).measure(&input)?);
            }
        }
        let compared = cases.iter().zip(&samples).map(|(case, (earlier, later))| {
            let (before, after) = (SampleSummary::from_samples(earlier), SampleSummary::from_samples(later));
            HookComparison {
                case: case.name,
                wall_ratio: after.wall_p50_us / before.wall_p50_us,
                cpu_ratio: after.cpu_p50_us / before.cpu_p50_us,
                before,
                after,
            }
        });
        Ok(compared.collect())
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
