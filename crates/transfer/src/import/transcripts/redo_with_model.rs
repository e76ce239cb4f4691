//! Lets a model write the memories of past sessions anew, within the token budget.
//!
//! Each session is one transaction, as without a model: a snapshot, its claims, and what the model wrote of it.
//! Invariant: no answer is paid for twice, except those of a session during which the run was killed; what a
//! person has forgotten is not sent, and the episode that it stood in keeps its local memories.

use serde::Serialize;

use super::redo::{self, RedoRequest, RedoSummary, SESSIONS};
use super::session::DistilledEpisode;
use crate::import::{ImportContext, ImportError, ImportProgress, ImportReport, ImportSkipReason};
use claude_mem_core::clock::Millis;
use claude_mem_core::event::EventBody;
use claude_mem_core::ids::{ClientSessionId, SessionId};
use claude_mem_ingest::session_memory::SessionMemoryWriter;
use claude_mem_ingest::session_model::{
    BudgetLimits, CallTrouble, RecordedEpisode, SessionModel, TroubleKind, WrittenSession,
};
use claude_mem_store::{
    SessionRow, Store, StoreError, StoreReader, StoreWriter, tombstone_for, tombstone_for_message,
    tombstone_for_summary,
};

/// The estimated cost of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct RedoPreview {
    /// In the order in which they would be written.
    pub sessions: Vec<SessionCost>,
    pub input_tokens: u64,
    pub output_tokens: u64,
    pub day_tokens_left: u64,
    pub budget_tokens_per_day: u64,
    pub budget_tokens_per_session: u64,
}

/// The expected cost of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SessionCost {
    pub session: ClientSessionId,
    /// The project's name.
    pub project: String,
    pub last_activity: Millis,
    /// How often the model is asked.
    pub calls: u64,
    pub input_tokens: u64,
    pub output_tokens: u64,
    /// The session costs more than its budget allows: its last turns keep their local memories.
    pub is_over_budget: bool,
}

impl SessionCost {
    const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl RedoPreview {
    pub const fn tokens(&self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }

    /// Days that the run takes within the budget of a day; `None` if nothing may be spent.
    pub fn days(&self) -> Option<u64> {
        let rest = self.tokens().saturating_sub(self.day_tokens_left);
        match (rest, self.budget_tokens_per_day) {
            (0, _) => Some(1),
            (_, 0) => None,
            (rest, day) => Some(1 + rest.div_ceil(day)),
        }
    }
}

/// The result of a run.
#[derive(Debug)]
pub struct ModelRedo {
    pub report: ImportReport,
    pub summary: RedoSummary,
    /// Why the run stopped before the last session. The same request goes on where it stopped.
    pub stopped: Option<CallTrouble>,
    /// Sessions that the run did not reach.
    pub left: u64,
}

/// Reads all selected sessions and estimates what a model would cost. Calls no model.
pub fn preview_model_redo(
    store: &Store,
    around: ImportContext<'_>,
    wanted: &RedoRequest<'_>,
    model: &SessionModel,
    progress: &mut dyn ImportProgress,
) -> Result<(ImportReport, RedoPreview), ImportError> {
    let BudgetLimits { day_tokens, session_tokens } = model.limits();
    let mut report = ImportReport { source: source_name(wanted, model), ..ImportReport::default() };
    let mut preview = RedoPreview {
        sessions: Vec::new(),
        input_tokens: 0,
        output_tokens: 0,
        day_tokens_left: model.day_tokens_left()?,
        budget_tokens_per_day: day_tokens,
        budget_tokens_per_session: session_tokens,
    };
    let reads = store.read();
    let sessions = redo::selected_sessions(&reads, wanted)?;
    progress.total(sessions.len() as u64);
    for row in sessions {
        progress.advance(1);
        match read_recorded(&reads, around, wanted, &row)? {
            Err(why) => report.tally(SESSIONS).skip(why),
            Ok(episodes) => {
                let cost = session_cost(&reads, model, &row, &episodes)?;
                preview.input_tokens += cost.input_tokens;
                preview.output_tokens += cost.output_tokens;
                preview.sessions.push(cost);
                report.tally(SESSIONS).count_imported();
            }
        }
    }
    Ok((report, preview))
}

/// Lets the model write the selected sessions anew, until all are written or the model cannot go on.
pub fn redo_with_model(
    store: &mut Store,
    around: ImportContext<'_>,
    wanted: &RedoRequest<'_>,
    model: &SessionModel,
    progress: &mut dyn ImportProgress,
) -> Result<ModelRedo, ImportError> {
    let source = source_name(wanted, model);
    let run = store.write(|tx| tx.resume_import(redo::REDO_KIND, &source, wanted.now))?;
    let mut done = ModelRedo {
        report: ImportReport { run: Some(run), source, ..ImportReport::default() },
        summary: RedoSummary::default(),
        stopped: None,
        left: 0,
    };
    let sessions = redo::selected_sessions(&store.read(), wanted)?;
    progress.total(sessions.len() as u64);
    for row in sessions {
        progress.advance(1);
        if store.read().has_session_snapshot(run, row.id)? {
            done.report.tally(SESSIONS).skip(ImportSkipReason::ReadBefore);
            continue;
        }
        let episodes = match read_recorded(&store.read(), around, wanted, &row)? {
            Ok(episodes) => episodes,
            Err(why) => {
                done.report.tally(SESSIONS).skip(why);
                continue;
            }
        };
        if done.stopped.is_some() {
            done.left += 1;
            continue;
        }
        match write_session(&store.read(), model, &row, episodes)? {
            Ok(written) => {
                let memories = redo::redo_one(store, run, &row, Some(model.model()), &mut |tx, memory| {
                    apply_session(tx, memory, &written, model.model())
                })?;
                done.summary.add(&memories);
                done.report.tally(SESSIONS).count_imported();
            }
            Err(trouble) if trouble.kind == TroubleKind::SessionBudget => {
                done.report.tally(SESSIONS).skip(ImportSkipReason::OverBudget);
            }
            Err(trouble) => {
                done.stopped = Some(trouble);
                done.left += 1;
            }
        }
    }
    if done.stopped.is_none() {
        redo::finish_redo(store, run, &mut done.report, &done.summary, wanted.now)?;
    } else if store.read().count_session_snapshots(run)? == 0 {
        store.write(|tx| tx.undo_import(run, 1).map(drop))?;
        done.report.run = None;
    }
    Ok(done)
}

/// The source of the run: another model is another run.
fn source_name(wanted: &RedoRequest<'_>, model: &SessionModel) -> String {
    format!("{} with {} {}", wanted.source(), model.provider(), model.model())
}

/// The episodes of a session that a model is to write of, in the order of time.
fn read_recorded(
    reads: &StoreReader<'_>,
    around: ImportContext<'_>,
    wanted: &RedoRequest<'_>,
    row: &SessionRow,
) -> Result<Result<Vec<RecordedEpisode>, ImportSkipReason>, ImportError> {
    if reads.is_written_by_model(row.id)? {
        return Ok(Err(ImportSkipReason::WrittenByModel));
    }
    let mut episodes = match redo::read_session_again(reads, around, wanted, row, true)? {
        Ok(episodes) => episodes,
        Err(why) => return Ok(Err(why)),
    };
    // Subagents have transcripts of their own, which are read after that of the conversation.
    episodes.sort_by_key(|read| read.events.iter().map(|(_, event)| event.at).max());
    let mut recorded = Vec::with_capacity(episodes.len());
    for read in episodes {
        let is_withheld = has_forgotten(reads, row.id, &read)?;
        let episode = read.episode.filter(|_| !is_withheld);
        recorded.push(RecordedEpisode { episode, claims: read.claims });
    }
    let is_asked = recorded.iter().any(|recorded| recorded.episode.is_some());
    Ok(if is_asked { Ok(recorded) } else { Err(ImportSkipReason::Empty) })
}

/// Whether a person has forgotten something of this episode.
fn has_forgotten(
    reads: &StoreReader<'_>,
    session: SessionId,
    read: &DistilledEpisode,
) -> Result<bool, StoreError> {
    for claim in &read.claims.claims {
        if reads.is_claim_forgotten(session, &claim.key)? {
            return Ok(true);
        }
    }
    let mut keys: Vec<String> =
        read.summary.iter().map(|summary| tombstone_for_summary(&summary.text)).collect();
    for (_, event) in &read.events {
        match &event.body {
            EventBody::Prompt { text, .. } => keys.push(tombstone_for("", text)),
            EventBody::Stop { last_message: Some(text) }
            | EventBody::SubagentStop { last_message: Some(text) }
            | EventBody::PostCompact { summary: text } => keys.push(tombstone_for_message(text)),
            _ => {}
        }
    }
    for key in keys {
        if reads.is_tombstone(&key)? {
            return Ok(true);
        }
    }
    Ok(false)
}

fn session_cost(
    reads: &StoreReader<'_>,
    model: &SessionModel,
    row: &SessionRow,
    episodes: &[RecordedEpisode],
) -> Result<SessionCost, StoreError> {
    let estimate = model.estimate(episodes);
    let project = row.project.map(|id| reads.project(id)).transpose()?;
    Ok(SessionCost {
        session: row.client_session.clone(),
        project: project.map_or_else(String::new, |project| project.name),
        last_activity: row.last_activity,
        calls: episodes.iter().filter(|recorded| recorded.episode.is_some()).count() as u64,
        input_tokens: estimate.input,
        output_tokens: estimate.output,
        is_over_budget: estimate.total() > model.session_tokens_left(row.id)?,
    })
}

/// Asks the model about a session, unless the budget of the day does not suffice for it.
fn write_session(
    reads: &StoreReader<'_>,
    model: &SessionModel,
    row: &SessionRow,
    episodes: Vec<RecordedEpisode>,
) -> Result<Result<WrittenSession, CallTrouble>, StoreError> {
    let cost = session_cost(reads, model, row, &episodes)?.tokens();
    let due = cost.min(model.session_tokens_left(row.id)?);
    if due > model.limits().day_tokens {
        return Ok(Err(CallTrouble::new(
            TroubleKind::SessionBudget,
            "the session costs more than a day's budget",
        )));
    }
    if due > model.day_tokens_left()? {
        return Ok(Err(CallTrouble::new(TroubleKind::DayBudget, "the token budget of the day is used up")));
    }
    Ok(model.write_session(row.id, episodes))
}

/// Stores what the model wrote: observations, and the summaries of turns that have one.
fn apply_session(
    tx: &StoreWriter<'_>,
    memory: &SessionMemoryWriter<'_>,
    written: &WrittenSession,
    model: &str,
) -> Result<(), StoreError> {
    let WrittenSession { episodes, observations, summaries } = written;
    memory.redo_with_model(tx, episodes, observations, &claude_mem_distil::consolidate)?;
    for summary in summaries {
        if tx.is_tombstone(&tombstone_for_summary(&summary.text))? {
            continue;
        }
        if let Some(turn) = tx.prompt_number_at(memory.session, summary.created_at)? {
            tx.rewrite_summary(memory.session, turn, summary, model, summary.text.read_tokens())?;
        }
    }
    Ok(())
}
