//! Counts what an import found, imported and skipped.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Serialize;

use claude_mem_store::RowImportOutcome;

/// Why a row was not imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ImportSkipReason {
    AlreadyHere,
    Duplicate,
    Forgotten,
    Ignored,
    Private,
    Empty,
    OwnWork,
    Raw,
    Unreadable,
    ProjectUnknown,
    Captured,
    ReadBefore,
    NotAskedFor,
    StillActive,
    TranscriptGone,
    Untrusted,
    WrittenByModel,
    OverBudget,
    WrittenByOthers,
}

impl ImportSkipReason {
    /// The reason as shown to the user.
    pub const fn description(self) -> &'static str {
        match self {
            Self::AlreadyHere => "already present",
            Self::Duplicate => "duplicate",
            Self::Forgotten => "previously forgotten",
            Self::Ignored => "ignored project or session",
            Self::Private => "private",
            Self::Empty => "without text",
            Self::OwnWork => "the memory program's own sessions",
            Self::Raw => "raw tool input and output",
            Self::Unreadable => "unreadable",
            Self::ProjectUnknown => "project unknown",
            Self::Captured => "already captured by hooks",
            Self::ReadBefore => "already read",
            Self::NotAskedFor => "not requested",
            Self::StillActive => "session still active",
            Self::TranscriptGone => "transcript no longer there",
            Self::WrittenByOthers => "written by other members; join their team to have it",
            Self::Untrusted => "needs --trust",
            Self::WrittenByModel => "a model wrote their memories",
            Self::OverBudget => "more than the token budget allows",
        }
    }
}

/// Counts of one kind of row.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportTally {
    pub found: u64,
    pub imported: u64,
    pub skipped: BTreeMap<ImportSkipReason, u64>,
}

impl ImportTally {
    pub fn skipped_total(&self) -> u64 {
        self.skipped.values().sum()
    }

    /// Counts one row that was found and imported.
    pub(super) const fn count_imported(&mut self) {
        self.found += 1;
        self.imported += 1;
    }

    pub fn skip(&mut self, why: ImportSkipReason) {
        self.skip_many(why, 1);
    }

    pub fn skip_many(&mut self, why: ImportSkipReason, rows: u64) {
        if rows > 0 {
            self.found += rows;
            *self.skipped.entry(why).or_default() += rows;
        }
    }

    /// Counts one stored row. `again` means that the same run has already imported it.
    pub(super) fn record_outcome(&mut self, what: RowImportOutcome, again: bool) {
        match what {
            RowImportOutcome::New => {
                self.found += 1;
                self.imported += 1;
            }
            RowImportOutcome::AlreadyPresent if again => self.skip(ImportSkipReason::Duplicate),
            RowImportOutcome::AlreadyPresent => self.skip(ImportSkipReason::AlreadyHere),
            RowImportOutcome::SameContent => self.skip(ImportSkipReason::Duplicate),
            RowImportOutcome::Forgotten => self.skip(ImportSkipReason::Forgotten),
        }
    }

    pub fn adds_up(&self) -> bool {
        self.found == self.imported + self.skipped_total()
    }
}

/// Report of a whole import.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct ImportReport {
    /// Run id for `import undo`; `None` if nothing was written.
    pub run: Option<i64>,
    pub source: String,
    /// Counts by kind, in the order in which the kinds were read.
    pub kinds: Vec<(&'static str, ImportTally)>,
    /// Files and folders that could not be read, with the reason.
    pub problems: Vec<String>,
}

impl ImportReport {
    pub fn tally(&mut self, kind: &'static str) -> &mut ImportTally {
        let at = match self.kinds.iter().position(|(known, _)| *known == kind) {
            Some(at) => at,
            None => {
                self.kinds.push((kind, ImportTally::default()));
                self.kinds.len() - 1
            }
        };
        &mut self.kinds[at].1
    }

    /// Adds a file or folder that could not be read.
    pub(super) fn add_problem(&mut self, path: &Path, why: impl std::fmt::Display) {
        self.problems.push(format!("{}: {why}", path.display()));
    }

    pub fn imported(&self) -> u64 {
        self.kinds.iter().map(|(_, tally)| tally.imported).sum()
    }

    pub fn adds_up(&self) -> bool {
        self.kinds.iter().all(|(_, tally)| tally.adds_up())
    }
}
