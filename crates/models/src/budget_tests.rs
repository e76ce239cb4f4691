use std::time::Duration;

use proptest::prelude::*;

use super::*;

const LIMITS: BudgetLimits = BudgetLimits { day_tokens: 1_000, session_tokens: 500 };

fn standing(tokens: u64, open_tokens: u64) -> BudgetUsage {
    BudgetUsage { tokens, open_tokens }
}

#[test]
fn call_must_fit_both_budgets() {
    let none = BudgetUsage::default();
    assert_eq!(admit(LIMITS, none, none, 500), Ok(()));
    assert_eq!(admit(LIMITS, none, none, 501), Err(BudgetDenial::Exhausted(BudgetScope::Session)));
    assert_eq!(admit(LIMITS, standing(600, 0), none, 401), Err(BudgetDenial::Exhausted(BudgetScope::Day)));
    assert_eq!(admit(LIMITS, standing(600, 0), none, 400), Ok(()));
    let zero = BudgetLimits { day_tokens: 0, session_tokens: 0 };
    assert_eq!(admit(zero, none, none, 1), Err(BudgetDenial::Exhausted(BudgetScope::Day)));
}

#[test]
fn calls_near_the_limit_run_one_at_a_time() {
    let none = BudgetUsage::default();
    assert_eq!(admit(LIMITS, standing(200, 200), none, 400), Ok(()));
    assert_eq!(admit(LIMITS, standing(400, 400), none, 400), Err(BudgetDenial::Wait));
    assert_eq!(admit(LIMITS, standing(400, 0), none, 400), Ok(()));
    assert_eq!(
        admit(LIMITS, standing(900, 100), none, 400),
        Err(BudgetDenial::Exhausted(BudgetScope::Day)),
        "waiting would not help"
    );
}

#[test]
fn failed_call_costs_reported_usage() {
    let estimate = TokenEstimate { input: 100, output: 50 };
    let total = |error: &ModelError| {
        let spend = TokenSpend::from_failure(error, estimate);
        (spend.total(), spend.estimated)
    };
    assert_eq!(total(&ModelError::TimedOut), (150, true));
    assert_eq!(total(&ModelError::Garbled { why: String::new() }), (150, true));
    assert_eq!(total(&ModelError::Auth { why: String::new() }), (0, false));
    let after = Some(Duration::from_secs(1));
    assert_eq!(total(&ModelError::Retry { after, why: String::new() }), (0, false));
    let usage = Some(TokenUsage { input: 7, output: 1 });
    assert_eq!(total(&ModelError::Refused { usage }), (8, false));
    assert_eq!(total(&ModelError::Refused { usage: None }), (150, true));
}

#[test]
fn shares_follow_the_weights() {
    assert_eq!(split_proportionally(100, &[1, 1, 2]), [25, 25, 50]);
    assert_eq!(split_proportionally(10, &[1, 1, 1]), [4, 3, 3]);
    assert_eq!(split_proportionally(2, &[1, 1, 1]), [1, 1, 0]);
    assert_eq!(split_proportionally(9, &[0, 0]), [5, 4]);
    assert_eq!(split_proportionally(9, &[]), Vec::<u64>::new());
    assert_eq!(split_proportionally(u64::MAX, &[u64::MAX, 1]).iter().sum::<u64>(), u64::MAX);
}

/// A simulated call: its session, its reservation and its actual cost.
#[derive(Clone, Copy, Debug)]
struct SimulatedCall {
    session: usize,
    reserved: u64,
    cost: u64,
}

fn calls() -> impl Strategy<Value = Vec<(SimulatedCall, bool)>> {
    let call = (0usize..4, 1u64..400, 0u64..=200, any::<bool>());
    let call = call.prop_map(|(session, reserved, percent, settle_first)| {
        (SimulatedCall { session, reserved, cost: reserved * percent / 100 }, settle_first)
    });
    proptest::collection::vec(call, 1..200)
}

proptest! {
    #[test]
    fn shares_always_add_up(total in 0u64..1_000_000, weights in proptest::collection::vec(0u64..5_000, 1..20)) {
        prop_assert_eq!(split_proportionally(total, &weights).iter().sum::<u64>(), total);
    }

    /// Sessions reserve and settle in any order, each call costing up to twice its reservation.
    #[test]
    fn spend_never_exceeds_a_budget_by_more_than_one_call(calls in calls()) {
        let mut open: Vec<SimulatedCall> = Vec::new();
        let mut settled = [0u64; 4];
        for (call, settle_first) in calls {
            if settle_first && !open.is_empty() {
                let done = open.remove(0);
                settled[done.session] += done.cost;
            }
            let reserved = |of: &dyn Fn(&SimulatedCall) -> bool| -> u64 {
                open.iter().filter(|c| of(c)).map(|c| c.reserved).sum()
            };
            let all = reserved(&|_| true);
            let own = reserved(&|c| c.session == call.session);
            let day = standing(settled.iter().sum::<u64>() + all, all);
            let session = standing(settled[call.session] + own, own);
            if admit(LIMITS, day, session, call.reserved).is_ok() {
                open.push(call);
            }
        }
        for done in open {
            settled[done.session] += done.cost;
        }
        let one_call = 800;
        prop_assert!(settled.iter().sum::<u64>() <= LIMITS.day_tokens + one_call);
        for session in settled {
            prop_assert!(session <= LIMITS.session_tokens + one_call);
        }
    }
}
