//! Starting, restarting and ending, with one replica and with several.

use claude_mem_team_server::{RunningServer, ServeOptions, StartError, make_admin_link, renew_generation};
use claude_mem_wire::messages::MeReply;
use claude_mem_wire::{ErrorCode, LinkSecret, MemberRole, TeamLink, routes};

use crate::support::{TestDevice, TestService, raw_request, record};

fn start_error(options: &ServeOptions) -> StartError {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(RunningServer::start(options)).expect_err("it must not start")
}

#[test]
fn replicas_that_start_together_make_one_schema() {
    for build in rig::postgres::builds() {
        let cluster = build.start();
        let servers: Vec<TestService> = std::thread::scope(|scope| {
            let starting: Vec<_> = (0..3).map(|_| scope.spawn(|| TestService::start(&cluster))).collect();
            starting.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.teams"), "1");
        let mira = servers[0].first_admin();
        let space = mira.project("app").id;
        mira.through(&servers[1]).push(space, &[record(1, 1, "one")]);
        assert_eq!(mira.through(&servers[2]).pull_all(space).len(), 1);
    }
}

/// What a later version may do to the schema: a further migration that only adds.
#[test]
fn older_replica_runs_on_a_newer_schema() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let running = TestService::start(&cluster);
    let mira = running.first_admin();
    let space = mira.project("app").id;
    mira.push(space, &[record(1, 1, "before")]);
    cluster.psql(
        "ALTER TABLE claude_mem.records ADD COLUMN sealed bytea; \
         ALTER TABLE claude_mem.members ADD COLUMN contact text NOT NULL DEFAULT ''; \
         CREATE TABLE claude_mem.vectors (team uuid, uid uuid, parts bytea); \
         ALTER TABLE claude_mem.vectors ENABLE ROW LEVEL SECURITY; \
         ALTER TABLE claude_mem.vectors FORCE ROW LEVEL SECURITY; \
         INSERT INTO claude_mem.schema_versions SELECT max(version) + 1, 0 FROM claude_mem.schema_versions",
    );
    // The replica that runs goes on, and another of its version still starts.
    mira.push(space, &[record(2, 1, "beside")]);
    let started = TestService::start(&cluster);
    mira.through(&started).push(space, &[record(3, 1, "after")]);
    assert_eq!(mira.pull_all(space).len(), 3);
    mira.invite("jonas", MemberRole::Member);
}

#[test]
fn database_that_crashes_is_waited_for() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let mut cluster = build.start();
    let server = TestService::start(&cluster);
    let mira = server.first_admin();
    let space = mira.project("app").id;
    mira.push(space, &[record(1, 1, "one")]);
    cluster.kill();
    // Its processes end one after the other.
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    let (status, error) = loop {
        assert!(std::time::Instant::now() < until, "the database still answers");
        if let Err(refused) = mira.try_push(space, &[record(2, 1, "two")]) {
            break refused;
        }
    };
    assert_eq!((status, error.error), (503, ErrorCode::Unavailable));
    assert!(error.retry_after_seconds.is_some() && !error.message.contains("host"));
    let ready = format!("{}/readyz", server.base());
    assert_eq!(raw_request("GET", &ready, None, None, &[]).0, 503);
    assert_eq!(raw_request("GET", &format!("{}/healthz", server.base()), None, None, &[]).0, 200);
    cluster.start();
    // Connections that died with the server are replaced one by one.
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while mira.try_push(space, &[record(2, 1, "two")]).is_err() {
        assert!(std::time::Instant::now() < until, "the service does not recover");
    }
    assert_eq!(raw_request("GET", &ready, None, None, &[]).0, 200);
    assert_eq!(mira.pull_all(space).len(), 2);
}

#[test]
fn service_ends_with_its_long_polls_answered() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let server = TestService::start(&cluster);
    let mira = server.first_admin();
    let space = mira.project("app").id;
    let url = format!("{}{}", mira.base, routes::WAIT);
    let body = format!("{{\"heads\":{{\"{space}\":0}},\"seconds\":25}}").into_bytes();
    let token = mira.token.clone();
    let waiting = std::thread::spawn(move || raw_request("POST", &url, Some(&token), Some(body), &[]));
    // The poll is there once the service has noted the device's visit.
    let until = std::time::Instant::now() + std::time::Duration::from_mins(1);
    while cluster.psql("SELECT count(*) FROM claude_mem.devices WHERE seen_at IS NOT NULL") == "0" {
        assert!(std::time::Instant::now() < until, "the poll does not arrive");
    }
    drop(server);
    let (status, bytes) = waiting.join().unwrap();
    assert_eq!(status, 200, "{}", String::from_utf8_lossy(&bytes));
}

#[test]
fn first_link_is_made_until_somebody_joined_and_on_request() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let first = TestService::start(&cluster);
    drop(first);
    let second = TestService::start(&cluster);
    let mira = second.first_admin();
    drop(second);
    let third = TestService::start(&cluster);
    assert_eq!(third.admin_link(), None);
    let mira = mira.through(&third);
    let before: MeReply = mira.get(routes::ME).unwrap();

    let mut options = ServeOptions::new(cluster.address());
    options.public_url = Some("https://mem.acme.dev".to_owned());
    let link = TeamLink::parse(&make_admin_link(&options).unwrap()).unwrap();
    assert_eq!(link.base(), "https://mem.acme.dev");
    let LinkSecret::Invite(secret) = link.secret else { panic!("an invite") };
    let rescue = TestDevice::join(&third.base(), secret, "rescue").unwrap();
    assert_eq!(rescue.joined.member.role, MemberRole::Admin);

    assert_eq!(renew_generation(&options).unwrap(), 1);
    let after: MeReply = mira.get(routes::ME).unwrap();
    assert_ne!(after.generation, before.generation);
}

/// The owner of the tables need not be a superuser, and the service need not be the owner.
#[test]
fn plain_owner_and_restricted_login_suffice() {
    for build in rig::postgres::builds() {
        let cluster = build.start();
        cluster.psql(
            "CREATE ROLE keeper LOGIN CREATEROLE; GRANT CREATE ON DATABASE postgres TO keeper; \
             CREATE ROLE weak LOGIN",
        );
        assert!(matches!(
            start_error(&ServeOptions::new(cluster.address_of("weak"))),
            StartError::NoRole { .. }
        ));
        let server = TestService::start_with(&ServeOptions::new(cluster.address_of("keeper")));
        let mira = server.first_admin();
        let space = mira.project("app").id;
        mira.push(space, &[record(1, 1, "one")]);
        // Even the owner sees nothing.
        assert_eq!(cluster.psql("SET ROLE keeper; SELECT count(*) FROM claude_mem.records"), "0");
        cluster.psql("GRANT claude_mem_app TO weak");
        let weak = TestService::start_with(&ServeOptions::new(cluster.address_of("weak")));
        assert_eq!(mira.through(&weak).pull_all(space).len(), 1);
    }
}

#[test]
fn bad_addresses_are_explained() {
    for (address, want) in
        [("postgres://", "it names no user"), ("not a dsn", "the database address is not valid")]
    {
        let error = start_error(&ServeOptions::new(address)).to_string();
        assert!(error.contains(want), "{error}");
    }
    let mut open = ServeOptions::new("host=/nonexistent user=x");
    open.listen = std::net::SocketAddr::from(([0, 0, 0, 0], 0));
    assert!(matches!(start_error(&open), StartError::PlainText));
}
