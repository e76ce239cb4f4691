//! Where an observation comes from: the quoted texts of the sessions that it was made from.

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, SessionId};
use claude_mem_core::source::TextSource;
use claude_mem_distil::{Claim, EpisodeClaims};
use claude_mem_store::{RowId, RowKind, StoreError, StoreReader};

/// A text that an observation was made from.
#[derive(Clone, Debug, PartialEq)]
pub struct QuotedSource {
    pub session: SessionId,
    /// Number of the prompt in its session; 0 if unknown.
    pub turn: u32,
    pub source: TextSource,
    pub text: String,
    pub at: Millis,
}

/// The sources of an observation, oldest first. An observation without claims, as a model writes them, is
/// quoted from the prompt and the final message of its turn.
pub fn quoted_sources(reads: &StoreReader<'_>, id: ObservationId) -> Result<Vec<QuotedSource>, StoreError> {
    let mut found = Vec::new();
    let links = reads.claims_of_observation(id)?;
    let mut sessions: Vec<SessionId> = links.iter().map(|(session, _)| *session).collect();
    sessions.dedup();
    for session in sessions {
        for stored in reads.session_claims(session)? {
            let episode: EpisodeClaims = serde_json::from_str(&stored.body)?;
            let is_linked =
                |claim: &&Claim| links.iter().any(|(of, key)| *of == session && *key == claim.key);
            found.extend(episode.claims.iter().filter(is_linked).map(|claim| QuotedSource {
                session,
                turn: episode.turn,
                source: claim.source,
                text: quoted_text(claim),
                at: claim.at,
            }));
        }
    }
    if found.is_empty() {
        found = turn_texts(reads, id)?;
    }
    found.sort_by_key(|source| source.at);
    Ok(found)
}

fn quoted_text(claim: &Claim) -> String {
    let title = claim.title.trim();
    match title {
        "" => claim.text.clone(),
        _ if claim.text.starts_with(title) => claim.text.clone(),
        _ => format!("{title}\n{}", claim.text),
    }
}

fn turn_texts(reads: &StoreReader<'_>, id: ObservationId) -> Result<Vec<QuotedSource>, StoreError> {
    let row = RowId::new(RowKind::Observation, id.0);
    let Some((session, turn)) = reads.turn_of(row)? else {
        return Ok(Vec::new());
    };
    let mut found = Vec::new();
    for place in reads.turn_rows(session, turn, 1)? {
        let (source, row) = match place.kind {
            RowKind::Prompt => (TextSource::Prompt, RowId::new(RowKind::Prompt, place.row_id)),
            RowKind::Message => (TextSource::FinalMessage, RowId::new(RowKind::Message, place.row_id)),
            RowKind::Observation | RowKind::Summary | RowKind::Account => continue,
        };
        if let Some(document) = reads.document(row)? {
            found.push(QuotedSource { session, turn, source, text: document.body, at: place.at });
        }
    }
    Ok(found)
}
