//! [`migrate`]: creates the role and the tables, and applies what is missing.
//!
//! Migrations only add, so that two versions of the service run side by side: an older one accepts a newer
//! schema. Several replicas may start at once; a table lock lets one of them migrate.

use deadpool_postgres::Object;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::Type;

use super::role::{APP_ROLE, ENTER_ROLE};
use crate::error::{StartError, describe};

/// The migrations in their order. A released one is never edited.
const MIGRATIONS: &[&str] = &[
    include_str!("migrations/0001_tables.sql"),
    include_str!("migrations/0002_row_security.sql"),
    include_str!("migrations/0003_limits.sql"),
];

/// The oldest supported server, as `server_version_num`.
const OLDEST_VERSION: i32 = 130_000;

/// How often creating the schema is repeated when another replica does the same.
const CREATE_RETRIES: usize = 5;

/// The result of [`migrate`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct MigrationReport {
    /// Such as `16.4`.
    pub(crate) server_version: String,
    /// Migrations that were applied now.
    pub(crate) applied: usize,
}

/// Brings the schema up to date.
pub(crate) async fn migrate(connection: &mut Object, now: i64) -> Result<MigrationReport, StartError> {
    let server_version = check_version(connection).await?;
    // A login that may only use the role runs on tables that somebody else created.
    if applied_version(connection).await.is_some_and(|version| version >= MIGRATIONS.len()) {
        return Ok(MigrationReport { server_version, applied: 0 });
    }
    ensure_role(connection).await?;
    ensure_schema(connection).await.map_err(failed)?;
    let applied = apply(connection, now).await.map_err(failed)?;
    Ok(MigrationReport { server_version, applied })
}

fn failed(error: tokio_postgres::Error) -> StartError {
    StartError::Migration(describe(&error))
}

async fn check_version(connection: &Object) -> Result<String, StartError> {
    const VERSION: &str = "SELECT current_setting('server_version_num')::int, split_part(current_setting('server_version'), ' ', 1)";
    let row = connection.query_typed_one(VERSION, &[]).await.map_err(failed)?;
    let name: String = row.try_get(1).map_err(failed)?;
    if row.try_get::<_, i32>(0).map_err(failed)? < OLDEST_VERSION {
        return Err(StartError::TooOld(name));
    }
    Ok(name)
}

/// The number of applied migrations, as the role sees it; `None` if there is no role or no table.
async fn applied_version(connection: &mut Object) -> Option<usize> {
    const COUNT: &str = "SELECT count(*) FROM claude_mem.schema_versions";
    // Every failure means that something has to be created; what cannot be is reported there.
    let transaction = connection.transaction().await.ok()?;
    transaction.batch_execute(ENTER_ROLE).await.ok()?;
    let row = transaction.query_typed_one(COUNT, &[]).await.ok()?;
    usize::try_from(row.try_get::<_, i64>(0).ok()?).ok()
}

/// Creates the role if it is missing, and makes sure that we may take it.
async fn ensure_role(connection: &Object) -> Result<(), StartError> {
    const EXISTS: &str =
        "SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_roles WHERE rolname = $1), current_user::text";
    let row = connection.query_typed_one(EXISTS, &[(&APP_ROLE, Type::TEXT)]).await.map_err(failed)?;
    let user: String = row.try_get(1).map_err(failed)?;
    let no_role = |_| StartError::NoRole { user: user.clone() };
    if !row.try_get::<_, bool>(0).map_err(failed)? {
        let created = connection.batch_execute("CREATE ROLE claude_mem_app NOLOGIN").await;
        // Another replica, or the service of another database, may have been faster.
        if let Err(error) = created
            && error.code() != Some(&SqlState::DUPLICATE_OBJECT)
            && error.code() != Some(&SqlState::UNIQUE_VIOLATION)
        {
            return Err(no_role(error));
        }
    }
    // Superusers and members of the role need no grant; the attempt shows whether we do.
    if connection.batch_execute("BEGIN; SET LOCAL ROLE claude_mem_app; ROLLBACK").await.is_ok() {
        return Ok(());
    }
    connection.batch_execute("ROLLBACK").await.map_err(failed)?;
    connection.batch_execute("GRANT claude_mem_app TO CURRENT_USER").await.map_err(no_role)
}

/// Creates the schema and the table of versions. Two replicas that do it at once disturb each other even with
/// `IF NOT EXISTS`.
async fn ensure_schema(connection: &Object) -> Result<(), tokio_postgres::Error> {
    const CREATE: &str = "CREATE SCHEMA IF NOT EXISTS claude_mem; \
        CREATE TABLE IF NOT EXISTS claude_mem.schema_versions \
            (version integer PRIMARY KEY, applied_at bigint NOT NULL)";
    for _ in 0..CREATE_RETRIES {
        match connection.batch_execute(CREATE).await {
            Err(error) if error.code() == Some(&SqlState::UNIQUE_VIOLATION) => {}
            Err(error) if error.code() == Some(&SqlState::DUPLICATE_TABLE) => {}
            created => return created,
        }
    }
    connection.batch_execute(CREATE).await
}

async fn apply(connection: &mut Object, now: i64) -> Result<usize, tokio_postgres::Error> {
    const COUNT: &str = "SELECT count(*) FROM claude_mem.schema_versions";
    const DONE: &str = "INSERT INTO claude_mem.schema_versions VALUES ($1, $2)";
    const READABLE: &str = "GRANT USAGE ON SCHEMA claude_mem TO claude_mem_app; \
        GRANT SELECT ON claude_mem.schema_versions TO claude_mem_app";
    let transaction = connection.transaction().await?;
    transaction.batch_execute("LOCK TABLE claude_mem.schema_versions IN ACCESS EXCLUSIVE MODE").await?;
    let row = transaction.query_typed_one(COUNT, &[]).await?;
    let done = usize::try_from(row.try_get::<_, i64>(0)?).unwrap_or(0);
    for (index, migration) in MIGRATIONS.iter().enumerate().skip(done) {
        transaction.batch_execute(migration).await?;
        let version = i32::try_from(index + 1).unwrap_or(i32::MAX);
        transaction.execute_typed(DONE, &[(&version, Type::INT4), (&now, Type::INT8)]).await?;
    }
    transaction.batch_execute(READABLE).await?;
    transaction.commit().await?;
    Ok(MIGRATIONS.len().saturating_sub(done))
}
