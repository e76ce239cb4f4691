//! How long a conversation with Claude Code is continued.

/// Turns after which a new conversation is started in any case.
const CONVERSATION_TURNS_MAX: u32 = 12;

/// Tokens carried in a conversation after which a new one is started: each turn pays for all turns
/// before it.
const CONVERSATION_TOKENS_MAX: u64 = 16_000;

/// Whether the next episode is sent in the same conversation.
pub(crate) const fn goes_on(carried_tokens: u64, turns: u32) -> bool {
    carried_tokens < CONVERSATION_TOKENS_MAX && turns < CONVERSATION_TURNS_MAX
}
