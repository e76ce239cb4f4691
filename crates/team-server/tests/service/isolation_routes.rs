//! The isolation matrix, by HTTP: every route, for everybody who must see or change nothing, through every kind of
//! login to the database.

use claude_mem_team_server::ServeOptions;
use claude_mem_wire::messages::{
    InviteRequest, MeReply, MemberPatch, PushRequest, RetractRequest, SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{MemberRole, routes};
use rig::postgres::PoolerProcess;

use crate::isolation::{DatabaseLogin, TwoTeams};
use crate::support::{TestService, json, random_token, raw_request, record};

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
    for login in DatabaseLogin::ALL {
        let Some(teams) = TwoTeams::start(login) else { continue };
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
}

#[test]
fn every_route_hides_the_team_from_another() {
    for login in DatabaseLogin::ALL {
        let Some(teams) = TwoTeams::start(login) else { continue };
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
}

#[test]
fn own_space_is_hidden_from_colleagues_on_every_route() {
    for login in DatabaseLogin::ALL {
        let Some(teams) = TwoTeams::start(login) else { continue };
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

/// What each role gets from each route of the team, in the order of [`all_routes`].
#[test]
fn every_route_allows_each_role_what_it_may() {
    for login in DatabaseLogin::ALL {
        let Some(teams) = TwoTeams::start(login) else { continue };
        let reader = teams.mira.invite("rea", MemberRole::Reader);
        let bot = teams.mira.invite("ci", MemberRole::Bot);
        for (device, role, want) in [
            (&reader, "reader", [200, 403, 403, 403, 200, 404, 200, 404, 200, 200, 403, 404, 403, 403]),
            (&bot, "bot", [200, 403, 200, 404, 200, 404, 200, 404, 200, 403, 403, 404, 403, 403]),
            (&teams.jonas, "member", [200, 200, 200, 404, 200, 404, 200, 404, 200, 200, 403, 404, 403, 403]),
        ] {
            let routes = all_routes(&teams);
            assert_eq!(routes.len(), want.len());
            for ((method, path, body), want) in routes.into_iter().zip(want) {
                let url = format!("{}{path}", device.base);
                let (status, bytes) = raw_request(method, &url, Some(&device.token), body, &[]);
                assert_eq!(status, want, "{role}, {login:?}: {method} {path}");
                if path == routes::WAIT {
                    let reply: WaitReply = serde_json::from_slice(&bytes).unwrap();
                    assert!(!reply.changed.contains_key(&teams.mira.own_space().id), "{role}");
                }
            }
        }
    }
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
    let used = cluster.psql("SELECT count(*) <= 3 FROM pg_stat_activity WHERE backend_type = 'client backend' AND application_name <> 'psql'");
    assert_eq!(used, "t", "the pooler was used");
}

fn json_text(value: &impl serde::Serialize) -> String {
    String::from_utf8(json(value)).unwrap()
}
