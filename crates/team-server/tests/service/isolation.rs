//! [`TwoTeams`]: what the tests of isolation share.

use claude_mem_team_server::ServeOptions;
use claude_mem_wire::MemberRole;
use rig::postgres::{PoolerProcess, PostgresCluster};

use crate::support::{TestDevice, TestService, record};

/// As whom the service connects to its database.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DatabaseLogin {
    Superuser,
    /// Owns the tables and is no superuser.
    Owner,
    /// Owns nothing: it may only take the role of requests.
    Restricted,
    /// The superuser, through a pooler that hands each transaction another connection.
    Pooler,
}

impl DatabaseLogin {
    pub(crate) const ALL: [Self; 4] = [Self::Superuser, Self::Owner, Self::Restricted, Self::Pooler];
}

/// Two teams on one database, with rows in every table.
pub(crate) struct TwoTeams {
    pub(crate) acme: TestService,
    _other: TestService,
    pub(crate) mira: TestDevice,
    pub(crate) jonas: TestDevice,
    pub(crate) stranger: TestDevice,
    _pooler: Option<PoolerProcess>,
    pub(crate) cluster: PostgresCluster,
}

impl TwoTeams {
    /// Starts both, or prints `skipped: REASON`.
    pub(crate) fn start(login: DatabaseLogin) -> Option<Self> {
        let cluster = rig::postgres::newest_or_skip()?.start();
        let pooler = match login {
            DatabaseLogin::Pooler => Some(PoolerProcess::start_or_skip(&cluster)?),
            _ => None,
        };
        cluster.psql(
            "CREATE ROLE owner LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO owner; \
             CREATE ROLE restricted LOGIN",
        );
        let address = match (login, &pooler) {
            (DatabaseLogin::Owner, _) => cluster.address_of("owner"),
            (DatabaseLogin::Restricted, _) => {
                // Somebody else has made the tables.
                drop(TestService::start(&cluster));
                cluster.psql("GRANT claude_mem_app TO restricted");
                cluster.address_of("restricted")
            }
            (_, Some(pooler)) => pooler.address(),
            (_, None) => cluster.address(),
        };
        let acme = TestService::start_with(&ServeOptions::new(address.clone()));
        let mira = acme.first_admin();
        let jonas = mira.invite("jonas", MemberRole::Member);
        let other =
            TestService::start_with(&ServeOptions { team: "other".to_owned(), ..ServeOptions::new(address) });
        let stranger = other.first_admin();
        for (start, device) in [(1, &mira), (11, &jonas), (21, &stranger)] {
            device.push(device.project("app").id, &[record(start, 1, "shared")]);
            device.push(device.own_space().id, &[record(start + 1, 1, "own")]);
        }
        Some(Self { acme, _other: other, mira, jonas, stranger, _pooler: pooler, cluster })
    }

    /// Runs statements as the service would for somebody, and returns what they print. Everything is rolled
    /// back. The session is the superuser's, as with a superuser in `--database`.
    pub(crate) fn sql_as(&self, team: &str, member: &str, role: &str, sql: &str) -> String {
        self.cluster.psql(&format!(
            "BEGIN; SET LOCAL ROLE claude_mem_app; \
             SELECT set_config('claude_mem.team', '{team}', true) IS NULL \
                 OR set_config('claude_mem.member', '{member}', true) IS NULL \
                 OR set_config('claude_mem.role', '{role}', true) IS NULL \\g /dev/null\n\
             {sql}; ROLLBACK;"
        ))
    }

    /// Whether the statement fails or touches no row.
    pub(crate) fn changes_nothing(&self, team: &str, member: &str, role: &str, sql: &str) -> bool {
        let counted = format!("WITH done AS ({sql} RETURNING 1) SELECT count(*) FROM done");
        let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.sql_as(team, member, role, &counted)
        }));
        attempt.map_or(true, |count| count == "0")
    }
}
