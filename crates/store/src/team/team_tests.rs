use rusqlite::params;

use super::*;
use crate::testing::observation;
use crate::{
    AccountRecord, NewRowContext, ObservationRecord, PageRequest, RowFilter, RowId, RowKind, RowOwner, Store,
};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{MemberRowId, ProjectId, PublicId, SpaceRowId};

const NOW: Millis = Millis(1_700_000_000_000);

struct TeamFixture {
    _dir: tempfile::TempDir,
    store: Store,
    project: ProjectId,
    mira: MemberRowId,
}

fn fixture() -> TeamFixture {
    let dir = tempfile::tempdir().unwrap();
    let mut store = Store::open(&dir.path().join("ours.db")).unwrap();
    let hint = ProjectHint {
        name: "shop".to_owned(),
        keys: vec!["path:/src/shop".to_owned()],
        root: "/src/shop".to_owned(),
        branch: None,
    };
    let (project, mira) = store
        .write(|tx| {
            let new =
                NewMember { uid: PublicId::new(), handle: "mira", name: "Mira", role: "member", gone: false };
            Ok((tx.ensure_project(&hint, NOW)?, tx.put_member(&new)?))
        })
        .unwrap();
    TeamFixture { _dir: dir, store, project, mira }
}

fn record(title: &str, kind: &str) -> ObservationRecord {
    let uid = PublicId::new();
    let value = serde_json::json!({
        "uid": uid, "type": kind, "title": title, "origin": "user", "created_at": NOW, "session": PublicId::new(),
        "files_modified": ["src/cart.rs"],
    });
    serde_json::from_value(value).unwrap()
}

fn account(purpose: &str, branch: &str) -> AccountRecord {
    let value = serde_json::json!({
        "uid": PublicId::new(), "session": PublicId::new(), "for": purpose, "branch": branch,
        "open": ["carts keep no coupons"], "created_at": NOW, "origin": "agent",
    });
    serde_json::from_value(value).unwrap()
}

impl TeamFixture {
    fn place(&self) -> TeamPlace {
        TeamPlace { member: Some(self.mira), session: None, project: Some(self.project), held_back: false }
    }

    fn own(&mut self, title: &str) -> RowId {
        let place = NewRowContext { project: Some(self.project), made_by: "hand", ..Default::default() };
        let id = self.store.write(|tx| tx.create_observation(&observation(title, NOW), &place)).unwrap();
        RowId::new(RowKind::Observation, id.0)
    }

    fn receive(&mut self, title: &str) -> RowId {
        let (record, place) = (record(title, "decision"), self.place());
        let id = self.store.write(|tx| tx.put_team_observation(&record, None, place)).unwrap().unwrap();
        RowId::new(RowKind::Observation, id.0)
    }

    fn receive_account(&mut self, purpose: &str, branch: &str) -> RowId {
        let (record, place, mira) = (account(purpose, branch), self.place(), self.mira);
        let id = self.store.write(|tx| {
            let session =
                tx.ensure_team_session(record.session, Some(mira), place.project, Some(branch), NOW)?;
            tx.put_team_account(&record, None, session, place)
        });
        RowId::new(RowKind::Account, id.unwrap().unwrap().0)
    }

    fn space(&mut self, history: bool) -> SpaceRowId {
        let new = NewSpace {
            uid: PublicId::new(),
            own: false,
            project: Some(self.project),
            mode: SpaceMode::Auto,
            history,
            generation: String::new(),
        };
        self.store.write(|tx| tx.put_space(&new)).unwrap()
    }
}

#[test]
fn busy_colleague_does_not_push_own_rows_out_of_the_index() {
    let mut team = fixture();
    let own = team.own("Round invoices up");
    for at in 0..50 {
        team.receive(&format!("Mira's decision {at}"));
    }
    let reads = team.store.read();
    for rows in [
        reads.recent_index_rows(team.project, 10).unwrap(),
        reads.lasting_index_rows(team.project, 10).unwrap(),
    ] {
        assert_eq!(rows.iter().map(|row| row.row_id).collect::<Vec<_>>(), [own.row_id]);
    }
    let others = reads.team_index_rows(team.project, &[], 10).unwrap();
    assert_eq!(others.len(), 10);
    assert!(others.iter().all(|row| row.member == Some(team.mira)));
}

#[test]
fn last_account_is_ones_own() {
    let mut team = fixture();
    let theirs = team.receive_account("Mira's work", "fix/rounding");
    let reads = team.store.read();
    assert_eq!(reads.latest_account(team.project, Some("fix/rounding")).unwrap(), None);
    assert_eq!(reads.latest_account(team.project, None).unwrap(), None);
    let found = reads.latest_team_account(team.project, "fix/rounding", Millis(0)).unwrap();
    assert_eq!(found.map(|id| id.0), Some(theirs.row_id));
    assert_eq!(reads.latest_team_account(team.project, "fix/rounding", NOW).unwrap(), None, "not newer");
    assert_eq!(reads.latest_team_account(team.project, "main", Millis(0)).unwrap(), None);
    assert!(reads.sessions(&RowFilter::default(), PageRequest::first(10)).unwrap().items.is_empty());
}

#[test]
fn rows_of_others_are_neither_counted_nor_exported_nor_taken_for_twins() {
    let mut team = fixture();
    let own = team.own("Round invoices up");
    let theirs = team.receive("Round invoices down");
    team.receive_account("Mira's work", "main");
    let reads = team.store.read();
    let counts = reads.counts().unwrap();
    assert_eq!((counts.observations, counts.sessions), (1, 0));
    assert_eq!(reads.counts_by_type().unwrap(), [("decision".to_owned(), 1)]);
    assert_eq!(reads.counts_by_project().unwrap()[&team.project].observations, 1);
    assert_eq!(reads.counts_since(Millis(0)).unwrap().observations, 1);
    let exported = reads.observation_records(None, 0, 10).unwrap();
    assert_eq!(exported.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [own.row_id]);
    assert!(reads.account_records(None, 0, 10).unwrap().is_empty());
    assert!(reads.session_records(None, 0, 10).unwrap().is_empty());
    assert!(reads.observations_titled(team.project, "Round invoices down").unwrap().is_empty());
    let of = |who| {
        let filter = RowFilter { who: Some(who), ..RowFilter::default() };
        let page = reads.observations(&filter, PageRequest::first(10)).unwrap();
        page.items.into_iter().map(|row| row.id.0).collect::<Vec<_>>()
    };
    assert_eq!(of(RowOwner::Own), [own.row_id]);
    assert_eq!(of(RowOwner::Member(team.mira)), [theirs.row_id]);
    assert_eq!(reads.member_of_row(theirs).unwrap(), Some(team.mira));
    assert_eq!(reads.member_of_row(own).unwrap(), None);
}

#[test]
fn changes_that_sharing_has_not_seen_are_kept() {
    let mut team = fixture();
    let space = team.space(false);
    let rows: Vec<RowId> = (0..5).map(|at| team.own(&format!("Rule number {at}"))).collect();
    team.store.write(|tx| rows.iter().try_for_each(|row| tx.forget(*row, NOW))).unwrap();
    let kept = |store: &Store| store.read().count_changes_after(0, 100).unwrap();
    assert_eq!(team.store.write(|tx| tx.prune_changes(0, 100)).unwrap(), 0);
    assert_eq!(kept(&team.store), 5);
    team.store.write(|tx| tx.set_space_sealed(space, 0, 0, 3)).unwrap();
    team.store.write(|tx| tx.prune_changes(0, 100)).unwrap();
    assert_eq!(kept(&team.store), 2);
}

#[test]
fn other_members_cannot_write_into_own_sessions_or_replace_own_rows() {
    let mut team = fixture();
    let own = team.own("Round invoices up");
    let own_uid = team.store.read().observation(claude_mem_core::ids::ObservationId(own.row_id)).unwrap().uid;
    let mut forged = record("Round invoices down", "decision");
    forged.replaced_by = Some(own_uid);
    let place = team.place();
    let id = team.store.write(|tx| tx.put_team_observation(&forged, None, place)).unwrap().unwrap();
    assert_eq!(team.store.read().observation(id).unwrap().replaced_by, None);
    let session = PublicId::new();
    let (ours, theirs, again) = team
        .store
        .write(|tx| {
            let ours = tx.ensure_team_session(session, None, None, None, NOW)?;
            let theirs = tx.ensure_team_session(session, place.member, None, None, NOW)?;
            Ok((ours, theirs, tx.ensure_team_session(session, place.member, None, None, NOW)?))
        })
        .unwrap();
    assert_ne!(ours, theirs);
    assert_eq!(theirs, again);
}

#[test]
fn erased_row_leaves_no_byte_in_the_file() {
    let mut team = fixture();
    let row = team.receive("The zanzibarfish gateway needs two retries");
    let path = team.store.path().to_owned();
    let holds = |path: &std::path::Path| {
        let bytes = std::fs::read(path).unwrap();
        bytes.windows(12).any(|part| part == b"zanzibarfish")
    };
    team.store.checkpoint().unwrap();
    assert!(holds(&path));
    // The log has the text of another row.
    let other = team.receive("The zanzibarfish gateway needs three retries");
    for row in [row, other] {
        team.store.write(|tx| tx.erase_team_row(row)).unwrap();
    }
    // The worker may have been killed here: the store itself knows what is left to do.
    let log = claude_mem_core::paths::with_suffix(&path, "-wal");
    assert!(holds(&log));
    team.store.clear_deleted_from_log().unwrap();
    assert!(!holds(&path) && !holds(&log));
}

#[test]
fn digest_follows_the_marks_of_live_records() {
    let mut team = fixture();
    let space = team.space(false);
    let row = team.own("Round invoices up");
    let mut shared = SharedRow::own(space, PublicId::new(), row, ShareState::Unsent, NOW);
    let other = SharedRow { uid: PublicId::new(), mark: Some(0b0110), rev: 1, ..shared.clone() };
    let put = |store: &mut Store, row: &SharedRow| store.write(|tx| tx.put_shared_row(row)).unwrap();
    let state = |store: &Store| {
        let space = store.read().space(space).unwrap();
        (space.live, space.digest)
    };
    put(&mut team.store, &shared);
    assert_eq!(state(&team.store), (0, 0));
    put(&mut team.store, &other);
    shared.mark = Some(0b0011);
    put(&mut team.store, &shared);
    put(&mut team.store, &shared);
    assert_eq!(state(&team.store), (2, 0b0101));
    shared.mark = None;
    put(&mut team.store, &shared);
    assert_eq!(state(&team.store), (1, 0b0110));
    team.store.write(|tx| tx.remove_shared_row(space, other.uid)).unwrap();
    assert_eq!(state(&team.store), (0, 0));
}

#[test]
fn sharing_begins_at_its_own_time_unless_history_is_asked_for() {
    let mut team = fixture();
    let old = team.own("Round invoices up");
    let space = team.space(false);
    let new = team.own("Round credit notes up");
    let row = team.store.read().space(space).unwrap();
    let ids =
        team.store.read().own_row_ids_after(RowKind::Observation, row.project, row.sealed_observation, 10);
    assert_eq!(ids.unwrap(), [new.row_id]);
    let history = NewSpace {
        uid: row.uid,
        own: false,
        project: row.project,
        mode: SpaceMode::Auto,
        history: true,
        generation: String::new(),
    };
    assert_eq!(team.store.write(|tx| tx.put_space(&history)).unwrap(), space);
    let row = team.store.read().space(space).unwrap();
    let ids =
        team.store.read().own_row_ids_after(RowKind::Observation, row.project, row.sealed_observation, 10);
    assert_eq!(ids.unwrap(), [old.row_id, new.row_id]);
}

#[test]
fn leaving_removes_all_rows_of_others() {
    let mut team = fixture();
    let own = team.own("Round invoices up");
    team.receive("Round invoices down");
    team.receive_account("Mira's work", "main");
    while team.store.write(|tx| tx.erase_rows_of(None, 1)).unwrap() > 0 {}
    team.store.write(|tx| tx.remove_members().map(drop)).unwrap();
    let reads = team.store.read();
    let all = reads.observations(&RowFilter::default(), PageRequest::first(500)).unwrap().items;
    assert_eq!(all.iter().filter(|row| row.member.is_some()).count(), 0);
    assert!(reads.members().unwrap().is_empty());
    assert_eq!(reads.member_of_row(own).unwrap(), None);
    let left: i64 =
        team.store.conn.query_row("SELECT count(*) FROM sdk_sessions", params![], |row| row.get(0)).unwrap();
    assert_eq!(left, 0);
}

#[test]
fn reading_costs_the_same_wherever_a_row_comes_from() {
    let mut it = fixture();
    let mut sent = record("Carts keep coupons", "decision");
    sent.text.facts = vec!["A coupon is kept for a day".to_owned()];
    sent.text.concepts = vec!["trade-off".to_owned()];
    let (project, place) = (Some(it.project), it.place());
    let mut recap = account("Keep the coupons", "main");
    recap.text.files_edited = vec!["src/cart.rs".to_owned()];
    let counts = it
        .store
        .write(|tx| {
            let new = claude_mem_core::memory::NewObservation::from_text(
                sent.text.clone(),
                claude_mem_core::memory::Origin::Agent,
                NOW,
            );
            let own =
                NewRowContext { project, read_tokens: new.text.read_tokens(), ..NewRowContext::default() };
            let own = tx.create_observation(&new, &own)?;
            let received = tx.put_team_observation(&sent, None, place)?.unwrap();
            let imported =
                ObservationRecord { uid: PublicId::new(), created_at: Millis(NOW.0 + 1), ..sent.clone() };
            let import_run = tx.start_import("json", "memories.jsonl", NOW)?;
            let target = crate::ImportTarget { session: None, project, import_run };
            tx.import_observation(&imported, target)?;
            let imported = tx.row_by_uid(RowKind::Observation, imported.uid)?.unwrap();
            let imported = claude_mem_core::ids::ObservationId(imported.row_id);
            let session = tx.ensure_team_session(recap.session, place.member, project, None, NOW)?;
            let recap = tx.put_team_account(&recap, None, session, place)?.unwrap();
            let of = |id| tx.observation(id).map(|row| row.read_tokens);
            Ok([of(own)?, of(received)?, of(imported)?, tx.account(recap)?.read_tokens])
        })
        .unwrap();
    let tokens = sent.text.read_tokens();
    assert_eq!(counts, [tokens, tokens, tokens, recap.text.read_tokens()]);
}

#[test]
fn unreadable_team_health_is_an_error_until_a_round_replaces_it() {
    let mut it = fixture();
    assert_eq!(it.store.read().team_health().unwrap(), TeamHealth::default(), "before the first round");
    it.store.write(|tx| tx.set_meta("team.health", "{\"members\":")).unwrap();
    assert!(it.store.read().team_health().is_err());
    let health = TeamHealth { members: 3, ..it.store.read().team_health_to_replace().unwrap() };
    it.store.save_team_health(&health).unwrap();
    assert_eq!(it.store.read().team_health().unwrap(), health);
}
