//! Persists an episode: its prompts and messages, and the memories made from it.
//!
//! The [`EpisodeWriter`] takes a session's events and a [`CompressedEpisode`], selects the
//! observations worth storing and writes all rows in the caller's transaction. The worker and the
//! import of old transcripts share this code.

use crate::citations;
use crate::dedup::ObservationFingerprint;
use crate::merged_observation;
use crate::replacements;
use crate::session_memory::{BY_HAND, ConsolidationChanges, LOCAL, SessionMemoryWriter};
use crate::supersede;
use crate::supersede::StoredDecision;
use claude_mem_core::episode::touched_file;
use claude_mem_core::event::{Event, EventBody};
use claude_mem_core::ids::{
    AccountId, FinalMessageId, ObservationId, ProjectId, PromptId, SessionId, SummaryId,
};
use claude_mem_core::memory::{CompressionOutput, NewObservation, ObservationType, Origin, is_same_title};
use claude_mem_distil::EpisodeClaims;
use claude_mem_store::{
    MemoryLevel, NewFinalMessage, NewPrompt, NewRowContext, Observation, PageRequest, RowFilter,
    SessionStatus, StoreError, StoreReader, StoreWriter, tombstone_for, tombstone_for_message,
    tombstone_for_summary,
};

/// Maximum observations of its session that a new observation is compared with to find duplicates.
const SIMILAR_ROWS_MAX: u32 = 100;

/// The output of a compressor for one episode.
#[derive(Clone, Debug, Default)]
pub struct CompressedEpisode {
    pub distilled: CompressionOutput,
    /// The claims of the episode. The session's account is made from them, and its observations too unless
    /// a model wrote those of this episode.
    pub claims: Option<EpisodeClaims>,
    /// `local`, or the model's name.
    pub made_by: String,
    /// State of the heuristic compressor for the session's next episode, as JSON.
    pub carry: Option<String>,
    pub rolling_summary: Option<String>,
}

/// Ids of the rows that one episode was stored as, for viewers and import reports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredRows {
    pub prompts: Vec<PromptId>,
    pub messages: Vec<FinalMessageId>,
    pub observations: Vec<ObservationId>,
    pub summary: Option<SummaryId>,
    /// Existing observations that consolidation changed.
    pub updated: Vec<ObservationId>,
    /// Observations that consolidation merged into others or withdrew.
    pub removed: Vec<ObservationId>,
    /// The session's account, if it was written or changed.
    pub account: Option<AccountId>,
    pub events: usize,
    /// The number of the turn's prompt.
    pub prompt_number: u32,
    /// Rows that were not stored because the user has forgotten them.
    pub forgotten: usize,
}

/// Writes the rows of one episode: the events of one session, in order, and where they belong.
#[derive(Clone, Debug)]
pub struct EpisodeWriter<'e> {
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub branch: Option<&'e str>,
    pub events: Vec<&'e Event>,
    pub import_run: Option<i64>,
    /// The number of the episode's prompt, if it is not the session's latest.
    pub prompt_number: Option<u32>,
}

impl CompressedEpisode {
    /// The observations of this episode alone, however they are stored.
    pub fn observations(&self) -> Vec<NewObservation> {
        match &self.claims {
            Some(claims) if self.made_by == LOCAL => {
                let made = claude_mem_distil::consolidate(std::slice::from_ref(claims));
                made.observations.into_iter().map(|made| made.observation).collect()
            }
            _ => self.distilled.observations.clone(),
        }
    }
}

impl EpisodeWriter<'_> {
    /// Selects the observations worth storing and finds the rows that each supersedes. Reads
    /// outside the transaction: nothing else writes to a leased session.
    pub fn select_observations<'m>(
        &self,
        reads: &StoreReader<'_>,
        made: &'m CompressedEpisode,
    ) -> Result<Vec<AcceptedObservation<'m>>, StoreError> {
        let of_session = RowFilter { session: Some(self.session), ..RowFilter::default() };
        let stored = reads.observations(&of_session, PageRequest::first(SIMILAR_ROWS_MAX))?;
        let absorbed = absorbed_rows(&made.distilled, &stored.items);
        let is_absorbed = |row: &&Observation| absorbed.iter().any(|(_, id)| *id == row.id);
        let rows = stored.items.iter().filter(|row| !is_absorbed(row));
        let mut told: Vec<ObservationFingerprint> = rows.map(ObservationFingerprint::from_row).collect();
        let mut chosen = Vec::new();
        for (at, observation) in made.distilled.observations.iter().enumerate() {
            let said = ObservationFingerprint::from_new(observation);
            if told.iter().any(|earlier| said.is_duplicate_of(earlier)) {
                continue;
            }
            told.push(said);
            // Runs after the duplicate check, so that a near-duplicate of a forgotten observation
            // is dropped too.
            let key = || tombstone_for(&observation.text.title, &observation.text.narrative);
            if self.is_tombstoned(reads, key)? {
                continue;
            }
            let absorbs = absorbed.iter().filter(|(into, _)| *into == at).map(|(_, id)| *id).collect();
            chosen.push(AcceptedObservation {
                observation,
                replaces: Vec::new(),
                replaced_by: None,
                absorbs,
            });
        }
        if let Some(project) = self.project
            && chosen.iter().any(AcceptedObservation::is_decision)
        {
            let decisions = replacements::decisions_of(reads, project)?;
            let known: Vec<StoredDecision<'_>> = decisions.iter().map(StoredDecision::from_row).collect();
            for chosen in chosen.iter_mut().filter(|chosen| chosen.is_decision()) {
                let new = chosen.observation;
                (chosen.replaces, chosen.replaced_by) =
                    supersede::compare_decisions(new, self.session, &known);
            }
        }
        Ok(chosen)
    }

    /// Whether an import would restore something the user has forgotten. Events from hooks are
    /// new statements and always pass.
    fn is_tombstoned(
        &self,
        reads: &StoreReader<'_>,
        key: impl FnOnce() -> String,
    ) -> Result<bool, StoreError> {
        match self.import_run {
            Some(_) => reads.is_tombstone(&key()),
            None => Ok(false),
        }
    }

    /// Stores the events and the accepted observations.
    pub fn store(
        &self,
        tx: &StoreWriter<'_>,
        made: &CompressedEpisode,
        chosen: &[AcceptedObservation<'_>],
    ) -> Result<StoredRows, StoreError> {
        let mut left = StoredRows { events: self.events.len(), ..StoredRows::default() };
        let number = self.store_events(tx, &mut left)?;
        left.prompt_number = number;
        self.store_memories(tx, made, chosen, number, &mut left)?;
        if let Some(claims) = &made.claims {
            let memory = self.session_memory(number);
            left.forgotten += memory.append_claims(tx, claims, made.made_by != LOCAL)?;
        }
        Ok(left)
    }

    /// Consolidates the session after [`EpisodeWriter::store`], in the same transaction.
    pub fn consolidate(&self, tx: &StoreWriter<'_>, left: &mut StoredRows) -> Result<(), StoreError> {
        let memory = self.session_memory(left.prompt_number);
        let ConsolidationChanges { inserted, updated, removed, account } =
            memory.consolidate(tx, &claude_mem_distil::consolidate)?;
        left.observations.extend(inserted);
        left.removed.extend(removed);
        (left.updated, left.account) = (updated, account);
        Ok(())
    }

    fn session_memory(&self, prompt_number: u32) -> SessionMemoryWriter<'_> {
        SessionMemoryWriter {
            session: self.session,
            project: self.project,
            branch: self.branch,
            import_run: self.import_run,
            prompt_number,
            now: self.events.iter().map(|event| event.at.millis()).max().unwrap_or_default(),
            model: None,
        }
    }

    /// Stores prompts and final messages verbatim. Returns the number of the turn's prompt.
    fn store_events(&self, tx: &StoreWriter<'_>, left: &mut StoredRows) -> Result<u32, StoreError> {
        let mut number = match self.prompt_number {
            Some(number) => number,
            None => tx.session(self.session)?.prompt_counter,
        };
        for event in &self.events {
            let at = event.at.millis();
            match &event.body {
                EventBody::Prompt { text, .. } if self.is_tombstoned(tx, || tombstone_for("", text))? => {
                    number = tx.count_skipped_prompt(self.session, at)?;
                    left.forgotten += 1;
                }
                EventBody::Prompt { text, private, source } => {
                    let (id, given) = tx.create_prompt(&NewPrompt {
                        session: self.session,
                        project: self.project,
                        prompt_id: event.prompt_id.as_deref(),
                        text,
                        private: *private,
                        origin: source.traits().origin,
                        import_run: self.import_run,
                        at,
                    })?;
                    number = given;
                    left.prompts.push(id);
                }
                EventBody::Stop { last_message } | EventBody::SubagentStop { last_message } => {
                    let text = last_message.as_deref().unwrap_or_default();
                    citations::record_citations(tx, event, text)?;
                    self.store_message(tx, event, text, number, left)?;
                }
                EventBody::PostCompact { summary } => {
                    self.store_message(tx, event, summary, number, left)?;
                }
                EventBody::SessionStart { .. } => {
                    tx.set_session_status(self.session, SessionStatus::Active, at)?;
                }
                EventBody::SessionEnd { .. } => {
                    tx.set_session_status(self.session, SessionStatus::Completed, at)?;
                }
                EventBody::ToolUse { tool, input, failed: false, .. } => {
                    if let Some(file) = touched_file(tool, input) {
                        tx.record_session_file(self.session, self.project, file.path, file.edited)?;
                    }
                }
                EventBody::Text { .. } | EventBody::ToolUse { .. } | EventBody::PreCompact { .. } => {}
            }
        }
        Ok(number)
    }

    fn store_message(
        &self,
        tx: &StoreWriter<'_>,
        event: &Event,
        text: &str,
        prompt_number: u32,
        left: &mut StoredRows,
    ) -> Result<(), StoreError> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if self.is_tombstoned(tx, || tombstone_for_message(text))? {
            left.forgotten += 1;
            return Ok(());
        }
        let agent_type = match &event.body {
            // The client's own summary of the conversation, not an agent's final message.
            EventBody::PostCompact { .. } => Some(COMPACT_AGENT_TYPE),
            // Without a type it would pass for the answer of the main agent.
            EventBody::SubagentStop { .. } => event.agent_type.as_deref().or(Some(SUBAGENT_TYPE)),
            _ => event.agent_type.as_deref(),
        };
        left.messages.push(tx.create_final_message(&NewFinalMessage {
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
        tx: &StoreWriter<'_>,
        made: &CompressedEpisode,
        chosen: &[AcceptedObservation<'_>],
        prompt_number: u32,
        left: &mut StoredRows,
    ) -> Result<(), StoreError> {
        let place = NewRowContext {
            session: Some(self.session),
            project: self.project,
            prompt_number,
            branch: self.branch,
            import_run: self.import_run,
            made_by: &made.made_by,
            ..NewRowContext::default()
        };
        for chosen in chosen {
            let id = tx.create_observation(
                chosen.observation,
                &NewRowContext {
                    level: chosen.level(),
                    read_tokens: chosen.observation.text.read_tokens(),
                    ..place.clone()
                },
            )?;
            for &older in &chosen.replaces {
                tx.replace_observation(older, id)?;
            }
            if let Some(newer) = chosen.replaced_by {
                tx.replace_observation(id, newer)?;
            }
            for &earlier in &chosen.absorbs {
                tx.merge_observation(earlier, id)?;
                left.removed.push(earlier);
            }
            left.observations.push(id);
        }
        for observation in &made.distilled.observations {
            let key = || tombstone_for(&observation.text.title, &observation.text.narrative);
            left.forgotten += usize::from(self.is_tombstoned(tx, key)?);
        }
        let mut summary = made.distilled.summary.as_ref();
        if let Some(new) = summary
            && self.is_tombstoned(tx, || tombstone_for_summary(&new.text))?
        {
            summary = None;
            left.forgotten += 1;
        }
        if let Some(summary) = summary {
            let read_tokens = summary.text.read_tokens();
            let place = NewRowContext { read_tokens, ..place };
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

/// The agent type of a subagent whose kind is not known.
const SUBAGENT_TYPE: &str = "subagent";

/// The agent type under which a client's own summary of a conversation is stored.
pub const COMPACT_AGENT_TYPE: &str = "compact";

/// An observation to store, with the rows it supersedes and the row that supersedes it.
#[derive(Clone, Debug)]
pub struct AcceptedObservation<'m> {
    observation: &'m NewObservation,
    replaces: Vec<ObservationId>,
    replaced_by: Option<ObservationId>,
    /// Rows of the session that it takes in.
    absorbs: Vec<ObservationId>,
}

/// The rows of the session that new observations take in, each with the index of the new one. Only rows that a
/// model wrote: consolidation would bring a local one back. What a person edited or marked stays.
fn absorbed_rows(made: &CompressionOutput, stored: &[Observation]) -> Vec<(usize, ObservationId)> {
    let mut found: Vec<(usize, ObservationId)> = Vec::new();
    for absorbed in &made.absorbed {
        let is_free = |row: &&Observation| {
            row.made_by != LOCAL
                && row.made_by != BY_HAND
                && !row.edited
                && !row.wrong
                && !found.iter().any(|(_, id)| *id == row.id)
        };
        let mut rows = stored.iter().filter(is_free);
        if let Some(row) = rows.find(|row| is_same_title(&row.text.title, &absorbed.title)) {
            found.push((absorbed.into, row.id));
        }
    }
    found
}

impl AcceptedObservation<'_> {
    pub fn kind(&self) -> &ObservationType {
        &self.observation.text.kind
    }

    fn is_decision(&self) -> bool {
        self.observation.text.kind == ObservationType::DECISION
    }

    fn level(&self) -> MemoryLevel {
        merged_observation::level_of(self.observation)
    }
}
