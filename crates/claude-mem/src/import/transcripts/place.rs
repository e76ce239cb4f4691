//! What is known of a session before it is read: whether to read it at all, and from where.

use super::KIND;
use super::find::Found;
use super::session::{Job, Left};
use crate::episode::Prompt;
use crate::hook::agents::CLAUDE_CODE;
use crate::hook::event::ProjectHint;
use crate::hook::mute::Marks;
use crate::ids::ClientSessionId;
use crate::import::Skipped;
use crate::paths::DataDir;
use crate::store::{Reads, StoreError};

/// Looks up what is known of a session. `Err`: it is not to be read.
pub(super) fn of(
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
