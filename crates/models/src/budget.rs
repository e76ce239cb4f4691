//! The arithmetic of the token budget.
//!
//! Pure; the store does the sums and the writes. A reservation is one transaction there: sum,
//! [`admit`], insert. So two sessions cannot both take the last of a budget.
//!
//! Invariant: spend never exceeds a limit by more than one call, with any number of concurrent
//! sessions, as long as no call costs more than twice its reservation.

use super::model::{FailureCost, ModelError, TokenUsage};

/// Limits of the token budget, input and output together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BudgetLimits {
    pub day_tokens: u64,
    pub session_tokens: u64,
}

/// The tokens used in one scope so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BudgetUsage {
    /// Settled calls by their actual cost, calls in flight by their reservation.
    pub tokens: u64,
    /// The part reserved by calls in flight.
    pub open_tokens: u64,
}

/// The scope of a budget limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BudgetScope {
    Day,
    Session,
}

/// Why the budget does not admit a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BudgetDenial {
    /// The call may fit once the calls in flight have settled their actual cost.
    #[error("other calls are in flight and the token budget is nearly used up")]
    Wait,
    #[error("the token budget of the {} is used up", match .0 { BudgetScope::Day => "day", BudgetScope::Session => "session" })]
    Exhausted(BudgetScope),
}

/// Whether the budget admits a call of `tokens`. Near a limit calls run one at a time: those in
/// flight count double, since they may cost more than they reserved.
pub fn admit(
    limits: BudgetLimits,
    day: BudgetUsage,
    session: BudgetUsage,
    tokens: u64,
) -> Result<(), BudgetDenial> {
    let scopes =
        [(BudgetScope::Day, limits.day_tokens, day), (BudgetScope::Session, limits.session_tokens, session)];
    for (scope, limit, standing) in scopes {
        let settled = standing.tokens.saturating_sub(standing.open_tokens);
        if settled.saturating_add(tokens) > limit {
            return Err(BudgetDenial::Exhausted(scope));
        }
    }
    for (_, limit, standing) in scopes {
        let worst = standing.tokens.saturating_add(standing.open_tokens);
        if standing.open_tokens > 0 && worst.saturating_add(tokens) > limit {
            return Err(BudgetDenial::Wait);
        }
    }
    Ok(())
}

/// The estimated cost of a call: our estimate of the input and the limit of the output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenEstimate {
    pub input: u64,
    pub output: u64,
}

impl TokenEstimate {
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// The cost of a call, as the store records it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TokenSpend {
    pub input: u64,
    pub output: u64,
    /// The provider reported no usage; the numbers are our estimate.
    pub estimated: bool,
}

impl TokenSpend {
    /// The cost of a call that the provider rejected.
    pub const NOTHING: Self = Self { input: 0, output: 0, estimated: false };

    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The usage that the provider reported, else our estimate of input and output.
    pub fn from_answer(usage: Option<TokenUsage>, estimate: TokenEstimate, answer_tokens: u32) -> Self {
        match usage {
            Some(usage) => Self { input: usage.input, output: usage.output, estimated: false },
            None => Self { input: estimate.input, output: u64::from(answer_tokens), estimated: true },
        }
    }

    /// The cost of a failed call: the reported usage, nothing if it was rejected, or the whole
    /// reservation if unknown.
    pub fn from_failure(error: &ModelError, estimate: TokenEstimate) -> Self {
        match error.cost() {
            FailureCost::Nothing => Self::NOTHING,
            FailureCost::Known(usage) => Self { input: usage.input, output: usage.output, estimated: false },
            FailureCost::Unknown => Self { input: estimate.input, output: estimate.output, estimated: true },
        }
    }
}

/// Splits a number in proportion to weights. The shares add up to it exactly: the remainder goes to
/// the shares that lose most by rounding, the first among equals.
pub fn split_proportionally(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if sum == 0 {
        let even = vec![1; weights.len()];
        return if weights.is_empty() { Vec::new() } else { split_proportionally(total, &even) };
    }
    let exact = |weight: u64| u128::from(total) * u128::from(weight);
    let mut shares: Vec<u64> = weights.iter().map(|w| (exact(*w) / sum) as u64).collect();
    let mut left = total - shares.iter().sum::<u64>();
    let mut order: Vec<usize> = (0..weights.len()).collect();
    order.sort_by_key(|i| std::cmp::Reverse(exact(weights[*i]) % sum));
    for i in order {
        if left == 0 {
            break;
        }
        shares[i] += 1;
        left -= 1;
    }
    shares
}

#[cfg(test)]
#[path = "budget_tests.rs"]
mod tests;
