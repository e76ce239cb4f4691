//! The second leg: rows by what they mean.
//!
//! Signs first, over everything in scope; then the vectors of the best. What is said here of a
//! row holds for the text whose hash comes with it: the caller compares.

use std::collections::HashMap;
use std::sync::{PoisonError, RwLock};

use super::allowed::Allowed;
use super::aside::{Aside, Pending};
use super::encoder::Encoder;
use super::packed::{Probe, sign_words};
use super::rank::RowKey;
use crate::clock::Millis;
use crate::ids::ProjectId;
use crate::limits::{VECTOR_QUERY_CHARS_MAX, VECTOR_RESCORED_ROWS};
use crate::store::{NOBODYS, RowKind, Signature, StoreError, VectorStore, WordScope};

/// How near a row is, by vectors of the text of this hash.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Near {
    pub score: f64,
    pub text_hash: i64,
}

pub type Similarities = HashMap<RowKey, Near>;

/// The vectors file and the encoder it was filled by, with signatures in memory where somebody
/// asks often.
#[derive(Debug)]
pub struct VectorLeg<'a> {
    store: &'a mut VectorStore,
    shelves: Option<&'a RwLock<Shelves>>,
    encoder: EncoderRef<'a>,
    aside: Option<&'a Aside>,
}

struct EncoderRef<'a>(&'a dyn Encoder);

impl std::fmt::Debug for EncoderRef<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0.id())
    }
}

impl<'a> VectorLeg<'a> {
    /// Reads signatures from the file for every query.
    pub fn cold(store: &'a mut VectorStore, encoder: &'a dyn Encoder) -> Self {
        Self {
            store,
            shelves: None,
            encoder: EncoderRef(encoder),
            aside: None,
        }
    }

    /// Keeps signatures in memory from query to query.
    pub fn warm(
        store: &'a mut VectorStore,
        shelves: &'a RwLock<Shelves>,
        encoder: &'a dyn Encoder,
    ) -> Self {
        Self {
            store,
            shelves: Some(shelves),
            encoder: EncoderRef(encoder),
            aside: None,
        }
    }

    /// Has questions turned into vectors aside.
    #[must_use]
    pub fn aside(mut self, aside: Option<&'a Aside>) -> Self {
        self.aside = aside;
        self
    }

    /// Begins to turn a question into a vector.
    pub fn ask(&self, text: &str) -> Pending {
        let cut: String = text.chars().take(VECTOR_QUERY_CHARS_MAX).collect();
        Pending::of(cut, self.aside)
    }

    pub fn probe(&self, question: Pending) -> Probe {
        Probe::new(&question.vector(self.encoder.0))
    }

    /// The nearest rows within `scope`; without those that are known not to be
    /// `allowed`.
    pub fn nearest(
        &mut self,
        probe: &Probe,
        scope: &WordScope,
        allowed: Option<&Allowed>,
    ) -> Result<Similarities, StoreError> {
        let mut best = Best::default();
        let is_inside = |seen: &Seen| {
            seen.is_within(scope)
                && allowed.is_none_or(|rows| rows.may_have((seen.kind, seen.row_id)))
        };
        match self.shelves {
            Some(shelves) => {
                Shelves::refresh(shelves, self.store, probe.width())?;
                let shelves = shelves.read().unwrap_or_else(PoisonError::into_inner);
                shelves.each(scope, probe, |seen, differing| {
                    if is_inside(seen) {
                        best.0.push((probe.nearness_of_differing(differing), *seen));
                    }
                });
            }
            None => {
                let everybodys = scope.user_level.then_some(NOBODYS);
                let either = scope.project.into_iter().chain(everybodys).map(Some);
                let mut owners: Vec<Option<ProjectId>> = either.collect();
                if owners.is_empty() {
                    owners.push(None);
                }
                for owner in owners {
                    self.store.signatures(owner, 0, |found| {
                        let seen = Seen::of(&found);
                        if let Some(score) = is_inside(&seen)
                            .then(|| probe.nearness_by_signs(found.bits))
                            .flatten()
                        {
                            best.0.push((score, seen));
                        }
                    })?;
                }
            }
        }
        // Some of these will be found not to be allowed.
        let tested = allowed.is_some_and(Allowed::is_tested);
        let rows = if tested { 4 } else { 1 } * VECTOR_RESCORED_ROWS;
        self.rescore(probe, &best.take(rows))
    }

    /// How near these rows are, for those that have vectors.
    pub fn nearness_of(
        &self,
        probe: &Probe,
        keys: impl Iterator<Item = RowKey>,
    ) -> Result<Similarities, StoreError> {
        let mut near = Similarities::new();
        for (kind, row_id) in keys {
            self.store.vectors_of(kind, row_id, |text_hash, parts| {
                if let Some(score) = probe.nearness(parts) {
                    let score = f64::from(score);
                    near.insert((kind, row_id), Near { score, text_hash });
                }
            })?;
        }
        Ok(near)
    }

    fn rescore(&self, probe: &Probe, rows: &[Seen]) -> Result<Similarities, StoreError> {
        let by_id: HashMap<i64, RowKey> = rows
            .iter()
            .map(|seen| (seen.id, (seen.kind, seen.row_id)))
            .collect();
        let mut ids: Vec<i64> = by_id.keys().copied().collect();
        // In the file's order: a page is read once.
        ids.sort_unstable();
        let mut near = Similarities::with_capacity(ids.len());
        self.store.vectors(&ids, |id, text_hash, parts| {
            if let Some(score) = probe.nearness(parts) {
                let score = f64::from(score);
                near.insert(by_id[&id], Near { score, text_hash });
            }
        })?;
        Ok(near)
    }
}

#[derive(Default)]
struct Best(Vec<(f32, Seen)>);

impl Best {
    fn take(mut self, count: usize) -> Vec<Seen> {
        if self.0.len() > count {
            self.0.select_nth_unstable_by(count, |a, b| {
                b.0.total_cmp(&a.0).then(b.1.id.cmp(&a.1.id))
            });
            self.0.truncate(count);
        }
        self.0.into_iter().map(|(_, seen)| seen).collect()
    }
}

/// A row as its signature shows it.
#[derive(Clone, Copy, Debug)]
struct Seen {
    id: i64,
    kind: RowKind,
    row_id: i64,
    created_at: Millis,
}

impl Seen {
    fn of(found: &Signature<'_>) -> Self {
        Self {
            id: found.id,
            kind: found.kind,
            row_id: found.row_id,
            created_at: found.created_at,
        }
    }

    /// Its project was looked for; types are told by the caller's list of rows.
    fn is_within(&self, scope: &WordScope) -> bool {
        (scope.kinds.is_empty() || scope.kinds.contains(&self.kind))
            && scope.since.is_none_or(|since| self.created_at >= since)
            && scope.until.is_none_or(|until| self.created_at < until)
    }
}

/// Signatures in memory, a shelf per project. Made for a process that lives; may be dropped at
/// any time.
#[derive(Debug, Default)]
pub struct Shelves {
    by_project: HashMap<Option<ProjectId>, Shelf>,
    newest: i64,
    file: String,
    entries: u64,
}

#[derive(Debug, Default)]
struct Shelf {
    /// Each with the word at which its signs end.
    rows: Vec<(Seen, usize)>,
    signs: Vec<u64>,
}

impl Shelves {
    /// Bytes that dropping this gives back, roughly.
    pub fn bytes(&self) -> usize {
        let of = |shelf: &Shelf| {
            shelf.signs.capacity() * size_of::<u64>()
                + shelf.rows.capacity() * size_of::<(Seen, usize)>()
        };
        self.by_project.values().map(of).sum()
    }

    /// Takes in what came since last time. Entries of rows that have gone or changed stay until
    /// there are too many of them: their vectors are no longer found, and that is enough.
    fn refresh(
        shelves: &RwLock<Self>,
        store: &VectorStore,
        width: usize,
    ) -> Result<(), StoreError> {
        let newest = store.newest()?;
        let file = store.uid()?;
        let is_new = |shelves: &Self| newest != shelves.newest || file != shelves.file;
        // Others may be looking through them; who brings nothing new does not wait for that.
        if !is_new(&shelves.read().unwrap_or_else(PoisonError::into_inner)) {
            return Ok(());
        }
        let mut shelves = shelves.write().unwrap_or_else(PoisonError::into_inner);
        if is_new(&shelves) {
            shelves.take_in(store, newest, file, width)?;
        }
        Ok(())
    }

    fn take_in(
        &mut self,
        store: &VectorStore,
        newest: i64,
        file: String,
        width: usize,
    ) -> Result<(), StoreError> {
        if file != self.file || self.entries > 2 * store.count()? + 1_000 {
            *self = Self {
                file,
                ..Self::default()
            };
        }
        let after = self.newest;
        store.signatures(None, after, |found| {
            let shelf = self.by_project.entry(found.project).or_default();
            if sign_words(found.bits, width, &mut shelf.signs) {
                shelf.rows.push((Seen::of(&found), shelf.signs.len()));
            }
            self.entries += 1;
            self.newest = self.newest.max(found.id);
        })?;
        self.newest = self.newest.max(newest);
        Ok(())
    }

    /// Every row of the scope's projects with the number of signs in which each of its vectors
    /// differs from the probe.
    fn each(&self, scope: &WordScope, probe: &Probe, mut look: impl FnMut(&Seen, &[u32])) {
        let shelves = self
            .by_project
            .iter()
            .filter(|(of, _)| scope.takes(**of, of.is_none()));
        let mut differing = Vec::new();
        for (_, shelf) in shelves {
            differing.clear();
            probe.differing(&shelf.signs, &mut differing);
            let mut start = 0;
            for (seen, end) in &shelf.rows {
                let end = end / probe.words_each().max(1);
                look(seen, &differing[start..end]);
                start = end;
            }
        }
    }
}
