//! Spaces: projects of the team, and the own space of each member.

use std::collections::BTreeMap;

use claude_mem_wire::limits::SPACE_KEYS_MAX;
use claude_mem_wire::messages::{SpaceInfo, SpaceRequest, SpaceState};
use claude_mem_wire::{MemberId, SpaceDigest, SpaceId, is_space_key, tidy_name};
use deadpool_postgres::Transaction;
use tokio_postgres::Row;
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::Caller;
use super::audit::write_audit;
use super::usage::{count_usage, remaining_quota};
use crate::error::ServiceError;

/// `head`, `live` and `digest` in columns that begin with `first`.
pub(super) fn space_state(row: &Row, first: usize) -> Result<SpaceState, ServiceError> {
    Ok(SpaceState {
        head: row.try_get(first)?,
        live: row.try_get::<_, i64>(first + 1)?.unsigned_abs(),
        digest: SpaceDigest::from_bits_signed(row.try_get(first + 2)?),
    })
}

/// All spaces that the caller may see.
pub(super) async fn visible_spaces(
    transaction: &Transaction<'_>,
    caller: &Caller,
) -> Result<Vec<SpaceInfo>, ServiceError> {
    const SPACES: &str = "SELECT s.id, s.name, s.owner, \
            coalesce((SELECT array_agg(k.key ORDER BY k.key) FROM claude_mem.space_keys k \
                      WHERE k.team = s.team AND k.space = s.id), '{}'), s.head, s.live, s.digest \
        FROM claude_mem.spaces s WHERE s.team = $1 ORDER BY s.id";
    let rows = transaction.query_typed(SPACES, &[(&caller.team.0, Type::UUID)]).await?;
    rows.iter().map(space_info).collect()
}

fn space_info(row: &Row) -> Result<SpaceInfo, ServiceError> {
    Ok(SpaceInfo {
        id: SpaceId(row.try_get(0)?),
        name: row.try_get(1)?,
        owner: row.try_get::<_, Option<Uuid>>(2)?.map(MemberId),
        keys: row.try_get(3)?,
        state: space_state(row, 4)?,
    })
}

/// The state of those of these spaces that the caller may see.
pub(crate) async fn space_states(
    transaction: &Transaction<'_>,
    caller: &Caller,
    spaces: &[SpaceId],
) -> Result<BTreeMap<SpaceId, SpaceState>, ServiceError> {
    const STATES: &str =
        "SELECT id, head, live, digest FROM claude_mem.spaces WHERE team = $1 AND id = ANY($2)";
    let ids: Vec<Uuid> = spaces.iter().map(|space| space.0).collect();
    let rows =
        transaction.query_typed(STATES, &[(&caller.team.0, Type::UUID), (&ids, Type::UUID_ARRAY)]).await?;
    rows.iter().map(|row| Ok((SpaceId(row.try_get(0)?), space_state(row, 1)?))).collect()
}

/// Finds the space, or makes it.
pub(crate) async fn find_or_make_space(
    transaction: &Transaction<'_>,
    caller: &Caller,
    request: &SpaceRequest,
    now: i64,
) -> Result<SpaceInfo, ServiceError> {
    const ONE: &str = "SELECT s.id, s.name, s.owner, \
            coalesce((SELECT array_agg(k.key ORDER BY k.key) FROM claude_mem.space_keys k \
                      WHERE k.team = s.team AND k.space = s.id), '{}'), s.head, s.live, s.digest \
        FROM claude_mem.spaces s WHERE s.team = $1 AND s.id = $2";
    let space = match request {
        SpaceRequest::Own => own_space(transaction, caller, now).await?,
        SpaceRequest::Project { keys, name } => project_space(transaction, caller, keys, name, now).await?,
    };
    let row =
        transaction.query_typed_opt(ONE, &[(&caller.team.0, Type::UUID), (&space.0, Type::UUID)]).await?;
    space_info(&row.ok_or(ServiceError::not_found("no such space"))?)
}

async fn own_space(
    transaction: &Transaction<'_>,
    caller: &Caller,
    now: i64,
) -> Result<SpaceId, ServiceError> {
    const FIND: &str = "SELECT id FROM claude_mem.spaces WHERE team = $1 AND owner = $2";
    if !caller.role.may_make_spaces() {
        return Err(ServiceError::forbidden("readers and bots have no space of their own"));
    }
    let owner = [(&caller.team.0 as _, Type::UUID), (&caller.member.0 as _, Type::UUID)];
    if let Some(row) = transaction.query_typed_opt(FIND, &owner).await? {
        return Ok(SpaceId(row.try_get(0)?));
    }
    insert_space(transaction, caller, Some(caller.member), "own machines", now).await?;
    // Another machine of the same member may have been faster.
    Ok(SpaceId(transaction.query_typed_one(FIND, &owner).await?.try_get(0)?))
}

async fn project_space(
    transaction: &Transaction<'_>,
    caller: &Caller,
    keys: &[String],
    name: &str,
    now: i64,
) -> Result<SpaceId, ServiceError> {
    const FIND: &str = "SELECT k.space FROM claude_mem.space_keys k \
        JOIN unnest($2::text[]) WITH ORDINALITY AS wanted(key, place) ON wanted.key = k.key \
        WHERE k.team = $1 ORDER BY wanted.place LIMIT 1";
    const ADD: &str = "INSERT INTO claude_mem.space_keys (team, key, space) \
        SELECT $1, wanted.key, $3 FROM unnest($2::text[]) AS wanted(key) ON CONFLICT (team, key) DO NOTHING";
    // Each member's client reads all of them.
    const TOO_MANY: ServiceError =
        ServiceError::forbidden("too many new projects today; share the others tomorrow");
    const OWNER: &str = "SELECT space FROM claude_mem.space_keys WHERE team = $1 AND key = $2";
    if keys.is_empty() || keys.len() > SPACE_KEYS_MAX || !keys.iter().all(|key| is_space_key(key)) {
        return Err(ServiceError::bad_request("a project has 1 to 16 keys that begin with remote:"));
    }
    let wanted = [(&caller.team.0 as _, Type::UUID), (&keys as _, Type::TEXT_ARRAY)];
    let found = transaction.query_typed_opt(FIND, &wanted).await?;
    let known = found.map(|row| row.try_get(0)).transpose()?.map(SpaceId);
    if !caller.role.may_make_spaces() {
        return known.ok_or(ServiceError::not_found("nobody shares this project yet"));
    }
    let name = tidy_name(name).ok_or(ServiceError::bad_request("the project needs a name"))?;
    let space = match known {
        Some(space) => space,
        None => insert_space(transaction, caller, None, &name, now).await?,
    };
    let added =
        [(&caller.team.0 as _, Type::UUID), (&keys as _, Type::TEXT_ARRAY), (&space.0 as _, Type::UUID)];
    let added = transaction.execute_typed(ADD, &added).await?;
    if added > 0 {
        if added > remaining_quota(transaction, caller, now).await?.space_keys {
            return Err(TOO_MANY);
        }
        count_usage(transaction, caller, now, 0, added.cast_signed()).await?;
    }
    if known.is_none() {
        // Another member may have made the project's space in the meantime: roll back and find theirs.
        let owner = [(&caller.team.0 as _, Type::UUID), (&keys[0] as _, Type::TEXT)];
        let owner = SpaceId(transaction.query_typed_one(OWNER, &owner).await?.try_get(0)?);
        if owner != space {
            return Err(ServiceError::Raced);
        }
        write_audit(transaction, caller, now, "space", &name).await?;
    }
    Ok(space)
}

async fn insert_space(
    transaction: &Transaction<'_>,
    caller: &Caller,
    owner: Option<MemberId>,
    name: &str,
    now: i64,
) -> Result<SpaceId, ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.spaces (team, id, owner, name, head, live, digest, created_at) \
        VALUES ($1, $2, $3, $4, 0, 0, 0, $5) ON CONFLICT DO NOTHING";
    let space = SpaceId(Uuid::now_v7());
    let owner = owner.map(|owner| owner.0);
    transaction
        .execute_typed(
            INSERT,
            &[
                (&caller.team.0, Type::UUID),
                (&space.0, Type::UUID),
                (&owner, Type::UUID),
                (&name, Type::TEXT),
                (&now, Type::INT8),
            ],
        )
        .await?;
    Ok(space)
}
