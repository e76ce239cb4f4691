//! [`read_heads`]: the heads that long polls of one team wait for.

use claude_mem_wire::{SpaceId, TeamId};
use deadpool_postgres::Object;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::begin_snapshot;
use crate::error::ServiceError;

/// Heads of these spaces. Nothing but numbers leaves this function, and only to wake polls that then look
/// under their own member's eyes.
pub(crate) async fn read_heads(
    connection: &mut Object,
    team: TeamId,
    spaces: &[Uuid],
) -> Result<Vec<(SpaceId, i64)>, ServiceError> {
    const BECOME: &str =
        "SELECT set_config('claude_mem.role', 'watcher', true), set_config('claude_mem.team', $1, true)";
    const HEADS: &str = "SELECT id, head FROM claude_mem.spaces WHERE team = $1 AND id = ANY($2)";
    let transaction = begin_snapshot(connection).await?;
    transaction.query_typed(BECOME, &[(&team.to_string(), Type::TEXT)]).await?;
    let rows = transaction.query_typed(HEADS, &[(&team.0, Type::UUID), (&spaces, Type::UUID_ARRAY)]).await?;
    let heads = rows.iter().map(|row| Ok((SpaceId(row.try_get(0)?), row.try_get(1)?))).collect();
    transaction.commit().await?;
    heads
}
