//! A team whose server is away for weeks, with the retention that runs meanwhile. Time is given, nothing waits.

use std::cell::Cell;
use std::sync::Arc;

use super::*;
use crate::team_thread::WorkerStore;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ObservationId, ProjectId, PublicId};
use claude_mem_core::memory::{NewObservation, ObservationType, Origin};
use claude_mem_ingest::shared_store::SharedStore;
use claude_mem_sharing::reference_server::{ReferenceServer, SharedData, empty_server};
use claude_mem_sharing::{
    RecordsQuery, SharingError, SyncEngine, SyncOptions, SyncReport, TeamServer, health_after_error,
    health_after_round,
};
use claude_mem_store::testing::{WorkerScratch, log, scratch};
use claude_mem_store::{
    NewRowContext, NewSpace, Observation, ObservationEdit, PageRequest, RowFilter, RowId, RowKind, SpaceMode,
    TeamHealth,
};
use claude_mem_wire::messages::{
    MeReply, NamesPage, PushReply, PushRequest, RecordsPage, SpaceInfo, SpaceRequest, WaitReply, WaitRequest,
};
use claude_mem_wire::{MemberRole, RecordUid, SpaceId};

/// 2026-01-31 10:00:00 UTC.
const START: Millis = Millis(1_769_853_600_000);

/// Longer than anything that retention keeps for a month.
const OUTAGE_DAYS: i64 = 40;

const REMOTE: &str = "remote:github.com/acme/shop";

/// A connection that can be cut.
struct CutConnection {
    server: ReferenceServer,
    is_cut: Cell<bool>,
}

impl CutConnection {
    fn through(&self) -> Result<&ReferenceServer, SharingError> {
        let away = || SharingError::Unreachable { why: "no route to host".to_owned(), retry_after: None };
        if self.is_cut.get() { Err(away()) } else { Ok(&self.server) }
    }
}

impl TeamServer for CutConnection {
    fn me(&self) -> Result<MeReply, SharingError> {
        self.through()?.me()
    }

    fn space(&self, request: &SpaceRequest) -> Result<SpaceInfo, SharingError> {
        self.through()?.space(request)
    }

    fn push(&self, space: SpaceId, request: &PushRequest) -> Result<PushReply, SharingError> {
        self.through()?.push(space, request)
    }

    fn records(&self, space: SpaceId, query: &RecordsQuery) -> Result<RecordsPage, SharingError> {
        self.through()?.records(space, query)
    }

    fn names(&self, space: SpaceId, after: Option<RecordUid>) -> Result<NamesPage, SharingError> {
        self.through()?.names(space, after)
    }

    fn wait(&self, request: &WaitRequest) -> Result<WaitReply, SharingError> {
        self.through()?.wait(request)
    }
}

/// A member's machine with a whole worker, which shares one project.
struct OutageMachine {
    worker: Arc<WorkerContext>,
    project: ProjectId,
    connection: CutConnection,
    now: Cell<Millis>,
    scratch: WorkerScratch,
}

impl OutageMachine {
    fn join(data: &SharedData, handle: &str, role: MemberRole) -> Self {
        let member = data.lock().add_member(handle, role);
        let mut server = ReferenceServer::new(data, member);
        server.now.set(START.0);
        // Many pages after the outage.
        server.page = 7;
        let request = SpaceRequest::Project { keys: vec![REMOTE.to_owned()], name: "shop".to_owned() };
        let space = server.space(&request).unwrap().id;
        let scratch = scratch();
        scratch.dir.create().unwrap();
        let store = Arc::new(SharedStore::open(&scratch.dir, START).unwrap());
        let hint = ProjectHint {
            name: "shop".to_owned(),
            keys: vec![REMOTE.to_owned()],
            root: "/src/shop".to_owned(),
            branch: None,
        };
        let project = store.with(|store| store.write(|tx| tx.ensure_project(&hint, START))).unwrap();
        let new = NewSpace {
            uid: PublicId(space.0),
            own: false,
            project: Some(project),
            mode: SpaceMode::Auto,
            history: false,
            generation: String::new(),
        };
        store.with(|store| store.write(|tx| tx.put_space(&new))).unwrap();
        let worker = WorkerContext::start(
            store,
            Arc::new(claude_mem_ingest::heuristic_compressor::HeuristicCompressor::default()),
            claude_mem_core::config::Settings::default(),
            claude_mem_capture::ipc::pidfile::WorkerFile::for_current_process("sock".into(), Millis(0)),
            String::new(),
            log(&scratch),
        );
        let connection = CutConnection { server, is_cut: Cell::new(false) };
        Self { worker: worker.unwrap(), project, connection, now: Cell::new(START), scratch }
    }

    fn write<T>(&self, act: impl FnOnce(&claude_mem_store::StoreWriter<'_>) -> Result<T, StoreError>) -> T {
        self.worker.store.with(|store| store.write(act)).unwrap()
    }

    fn decide(&self, title: &str) -> RowId {
        let new = NewObservation::new(ObservationType::DECISION, title, Origin::User, self.now.get());
        let place =
            NewRowContext { project: Some(self.project), made_by: "hand", ..NewRowContext::default() };
        RowId::new(RowKind::Observation, self.write(|tx| tx.create_observation(&new, &place)).0)
    }

    fn edit(&self, row: RowId, title: &str) {
        let edit = ObservationEdit { title: Some(title.to_owned()), ..ObservationEdit::default() };
        self.write(|tx| tx.edit_observation(ObservationId(row.row_id), &edit, self.now.get()));
    }

    fn forget(&self, row: RowId) {
        self.write(|tx| tx.forget(row, self.now.get()));
    }

    /// A round as the team thread does it, with what it notes.
    fn round(&self) -> Result<SyncReport, SharingError> {
        let now = self.now.get();
        self.connection.server.now.set(now.0);
        let access = WorkerStore(&self.worker.store);
        let options = SyncOptions { now, ..SyncOptions::default() };
        let outcome = SyncEngine { access: &access, server: &self.connection }.round(&options);
        let known = self.health();
        let health = match &outcome {
            Ok(report) => health_after_round(&known, report, now),
            Err(error) => health_after_error(&known, error, now),
        };
        self.worker.store.with(|store| store.save_team_health(&health)).unwrap();
        outcome
    }

    fn health(&self) -> TeamHealth {
        self.worker.store.with(|store| store.read().team_health_to_replace()).unwrap()
    }

    /// A day goes by: retention runs, and a round is tried.
    fn next_day(&self) -> Result<SyncReport, SharingError> {
        let now = self.now.get().plus_seconds(DAY_SECONDS);
        self.now.set(now);
        delete_expired_rows(&self.worker, now).unwrap();
        retention::delete_old_rows(&self.worker.store, now).unwrap();
        // Stricter than retention: nothing of the change feed is kept but what sharing still needs.
        self.write(|tx| tx.prune_changes(0, u32::MAX));
        self.round()
    }

    fn rows(&self) -> Vec<Observation> {
        let filter = RowFilter { project: Some(self.project), ..RowFilter::default() };
        let found =
            self.worker.store.with(|store| store.read().observations(&filter, PageRequest::first(500)));
        found.unwrap().items
    }

    fn titles(&self) -> Vec<String> {
        let mut titles: Vec<String> = self.rows().into_iter().map(|row| row.text.title).collect();
        titles.sort();
        titles
    }

    fn digest(&self) -> (i64, i64) {
        let space = self.worker.store.with(|store| store.read().spaces()).unwrap().remove(0);
        (space.live, space.digest)
    }

    fn holds_bytes(&self, text: &str) -> bool {
        assert!(self.worker.store.with(|store| store.checkpoint()).unwrap());
        let bytes = std::fs::read(self.scratch.dir.db()).unwrap();
        bytes.windows(text.len()).any(|part| part == text.as_bytes())
    }
}

fn two_machines() -> (SharedData, OutageMachine, OutageMachine) {
    let data = empty_server();
    let mira = OutageMachine::join(&data, "mira", MemberRole::Admin);
    let jonas = OutageMachine::join(&data, "jonas", MemberRole::Member);
    (data, mira, jonas)
}

#[test]
fn team_works_on_for_weeks_without_its_server() {
    let (data, mira, jonas) = two_machines();
    mira.decide("Ship on Mondays");
    let edited = mira.decide("Round invoices up");
    let forgotten = mira.decide("Marmots guard the vault");
    mira.round().unwrap();
    jonas.round().unwrap();
    assert!(jonas.holds_bytes("Marmots guard"));
    for machine in [&mira, &jonas] {
        machine.connection.is_cut.set(true);
    }
    let mut expected = vec!["Ship on Mondays".to_owned()];
    for day in 1..=OUTAGE_DAYS {
        for (name, machine) in [("Mira", &mira), ("Jonas", &jonas)] {
            let error = machine.next_day().unwrap_err();
            assert!(error.is_transient(), "{error}");
            let title = format!("{name} decides on day {day}");
            machine.decide(&title);
            expected.push(title);
        }
        mira.edit(edited, &format!("Round invoices as on day {day}"));
        if day == 1 {
            // Its copy for undoing is gone before the server is back.
            mira.forget(forgotten);
            let never_sent = mira.decide("Badgers guard the vault");
            mira.forget(never_sent);
        }
    }
    expected.push(format!("Round invoices as on day {OUTAGE_DAYS}"));
    expected.sort();
    let began = Some(START.plus_seconds(DAY_SECONDS));
    assert_eq!((mira.health().failing_since, jonas.health().failing_since), (began, began));
    assert!(mira.titles().contains(&format!("Mira decides on day {OUTAGE_DAYS}")));

    for machine in [&mira, &jonas] {
        machine.connection.is_cut.set(false);
    }
    mira.round().unwrap();
    jonas.round().unwrap();
    assert!(mira.round().unwrap().in_step && jonas.round().unwrap().in_step);
    assert_eq!((mira.titles(), jonas.titles()), (expected.clone(), expected));
    assert_eq!(mira.digest(), jonas.digest());
    assert!(!jonas.holds_bytes("Marmots guard") && !jonas.holds_bytes("Badgers guard"));
    let records = data.lock();
    assert!(!records.records.values().any(|(_, pulled)| format!("{pulled:?}").contains("guard")));
    drop(records);
    // Decisions keep the days on which they were made.
    let third = jonas.rows().into_iter().find(|row| row.text.title == "Mira decides on day 3").unwrap();
    assert_eq!(third.created_at, START.plus_seconds(3 * DAY_SECONDS));
    assert_eq!((mira.health().failing_since, mira.health().error.as_str()), (None, ""));
}

#[test]
fn member_who_was_away_for_weeks_gets_everything_and_loses_what_was_taken_back() {
    let (_data, mira, jonas) = two_machines();
    let first: Vec<RowId> = (0..20).map(|number| mira.decide(&format!("Early decision {number}"))).collect();
    mira.round().unwrap();
    jonas.round().unwrap();
    let hidden = jonas.rows().into_iter().find(|row| row.text.title == "Early decision 19").unwrap();
    jonas.forget(RowId::new(RowKind::Observation, hidden.id.0));
    jonas.round().unwrap();
    jonas.connection.is_cut.set(true);
    for day in 1..=OUTAGE_DAYS {
        let taken_back = mira.decide(&format!("Passing decision {day}"));
        mira.decide(&format!("Late decision {day}"));
        mira.next_day().unwrap();
        mira.forget(taken_back);
        if let Some(row) = first.get(usize::try_from(day).unwrap()).filter(|_| day < 10) {
            mira.forget(*row);
        }
        mira.edit(first[19], &format!("Early decision 19, on day {day}"));
        jonas.next_day().unwrap_err();
    }
    mira.round().unwrap();
    jonas.connection.is_cut.set(false);
    jonas.round().unwrap();
    assert!(jonas.round().unwrap().in_step && mira.round().unwrap().in_step);
    assert_eq!(mira.digest(), jonas.digest());
    // What was hidden here stays hidden, in its newest version, too.
    let mut expected = mira.titles();
    expected.retain(|title| !title.starts_with("Early decision 19"));
    assert_eq!(jonas.titles(), expected);
    assert_eq!(expected.len(), 10 + usize::try_from(OUTAGE_DAYS).unwrap());
    assert!(!jonas.holds_bytes("Passing decision"));
}
