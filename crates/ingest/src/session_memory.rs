//! Applies what a whole session leaves behind: observations, account and open items.
//!
//! [`SessionMemoryWriter`] appends the claims of an episode, consolidates all claims of the session and
//! changes the stored rows by the difference. Invariant: an observation that shares a claim with a stored row
//! keeps its id, everything that refers to a merged row follows it, and applying the same claims again
//! changes nothing. The caller's transaction makes it exactly-once.

use std::collections::{BTreeMap, HashSet};

use crate::dedup::ObservationFingerprint;
use crate::dedup::join_duplicates;
use crate::item_matcher::{self, WorkRecord};
use crate::known_rows::{KnownRows, keep_priority};
use crate::merged_observation::{is_same, keep_merged, level_after, level_of};
use crate::pitfall::{self, Pitfall};
use crate::replacements;
use crate::saved_notes;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{
    ConsolidatedObservation, NewObservation, ObservationType, Origin, SessionMemories,
};
use claude_mem_distil::EpisodeClaims;
use claude_mem_search::restated_rows;
use claude_mem_store::{
    ClosableItem, MemoryLevel, NewRowContext, Observation, StoreError, StoreReader, StoreWriter,
    StoredClaims, tombstone_for,
};

/// The `made_by` value of rows that no model made.
pub const LOCAL: &str = "local";

/// The `made_by` value of rows that a person saved.
pub(crate) const BY_HAND: &str = "hand";

/// Begins the keys under which observations that a model wrote are linked to their rows. No claim has such a key.
pub const MODEL_CLAIM: &str = "model:";

/// Makes a session's memories from the claims of its episodes.
pub type Consolidator<'c> = &'c dyn Fn(&[EpisodeClaims]) -> SessionMemories;

/// Writes the memories of one session.
#[derive(Clone, Copy, Debug)]
pub struct SessionMemoryWriter<'a> {
    pub session: SessionId,
    pub project: Option<ProjectId>,
    pub branch: Option<&'a str>,
    pub import_run: Option<i64>,
    /// The turn that new observations are attributed to.
    pub prompt_number: u32,
    /// The time of the session's last event.
    pub now: Millis,
    /// The model that writes the session anew. Observations under [`MODEL_CLAIM`] keys are its own.
    pub model: Option<&'a str>,
}

/// What a consolidation changed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConsolidationChanges {
    pub inserted: Vec<ObservationId>,
    pub updated: Vec<ObservationId>,
    /// Rows that were merged into others or withdrawn.
    pub removed: Vec<ObservationId>,
    pub account: Option<AccountId>,
}

impl SessionMemoryWriter<'_> {
    /// Appends the claims of an episode, without those that the user has forgotten. Returns how many these
    /// were.
    pub fn append_claims(
        &self,
        tx: &StoreWriter<'_>,
        claims: &EpisodeClaims,
        by_model: bool,
    ) -> Result<usize, StoreError> {
        let mut forgotten = Vec::new();
        for claim in &claims.claims {
            if tx.is_claim_forgotten(self.session, &claim.key)? {
                forgotten.push(claim.key.clone());
            }
        }
        let mut claims = claims.clone();
        claims.forget(&forgotten);
        if claims != EpisodeClaims::default() {
            let stored = StoredClaims { body: serde_json::to_string(&claims)?, by_model };
            tx.append_session_claims(self.session, &stored, self.import_run)?;
        }
        Ok(forgotten.len())
    }

    /// Consolidates all claims of the session and applies the result.
    pub fn consolidate(
        &self,
        tx: &StoreWriter<'_>,
        consolidator: Consolidator<'_>,
    ) -> Result<ConsolidationChanges, StoreError> {
        let stored = tx.session_claims(self.session)?;
        if stored.is_empty() {
            return Ok(ConsolidationChanges::default());
        }
        let memories = consolidate_stored(&stored, consolidator)?;
        self.apply(tx, &memories)
    }

    /// Changes the stored rows by the difference to these memories.
    pub fn apply(
        &self,
        tx: &StoreWriter<'_>,
        memories: &SessionMemories,
    ) -> Result<ConsolidationChanges, StoreError> {
        let mut known = KnownRows::load(tx, self.session)?;
        let mut changes = ConsolidationChanges::default();
        let mut decisions = Vec::new();
        let observations = join_duplicates(&memories.observations);
        let owners = known.owners(&observations);
        // Rows that stay are changed, and rows that go are removed, before new ones are created: a new row must
        // not be taken for a stored one whose text is about to change.
        let (kept, new): (Vec<_>, Vec<_>) =
            observations.iter().enumerate().partition(|(at, _)| owners.values().any(|owner| owner == at));
        let owned: Vec<_> = kept
            .into_iter()
            .map(|(at, made)| (made, known.take_owned(&owners, at)))
            .chain(new.into_iter().map(|(_, made)| (made, Vec::new())))
            .collect();
        let mut leaving = Some(std::mem::take(&mut known.rows));
        for (made, rows) in owned {
            if rows.is_empty()
                && let Some(leaving) = leaving.take()
            {
                self.withdraw_rows(tx, &leaving, &mut changes)?;
            }
            let Some(id) = self.apply_observation(tx, made, rows, &mut changes)? else {
                continue;
            };
            for old in known.links_of(made) {
                // A withdrawn number whose claim has come back.
                if old != id && tx.observations_by_id(&[old])?.is_empty() {
                    tx.set_successor(old, Some(id))?;
                }
            }
            for claim in &made.claims {
                if known.links.get(claim) != Some(&id) {
                    tx.link_claim(self.session, claim, id)?;
                }
            }
            let is_changed = changes.inserted.contains(&id) || changes.updated.contains(&id);
            if is_changed && made.observation.text.kind == ObservationType::DECISION {
                decisions.push(id);
            }
        }
        if let Some(leaving) = leaving {
            self.withdraw_rows(tx, &leaving, &mut changes)?;
        }
        self.merge_saved_notes(tx, &mut changes)?;
        decisions.retain(|id| !changes.removed.contains(id));
        if let Some(project) = self.project {
            replacements::refresh(tx, project, &decisions)?;
        }
        changes.account = self.apply_account(tx, memories)?;
        self.apply_open_items(tx, memories)?;
        Ok(changes)
    }

    /// Stores one consolidated observation into one of `rows`, which share its claims, or as a new row.
    fn apply_observation(
        &self,
        tx: &StoreWriter<'_>,
        made: &ConsolidatedObservation,
        rows: Vec<Observation>,
        changes: &mut ConsolidationChanges,
    ) -> Result<Option<ObservationId>, StoreError> {
        let new = &made.observation;
        let is_tombstone = self.import_run.is_some()
            && tx.is_tombstone(&tombstone_for(&new.text.title, &new.text.narrative))?;
        let (own, foreign): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| self.owns(row));
        if is_tombstone {
            for row in own.iter().chain(&foreign) {
                changes.removed.extend(self.withdraw_or_detach(tx, row)?);
            }
            return Ok(None);
        }
        let Some(keeper) = own.iter().max_by_key(|row| keep_priority(row)) else {
            return self.apply_first(tx, made, &foreign, changes).map(Some);
        };
        for row in &foreign {
            self.detach(tx, row)?;
        }
        for row in own.iter().filter(|row| row.id != keeper.id) {
            tx.merge_observation(row.id, keeper.id)?;
            changes.removed.push(row.id);
        }
        if keeper.text.title != new.text.title
            && !keeper.edited
            && !keeper.pinned
            && let Some(twin) = self.find_twin(tx, new)?
        {
            restated_rows::strengthen(tx, &twin, &new.text.kind, new.origin, self.now)?;
            tx.merge_observation(keeper.id, twin.id)?;
            changes.removed.push(keeper.id);
            return Ok(Some(twin.id));
        }
        let level = level_after(keeper, &own, new);
        let made_by = self.made_by(made);
        let new = keep_merged(keeper, new);
        let is_same = is_same(keeper, &new) && keeper.level == level && keeper.made_by == made_by;
        if !keeper.edited && !is_same {
            tx.update_observation(keeper.id, &new, level, new.text.read_tokens(), self.now)?;
            if keeper.made_by != made_by {
                tx.set_observation_maker(keeper.id, made_by)?;
            }
            changes.updated.push(keeper.id);
        }
        Ok(Some(keeper.id))
    }

    /// An observation without a row of this session: another session's row that says the same, or a new one.
    fn apply_first(
        &self,
        tx: &StoreWriter<'_>,
        made: &ConsolidatedObservation,
        foreign: &[Observation],
        changes: &mut ConsolidationChanges,
    ) -> Result<ObservationId, StoreError> {
        let new = &made.observation;
        let said = ObservationFingerprint::from_new(new);
        let is_users = new.origin == Origin::User;
        let pitfall = Pitfall::from_text(&new.text);
        let says_the_same = |row: &&Observation| {
            // The note that a statement of the user was merged into.
            let is_its_note = is_users && restated_rows::is_note(row);
            is_its_note
                || said.is_duplicate_of(&ObservationFingerprint::from_row(row))
                || pitfall.as_ref().is_some_and(|pitfall| pitfall.is_told_by(&row.text))
        };
        let known = foreign.iter().find(says_the_same);
        for row in foreign.iter().filter(|row| Some(row.id) != known.map(|known| known.id)) {
            self.detach(tx, row)?;
        }
        let twin = match known {
            Some(row) => Some(row.clone()),
            None => self.find_twin(tx, new)?,
        };
        if let Some(twin) = twin {
            restated_rows::strengthen(tx, &twin, &new.text.kind, new.origin, self.now)?;
            tx.add_observation_source(twin.id, self.session)?;
            return Ok(twin.id);
        }
        let turn = tx.prompt_number_at(self.session, new.created_at)?;
        let id = tx.create_observation(
            new,
            &NewRowContext {
                session: Some(self.session),
                prompt_number: turn.unwrap_or(self.prompt_number),
                level: level_of(new),
                read_tokens: new.text.read_tokens(),
                made_by: self.made_by(made),
                ..self.place()
            },
        )?;
        changes.inserted.push(id);
        Ok(id)
    }

    /// A row of the project that says the same and is not one of this session's own. Notes that restate the user's
    /// words are not among them: [`Self::merge_saved_notes`] merges them the other way.
    fn find_twin(
        &self,
        reads: &StoreReader<'_>,
        new: &NewObservation,
    ) -> Result<Option<Observation>, StoreError> {
        let Some(project) = self.project else {
            return Ok(None);
        };
        let said = ObservationFingerprint::from_new(new);
        let is_note = |row: &Observation| new.origin == Origin::User && restated_rows::is_note(row);
        let titled = reads.observations_titled(project, &new.text.title)?;
        let is_other = |row: &Observation| row.replaced_by.is_none() && !self.owns(row) && !is_note(row);
        let mut others = titled.into_iter().filter(is_other);
        let twin = others.find(|row| said.is_duplicate_of(&ObservationFingerprint::from_row(row)));
        match Pitfall::from_text(&new.text).filter(|_| twin.is_none()) {
            Some(pitfall) => {
                let mut known = reads.observations_of_concept(project, pitfall::CONCEPT)?.into_iter();
                Ok(known.find(|row| is_other(row) && pitfall.is_told_by(&row.text)))
            }
            None => Ok(twin),
        }
    }

    /// Merges notes that restate what the user said into the new and changed observations that state it.
    fn merge_saved_notes(
        &self,
        tx: &StoreWriter<'_>,
        changes: &mut ConsolidationChanges,
    ) -> Result<(), StoreError> {
        let changed: Vec<ObservationId> = changes.inserted.iter().chain(&changes.updated).copied().collect();
        let mut stated = tx.observations_by_id(&changed)?;
        stated.retain(|row| row.origin == Origin::User);
        let place = (self.session, self.project);
        changes.removed.extend(saved_notes::merge_into_statements(tx, &stated, place, self.now)?);
        let ConsolidationChanges { inserted, updated, removed, .. } = changes;
        inserted.retain(|id| !removed.contains(id));
        updated.retain(|id| !removed.contains(id));
        Ok(())
    }

    fn withdraw_rows(
        &self,
        tx: &StoreWriter<'_>,
        rows: &BTreeMap<ObservationId, Observation>,
        changes: &mut ConsolidationChanges,
    ) -> Result<(), StoreError> {
        for row in rows.values() {
            changes.removed.extend(self.withdraw_or_detach(tx, row)?);
        }
        Ok(())
    }

    /// Takes a row away that the session no longer states. Rows that a person has touched stay, and so do
    /// those that another session states too. Returns the row's id if it is gone.
    fn withdraw_or_detach(
        &self,
        tx: &StoreWriter<'_>,
        row: &Observation,
    ) -> Result<Option<ObservationId>, StoreError> {
        if !self.owns(row) {
            return self.detach(tx, row).map(|()| None);
        }
        let is_touched = row.edited || row.pinned || row.wrong || row.level == MemoryLevel::User;
        if tx.remove_observation_source(row.id, self.session)? || is_touched {
            return Ok(None);
        }
        tx.withdraw_observation(row.id)?;
        Ok(Some(row.id))
    }

    /// This session no longer states what a row of another session says.
    fn detach(&self, tx: &StoreWriter<'_>, row: &Observation) -> Result<(), StoreError> {
        if row.session != Some(self.session) {
            tx.remove_observation_source(row.id, self.session)?;
        }
        Ok(())
    }

    /// Whether this session's claims made the row, so that they may change it.
    fn owns(&self, row: &Observation) -> bool {
        let is_maker = row.made_by == LOCAL || Some(row.made_by.as_str()) == self.model;
        row.session == Some(self.session) && is_maker
    }

    /// Who wrote the observation: the model that writes the session anew, or nobody but the rules.
    fn made_by(&self, made: &ConsolidatedObservation) -> &str {
        let is_own = |key: &String| key.starts_with(MODEL_CLAIM);
        self.model.filter(|_| made.claims.first().is_some_and(is_own)).unwrap_or(LOCAL)
    }

    fn apply_account(
        &self,
        tx: &StoreWriter<'_>,
        memories: &SessionMemories,
    ) -> Result<Option<AccountId>, StoreError> {
        match &memories.account {
            Some(_) if tx.is_account_forgotten(self.session)? => Ok(None),
            Some(account) => {
                let place = NewRowContext { read_tokens: account.text.read_tokens(), ..self.place() };
                tx.set_session_account(self.session, account, &place)
            }
            None => tx.remove_session_account(self.session).map(|_| None),
        }
    }

    fn apply_open_items(&self, tx: &StoreWriter<'_>, memories: &SessionMemories) -> Result<(), StoreError> {
        tx.set_open_items(self.session, &memories.open_items, &self.place())?;
        let Some(project) = self.project else {
            return Ok(());
        };
        let at = memories.account.as_ref().map_or(self.now, |account| account.at);
        for ClosableItem { item, claim } in tx.closable_items(project, self.session)? {
            let is_earlier = item.opened_at <= at;
            let meets = item_matcher::branches_meet(item.branch.as_deref(), self.branch);
            let finished = WorkRecord { finished: &memories.finished, settled: &memories.settled };
            let done = finished.closing(&claim, &item.text, meets).filter(|_| is_earlier);
            match (done, item.closed_at) {
                (Some(done), None) => {
                    tx.close_item_by_session(item.id, self.session, done, at)?;
                }
                (None, Some(_)) => tx.reopen_item_by_session(item.id, self.session)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&self) -> NewRowContext<'_> {
        NewRowContext {
            project: self.project,
            prompt_number: self.prompt_number,
            branch: self.branch,
            import_run: self.import_run,
            made_by: LOCAL,
            ..NewRowContext::default()
        }
    }
}

/// What the stored claims of a session say, without the observations of which a model wrote its own.
pub(crate) fn consolidate_stored(
    stored: &[StoredClaims],
    consolidator: Consolidator<'_>,
) -> Result<SessionMemories, StoreError> {
    let mut episodes = Vec::with_capacity(stored.len());
    let mut by_model = HashSet::new();
    for claims in stored {
        let episode: EpisodeClaims = serde_json::from_str(&claims.body)?;
        if claims.by_model {
            by_model.extend(episode.claims.iter().map(|claim| claim.key.clone()));
        }
        episodes.push(episode);
    }
    let mut memories = consolidator(&episodes);
    memories.observations.retain(|made| !made.claims.iter().all(|key| by_model.contains(key)));
    Ok(memories)
}

#[cfg(test)]
#[path = "session_memory_tests.rs"]
mod tests;
#[cfg(test)]
#[path = "session_arrival_tests.rs"]
mod arrival_tests;
