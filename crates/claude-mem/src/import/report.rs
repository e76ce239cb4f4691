//! What an import found, and what became of each of it.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use crate::store::Brought;

/// Why a row was not brought in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Skipped {
    AlreadyHere,
    Duplicate,
    Forgotten,
    Ignored,
    Private,
    Empty,
    OwnWork,
    Raw,
    Unreadable,
    Captured,
    ReadBefore,
    NotAskedFor,
}

impl Skipped {
    /// For people.
    pub const fn reason(self) -> &'static str {
        match self {
            Self::AlreadyHere => "here already",
            Self::Duplicate => "said twice",
            Self::Forgotten => "forgotten before",
            Self::Ignored => "of an ignored project or session",
            Self::Private => "private",
            Self::Empty => "without text",
            Self::OwnWork => "the memory program's own sessions",
            Self::Raw => "raw input and output of tools",
            Self::Unreadable => "not readable",
            Self::Captured => "kept by hooks already",
            Self::ReadBefore => "read before",
            Self::NotAskedFor => "not asked for",
        }
    }
}

/// One kind of row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tally {
    pub found: u64,
    pub imported: u64,
    pub skipped: BTreeMap<Skipped, u64>,
}

impl Tally {
    pub fn skipped_in_all(&self) -> u64 {
        self.skipped.values().sum()
    }

    pub fn skip(&mut self, why: Skipped) {
        self.skip_many(why, 1);
    }

    pub fn skip_many(&mut self, why: Skipped, rows: u64) {
        if rows > 0 {
            self.found += rows;
            *self.skipped.entry(why).or_default() += rows;
        }
    }

    /// `again`: a row of this very run is what it ran into.
    pub(super) fn brought(&mut self, what: Brought, again: bool) {
        match what {
            Brought::New => {
                self.found += 1;
                self.imported += 1;
            }
            Brought::Known if again => self.skip(Skipped::Duplicate),
            Brought::Known => self.skip(Skipped::AlreadyHere),
            Brought::Same => self.skip(Skipped::Duplicate),
            Brought::Forgotten => self.skip(Skipped::Forgotten),
        }
    }

    pub fn adds_up(&self) -> bool {
        self.found == self.imported + self.skipped_in_all()
    }
}

/// Of a whole import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// For `import undo`; `None` if nothing was written.
    pub run: Option<i64>,
    pub source: String,
    /// By kind, in the order in which they were read.
    pub kinds: Vec<(&'static str, Tally)>,
    /// What could not be read, and why.
    pub problems: Vec<String>,
}

impl Report {
    pub fn tally(&mut self, kind: &'static str) -> &mut Tally {
        let at = match self.kinds.iter().position(|(known, _)| *known == kind) {
            Some(at) => at,
            None => {
                self.kinds.push((kind, Tally::default()));
                self.kinds.len() - 1
            }
        };
        &mut self.kinds[at].1
    }

    /// Something could not be read.
    pub(super) fn problem(&mut self, path: &Path, why: impl std::fmt::Display) {
        self.problems.push(format!("{}: {why}", path.display()));
    }

    pub fn imported(&self) -> u64 {
        self.kinds.iter().map(|(_, tally)| tally.imported).sum()
    }

    pub fn adds_up(&self) -> bool {
        self.kinds.iter().all(|(_, tally)| tally.adds_up())
    }
}
