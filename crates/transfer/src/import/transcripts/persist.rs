//! Persists the episodes that reader threads send, with the transcript positions behind them.
//!
//! [`TranscriptPersister`] collects [`SessionPart`]s and writes them in batches. Several sessions may
//! share a transaction: most sessions are short, and the cost of a commit does not depend on its size.

use std::sync::Arc;

use super::session::{DistilledEpisode, SessionPart, SessionReadJob};
use crate::import::transcripts::summary::ImportSummary;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::EventBody;
use claude_mem_core::ids::{ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{CompressionOutput, Origin};
use claude_mem_ingest::heuristic_compressor::LOCAL;
use claude_mem_ingest::persist;
use claude_mem_ingest::persist::{CompressedEpisode, EpisodeWriter};
use claude_mem_ingest::session_memory::SessionMemoryWriter;
use claude_mem_store::{
    NewSession, SessionStatus, Store, StoreError, StoreReader, StoreWriter, TranscriptPosition,
};

/// Parts of sessions, each with a transcript position, that are stored in one transaction.
const IMPORT_BATCH_PARTS: usize = 64;

/// Transcript episodes, of one session or several, that are stored in one transaction.
const IMPORT_BATCH_EPISODES: usize = 12;

/// Writes session parts to the store, in order.
pub(super) struct TranscriptPersister<'s> {
    store: &'s mut Store,
    run: i64,
    now: Millis,
    /// Pending writes of the next transaction, in order.
    pending: Vec<PendingWrite>,
    /// The session that was stored last, if more parts of it may follow.
    current: Option<StoredSession>,
    pub summary: ImportSummary,
}

/// A pending write.
enum PendingWrite {
    Part(Arc<SessionReadJob>, Box<SessionPart>),
    /// The session was read completely.
    End(Arc<SessionReadJob>),
}

/// The session and project rows that a session's rows refer to.
#[derive(Clone)]
struct StoredSession {
    job: Arc<SessionReadJob>,
    session: SessionId,
    project: ProjectId,
    /// The project's name.
    name: String,
    /// Part of the session was forgotten: its carried state may repeat that.
    has_forgotten: bool,
}

/// Result of one transaction.
#[derive(Default)]
struct BatchResult {
    episodes: Vec<(String, persist::StoredRows)>,
    /// New observations, each with its project and type.
    inserted: Vec<(ObservationId, String, String)>,
    removed: Vec<ObservationId>,
    /// Project name of each session that was read completely.
    ended: Vec<String>,
    current: Option<StoredSession>,
}

impl<'s> TranscriptPersister<'s> {
    pub(super) fn new(store: &'s mut Store, run: i64, now: Millis) -> Self {
        Self { store, run, now, pending: Vec::new(), current: None, summary: ImportSummary::default() }
    }

    pub(super) fn reads(&self) -> StoreReader<'_> {
        self.store.read()
    }

    /// Adds a part of a session, and flushes once the batch is full.
    pub(super) fn add_part(
        &mut self,
        job: &Arc<SessionReadJob>,
        part: Box<SessionPart>,
    ) -> Result<(), StoreError> {
        self.pending.push(PendingWrite::Part(Arc::clone(job), part));
        let episodes = self.pending.iter().map(PendingWrite::episodes).sum::<usize>();
        if episodes >= IMPORT_BATCH_EPISODES || self.pending.len() >= IMPORT_BATCH_PARTS {
            self.flush()?;
        }
        Ok(())
    }

    /// Marks the session as read completely.
    pub(super) fn end_session(&mut self, job: &Arc<SessionReadJob>) {
        self.pending.push(PendingWrite::End(Arc::clone(job)));
    }

    /// Stores the pending writes in one transaction.
    pub(super) fn flush(&mut self) -> Result<(), StoreError> {
        let waiting = std::mem::take(&mut self.pending);
        if waiting.is_empty() {
            return Ok(());
        }
        let (run, now) = (self.run, self.now);
        let begin = BatchResult { current: self.current.take(), ..BatchResult::default() };
        let kept = self.store.write_batch(|tx| {
            let mut batch = ImportBatch { tx, run, now, result: begin };
            let mut waiting = waiting.into_iter().peekable();
            while let Some(next) = waiting.next() {
                match next {
                    PendingWrite::End(job) => batch.end_session(&job),
                    PendingWrite::Part(job, part) => {
                        let mut parts = vec![*part];
                        while let Some(PendingWrite::Part(_, part)) =
                            waiting.next_if(|next| next.is_part_of(&job))
                        {
                            parts.push(*part);
                        }
                        batch.store_parts(&job, parts)?;
                    }
                }
            }
            Ok(batch.result)
        })?;
        self.current = kept.current;
        for (project, left) in &kept.episodes {
            self.summary.add_episode(project, left);
        }
        for (id, project, kind) in kept.inserted {
            self.summary.add_observation(id, project, kind);
        }
        for id in kept.removed {
            self.summary.remove_observation(id);
        }
        for project in &kept.ended {
            self.summary.add_session(project);
        }
        Ok(())
    }
}

impl PendingWrite {
    fn episodes(&self) -> usize {
        match self {
            Self::Part(_, part) => part.episodes.len(),
            Self::End(_) => 0,
        }
    }

    fn is_part_of(&self, job: &Arc<SessionReadJob>) -> bool {
        matches!(self, Self::Part(of, _) if Arc::ptr_eq(of, job))
    }
}

/// One transaction in progress.
struct ImportBatch<'t> {
    tx: &'t StoreWriter<'t>,
    run: i64,
    now: Millis,
    result: BatchResult,
}

impl ImportBatch<'_> {
    fn end_session(&mut self, job: &Arc<SessionReadJob>) {
        if let Some(home) = self.result.current.take_if(|home| Arc::ptr_eq(&home.job, job)) {
            self.result.ended.push(home.name);
        }
    }

    /// Stores consecutive parts of one session.
    fn store_parts(&mut self, job: &Arc<SessionReadJob>, parts: Vec<SessionPart>) -> Result<(), StoreError> {
        let says_nothing = parts.iter().all(|part| part.episodes.is_empty());
        let is_under_way = self.current_session(job).is_some();
        // A session without episodes leaves no row.
        if says_nothing && !job.is_known && !is_under_way {
            return Ok(());
        }
        let (tx, run) = (self.tx, self.run);
        let mut home = self.ensure_session(job, &parts)?;
        let episodes = parts.iter().flat_map(|part| &part.episodes);
        let events = episodes.flat_map(|learned| &learned.events);
        let last_at = events.map(|(_, event)| event.at.millis()).max();
        let mut places: Vec<TranscriptPosition> = Vec::new();
        let mut carry = None;
        let mut prompt_number = 0;
        for mut part in parts {
            let turn = if part.is_agent { subagent_turn(tx, home.session, &part)? } else { None };
            for learned in &mut part.episodes {
                if job.is_known {
                    drop_seen_reports(tx, learned)?;
                }
                let made = compressed_episode(learned);
                let rows = EpisodeWriter { prompt_number: turn, ..episode_writer(learned, job, &home, run) };
                let chosen = rows.select_observations(tx, &made)?;
                let left = rows.store(tx, &made, &chosen)?;
                home.has_forgotten |= left.forgotten > 0;
                prompt_number = left.prompt_number;
                self.result.episodes.push((home.name.clone(), left));
            }
            mark_seen(tx, &part)?;
            let place = transcript_position(job, &part, !home.has_forgotten)?;
            places.retain(|earlier| earlier.path != place.path);
            places.push(place);
            carry = part.carry.filter(|_| !home.has_forgotten).or(carry);
        }
        for place in &places {
            tx.set_transcript_position(place, self.now)?;
        }
        if let Some(carry) = &carry {
            tx.set_session_carry(home.session, carry)?;
        }
        if let Some(at) = last_at {
            self.consolidate(job, &home, prompt_number, at)?;
            touch(tx, job, home.project, at, run)?;
            // A subagent may have ended before the main conversation, which was read first.
            let at = tx.session(home.session)?.last_activity;
            tx.set_session_status(home.session, SessionStatus::Completed, at)?;
        }
        self.result.current = Some(home);
        Ok(())
    }

    /// Consolidates the session, once for all episodes of the transaction: the result depends on the claims,
    /// not on how they were grouped.
    fn consolidate(
        &mut self,
        job: &SessionReadJob,
        home: &StoredSession,
        prompt_number: u32,
        now: Millis,
    ) -> Result<(), StoreError> {
        let memory = SessionMemoryWriter {
            session: home.session,
            project: Some(home.project),
            branch: job.project.branch.as_deref(),
            import_run: Some(self.run),
            prompt_number,
            now,
            model: None,
        };
        let changes = memory.consolidate(self.tx, &claude_mem_distil::consolidate)?;
        for row in self.tx.observations_by_id(&changes.inserted)? {
            self.result.inserted.push((row.id, home.name.clone(), row.text.kind.to_string()));
        }
        self.result.removed.extend(changes.removed);
        Ok(())
    }

    fn current_session(&self, job: &Arc<SessionReadJob>) -> Option<&StoredSession> {
        let home = self.result.current.as_ref();
        home.filter(|home| Arc::ptr_eq(&home.job, job))
    }

    /// Returns the session and project rows, and creates them if they do not exist.
    fn ensure_session(
        &self,
        job: &Arc<SessionReadJob>,
        parts: &[SessionPart],
    ) -> Result<StoredSession, StoreError> {
        if let Some(home) = self.current_session(job) {
            return Ok(home.clone());
        }
        let episodes = parts.iter().flat_map(|part| &part.episodes);
        let events = episodes.flat_map(|learned| &learned.events);
        let first_at = events.map(|(_, event)| event.at.millis()).min().unwrap_or_default();
        let project = self.tx.ensure_project(&job.project, first_at)?;
        let session = new_session(job, project, first_at, self.run);
        Ok(StoredSession {
            job: Arc::clone(job),
            session: self.tx.ensure_session(&session)?,
            project,
            name: self.tx.project(project)?.name,
            has_forgotten: false,
        })
    }
}

fn episode_writer<'e>(
    learned: &'e DistilledEpisode,
    job: &'e SessionReadJob,
    home: &StoredSession,
    run: i64,
) -> EpisodeWriter<'e> {
    EpisodeWriter {
        session: home.session,
        project: Some(home.project),
        branch: job.project.branch.as_deref(),
        events: learned.events.iter().map(|(_, event)| event).collect(),
        import_run: Some(run),
        prompt_number: None,
    }
}

fn new_session(job: &SessionReadJob, project: ProjectId, at: Millis, run: i64) -> NewSession<'_> {
    NewSession {
        client: job.agent.name,
        client_session: &job.session,
        project: Some(project),
        branch: job.project.branch.as_deref(),
        transcript_path: job.path.to_str(),
        origin: Origin::Import,
        import_run: Some(run),
        at,
    }
}

/// Updates the last activity of the session and its project.
fn touch(
    tx: &StoreWriter<'_>,
    job: &SessionReadJob,
    project: ProjectId,
    at: Millis,
    run: i64,
) -> Result<(), StoreError> {
    tx.ensure_project(&job.project, at)?;
    tx.ensure_session(&new_session(job, project, at, run)).map(drop)
}

fn compressed_episode(learned: &mut DistilledEpisode) -> CompressedEpisode {
    CompressedEpisode {
        distilled: CompressionOutput { summary: learned.summary.take(), ..CompressionOutput::default() },
        claims: Some(std::mem::take(&mut learned.claims)),
        made_by: LOCAL.to_owned(),
        carry: None,
        rolling_summary: None,
    }
}

/// The number of the turn that a subagent worked for.
fn subagent_turn(
    reads: &StoreReader<'_>,
    session: SessionId,
    part: &SessionPart,
) -> Result<Option<u32>, StoreError> {
    let mut events = part.episodes.iter().flat_map(|learned| &learned.events);
    match events.find_map(|(_, event)| event.prompt_id.as_deref()) {
        Some(prompt) => reads.prompt_number(session, prompt),
        None => Ok(None),
    }
}

/// Drops the reports of subagents that an earlier import has stored from another transcript.
fn drop_seen_reports(reads: &StoreReader<'_>, learned: &mut DistilledEpisode) -> Result<(), StoreError> {
    let mut seen = Vec::new();
    for (key, event) in &learned.events {
        if matches!(event.body, EventBody::SubagentStop { .. }) && reads.has_seen(*key)? {
            seen.push(*key);
        }
    }
    learned.events.retain(|(key, _)| !seen.contains(key));
    Ok(())
}

/// Marks the events as seen, so that neither hooks nor transcript backfill report them again.
fn mark_seen(tx: &StoreWriter<'_>, part: &SessionPart) -> Result<(), StoreError> {
    let mut events = part.episodes.iter().flat_map(|learned| &learned.events);
    events.try_for_each(|(key, _)| tx.mark_seen(*key))
}

fn transcript_position(
    job: &SessionReadJob,
    part: &SessionPart,
    carries: bool,
) -> Result<TranscriptPosition, StoreError> {
    let mut left = part.resume.clone();
    left.carry = left.carry.filter(|_| carries);
    Ok(TranscriptPosition {
        path: part.path.to_string_lossy().into_owned(),
        client: job.agent.name.to_owned(),
        session: job.session.0.clone(),
        offset_bytes: part.resume.offset,
        state: serde_json::to_string(&left)?,
    })
}
