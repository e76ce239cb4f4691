//! Plans the read of a session: whether to read it, and from which position.

use super::found_session::FoundSession;
use super::session::{ResumePoint, SessionReadJob};
use crate::import::ImportSkipReason;
use claude_mem_capture::privacy_marks::PrivacyMarks;
use claude_mem_core::agents::CodingAgent;
use claude_mem_core::episode::EpisodePrompt;
use claude_mem_core::event::ProjectHint;
use claude_mem_core::ids::ClientSessionId;
use claude_mem_core::paths::DataDir;
use claude_mem_core::source::TextSource;
use claude_mem_store::{StoreError, StoreReader};

/// Kind of the run in the list of imports.
pub const KIND: &str = "transcripts";

/// Looks up the stored state of a session. The inner `Err` says why it is skipped.
pub(super) fn plan_read(
    reads: &StoreReader<'_>,
    agent: &'static CodingAgent,
    found: &FoundSession,
    project: ProjectHint,
    data: &DataDir,
) -> Result<Result<SessionReadJob, ImportSkipReason>, StoreError> {
    let client = agent.name;
    let id = ClientSessionId(found.session.clone());
    if PrivacyMarks::for_session(data, client, &found.session).is_transcript_closed() {
        return Ok(Err(ImportSkipReason::Ignored));
    }
    let row = reads.session_of_client(client, &id)?;
    if let Some(row) = &row {
        if reads.is_transcript_closed(row.id)? {
            return Ok(Err(ImportSkipReason::Ignored));
        }
        match reads.import_kind_of_session(row.id)?.as_deref() {
            Some(KIND) => {}
            Some(_) => return Ok(Err(ImportSkipReason::AlreadyHere)),
            None => return Ok(Err(ImportSkipReason::Captured)),
        }
    } else if reads.queued_session_info(client, &id)?.oldest_at.is_some() {
        return Ok(Err(ImportSkipReason::Captured));
    }
    let path = found.path.to_string_lossy();
    let known = reads.transcript_paths(client, &found.session)?;
    if !known.is_empty() && !known.iter().any(|known| *known == path) {
        // The same session was already read from another path.
        return Ok(Err(ImportSkipReason::Duplicate));
    }
    let mut agents = Vec::new();
    for subagent in &found.agents {
        let left = resume_point(reads, &subagent.path.to_string_lossy())?;
        agents.push((subagent.clone(), left));
    }
    let prompt = row.as_ref().map(|row| reads.newest_prompt(row.id)).transpose()?.flatten();
    let carry = row.as_ref().map(|row| reads.session_carry(row.id)).transpose()?.flatten();
    Ok(Ok(SessionReadJob {
        agent,
        path: found.path.clone(),
        session: id,
        project,
        agents,
        resume: resume_point(reads, &path)?,
        since: found.since,
        ended: found.ended,
        prompt_count: row.as_ref().map_or(0, |row| row.prompt_counter),
        last_prompt: prompt.map(|prompt| EpisodePrompt {
            number: prompt.number,
            text: prompt.text,
            at: prompt.created_at,
            source: TextSource::of_stored_prompt(prompt.origin),
        }),
        carry,
        is_known: row.is_some(),
    }))
}

/// Where an earlier import stopped in this transcript.
fn resume_point(reads: &StoreReader<'_>, path: &str) -> Result<ResumePoint, StoreError> {
    let Some(position) = reads.transcript_position(path)? else {
        return Ok(ResumePoint::default());
    };
    let left: ResumePoint = serde_json::from_str(&position.state)?;
    Ok(ResumePoint { offset: position.offset_bytes, ..left })
}
