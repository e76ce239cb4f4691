//! Accounts, open items, and numbers of observations that were merged or withdrawn.

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ClientSessionId, ObservationId};
use claude_mem_core::memory::{AccountText, NewOpenItem, SessionAccount};
use claude_mem_store::{NewRowContext, NewSession, Store};
use insta::assert_snapshot;
use rig::Sandbox;

use crate::common::{NOW, sandbox, shown};

fn store(home: &Sandbox) -> Store {
    Store::open(&home.data_dir().join("claude-mem.db")).expect("a store")
}

/// Two memories, of which the first is now part of the second.
fn merged() -> Sandbox {
    let home = sandbox();
    for title in ["Carts lose items", "Carts lose items: the cookie expires early"] {
        home.mem(&["save", "--title", title, "Seen in the shop."]).ok();
    }
    store(&home).write(|tx| tx.merge_observation(ObservationId(1), ObservationId(2))).expect("merged");
    home
}

#[test]
fn merged_number_leads_to_its_successor() {
    let home = merged();
    assert_snapshot!(shown(&home, &home.mem(&["show", "1"])), @"
    #2 Carts lose items: the cookie expires early
    discovery · 2026-01-31 10:00 · project

      Seen in the shop.
    [stderr]
    note: #1 is now part of #2
    [exit 0]
    ");
    let pinned = home.mem(&["pin", "1"]).ok();
    assert!(pinned.stdout.contains("pinned #2") && pinned.stderr.contains("now part of #2"), "{pinned}");
    home.mem(&["mark", "useful", "#1"]).ok();
    let forgotten = home.mem(&["forget", "1"]).ok();
    assert!(forgotten.stdout.contains("forgot #2"), "{forgotten}");
    let restored = home.mem(&["forget", "--undo", "1"]).ok();
    assert!(restored.stdout.contains("brought back #2"), "{restored}");
    let edited = home.mem(&["edit", "1", "--title", "Carts lose items"]).ok();
    assert!(edited.stdout.contains("edited #2"), "{edited}");
}

#[test]
fn withdrawn_number_says_so() {
    let home = merged();
    store(&home).write(|tx| tx.withdraw_observation(ObservationId(2))).expect("withdrawn");
    assert_snapshot!(shown(&home, &home.mem(&["show", "1"])), @"
    [stderr]
    error: #1 was withdrawn by its session
    [exit 1]
    ");
}

fn with_account() -> Sandbox {
    let home = sandbox();
    home.mem(&["save", "A note, so that the project is known"]).ok();
    let at = Millis(NOW - 3_600_000);
    store(&home)
        .write(|tx| {
            let project = tx.projects()?[0].id;
            let session = tx.ensure_session(&NewSession {
                project: Some(project),
                branch: Some("cart"),
                ..NewSession::new("claude-code", &ClientSessionId("s1".into()), at)
            })?;
            let place =
                NewRowContext { project: Some(project), branch: Some("cart"), ..NewRowContext::default() };
            let account = SessionAccount {
                text: AccountText {
                    purpose: "Make carts survive a login".into(),
                    done: vec!["Moved the cart to the server".into()],
                    decided: vec!["Carts live for thirty days".into()],
                    open: vec!["Test the walrus path".into()],
                    files_edited: vec!["src/cart.rs".into()],
                    ..AccountText::default()
                },
                at,
            };
            tx.set_session_account(session, &account, &place)?;
            let item = |claim: &str, text: &str| NewOpenItem {
                claim: claim.into(),
                text: text.into(),
                at,
                closed: false,
            };
            tx.set_open_items(
                session,
                &[item("a", "Test the walrus path"), item("b", "Name the limit")],
                &place,
            )
        })
        .expect("stored");
    home
}

#[test]
fn sessions_list_their_accounts() {
    let home = with_account();
    assert_snapshot!(shown(&home, &home.mem(&["sessions"])), @"
    account  when              outcome  branch  for
    A1       2026-01-31 09:00  active   cart    Make carts survive a login
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["show", "A1"])), @"
    A1 Make carts survive a login
    account · 2026-01-31 09:00 · project · session s1

    for
      Make carts survive a login

    done
      - Moved the cart to the server

    decided
      - Carts live for thirty days

    open
      - Test the walrus path

    changed
      src/cart.rs
    [exit 0]
    ");
    let found = home.mem(&["search", "walrus"]).ok();
    assert!(found.stdout.contains("A1"), "{found}");
    let json = home.mem(&["sessions", "--json"]).ok().stdout;
    assert!(json.contains("\"account\": \"A1\"") && json.contains("\"branch\": \"cart\""), "{json}");
}

#[test]
fn open_items_are_closed_and_reopened_by_hand() {
    let home = with_account();
    assert_snapshot!(shown(&home, &home.mem(&["open-items"])), @"
    id  state  since             what
    2   open   2026-01-31 09:00  Name the limit
    1   open   2026-01-31 09:00  Test the walrus path
    close one: `claude-mem open-items close ID`
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["open-items", "close", "1", "--reason", "not needed"])), @"
    closed 1  Test the walrus path
    [exit 0]
    ");
    assert_snapshot!(shown(&home, &home.mem(&["open-items", "--all"])), @"
    id  state           since             what
    2   open            2026-01-31 09:00  Name the limit
    1   closed by hand  2026-01-31 09:00  Test the walrus path
    close one: `claude-mem open-items close ID`
    [exit 0]
    ");
    home.mem(&["open-items", "reopen", "1"]).ok();
    let open = home.mem(&["open-items", "--json"]).ok().stdout;
    assert!(open.contains("walrus"), "{open}");
    let missing = home.mem(&["open-items", "close", "99"]);
    assert_eq!(missing.code, Some(1), "{missing}");
}

#[test]
fn forgotten_account_is_gone_and_comes_back() {
    let home = with_account();
    home.mem(&["forget", "A1"]).ok();
    assert!(!home.mem(&["search", "walrus"]).ok().stdout.contains("A1"));
    home.mem(&["forget", "--undo", "A1"]).ok();
    assert!(home.mem(&["search", "walrus"]).ok().stdout.contains("A1"));
}
