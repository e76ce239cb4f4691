//! The notice that the configured model does not make the memories, with the fix.

use crate::user_notice::UserNotice;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::config::{Provider, Settings};
use claude_mem_models::trouble::{MODEL_TROUBLE_KEY, ModelTrouble, TroubleKind};
use claude_mem_store::{StoreError, StoreReader};

/// Reports that the configured model does not make the memories. One line for `status`, the dashboard
/// and the start of a session.
pub fn model_notice(
    reads: &StoreReader<'_>,
    settings: &Settings,
    now: Millis,
) -> Result<Option<UserNotice>, StoreError> {
    if matches!(settings.provider, Provider::Local | Provider::Auto) {
        return budget_notice(reads, settings, now);
    }
    let stored = reads.meta(MODEL_TROUBLE_KEY)?;
    let trouble = ModelTrouble::from_json(stored.as_deref())
        .filter(|trouble| trouble.provider == settings.provider.as_str())
        // A budget of 0 tokens is a decision, and a budget of yesterday is over.
        .filter(|trouble| match trouble.kind {
            TroubleKind::DayBudget => settings.budget_tokens_per_day > 0,
            TroubleKind::SessionBudget => settings.budget_tokens_per_session > 0,
            _ => true,
        })
        .filter(|trouble| {
            !trouble.kind.is_budget() || clock::local_day(trouble.last) == clock::local_day(now)
        });
    let Some(trouble) = trouble else {
        return budget_notice(reads, settings, now);
    };
    let ModelTrouble { provider, why, since, .. } = &trouble;
    let since = clock::local_time(*since);
    let what = format!("{provider}: {why}; memories are made without a model since {since}");
    Ok(Some(UserNotice::new(what, trouble.kind.fix())))
}

fn budget_notice(
    reads: &StoreReader<'_>,
    settings: &Settings,
    now: Millis,
) -> Result<Option<UserNotice>, StoreError> {
    // `auto` may have chosen a model; the tokens spent show whether it did.
    if settings.provider == Provider::Local {
        return Ok(None);
    }
    let spent = reads.spend_on(&clock::local_day(now))?.tokens;
    let all = settings.budget_tokens_per_day;
    Ok((spent > 0 && spent >= all).then(|| {
        UserNotice::new(
            format!("today's {all} tokens are used up; memories are made without a model until tomorrow"),
            "claude-mem config set budget_tokens_per_day raises the limit",
        )
    }))
}
