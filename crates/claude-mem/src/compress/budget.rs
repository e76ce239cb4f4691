//! What may still be spent, and what was.
//!
//! Pure arithmetic; the store sums and writes. The reservation is one transaction there: sum up,
//! `admit`, insert. So two sessions cannot both take the last of a budget.
//!
//! Invariant: spend never exceeds a limit by more than one call, with any number of sessions at
//! once, as long as no call costs more than twice what was reserved for it.

use super::model::{ModelError, Spent, Usage};

/// Tokens that may be spent, in and out together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    pub day_tokens: u64,
    pub session_tokens: u64,
}

/// What one scope has cost so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    /// Everything: settled calls by their figures, calls under way by what they reserved.
    pub tokens: u64,
    /// The part of it that belongs to calls under way.
    pub open_tokens: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    Day,
    Session,
}

/// Why a call may not be made now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotNow {
    /// It may fit once the calls under way have told their true price.
    #[error("other calls are under way and the budget is nearly used up")]
    Wait,
    #[error("the budget of the {} is used up", match .0 { Scope::Day => "day", Scope::Session => "session" })]
    Exhausted(Scope),
}

/// Whether a call of this size may be made. Near a limit calls go one at a time: those under way
/// count double, since their price may turn out higher than what was reserved.
pub fn admit(limits: Limits, day: Standing, session: Standing, tokens: u64) -> Result<(), NotNow> {
    let scopes = [
        (Scope::Day, limits.day_tokens, day),
        (Scope::Session, limits.session_tokens, session),
    ];
    for (scope, limit, standing) in scopes {
        let settled = standing.tokens.saturating_sub(standing.open_tokens);
        if settled.saturating_add(tokens) > limit {
            return Err(NotNow::Exhausted(scope));
        }
    }
    for (_, limit, standing) in scopes {
        let worst = standing.tokens.saturating_add(standing.open_tokens);
        if standing.open_tokens > 0 && worst.saturating_add(tokens) > limit {
            return Err(NotNow::Wait);
        }
    }
    Ok(())
}

/// What a call will cost at most, by our own estimate of what is sent and the bound we put on
/// what comes back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Estimate {
    pub input: u64,
    pub output: u64,
}

impl Estimate {
    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }
}

/// What a call did cost, as the store writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Spend {
    pub input: u64,
    pub output: u64,
    /// The provider gave no figures; ours stand in.
    pub estimated: bool,
}

impl Spend {
    pub const NOTHING: Self = Self {
        input: 0,
        output: 0,
        estimated: false,
    };

    pub const fn total(self) -> u64 {
        self.input.saturating_add(self.output)
    }

    /// The provider's own figures, or ours: what was sent and what came back.
    pub fn of_answer(usage: Option<Usage>, estimate: Estimate, answer_tokens: u32) -> Self {
        match usage {
            Some(usage) => Self {
                input: usage.input,
                output: usage.output,
                estimated: false,
            },
            None => Self {
                input: estimate.input,
                output: u64::from(answer_tokens),
                estimated: true,
            },
        }
    }

    /// A call that failed costs what the provider says, nothing if it was turned away, and what
    /// was reserved if nobody knows.
    pub fn of_failure(error: &ModelError, estimate: Estimate) -> Self {
        match error.spent() {
            Spent::Nothing => Self::NOTHING,
            Spent::Known(usage) => Self {
                input: usage.input,
                output: usage.output,
                estimated: false,
            },
            Spent::Unknown => Self {
                input: estimate.input,
                output: estimate.output,
                estimated: true,
            },
        }
    }
}

/// Shares out a number in proportion to weights. The shares add up to it exactly; what does not
/// divide goes to those that lose most by rounding, the first of equals.
pub fn share(total: u64, weights: &[u64]) -> Vec<u64> {
    let sum: u128 = weights.iter().map(|weight| u128::from(*weight)).sum();
    if sum == 0 {
        let even = vec![1; weights.len()];
        return if weights.is_empty() {
            Vec::new()
        } else {
            share(total, &even)
        };
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
