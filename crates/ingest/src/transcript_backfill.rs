//! Transcript backfill: queues events that the client recorded and no hook delivered.
//!
//! [`TranscriptBackfill`] reads the transcript of a session that is about to be leased, or that
//! has been idle for long, and queues the missing events under the keys that their hooks would
//! have used.
//!
//! Invariant: the privacy rules are those of hooks. The transcript of a session that is ignored,
//! disabled, paused or under its own rules is not opened; in doubt it is not opened either. A read
//! position is saved in the transaction of the last events before it, and only if all of them were
//! accepted: reading twice is harmless, skipping is not.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use crate::backfill_sink::BackfillSink;
use crate::shared_store::SharedStore;
use claude_mem_capture::privacy_marks::PrivacyMarks;
use claude_mem_capture::settings::HookSettings;
use claude_mem_capture::transcript;
use claude_mem_capture::transcript::{ReadPosition, ReadRules, Subagent};
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::clock;
use claude_mem_core::clock::Millis;
use claude_mem_core::event::{EventKind, ProjectHint};
use claude_mem_core::ids::{ClientSessionId, ProjectId};
use claude_mem_core::limits::WITNESS_SESSIONS_MAX;
use claude_mem_core::pause;
use claude_mem_core::sync::lock;
use claude_mem_store::{QueuedEventHead, ReadySession, SessionRow, StoreError, StoreReader, StoreWriter};

/// Further seconds before a silent session with an unreadable transcript is marked as interrupted.
pub(crate) const UNHEARD_SECONDS_MAX: i64 = 7 * 86_400;

/// Seconds by which a session's first hook may lag behind the first line of its transcript.
const WITNESS_MARGIN_SECONDS: i64 = 5;

/// Why a transcript was not read to its end. A later backfill tries again.
#[derive(Debug, thiserror::Error)]
pub enum BackfillError {
    #[error("cannot read the transcript: {0}")]
    Io(#[from] io::Error),
    #[error(transparent)]
    Store(#[from] StoreError),
    /// Another thread is reading it.
    #[error("the transcript is already being read")]
    Busy,
}

/// The result of a backfill.
#[derive(Debug, Default)]
pub struct BackfillReport {
    /// Number of events that were not known before.
    pub new_events: usize,
    /// Errors of single transcripts, which did not stop the backfill.
    pub errors: Vec<BackfillError>,
}

/// Reads transcripts and queues the events that hooks did not deliver.
#[derive(Debug)]
pub struct TranscriptBackfill {
    store: Arc<SharedStore>,
    /// The user's home directory, which replaces `~` in patterns.
    home: String,
    /// Transcripts that are being read.
    open_transcripts: Mutex<HashSet<PathBuf>>,
}

/// A session whose transcript may be read.
#[derive(Debug)]
struct BackfillTarget {
    agent: &'static CodingAgent,
    session: ClientSessionId,
    path: PathBuf,
    project: Option<ProjectHint>,
    since: Millis,
    /// The session will not continue.
    ended: bool,
}

impl TranscriptBackfill {
    pub fn new(store: Arc<SharedStore>, home: String) -> Self {
        Self { store, home, open_transcripts: Mutex::default() }
    }

    /// Backfills a session that is about to be leased. When a session starts, it also backfills
    /// the project's sessions that never ended, since the client may have crashed in them.
    pub fn backfill_before_lease(
        &self,
        ready: &ReadySession,
        heads: &[QueuedEventHead],
    ) -> Result<BackfillReport, BackfillError> {
        let has = |kind: EventKind| heads.iter().any(|head| head.kind == kind);
        let Some(agent) = agent_with_transcripts(&ready.client) else {
            return Ok(BackfillReport::default());
        };
        let told = match self.backfill_session(agent, &ready.session, has(EventKind::SessionEnd)) {
            // The other reader queues the events.
            Err(BackfillError::Busy) => 0,
            told => told?,
        };
        let mut heard = BackfillReport { new_events: told, ..BackfillReport::default() };
        if has(EventKind::SessionStart)
            && let Some(project) = self.queued_project(agent, &ready.session)?
        {
            let before = ready.newest_at.millis();
            self.backfill_unended_sessions(project, before, &ready.session, &mut heard)?;
        }
        Ok(heard)
    }

    /// Backfills all sessions without activity since `before` and marks them as interrupted. A
    /// session whose transcript cannot be read is left for the next round and does not block the
    /// others.
    pub fn backfill_idle_sessions(&self, before: Millis) -> Result<BackfillReport, StoreError> {
        let mut silent = BackfillReport::default();
        let mut after = None;
        while !self.is_paused() {
            let sessions = self.store.with(|store| store.read().idle_sessions(before, after))?;
            let Some(last) = sessions.last() else {
                break;
            };
            after = Some((last.last_activity, last.id));
            for session in &sessions {
                self.backfill_idle_session(session, before, &mut silent)?;
            }
        }
        Ok(silent)
    }

    /// Backfills one idle session and marks it as interrupted. If its transcript cannot be read, it
    /// is marked only after `UNHEARD_SECONDS_MAX`.
    fn backfill_idle_session(
        &self,
        session: &SessionRow,
        before: Millis,
        silent: &mut BackfillReport,
    ) -> Result<(), StoreError> {
        let heard = match agent_with_transcripts(&session.client) {
            Some(agent) => self.backfill_session(agent, &session.client_session, true),
            None => Ok(0),
        };
        match heard {
            Ok(told) => silent.new_events += told,
            Err(BackfillError::Store(error)) => return Err(error),
            Err(error) => {
                silent.errors.push(error);
                let given_up = before.plus_seconds(-UNHEARD_SECONDS_MAX);
                if session.last_activity >= given_up {
                    return Ok(());
                }
            }
        }
        let interrupt = |tx: &StoreWriter<'_>| tx.interrupt_idle_session(session.id, before);
        self.store.with(|store| store.write(interrupt)).map(drop)
    }

    /// Backfills the project's other sessions that never ended. An unreadable transcript does not
    /// block the others.
    fn backfill_unended_sessions(
        &self,
        project: ProjectId,
        before: Millis,
        but: &ClientSessionId,
        heard: &mut BackfillReport,
    ) -> Result<(), BackfillError> {
        let sessions = self.store.with(|store| store.read().active_sessions(Some(project), before))?;
        let others = sessions.iter().filter(|session| &session.client_session != but);
        let readable = others.filter_map(|session| Some((agent_with_transcripts(&session.client)?, session)));
        for (agent, session) in readable.take(WITNESS_SESSIONS_MAX) {
            match self.backfill_session(agent, &session.client_session, false) {
                Ok(new) => heard.new_events += new,
                Err(BackfillError::Busy) => {}
                Err(error @ BackfillError::Store(_)) => return Err(error),
                Err(error) => heard.errors.push(error),
            }
        }
        Ok(())
    }

    fn backfill_session(
        &self,
        agent: &'static CodingAgent,
        session: &ClientSessionId,
        ended: bool,
    ) -> Result<usize, BackfillError> {
        match self.find_target(agent, session, ended)? {
            Some(subject) => self.backfill_target(&subject),
            None => Ok(0),
        }
    }

    /// The project of a session's queued events, if the store knows it.
    fn queued_project(
        &self,
        agent: &CodingAgent,
        session: &ClientSessionId,
    ) -> Result<Option<ProjectId>, StoreError> {
        self.store.with(|store| {
            let reads = store.read();
            match reads.queued_session_info(agent.name, session)?.project {
                Some(hint) => reads.project_by_keys(&hint.keys),
                None => Ok(None),
            }
        })
    }

    /// Finds the transcript of a session. `None` if there is none or it must not be read.
    fn find_target(
        &self,
        agent: &'static CodingAgent,
        session: &ClientSessionId,
        ended: bool,
    ) -> Result<Option<BackfillTarget>, StoreError> {
        let dir = self.store.dir();
        let marks = PrivacyMarks::for_session(dir, agent.name, &session.0);
        if self.is_paused() || marks.is_transcript_closed() {
            return Ok(None);
        }
        self.store.with(|store| BackfillTarget::find(&store.read(), agent, session, ended))
    }

    fn is_paused(&self) -> bool {
        pause::active_pause(&self.store.dir().paused(), clock::now().millis()).is_some()
    }

    fn backfill_target(&self, subject: &BackfillTarget) -> Result<usize, BackfillError> {
        let dir = self.store.dir();
        // Rules from a session's own environment are unknown here, which is why its hooks have
        // closed that session's transcript.
        let settings = HookSettings::load(dir, |_| None);
        let ignored = |project| settings.ignores_project_hint(project, &self.home);
        if settings.ignore_everything || subject.project.as_ref().is_some_and(ignored) {
            return Ok(0);
        }
        let Some(_reading) = TranscriptReadGuard::try_begin(&self.open_transcripts, &subject.path) else {
            return Err(BackfillError::Busy);
        };
        let marks = PrivacyMarks::for_session(dir, subject.agent.name, &subject.session.0);
        let path = subject.path.to_string_lossy();
        let rules = ReadRules {
            client: subject.agent.name,
            session: &subject.session.0,
            settings: &settings,
            home: &self.home,
            project: subject.project.as_ref(),
            path: &path,
            agent: None,
            since: Some(subject.since),
            is_muted: &|prompt| marks.is_prompt_muted(prompt),
            ended: subject.ended,
            translate: subject.agent.transcripts.and_then(|transcripts| transcripts.translate),
        };
        let mut from = ReadPosition::default();
        from.state.had_private = marks.had_private();
        let Some((main, mut told)) = self.read_transcript(&subject.path, from, &rules)? else {
            // Without new lines in the main transcript no subagent was started either.
            return Ok(0);
        };
        if rules.translate.is_some() {
            return Ok(told);
        }
        let agents = transcript::subagent_transcripts(
            &subject.path,
            &subject.session.0,
            to_system_time(subject.since),
        )?;
        for file in agents {
            told += self.read_agent_transcript(&file.path, &file.agent, &main, &rules)?;
        }
        Ok(told)
    }

    /// Reads a subagent's transcript. Private turns of the conversation are private in it too.
    fn read_agent_transcript(
        &self,
        path: &Path,
        agent: &Subagent,
        main: &ReadPosition,
        rules: &ReadRules<'_>,
    ) -> Result<usize, BackfillError> {
        let mut from = ReadPosition::default();
        from.state.had_private = main.state.had_private;
        from.state.private_prompts.clone_from(&main.state.private_prompts);
        from.state.private_words.clone_from(&main.state.private_words);
        let rules = ReadRules { agent: Some(agent), ..*rules };
        Ok(self.read_transcript(path, from, &rules)?.map_or(0, |(_, told)| told))
    }

    /// Reads a transcript from its saved position. `known` carries the private turns known so far.
    /// `None` if there is nothing new.
    fn read_transcript(
        &self,
        path: &Path,
        known: ReadPosition,
        rules: &ReadRules<'_>,
    ) -> Result<Option<(ReadPosition, usize)>, BackfillError> {
        let mut testimony = BackfillSink::new(&self.store, path, rules);
        let mut from = testimony.saved_position()?.unwrap_or_default();
        from.state.had_private |= known.state.had_private;
        if !known.state.private_words.is_empty() {
            from.state.private_words = known.state.private_words;
        }
        for prompt in known.state.private_prompts {
            if !from.state.private_prompts.contains(&prompt) {
                from.state.private_prompts.push(prompt);
            }
        }
        let length = match std::fs::metadata(path) {
            Ok(meta) if meta.is_file() => meta.len(),
            // The client writes no transcript, or has deleted it.
            Ok(_) => return Ok(None),
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.into()),
        };
        if from.offset == length {
            return Ok(None);
        }
        let position = transcript::read_transcript(path, from, rules, &mut testimony)?;
        let told = testimony.finish(&position)?;
        Ok(Some((position, told)))
    }
}

impl BackfillTarget {
    /// Looks the session up in the store and the queue. `None` without a path or a start time, or
    /// if the transcript is closed.
    fn find(
        reads: &StoreReader<'_>,
        agent: &'static CodingAgent,
        session: &ClientSessionId,
        ended: bool,
    ) -> Result<Option<Self>, StoreError> {
        let row = reads.session_of_client(agent.name, session)?;
        if let Some(row) = &row
            && reads.is_transcript_closed(row.id)?
        {
            return Ok(None);
        }
        let queued = reads.queued_session_info(agent.name, session)?;
        let path = queued
            .transcript_path
            .or_else(|| row.as_ref()?.transcript_path.clone())
            .map(PathBuf::from)
            .filter(|path| path.is_absolute());
        let created = row.as_ref().map(|row| row.created_at);
        let began = created.into_iter().chain(queued.oldest_at).min();
        let (Some(path), Some(began)) = (path, began) else {
            return Ok(None);
        };
        let project = match (queued.project, row.and_then(|row| row.project)) {
            (Some(hint), _) => Some(hint),
            (None, id) => id.map(|id| project_hint(reads, id)).transpose()?,
        };
        Ok(Some(Self {
            agent,
            session: session.clone(),
            path,
            project,
            since: began.plus_seconds(-WITNESS_MARGIN_SECONDS),
            ended,
        }))
    }
}

/// The agent of this name, if its transcripts are files.
fn agent_with_transcripts(client: &str) -> Option<&'static CodingAgent> {
    let has_files = |agent: &&CodingAgent| agent.transcripts.is_some_and(|spec| spec.database.is_none());
    CodingAgent::by_name(client).filter(has_files)
}

/// The project hint that a hook would send.
fn project_hint(reads: &StoreReader<'_>, id: ProjectId) -> Result<ProjectHint, StoreError> {
    let project = reads.project(id)?;
    Ok(ProjectHint { name: project.name, keys: reads.project_keys(id)?, root: project.root, branch: None })
}

fn to_system_time(at: Millis) -> SystemTime {
    UNIX_EPOCH + Duration::from_millis(u64::try_from(at.0).unwrap_or(0))
}

/// Guards against two readers of one transcript.
struct TranscriptReadGuard<'w> {
    busy: &'w Mutex<HashSet<PathBuf>>,
    path: &'w Path,
}

impl<'w> TranscriptReadGuard<'w> {
    /// `None` if the transcript is already being read.
    fn try_begin(busy: &'w Mutex<HashSet<PathBuf>>, path: &'w Path) -> Option<Self> {
        let mut paths = lock(busy);
        // Built lazily: dropping a guard removes the path again.
        paths.insert(path.to_owned()).then(|| Self { busy, path })
    }
}

impl Drop for TranscriptReadGuard<'_> {
    fn drop(&mut self) {
        let mut paths = lock(self.busy);
        paths.remove(self.path);
    }
}

#[cfg(test)]
#[path = "transcript_backfill_tests.rs"]
mod tests;
