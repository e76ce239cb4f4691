//! The second witness: what the client wrote down of a session, and no hook delivered.
//!
//! In: a session that is about to be worked on, or one that fell silent. Out: events in the queue,
//! under the keys that their hooks would have given them.
//!
//! Invariant: the same rules as for hooks. The transcript of a session that is ignored, disabled,
//! paused or under rules of its own is not opened; where it is unclear, it is not opened either.
//! A place in a transcript is saved together with the last events before it, and only if all of
//! them were taken: reading twice does no harm, skipping would.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::shared::SharedStore;
use super::testimony::Testimony;
use crate::clock::{self, Millis};
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::event::ProjectHint;
use crate::hook::mute::Marks;
use crate::hook::settings::HookSettings;
use crate::ids::{ClientSessionId, ProjectId};
use crate::limits::{UNHEARD_SECONDS_MAX, WITNESS_MARGIN_SECONDS, WITNESS_SESSIONS_MAX};
use crate::pause;
use crate::store::{Head, Reads, ReadySession, Session, StoreError, Writes};
use crate::transcript::{self, Agent, Position, Rules};

/// Why a transcript was not heard to its end. It is read again another time.
#[derive(Debug, thiserror::Error)]
pub enum Unheard {
    #[error("a transcript: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// It is being read for another reason.
    #[error("a transcript is being read already")]
    Busy,
}

/// What became of the sessions that fell silent.
#[derive(Debug, Default)]
pub struct Silent {
    /// Events that are new.
    pub told: usize,
    /// Why some of them could not be heard.
    pub unheard: Vec<Unheard>,
}

#[derive(Debug)]
pub struct Witness {
    store: Arc<SharedStore>,
    /// The user's, for the `~` of patterns.
    home: String,
    /// Transcripts that somebody reads just now.
    busy: Mutex<HashSet<PathBuf>>,
}

/// A session whose transcript may be read.
#[derive(Debug)]
struct Subject {
    session: ClientSessionId,
    path: PathBuf,
    project: Option<ProjectHint>,
    since: Millis,
    /// It will not go on.
    ended: bool,
}

impl Witness {
    pub fn new(store: Arc<SharedStore>, home: String) -> Self {
        Self {
            store,
            home,
            busy: Mutex::default(),
        }
    }

    /// A session is about to be worked on: what its hooks did not deliver comes first. Where a
    /// session begins, those of its project that never ended are heard too, since the client may
    /// have died over them. The number of events that are new.
    pub fn hear(&self, ready: &ReadySession, heads: &[Head]) -> Result<Silent, Unheard> {
        let has = |kind: &str| heads.iter().any(|head| head.kind == kind);
        if ready.client != CLAUDE_CODE.name {
            return Ok(Silent::default());
        }
        let told = match self.hear_session(&ready.session, has("session_end")) {
            // Whoever reads it takes what is there.
            Err(Unheard::Busy) => 0,
            told => told?,
        };
        let mut heard = Silent {
            told,
            ..Silent::default()
        };
        if has("session_start")
            && let Some(project) = self.project_of(&ready.session)?
        {
            let before = ready.newest_at.millis();
            self.hear_unended(project, before, &ready.session, &mut heard)?;
        }
        Ok(heard)
    }

    /// Sessions that nothing was heard of since `before`: their last words were their last, and
    /// when there is no more to be told of them they are over. One that cannot be heard stays as
    /// it is for another time, and in nobody's way.
    pub fn hear_silent(&self, before: Millis) -> Result<Silent, StoreError> {
        let mut silent = Silent::default();
        let mut after = None;
        while !self.is_paused() {
            let sessions = self
                .store
                .with(|store| store.read().silent_sessions(before, after))?;
            let Some(last) = sessions.last() else {
                break;
            };
            after = Some((last.last_activity, last.id));
            for session in &sessions {
                self.hear_last_words(session, before, &mut silent)?;
            }
        }
        Ok(silent)
    }

    fn hear_last_words(
        &self,
        session: &Session,
        before: Millis,
        silent: &mut Silent,
    ) -> Result<(), StoreError> {
        let heard = if session.client == CLAUDE_CODE.name {
            self.hear_session(&session.client_session, true)
        } else {
            Ok(0)
        };
        match heard {
            Ok(told) => silent.told += told,
            Err(Unheard::Store(error)) => return Err(error),
            Err(error) => {
                silent.unheard.push(error);
                let given_up = before.plus_seconds(-UNHEARD_SECONDS_MAX);
                if session.last_activity >= given_up {
                    return Ok(());
                }
            }
        }
        let interrupt = |tx: &Writes<'_>| tx.interrupt_silent_session(session.id, before);
        self.store.with(|store| store.write(interrupt)).map(drop)
    }

    /// The others of a project that nobody has ended. One that cannot be read stands in nobody's
    /// way.
    fn hear_unended(
        &self,
        project: ProjectId,
        before: Millis,
        but: &ClientSessionId,
        heard: &mut Silent,
    ) -> Result<(), Unheard> {
        let sessions = self
            .store
            .with(|store| store.read().unended_sessions(Some(project), before))?;
        let others = sessions
            .iter()
            .filter(|session| session.client == CLAUDE_CODE.name && &session.client_session != but);
        for session in others.take(WITNESS_SESSIONS_MAX) {
            match self.hear_session(&session.client_session, false) {
                Ok(new) => heard.told += new,
                Err(Unheard::Busy) => {}
                Err(error @ Unheard::Store(_)) => return Err(error),
                Err(error) => heard.unheard.push(error),
            }
        }
        Ok(())
    }

    fn hear_session(&self, session: &ClientSessionId, ended: bool) -> Result<usize, Unheard> {
        match self.subject(session, ended)? {
            Some(subject) => self.hear_subject(&subject),
            None => Ok(0),
        }
    }

    /// The project that the queued events of a session are of, if it was ever heard of.
    fn project_of(&self, session: &ClientSessionId) -> Result<Option<ProjectId>, StoreError> {
        self.store.with(|store| {
            let reads = store.read();
            match reads.queued_place(CLAUDE_CODE.name, session)?.project {
                Some(hint) => reads.project_by_keys(&hint.keys),
                None => Ok(None),
            }
        })
    }

    /// `None`: there is no transcript, or it must not be read.
    fn subject(
        &self,
        session: &ClientSessionId,
        ended: bool,
    ) -> Result<Option<Subject>, StoreError> {
        let dir = self.store.dir();
        let marks = Marks::of(dir, CLAUDE_CODE.name, &session.0);
        if self.is_paused() || marks.is_transcript_closed() {
            return Ok(None);
        }
        self.store
            .with(|store| Subject::find(&store.read(), session, ended))
    }

    fn is_paused(&self) -> bool {
        pause::in_force(&self.store.dir().paused(), clock::now().millis()).is_some()
    }

    fn hear_subject(&self, subject: &Subject) -> Result<usize, Unheard> {
        let dir = self.store.dir();
        // A rule of one session alone, from its environment, has closed that session's transcript.
        let settings = HookSettings::load(dir, |_| None);
        let ignored = |project| settings.ignores(project, &self.home);
        if settings.ignore_everything || subject.project.as_ref().is_some_and(ignored) {
            return Ok(0);
        }
        let Some(_reading) = Reading::begin(&self.busy, &subject.path) else {
            return Err(Unheard::Busy);
        };
        let marks = Marks::of(dir, CLAUDE_CODE.name, &subject.session.0);
        let path = subject.path.to_string_lossy();
        let rules = Rules {
            client: CLAUDE_CODE.name,
            session: &subject.session.0,
            settings: &settings,
            home: &self.home,
            project: subject.project.as_ref(),
            path: &path,
            agent: None,
            since: Some(subject.since),
            is_muted: &|prompt| marks.is_prompt_muted(prompt),
            ended: subject.ended,
        };
        let mut from = Position::default();
        from.state.had_private = marks.had_private();
        let Some((main, mut told)) = self.read(&subject.path, from, &rules)? else {
            // Where nothing was said, no agent was sent out either.
            return Ok(0);
        };
        let agents =
            transcript::agent_files(&subject.path, &subject.session.0, time(subject.since))?;
        for file in agents {
            told += self.read_agent(&file.path, &file.agent, &main, &rules)?;
        }
        Ok(told)
    }

    /// What was private in the conversation is private in what its agents did.
    fn read_agent(
        &self,
        path: &Path,
        agent: &Agent,
        main: &Position,
        rules: &Rules<'_>,
    ) -> Result<usize, Unheard> {
        let mut from = Position::default();
        from.state.had_private = main.state.had_private;
        from.state
            .private_prompts
            .clone_from(&main.state.private_prompts);
        let rules = Rules {
            agent: Some(agent),
            ..*rules
        };
        Ok(self.read(path, from, &rules)?.map_or(0, |(_, told)| told))
    }

    /// Reads on from where this transcript was last left; `known` is what is known of privacy.
    /// `None`: there is nothing new.
    fn read(
        &self,
        path: &Path,
        known: Position,
        rules: &Rules<'_>,
    ) -> Result<Option<(Position, usize)>, Unheard> {
        let mut testimony = Testimony::new(&self.store, path, rules);
        let mut from = testimony.left_at()?.unwrap_or_default();
        from.state.had_private |= known.state.had_private;
        for prompt in known.state.private_prompts {
            if !from.state.private_prompts.contains(&prompt) {
                from.state.private_prompts.push(prompt);
            }
        }
        let length = match std::fs::metadata(path) {
            Ok(meta) if meta.is_file() => meta.len(),
            // A client that keeps no transcript, or has removed it.
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if from.offset == length {
            return Ok(None);
        }
        let position = transcript::read(path, from, rules, &mut testimony)?;
        let told = testimony.finish(&position)?;
        Ok(Some((position, told)))
    }
}

impl Subject {
    fn find(
        reads: &Reads<'_>,
        session: &ClientSessionId,
        ended: bool,
    ) -> Result<Option<Self>, StoreError> {
        let row = reads.session_of_client(CLAUDE_CODE.name, session)?;
        if let Some(row) = &row
            && reads.is_transcript_closed(row.id)?
        {
            return Ok(None);
        }
        let queued = reads.queued_place(CLAUDE_CODE.name, session)?;
        let path = queued
            .transcript_path
            .or_else(|| row.as_ref()?.transcript_path.clone())
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let began = row.as_ref().map(|row| row.created_at);
        let began = began.into_iter().chain(queued.oldest_at).min();
        let (Some(path), Some(began)) = (path, began) else {
            return Ok(None);
        };
        let project = match (queued.project, row.and_then(|row| row.project)) {
            (Some(hint), _) => Some(hint),
            (None, id) => id.map(|id| hint_of(reads, id)).transpose()?,
        };
        Ok(Some(Self {
            session: session.clone(),
            path,
            project,
            since: began.plus_seconds(-WITNESS_MARGIN_SECONDS),
            ended,
        }))
    }
}

/// What a hook would say of the project.
fn hint_of(reads: &Reads<'_>, id: ProjectId) -> Result<ProjectHint, StoreError> {
    let project = reads.project(id)?;
    Ok(ProjectHint {
        name: project.name,
        keys: reads.project_keys(id)?,
        root: project.root,
        branch: None,
    })
}

fn time(at: Millis) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(at.0).unwrap_or(0))
}

/// One reader of one transcript; the next one comes another time.
struct Reading<'w> {
    busy: &'w Mutex<HashSet<PathBuf>>,
    path: &'w Path,
}

impl<'w> Reading<'w> {
    fn begin(busy: &'w Mutex<HashSet<PathBuf>>, path: &'w Path) -> Option<Self> {
        let mut paths = busy.lock().unwrap_or_else(PoisonError::into_inner);
        // Made only where it is wanted: dropping one takes the path out again.
        paths.insert(path.to_owned()).then(|| Self { busy, path })
    }
}

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        let mut paths = self.busy.lock().unwrap_or_else(PoisonError::into_inner);
        paths.remove(self.path);
    }
}

#[cfg(test)]
#[path = "witness_tests.rs"]
mod tests;
