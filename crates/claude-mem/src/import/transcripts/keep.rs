//! Stores what readers say: episodes, and in the same transaction the places behind them.
//!
//! Several sessions may share a transaction: a person's past is mostly short ones, and what a
//! commit costs does not depend on how much is in it.

use std::sync::Arc;

use super::learnt::Learnt;
use super::session::{Job, Learned, Part};
use crate::clock::Millis;
use crate::hook::agents::CLAUDE_CODE;
use crate::ids::{ProjectId, SessionId};
use crate::limits::{IMPORT_BATCH_EPISODES, IMPORT_BATCH_PARTS};
use crate::memory::Origin;
use crate::serve::local::LOCAL;
use crate::serve::rows::{self, Made, Rows};
use crate::store::{
    NewSession, Reads, SessionStatus, Store, StoreError, TranscriptPosition, Writes,
};

pub(super) struct Keeper<'s> {
    store: &'s mut Store,
    run: i64,
    now: Millis,
    /// What waits for the next transaction, in order.
    waiting: Vec<Waiting>,
    /// The session that was stored last, if it may go on.
    home: Option<Home>,
    pub learnt: Learnt,
}

/// Something that readers have said of a session.
enum Waiting {
    Part(Arc<Job>, Part),
    /// The session was read to its end.
    End(Arc<Job>),
}

/// The rows under which everything of a session is kept.
#[derive(Clone)]
struct Home {
    job: Arc<Job>,
    session: SessionId,
    project: ProjectId,
    /// The project's name.
    name: String,
    /// Something of it was forgotten: what it carries may tell of that.
    has_forgotten: bool,
}

/// What one transaction left.
#[derive(Default)]
struct Kept {
    episodes: Vec<(String, rows::Left, Vec<String>)>,
    /// The project's name of each session that came to its end.
    ended: Vec<String>,
    home: Option<Home>,
}

impl<'s> Keeper<'s> {
    pub(super) fn new(store: &'s mut Store, run: i64, now: Millis) -> Self {
        Self {
            store,
            run,
            now,
            waiting: Vec::new(),
            home: None,
            learnt: Learnt::default(),
        }
    }

    pub(super) fn reads(&self) -> Reads<'_> {
        self.store.read()
    }

    /// Takes a part of a session over. It is stored when enough has come together.
    pub(super) fn keep(&mut self, job: &Arc<Job>, part: Part) -> Result<(), StoreError> {
        self.waiting.push(Waiting::Part(Arc::clone(job), part));
        let episodes = self.waiting.iter().map(Waiting::episodes).sum::<usize>();
        if episodes >= IMPORT_BATCH_EPISODES || self.waiting.len() >= IMPORT_BATCH_PARTS {
            self.store()?;
        }
        Ok(())
    }

    /// The session was read to its end.
    pub(super) fn end(&mut self, job: &Arc<Job>) {
        self.waiting.push(Waiting::End(Arc::clone(job)));
    }

    /// Stores what waits, in one transaction.
    pub(super) fn store(&mut self) -> Result<(), StoreError> {
        let waiting = std::mem::take(&mut self.waiting);
        if waiting.is_empty() {
            return Ok(());
        }
        let (run, now) = (self.run, self.now);
        let begin = Kept {
            home: self.home.take(),
            ..Kept::default()
        };
        let kept = self.store.write_many(|tx| {
            let mut batch = Batch {
                tx,
                run,
                now,
                kept: begin,
            };
            let mut waiting = waiting.into_iter().peekable();
            while let Some(next) = waiting.next() {
                match next {
                    Waiting::End(job) => batch.end(&job),
                    Waiting::Part(job, part) => {
                        let mut parts = vec![part];
                        while let Some(Waiting::Part(_, part)) =
                            waiting.next_if(|next| next.is_part_of(&job))
                        {
                            parts.push(part);
                        }
                        batch.session(&job, parts)?;
                    }
                }
            }
            Ok(batch.kept)
        })?;
        self.home = kept.home;
        for (project, left, types) in &kept.episodes {
            self.learnt.add(project, left, types);
        }
        for project in &kept.ended {
            self.learnt.session(project);
        }
        Ok(())
    }
}

impl Waiting {
    fn episodes(&self) -> usize {
        match self {
            Self::Part(_, part) => part.episodes.len(),
            Self::End(_) => 0,
        }
    }

    fn is_part_of(&self, job: &Arc<Job>) -> bool {
        matches!(self, Self::Part(of, _) if Arc::ptr_eq(of, job))
    }
}

/// One transaction.
struct Batch<'t> {
    tx: &'t Writes<'t>,
    run: i64,
    now: Millis,
    kept: Kept,
}

impl Batch<'_> {
    fn end(&mut self, job: &Arc<Job>) {
        if let Some(home) = self.kept.home.take_if(|home| Arc::ptr_eq(&home.job, job)) {
            self.kept.ended.push(home.name);
        }
    }

    /// Stores some parts of one session.
    fn session(&mut self, job: &Arc<Job>, parts: Vec<Part>) -> Result<(), StoreError> {
        let says_nothing = parts.iter().all(|part| part.episodes.is_empty());
        let is_under_way = self.home_of(job).is_some();
        // A session in which nothing happened leaves no trace.
        if says_nothing && !job.is_known && !is_under_way {
            return Ok(());
        }
        let (tx, run) = (self.tx, self.run);
        let mut home = self.home(job, &parts)?;
        let events = || parts.iter().flat_map(|part| &part.episodes);
        let events = events().flat_map(|learned| &learned.events);
        let last_at = events.map(|(_, event)| event.at.millis()).max();
        let mut places: Vec<TranscriptPosition> = Vec::new();
        let mut carry = None;
        for mut part in parts {
            let turn = if part.is_agent {
                turn_of(tx, home.session, &part)?
            } else {
                None
            };
            for learned in &mut part.episodes {
                let made = made(learned);
                let rows = Rows {
                    turn,
                    ..rows_of(learned, job, &home, run)
                };
                let chosen = rows.choose(tx, &made)?;
                let types = chosen.iter().map(|new| new.kind().to_string()).collect();
                let left = rows.store(tx, &made, &chosen)?;
                home.has_forgotten |= left.forgotten > 0;
                self.kept.episodes.push((home.name.clone(), left, types));
            }
            mark_seen(tx, &part)?;
            let place = position(job, &part, !home.has_forgotten)?;
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
            touch(tx, job, home.project, at, run)?;
            // A subagent may have ended before the conversation that was read first.
            let at = tx.session(home.session)?.last_activity;
            tx.set_session_status(home.session, SessionStatus::Completed, at)?;
        }
        self.kept.home = Some(home);
        Ok(())
    }

    fn home_of(&self, job: &Arc<Job>) -> Option<&Home> {
        let home = self.kept.home.as_ref();
        home.filter(|home| Arc::ptr_eq(&home.job, job))
    }

    /// The session's own row and its project's.
    fn home(&self, job: &Arc<Job>, parts: &[Part]) -> Result<Home, StoreError> {
        if let Some(home) = self.home_of(job) {
            return Ok(home.clone());
        }
        let episodes = parts.iter().flat_map(|part| &part.episodes);
        let events = episodes.flat_map(|learned| &learned.events);
        let first_at = events
            .map(|(_, event)| event.at.millis())
            .min()
            .unwrap_or_default();
        let project = self.tx.ensure_project(&job.project, first_at)?;
        let session = new_session(job, project, first_at, self.run);
        Ok(Home {
            job: Arc::clone(job),
            session: self.tx.ensure_session(&session)?,
            project,
            name: self.tx.project(project)?.name,
            has_forgotten: false,
        })
    }
}

fn rows_of<'e>(learned: &'e Learned, job: &'e Job, home: &Home, run: i64) -> Rows<'e> {
    Rows {
        session: home.session,
        project: Some(home.project),
        branch: job.project.branch.as_deref(),
        events: learned.events.iter().map(|(_, event)| event).collect(),
        import_run: Some(run),
        turn: None,
    }
}

fn new_session(job: &Job, project: ProjectId, at: Millis, run: i64) -> NewSession<'_> {
    NewSession {
        client: CLAUDE_CODE.name,
        client_session: &job.session,
        project: Some(project),
        branch: job.project.branch.as_deref(),
        transcript_path: job.path.to_str(),
        origin: Origin::Import,
        import_run: Some(run),
        at,
    }
}

/// The session and its project were active then.
fn touch(
    tx: &Writes<'_>,
    job: &Job,
    project: ProjectId,
    at: Millis,
    run: i64,
) -> Result<(), StoreError> {
    tx.ensure_project(&job.project, at)?;
    tx.ensure_session(&new_session(job, project, at, run))
        .map(drop)
}

fn made(learned: &mut Learned) -> Made {
    Made {
        distilled: std::mem::take(&mut learned.distilled),
        by: LOCAL.to_owned(),
        carry: None,
        rolling_summary: None,
    }
}

/// The turn that a subagent worked for.
fn turn_of(reads: &Reads<'_>, session: SessionId, part: &Part) -> Result<Option<u32>, StoreError> {
    let mut events = part.episodes.iter().flat_map(|learned| &learned.events);
    match events.find_map(|(_, event)| event.prompt_id.as_deref()) {
        Some(prompt) => reads.prompt_number(session, prompt),
        None => Ok(None),
    }
}

/// Hooks and the worker's own reader never report these again.
fn mark_seen(tx: &Writes<'_>, part: &Part) -> Result<(), StoreError> {
    let mut events = part.episodes.iter().flat_map(|learned| &learned.events);
    events.try_for_each(|(key, _)| tx.mark_seen(*key))
}

fn position(job: &Job, part: &Part, carries: bool) -> Result<TranscriptPosition, StoreError> {
    let mut left = part.left.clone();
    left.carry = left.carry.filter(|_| carries);
    Ok(TranscriptPosition {
        path: part.path.to_string_lossy().into_owned(),
        client: CLAUDE_CODE.name.to_owned(),
        session: job.session.0.clone(),
        offset_bytes: part.left.offset,
        state: serde_json::to_string(&left)?,
    })
}
