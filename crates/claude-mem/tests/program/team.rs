//! Two people with a home each share a project: hooks, workers and commands as users have them, against a
//! team's server on loopback.

use std::os::unix::fs::PermissionsExt as _;

use claude_mem_wire::MemberRole;
use rig::Sandbox;
use serde_json::{Value, json};

use crate::common::configure;
use crate::common::hooks::sandbox_with_real_clock;
use crate::common::team_server::{Misbehaviour, TeamServerStub};
use crate::common::turns::eventually;

const REMOTE: &str = "git@github.com:acme/shop.git";
const QUESTION: &str =
    "Customers complain about invoices: the cents look truncated, check the rounding of invoices";

fn hook(home: &Sandbox, event: &str, session: &str, more: &Value) -> String {
    let mut payload = json!({ "session_id": session, "cwd": home.project(), "hook_event_name": event });
    for (name, value) in more.as_object().expect("fields") {
        payload[name] = value.clone();
    }
    let output = home.mem_with(&["hook", "claude-code", event], payload.to_string()).ok();
    let answer: Value = serde_json::from_str(&output.stdout).expect("an answer");
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap_or_default().to_owned()
}

/// A person's machine with a checkout of the project.
fn machine() -> Sandbox {
    let home = sandbox_with_real_clock();
    home.git_remote(REMOTE);
    home.git_branch("fix/rounding");
    configure(&home, &json!({ "provider": "local", "vectors": false }));
    home
}

fn say(home: &Sandbox, session: &str, asked: &str, answered: &str) {
    hook(home, "UserPromptSubmit", session, &json!({ "prompt": asked }));
    hook(home, "Stop", session, &json!({ "last_assistant_message": answered }));
}

/// A first turn, so that the project is known.
fn begin(home: &Sandbox) {
    say(home, "first", "Hello, list the files", "There are three files.");
    home.mem(&["worker", "run", "--until-drained"]).ok();
}

fn decide(home: &Sandbox, session: &str) {
    say(
        home,
        session,
        "The totals of our invoices are off by a cent",
        "I could truncate the totals of invoices to whole cents. Shall I?",
    );
    say(
        home,
        session,
        "No, always round invoices up to whole cents with ceil, never truncated, because auditors complained",
        "Understood: invoices are rounded up to whole cents with ceil.",
    );
    home.mem(&["worker", "run", "--until-drained"]).ok();
}

fn join(home: &Sandbox, server: &TeamServerStub, handle: &str, role: MemberRole) {
    let link = server.invite(handle, role);
    home.mem(&["team", "join", &link]).ok();
}

fn share(home: &Sandbox, more: &[&str]) {
    home.mem(&[&["team", "share", "--yes"], more].concat()).ok();
}

fn sync(home: &Sandbox) -> Value {
    let output = home.mem(&["team", "sync", "--wait", "60s", "--json"]).ok();
    serde_json::from_str(&output.stdout).expect("JSON")
}

fn holds(home: &Sandbox, text: &str) -> bool {
    ["claude-mem.db", "claude-mem.db-wal"].iter().any(|name| {
        let bytes = std::fs::read(home.data_dir().join(name)).unwrap_or_default();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    })
}

/// Mira and Jonas, joined and sharing; no worker runs.
fn two_machines(server: &TeamServerStub) -> (Sandbox, Sandbox) {
    let (mira, jonas) = (machine(), machine());
    for (home, handle, role) in [(&mira, "mira", MemberRole::Admin), (&jonas, "jonas", MemberRole::Member)] {
        begin(home);
        join(home, server, handle, role);
        share(home, &[]);
        home.mem(&["worker", "stop"]).ok();
    }
    (mira, jonas)
}

#[test]
fn colleague_is_told_the_decision_with_the_name_and_forgets_it_with_its_author() {
    let server = TeamServerStub::start();
    let (mira, jonas) = two_machines(&server);
    decide(&mira, "talk");
    assert!(sync(&mira)["sent"].as_u64().unwrap() > 0);
    assert!(sync(&jonas)["received"].as_u64().unwrap() > 0);
    let told = hook(&jonas, "UserPromptSubmit", "later", &json!({ "prompt": QUESTION }));
    assert!(told.contains("Mira's words") && told.contains("ceil"), "{told}");
    assert!(!told.contains("the user said"), "{told}");
    let start = hook(&jonas, "SessionStart", "new", &json!({ "source": "startup" }));
    assert!(
        start.contains("## From the team") && start.contains("Mira's last session on this branch"),
        "{start}"
    );
    let found: Value =
        serde_json::from_str(&jonas.mem(&["search", "who:mira", "invoices", "ceil", "--json"]).ok().stdout)
            .unwrap();
    assert_eq!(found["results"][0]["who"], "Mira", "{found:#}");
    // Nothing of the conversation itself left Mira's machine.
    let sent = format!("{:?}", server.data.lock().records);
    assert!(!sent.contains("off by a cent") && !sent.contains("Hello, list"), "{sent}");
    assert!(holds(&jonas, "auditors complained"));

    let mine: Value =
        serde_json::from_str(&mira.mem(&["search", "invoices", "ceil", "--json"]).ok().stdout).unwrap();
    for row in mine["results"].as_array().unwrap() {
        let id = row["id"].as_str().unwrap();
        if id.starts_with(['#', 'A']) {
            mira.mem(&["forget", id]).ok();
        }
    }
    sync(&mira);
    sync(&jonas);
    let told = hook(&jonas, "UserPromptSubmit", "even later", &json!({ "prompt": QUESTION }));
    assert!(!told.contains("ceil"), "{told}");
    assert!(!holds(&jonas, "auditors complained"), "the text is still in a file");
}

#[test]
fn running_workers_tell_each_other_by_themselves() {
    let server = TeamServerStub::start();
    let (mira, jonas) = two_machines(&server);
    for home in [&mira, &jonas] {
        home.mem(&["worker", "start"]).ok();
    }
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    eventually("the note reaches Jonas", || {
        jonas.mem(&["search", "zanzibarfish"]).stdout.contains("Mira: Deploys of the shop")
    });
    let status = jonas.mem(&["team", "status"]).ok().stdout;
    assert!(status.contains("acme"), "{status}");
    server.revoke("jonas");
    eventually("a removed machine purges", || {
        !jonas.mem(&["search", "zanzibarfish"]).stdout.contains("Mira:")
    });
    eventually("no byte is left", || !holds(&jonas, "zanzibarfish"));
    assert!(!jonas.data_dir().join("team.json").exists());
    for home in [&mira, &jonas] {
        home.mem(&["worker", "stop"]).ok();
    }
}

#[test]
fn project_shared_while_the_worker_runs_is_received_at_once() {
    let server = TeamServerStub::start();
    let (mira, jonas) = (machine(), machine());
    for (home, handle) in [(&mira, "mira"), (&jonas, "jonas")] {
        begin(home);
        join(home, &server, handle, MemberRole::Admin);
        home.mem(&["worker", "start"]).ok();
    }
    eventually("both have met the server", || {
        [&mira, &jonas].iter().all(|home| {
            let status = home.mem(&["team", "status", "--json"]).ok().json();
            status["health"]["last_ok"].is_i64()
        })
    });
    share(&jonas, &[]);
    share(&mira, &[]);
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    eventually("the note reaches Jonas", || jonas.mem(&["search", "zanzibarfish"]).stdout.contains("Mira:"));
    for home in [&mira, &jonas] {
        home.mem(&["worker", "stop"]).ok();
    }
}

#[test]
fn share_shows_a_preview_and_changes_nothing_without_consent() {
    let server = TeamServerStub::start();
    let mira = machine();
    begin(&mira);
    decide(&mira, "talk");
    join(&mira, &server, "mira", MemberRole::Admin);
    mira.mem(&["worker", "stop"]).ok();
    let preview = mira.mem(&["team", "share", "--dry-run"]).ok().stdout;
    assert!(preview.contains("github.com/acme/shop") && preview.contains("(your words)"), "{preview}");
    assert!(preview.contains("Never: prompts, replies, preferences"), "{preview}");
    let refused = mira.mem(&["team", "share"]);
    assert!(refused.stderr.contains("confirm with --yes"), "{refused}");
    assert!(server.data.lock().records.is_empty());
    share(&mira, &[]);
    assert_eq!(sync(&mira)["sent"], 0, "what was there before stays");
    share(&mira, &["--history"]);
    sync(&mira);
    assert!(!server.data.lock().records.is_empty());
    // The token is the owner's alone.
    let mode = std::fs::metadata(mira.data_dir().join("team.json")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn new_colleague_begins_with_what_others_know() {
    let server = TeamServerStub::start();
    let (mira, _) = two_machines(&server);
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    sync(&mira);
    // A fresh clone on a fresh machine: nothing is remembered of it.
    let lena = machine();
    join(&lena, &server, "lena", MemberRole::Member);
    lena.mem(&["worker", "stop"]).ok();
    let preview = lena.mem(&["team", "share", "--dry-run"]).ok().stdout;
    assert!(preview.contains("github.com/acme/shop") && !preview.contains("--history"), "{preview}");
    share(&lena, &[]);
    lena.mem(&["worker", "stop"]).ok();
    sync(&lena);
    assert!(lena.mem(&["search", "zanzibarfish"]).ok().stdout.contains("Mira:"));
}

/// Two machines in step, each with a note of its own.
fn two_machines_with_notes(server: &TeamServerStub) -> (Sandbox, Sandbox) {
    let (mira, jonas) = two_machines(server);
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    jonas.mem(&["save", "Jonas keeps the quaggafish list"]).ok();
    sync(&mira);
    sync(&jonas);
    (mira, jonas)
}

#[test]
fn project_is_shared_as_another_repository_only_after_it_was_taken_back() {
    let server = TeamServerStub::start();
    let (_mira, jonas) = two_machines_with_notes(&server);
    let other = ["team", "share", "--as", "https://github.com/acme/fork.git", "--yes"];
    for before in [&["team", "status"][..], &["team", "unshare"]] {
        jonas.mem(before).ok();
        let refused = jonas.mem(&other);
        assert_eq!(refused.code, Some(1), "{refused}");
        assert!(refused.stderr.contains("team unshare --retract"), "{refused}");
    }
    jonas.mem(&["team", "unshare", "--retract", "--yes"]).ok();
    jonas.mem(&other).ok();
    jonas.mem(&["worker", "stop"]).ok();
    assert_eq!(sync(&jonas)["in_step"], true);
    assert!(!jonas.mem(&["search", "zanzibarfish"]).stdout.contains("Mira"), "it belongs to the other space");
    assert!(jonas.mem(&["search", "quaggafish"]).ok().stdout.contains("quaggafish"));
}

#[test]
fn leaving_removes_what_others_shared_and_keeps_ones_own() {
    let server = TeamServerStub::start();
    let (mira, jonas) = two_machines_with_notes(&server);
    assert!(jonas.mem(&["search", "zanzibarfish"]).ok().stdout.contains("Mira"));
    jonas.mem(&["team", "leave", "--yes"]).ok();
    assert!(!holds(&jonas, "zanzibarfish"));
    assert!(jonas.mem(&["search", "quaggafish"]).ok().stdout.contains("quaggafish"));
    assert!(jonas.mem(&["team", "status"]).ok().stdout.contains("no team"));
    sync(&mira);
    assert!(mira.mem(&["search", "quaggafish"]).ok().stdout.contains("Jonas"), "it stays with the team");
}

#[test]
fn review_queue_holds_each_row_until_the_user_decides() {
    let server = TeamServerStub::start();
    let mira = machine();
    begin(&mira);
    join(&mira, &server, "mira", MemberRole::Admin);
    share(&mira, &["--review"]);
    mira.mem(&["worker", "stop"]).ok();
    for text in ["Deploys need the zanzibarfish flag", "Only for me: quaggafish"] {
        mira.mem(&["save", text]).ok();
    }
    mira.mem(&["team", "sync"]).ok();
    let waiting: Value = serde_json::from_str(&mira.mem(&["team", "review", "--json"]).ok().stdout).unwrap();
    let rows = waiting["waiting"].as_array().unwrap();
    let id = |word: &str| {
        let row = rows.iter().find(|row| row["title"].as_str().unwrap().contains(word));
        row.expect("it waits")["id"].as_str().unwrap().to_owned()
    };
    mira.mem(&["team", "review", "--share", &id("zanzibarfish")]).ok();
    mira.mem(&["team", "review", "--keep", &id("quaggafish")]).ok();
    sync(&mira);
    let sent = format!("{:?}", server.data.lock().records);
    assert!(sent.contains("zanzibarfish") && !sent.contains("quaggafish"), "{sent}");
}

#[test]
fn hostile_server_harms_no_client() {
    let server = TeamServerStub::start();
    let (mira, jonas) = two_machines(&server);
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    sync(&mira);
    for how in [
        Misbehaviour::Redirect,
        Misbehaviour::WrongHashes,
        Misbehaviour::EndlessPages,
        Misbehaviour::EndlessBody,
        Misbehaviour::Garbage,
        Misbehaviour::GzipBomb,
    ] {
        server.misbehave(how);
        let output = jonas.mem(&["team", "sync", "--wait", "1s"]);
        assert_ne!(output.code, Some(0), "{how:?}: {output}");
        assert_ne!(output.code, None, "{how:?}: {output}");
        assert!(!jonas.mem(&["search", "Forged"]).stdout.contains("Forged Deploys"), "{how:?}");
        // Memory works as ever.
        hook(&jonas, "UserPromptSubmit", "later", &json!({ "prompt": QUESTION }));
        jonas.mem(&["search", "files"]).ok();
    }
    server.misbehave(Misbehaviour::None);
    assert_eq!(sync(&jonas)["in_step"], true);
    assert!(jonas.mem(&["search", "zanzibarfish"]).ok().stdout.contains("Mira"));
}

/// The server takes connections and never answers: nobody but the worker's own thread waits for it.
#[test]
fn silent_server_holds_up_neither_hooks_nor_commands_nor_the_end_of_the_worker() {
    let server = TeamServerStub::start();
    let (_, jonas) = two_machines(&server);
    server.misbehave(Misbehaviour::Silent);
    jonas.mem(&["worker", "start"]).ok();
    jonas.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    // The worker has begun a round when the server has its request.
    eventually("a request of the worker", || server.is_kept_waiting());
    hook(&jonas, "SessionStart", "later", &json!({ "source": "startup" }));
    hook(&jonas, "UserPromptSubmit", "later", &json!({ "prompt": QUESTION }));
    assert!(jonas.mem(&["search", "zanzibarfish"]).ok().stdout.contains("Deploys"));
    jonas.mem(&["team", "status"]).ok();
    jonas.mem(&["worker", "stop"]).ok();
}

#[test]
fn plain_http_to_another_machine_is_refused() {
    let mira = machine();
    let link = format!("http://mem.example.com:7700/#i.{}", "ab".repeat(16));
    let output = mira.mem(&["team", "join", &link]);
    assert_eq!(output.code, Some(64), "{output}");
    assert!(output.stderr.contains("https://"), "{output}");
}

#[test]
fn token_in_the_environment_serves_ci() {
    let server = TeamServerStub::start();
    let (mira, _) = two_machines(&server);
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    sync(&mira);
    let invite = mira.mem(&["team", "invite", "ci", "--role", "bot", "--json"]).ok().stdout;
    let invite: Value = serde_json::from_str(&invite).unwrap();
    let link = mira.mem(&["team", "join", invite["link"].as_str().unwrap(), "--for-ci"]).ok().stdout;
    let mut ci = machine();
    ci.set_env("CLAUDE_MEM_TEAM", link.trim());
    let synced = ci.mem(&["team", "sync", "--recent", "2000", "--wait", "60s", "--json"]).ok().stdout;
    let synced: Value = serde_json::from_str(&synced).unwrap();
    assert!(synced["received"].as_u64().unwrap() > 0, "{synced:#}");
    assert!(ci.mem(&["search", "zanzibarfish"]).ok().stdout.contains("Mira"));
    assert!(!ci.data_dir().join("team.json").exists());
}

#[test]
fn variable_of_a_session_names_no_team_to_the_worker() {
    let (server, foreign) = (TeamServerStub::start(), TeamServerStub::start());
    let (mira, mut jonas) = two_machines(&server);
    decide(&mira, "talk");
    sync(&mira);
    assert!(sync(&jonas)["received"].as_u64().unwrap() > 0);
    // A server that calls every token revoked made a worker erase what others had shared.
    jonas.set_env("CLAUDE_MEM_TEAM", format!("{}/#t.{}", foreign.base, "ab".repeat(32)));
    hook(&jonas, "SessionStart", "evil", &json!({ "source": "startup" }));
    jonas.mem(&["worker", "start"]).ok();
    let begun = server.requests();
    eventually("the worker speaks to its own team", || server.requests() > begun);
    jonas.mem(&["worker", "stop"]).ok();
    assert_eq!(foreign.requests(), 0);
    let refused = jonas.mem(&["team", "sync", "--wait", "1s"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(refused.stderr.contains("CLAUDE_MEM_TEAM") && refused.stderr.contains(&server.base), "{refused}");
    assert_eq!(foreign.requests(), 0);
    assert!(jonas.mem(&["search", "ceil"]).ok().stdout.contains("Mira"), "nothing was erased");
    let status = jonas.mem(&["status", "--json"]).ok().json();
    assert_eq!(status["team"]["address"], server.base.as_str(), "{status:#}");
    assert_eq!(status["team"]["handle"], "jonas");
    assert!(jonas.mem(&["status"]).ok().stdout.contains(&format!("at {}", server.base)));
}

#[test]
fn revoked_token_of_the_environment_erases_nothing() {
    let server = TeamServerStub::start();
    let (mira, _) = two_machines(&server);
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    sync(&mira);
    let mut ci = machine();
    let link = ci.mem(&["team", "join", &server.invite("ci", MemberRole::Bot), "--for-ci"]).ok().stdout;
    ci.set_env("CLAUDE_MEM_TEAM", link.trim());
    sync(&ci);
    server.revoke("ci");
    let refused = ci.mem(&["team", "sync", "--wait", "1s"]);
    assert_eq!(refused.code, Some(1), "{refused}");
    assert!(ci.mem(&["search", "zanzibarfish"]).ok().stdout.contains("Mira"));
}

#[test]
fn removed_machine_is_purged_without_a_worker() {
    let server = TeamServerStub::start();
    let (_mira, jonas) = two_machines_with_notes(&server);
    assert!(holds(&jonas, "zanzibarfish"));
    server.revoke("jonas");
    let removed = jonas.mem(&["team", "sync", "--wait", "1s"]);
    assert!(removed.code == Some(1) && removed.stderr.contains("removed from the team"), "{removed}");
    assert!(!holds(&jonas, "zanzibarfish") && !jonas.data_dir().join("team.json").exists());
    assert!(jonas.mem(&["team", "status"]).ok().stdout.contains("what others shared is gone from here"));
    assert!(jonas.mem(&["search", "quaggafish"]).ok().stdout.contains("quaggafish"));
}

#[test]
fn link_with_a_token_is_kept_by_joining() {
    let server = TeamServerStub::start();
    let (mira, _) = two_machines(&server);
    mira.mem(&["save", "Deploys of the shop need the zanzibarfish flag"]).ok();
    sync(&mira);
    let ci = machine();
    let link = ci.mem(&["team", "join", &server.invite("ci", MemberRole::Bot), "--for-ci"]).ok().stdout;
    assert!(!ci.data_dir().join("team.json").exists());
    let joined = ci.mem(&["team", "join", link.trim()]).ok().stdout;
    assert!(joined.contains("ci (bot)"), "{joined}");
    assert!(ci.data_dir().join("team.json").exists());
    ci.mem(&["worker", "stop"]).ok();
}
