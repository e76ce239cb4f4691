//! Applies what a whole session leaves behind: observations, account and open items.
//!
//! [`SessionMemoryWriter`] appends the claims of an episode, consolidates all claims of the session and
//! changes the stored rows by the difference. Invariant: an observation that shares a claim with a stored row
//! keeps its id, everything that refers to a merged row follows it, and applying the same claims again
//! changes nothing. The caller's transaction makes it exactly-once.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use crate::dedup::ObservationFingerprint;
use crate::item_matcher;
use crate::read_tokens::{account_tokens, observation_tokens};
use crate::replacements;
use claude_mem_core::clock::Millis;
use claude_mem_core::ids::{AccountId, ObservationId, ProjectId, SessionId};
use claude_mem_core::memory::{ConsolidatedObservation, NewObservation, ObservationType, SessionMemories};
use claude_mem_core::vocabulary::PREFERENCE;
use claude_mem_distil::EpisodeClaims;
use claude_mem_store::{
    MemoryLevel, NewObservationMeta, Observation, StoreError, StoreReader, StoreWriter, StoredClaims,
    tombstone_for,
};

/// The `made_by` value of rows that no model made.
pub const LOCAL: &str = "local";

/// Share of all words of an old row and a new observation that both must contain to be the same one.
const NEAR_PERCENT_MIN: usize = 35;

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
        // A model wrote the observations of these episodes.
        memories.observations.retain(|made| !made.claims.iter().all(|key| by_model.contains(key)));
        self.apply(tx, &memories)
    }

    /// Replaces the claims of the session by these and consolidates anew. A row that says what a new
    /// observation says, or tells of the same files in mostly the same words, keeps its number.
    pub fn redo(
        &self,
        tx: &StoreWriter<'_>,
        episodes: &[EpisodeClaims],
        consolidator: Consolidator<'_>,
    ) -> Result<ConsolidationChanges, StoreError> {
        let old = tx.observations_by_id(&tx.local_observations(self.session)?)?;
        for row in &old {
            // Without a link, a row from before there were claims would not be withdrawn.
            tx.link_claim(self.session, &format!("row:{}", row.id), row.id)?;
        }
        tx.clear_session_claims(self.session)?;
        let by_model = tx.has_model_observations(self.session)?;
        for episode in episodes {
            self.append_claims(tx, episode, by_model)?;
        }
        let kept: Vec<EpisodeClaims> = tx
            .session_claims(self.session)?
            .iter()
            .map(|claims| serde_json::from_str(&claims.body))
            .collect::<Result<_, _>>()?;
        let mut memories = consolidator(&kept);
        if by_model {
            memories.observations.clear();
        }
        let mut forgotten = Vec::new();
        for made in &memories.observations {
            let new = &made.observation;
            forgotten.push(tx.is_tombstone(&tombstone_for(&new.title, &new.narrative))?);
        }
        let mut forgotten = forgotten.into_iter();
        memories.observations.retain(|_| !forgotten.next().unwrap_or(false));
        for (made, row) in match_rows(&memories.observations, &old) {
            if let Some(claim) = made.claims.first() {
                tx.link_claim(self.session, claim, row)?;
            }
        }
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
                self.let_all_go(tx, &leaving, &mut changes)?;
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
            if is_changed && made.observation.kind == ObservationType::DECISION {
                decisions.push(id);
            }
        }
        if let Some(leaving) = leaving {
            self.let_all_go(tx, &leaving, &mut changes)?;
        }
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
        let is_tombstone =
            self.import_run.is_some() && tx.is_tombstone(&tombstone_for(&new.title, &new.narrative))?;
        let (own, foreign): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| self.owns(row));
        if is_tombstone {
            for row in own.iter().chain(&foreign) {
                changes.removed.extend(self.let_go(tx, row)?);
            }
            return Ok(None);
        }
        let Some(keeper) = own.iter().max_by_key(|row| standing(row)) else {
            return self.apply_first(tx, new, &foreign, changes).map(Some);
        };
        for row in &foreign {
            self.detach(tx, row)?;
        }
        for row in own.iter().filter(|row| row.id != keeper.id) {
            tx.merge_observation(row.id, keeper.id)?;
            changes.removed.push(row.id);
        }
        if keeper.title != new.title
            && !keeper.edited
            && !keeper.pinned
            && let Some(twin) = self.find_twin(tx, new)?
        {
            tx.merge_observation(keeper.id, twin)?;
            changes.removed.push(keeper.id);
            return Ok(Some(twin));
        }
        let level = level_after(keeper, &own, new);
        if !keeper.edited && (!is_same(keeper, new) || keeper.level != level) {
            tx.update_observation(keeper.id, new, level, observation_tokens(new), self.now)?;
            changes.updated.push(keeper.id);
        }
        Ok(Some(keeper.id))
    }

    /// An observation without a row of this session: another session's row that says the same, or a new one.
    fn apply_first(
        &self,
        tx: &StoreWriter<'_>,
        new: &NewObservation,
        foreign: &[Observation],
        changes: &mut ConsolidationChanges,
    ) -> Result<ObservationId, StoreError> {
        let said = ObservationFingerprint::from_new(new);
        let says_the_same = |row: &&Observation| said.is_duplicate_of(&ObservationFingerprint::from_row(row));
        let known = foreign.iter().find(says_the_same).map(|row| row.id);
        for row in foreign.iter().filter(|row| Some(row.id) != known) {
            self.detach(tx, row)?;
        }
        let twin = match known {
            Some(id) => Some(id),
            None => self.find_twin(tx, new)?,
        };
        if let Some(id) = twin {
            tx.add_observation_source(id, self.session)?;
            return Ok(id);
        }
        let turn = tx.prompt_number_at(self.session, new.created_at)?;
        let id = tx.create_observation(
            new,
            &NewObservationMeta {
                session: Some(self.session),
                prompt_number: turn.unwrap_or(self.prompt_number),
                level: level_of(new),
                read_tokens: observation_tokens(new),
                ..self.place()
            },
        )?;
        changes.inserted.push(id);
        Ok(id)
    }

    /// A row of the project that says the same and is not one of this session's own.
    fn find_twin(
        &self,
        reads: &StoreReader<'_>,
        new: &NewObservation,
    ) -> Result<Option<ObservationId>, StoreError> {
        let Some(project) = self.project else {
            return Ok(None);
        };
        let said = ObservationFingerprint::from_new(new);
        let titled = reads.observations_titled(project, &new.title)?;
        let mut others = titled.iter().filter(|row| row.replaced_by.is_none() && !self.owns(row));
        let twin = others.find(|row| said.is_duplicate_of(&ObservationFingerprint::from_row(row)));
        Ok(twin.map(|row| row.id))
    }

    fn let_all_go(
        &self,
        tx: &StoreWriter<'_>,
        rows: &BTreeMap<ObservationId, Observation>,
        changes: &mut ConsolidationChanges,
    ) -> Result<(), StoreError> {
        for row in rows.values() {
            changes.removed.extend(self.let_go(tx, row)?);
        }
        Ok(())
    }

    /// Takes a row away that the session no longer states. Rows that a person has touched stay, and so do
    /// those that another session states too. Returns the row's id if it is gone.
    fn let_go(&self, tx: &StoreWriter<'_>, row: &Observation) -> Result<Option<ObservationId>, StoreError> {
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
        row.session == Some(self.session) && row.made_by == LOCAL
    }

    fn apply_account(
        &self,
        tx: &StoreWriter<'_>,
        memories: &SessionMemories,
    ) -> Result<Option<AccountId>, StoreError> {
        match &memories.account {
            Some(_) if tx.is_account_forgotten(self.session)? => Ok(None),
            Some(account) => {
                let place = NewObservationMeta { read_tokens: account_tokens(account), ..self.place() };
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
        for item in tx.closable_items(project, self.session)? {
            let is_earlier = item.opened_at <= at;
            let meets = item_matcher::branches_meet(item.branch.as_deref(), self.branch);
            let finished = memories
                .finished
                .iter()
                .find(|done| is_earlier && meets && item_matcher::finishes(done, &item.text));
            match (finished, item.closed_at) {
                (Some(done), None) => {
                    tx.close_item_by_session(item.id, self.session, done, at)?;
                }
                (None, Some(_)) => tx.reopen_item_by_session(item.id, self.session)?,
                _ => {}
            }
        }
        Ok(())
    }

    fn place(&self) -> NewObservationMeta<'_> {
        NewObservationMeta {
            project: self.project,
            prompt_number: self.prompt_number,
            branch: self.branch,
            import_run: self.import_run,
            made_by: LOCAL,
            ..NewObservationMeta::default()
        }
    }
}

/// Pairs each row with the new observation that is nearest to it, if one is near.
fn match_rows<'m>(
    made: &'m [ConsolidatedObservation],
    rows: &[Observation],
) -> Vec<(&'m ConsolidatedObservation, ObservationId)> {
    let mut pairs = Vec::new();
    let mut taken = HashSet::new();
    for row in rows {
        let said = ObservationFingerprint::from_row(row);
        let nearest = made
            .iter()
            .enumerate()
            .filter(|(at, _)| !taken.contains(at))
            .map(|(at, made)| {
                let new = ObservationFingerprint::from_new(&made.observation);
                let shares_file =
                    row.files_modified.iter().any(|file| made.observation.files_modified.contains(file));
                let percent = if new.is_duplicate_of(&said) { 100 } else { new.shared_percent(&said) };
                (if shares_file || percent == 100 { percent } else { percent / 2 }, at)
            })
            .max_by_key(|(percent, at)| (*percent, std::cmp::Reverse(*at)));
        if let Some((percent, at)) = nearest
            && percent >= NEAR_PERCENT_MIN
        {
            taken.insert(at);
            pairs.push((&made[at], row.id));
        }
    }
    pairs
}

/// Observations of one session that say the same are one, with the claims of all.
fn join_duplicates(made: &[ConsolidatedObservation]) -> Vec<ConsolidatedObservation> {
    let mut joined: Vec<(ObservationFingerprint, ConsolidatedObservation)> = Vec::new();
    for made in made {
        let said = ObservationFingerprint::from_new(&made.observation);
        match joined.iter_mut().find(|(earlier, _)| said.is_duplicate_of(earlier)) {
            Some((_, earlier)) => {
                let new = made.claims.iter().filter(|claim| !earlier.claims.contains(claim));
                let new: Vec<String> = new.cloned().collect();
                earlier.claims.extend(new);
            }
            None => joined.push((said, made.clone())),
        }
    }
    joined.into_iter().map(|(_, made)| made).collect()
}

/// The rows that a session's claims went into.
struct KnownRows {
    links: HashMap<String, ObservationId>,
    /// In the order of their ids. Rows are taken out as consolidated observations claim them.
    rows: BTreeMap<ObservationId, Observation>,
}

impl KnownRows {
    fn load(reads: &StoreReader<'_>, session: SessionId) -> Result<Self, StoreError> {
        let links: HashMap<String, ObservationId> = reads.claim_links(session)?.into_iter().collect();
        let ids: BTreeSet<ObservationId> = links.values().copied().collect();
        let ids: Vec<ObservationId> = ids.into_iter().collect();
        let rows = reads.observations_by_id(&ids)?.into_iter().map(|row| (row.id, row)).collect();
        Ok(Self { links, rows })
    }

    /// For each row, the observation that shares most of its claims; the first one if several do.
    fn owners(&self, made: &[ConsolidatedObservation]) -> HashMap<ObservationId, usize> {
        let mut best: HashMap<ObservationId, (usize, usize)> = HashMap::new();
        for (at, made) in made.iter().enumerate() {
            let mut shared: HashMap<ObservationId, usize> = HashMap::new();
            for id in made.claims.iter().filter_map(|claim| self.links.get(claim)) {
                *shared.entry(*id).or_default() += 1;
            }
            for (id, count) in shared {
                let (_, most) = best.entry(id).or_insert((at, 0));
                if count > *most {
                    best.insert(id, (at, count));
                }
            }
        }
        best.into_iter().map(|(id, (at, _))| (id, at)).collect()
    }

    fn take_owned(&mut self, owners: &HashMap<ObservationId, usize>, at: usize) -> Vec<Observation> {
        let ids: Vec<ObservationId> =
            self.rows.keys().copied().filter(|id| owners.get(id) == Some(&at)).collect();
        ids.into_iter().filter_map(|id| self.rows.remove(&id)).collect()
    }

    fn links_of(&self, made: &ConsolidatedObservation) -> BTreeSet<ObservationId> {
        made.claims.iter().filter_map(|claim| self.links.get(claim)).copied().collect()
    }
}

/// Which of several rows keeps its number: one that a person has touched, then the oldest.
fn standing(row: &Observation) -> (bool, bool, std::cmp::Reverse<i64>) {
    let is_touched = row.pinned || row.wrong || row.level == MemoryLevel::User;
    (row.edited, is_touched, std::cmp::Reverse(row.id.0))
}

/// A preference is only proposed until the user confirms it.
pub(crate) fn level_of(new: &NewObservation) -> MemoryLevel {
    if new.concepts.iter().any(|concept| concept == PREFERENCE) {
        MemoryLevel::Proposed
    } else {
        MemoryLevel::Project
    }
}

/// The level of a row that is updated: what a person decided stays.
fn level_after(keeper: &Observation, merged: &[Observation], new: &NewObservation) -> MemoryLevel {
    let was_preference = keeper.concepts.iter().any(|concept| concept == PREFERENCE);
    if merged.iter().any(|row| row.level == MemoryLevel::User) {
        MemoryLevel::User
    } else if keeper.level == MemoryLevel::Project && was_preference {
        keeper.level
    } else {
        level_of(new)
    }
}

/// Whether the row already says what the observation says.
fn is_same(row: &Observation, new: &NewObservation) -> bool {
    (&row.kind, &row.title, &row.subtitle, &row.narrative)
        == (&new.kind, &new.title, &new.subtitle, &new.narrative)
        && (&row.facts, &row.concepts, &row.files_read, &row.files_modified)
            == (&new.facts, &new.concepts, &new.files_read, &new.files_modified)
        && (row.origin, row.created_at, row.discovery_tokens)
            == (new.origin, new.created_at, new.discovery_tokens)
}

#[cfg(test)]
#[path = "session_memory_tests.rs"]
mod tests;
