//! What administrators and members decide by commands, against the real service on PostgreSQL.

use claude_mem_store::{RowKind, Store};
use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::configure;
use crate::common::hooks::{files_containing, sandbox_with_real_clock};
use crate::common::team_service::RealTeamService;

/// A member's machine that shares the project; no worker runs.
fn join(link: &str, handle: &str, mode: &[&str]) -> Sandbox {
    let home = sandbox_with_real_clock();
    home.git_remote("git@github.com:acme/shop.git");
    configure(&home, &json!({ "provider": "local", "vectors": false }));
    home.mem(&["save", "The project is known"]).ok();
    home.mem(&["team", "join", link, "--handle", handle]).ok();
    home.mem(&[&["team", "share", "--yes"], mode].concat()).ok();
    home.mem(&["worker", "stop"]).ok();
    home
}

fn invited(admin: &Sandbox, handle: &str, mode: &[&str]) -> Sandbox {
    let invite = admin.mem(&["team", "invite", handle, "--json"]).ok().json();
    join(invite["link"].as_str().expect("a link"), handle, mode)
}

fn sync(home: &Sandbox) {
    home.mem(&["team", "sync", "--wait", "60s"]).ok();
}

fn found(home: &Sandbox, words: &[&str]) -> Vec<Value> {
    let found = home.mem(&[&["search"], words, &["--json"]].concat()).ok().json();
    found["results"].as_array().expect("results").clone()
}

fn finds(home: &Sandbox, word: &str) -> bool {
    found(home, &[word]).iter().any(|row| row.to_string().contains(word))
}

#[test]
fn administrator_takes_back_what_a_member_shared() {
    let Some(service) = RealTeamService::start_or_skip() else { return };
    let mira = join(service.admin_link(), "mira", &[]);
    let (jonas, lena) = (invited(&mira, "jonas", &[]), invited(&mira, "lena", &[]));
    for word in ["zanzibarfish", "quaggafish", "okapifish"] {
        jonas.mem(&["save", &format!("Deploys of the shop need the {word} flag")]).ok();
    }
    for home in [&jonas, &mira, &lena] {
        sync(home);
    }
    let id = |home: &Sandbox| found(home, &["zanzibarfish"])[0]["id"].as_str().expect("an id").to_owned();
    let refused = lena.mem(&["forget", &id(&lena), "--for-all"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("only administrators"), "{refused}");
    mira.mem(&["forget", &id(&mira), "--for-all"]).ok();
    for home in [&jonas, &lena] {
        sync(home);
        assert!(!finds(home, "zanzibarfish") && finds(home, "okapifish"));
    }

    let refused = jonas.mem(&["team", "retract", "--member", "mira", "--yes"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("only administrators"), "{refused}");
    let done = mira.mem(&["team", "retract", "--member", "jonas", "--since", "1d", "--yes", "--json"]).ok();
    assert_eq!(done.json()["retracted"], 2);
    for home in [&mira, &jonas, &lena] {
        sync(home);
        assert!(!finds(home, "okapifish"));
    }
    assert_eq!(files_containing(&lena, "okapifish"), Vec::<String>::new());

    mira.mem(&["team", "revoke", "lena", "--yes"]).ok();
    let removed = lena.mem(&["team", "sync", "--wait", "1s"]);
    assert!(removed.code == Some(1) && removed.stderr.contains("removed from the team"), "{removed}");
    let members = mira.mem(&["team", "members", "--json"]).ok().json();
    let left: Vec<(&Value, &Value)> =
        members.as_array().expect("members").iter().map(|line| (&line["handle"], &line["left"])).collect();
    assert_eq!(
        left,
        [(&json!("mira"), &json!(false)), (&json!("jonas"), &json!(false)), (&json!("lena"), &json!(true))]
    );
    let audit = mira.mem(&["team", "audit"]).ok().stdout;
    for action in ["join", "invite", "retract", "revoke"] {
        assert!(audit.contains(action), "{action}: {audit}");
    }
}

#[test]
fn check_finds_what_differs_and_repair_mends_it() {
    let Some(service) = RealTeamService::start_or_skip() else { return };
    let mira = join(service.admin_link(), "mira", &[]);
    let jonas = invited(&mira, "jonas", &[]);
    for word in ["zanzibarfish", "quaggafish"] {
        mira.mem(&["save", &format!("Deploys of the shop need the {word} flag")]).ok();
    }
    sync(&mira);
    sync(&jonas);
    jonas.mem(&["team", "check"]).ok();
    // A mistake of ours, or a damaged file: one record is not known here any more.
    let mut store = Store::open(&jonas.data_dir().join("claude-mem.db")).expect("a store");
    store
        .write(|tx| {
            let space = tx.spaces()?.remove(0).id;
            let shares = tx.shared_rows_after(space, None, 10)?;
            let lost =
                shares.into_iter().find(|share| share.member.is_some() && share.kind == RowKind::Observation);
            let lost = lost.expect("a row of Mira");
            tx.erase_team_row(lost.row().expect("a row"))?;
            tx.remove_shared_row(space, lost.uid)
        })
        .expect("changed");
    store.close().expect("closed");
    let check = jonas.mem(&["team", "check"]);
    assert!(check.code == Some(1) && check.stdout.contains("1 record differ"), "{check}");
    let mended = jonas.mem(&["team", "check", "--repair"]).ok().stdout;
    assert!(mended.contains("hold the same records"), "{mended}");
    assert!(finds(&jonas, "zanzibarfish") && finds(&jonas, "quaggafish"));
}

#[test]
fn receiving_sends_nothing_and_a_muted_member_is_found_only_by_name() {
    let Some(service) = RealTeamService::start_or_skip() else { return };
    let mira = join(service.admin_link(), "mira", &[]);
    let jonas = invited(&mira, "jonas", &["--receive"]);
    jonas.mem(&["save", "Deploys of the shop need the okapifish flag"]).ok();
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    for home in [&jonas, &mira, &jonas, &mira] {
        sync(home);
    }
    assert!(finds(&jonas, "zanzibarfish") && !finds(&mira, "okapifish"));
    assert_eq!(service.cluster.psql("SELECT count(*) FROM claude_mem.records"), "1");

    jonas.mem(&["team", "mute", "mira"]).ok();
    assert!(!finds(&jonas, "zanzibarfish"));
    assert_eq!(found(&jonas, &["who:mira", "zanzibarfish"])[0]["who"], "mira");
    jonas.mem(&["team", "mute", "mira", "--undo"]).ok();
    assert!(finds(&jonas, "zanzibarfish"));
    jonas.mem(&["team", "trust", "mira"]).ok();
    let unknown = jonas.mem(&["team", "trust", "nobody"]);
    assert!(unknown.code == Some(1) && unknown.stderr.contains("no member is called nobody"), "{unknown}");
}
