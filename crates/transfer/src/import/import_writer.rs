//! Writes imported rows to the store in small transactions and counts them.
//!
//! Rows refer to their session and project by public ids; [`ImportWriter`] maps these to our row ids.
//! Transactions are small so that hooks never wait long for the database.

use std::collections::{HashMap, HashSet};

use super::clean;
use super::foreign_rows;
use super::import_context::{ImportContext, ImportError, SourceTrust};
use super::report::{ImportReport, ImportSkipReason};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::{ProjectId, PublicId, SessionId};
use claude_mem_store::{
    AccountRecord, ImportTarget, MemoryLevel, MessageRecord, ObservationRecord, OpenItemRecord,
    ProjectRecord, PromptRecord, RowImportOutcome, SessionRecord, SessionStatus, Store, StoreError,
    StoreWriter, SummaryRecord,
};

/// Rows that an import writes in one transaction. Hooks wait for no more than one such transaction.
const IMPORT_BATCH_ROWS: usize = 16;

/// Our id of an imported parent row, or why it was skipped.
type MappedId<T> = Result<T, ImportSkipReason>;

/// Writes the rows of one import run.
#[allow(missing_debug_implementations, reason = "it borrows the store")]
pub struct ImportWriter<'a> {
    store: &'a mut Store,
    context: ImportContext<'a>,
    run: i64,
    report: ImportReport,
    projects: HashMap<PublicId, MappedId<ProjectId>>,
    sessions: HashMap<PublicId, MappedId<SessionId>>,
    batch: Vec<(&'static str, ImportRow)>,
    /// Rows that this run has added: the same row again is a duplicate.
    new_uids: HashSet<PublicId>,
    /// Pairs of superseded and newer observation, linked at the end, when both exist.
    replaced: Vec<(PublicId, PublicId)>,
    /// Observations with the further sessions that said them.
    sources: Vec<(PublicId, PublicId)>,
}

enum ImportRow {
    Prompt(PromptRecord),
    Message(MessageRecord),
    Observation(Box<ObservationRecord>),
    Summary(Box<SummaryRecord>),
    Account(Box<AccountRecord>),
    OpenItem(Box<OpenItemRecord>),
}

impl ImportRow {
    const fn uid(&self) -> PublicId {
        match self {
            Self::Prompt(row) => row.uid,
            Self::Message(row) => row.uid,
            Self::Observation(row) => row.uid,
            Self::Summary(row) => row.uid,
            Self::Account(row) => row.uid,
            Self::OpenItem(row) => row.uid,
        }
    }
}

impl<'a> ImportWriter<'a> {
    /// Resumes an unfinished run of this source or begins a new one.
    pub fn resume_or_begin(
        store: &'a mut Store,
        around: ImportContext<'a>,
        kind: &str,
        source: &str,
        now: Millis,
    ) -> Result<Self, ImportError> {
        let run = store.write(|tx| tx.resume_import(kind, source, now))?;
        Ok(Self {
            store,
            context: around,
            run,
            report: ImportReport { run: Some(run), source: source.to_owned(), ..ImportReport::default() },
            projects: HashMap::new(),
            sessions: HashMap::new(),
            batch: Vec::new(),
            new_uids: HashSet::new(),
            replaced: Vec::new(),
            sources: Vec::new(),
        })
    }

    pub fn reads(&self) -> claude_mem_store::StoreReader<'_> {
        self.store.read()
    }

    fn is_foreign(&self) -> bool {
        self.context.trust == SourceTrust::Foreign
    }

    pub fn skip(&mut self, kind: &'static str, why: ImportSkipReason) {
        self.report.tally(kind).skip(why);
    }

    pub fn skip_many(&mut self, kind: &'static str, why: ImportSkipReason, rows: u64) {
        if rows > 0 {
            self.report.tally(kind).skip_many(why, rows);
        }
    }

    /// Whether the settings ignore this project.
    pub fn ignores_project(&self, record: &ProjectRecord) -> bool {
        let hint = ProjectHint {
            name: record.name.clone(),
            keys: record.keys.clone(),
            root: record.root.clone(),
            branch: None,
        };
        let settings = self.context.settings;
        settings.ignore_everything || settings.ignores_project_hint(&hint, self.context.home)
    }

    /// Maps a project to the matching one of ours, or creates it. Rows of an ignored project are
    /// skipped.
    pub fn project(&mut self, record: &ProjectRecord) -> Result<(), ImportError> {
        // A foreign file must not give a project of ours further keys: these decide which directories
        // get its memory.
        let known = if self.is_foreign() { self.store.read().project_by_keys(&record.keys)? } else { None };
        let place = match known {
            _ if self.ignores_project(record) => Err(ImportSkipReason::Ignored),
            Some(ours) => Ok(ours),
            None => Ok(self.store.write(|tx| tx.import_project(record))?),
        };
        self.projects.insert(record.uid, place);
        Ok(())
    }

    /// Maps `uid` to a known project of ours.
    pub fn map_project(&mut self, uid: PublicId, ours: ProjectId) {
        self.projects.insert(uid, Ok(ours));
    }

    /// Marks the project `uid` as unreadable: its rows are skipped.
    pub fn mark_project_unreadable(&mut self, uid: PublicId) {
        self.projects.insert(uid, Err(ImportSkipReason::Unreadable));
    }

    /// Reports a file or folder that could not be read.
    pub fn add_problem(&mut self, path: &std::path::Path, why: impl std::fmt::Display) {
        self.report.add_problem(path, why);
    }

    /// Whether the project is already mapped or skipped.
    pub fn knows_project(&self, uid: PublicId) -> bool {
        self.projects.contains_key(&uid)
    }

    /// Adds a session. `counted` is false for a session that only other rows refer to.
    pub fn session(
        &mut self,
        kind: &'static str,
        mut record: SessionRecord,
        counted: bool,
    ) -> Result<(), ImportError> {
        let place = record.project.and_then(|uid| self.projects.get(&uid)).copied();
        let project = match place.transpose() {
            Ok(project) => project,
            Err(why) => {
                self.sessions.insert(record.uid, Err(why));
                if counted {
                    self.skip(kind, why);
                }
                return Ok(());
            }
        };
        clean::clean_session(&mut record);
        if self.is_foreign() {
            foreign_rows::distrust_session(&mut record);
        }
        let run = self.run;
        let (id, brought, ignored) = self.store.write(|tx| {
            let (id, brought) = tx.import_session(&record, project, run)?;
            let ignored = tx.session(id)?.status == SessionStatus::Ignored;
            Ok((id, brought, ignored))
        })?;
        let place = if ignored { Err(ImportSkipReason::Ignored) } else { Ok(id) };
        let twice = self.sessions.insert(record.uid, place);
        if counted {
            self.report.tally(kind).record_outcome(brought, twice.is_some());
        }
        Ok(())
    }

    pub fn prompt(&mut self, kind: &'static str, mut record: PromptRecord) -> Result<(), ImportError> {
        if self.is_foreign() {
            foreign_rows::distrust_prompt(&mut record);
        }
        match clean::clean_prompt(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, ImportRow::Prompt(record))),
        }
        self.flush_if_full()
    }

    pub fn message(&mut self, kind: &'static str, mut record: MessageRecord) -> Result<(), ImportError> {
        if self.is_foreign() {
            foreign_rows::distrust_message(&mut record);
        }
        match clean::clean_message(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, ImportRow::Message(record))),
        }
        self.flush_if_full()
    }

    pub fn observation(
        &mut self,
        kind: &'static str,
        mut record: ObservationRecord,
    ) -> Result<(), ImportError> {
        if self.is_foreign()
            && let Err(why) = foreign_rows::distrust_observation(&mut record)
        {
            self.skip(kind, why);
            return Ok(());
        }
        match clean::clean_observation(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => {
                self.replaced.extend(record.replaced_by.map(|newer| (record.uid, newer)));
                let further = record.sessions.iter().filter(|session| Some(**session) != record.session);
                self.sources.extend(further.map(|session| (record.uid, *session)));
                self.batch.push((kind, ImportRow::Observation(Box::new(record))));
            }
        }
        self.flush_if_full()
    }

    pub fn summary(&mut self, kind: &'static str, mut record: SummaryRecord) -> Result<(), ImportError> {
        if self.is_foreign() {
            foreign_rows::distrust_summary(&mut record);
        }
        match clean::clean_summary(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, ImportRow::Summary(Box::new(record)))),
        }
        self.flush_if_full()
    }

    pub fn account(&mut self, kind: &'static str, mut record: AccountRecord) -> Result<(), ImportError> {
        if self.is_foreign() {
            foreign_rows::distrust_account(&mut record);
        }
        match clean::clean_account(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, ImportRow::Account(Box::new(record)))),
        }
        self.flush_if_full()
    }

    /// Adds an open item. Those of a foreign file are skipped: they would tell the agent what to do next.
    pub fn open_item(&mut self, kind: &'static str, mut record: OpenItemRecord) -> Result<(), ImportError> {
        if self.is_foreign() {
            self.skip(kind, ImportSkipReason::Untrusted);
            return Ok(());
        }
        match clean::clean_open_item(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, ImportRow::OpenItem(Box::new(record)))),
        }
        self.flush_if_full()
    }

    /// Adds tombstones: rows that were forgotten elsewhere are not imported from now on. Those of a
    /// foreign file are skipped.
    pub fn tombstones(&mut self, keys: &[String], now: Millis) -> Result<(), ImportError> {
        if self.is_foreign() {
            self.skip_many("tombstones", ImportSkipReason::Untrusted, keys.len() as u64);
            return Ok(());
        }
        for some in keys.chunks(IMPORT_BATCH_ROWS) {
            self.store.write(|tx| some.iter().try_for_each(|key| tx.import_tombstone(key, now)))?;
        }
        Ok(())
    }

    /// Writes the remaining rows and finishes the run.
    pub fn finish(mut self, now: Millis) -> Result<ImportReport, ImportError> {
        self.flush()?;
        if self.is_foreign() {
            // A foreign file must not replace rows that it did not bring.
            self.replaced.retain(|(older, _)| self.new_uids.contains(older));
        }
        for some in self.replaced.chunks(IMPORT_BATCH_ROWS) {
            self.store.write(|tx| {
                some.iter().try_for_each(|(older, newer)| tx.import_replacement(*older, *newer))
            })?;
        }
        for (observation, session) in std::mem::take(&mut self.sources) {
            if let Some(Ok(session)) = self.mapped_session(session)? {
                self.store.write(|tx| tx.import_observation_source(observation, session))?;
            }
        }
        let counts = serde_json::to_string(&self.report).map_err(StoreError::from)?;
        let run = self.run;
        let nothing = self.report.imported() == 0;
        self.store.write(|tx| {
            // A run without rows needs no undo, so its record is removed.
            if nothing && tx.count_import_rows(run)? == 0 {
                tx.undo_import(run, 1).map(drop)
            } else {
                tx.finish_import(run, &counts, now)
            }
        })?;
        if nothing {
            self.report.run = None;
        }
        Ok(self.report)
    }

    fn flush_if_full(&mut self) -> Result<(), ImportError> {
        if self.batch.len() >= IMPORT_BATCH_ROWS { self.flush() } else { Ok(()) }
    }

    /// Writes the pending rows.
    pub fn flush(&mut self) -> Result<(), ImportError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let placed = batch.iter().map(|(_, row)| self.resolve_parents(row));
        let placed = placed.collect::<Result<Vec<_>, _>>()?;
        let outcomes = self.store.write(|tx| {
            let rows = batch.iter().zip(&placed);
            rows.map(|((_, row), placed)| match placed {
                Ok(placed) => write_row(tx, row, *placed).map(Ok),
                Err(why) => Ok(Err(*why)),
            })
            .collect::<Result<Vec<_>, StoreError>>()
        })?;
        for ((kind, row), outcome) in batch.iter().zip(outcomes) {
            let again = self.new_uids.contains(&row.uid());
            if outcome == Ok(RowImportOutcome::New) {
                self.new_uids.insert(row.uid());
            }
            let tally = self.report.tally(kind);
            match outcome {
                Ok(brought) => tally.record_outcome(brought, again),
                Err(why) => tally.skip(why),
            }
        }
        Ok(())
    }

    /// Resolves the row's session and project to our ids.
    fn resolve_parents(&self, row: &ImportRow) -> Result<Result<ImportTarget, ImportSkipReason>, StoreError> {
        let (session, project) = match row {
            ImportRow::Prompt(row) => (row.session, row.project),
            ImportRow::Message(row) => (row.session, row.project),
            ImportRow::Observation(row) => (row.session, row.project),
            ImportRow::Summary(row) => (row.session, row.project),
            ImportRow::Account(row) => (Some(row.session), row.project),
            ImportRow::OpenItem(row) => (Some(row.session), row.project),
        };
        let session = match session {
            Some(uid) => self.mapped_session(uid)?,
            None => None,
        };
        let project = match project {
            Some(uid) => self.mapped_project(uid)?,
            None => None,
        };
        let is_homeless = match row {
            ImportRow::Observation(row) => project.is_none() && row.level == MemoryLevel::Project,
            _ => session.is_none(),
        };
        if is_homeless {
            return Ok(Err(ImportSkipReason::Unreadable));
        }
        let (session, project) = match (session.transpose(), project.transpose()) {
            (Ok(session), Ok(project)) => (session, project),
            (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
        };
        Ok(Ok(ImportTarget { session, project, import_run: self.run }))
    }

    /// A session that the source does not contain may exist from an earlier import.
    fn mapped_session(&self, uid: PublicId) -> Result<Option<MappedId<SessionId>>, StoreError> {
        match self.sessions.get(&uid) {
            Some(place) => Ok(Some(*place)),
            None => Ok(self.store.read().session_by_uid(uid)?.map(Ok)),
        }
    }

    fn mapped_project(&self, uid: PublicId) -> Result<Option<MappedId<ProjectId>>, StoreError> {
        match self.projects.get(&uid) {
            Some(place) => Ok(Some(*place)),
            None => Ok(self.store.read().project_by_uid(uid)?.map(Ok)),
        }
    }
}

fn write_row(
    tx: &StoreWriter<'_>,
    row: &ImportRow,
    placed: ImportTarget,
) -> Result<RowImportOutcome, StoreError> {
    match (row, placed.session) {
        (ImportRow::Observation(row), _) => tx.import_observation(row, placed),
        (ImportRow::Prompt(row), Some(session)) => tx.import_prompt(row, session, placed),
        (ImportRow::Message(row), Some(session)) => tx.import_message(row, session, placed),
        (ImportRow::Summary(row), Some(session)) => tx.import_summary(row, session, placed),
        (ImportRow::Account(row), Some(session)) => tx.import_account(row, session, placed),
        (ImportRow::OpenItem(row), Some(session)) => tx.import_open_item(row, session, placed),
        // Unreachable: resolving the parents rejects these rows without a session.
        (_, None) => Err(StoreError::NoSuchRow { what: "session", id: 0 }),
    }
}
