//! The isolation matrix: every table and every route, for everybody who must see or change nothing.

use claude_mem_team_server::{RunningServer, ServeOptions};
use claude_mem_wire::messages::{
    InviteRequest, MeReply, MemberPatch, PushRequest, RetractRequest, SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{MemberRole, routes};
use rig::postgres::{PoolerProcess, PostgresCluster};

use crate::support::{TestDevice, TestService, json, random_token, raw_request, record};

/// Two teams on one database, with rows in every table.
struct TwoTeams {
    cluster: PostgresCluster,
    acme: TestService,
    _other: TestService,
    mira: TestDevice,
    jonas: TestDevice,
    stranger: TestDevice,
}

impl TwoTeams {
    fn start() -> Option<Self> {
        let cluster = rig::postgres::newest_or_skip()?.start();
        let acme = TestService::start(&cluster);
        let mira = acme.first_admin();
        let jonas = mira.invite("jonas", MemberRole::Member);
        let other = TestService::start_with(&ServeOptions {
            team: "other".to_owned(),
            ..ServeOptions::new(cluster.address())
        });
        let stranger = other.first_admin();
        for (start, device) in [(1, &mira), (11, &jonas), (21, &stranger)] {
            device.push(device.project("app").id, &[record(start, 1, "shared")]);
            device.push(device.own_space().id, &[record(start + 1, 1, "own")]);
        }
        Some(Self { cluster, acme, _other: other, mira, jonas, stranger })
    }

    /// Runs statements as the service would for somebody, and returns what they print. Everything is rolled
    /// back. The session is the superuser's, as with a superuser in `--database`.
    fn sql_as(&self, team: &str, member: &str, role: &str, sql: &str) -> String {
        self.cluster.psql(&format!(
            "BEGIN; SET LOCAL ROLE claude_mem_app; \
             SELECT set_config('claude_mem.team', '{team}', true) IS NULL \
                 OR set_config('claude_mem.member', '{member}', true) IS NULL \
                 OR set_config('claude_mem.role', '{role}', true) IS NULL \\g /dev/null\n\
             {sql}; ROLLBACK;"
        ))
    }

    /// Whether the statement fails or touches no row.
    fn changes_nothing(&self, team: &str, member: &str, role: &str, sql: &str) -> bool {
        let counted = format!("WITH done AS ({sql} RETURNING 1) SELECT count(*) FROM done");
        let attempt = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            self.sql_as(team, member, role, &counted)
        }));
        attempt.map_or(true, |count| count == "0")
    }
}

const TABLES: [&str; 9] =
    ["teams", "members", "devices", "invites", "spaces", "space_keys", "records", "usage", "audit"];

#[test]
fn no_table_shows_rows_of_others() {
    let Some(teams) = TwoTeams::start() else { return };
    let acme = teams.mira.joined.team.id.to_string();
    let other = teams.stranger.joined.team.id.to_string();
    let mira = teams.mira.joined.member.id.to_string();
    let stranger = teams.stranger.joined.member.id.to_string();
    let nobody = uuid::Uuid::now_v7().to_string();
    for table in TABLES {
        let filter = if table == "teams" { "id" } else { "team" };
        let all =
            teams.cluster.psql(&format!("SELECT count(*) FROM claude_mem.{table} WHERE {filter} = '{acme}'"));
        assert_ne!(all, "0", "{table} has rows to hide");
        let count = format!("SELECT count(*) FROM claude_mem.{table} WHERE {filter} = '{acme}'");
        for (team, member, role, who) in [
            ("", "", "", "nobody"),
            ("", mira.as_str(), "admin", "a member without a team"),
            (other.as_str(), stranger.as_str(), "admin", "another team"),
            (other.as_str(), mira.as_str(), "admin", "her id in another team"),
            (nobody.as_str(), nobody.as_str(), "admin", "a team that does not exist"),
        ] {
            assert_eq!(teams.sql_as(team, member, role, &count), "0", "{who} sees {table}");
        }
        let everything = format!("SELECT count(*) FROM claude_mem.{table}");
        assert_eq!(teams.sql_as("", "", "", &everything), "0", "{table} without settings");
    }
}

#[test]
fn own_spaces_and_secrets_are_hidden_inside_a_team() {
    let Some(teams) = TwoTeams::start() else { return };
    let team = teams.mira.joined.team.id.to_string();
    let (mira, jonas) = (teams.mira.joined.member.id.to_string(), teams.jonas.joined.member.id.to_string());
    let see = |member: &str, role: &str, what: &str| {
        teams.sql_as(&team, member, role, &format!("SELECT count(*) FROM claude_mem.{what}"))
    };
    for (who, role) in [(&mira, "admin"), (&jonas, "member"), (&jonas, "reader"), (&jonas, "bot")] {
        assert_eq!(see(who, role, &format!("records WHERE owner <> '{who}'")), "0");
        assert_eq!(see(who, role, &format!("spaces WHERE owner <> '{who}'")), "0");
        assert_eq!(see(who, role, &format!("usage WHERE member <> '{who}'")), "0");
    }
    for role in ["member", "reader", "bot"] {
        assert_eq!(see(&jonas, role, &format!("devices WHERE member <> '{jonas}'")), "0");
        assert_eq!(see(&jonas, role, "invites"), "0");
        assert_eq!(see(&jonas, role, "audit"), "0");
    }
}

#[test]
fn no_table_takes_changes_of_others() {
    let Some(teams) = TwoTeams::start() else { return };
    let team = teams.mira.joined.team.id.to_string();
    let other = teams.stranger.joined.team.id.to_string();
    let (mira, jonas) = (teams.mira.joined.member.id.to_string(), teams.jonas.joined.member.id.to_string());
    let stranger = teams.stranger.joined.member.id.to_string();
    let app = teams.mira.project("app").id;
    let hers = teams.mira.own_space().id;
    let insert = |author: &str, space: &dyn std::fmt::Display, owner: &str| {
        format!(
            "INSERT INTO claude_mem.records (team, uid, space, owner, seq, kind, format, author, device, rev, hash, \
             gone, body, made_at, received_at) VALUES ('{team}', '{}', '{space}', {owner}, 900, 1, 1, '{author}', \
             '{author}', 1, '\\x00', false, '{{}}', 0, 0)",
            uuid::Uuid::now_v7()
        )
    };
    let own = format!("'{mira}'");
    // What is allowed shows that the statements themselves are right.
    assert!(!teams.changes_nothing(&team, &jonas, "member", &insert(&jonas, &app, "NULL")));
    assert!(!teams.changes_nothing(&team, &mira, "member", &insert(&mira, &hers, &own)));
    for (who, role, sql, why) in [
        (&jonas, "member", insert(&mira, &app, "NULL"), "a forged author"),
        (&jonas, "reader", insert(&jonas, &app, "NULL"), "a reader"),
        (&jonas, "", insert(&jonas, &app, "NULL"), "no role"),
        (&jonas, "member", insert(&jonas, &hers, &own), "another's own space"),
        (&jonas, "member", insert(&jonas, &hers, "NULL"), "another's own space as the team's"),
        (&mira, "admin", insert(&mira, &hers, "NULL"), "a record open to all in the own space"),
        (&jonas, "member", format!("UPDATE claude_mem.records SET body = 'x' WHERE author = '{mira}'"), "an edit"),
        (&mira, "admin", format!("UPDATE claude_mem.records SET body = 'x' WHERE author = '{jonas}'"), "an edit by the administrator"),
        (&jonas, "member", "UPDATE claude_mem.members SET role = 'admin'".to_owned(), "a promotion"),
        (&jonas, "member", format!("UPDATE claude_mem.devices SET revoked_at = 1 WHERE member = '{mira}'"), "a revocation"),
        (&jonas, "member", format!("INSERT INTO claude_mem.invites (team, id, secret_hash, role, made_by, created_at, expires_at) VALUES ('{team}', '{mira}', '\\x01', 'admin', '{jonas}', 0, 0)"), "an invite"),
        (&jonas, "member", format!("INSERT INTO claude_mem.audit (team, id, at, member, action, subject) VALUES ('{team}', '{mira}', 0, '{mira}', 'x', 'x')"), "a forged audit entry"),
        (&jonas, "member", format!("INSERT INTO claude_mem.members (team, id, handle, name, role, created_at) VALUES ('{team}', '{jonas}', 'x', 'x', 'member', 0)"), "a member without an invite"),
        (&jonas, "reader", format!("INSERT INTO claude_mem.spaces (team, id, name, head, live, digest, created_at) VALUES ('{team}', '{mira}', 'x', 0, 0, 0, 0)"), "a space by a reader"),
        (&jonas, "member", "INSERT INTO claude_mem.teams (id, name, generation, created_at) VALUES ('00000000-0000-0000-0000-000000000001', 'x', '00000000-0000-0000-0000-000000000001', 0)".to_owned(), "a team"),
        (&jonas, "member", "UPDATE claude_mem.teams SET generation = id".to_owned(), "a generation"),
    ] {
        assert!(teams.changes_nothing(&team, who, role, &sql), "{why}");
    }
    for table in TABLES {
        for (team, member) in [(&team, &mira), (&other, &stranger)] {
            let sql = format!("DELETE FROM claude_mem.{table}");
            assert!(teams.changes_nothing(team, member, "admin", &sql), "{table}");
        }
    }
    for table in ["teams", "members", "devices", "invites", "spaces", "records", "usage"] {
        let column = match table {
            "teams" => "generation = generation",
            "members" => "name = name",
            "devices" => "revoked_at = 5",
            "invites" => "used_at = 5",
            "spaces" => "head = head",
            "records" => "seq = seq + 1000",
            _ => "records = 0",
        };
        let sql = format!(
            "UPDATE claude_mem.{table} SET {column} WHERE {} = '{team}'",
            if table == "teams" { "id" } else { "team" }
        );
        assert!(teams.changes_nothing(&other, &stranger, "admin", &sql), "another team changes {table}");
        assert!(teams.changes_nothing("", "", "", &sql), "nobody changes {table}");
    }
}

/// Every route with a body that would succeed for a member of the team.
fn all_routes(teams: &TwoTeams) -> Vec<(&'static str, String, Option<Vec<u8>>)> {
    let (app, hers) = (teams.mira.project("app").id, teams.mira.own_space().id);
    let (member, device) = (teams.mira.joined.member.id, teams.mira.joined.device);
    let push = json(&PushRequest { records: vec![record(500, 1, "intruder")] });
    let patch = MemberPatch { name: Some("Changed".to_owned()), ..MemberPatch::default() };
    vec![
        ("GET", routes::ME.to_owned(), None),
        ("POST", routes::SPACES.to_owned(), Some(json(&SpaceRequest::Own))),
        ("POST", routes::push_path(app), Some(push.clone())),
        ("POST", routes::push_path(hers), Some(push)),
        ("GET", format!("{}?after=0", routes::records_path(app)), None),
        ("GET", format!("{}?after=0", routes::records_path(hers)), None),
        ("GET", routes::names_path(app), None),
        ("GET", routes::names_path(hers), None),
        (
            "POST",
            routes::WAIT.to_owned(),
            Some(json(&WaitRequest { heads: [(app, 0), (hers, 0)].into(), seconds: 0 })),
        ),
        ("POST", routes::INVITES.to_owned(), Some(json(&InviteRequest::Me))),
        ("PATCH", routes::member_path(member), Some(json(&patch))),
        ("DELETE", routes::device_path(device), None),
        ("POST", routes::RETRACT.to_owned(), Some(json(&RetractRequest { member, space: None, since: 0 }))),
        ("GET", routes::AUDIT.to_owned(), None),
    ]
}

#[test]
fn every_route_refuses_those_without_a_token() {
    let Some(teams) = TwoTeams::start() else { return };
    let revoked = teams.mira.invite("gone", MemberRole::Admin);
    let path = routes::member_path(revoked.joined.member.id);
    let patch = MemberPatch { revoked: true, ..MemberPatch::default() };
    teams.mira.send::<claude_mem_wire::messages::MemberInfo>("PATCH", &path, &patch).unwrap();
    let unknown = random_token();
    for (method, path, body) in all_routes(&teams) {
        let url = format!("{}{path}", teams.acme.base());
        for (token, who) in
            [(None, "no token"), (Some(&unknown), "unknown"), (Some(&revoked.token), "revoked")]
        {
            let (status, bytes) = raw_request(method, &url, token, body.clone(), &[]);
            // After many failures the address is slowed down.
            assert!(status == 401 || status == 429, "{who}: {method} {path} gave {status}");
            assert!(!String::from_utf8_lossy(&bytes).contains("shared"));
        }
    }
    assert_eq!(
        teams.cluster.psql("SELECT count(*) FROM claude_mem.records WHERE body LIKE '%intruder%'"),
        "0"
    );
    assert!(teams.mira.get::<MeReply>(routes::ME).is_ok(), "her device still works");
}

#[test]
fn every_route_hides_the_team_from_another() {
    let Some(teams) = TwoTeams::start() else { return };
    let before = teams.mira.pull_all(teams.mira.project("app").id);
    let stranger = &teams.stranger;
    for (method, path, body) in all_routes(&teams) {
        let url = format!("{}{path}", stranger.base);
        let (status, bytes) = raw_request(method, &url, Some(&stranger.token), body, &[]);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        assert!(!text.contains(&teams.mira.joined.member.id.to_string()), "{method} {path}: {text}");
        let is_about_self = [routes::ME, routes::SPACES, routes::WAIT, routes::INVITES, routes::AUDIT]
            .contains(&path.as_str());
        assert_eq!(status == 404, !is_about_self, "{method} {path} gave {status}");
        if path == routes::WAIT {
            assert!(serde_json::from_slice::<WaitReply>(&bytes).unwrap().changed.is_empty());
        }
    }
    assert_eq!(teams.mira.pull_all(teams.mira.project("app").id), before, "nothing has changed");
}

#[test]
fn own_space_is_hidden_from_colleagues_on_every_route() {
    let Some(teams) = TwoTeams::start() else { return };
    let hers = teams.mira.own_space().id.to_string();
    for (method, path, body) in all_routes(&teams) {
        if path.contains(&hers) {
            let url = format!("{}{path}", teams.jonas.base);
            let (status, _) = raw_request(method, &url, Some(&teams.jonas.token), body, &[]);
            assert_eq!(status, 404, "{method} {path}");
        }
    }
    assert!(!json_text(&teams.jonas.get::<MeReply>(routes::ME).unwrap()).contains(&hers));
}

#[test]
fn other_protocols_are_refused_on_every_route_but_hello() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let server = TestService::start(&cluster);
    for (path, want) in [(routes::HELLO, 200), (routes::ME, 426), (routes::AUDIT, 426), ("/healthz", 200)] {
        let reply = crate::support::agent().get(&format!("{}{path}", server.base())).call().unwrap();
        assert_eq!(reply.status().as_u16(), want, "{path}");
    }
    let (status, _) = raw_request("GET", &format!("{}/v1/nothing", server.base()), None, None, &[]);
    assert_eq!(status, 404);
}

/// Two teams share three connections through a pooler, which hands each transaction another one.
#[test]
fn teams_stay_apart_behind_a_pooler() {
    let Some(build) = rig::postgres::newest_or_skip() else { return };
    let cluster = build.start();
    let Some(pooler) = PoolerProcess::start_or_skip(&cluster) else { return };
    let services = ["acme", "other"].map(|team| {
        TestService::start_with(&ServeOptions {
            team: team.to_owned(),
            ..ServeOptions::new(pooler.address())
        })
    });
    std::thread::scope(|scope| {
        for (first, service) in [(1_000_u128, &services[0]), (2_000, &services[1])] {
            let admin = service.first_admin();
            let space = admin.project("app").id;
            for writer in 0..3 {
                let device = admin.invite(&format!("w{writer}"), MemberRole::Member);
                scope.spawn(move || {
                    for round in 0..8 {
                        let number = first + writer * 100 + round;
                        let reply = device.push(space, &[record(number, 1, &first.to_string())]);
                        assert_eq!(reply.outcomes[0].refused, None);
                        let page = device.page(space, "after=0");
                        let own = |text: &str| text.contains(&first.to_string());
                        assert!(
                            page.records.iter().all(|pulled| own(pulled
                                .record
                                .body
                                .as_ref()
                                .unwrap()
                                .as_str()))
                        );
                    }
                });
            }
        }
    });
    assert_eq!(cluster.psql("SELECT count(*) FROM claude_mem.records"), "48");
    let used = cluster.psql("SELECT count(*) <= 3 FROM pg_stat_activity WHERE backend_type = 'client backend' AND pid <> pg_backend_pid()");
    assert_eq!(used, "t", "the pooler was used");
}

fn json_text(value: &impl serde::Serialize) -> String {
    String::from_utf8(json(value)).unwrap()
}

#[test]
fn service_refuses_to_run_without_row_security() {
    let Some(teams) = TwoTeams::start() else { return };
    let start = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let options = ServeOptions::new(teams.cluster.address());
        runtime.block_on(async {
            match RunningServer::start(&options).await {
                Ok(server) => {
                    server.stop().await;
                    None
                }
                Err(error) => Some(error.to_string()),
            }
        })
    };
    assert_eq!(start(), None);
    for (breaks, mends, want) in [
        (
            "ALTER TABLE claude_mem.records NO FORCE ROW LEVEL SECURITY",
            "ALTER TABLE claude_mem.records FORCE ROW LEVEL SECURITY",
            "the table records is not protected",
        ),
        (
            "ALTER TABLE claude_mem.usage DISABLE ROW LEVEL SECURITY",
            "ALTER TABLE claude_mem.usage ENABLE ROW LEVEL SECURITY",
            "the table usage is not protected",
        ),
        (
            "CREATE POLICY open ON claude_mem.spaces FOR SELECT USING (true)",
            "DROP POLICY open ON claude_mem.spaces",
            "sees rows of the table spaces",
        ),
        (
            "GRANT DELETE ON claude_mem.audit TO claude_mem_app",
            "REVOKE DELETE ON claude_mem.audit FROM claude_mem_app",
            "rows of the table audit can be deleted",
        ),
        (
            "ALTER ROLE claude_mem_app BYPASSRLS",
            "ALTER ROLE claude_mem_app NOBYPASSRLS",
            "privileges of its own",
        ),
        (
            "GRANT pg_read_all_data TO claude_mem_app",
            "REVOKE pg_read_all_data FROM claude_mem_app",
            "member of another role",
        ),
    ] {
        teams.cluster.psql(breaks);
        let error = start().unwrap_or_else(|| panic!("it ran after {breaks}"));
        assert!(error.contains(want) && error.contains("refusing to run"), "{error}");
        teams.cluster.psql(mends);
    }
    assert_eq!(start(), None);
}
