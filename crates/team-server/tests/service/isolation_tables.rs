//! The isolation matrix, by SQL: every table, for everybody who must see or change nothing.

use claude_mem_team_server::{RunningServer, ServeOptions};

use crate::isolation::{DatabaseLogin, TwoTeams};

const TABLES: [&str; 9] =
    ["teams", "members", "devices", "invites", "spaces", "space_keys", "records", "usage", "audit"];

#[test]
fn no_table_shows_rows_of_others() {
    let Some(teams) = TwoTeams::start(DatabaseLogin::Superuser) else { return };
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
    let Some(teams) = TwoTeams::start(DatabaseLogin::Superuser) else { return };
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
    let Some(teams) = TwoTeams::start(DatabaseLogin::Superuser) else { return };
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

#[test]
fn service_refuses_to_run_without_row_security() {
    let Some(teams) = TwoTeams::start(DatabaseLogin::Superuser) else { return };
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
