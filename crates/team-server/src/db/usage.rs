//! What a member used of the quotas of this day.

use claude_mem_wire::limits::{RECORDS_PER_DAY_MAX, SPACE_KEYS_PER_DAY_MAX};
use deadpool_postgres::Transaction;
use tokio_postgres::types::Type;

use super::Caller;
use crate::error::ServiceError;

/// Milliseconds of a day.
const DAY_MILLIS: i64 = 86_400_000;

/// What a member may still add today.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RemainingQuota {
    pub(super) records: u64,
    pub(super) space_keys: u64,
}

const fn day_of(now: i64) -> i32 {
    now.div_euclid(DAY_MILLIS) as i32
}

/// Reads what is left. The row stays locked until the end, so that two requests at once do not both use the rest.
pub(super) async fn remaining_quota(
    transaction: &Transaction<'_>,
    caller: &Caller,
    now: i64,
) -> Result<RemainingQuota, ServiceError> {
    const USED: &str = "INSERT INTO claude_mem.usage (team, member, day, records) VALUES ($1, $2, $3, 0) \
        ON CONFLICT (team, member, day) DO UPDATE SET records = usage.records RETURNING records, space_keys";
    let row = transaction
        .query_typed_one(
            USED,
            &[(&caller.team.0, Type::UUID), (&caller.member.0, Type::UUID), (&day_of(now), Type::INT4)],
        )
        .await?;
    let left = |max: u64, used: i64| max.saturating_sub(used.unsigned_abs());
    Ok(RemainingQuota {
        records: left(RECORDS_PER_DAY_MAX, row.try_get(0)?),
        space_keys: left(SPACE_KEYS_PER_DAY_MAX, row.try_get(1)?),
    })
}

/// Adds to what was used. [`remaining_quota`] has made the row.
pub(super) async fn count_usage(
    transaction: &Transaction<'_>,
    caller: &Caller,
    now: i64,
    records: i64,
    space_keys: i64,
) -> Result<(), ServiceError> {
    const COUNT: &str = "UPDATE claude_mem.usage SET records = records + $4, space_keys = space_keys + $5 \
        WHERE team = $1 AND member = $2 AND day = $3";
    if records == 0 && space_keys == 0 {
        return Ok(());
    }
    transaction
        .execute_typed(
            COUNT,
            &[
                (&caller.team.0, Type::UUID),
                (&caller.member.0, Type::UUID),
                (&day_of(now), Type::INT4),
                (&records, Type::INT8),
                (&space_keys, Type::INT8),
            ],
        )
        .await?;
    Ok(())
}
