//! What an episode leaves in the store: the words of its turn, and what was made of it.
//!
//! In: a session's events, and what a compressor made of them. Out: rows, in the transaction that
//! the caller has begun. The worker and the import of old transcripts both end here.

use super::cite;
use super::replace::{self, Known};
use super::similar::Said;
use crate::hook::event::{Body, Event};
use crate::ids::{FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId};
use crate::limits::{REPLACEABLE_ROWS_MAX, SIMILAR_ROWS_MAX};
use crate::memory::{Distilled, NewObservation, NewSummary, ObservationType, Origin};
use crate::store::{
    Filter, Level, NewFinalMessage, NewPrompt, Page, Reads, SessionStatus, StoreError, Stored,
    Writes, tombstone_for, tombstone_for_message, tombstone_for_summary,
};
use crate::tokens;
use crate::vocabulary::PREFERENCE;

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
    /// What an import would have brought back.
    pub forgotten: usize,
}

/// Events of one session, in order, and where their rows belong.
#[derive(Clone, Debug)]
pub struct Rows<'e> {
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub branch: Option<&'e str>,
    pub events: Vec<&'e Event>,
    pub import_run: Option<i64>,
    /// The number of the prompt that it was done for, where that is not the session's last.
    pub turn: Option<u32>,
}

impl Rows<'_> {
    /// What is worth a row, and which rows it takes the place of. Read outside the transaction:
    /// nobody else writes to a session that we hold.
    pub fn choose<'m>(
        &self,
        reads: &Reads<'_>,
        made: &'m Made,
    ) -> Result<Vec<Chosen<'m>>, StoreError> {
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
            // What says nearly the same as something forgotten stays away with it.
            let key = || tombstone_for(&observation.title, &observation.narrative);
            if self.was_forgotten(reads, key)? {
                continue;
            }
            chosen.push(Chosen {
                observation,
                replaces: Vec::new(),
                replaced_by: None,
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
            let known: Vec<Known<'_>> = decisions.items.iter().map(Known::of).collect();
            for chosen in chosen.iter_mut().filter(|chosen| chosen.is_decision()) {
                let new = chosen.observation;
                (chosen.replaces, chosen.replaced_by) = replace::compare(new, self.session, &known);
            }
        }
        Ok(chosen)
    }

    /// What somebody has forgotten comes back by no import. What hooks tell is said anew.
    fn was_forgotten(
        &self,
        reads: &Reads<'_>,
        key: impl FnOnce() -> String,
    ) -> Result<bool, StoreError> {
        match self.import_run {
            Some(_) => reads.is_tombstone(&key()),
            None => Ok(false),
        }
    }

    /// Stores it all.
    pub fn store(
        &self,
        tx: &Writes<'_>,
        made: &Made,
        chosen: &[Chosen<'_>],
    ) -> Result<Left, StoreError> {
        let mut left = Left {
            events: self.events.len(),
            ..Left::default()
        };
        let number = self.store_events(tx, &mut left)?;
        self.store_memories(tx, made, chosen, number, &mut left)?;
        Ok(left)
    }

    /// The words of the turn, as they were said. Returns the number of its prompt.
    fn store_events(&self, tx: &Writes<'_>, left: &mut Left) -> Result<u32, StoreError> {
        let mut number = match self.turn {
            Some(number) => number,
            None => tx.session(self.session)?.prompt_counter,
        };
        for event in &self.events {
            let at = event.at.millis();
            match &event.body {
                Body::Prompt { text, .. }
                    if self.was_forgotten(tx, || tombstone_for("", text))? =>
                {
                    number = tx.pass_prompt(self.session, at)?;
                    left.forgotten += 1;
                }
                Body::Prompt { text, private } => {
                    let (id, given) = tx.create_prompt(&NewPrompt {
                        session: self.session,
                        project: self.project,
                        prompt_id: event.prompt_id.as_deref(),
                        text,
                        private: *private,
                        origin: Origin::User,
                        import_run: self.import_run,
                        at,
                    })?;
                    number = given;
                    left.prompts.push(id);
                }
                Body::Stop { last_message } | Body::SubagentStop { last_message } => {
                    let text = last_message.as_deref().unwrap_or_default();
                    cite::note(tx, event, text)?;
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
        if self.was_forgotten(tx, || tombstone_for_message(text))? {
            left.forgotten += 1;
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
                import_run: self.import_run,
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
            branch: self.branch,
            import_run: self.import_run,
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
            if let Some(newer) = chosen.replaced_by {
                tx.replace_observation(id, newer)?;
            }
            left.observations.push(id);
        }
        for observation in &made.distilled.observations {
            let key = || tombstone_for(&observation.title, &observation.narrative);
            left.forgotten += usize::from(self.was_forgotten(tx, key)?);
        }
        let mut summary = made.distilled.summary.as_ref();
        if let Some(new) = summary
            && self.was_forgotten(tx, || tombstone_of(new))?
        {
            summary = None;
            left.forgotten += 1;
        }
        if let Some(summary) = summary {
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

fn tombstone_of(summary: &NewSummary) -> String {
    tombstone_for_summary([
        &summary.request,
        &summary.investigated,
        &summary.learned,
        &summary.completed,
        &summary.next_steps,
        &summary.notes,
    ])
}

/// The agent type under which a client's own summary of a conversation is kept.
pub const COMPACT: &str = "compact";

/// A memory that is worth a row, and the rows it takes the place of.
#[derive(Clone, Debug)]
pub struct Chosen<'m> {
    observation: &'m NewObservation,
    replaces: Vec<ObservationId>,
    replaced_by: Option<ObservationId>,
}

impl Chosen<'_> {
    pub fn kind(&self) -> &ObservationType {
        &self.observation.kind
    }

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
