//! The claims of a session's episodes, and the observation that each claim went into.
//!
//! A body is the JSON of one episode's claims: an object whose `claims` are objects with a `key`. Forgetting also
//! reads the fields that may repeat the text of another claim. Invariant: the text of a forgotten claim is in no body.

use rusqlite::params;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};

use super::{StoreError, StoreReader, StoreWriter};
use crate::columns::{ReadColumn, SqlColumn, id_column, state_column};
use claude_mem_core::event_key::hex;
use claude_mem_core::ids::{ObservationId, SessionId};

/// The claim key under which the account of a session is forgotten.
pub(super) const ACCOUNT_CLAIM: &str = "\0account";

/// The claims of one episode as stored.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredClaims {
    /// JSON.
    pub body: String,
    /// A model wrote the observations of the episode; the claims serve the account only.
    pub by_model: bool,
}

/// A claim that was removed from its episode, with all that is needed to put it back.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct RemovedClaim {
    session: i64,
    sequence: i64,
    claim: Value,
    /// The claim, or the outcome of the turn, which has no key, stays; only fields were taken out of it.
    #[serde(default)]
    is_stripped: bool,
}

impl RemovedClaim {
    pub(super) fn session(&self) -> i64 {
        self.session
    }

    /// The key of a claim that is gone; none of one that was only stripped.
    pub(super) fn key(&self) -> Option<&str> {
        claim_key(&self.claim).filter(|_| !self.is_stripped)
    }
}

impl StoreReader<'_> {
    /// Whether a person forgot the account of this session.
    pub fn is_account_forgotten(&self, session: SessionId) -> Result<bool, StoreError> {
        self.is_claim_forgotten(session, ACCOUNT_CLAIM)
    }

    /// The claims of a session, in the order in which its episodes were stored.
    pub fn session_claims(&self, session: SessionId) -> Result<Vec<StoredClaims>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT body, by_model FROM session_claims WHERE session_id = ?1 ORDER BY sequence",
        )?;
        let rows = rows.query_map([session.sql()], |row| {
            Ok(StoredClaims { body: row.get(0)?, by_model: row.get(1)? })
        })?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The observation that each claim of a session went into. It may be gone.
    pub fn claim_links(&self, session: SessionId) -> Result<Vec<(String, ObservationId)>, StoreError> {
        let mut rows = self
            .0
            .prepare_cached("SELECT claim, observation_id FROM observation_claims WHERE session_id = ?1")?;
        let rows = rows.query_map([session.sql()], |row| Ok((row.get(0)?, row.column(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// The claims that an observation was made from, with their sessions.
    pub fn claims_of_observation(&self, id: ObservationId) -> Result<Vec<(SessionId, String)>, StoreError> {
        let mut rows = self.0.prepare_cached(
            "SELECT session_id, claim FROM observation_claims WHERE observation_id = ?1 ORDER BY session_id, claim",
        )?;
        let rows = rows.query_map([id.sql()], |row| Ok((row.column(0)?, row.get(1)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }

    /// Whether a claim of this session was forgotten.
    pub fn is_claim_forgotten(&self, session: SessionId, claim: &str) -> Result<bool, StoreError> {
        self.is_tombstone(&self.claim_tombstone(session, claim)?)
    }

    /// The tombstone of a claim. It names the session as its client does, so that a later import of the same
    /// session does not bring the claim back.
    pub(super) fn claim_tombstone(&self, session: SessionId, claim: &str) -> Result<String, StoreError> {
        let mut found =
            self.0.prepare_cached("SELECT client, content_session_id FROM sdk_sessions WHERE id = ?1")?;
        let (client, name): (String, String) =
            found.query_row([session.sql()], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let mut hash = Sha256::new();
        for part in [&client, &name, claim] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part);
        }
        Ok(format!("claim:{}", hex(&hash.finalize()[..16])))
    }
}

impl StoreWriter<'_> {
    /// Appends the claims of an episode.
    pub fn append_session_claims(
        &self,
        session: SessionId,
        claims: &StoredClaims,
        import_run: Option<i64>,
    ) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO session_claims (session_id, sequence, by_model, body, import_run)
                 SELECT ?1, coalesce(max(sequence), 0) + 1, ?2, ?3, ?4 FROM session_claims WHERE session_id = ?1",
            )?
            .execute(params![session.sql(), claims.by_model, state_column(&claims.body), import_run])?;
        Ok(())
    }

    /// Removes all claims of a session, to make them anew.
    pub fn clear_session_claims(&self, session: SessionId) -> Result<(), StoreError> {
        self.tx.execute("DELETE FROM session_claims WHERE session_id = ?1", [session.sql()])?;
        Ok(())
    }

    /// Records that a claim went into an observation.
    pub fn link_claim(&self, session: SessionId, claim: &str, id: ObservationId) -> Result<(), StoreError> {
        self.tx
            .prepare_cached(
                "INSERT INTO observation_claims (session_id, claim, observation_id) VALUES (?1, ?2, ?3)
                 ON CONFLICT DO UPDATE SET observation_id = excluded.observation_id",
            )?
            .execute(params![session.sql(), id_column(claim), id.sql()])?;
        Ok(())
    }

    /// Takes claims out of the bodies of their session and returns them.
    pub(super) fn remove_claims(
        &self,
        session: SessionId,
        keys: &[String],
    ) -> Result<Vec<RemovedClaim>, StoreError> {
        let mut removed = Vec::new();
        for (id, sequence, body) in self.claim_bodies(session)? {
            let mut episode: Value = serde_json::from_str(&body)?;
            let Some(claims) = episode.get_mut("claims").and_then(Value::as_array_mut) else {
                continue;
            };
            let before = removed.len();
            claims.retain(|claim| {
                let is_wanted = claim_key(claim).is_some_and(|key| keys.iter().any(|wanted| wanted == key));
                if is_wanted {
                    let claim = claim.clone();
                    removed.push(RemovedClaim { session: session.0, sequence, claim, is_stripped: false });
                }
                !is_wanted
            });
            let gone: Vec<Value> = removed[before..].iter().map(|removed| removed.claim.clone()).collect();
            for claim in claims.iter_mut().filter(|claim| quotes_any(claim, &gone)) {
                let whole = claim.clone();
                removed.push(RemovedClaim { session: session.0, sequence, claim: whole, is_stripped: true });
                strip_fields(claim, &CONTEXT_FIELDS);
            }
            if removed.len() > before
                && let Some(outcome) = episode.get_mut("outcome")
                && !outcome.is_null()
            {
                let whole = outcome.clone();
                removed.push(RemovedClaim { session: session.0, sequence, claim: whole, is_stripped: true });
                strip_fields(outcome, &OUTCOME_FIELDS);
            }
            if removed.len() > before {
                self.set_claim_body(id, &episode)?;
            }
        }
        Ok(removed)
    }

    /// Puts removed claims back into their episodes, unless those are gone.
    pub(super) fn restore_claims(&self, removed: &[RemovedClaim]) -> Result<(), StoreError> {
        for RemovedClaim { session, sequence, claim, is_stripped } in removed {
            let bodies = self.claim_bodies(SessionId(*session))?;
            let Some((id, _, body)) = bodies.into_iter().find(|(_, place, _)| place == sequence) else {
                continue;
            };
            let mut episode: Value = serde_json::from_str(&body)?;
            if claim_key(claim).is_none() {
                episode["outcome"] = claim.clone();
                self.set_claim_body(id, &episode)?;
                continue;
            }
            let Some(claims) = episode.get_mut("claims").and_then(Value::as_array_mut) else {
                continue;
            };
            match claims.iter_mut().find(|known| claim_key(known) == claim_key(claim)) {
                Some(known) if *is_stripped => known.clone_from(claim),
                None if !is_stripped => claims.push(claim.clone()),
                _ => continue,
            }
            self.set_claim_body(id, &episode)?;
        }
        Ok(())
    }

    fn set_claim_body(&self, id: i64, episode: &Value) -> Result<(), StoreError> {
        let body = serde_json::to_string(episode)?;
        self.tx
            .execute("UPDATE session_claims SET body = ?2 WHERE id = ?1", params![id, state_column(&body)])?;
        Ok(())
    }

    fn claim_bodies(&self, session: SessionId) -> Result<Vec<(i64, i64, String)>, StoreError> {
        let mut rows = self.tx.prepare_cached(
            "SELECT id, sequence, body FROM session_claims WHERE session_id = ?1 ORDER BY sequence",
        )?;
        let rows = rows.query_map([session.sql()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))?;
        Ok(rows.collect::<Result<_, _>>()?)
    }
}

/// The fields of a claim that quote the sentences beside it.
const CONTEXT_FIELDS: [&str; 2] = ["before", "after"];
/// The fields of a turn's outcome that tell of its work in other words.
const OUTCOME_FIELDS: [&str; 2] = ["report", "refused"];

fn text_of<'c>(claim: &'c Value, field: &str) -> Option<&'c str> {
    claim.get(field).and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// Whether a claim quotes a sentence of one that is gone.
fn quotes_any(claim: &Value, gone: &[Value]) -> bool {
    let told = |gone: &Value, quoted: &str| {
        let mut texts = ["text", "before", "after"].into_iter().filter_map(|field| text_of(gone, field));
        texts.any(|text| text.contains(quoted) || quoted.contains(text))
    };
    let mut quoted = CONTEXT_FIELDS.into_iter().filter_map(|field| text_of(claim, field));
    quoted.any(|quoted| gone.iter().any(|gone| told(gone, quoted)))
}

fn strip_fields(value: &mut Value, names: &[&str]) {
    if let Some(fields) = value.as_object_mut() {
        fields.retain(|name, _| !names.contains(&name.as_str()));
    }
}

fn claim_key(claim: &Value) -> Option<&str> {
    claim.get("key")?.as_str()
}
