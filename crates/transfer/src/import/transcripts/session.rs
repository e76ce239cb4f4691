//! Reads and distils one session in one thread: its transcript, then those of its subagents.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use serde::{Deserialize, Serialize};

use crate::import::ImportSkipReason;
use crate::import::transcripts::database_sessions;
use crate::import::transcripts::episode_splitter::{EpisodeEvents, EpisodeSplitter};
use claude_mem_capture::privacy_marks::PrivacyMarks;
use claude_mem_capture::settings::HookSettings;
use claude_mem_capture::transcript;
use claude_mem_capture::transcript::{ReadPosition, ReadRules, ReaderState, Subagent, SubagentTranscript};
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::clock::Millis;
use claude_mem_core::episode::{Episode, EpisodePrompt, touched_file};
use claude_mem_core::event::{Event, EventBody, EventKey, ProjectHint};
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::memory::NewSummary;
use claude_mem_core::paths::DataDir;
use claude_mem_core::vocabulary::Vocabulary;
use claude_mem_distil::{Carry, EpisodeClaims};
use claude_mem_ingest::episodes;
use claude_mem_ingest::episodes::EpisodeContext;

/// Shared state of the reader threads.
#[derive(Clone, Copy)]
pub(super) struct ReaderContext<'a> {
    pub settings: &'a HookSettings,
    pub home: &'a str,
    pub data: &'a DataDir,
    pub vocabulary: &'a Vocabulary,
    /// Keep the episodes, for a model that reads them.
    pub keeps_episodes: bool,
}

/// A session to read, with its state from an earlier import.
#[derive(Clone, Debug)]
pub(super) struct SessionReadJob {
    pub agent: &'static CodingAgent,
    pub path: PathBuf,
    pub session: ClientSessionId,
    pub project: ProjectHint,
    pub agents: Vec<(SubagentTranscript, ResumePoint)>,
    pub resume: ResumePoint,
    pub since: Option<Millis>,
    pub ended: bool,
    pub prompt_count: u32,
    pub last_prompt: Option<EpisodePrompt>,
    pub carry: Option<String>,
    /// The store already has this session.
    pub is_known: bool,
}

impl SessionReadJob {
    pub(super) const fn skip_reason(&self) -> ImportSkipReason {
        if self.is_known { ImportSkipReason::ReadBefore } else { ImportSkipReason::Empty }
    }
}

/// Where reading of a transcript stopped, as stored with its position.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct ResumePoint {
    #[serde(skip)]
    pub offset: u64,
    #[serde(flatten)]
    pub state: ReaderState,
    /// Carried state of a subagent; that of the main conversation is stored with the session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carry: Option<String>,
}

/// A message of a reader thread.
#[derive(Debug)]
pub(super) enum ReaderMessage {
    Part(Box<SessionPart>),
    Unreadable(io::Error),
}

/// Episodes that are stored together with the transcript position behind them.
#[derive(Debug)]
pub(super) struct SessionPart {
    pub episodes: Vec<DistilledEpisode>,
    pub path: PathBuf,
    pub resume: ResumePoint,
    /// Carried state of the main conversation; `None` for a subagent.
    pub carry: Option<String>,
    pub is_agent: bool,
    pub bytes: u64,
}

/// The events of one episode, and the claims and the summary distilled from them.
#[derive(Debug)]
pub(super) struct DistilledEpisode {
    pub events: Vec<(EventKey, Event)>,
    pub claims: EpisodeClaims,
    pub summary: Option<NewSummary>,
    /// The input of a model; `None` without content, or if it was not requested.
    pub episode: Option<Episode>,
}

/// Reads all transcripts of a session. The receiver may disconnect at any time.
pub(super) fn read_session(
    readers: &ReaderContext<'_>,
    job: &SessionReadJob,
    say: &SyncSender<ReaderMessage>,
) {
    if let Err(error) = read_session_files(readers, job, say) {
        // The receiver is gone, so the error is of no use.
        let _ = say.send(ReaderMessage::Unreadable(error));
    }
}

fn read_session_files(
    readers: &ReaderContext<'_>,
    job: &SessionReadJob,
    say: &SyncSender<ReaderMessage>,
) -> io::Result<()> {
    let marks = PrivacyMarks::for_session(readers.data, job.agent.name, &job.session.0);
    let is_muted = |prompt: &str| marks.is_prompt_muted(prompt);
    let path = job.path.to_string_lossy();
    let rules = ReadRules {
        client: job.agent.name,
        session: &job.session.0,
        settings: readers.settings,
        home: readers.home,
        project: Some(&job.project),
        path: &path,
        agent: None,
        since: job.since,
        is_muted: &is_muted,
        ended: job.ended,
        translate: job.agent.transcripts.and_then(|transcripts| transcripts.translate),
    };
    let mut from = job.resume.clone();
    from.state.had_private |= marks.had_private();
    let mut distiller = SessionDistiller::new(readers, job, say);
    let main = distiller.distil_transcript(&job.path, from, &rules, job.carry.as_deref())?;
    for (file, left) in &job.agents {
        let mut from = left.clone();
        // Turns that are private in the conversation are private in its subagents.
        from.state.had_private |= main.state.had_private;
        from.state.private_prompts.clone_from(&main.state.private_prompts);
        from.state.private_words.clone_from(&main.state.private_words);
        let agent: &Subagent = &file.agent;
        let rules = ReadRules { agent: Some(agent), ..rules };
        let carry = from.carry.clone();
        distiller.distil_transcript(&file.path, from, &rules, carry.as_deref())?;
    }
    Ok(())
}

/// Distils the episodes of one session.
struct SessionDistiller<'a> {
    context: &'a ReaderContext<'a>,
    job: &'a SessionReadJob,
    sender: &'a SyncSender<ReaderMessage>,
    prompt_count: u32,
    last_prompt: Option<EpisodePrompt>,
    /// Keys of the events of all transcripts of the session that were read.
    known: HashSet<EventKey>,
}

impl<'a> SessionDistiller<'a> {
    fn new(
        context: &'a ReaderContext<'a>,
        job: &'a SessionReadJob,
        sender: &'a SyncSender<ReaderMessage>,
    ) -> Self {
        Self {
            context,
            job,
            sender,
            prompt_count: job.prompt_count,
            last_prompt: job.last_prompt.clone(),
            known: HashSet::new(),
        }
    }

    fn distil_transcript(
        &mut self,
        path: &Path,
        from: ResumePoint,
        rules: &ReadRules<'_>,
        carry: Option<&str>,
    ) -> io::Result<ReadPosition> {
        let begin = ReadPosition { offset: from.offset, state: from.state };
        let database = self.job.agent.transcripts.and_then(|transcripts| transcripts.database);
        let lines = database.map(|_| database_sessions::read_messages(path, rules.session)).transpose()?;
        let length = match &lines {
            Some(lines) => lines.len() as u64,
            None => std::fs::metadata(path)?.len(),
        };
        if length == begin.offset {
            return Ok(begin);
        }
        // Another version's carry, which this one cannot read, is dropped: the session is read on without it.
        let carry = carry.and_then(|text| serde_json::from_str(text).ok());
        let mut carry: Carry = carry.unwrap_or_default();
        let mut before = begin.offset;
        let is_agent = rules.agent.is_some();
        let mut known = std::mem::take(&mut self.known);
        let mut hand_on = |told: Vec<EpisodeEvents>, position: ReadPosition| {
            let episodes = told.into_iter().map(|events| self.distil_episode(events, &mut carry, is_agent));
            let episodes = episodes.collect();
            let carried = serde_json::to_string(&carry).ok();
            let part = SessionPart {
                episodes,
                path: path.to_owned(),
                bytes: position.offset.saturating_sub(before),
                resume: ResumePoint {
                    offset: position.offset,
                    state: position.state,
                    carry: carried.clone().filter(|_| is_agent),
                },
                carry: carried.filter(|_| !is_agent),
                is_agent,
            };
            before = part.resume.offset;
            // The receiver is gone: a later import reads the rest.
            let _ = self.sender.send(ReaderMessage::Part(Box::new(part)));
        };
        let mut splitter = EpisodeSplitter::new(&mut known, &mut hand_on);
        let position = match &lines {
            Some(lines) => transcript::read_session_lines(lines, begin, rules, &mut splitter)?,
            None => transcript::read_transcript(path, begin, rules, &mut splitter)?,
        };
        splitter.finish(position.clone());
        self.known = known;
        Ok(position)
    }

    fn distil_episode(
        &mut self,
        mut events: EpisodeEvents,
        carry: &mut Carry,
        is_agent: bool,
    ) -> DistilledEpisode {
        let project = &self.job.project;
        let place = EpisodeContext {
            project: project.name.clone(),
            root: project.root.clone(),
            branch: project.branch.clone(),
            prompt_count: self.prompt_count,
            prompt: self.last_prompt.clone().filter(|_| !is_agent),
        };
        let just_events = || events.iter().map(|(_, event)| event);
        let mut kept = None;
        let (claims, summary) = if episodes::have_content(just_events()) {
            let episode = episodes::build_episode(just_events(), place);
            let vocabulary = self.context.vocabulary;
            let distilled = claude_mem_distil::extract_claims(&episode, carry, vocabulary);
            kept = self.context.keeps_episodes.then_some(episode);
            distilled
        } else {
            (EpisodeClaims::default(), None)
        };
        for event in just_events() {
            if let EventBody::Prompt { text, private, source } = &event.body {
                self.prompt_count += 1;
                self.last_prompt = (!private).then(|| EpisodePrompt {
                    number: self.prompt_count,
                    text: text.clone(),
                    at: event.at.millis(),
                    source: *source,
                });
            }
        }
        for (_, event) in &mut events {
            drop_tool_contents(event);
        }
        DistilledEpisode { events, claims, summary, episode: kept }
    }
}

/// Drops tool input and output after distilling: they are most of an event's size. The path of a file stays,
/// because the session's files are recorded from it.
fn drop_tool_contents(event: &mut Event) {
    if let EventBody::ToolUse { tool, input, output, .. } = &mut event.body {
        let path = touched_file(tool, input).map(|file| file.path.to_owned());
        *input = path.map_or(serde_json::Value::Null, |path| serde_json::json!({ "file_path": path }));
        *output = serde_json::Value::Null;
    }
}
