//! Commands of the operator on the server itself: create a team, its administrator's invite, a new generation.

use claude_mem_wire::limits::INVITE_SECONDS;
use claude_mem_wire::{InviteSecret, MemberRole, TeamId, tidy_name};
use deadpool_postgres::{Object, Transaction};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::caller::begin;
use crate::error::ServiceError;
use crate::random::random_bytes;

/// The team, and an invite for its administrator if one was made.
#[derive(Debug)]
pub(crate) struct OperatorInvite {
    pub(crate) team: String,
    pub(crate) was_created: bool,
    pub(crate) secret: Option<InviteSecret>,
}

/// Creates the team if it does not exist, and an invite for an administrator while it has no members.
pub(crate) async fn ensure_team(
    connection: &mut Object,
    name: &str,
    now: i64,
) -> Result<OperatorInvite, ServiceError> {
    const MEMBERS: &str = "SELECT EXISTS (SELECT 1 FROM claude_mem.members WHERE team = $1)";
    let transaction = begin(connection).await?;
    let (team, name, was_created) = find_or_make_team(&transaction, name, now).await?;
    let row = transaction.query_typed_one(MEMBERS, &[(&team.0, Type::UUID)]).await?;
    let secret =
        if row.try_get(0)? { None } else { Some(insert_admin_invite(&transaction, team, now).await?) };
    transaction.commit().await?;
    Ok(OperatorInvite { team: name, was_created, secret })
}

/// Makes an invite for a further administrator, for a team that lost its own.
pub(crate) async fn new_admin_invite(
    connection: &mut Object,
    name: &str,
    now: i64,
) -> Result<OperatorInvite, ServiceError> {
    let transaction = begin(connection).await?;
    let (team, name, was_created) = find_or_make_team(&transaction, name, now).await?;
    let secret = insert_admin_invite(&transaction, team, now).await?;
    transaction.commit().await?;
    Ok(OperatorInvite { team: name, was_created, secret: Some(secret) })
}

/// Gives every team a new generation: after a restore, clients compare all names with the server.
pub(crate) async fn new_generation(connection: &mut Object, now: i64) -> Result<u64, ServiceError> {
    const TEAMS: &str = "SELECT id FROM claude_mem.teams";
    const RENEW: &str = "UPDATE claude_mem.teams SET generation = $2 WHERE id = $1";
    let transaction = begin(connection).await?;
    become_operator(&transaction, None).await?;
    let teams = transaction.query_typed(TEAMS, &[]).await?;
    for row in &teams {
        let team = TeamId(row.try_get(0)?);
        become_operator(&transaction, Some(team)).await?;
        let generation = Uuid::now_v7();
        transaction.execute_typed(RENEW, &[(&team.0, Type::UUID), (&generation, Type::UUID)]).await?;
        write_audit(&transaction, team, now, "generation", &generation.to_string()).await?;
    }
    transaction.commit().await?;
    Ok(teams.len() as u64)
}

async fn become_operator(transaction: &Transaction<'_>, team: Option<TeamId>) -> Result<(), ServiceError> {
    const BECOME: &str =
        "SELECT set_config('claude_mem.role', 'operator', true), set_config('claude_mem.team', $1, true)";
    let team = team.map_or_else(String::new, |team| team.to_string());
    transaction.query_typed(BECOME, &[(&team, Type::TEXT)]).await?;
    Ok(())
}

async fn find_or_make_team(
    transaction: &Transaction<'_>,
    name: &str,
    now: i64,
) -> Result<(TeamId, String, bool), ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.teams (id, name, generation, created_at) \
        VALUES ($1, $2, $3, $4) ON CONFLICT (name) DO NOTHING";
    const FIND: &str = "SELECT id FROM claude_mem.teams WHERE name = $1";
    let name = tidy_name(name).ok_or(ServiceError::bad_request("the team needs a name"))?;
    become_operator(transaction, None).await?;
    let made = transaction
        .execute_typed(
            INSERT,
            &[
                (&Uuid::now_v7(), Type::UUID),
                (&name, Type::TEXT),
                (&Uuid::now_v7(), Type::UUID),
                (&now, Type::INT8),
            ],
        )
        .await?;
    let row = transaction.query_typed_one(FIND, &[(&name, Type::TEXT)]).await?;
    let team = TeamId(row.try_get(0)?);
    become_operator(transaction, Some(team)).await?;
    if made > 0 {
        write_audit(transaction, team, now, "team", &name).await?;
    }
    Ok((team, name, made > 0))
}

async fn insert_admin_invite(
    transaction: &Transaction<'_>,
    team: TeamId,
    now: i64,
) -> Result<InviteSecret, ServiceError> {
    const INSERT: &str = "INSERT INTO claude_mem.invites (team, id, secret_hash, role, created_at, expires_at) \
        VALUES ($1, $2, $3, $4, $5, $6)";
    let secret = InviteSecret::from_random(random_bytes()?);
    let expires = now + INVITE_SECONDS * 1_000;
    let (id, hash) = (Uuid::now_v7(), secret.hash());
    transaction
        .execute_typed(
            INSERT,
            &[
                (&team.0, Type::UUID),
                (&id, Type::UUID),
                (&hash.0.as_slice(), Type::BYTEA),
                (&MemberRole::Admin.as_str(), Type::TEXT),
                (&now, Type::INT8),
                (&expires, Type::INT8),
            ],
        )
        .await?;
    write_audit(transaction, team, now, "invite", "admin").await?;
    Ok(secret)
}

async fn write_audit(
    transaction: &Transaction<'_>,
    team: TeamId,
    now: i64,
    action: &str,
    subject: &str,
) -> Result<(), ServiceError> {
    const INSERT: &str =
        "INSERT INTO claude_mem.audit (team, id, at, action, subject) VALUES ($1, $2, $3, $4, $5)";
    transaction
        .execute_typed(
            INSERT,
            &[
                (&team.0, Type::UUID),
                (&Uuid::now_v7(), Type::UUID),
                (&now, Type::INT8),
                (&action, Type::TEXT),
                (&subject, Type::TEXT),
            ],
        )
        .await?;
    Ok(())
}
