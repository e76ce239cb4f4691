//! Stores what readers say, an episode and its place in one transaction.

use super::KIND;
use super::find::Found;
use super::learnt::Learnt;
use super::session::{Job, Learned, Left, Part};
use crate::clock::Millis;
use crate::episode::Prompt;
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::event::ProjectHint;
use crate::hook::mute::Marks;
use crate::ids::{ClientSessionId, ProjectId, SessionId};
use crate::import::Skipped;
use crate::memory::Origin;
use crate::paths::DataDir;
use crate::serve::local::LOCAL;
use crate::serve::rows::{Made, Rows};
use crate::store::{
    NewSession, Reads, SessionStatus, Store, StoreError, TranscriptPosition, Writes,
};

/// Looks up what is known of a session. `Err`: it is not to be read.
pub(super) fn place(
    reads: &Reads<'_>,
    found: &Found,
    project: ProjectHint,
    data: &DataDir,
) -> Result<Result<Job, Skipped>, StoreError> {
    let client = CLAUDE_CODE.name;
    let id = ClientSessionId(found.session.clone());
    if Marks::of(data, client, &found.session).is_transcript_closed() {
        return Ok(Err(Skipped::Ignored));
    }
    let row = reads.session_of_client(client, &id)?;
    if let Some(row) = &row {
        if reads.is_transcript_closed(row.id)? {
            return Ok(Err(Skipped::Ignored));
        }
        match reads.import_of_session(row.id)?.as_deref() {
            Some(KIND) => {}
            Some(_) => return Ok(Err(Skipped::AlreadyHere)),
            None => return Ok(Err(Skipped::Captured)),
        }
    } else if reads.queued_place(client, &id)?.oldest_at.is_some() {
        return Ok(Err(Skipped::Captured));
    }
    let path = found.path.to_string_lossy();
    let known = reads.transcripts_read(client, &found.session)?;
    if !known.is_empty() && !known.iter().any(|known| *known == path) {
        // The same session lies in another place too, and was read there.
        return Ok(Err(Skipped::Duplicate));
    }
    let mut agents = Vec::new();
    for agent in &found.agents {
        let left = left(reads, &agent.path.to_string_lossy())?;
        agents.push((agent.clone(), left));
    }
    let prompt = row
        .as_ref()
        .map(|row| reads.newest_prompt(row.id))
        .transpose()?
        .flatten();
    let carry = row
        .as_ref()
        .map(|row| reads.session_carry(row.id))
        .transpose()?
        .flatten();
    Ok(Ok(Job {
        path: found.path.clone(),
        session: id,
        project,
        agents,
        left: left(reads, &path)?,
        since: found.since,
        ended: found.ended,
        prompts: row.as_ref().map_or(0, |row| row.prompt_counter),
        prompt: prompt.map(|prompt| Prompt {
            number: prompt.number,
            text: prompt.text,
            at: prompt.created_at,
        }),
        carry,
        is_known: row.is_some(),
    }))
}

fn left(reads: &Reads<'_>, path: &str) -> Result<Left, StoreError> {
    let Some(position) = reads.transcript_position(path)? else {
        return Ok(Left::default());
    };
    let left: Left = serde_json::from_str(&position.state)?;
    Ok(Left {
        offset: position.offset_bytes,
        ..left
    })
}

pub(super) struct Keeper<'s> {
    store: &'s mut Store,
    run: i64,
    now: Millis,
    /// The session at hand, once it has said something.
    session: Option<(SessionId, ProjectId)>,
    project: String,
    /// Something of it was forgotten: what it carries may tell of that.
    has_forgotten: bool,
    pub learnt: Learnt,
}

impl<'s> Keeper<'s> {
    pub(super) fn new(store: &'s mut Store, run: i64, now: Millis) -> Self {
        Self {
            store,
            run,
            now,
            session: None,
            project: String::new(),
            has_forgotten: false,
            learnt: Learnt::default(),
        }
    }

    pub(super) fn reads(&self) -> Reads<'_> {
        self.store.read()
    }

    /// Another session begins.
    pub(super) fn begin(&mut self) {
        self.session = None;
        self.has_forgotten = false;
    }

    /// Stores some parts of one session in one transaction.
    pub(super) fn keep(&mut self, job: &Job, parts: &[Part]) -> Result<(), StoreError> {
        let says_nothing = parts.iter().all(|part| part.episodes.is_empty());
        if says_nothing && !job.is_known && self.session.is_none() {
            return Ok(());
        }
        let (session, project) = self.home(job, parts)?;
        let (run, now) = (self.run, self.now);
        let home = (session, project);
        let all = || parts.iter().flat_map(|part| &part.episodes);
        let made: Vec<Made> = all().map(made).collect();
        // The first is chosen before the transaction begins; later ones must see what earlier
        // ones leave.
        let first = all().next().zip(made.first());
        let reads = self.store.read();
        let mut first = first
            .map(|(learned, made)| rows_of(learned, job, home, run).choose(&reads, made))
            .transpose()?;
        let last_at = all().flat_map(|learned| &learned.events);
        let last_at = last_at.map(|(_, event)| event.at.millis()).max();
        let mut has_forgotten = self.has_forgotten;
        let left = self.store.write(|tx| {
            let mut left = Vec::new();
            let mut made = made.iter();
            for part in parts {
                let turn = if part.is_agent {
                    turn_of(tx, session, part)?
                } else {
                    None
                };
                for (learned, made) in part.episodes.iter().zip(&mut made) {
                    let rows = Rows {
                        turn,
                        ..rows_of(learned, job, home, run)
                    };
                    let chosen = match first.take() {
                        Some(chosen) => chosen,
                        None => rows.choose(tx, made)?,
                    };
                    let types = chosen.iter().map(|new| new.kind().to_string());
                    let types: Vec<String> = types.collect();
                    let stored = rows.store(tx, made, &chosen)?;
                    has_forgotten |= stored.forgotten > 0;
                    left.push((stored, types));
                }
                mark_seen(tx, part)?;
                if let Some(carry) = part.carry.as_ref().filter(|_| !has_forgotten) {
                    tx.set_session_carry(session, carry)?;
                }
                tx.set_transcript_position(&position(job, part, !has_forgotten)?, now)?;
            }
            if let Some(at) = last_at {
                touch(tx, job, project, at, run)?;
                // A subagent may have ended before the conversation that was read first.
                let at = tx.session(session)?.last_activity;
                tx.set_session_status(session, SessionStatus::Completed, at)?;
            }
            Ok(left)
        })?;
        self.has_forgotten = has_forgotten;
        for (left, types) in &left {
            self.learnt.add(&self.project, left, types);
        }
        Ok(())
    }

    /// The session was read to its end.
    pub(super) fn end(&mut self) {
        if self.session.take().is_some() {
            self.learnt.session(&self.project);
        }
    }

    /// The session's own row and its project's.
    fn home(&mut self, job: &Job, parts: &[Part]) -> Result<(SessionId, ProjectId), StoreError> {
        if let Some(home) = self.session {
            return Ok(home);
        }
        let episodes = parts.iter().flat_map(|part| &part.episodes);
        let events = episodes.flat_map(|learned| &learned.events);
        let first_at = events
            .map(|(_, event)| event.at.millis())
            .min()
            .unwrap_or_default();
        let run = self.run;
        let home = self.store.write(|tx| {
            let project = tx.ensure_project(&job.project, first_at)?;
            let session = tx.ensure_session(&new_session(job, project, first_at, run))?;
            Ok((session, project))
        })?;
        self.project = self.store.read().project(home.1)?.name;
        self.session = Some(home);
        Ok(home)
    }
}

fn rows_of<'e>(
    learned: &'e Learned,
    job: &'e Job,
    (session, project): (SessionId, ProjectId),
    run: i64,
) -> Rows<'e> {
    Rows {
        session,
        project: Some(project),
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

fn made(learned: &Learned) -> Made {
    Made {
        distilled: learned.distilled.clone(),
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
