//! Estimates what the calls about a whole session cost, before any is made.

use super::budget::TokenEstimate;
use super::model::claude_conversation;
use super::prompt;
use super::rolling::SO_FAR_BYTES_MAX;
use crate::batch::CompressionRules;
use claude_mem_core::episode::Episode;
use claude_mem_core::tokens;

/// Tokens of an answer that we expect: one or two observations and a summary.
const ANSWER_TOKENS_EXPECTED: u64 = 400;

/// Tokens by which an episode lengthens the rolling summary, as far as it grows.
const SO_FAR_TOKENS_PER_EPISODE: u64 = 80;

/// The longest rolling summary, in tokens.
const SO_FAR_TOKENS_MAX: u64 = SO_FAR_BYTES_MAX as u64 / 4;

/// The expected cost of asking about the episodes of one session, in order. `has_conversation`: the model
/// carries a conversation, which it sends again with each call.
pub fn estimate_session<'e>(
    episodes: impl Iterator<Item = &'e Episode>,
    rules: CompressionRules<'_>,
    has_conversation: bool,
) -> TokenEstimate {
    let system = u64::from(tokens::estimate(&prompt::system_prompt(rules.vocabulary, rules.language)));
    let mut cost = TokenEstimate { input: 0, output: 0 };
    let (mut asked, mut carried, mut turns) = (0, 0, 0);
    for episode in episodes {
        let message = u64::from(tokens::estimate(&prompt::episode_message(episode)));
        let so_far = (asked * SO_FAR_TOKENS_PER_EPISODE).min(SO_FAR_TOKENS_MAX);
        let is_continued = has_conversation && turns > 0 && claude_conversation::goes_on(carried, turns);
        let before = if is_continued { carried } else { system + so_far };
        turns = if is_continued { turns + 1 } else { 1 };
        carried = before + message + ANSWER_TOKENS_EXPECTED;
        asked += 1;
        cost.input += before + message;
        cost.output += ANSWER_TOKENS_EXPECTED;
    }
    cost
}

#[cfg(test)]
#[path = "session_cost_tests.rs"]
mod tests;
