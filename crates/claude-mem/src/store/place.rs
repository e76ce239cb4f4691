//! Where a text stands in the full-text index.
//!
//! Invariant: the texts of a project stand together, in the order they came, and its place alone
//! tells whose a text is and of which kind. So a search in a project reads nothing of others, and
//! the newest of a project are a run of places.

use rusqlite::OptionalExtension;

use super::vectors::NOBODYS;
use super::{Reads, RowKind, StoreError, WordScope};
use crate::ids::ProjectId;

const KIND_BITS: u32 = 2;
const SEQUENCE_BITS: u32 = 40;
const OWNER_SHIFT: u32 = KIND_BITS + SEQUENCE_BITS;

/// The number under which the index has a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Place(pub(super) i64);

impl Place {
    pub(crate) fn new(owner: ProjectId, sequence: i64, kind: RowKind) -> Self {
        Self(owner.0 << OWNER_SHIFT | sequence << KIND_BITS | kind as i64)
    }

    /// Whose it is: a project's, or nobody's and so everybody's.
    pub fn owner(self) -> ProjectId {
        ProjectId(self.0 >> OWNER_SHIFT)
    }

    pub fn kind(self) -> RowKind {
        RowKind::ALL[(self.0 & ((1 << KIND_BITS) - 1)) as usize]
    }

    pub fn is_at_user_level(self) -> bool {
        self.owner() == NOBODYS
    }

    /// Which of its owner's texts it is.
    fn sequence(self) -> i64 {
        (self.0 >> KIND_BITS) & ((1 << SEQUENCE_BITS) - 1)
    }
}

/// A run of places, both ends included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub(super) first: i64,
    pub(super) last: i64,
}

impl Span {
    /// An owner's texts.
    pub(super) fn of(owner: ProjectId) -> Self {
        Self {
            first: owner.0 << OWNER_SHIFT,
            last: ((owner.0 + 1) << OWNER_SHIFT) - 1,
        }
    }

    /// The part that begins with a place.
    #[must_use]
    pub fn from(self, place: Place) -> Self {
        Self {
            first: place.0,
            ..self
        }
    }
}

/// The owners that a question concerns, in the order of the index, with how many texts each has
/// had.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Reach {
    owners: Vec<(ProjectId, i64)>,
    is_everything: bool,
}

impl Reach {
    pub fn texts(&self) -> u64 {
        self.owners.iter().map(|(_, texts)| *texts as u64).sum()
    }

    pub fn spans(&self) -> Vec<Span> {
        if self.is_everything {
            let (first, last) = (0, i64::MAX);
            return vec![Span { first, last }];
        }
        self.shares().into_iter().map(|(span, _)| span).collect()
    }

    /// Each owner's texts, and which part of all they are.
    pub fn shares(&self) -> Vec<(Span, f64)> {
        let all = self.texts().max(1) as f64;
        let owners = self.owners.iter();
        owners
            .map(|&(owner, texts)| (Span::of(owner), texts as f64 / all))
            .collect()
    }

    /// How many texts stand before a place or at it.
    pub fn texts_until(&self, place: Place) -> u64 {
        let owner = place.owner();
        let before = self.owners.iter().take_while(|(own, _)| *own < owner);
        let before: i64 = before.map(|(_, texts)| texts).sum();
        (before + place.sequence()) as u64
    }
}

impl Reads<'_> {
    /// Whose texts a scope is about.
    pub fn reach(&self, scope: &WordScope) -> Result<Reach, StoreError> {
        let is_everything = scope.project.is_none() && !scope.user_level;
        let mut owners = Vec::new();
        if is_everything {
            let mut below = i64::MAX;
            while let Some(last) = self.last_place(0, below)? {
                owners.push((last.owner(), last.sequence()));
                below = (last.owner().0 << OWNER_SHIFT) - 1;
            }
            owners.reverse();
        } else {
            let everybodys = scope.user_level.then_some(NOBODYS);
            for owner in everybodys.into_iter().chain(scope.project) {
                owners.push((owner, self.last_sequence(owner)?));
            }
        }
        Ok(Reach {
            owners,
            is_everything,
        })
    }

    /// How many texts an owner has had.
    pub(super) fn last_sequence(&self, owner: ProjectId) -> Result<i64, StoreError> {
        let Span { first, last } = Span::of(owner);
        Ok(self.last_place(first, last)?.map_or(0, Place::sequence))
    }

    fn last_place(&self, first: i64, last: i64) -> Result<Option<Place>, StoreError> {
        let mut newest = self.0.prepare_cached(
            "SELECT id FROM texts WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC LIMIT 1",
        )?;
        let place = newest.query_row([first, last], |row| Ok(Place(row.get(0)?)));
        Ok(place.optional()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Place, Reach, Span};
    use crate::ids::ProjectId;
    use crate::store::RowKind;

    #[test]
    fn a_place_tells_whose_it_is_and_of_which_kind() {
        for kind in RowKind::ALL {
            let place = Place::new(ProjectId(7), 3, kind);
            assert_eq!((place.owner(), place.kind()), (ProjectId(7), kind));
            assert_eq!((place.sequence(), place.is_at_user_level()), (3, false));
        }
        assert!(Place::new(ProjectId(0), 3, RowKind::Observation).is_at_user_level());
    }

    #[test]
    fn the_texts_of_an_owner_are_a_span_and_its_newest_the_end_of_it() {
        let reach = Reach {
            owners: vec![(ProjectId(0), 10), (ProjectId(4), 100)],
            is_everything: false,
        };
        let inside = |span: &Span, place: Place| (span.first..=span.last).contains(&place.0);
        let at = |owner, sequence| Place::new(ProjectId(owner), sequence, RowKind::Prompt);
        let spans = reach.spans();
        assert!(inside(&spans[0], at(0, 1)) && inside(&spans[1], at(4, 100)));
        assert!(!spans.iter().any(|span| inside(span, at(3, 1))));
        let newest = spans[1].from(at(4, 76));
        assert!(inside(&newest, at(4, 76)) && !inside(&newest, at(4, 75)));
        let shares = reach.shares().into_iter().map(|(_, share)| share);
        assert!((shares.sum::<f64>() - 1.0).abs() < 1e-9);
        assert_eq!(reach.texts(), 110);
        assert_eq!(reach.texts_until(at(4, 50)), 60);
    }
}
