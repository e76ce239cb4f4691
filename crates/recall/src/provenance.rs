//! Where an observation comes from: the quoted texts of the sessions that it was made from.

use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{ObservationId, SessionId};
use claude_mem_core::source::TextSource;
use claude_mem_distil::{Claim, ClaimKind, EpisodeClaims};
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
            for claim in episode.claims.iter().filter(is_linked) {
                let (turn, at) = (episode.turn, claim.at);
                let text = quoted_text(claim);
                let quote = |source, text| QuotedSource { session, turn, source, text, at };
                match picking_prompt(reads, session, turn, claim)? {
                    Some(prompt) => {
                        found.extend([quote(claim.source, prompt), quote(TextSource::Answer, text)]);
                    }
                    None => found.push(quote(claim.source, text)),
                }
            }
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
    // The label of the speaker is ours: the source names the speaker.
    let stated = claim.text.strip_prefix("User: “").and_then(|text| text.strip_suffix('”'));
    let text = stated.filter(|text| !text.contains('”')).unwrap_or(&claim.text);
    if title.is_empty() || text.to_lowercase().contains(&title.trim_end_matches('…').to_lowercase()) {
        return text.to_owned();
    }
    format!("{title}\n{text}")
}

/// The prompt that picked an option, such as "a". The claim then says the question and the option, which are not words
/// of the prompt.
fn picking_prompt(
    reads: &StoreReader<'_>,
    session: SessionId,
    turn: u32,
    claim: &Claim,
) -> Result<Option<String>, StoreError> {
    let is_prompt = matches!(claim.source, TextSource::Prompt | TextSource::QueuedPrompt);
    if claim.kind != ClaimKind::Choice || !is_prompt {
        return Ok(None);
    }
    let places = reads.turn_rows(session, turn, 1)?;
    let Some(prompt) = places.iter().find(|place| place.kind == RowKind::Prompt) else { return Ok(None) };
    let document = reads.document(RowId::new(RowKind::Prompt, prompt.row_id))?;
    Ok(document.map(|document| document.body))
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

#[cfg(test)]
#[path = "provenance_tests.rs"]
mod tests;
