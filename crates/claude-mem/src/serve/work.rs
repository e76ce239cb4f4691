//! One episode from the queue to the store: taken, and finished in one transaction.
//!
//! In: a session that has something to do. Out: rows, and its events settled.
//!
//! Invariant: what an episode leaves behind and the settling of its events are one transaction.
//! Whoever dies before it leaves the queue as it was; whoever comes after it finds all of it.

use super::episodes::{self, Cut, Place};
use super::replace::{self, Known};
use super::similar::Said;
use crate::clock::Millis;
use crate::episode::{Episode, Prompt};
use crate::hook::event::{Body, Event};
use crate::ids::{FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId};
use crate::limits::{EPISODE_EVENTS_MAX, REPLACEABLE_ROWS_MAX, SIMILAR_ROWS_MAX};
use crate::memory::{Distilled, NewObservation, NewSummary, ObservationType, Origin};
use crate::queue::LeaseId;
use crate::store::{
    Filter, Lease, Level, NewFinalMessage, NewPrompt, NewSession, Page, ReadySession,
    SessionStatus, Store, StoreError, Stored, Writes,
};
use crate::tokens;
use crate::vocabulary::PREFERENCE;

/// An episode that is ours until its lease runs out.
#[derive(Clone, Debug)]
pub struct Work {
    pub lease: Lease,
    pub session: SessionId,
    pub project: Option<ProjectId>,
    /// What is known of the session is its id alone: its events are let go.
    pub ignored: bool,
    pub episode: Episode,
    /// As the last episode left it.
    pub carry: Option<String>,
    pub rolling_summary: Option<String>,
}

/// What a compressor made of an episode.
#[derive(Clone, Debug, Default)]
pub struct Made {
    pub distilled: Distilled,
    /// `local`, or the model's name.
    pub by: String,
    /// What the session carries on from here.
    pub carry: Option<String>,
    pub rolling_summary: Option<String>,
}

/// The rows that one episode left, for those who watch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Left {
    pub prompts: Vec<PromptId>,
    pub messages: Vec<FinalMessageId>,
    pub observations: Vec<ObservationId>,
    pub summary: Option<SummaryId>,
    pub events: usize,
}

/// Takes the next episode of a session, if it has one.
pub fn take(
    store: &mut Store,
    ready: &ReadySession,
    lease: LeaseId,
    now: Millis,
    flush: bool,
) -> Result<Option<Work>, StoreError> {
    store.write(|tx| {
        let heads = tx.heads(&ready.client, &ready.session, EPISODE_EVENTS_MAX + 1)?;
        let Cut::Take(count) = episodes::cut(&heads, now, flush) else {
            return Ok(None);
        };
        let leased = tx.lease_session(&ready.client, &ready.session, count, lease, now)?;
        match leased {
            Some(lease) => place(tx, lease).map(Some),
            None => Ok(None),
        }
    })
}

/// Finds or makes the session and its project, and reads what the episode goes on from.
fn place(tx: &Writes<'_>, lease: Lease) -> Result<Work, StoreError> {
    let newest = |of: fn(&Event) -> Option<&str>| {
        let mut events = lease.events.iter().rev();
        events.find_map(|leased| of(&leased.event))
    };
    let first_at = lease.events.iter().map(|leased| leased.event.at).min();
    let at = first_at.unwrap_or_default().millis();
    let hint = lease
        .events
        .iter()
        .rev()
        .find_map(|leased| leased.event.project.as_ref());
    let known = tx.session_of_client(&lease.client, &lease.session)?;
    let ignored = known
        .as_ref()
        .is_some_and(|session| session.status == SessionStatus::Ignored);
    let project = match hint {
        Some(hint) if !ignored => Some(tx.ensure_project(hint, at)?),
        _ => None,
    };
    let branch = newest(|event| event.project.as_ref()?.branch.as_deref());
    let session = tx.ensure_session(&NewSession {
        client: &lease.client,
        client_session: &lease.session,
        project,
        branch,
        transcript_path: newest(|event| event.transcript_path.as_deref()),
        origin: Origin::Agent,
        import_run: None,
        at,
    })?;
    let row = tx.session(session)?;
    let prompt = tx.newest_prompt(session)?.map(|prompt| Prompt {
        number: prompt.number,
        text: prompt.text,
        at: prompt.created_at,
    });
    let home = row.project.map(|id| tx.project(id)).transpose()?;
    let home = home.as_ref();
    let place = Place {
        project: home.map_or_else(String::new, |project| project.name.clone()),
        // A worktree has a root of its own.
        root: hint
            .map(|hint| hint.root.clone())
            .or_else(|| home.map(|project| project.root.clone()))
            .unwrap_or_default(),
        branch: row.branch,
        prompts: row.prompt_counter,
        prompt,
    };
    let events = lease.events.iter().map(|leased| &leased.event);
    Ok(Work {
        session,
        project: row.project,
        ignored,
        episode: episodes::build(events, place),
        carry: tx.session_carry(session)?,
        rolling_summary: tx.session_rolling_summary(session)?,
        lease,
    })
}

impl Work {
    fn events(&self) -> impl Iterator<Item = &Event> {
        self.lease.events.iter().map(|leased| &leased.event)
    }

    /// Whether a compressor could make anything of it.
    pub fn says_something(&self) -> bool {
        !self.ignored && episodes::say_something(self.events())
    }

    /// How many workers have died while they held it.
    pub fn crashes(&self) -> u32 {
        let crashes = self.lease.events.iter().map(|leased| leased.crashes);
        crashes.max().unwrap_or(0)
    }

    /// Stores what was made and settles the events. `LeaseLost`: somebody else has taken them,
    /// and nothing was stored.
    pub fn finish(&self, store: &mut Store, made: &Made) -> Result<Left, StoreError> {
        let chosen = self.choose(store, made)?;
        store.write(|tx| {
            let mut left = Left {
                events: self.lease.events.len(),
                ..Left::default()
            };
            if !self.ignored {
                let number = self.store_events(tx, &mut left)?;
                self.store_memories(tx, made, &chosen, number, &mut left)?;
            }
            let ids: Vec<_> = self.lease.events.iter().map(|leased| leased.id).collect();
            tx.settle(self.lease.id, &ids)?;
            Ok(left)
        })
    }

    /// What is worth a row, and which rows it takes the place of. Read outside the transaction:
    /// nobody else writes to a session that we hold.
    fn choose<'m>(&self, store: &Store, made: &'m Made) -> Result<Vec<Chosen<'m>>, StoreError> {
        let reads = store.read();
        let of_session = Filter {
            session: Some(self.session),
            ..Filter::default()
        };
        let told = reads.observations(&of_session, Page::first(SIMILAR_ROWS_MAX))?;
        let mut told: Vec<Said> = told.items.iter().map(Said::of_row).collect();
        let mut chosen = Vec::new();
        for observation in &made.distilled.observations {
            let said = Said::of(observation);
            if told.iter().any(|earlier| said.is_also_said_by(earlier)) {
                continue;
            }
            told.push(said);
            chosen.push(Chosen {
                observation,
                replaces: Vec::new(),
            });
        }
        if let Some(project) = self.project
            && chosen.iter().any(Chosen::is_decision)
        {
            let decisions = Filter {
                project: Some(project),
                types: vec![ObservationType::DECISION],
                ..Filter::default()
            };
            let decisions = reads.observations(&decisions, Page::first(REPLACEABLE_ROWS_MAX))?;
            let known: Vec<Known> = decisions.items.iter().filter_map(Known::of).collect();
            for chosen in chosen.iter_mut().filter(|chosen| chosen.is_decision()) {
                chosen.replaces = replace::replaced(chosen.observation, &known);
            }
        }
        Ok(chosen)
    }

    /// The words of the turn, as they were said. Returns the number of its prompt.
    fn store_events(&self, tx: &Writes<'_>, left: &mut Left) -> Result<u32, StoreError> {
        let mut number = tx.session(self.session)?.prompt_counter;
        for event in self.events() {
            let at = event.at.millis();
            match &event.body {
                Body::Prompt { text, private } => {
                    let (id, given) = tx.create_prompt(&NewPrompt {
                        session: self.session,
                        project: self.project,
                        prompt_id: event.prompt_id.as_deref(),
                        text,
                        private: *private,
                        origin: Origin::User,
                        import_run: None,
                        at,
                    })?;
                    number = given;
                    left.prompts.push(id);
                }
                Body::Stop { last_message } | Body::SubagentStop { last_message } => {
                    let text = last_message.as_deref().unwrap_or_default();
                    self.store_message(tx, event, text, number, left)?;
                }
                Body::PostCompact { summary } => {
                    self.store_message(tx, event, summary, number, left)?;
                }
                Body::SessionStart { .. } => {
                    tx.set_session_status(self.session, SessionStatus::Active, at)?;
                }
                Body::SessionEnd { .. } => {
                    tx.set_session_status(self.session, SessionStatus::Completed, at)?;
                }
                Body::ToolUse { .. } | Body::PreCompact { .. } => {}
            }
        }
        Ok(number)
    }

    fn store_message(
        &self,
        tx: &Writes<'_>,
        event: &Event,
        text: &str,
        prompt_number: u32,
        left: &mut Left,
    ) -> Result<(), StoreError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        let agent_type = match &event.body {
            // The client's own account of the conversation, not an agent's last words.
            Body::PostCompact { .. } => Some(COMPACT),
            _ => event.agent_type.as_deref(),
        };
        left.messages
            .push(tx.create_final_message(&NewFinalMessage {
                session: self.session,
                project: self.project,
                prompt_number,
                text,
                agent_id: event.agent_id.as_deref(),
                agent_type,
                origin: Origin::Agent,
                import_run: None,
                at: event.at.millis(),
            })?);
        Ok(())
    }

    fn store_memories(
        &self,
        tx: &Writes<'_>,
        made: &Made,
        chosen: &[Chosen<'_>],
        prompt_number: u32,
        left: &mut Left,
    ) -> Result<(), StoreError> {
        let place = Stored {
            session: Some(self.session),
            project: self.project,
            prompt_number,
            branch: self.episode.branch.as_deref(),
            made_by: &made.by,
            ..Stored::default()
        };
        for chosen in chosen {
            let id = tx.create_observation(
                chosen.observation,
                &Stored {
                    level: chosen.level(),
                    read_tokens: observation_tokens(chosen.observation),
                    ..place.clone()
                },
            )?;
            for &older in &chosen.replaces {
                tx.replace_observation(older, id)?;
            }
            left.observations.push(id);
        }
        if let Some(summary) = &made.distilled.summary {
            let read_tokens = summary_tokens(summary);
            let place = Stored {
                read_tokens,
                ..place
            };
            left.summary = Some(tx.create_summary(summary, self.session, &place)?);
        }
        if let Some(carry) = &made.carry {
            tx.set_session_carry(self.session, carry)?;
        }
        if let Some(summary) = &made.rolling_summary {
            tx.set_session_rolling_summary(self.session, summary)?;
        }
        Ok(())
    }
}

/// The agent type under which a client's own summary of a conversation is kept.
pub const COMPACT: &str = "compact";

struct Chosen<'m> {
    observation: &'m NewObservation,
    replaces: Vec<ObservationId>,
}

impl Chosen<'_> {
    fn is_decision(&self) -> bool {
        self.observation.kind == ObservationType::DECISION
    }

    /// A preference waits for the person's word before it holds everywhere.
    fn level(&self) -> Level {
        let mut concepts = self.observation.concepts.iter();
        if concepts.any(|concept| concept == PREFERENCE) {
            Level::Proposed
        } else {
            Level::Project
        }
    }
}

/// What reading the whole of it costs.
pub fn observation_tokens(observation: &NewObservation) -> u32 {
    let lists = observation
        .facts
        .iter()
        .chain(&observation.concepts)
        .chain(&observation.files_read)
        .chain(&observation.files_modified);
    let texts = [
        &observation.title,
        &observation.subtitle,
        &observation.narrative,
    ];
    texts.into_iter().chain(lists).map(|text| cost(text)).sum()
}

pub fn summary_tokens(summary: &NewSummary) -> u32 {
    let texts = [
        &summary.request,
        &summary.investigated,
        &summary.learned,
        &summary.completed,
        &summary.next_steps,
        &summary.notes,
    ];
    let lists = summary.files_read.iter().chain(&summary.files_edited);
    texts.into_iter().chain(lists).map(|text| cost(text)).sum()
}

/// A text on a line of its own.
fn cost(text: &str) -> u32 {
    if text.is_empty() {
        0
    } else {
        tokens::estimate(text) + 1
    }
}

#[cfg(test)]
#[path = "work_tests.rs"]
mod tests;
