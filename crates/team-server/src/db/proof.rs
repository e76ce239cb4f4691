//! [`prove_isolation`]: row-level security is in force, shown on this very database before anybody is served.

use std::collections::BTreeSet;

use deadpool_postgres::{Object, Transaction};
use tokio_postgres::types::Type;
use uuid::Uuid;

use super::role::{APP_ROLE, ENTER_ROLE};
use super::tables::COUNTS;
use crate::error::{StartError, describe};

/// Shows that every table is protected against its owner too, that the role is a plain one, and that without
/// settings, and as another team, not even a row is visible that exists in the same transaction.
pub(crate) async fn prove_isolation(connection: &mut Object) -> Result<(), StartError> {
    let unable = |error: tokio_postgres::Error| StartError::NotIsolated(describe(&error));
    let wrong = catalog_fault(connection).await.map_err(unable)?;
    let wrong = match wrong {
        None => canary_fault(connection).await.map_err(unable)?,
        found => found,
    };
    wrong.map_or(Ok(()), |fault| Err(StartError::NotIsolated(fault)))
}

/// The first violation that the catalog shows.
async fn catalog_fault(connection: &Object) -> Result<Option<String>, tokio_postgres::Error> {
    const ROLE: &str = "SELECT rolsuper OR rolbypassrls OR rolcanlogin OR rolcreaterole, \
            EXISTS (SELECT 1 FROM pg_catalog.pg_auth_members m WHERE m.member = r.oid), \
            EXISTS (SELECT 1 FROM pg_catalog.pg_class c WHERE c.relowner = r.oid) \
        FROM pg_catalog.pg_roles r WHERE rolname = $1";
    const TABLES: &str = "SELECT c.relname::text, c.relrowsecurity AND c.relforcerowsecurity, \
            pg_catalog.has_table_privilege($1, c.oid, 'DELETE') \
                OR pg_catalog.has_table_privilege($1, c.oid, 'TRUNCATE') \
        FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace \
        WHERE n.nspname = 'claude_mem' AND c.relkind IN ('r', 'p') AND c.relname <> 'schema_versions'";
    let Some(role) = connection.query_typed_opt(ROLE, &[(&APP_ROLE, Type::TEXT)]).await? else {
        return Ok(Some("the role claude_mem_app is missing".to_owned()));
    };
    for (column, fault) in [
        (0, "the role claude_mem_app has privileges of its own"),
        (1, "the role claude_mem_app is a member of another role"),
        (2, "the role claude_mem_app owns a table"),
    ] {
        if role.try_get(column)? {
            return Ok(Some(fault.to_owned()));
        }
    }
    let mut found = BTreeSet::new();
    for row in connection.query_typed(TABLES, &[(&APP_ROLE, Type::TEXT)]).await? {
        let name: String = row.try_get(0)?;
        if !row.try_get::<_, bool>(1)? {
            return Ok(Some(format!("the table {name} is not protected")));
        }
        if row.try_get(2)? {
            return Ok(Some(format!("rows of the table {name} can be deleted")));
        }
        found.insert(name);
    }
    let missing = COUNTS.iter().find(|(name, _)| !found.contains(*name));
    Ok(missing.map(|(name, _)| format!("the table {name} is missing")))
}

/// Creates a team in a transaction that is rolled back, and looks at it as others would.
async fn canary_fault(connection: &mut Object) -> Result<Option<String>, tokio_postgres::Error> {
    const OPERATOR: &str = "SELECT set_config('claude_mem.role', 'operator', true)";
    const TEAM: &str =
        "INSERT INTO claude_mem.teams (id, name, generation, created_at) VALUES ($1, $2, $1, 0)";
    const LOOK: &str =
        "SELECT set_config('claude_mem.team', $1, true), set_config('claude_mem.role', $2, true)";
    let canary = Uuid::now_v7();
    let transaction = connection.transaction().await?;
    transaction.batch_execute(ENTER_ROLE).await?;
    transaction.query_typed(OPERATOR, &[]).await?;
    let name = canary.to_string();
    transaction.execute_typed(TEAM, &[(&canary, Type::UUID), (&name, Type::TEXT)]).await?;
    let stranger = Uuid::now_v7().to_string();
    let mut fault = None;
    for (team, role, who) in [("", "", "a request without settings"), (&stranger, "admin", "another team")] {
        transaction.query_typed(LOOK, &[(&team, Type::TEXT), (&role, Type::TEXT)]).await?;
        if let Some(table) = visible_table(&transaction).await? {
            fault.get_or_insert(format!("{who} sees rows of the table {table}"));
        }
    }
    transaction.query_typed(LOOK, &[(&name.as_str(), Type::TEXT), (&"admin", Type::TEXT)]).await?;
    if fault.is_none() && visible_table(&transaction).await? != Some("teams") {
        fault = Some("a team does not see itself".to_owned());
    }
    transaction.rollback().await?;
    Ok(fault)
}

/// The first table with a visible row.
async fn visible_table(transaction: &Transaction<'_>) -> Result<Option<&'static str>, tokio_postgres::Error> {
    for (name, count) in COUNTS {
        let row = transaction.query_typed_one(count, &[]).await?;
        if row.try_get::<_, i64>(0)? > 0 {
            return Ok(Some(name));
        }
    }
    Ok(None)
}
