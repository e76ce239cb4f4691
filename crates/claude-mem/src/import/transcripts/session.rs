//! One session read by one thread: its transcript, then those of its subagents.

use std::io;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::mpsc::SyncSender;

use serde::{Deserialize, Serialize};

use super::teller::{Teller, Told};
use crate::clock::Millis;
use crate::distil::{self, Carry};
use crate::episode::Prompt;
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::event::{Body, Event, EventKey, ProjectHint};
use crate::hook::mute::Marks;
use crate::hook::settings::HookSettings;
use crate::ids::ClientSessionId;
use crate::import::Skipped;
use crate::memory::Distilled;
use crate::paths::DataDir;
use crate::serve::episodes::{self, Place};
use crate::transcript::{self, Agent, AgentFile, Position, Rules, State};
use crate::vocabulary::Vocabulary;

/// What every reader needs.
#[derive(Clone, Copy)]
pub(super) struct Readers<'a> {
    pub settings: &'a HookSettings,
    pub home: &'a str,
    pub data: &'a DataDir,
    pub vocabulary: &'a Vocabulary,
}

/// A session that is to be read, and what is known of it from an earlier time.
#[derive(Clone, Debug)]
pub(super) struct Job {
    pub path: PathBuf,
    pub session: ClientSessionId,
    pub project: ProjectHint,
    pub agents: Vec<(AgentFile, Left)>,
    pub left: Left,
    pub since: Option<Millis>,
    pub ended: bool,
    pub prompts: u32,
    pub prompt: Option<Prompt>,
    pub carry: Option<String>,
    /// Some of it is here already.
    pub is_known: bool,
}

impl Job {
    pub(super) const fn nothing_new(&self) -> Skipped {
        if self.is_known {
            Skipped::ReadBefore
        } else {
            Skipped::Empty
        }
    }
}

/// Where a transcript was left, in the words of the store.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(super) struct Left {
    #[serde(skip)]
    pub offset: u64,
    #[serde(flatten)]
    pub state: State,
    /// A subagent's own; the session's is the session's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub carry: Option<String>,
}

/// What a reader says.
#[derive(Debug)]
pub(super) enum Said {
    Part(Box<Part>),
    Unreadable(io::Error),
}

/// Episodes that are stored together with the place behind them.
#[derive(Debug)]
pub(super) struct Part {
    pub episodes: Vec<Learned>,
    pub path: PathBuf,
    pub left: Left,
    /// Of the conversation itself, not of a subagent.
    pub carry: Option<String>,
    pub is_agent: bool,
    pub bytes: u64,
}

#[derive(Debug)]
pub(super) struct Learned {
    pub events: Vec<(EventKey, Event)>,
    pub distilled: Distilled,
}

/// Reads it all. Whoever listens may go away at any time.
pub(super) fn read(readers: &Readers<'_>, job: &Job, say: &SyncSender<Said>) {
    let read = std::panic::catch_unwind(AssertUnwindSafe(|| read_all(readers, job, say)));
    let read = read.unwrap_or_else(|_| Err(io::Error::other("reading it failed, which is a bug")));
    if let Err(error) = read {
        // Nobody listens any more: then nobody needs to know.
        let _ = say.send(Said::Unreadable(error));
    }
}

fn read_all(readers: &Readers<'_>, job: &Job, say: &SyncSender<Said>) -> io::Result<()> {
    let marks = Marks::of(readers.data, CLAUDE_CODE.name, &job.session.0);
    let is_muted = |prompt: &str| marks.is_prompt_muted(prompt);
    let path = job.path.to_string_lossy();
    let rules = Rules {
        client: CLAUDE_CODE.name,
        session: &job.session.0,
        settings: readers.settings,
        home: readers.home,
        project: Some(&job.project),
        path: &path,
        agent: None,
        since: job.since,
        is_muted: &is_muted,
        ended: job.ended,
    };
    let mut from = job.left.clone();
    from.state.had_private |= marks.had_private();
    let mut scholar = Scholar::new(readers, job, say);
    let main = scholar.transcript(&job.path, from, &rules, job.carry.as_deref())?;
    for (file, left) in &job.agents {
        let mut from = left.clone();
        // What was private in the conversation is private in what its agents did.
        from.state.had_private |= main.state.had_private;
        from.state
            .private_prompts
            .clone_from(&main.state.private_prompts);
        let agent: &Agent = &file.agent;
        let rules = Rules {
            agent: Some(agent),
            ..rules
        };
        let carry = from.carry.clone();
        scholar.transcript(&file.path, from, &rules, carry.as_deref())?;
    }
    Ok(())
}

/// Makes memories of what is told.
struct Scholar<'a> {
    readers: &'a Readers<'a>,
    job: &'a Job,
    say: &'a SyncSender<Said>,
    prompts: u32,
    prompt: Option<Prompt>,
}

impl<'a> Scholar<'a> {
    fn new(readers: &'a Readers<'a>, job: &'a Job, say: &'a SyncSender<Said>) -> Self {
        Self {
            readers,
            job,
            say,
            prompts: job.prompts,
            prompt: job.prompt.clone(),
        }
    }

    fn transcript(
        &mut self,
        path: &Path,
        from: Left,
        rules: &Rules<'_>,
        carry: Option<&str>,
    ) -> io::Result<Position> {
        let begin = Position {
            offset: from.offset,
            state: from.state,
        };
        if std::fs::metadata(path)?.len() == begin.offset {
            return Ok(begin);
        }
        let carry = carry.and_then(|text| serde_json::from_str(text).ok());
        let mut carry: Carry = carry.unwrap_or_default();
        let mut before = begin.offset;
        let is_agent = rules.agent.is_some();
        let mut hand_on = |told: Vec<Told>, position: Position| {
            let episodes = told
                .into_iter()
                .map(|events| self.learn(events, &mut carry, is_agent));
            let episodes = episodes.collect();
            let carried = serde_json::to_string(&carry).ok();
            let part = Part {
                episodes,
                path: path.to_owned(),
                bytes: position.offset.saturating_sub(before),
                left: Left {
                    offset: position.offset,
                    state: position.state,
                    carry: carried.clone().filter(|_| is_agent),
                },
                carry: carried.filter(|_| !is_agent),
                is_agent,
            };
            before = part.left.offset;
            // Nobody listens any more: the rest is read another time.
            let _ = self.say.send(Said::Part(Box::new(part)));
        };
        let mut teller = Teller::new(&mut hand_on);
        let position = transcript::read(path, begin, rules, &mut teller)?;
        teller.finish(position.clone());
        Ok(position)
    }

    fn learn(&mut self, mut events: Told, carry: &mut Carry, is_agent: bool) -> Learned {
        let project = &self.job.project;
        let place = Place {
            project: project.name.clone(),
            root: project.root.clone(),
            branch: project.branch.clone(),
            prompts: self.prompts,
            prompt: self.prompt.clone().filter(|_| !is_agent),
        };
        let just_events = || events.iter().map(|(_, event)| event);
        let distilled = if episodes::say_something(just_events()) {
            let episode = episodes::build(just_events(), place);
            let vocabulary = self.readers.vocabulary;
            let distil = AssertUnwindSafe(|| distil::distil(&episode, carry, vocabulary));
            // Whatever it stumbles over, the words themselves are kept.
            std::panic::catch_unwind(distil).unwrap_or_default()
        } else {
            Distilled::default()
        };
        for event in just_events() {
            if let Body::Prompt { text, private } = &event.body {
                self.prompts += 1;
                self.prompt = (!private).then(|| Prompt {
                    number: self.prompts,
                    text: text.clone(),
                    at: event.at.millis(),
                });
            }
        }
        for (_, event) in &mut events {
            lighten(event);
        }
        Learned { events, distilled }
    }
}

/// What tools were given and answered has been read by now, and is most of what there is.
fn lighten(event: &mut Event) {
    if let Body::ToolUse { input, output, .. } = &mut event.body {
        *input = serde_json::Value::Null;
        *output = serde_json::Value::Null;
    }
}
