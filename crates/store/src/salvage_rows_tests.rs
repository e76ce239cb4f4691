//! Damages random pages of a database and salvages the rest.

use super::*;
use crate::testing::observation;
use crate::{NewFeedback, NewPrompt, NewRowContext, NewSession, PageRequest, RowFilter, StoredClaims};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::memory::{AccountText, NewOpenItem, Origin, SessionAccount};

const PAGE_BYTES: u64 = 4_096;
const SESSIONS: usize = 12;
const MEMORIES_PER_SESSION: usize = 25;

/// Numbers that look random and are the same in every run.
struct PageLottery(u64);

impl PageLottery {
    fn next(&mut self, below: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % below
    }
}

/// A store in which every row of a session can be told by its session's number.
fn furnish(path: &Path) {
    let mut store = Store::open(path).unwrap();
    let hint =
        ProjectHint { name: "shop".into(), keys: vec!["path:/src/shop".into()], ..ProjectHint::default() };
    for number in 0..SESSIONS {
        let at = Millis(number as i64 + 1);
        store
            .write(|tx| {
                let project = Some(tx.ensure_project(&hint, at)?);
                let session = tx.ensure_session(&NewSession {
                    project,
                    ..NewSession::new("claude-code", &ClientSessionId(format!("s{number}")), at)
                })?;
                let place = NewRowContext { session: Some(session), project, ..Default::default() };
                tx.create_prompt(&NewPrompt {
                    session,
                    project,
                    prompt_id: None,
                    text: &format!("prompt of session {number}"),
                    private: false,
                    origin: Origin::User,
                    import_run: None,
                    at,
                })?;
                for memory in 0..MEMORIES_PER_SESSION {
                    let text = observation(&format!("memory {memory} of session {number}"), at);
                    let id = tx.create_observation(&text, &place)?;
                    tx.link_claim(session, &format!("claim-{memory}"), id)?;
                    tx.record_feedback(&NewFeedback {
                        kind: RowKind::Observation,
                        row_id: id.0,
                        client: "claude-code",
                        session: "later",
                        agent_id: "",
                        signal: crate::FeedbackSignal::Fetched,
                        place: "mcp",
                        score: None,
                        rank: None,
                        tokens: 1,
                        reason: "",
                        at,
                    })?;
                }
                let purpose = format!("purpose of session {number}");
                tx.set_session_account(
                    session,
                    &SessionAccount { text: AccountText { purpose, ..AccountText::default() }, at },
                    &place,
                )?;
                let item =
                    NewOpenItem { claim: "k".into(), text: format!("rest {number}"), at, closed: false };
                tx.set_open_items(session, &[item], &place)?;
                tx.append_session_claims(session, &StoredClaims { body: "{}".into(), by_model: false }, None)
            })
            .unwrap();
    }
    store.checkpoint().unwrap();
    store.close().unwrap();
}

/// Salvages `damaged` into a new store.
fn salvage(damaged: &Path, folder: &Path) -> (Store, CopiedRows) {
    let ready = folder.join("ready.db");
    let mut store = Store::open(&ready).unwrap();
    store.checkpoint().unwrap();
    let scratch = folder.join("scratch");
    std::fs::create_dir_all(&scratch).unwrap();
    let copied = DamagedRows::open(damaged, &ready, &scratch).unwrap().copy_memories(&mut store).unwrap();
    (store, copied)
}

fn count(store: &Store, table: &str) -> usize {
    let sql = format!("SELECT count(*) FROM {table}");
    store.conn.query_row(&sql, [], |row| row.get::<_, i64>(0)).unwrap() as usize
}

#[test]
fn rows_of_every_table_are_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claude-mem.db");
    furnish(&path);
    let (store, copied) = salvage(&path, folder.path());
    assert_eq!(copied.incomplete, Vec::<String>::new());
    for (table, _) in TABLES {
        let original = Store::open_read_only(&path).unwrap();
        assert_eq!(count(&store, table), count(&original, table), "{table}");
    }
    for table in
        ["session_accounts", "open_items", "session_claims", "observation_claims", "observation_feedback"]
    {
        assert!(count(&store, table) >= SESSIONS, "{table} has rows");
    }
}

#[test]
fn random_bad_pages_lose_only_their_own_rows() {
    let original = tempfile::tempdir().unwrap();
    let path = original.path().join("claude-mem.db");
    furnish(&path);
    let sound = std::fs::read(&path).unwrap();
    let pages = sound.len() as u64 / PAGE_BYTES;
    let (all, mut least, mut total) = (SESSIONS * MEMORIES_PER_SESSION, usize::MAX, 0);
    let rounds = 24;
    for seed in 0..rounds {
        let mut lottery = PageLottery(seed);
        let mut bytes = sound.clone();
        for _ in 0..=lottery.next(3) {
            let page = lottery.next(pages) as usize * PAGE_BYTES as usize;
            let fill = [0x00, 0x5a, 0xff, 0x0d][lottery.next(4) as usize];
            bytes[page..page + PAGE_BYTES as usize].fill(fill);
        }
        let folder = tempfile::tempdir().unwrap();
        let damaged = folder.path().join("bad.db");
        std::fs::write(&damaged, bytes).unwrap();
        let (store, copied) = salvage(&damaged, folder.path());
        assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new(), "seed {seed}");
        assert!(store.is_fts_consistent().unwrap(), "seed {seed}");
        let rows = store.read().observations(&RowFilter::default(), PageRequest::first(1_000)).unwrap().items;
        for row in &rows {
            let is_ours = row.text.title.starts_with("memory ") && row.text.title.contains(" of session ");
            assert!(is_ours, "seed {seed}: {:?}", row.text.title);
        }
        assert!(
            rows.len() == all || copied.incomplete.contains(&"observations".to_owned()),
            "seed {seed}: {copied:?}"
        );
        least = least.min(rows.len());
        total += rows.len();
    }
    // A bad page of the rows hides those between its neighbours; one of the inner pages hides more.
    assert!(
        total >= all * rounds as usize * 8 / 10,
        "{total} of {}, at least {least}",
        all * rounds as usize
    );
}

/// The pages with the rows of a table that has two levels.
fn leaves_of(path: &Path, table: &str) -> Vec<u64> {
    let conn = crate::open::open_foreign(path).unwrap();
    let root = "SELECT rootpage FROM sqlite_schema WHERE name = ?1";
    let root: i64 = conn.query_row(root, [table], |row| row.get(0)).unwrap();
    let mut page = vec![0; PAGE_BYTES as usize];
    std::fs::File::open(path).unwrap().read_exact_at(&mut page, (root as u64 - 1) * PAGE_BYTES).unwrap();
    child_pages(&page, 0).into_iter().map(u64::from).collect()
}

/// Adds memories until most of the file is theirs.
fn add_memories(path: &Path, memories: usize) {
    let mut store = Store::open(path).unwrap();
    store
        .write(|tx| {
            for n in 0..memories {
                let text = observation(&format!("further memory {n}"), Millis(n as i64));
                tx.create_observation(&text, &NewRowContext::default())?;
            }
            Ok(())
        })
        .unwrap();
    store.checkpoint().unwrap();
    store.close().unwrap();
}

#[test]
fn truncated_store_keeps_the_rows_that_are_there() {
    const MORE: usize = 1_200;
    for (kept, of) in [(1, 2), (3, 4)] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("claude-mem.db");
        furnish(&path);
        add_memories(&path, MORE);
        let leaves = leaves_of(&path, "observations");
        let file = std::fs::File::options().write(true).open(&path).unwrap();
        let pages = file.metadata().unwrap().len() / PAGE_BYTES * kept / of;
        file.set_len(pages * PAGE_BYTES).unwrap();
        let there = leaves.iter().filter(|page| **page <= pages).count();
        assert!(there > 5 && there < leaves.len(), "{there} of {} pages", leaves.len());
        let (store, copied) = salvage(&path, folder.path());
        let (memories, all) = (count(&store, "observations"), SESSIONS * MEMORIES_PER_SESSION + MORE);
        // Pages do not hold the same number of rows.
        let least = all * there / leaves.len() * 8 / 10;
        assert!(
            (least..all).contains(&memories),
            "{kept}/{of}: {memories} of {all}, {there} of {}",
            leaves.len()
        );
        assert!(!copied.incomplete.is_empty(), "{copied:?}");
        assert_eq!(store.integrity_problems().unwrap(), Vec::<String>::new());
    }
}

#[test]
fn rows_between_two_unreadable_pages_are_salvaged() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("claude-mem.db");
    furnish(&path);
    let leaves = leaves_of(&path, "observations");
    assert!(leaves.len() >= 5, "{leaves:?}");
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    for leaf in [leaves[1], leaves[leaves.len() - 2]] {
        file.write_all_at(&vec![0x5a; PAGE_BYTES as usize], (leaf - 1) * PAGE_BYTES).unwrap();
    }
    let (store, _) = salvage(&path, folder.path());
    let (memories, all) = (count(&store, "observations"), SESSIONS * MEMORIES_PER_SESSION);
    let lost = all - memories;
    assert!(lost > 0 && lost * leaves.len() <= all * 3, "{lost} of {all} in {} pages", leaves.len());
}
