//! Takes rows of others in, a few per transaction, and counts.
//!
//! Rows name their session and project by public ids; here those become ours. Hooks wait for no
//! more than a few rows at a time.

use std::collections::{HashMap, HashSet};

use super::clean;
use super::report::{Report, Skipped};
use super::{Around, ImportError};
use crate::clock::Millis;
use crate::hook::event::ProjectHint;
use crate::ids::{ProjectId, PublicId, SessionId};
use crate::limits::IMPORT_BATCH_ROWS;
use crate::store::{
    Brought, Level, MessageRecord, ObservationRecord, Placed, ProjectRecord, PromptRecord,
    SessionRecord, SessionStatus, Store, StoreError, SummaryRecord, Writes,
};

/// What something is among ours, or why it is nothing.
type Place<T> = Result<T, Skipped>;

#[allow(missing_debug_implementations, reason = "it holds what others own")]
pub struct Taker<'a> {
    store: &'a mut Store,
    around: Around<'a>,
    run: i64,
    report: Report,
    projects: HashMap<PublicId, Place<ProjectId>>,
    sessions: HashMap<PublicId, Place<SessionId>>,
    batch: Vec<(&'static str, Row)>,
    /// What came in just now: the same again is said twice.
    taken: HashSet<PublicId>,
    /// Older and newer of memories that took another's place: both must be here first.
    replaced: Vec<(PublicId, PublicId)>,
}

enum Row {
    Prompt(PromptRecord),
    Message(MessageRecord),
    Observation(Box<ObservationRecord>),
    Summary(Box<SummaryRecord>),
}

impl Row {
    const fn uid(&self) -> PublicId {
        match self {
            Self::Prompt(row) => row.uid,
            Self::Message(row) => row.uid,
            Self::Observation(row) => row.uid,
            Self::Summary(row) => row.uid,
        }
    }
}

impl<'a> Taker<'a> {
    /// Goes on with an unfinished run of this source, or begins one.
    pub fn begin(
        store: &'a mut Store,
        around: Around<'a>,
        kind: &str,
        source: &str,
        now: Millis,
    ) -> Result<Self, ImportError> {
        let run = store.write(|tx| tx.resume_import(kind, source, now))?;
        Ok(Self {
            store,
            around,
            run,
            report: Report {
                run: Some(run),
                source: source.to_owned(),
                ..Report::default()
            },
            projects: HashMap::new(),
            sessions: HashMap::new(),
            batch: Vec::new(),
            taken: HashSet::new(),
            replaced: Vec::new(),
        })
    }

    pub fn reads(&self) -> crate::store::Reads<'_> {
        self.store.read()
    }

    pub fn skip(&mut self, kind: &'static str, why: Skipped) {
        self.report.tally(kind).skip(why);
    }

    pub fn skip_many(&mut self, kind: &'static str, why: Skipped, rows: u64) {
        if rows > 0 {
            self.report.tally(kind).skip_many(why, rows);
        }
    }

    /// Whether nothing of this project is to be kept.
    pub fn ignores(&self, record: &ProjectRecord) -> bool {
        let hint = ProjectHint {
            name: record.name.clone(),
            keys: record.keys.clone(),
            root: record.root.clone(),
            branch: None,
        };
        let settings = self.around.settings;
        settings.ignore_everything || settings.ignores(&hint, self.around.home)
    }

    /// Rows of this project go to the one of ours that is the same; nowhere, if it is ignored.
    pub fn project(&mut self, record: &ProjectRecord) -> Result<(), ImportError> {
        let place = if self.ignores(record) {
            Err(Skipped::Ignored)
        } else {
            Ok(self.store.write(|tx| tx.bring_project(record))?)
        };
        self.projects.insert(record.uid, place);
        Ok(())
    }

    /// Rows of `uid` belong to a project that is known to be ours.
    pub fn is_project(&mut self, uid: PublicId, ours: ProjectId) {
        self.projects.insert(uid, Ok(ours));
    }

    /// Rows of `uid` belong to a project of which nobody knows what it is.
    pub fn is_unreadable(&mut self, uid: PublicId) {
        self.projects.insert(uid, Err(Skipped::Unreadable));
    }

    /// Something besides the rows could not be read.
    pub fn problem(&mut self, path: &std::path::Path, why: impl std::fmt::Display) {
        self.report.problem(path, why);
    }

    /// Known by now, whether it is taken in or not.
    pub fn knows_project(&self, uid: PublicId) -> bool {
        self.projects.contains_key(&uid)
    }

    /// `counted`: a row of its own, and not only what others refer to.
    pub fn session(
        &mut self,
        kind: &'static str,
        mut record: SessionRecord,
        counted: bool,
    ) -> Result<(), ImportError> {
        let place = record
            .project
            .and_then(|uid| self.projects.get(&uid))
            .copied();
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
        clean::session(&mut record);
        let run = self.run;
        let (id, brought, ignored) = self.store.write(|tx| {
            let (id, brought) = tx.bring_session(&record, project, run)?;
            let ignored = tx.session(id)?.status == SessionStatus::Ignored;
            Ok((id, brought, ignored))
        })?;
        let place = if ignored {
            Err(Skipped::Ignored)
        } else {
            Ok(id)
        };
        let twice = self.sessions.insert(record.uid, place);
        if counted {
            self.report.tally(kind).brought(brought, twice.is_some());
        }
        Ok(())
    }

    pub fn prompt(
        &mut self,
        kind: &'static str,
        mut record: PromptRecord,
    ) -> Result<(), ImportError> {
        match clean::prompt(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, Row::Prompt(record))),
        }
        self.flush_if_full()
    }

    pub fn message(
        &mut self,
        kind: &'static str,
        mut record: MessageRecord,
    ) -> Result<(), ImportError> {
        match clean::message(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, Row::Message(record))),
        }
        self.flush_if_full()
    }

    pub fn observation(
        &mut self,
        kind: &'static str,
        mut record: ObservationRecord,
    ) -> Result<(), ImportError> {
        match clean::observation(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => {
                self.replaced
                    .extend(record.replaced_by.map(|newer| (record.uid, newer)));
                self.batch.push((kind, Row::Observation(Box::new(record))));
            }
        }
        self.flush_if_full()
    }

    pub fn summary(
        &mut self,
        kind: &'static str,
        mut record: SummaryRecord,
    ) -> Result<(), ImportError> {
        match clean::summary(&mut record) {
            Err(why) => self.skip(kind, why),
            Ok(()) => self.batch.push((kind, Row::Summary(Box::new(record)))),
        }
        self.flush_if_full()
    }

    /// What was forgotten elsewhere is not brought in from now on.
    pub fn tombstones(&mut self, keys: &[String], now: Millis) -> Result<(), ImportError> {
        for some in keys.chunks(IMPORT_BATCH_ROWS) {
            self.store
                .write(|tx| some.iter().try_for_each(|key| tx.bring_tombstone(key, now)))?;
        }
        Ok(())
    }

    /// Everything is in: the run is over.
    pub fn finish(mut self, now: Millis) -> Result<Report, ImportError> {
        self.flush()?;
        for some in self.replaced.chunks(IMPORT_BATCH_ROWS) {
            self.store.write(|tx| {
                some.iter()
                    .try_for_each(|(older, newer)| tx.bring_replacement(*older, *newer))
            })?;
        }
        let counts = serde_json::to_string(&self.report).map_err(StoreError::from)?;
        let run = self.run;
        let nothing = self.report.imported() == 0;
        self.store.write(|tx| {
            // A run that brought nothing has nothing to be undone.
            if nothing && tx.rows_of_import(run)? == 0 {
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
        if self.batch.len() >= IMPORT_BATCH_ROWS {
            self.flush()
        } else {
            Ok(())
        }
    }

    /// Writes what waits to be written.
    pub fn flush(&mut self) -> Result<(), ImportError> {
        let batch = std::mem::take(&mut self.batch);
        if batch.is_empty() {
            return Ok(());
        }
        let placed = batch.iter().map(|(_, row)| self.placed(row));
        let placed = placed.collect::<Result<Vec<_>, _>>()?;
        let outcomes = self.store.write(|tx| {
            let rows = batch.iter().zip(&placed);
            rows.map(|((_, row), placed)| match placed {
                Ok(placed) => bring(tx, row, *placed).map(Ok),
                Err(why) => Ok(Err(*why)),
            })
            .collect::<Result<Vec<_>, StoreError>>()
        })?;
        for ((kind, row), outcome) in batch.iter().zip(outcomes) {
            let again = self.taken.contains(&row.uid());
            if outcome == Ok(Brought::New) {
                self.taken.insert(row.uid());
            }
            let tally = self.report.tally(kind);
            match outcome {
                Ok(brought) => tally.brought(brought, again),
                Err(why) => tally.skip(why),
            }
        }
        Ok(())
    }

    /// Where the row belongs among ours.
    fn placed(&self, row: &Row) -> Result<Result<Placed, Skipped>, StoreError> {
        let (session, project) = match row {
            Row::Prompt(row) => (row.session, row.project),
            Row::Message(row) => (row.session, row.project),
            Row::Observation(row) => (row.session, row.project),
            Row::Summary(row) => (row.session, row.project),
        };
        let session = match session {
            Some(uid) => self.session_place(uid)?,
            None => None,
        };
        let project = match project {
            Some(uid) => self.project_place(uid)?,
            None => None,
        };
        let is_homeless = match row {
            Row::Observation(row) => project.is_none() && row.level == Level::Project,
            _ => session.is_none(),
        };
        if is_homeless {
            return Ok(Err(Skipped::Unreadable));
        }
        let (session, project) = match (session.transpose(), project.transpose()) {
            (Ok(session), Ok(project)) => (session, project),
            (Err(why), _) | (_, Err(why)) => return Ok(Err(why)),
        };
        Ok(Ok(Placed {
            session,
            project,
            run: self.run,
        }))
    }

    /// One that the source has not told of may still be here from before.
    fn session_place(&self, uid: PublicId) -> Result<Option<Place<SessionId>>, StoreError> {
        match self.sessions.get(&uid) {
            Some(place) => Ok(Some(*place)),
            None => Ok(self.store.read().session_by_uid(uid)?.map(Ok)),
        }
    }

    fn project_place(&self, uid: PublicId) -> Result<Option<Place<ProjectId>>, StoreError> {
        match self.projects.get(&uid) {
            Some(place) => Ok(Some(*place)),
            None => Ok(self.store.read().project_by_uid(uid)?.map(Ok)),
        }
    }
}

fn bring(tx: &Writes<'_>, row: &Row, placed: Placed) -> Result<Brought, StoreError> {
    match (row, placed.session) {
        (Row::Observation(row), _) => tx.bring_observation(row, placed),
        (Row::Prompt(row), Some(session)) => tx.bring_prompt(row, session, placed),
        (Row::Message(row), Some(session)) => tx.bring_message(row, session, placed),
        (Row::Summary(row), Some(session)) => tx.bring_summary(row, session, placed),
        // Whoever places rows has seen to it that these have a session.
        (Row::Prompt(_) | Row::Message(_) | Row::Summary(_), None) => Err(StoreError::NoSuchRow {
            what: "session",
            id: 0,
        }),
    }
}
