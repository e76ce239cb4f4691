//! Ranking metrics per query and their mean: hit rate, recall and nDCG.

use std::collections::HashSet;

/// The metrics of one query, or their mean over several.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RankingMetrics {
    pub hit_at_1: f64,
    pub hit_at_5: f64,
    pub recall_at_10: f64,
    pub ndcg_at_10: f64,
}

impl RankingMetrics {
    pub(crate) fn compute(relevant: &[String], ranked: &[String]) -> Self {
        let relevant: HashSet<&str> = relevant.iter().map(String::as_str).collect();
        let gains: Vec<bool> = ranked.iter().map(|id| relevant.contains(id.as_str())).collect();
        let hit = |k: usize| f64::from(u8::from(gains.iter().take(k).any(|gain| *gain)));
        let found = gains.iter().take(10).filter(|gain| **gain).count() as f64;
        let discounted = |at: usize| 1.0 / ((at + 2) as f64).log2();
        let dcg: f64 =
            gains.iter().take(10).enumerate().filter(|(_, gain)| **gain).map(|(at, _)| discounted(at)).sum();
        let ideal: f64 = (0..relevant.len().min(10)).map(discounted).sum();
        Self {
            hit_at_1: hit(1),
            hit_at_5: hit(5),
            recall_at_10: found / relevant.len() as f64,
            ndcg_at_10: dcg / ideal,
        }
    }

    pub(crate) fn mean(all: &[Self]) -> Self {
        let n = all.len().max(1) as f64;
        let mean = |part: fn(&Self) -> f64| all.iter().map(part).sum::<f64>() / n;
        Self {
            hit_at_1: mean(|m| m.hit_at_1),
            hit_at_5: mean(|m| m.hit_at_5),
            recall_at_10: mean(|m| m.recall_at_10),
            ndcg_at_10: mean(|m| m.ndcg_at_10),
        }
    }
}
